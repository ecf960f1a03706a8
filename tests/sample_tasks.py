"""A made-up world in which the next query depends on the last one, for the tests of tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from sample_releases import statement

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.randomness import Randomness
from querycloak.releases.release import CountRelease
from querycloak.tasks.original import as_release
from querycloak.tasks.suite import prepare, score_tasks
from querycloak.tasks.task import TASKS

TOPICS = 12
"""Topics of the taxonomy: concepts at depth 4, from 4 on, all leaves."""
TEXTS = 300
TREE = Taxonomy.from_parents([-1, 0, 1, 2, *[3] * TOPICS], [[f"c{i}"] for i in range(4 + TOPICS)])


def topics_of(text: str) -> list[int]:
    """A text names its topics: "4.a 7.b" is about 4 and 7, "x" about none."""
    return sorted({int(word.split(".")[0]) for word in text.split() if "." in word})


def concepts_of(log: QueryLog) -> ConceptLog:
    units = [(row, c) for row in np.flatnonzero(log.event) for c in topics_of(log.queries[int(log.query[row])]) or [-1]]
    row = np.array([unit[0] for unit in units], dtype=np.int64)
    concept = np.array([unit[1] for unit in units], dtype=np.int32)
    return ConceptLog(row, log.user[row], log.query[row], concept)


def world(people: int = 150, sessions: int = 8, seed: int = 1) -> QueryLog:
    """Sessions of four queries. After a text mostly comes its own successor, of a related topic."""
    rng = np.random.default_rng(seed)
    texts = [f"{4 + i % TOPICS}.t{i}" for i in range(TEXTS)]
    popular = 1 / (1 + np.arange(TEXTS))
    who, what, when = [], [], []
    for person in range(people):
        mine = np.where(np.arange(TEXTS) % TOPICS == person % TOPICS, 20, 1) * popular
        for session in range(sessions):
            text = rng.choice(TEXTS, p=mine / mine.sum())
            for step in range(4):
                who.append(f"u{person}")
                what.append(texts[text])
                when.append(86_400 * session + 60 * step + 86_400 * 100)
                follow = (7 * text + 5) % TEXTS
                text = follow if rng.random() < 0.8 and follow != text else (text + 1 + rng.integers(TEXTS - 1)) % TEXTS
    return QueryLog.of(who, what, times=when)


def damaged(log: QueryLog, share: float, seed: int = 5) -> QueryLog:
    """Replace a share of the queries by others, drawn from all distinct ones alike; a larger share holds a smaller."""
    rng = np.random.default_rng(seed)
    other = rng.integers(len(log.queries), size=len(log)).astype(np.int32)
    return replace(log, query=np.where(rng.random(len(log)) < share, other, log.query).astype(np.int32))


def count_release(texts: list[str], counts: list[int]) -> CountRelease:
    log = QueryLog.of(["-"] * len(texts), texts)
    return CountRelease(replace(log, extra=pl.DataFrame({"count": counts})), statement())


def prepared(log: QueryLog, tested: list[int] | None = None):
    mask = None if tested is None else np.isin(np.arange(len(log.users)), tested)
    return prepare(log, concepts_of(log), TREE, Randomness(3), tested=mask)


def scores(data, release, only=None):
    """Scores by task; a log is scored as a release of itself."""
    release = as_release(release) if isinstance(release, QueryLog) else release
    return {score.task: score for score in score_tasks(data, release, concepts_of(release.log), only)}


__all__ = ["TASKS", "TREE", "concepts_of", "count_release", "damaged", "prepared", "scores", "topics_of", "world"]
