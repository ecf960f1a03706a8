"""Print what the mapping does to the methods that work on meaning: the table of docs/mapping.md, as Markdown.

    python tools/meaning_methods.py [--users 1000] [--queries 32000] [--excite excite-small.log] [--seed 1]

Every method reads the log by each mapping, and every release is measured by each mapping, the ruler: figures can be
compared where the ruler is the same, not across rulers. Of a generated log the truth is a third ruler: what the
generator had in mind. L is the information loss at 80 clusters, SRP counts one for one; profiles and topics are the
tasks of these names; EMD is in edges per query, the stream's.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import querycloak as qc
from querycloak.catalog import MEASURES as CATALOG
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.mapping.concept_log import ConceptLog
from querycloak.mapping.mappers import mapper_of
from querycloak.randomness import Randomness
from querycloak.tasks.suite import prepare, score_tasks

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release
    from querycloak.tasks.suite import TaskData

MAPPINGS = ("segments", "layers")
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("semantic-microaggregation", {"k": 5}),
    ("semantic-microaggregation", {"k": 5, "as_in_paper": True}),
    ("clump", {"k": 5}),
    ("semantic-dp", {"epsilon": 3.0}),
    ("self-adjusting", {"k": 3}),
)
DRAWS = 3
"""Releases with different seeds: the mean is shown, and the distance between the lowest and the highest."""
MEASURES = {
    "information-loss": ("L", "information loss"),
    "srp": ("SRP", "semantics that remain, one for one"),
    "category-emd": ("EMD", "category EMD, edges per query"),
}
TASKS = ("profiles", "topics")


def main() -> None:
    """Print a table per log."""
    parser = argparse.ArgumentParser(description="Print what the mapping does to methods.")
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=32_000)
    parser.add_argument("--excite", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    made = qc.generate(users=given.users, queries=given.queries, seed=given.seed)
    print(table(made.log, given.seed, made.concepts))
    if given.excite:
        print(table(qc.read_log(given.excite), given.seed))


@dataclass(frozen=True)
class TrueBench(Workbench):
    """A bench that knows what the queries of its log are about; other texts, such as labels, it reads in segments."""

    known: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, log: QueryLog, truth: ConceptLog) -> TrueBench:
        """Take what the first event of each text is about."""
        texts = log.queries.to_list()
        known: dict[str, list[int]] = {}
        first: dict[int, int] = {}
        for row, query, concept in zip(truth.row.tolist(), truth.query.tolist(), truth.concept.tolist(), strict=True):
            if first.setdefault(query, row) == row:
                known.setdefault(texts[query], []).append(concept)
        return cls(log, mapping="segments", known=known)

    def _map(self, log: QueryLog, taxonomy: Taxonomy) -> ConceptLog:
        """Look queries up, each event by itself."""
        mapper = mapper_of(self.taxonomy, self.mapping)
        of_text = [self.known.get(text) or list(mapper.concepts(text)) for text in log.queries.to_list()]
        if taxonomy is not self.taxonomy:
            topic = np.append(topics_of_concepts(load_topic_tree(), self.taxonomy), -1)  # -1, no concept, has none
            of_text = [topic[concepts].tolist() for concepts in of_text]
        row = np.flatnonzero(log.event)
        count = np.array([len(of_text[query]) for query in log.query[row].tolist()], np.int64)
        concept = [c for query in log.query[row].tolist() for c in of_text[query]]
        row = np.repeat(row, count)
        return ConceptLog(row, log.user[row], log.query[row], np.array(concept, np.int32), mapping="truth")


def table(log: QueryLog, seed: int, truth: ConceptLog | None = None) -> str:
    """Return the table of one log."""
    benches = {mapping: Workbench(log, mapping=mapping) for mapping in MAPPINGS}
    measuring = benches | ({} if truth is None else {"the truth": TrueBench.of(log, truth)})
    rulers = {
        mapping: (bench, prepare(log, bench.concepts, bench.taxonomy, Randomness(seed).child("tasks")))
        for mapping, bench in measuring.items()
    }
    head = [f"{made}, ruler: {ruler}" for ruler in rulers for made in MAPPINGS]
    lines = [f"{log!r}", "| method | measure | " + " | ".join(head) + " |", "|---" * (2 + len(head)) + "|"]
    for method, settings in RUNS:
        name = f"{method}, as in the paper" if settings.get("as_in_paper") else method
        found = {made: _releases(bench, method, settings, seed) for made, bench in benches.items()}
        scores = {
            (ruler, made): [figures(*rulers[ruler], release, seed) for release in found[made]]
            for ruler in rulers
            for made in MAPPINGS
        }
        for measure in next(iter(scores.values()))[0]:
            shown = " | ".join(_shown([each[measure] for each in drawn]) for drawn in scores.values())
            lines.append(f"| {name} | {measure} | {shown} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def _releases(bench: Workbench, method: str, settings: dict[str, Any], seed: int) -> list[Release]:
    return [bench.anonymize(method, seed=seed + draw, **settings) for draw in range(DRAWS)]


def figures(bench: Workbench, data: TaskData, release: Release, seed: int) -> dict[str, float]:
    """Measure a release by the mapping of a bench; what does not fit it is left out."""
    names = [name for name in MEASURES if release.kind in CATALOG.find(name).kinds]
    found = {score.measure: score.value for score in bench.measure(release, names, seed)}
    out = {short: found[reading] for short, reading in MEASURES.values() if reading in found}
    tasks = score_tasks(data, release, bench.concepts_of(release), TASKS)
    return out | {score.task: score.value for score in tasks if score.possible}


def _shown(values: list[float]) -> str:
    mean = sum(values) / len(values)
    digits = 1 if mean > 10 else 2 if mean > 1 else 3
    return f"{mean:.{digits}f} ± {(max(values) - min(values)) / 2:.{digits}f}"


if __name__ == "__main__":
    main()
