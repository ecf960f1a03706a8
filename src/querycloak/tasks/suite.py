"""The suite of tasks: what a release is good for, judged against the original log.

`prepare` is called once per log, `score_tasks` for each release of it. Score the log itself (`as_release`) and a blind
log (`blind_log`) in the same way, and `scaled` says where a release is between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError
from querycloak.tasks.original import as_release
from querycloak.tasks.popularity import head_of, score_popularity
from querycloak.tasks.profiles import score_profiles
from querycloak.tasks.reading import TextCodes, read
from querycloak.tasks.resampling import Resampling
from querycloak.tasks.sessions import score_sessions, topic_pairs
from querycloak.tasks.suggestions import draw_tested, find_cases, score_suggestions
from querycloak.tasks.task import TASKS, impossible
from querycloak.tasks.topics import score_topics
from querycloak.tasks.volume import score_volume

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release
    from querycloak.tasks.reading import Reading
    from querycloak.tasks.sessions import TopicPairs
    from querycloak.tasks.suggestions import Cases
    from querycloak.tasks.task import TaskScore

__all__ = ["REPORTED", "TASKS", "TaskData", "prepare", "score_tasks"]

REPORTED: Final = ("suggestions, shared texts", "volume")
"""Scores that are shown next to them."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskData:
    """What releases of one log are judged against; made once."""

    codes: TextCodes
    taxonomy: Taxonomy
    resampling: Resampling
    log: Reading
    cases: Cases
    head: npt.NDArray[np.int64]
    """the most asked texts"""
    pairs: TopicPairs


def prepare(
    log: QueryLog,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
    random: Randomness,
    *,
    tested: npt.NDArray[np.bool_] | None = None,
) -> TaskData:
    """Make what releases of the log are judged against.

    `tested`: bool[users of the log], the people on whom suggestions are tested; a fifth is drawn where it is not given.
    Where a release is made without them, their vocabulary being the log's, name them here.
    """
    people = len(log.users)
    codes = TextCodes(log.queries)
    resampling = Resampling.of(people, random.child("resampling"))
    reading = read(as_release(log), concepts, codes, taxonomy, resampling)
    chosen = draw_tested(people, random.child("test people")) if tested is None else tested
    return TaskData(
        codes=codes,
        taxonomy=taxonomy,
        resampling=resampling,
        log=reading,
        cases=find_cases(reading, chosen, resampling),
        head=head_of(reading),
        pairs=topic_pairs(reading, len(reading.topics.shown)),
    )


def score_tasks(
    data: TaskData, release: Release, release_concepts: ConceptLog, only: Sequence[str] | None = None
) -> list[TaskScore]:
    """Score a release by the tasks and what is reported next to them, or by those named, in the order of TASKS."""
    names = (*TASKS, *REPORTED)
    for name in only or ():
        if name not in names:
            raise ParameterError(f"There is no task {name!r}; there are {', '.join(names)}.")
    wanted = [name for name in names if only is None or name in only]
    if not len(data.log.id):
        return [impossible(name, "the log is empty") for name in wanted]
    shown = read(release, release_concepts, data.codes, data.taxonomy, data.resampling)
    if not len(shown.id):
        return [impossible(name, "the release is empty") for name in wanted]
    runs: dict[tuple[str, ...], Callable[[], list[TaskScore]]] = {
        (TASKS[0], REPORTED[0]): lambda: score_suggestions(data.cases, data.log, shown),
        ("popularity",): lambda: score_popularity(data.head, data.log, shown),
        ("topics",): lambda: score_topics(data.log, shown),
        ("profiles",): lambda: score_profiles(data.resampling, data.log, shown),
        ("sessions",): lambda: score_sessions(data.pairs, shown),
        ("volume",): lambda: score_volume(data.log, shown),
    }
    found = {score.task: score for made, run in runs.items() if set(made) & set(wanted) for score in run()}
    return [found[name] for name in wanted]
