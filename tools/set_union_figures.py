"""Figures of `frequent-queries`: how many queries each way of choosing publishes, and what phrases reach.

`python tools/set_union_figures.py [--users 5000 40000 90000] [--runs 5] [--seed 1] [--logs DIR]`. Logs are generated
(32 query events per user) and kept in DIR. Noise is seeded, of the same distribution as that of releases. For each way
of choosing the best of several d is shown, by the mean over the runs:

- names: the whole budget goes to choosing
- table: with counts, at the default share of each way

and of a table of phrases the share of query events that hold a published one, next to whole queries.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import querycloak as qc
from querycloak.methods.dp._korolova import choose_queries, first_queries
from querycloak.methods.dp._set_union_items import phrase_items, query_items
from querycloak.methods.dp._set_union_table import RESERVED, Plan, Shares, choose_items, count_chosen, take_shares
from querycloak.methods.dp.frequent_queries import FrequentQueries
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget, Share
from querycloak.texts.compared import code_texts, compared
from querycloak.texts.word_runs import WordRuns

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILON, DELTA = 1.0, 1e-6
KOROLOVA_D = (1, 2, 3, 5)
UNION_D = (10, 20, 50)

Found = dict[int, list[int]]


def share_of_laplace(fraction: float) -> Share:
    """Return a share of ε for choosing, with all of δ."""
    return Budget(EPSILON, DELTA).take("choosing queries", fraction=fraction, delta=DELTA)


def shares(kind: str, plan: Plan) -> Shares:
    """Return the shares of a plan from a fresh budget."""
    return take_shares(kind, plan, Budget(EPSILON, DELTA, reserved_delta=DELTA * RESERVED))


def korolova(log: qc.QueryLog, runs: int, *, names: bool) -> Found:
    """Return the numbers of published queries of each run, by d."""
    out = {}
    for d in KOROLOVA_D:
        counts = first_queries(log, d)
        out[d] = [
            len(choose_queries(counts, d, share_of_laplace(1.0 if names else 0.5), Randomness(seed))[0])
            for seed in range(runs)
        ]
    return out


def union(
    log: qc.QueryLog, runs: int, choose: str, *, names: bool, weights: str = "short", d: tuple[int, ...] = UNION_D
) -> Found:
    """Return the numbers of published queries of each run, by d."""
    settings = FrequentQueries(epsilon=EPSILON, delta=DELTA, choose=choose, weights=weights)
    items = query_items(log, short=settings.weights == "short")
    plan = settings.plan("query")
    plan = plan._replace(count_share=0.0) if names else plan
    return {
        each: [
            len(choose_items(items, plan._replace(per_user=each), shares("query", plan), Randomness(seed)).code)
            for seed in range(runs)
        ]
        for each in d
    }


def best(found: Found) -> str:
    """Return the best d with its mean and its runs."""
    d = max(found, key=lambda d: np.mean(found[d]))
    return f"{np.mean(found[d]):.1f} (d = {d}; {min(found[d])} to {max(found[d])})"


def published(log: qc.QueryLog, runs: int) -> None:
    """Print how many queries each way publishes, names alone; and with counts, of two ways."""
    ways: list[tuple[bool, str, Callable[[], Found]]] = [
        (True, "korolova", lambda: korolova(log, runs, names=True)),
        (False, "korolova", lambda: korolova(log, runs, names=False)),
        (True, "gaussian, equal weights", lambda: union(log, runs, "gaussian", names=True, weights="equal")),
        (True, "gaussian", lambda: union(log, runs, "gaussian", names=True)),
        (True, "sips", lambda: union(log, runs, "sips", names=True)),
        (False, "sips", lambda: union(log, runs, "sips", names=False, d=(20,))),
    ]
    for names, way, found in ways:
        begun = time.process_time()
        print(f"| {'names' if names else 'with counts'} | {way} | {best(found())} |", end=" ")
        print(f"{time.process_time() - begun:.0f} s", flush=True)


def errors(log: qc.QueryLog, runs: int) -> None:
    """Print how far published counts are from the people who asked, by how many items a user counts in full."""
    settings = FrequentQueries(epsilon=EPSILON, delta=DELTA)
    items, people = query_items(log, short=True), log.users_per_query()
    print("| share of counts | a user counts in full for | queries | mean relative error |")
    for share in (0.1, 0.2, 0.4):
        plan = settings.plan("query")._replace(count_share=share)
        chosen = [choose_items(items, plan, shares("query", plan), Randomness(seed)) for seed in range(runs)]
        for counted in (1, 2, 5, 10, 20):
            plan = plan._replace(counted=counted)
            off = [
                np.abs(
                    count_chosen(items, c, plan, shares("query", plan), Randomness(seed)) / people[c.code] - 1
                ).mean()
                for seed, c in enumerate(chosen)
            ]
            print(
                f"| {share} | {counted} | {np.mean([len(c.code) for c in chosen]):.0f} | {np.mean(off):.0%} |",
                flush=True,
            )


def volume(log: qc.QueryLog, runs: int) -> None:
    """Print the share of query events with a published phrase, next to that of whole published queries."""
    queries, phrases = query_items(log, short=True), phrase_items(log, short=True)
    form, first = code_texts(compared(log.queries))
    forms = compared(log.queries.gather(first))
    held = WordRuns.of(forms)  # numbered as those of `phrases`
    length = forms.str.count_matches(" ").to_numpy() + 1
    asked = log.query[log.event]
    rows = []
    for seed in range(runs):
        plan = FrequentQueries(epsilon=EPSILON, delta=DELTA).plan("query")
        whole = choose_items(queries, plan, shares("query", plan), Randomness(seed))
        plan = FrequentQueries(epsilon=EPSILON, delta=DELTA, items="phrases").plan("phrase")
        found = choose_items(phrases, plan, shares("phrase", plan), Randomness(seed))
        words = np.zeros(len(held.words), dtype=np.int64)
        words[found.code] = held.words[found.code]
        longest = np.zeros(len(forms), dtype=np.int64)
        np.maximum.at(longest, held.of_text.owner, words[held.of_text.values])
        of_event = longest[form[asked]]
        some, two = (of_event > 0).mean(), (of_event > 1).mean()
        kept = of_event.sum() / length[form[asked]].sum()
        rows.append((len(whole.code), np.isin(asked, whole.code).mean(), len(found.code), some, two, kept))
    n, share, m, some, two, kept = np.mean(rows, axis=0)
    print(
        f"{n:.0f} whole queries: {share:.1%} of events; {m:.0f} phrases: {some:.1%} of events, {two:.1%} one of two or"
    )
    print(f"more words; {kept:.1%} of all words are in the longest published phrase of their query", flush=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, nargs="*", default=[5000, 40_000, 90_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1, help="of the generated logs; settings were chosen on seed 1")
    parser.add_argument("--logs", type=Path, default=Path("set-union-logs"))
    parser.add_argument(
        "--only", choices=["names", "errors", "volume"], nargs="*", default=["names", "errors", "volume"]
    )
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    for n in options.users:
        path = options.logs / f"log{n}-{options.seed}.tsv"
        if not path.exists():
            qc.write_generated(qc.generate(users=n, queries=32 * n, seed=options.seed), path)
        log = qc.read_log(path)
        print(
            f"\n{n:,} users, {int(log.event.sum()):,} query events, {len(log.queries):,} distinct queries", flush=True
        )
        if "names" in options.only:
            published(log, options.runs)
        if "errors" in options.only:
            errors(log, min(options.runs, 2))
        if "volume" in options.only:
            volume(log, min(options.runs, 2))


if __name__ == "__main__":
    main()
