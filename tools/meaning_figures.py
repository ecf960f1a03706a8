"""Print how well queries are understood: topics of labelled queries, coverage of a log, and the control of nonsense.

    python tools/meaning_figures.py kdd2005-labelled-queries.tsv --excite excite-small.log
    python tools/meaning_figures.py first-labeller.tsv --test second-labeller.tsv third-labeller.tsv

The first file has lines of a query and the topics that a person chose for it, separated by tabs. Without `--test` all
figures of topics are by cross-validation on it; with `--test` they are those of the other files, one per labeller, and
what learns learns from all of the first one. The log has lines of user, time and query, or is in any form that is known
by its content. Nothing printed shows a query, unless `--examples N` asks for random rows of the log to read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from kdd_cup import Score, read_labelled, score
from meaning_coverage import coverage, examples, nonsense
from meaning_topics import Ways, best_constant
from topic_training import FOLDS, answers, choose, folds_of, predict

import querycloak as qc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kdd_cup import Labelled
    from topic_training import Data

VECTOR = "trained: the vector alone"
TRAINED = "trained: the vector and all of the above"


class _Set(NamedTuple):
    """Labelled queries with what every way says of them."""

    labelled: list[Labelled]
    data: Data
    untrained: dict[str, list[list[str]]]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Print how well queries are understood.")
    parser.add_argument("kdd", type=Path, nargs="?", help="labelled queries")
    parser.add_argument("--test", type=Path, nargs="*", default=[], help="labelled queries to test on")
    parser.add_argument("--excite", type=Path, help="a log")
    parser.add_argument("--examples", type=int, default=0, help="random rows of the log to show with their concepts")
    parser.add_argument("--seed", type=int, default=1, help="of folds, nonsense and examples")
    given = parser.parse_args()
    if given.excite and given.examples:
        print(examples(qc.read_log(given.excite), given.examples, given.seed))
        return
    if given.kdd:
        ways = Ways()
        first = _read(ways, given.kdd)
        tests = [_read(ways, path) for path in given.test]
        print(_table(_on_others(ways, first, tests) if tests else _by_folds(ways, first, given.seed)))
    if given.excite:
        log = qc.read_log(given.excite)
        print(coverage(log))
        print(nonsense(log, given.seed))


def _read(ways: Ways, path: Path) -> _Set:
    labelled = read_labelled(path)
    print(f"{len(labelled):,} labelled queries, {np.mean([len(pair.topics) for pair in labelled]):.2f} topics each\n")
    data = ways.data(labelled)
    return _Set(labelled, data, ways.untrained([pair.query for pair in labelled], data))


def _by_folds(ways: Ways, given: _Set, seed: int) -> dict[str, list[Score]]:
    """Return the scores of each way on every fold; what learns, learns from the other folds."""
    fold = folds_of(len(given.labelled), seed)
    out: dict[str, list[Score]] = {}
    for held in range(FOLDS):
        inside, outside = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
        _add(out, ways, _take(given, inside), _take(given, outside))
    return out


def _on_others(ways: Ways, first: _Set, tests: Sequence[_Set]) -> dict[str, list[Score]]:
    """Return the scores of each way on other labelled queries; what learns, learns from the first ones."""
    out: dict[str, list[Score]] = {}
    for test in tests:
        _add(out, ways, first, test)
    return out


def _take(given: _Set, rows: np.ndarray) -> _Set:
    at = rows.tolist()
    untrained = {name: [topics[i] for i in at] for name, topics in given.untrained.items()}
    return _Set([given.labelled[i] for i in at], given.data.take(rows), untrained)


def _add(out: dict[str, list[Score]], ways: Ways, train: _Set, test: _Set) -> None:
    """Score the test queries by every way."""
    chosen = [pair.topics for pair in test.labelled]
    found = {"the five most frequent topics": [best_constant(train.labelled)] * len(chosen), **test.untrained}
    wide = train.data.inputs.shape[1] - 3 * len(ways.topics)
    for name, inputs, shares in ((VECTOR, wide, (0.0,)), (TRAINED, None, None)):
        seen, asked = (part.data._replace(inputs=part.data.inputs[:, :inputs]) for part in (train, test))
        choice = choose(seen) if shares is None else choose(seen, shares)
        found[name] = ways.named(answers(predict(seen, asked, choice.ridge, choice.share), choice.threshold))
    for name, topics in found.items():
        out.setdefault(name, []).append(score(topics, chosen))


def _table(scores: dict[str, list[Score]]) -> str:
    """Return the means over folds or labellers, the F1 of the lowest and the highest next to it."""
    lines = ["| | answered | precision | recall | F1 | lowest to highest | P@1 |", "|---|---|---|---|---|---|---|"]
    for name, found in scores.items():
        f1 = [each.f1 for each in found]
        answered, precision, recall, first = (
            float(np.mean([getattr(each, field) for each in found]))
            for field in ("answered", "precision", "recall", "first")
        )
        lines.append(
            f"| {name} | {answered:.1%} | {precision:.1%} | {recall:.1%} | {np.mean(f1):.3f} "
            f"| {min(f1):.3f} to {max(f1):.3f} | {first:.3f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
