"""Rule `sample`: a random share of the people, or of the query events, is published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import ParameterError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.methods.policy.draft import by_letters, joint_codes
from querycloak.methods.policy.rule import Rule
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.methods.policy.draft import Draft, Help

__all__ = ["NOT_DRAWN", "Sample", "draw_sample", "event_words"]

NOT_DRAWN: Final = "sample: not drawn"


@dataclass(frozen=True)
class Sample(Rule):
    """Settings of `sample`."""

    name: ClassVar[str] = "sample"
    required: ClassVar[tuple[str, ...]] = ("share",)

    share: float = setting(1.0, "share that is published, at most 1", above=0)
    of: str = setting("people", "what is drawn", choices=("people", "events"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share > 1:
            raise ParameterError.of("Sample.share", "a number > 0 and <= 1", self.share)


def draw_sample(draft: Draft, rule: Sample, given: Help) -> Draft:
    """Keep the rows of a random share of the people, or of the events, rounded to a whole number of them.

    Each person, or event, has a random word by its name, and those with the least words are drawn: whatever the order
    of rows is, and on a cluster, too.
    """
    keyed = KeyedRandomness(given.random.child("sample"))
    if rule.of == "people":
        units, of = np.unique(draft.table.user, return_inverse=True)
        words = keyed.words(draft.log.users.gather(units).to_list())[:, 0]
    else:
        units, first, of = np.unique(draft.log.event_row[draft.row], return_index=True, return_inverse=True)
        words = _words_of_events(draft, first, keyed)
    most = round(rule.share * len(units))
    kept = words <= np.sort(words)[most - 1] if most else np.zeros(len(units), dtype=np.bool_)
    return draft.keep(kept[of], NOT_DRAWN)


def _words_of_events(draft: Draft, first: npt.NDArray[np.intp], keyed: KeyedRandomness) -> npt.NDArray[np.uint64]:
    """uint64[events]: a word of each event, given by its first row of the draft, by its person, query and time.

    Of several such events, which differ at most in their click, those without a click come first.
    """
    log, event = draft.log, draft.row[first]
    zeros = np.zeros(len(event), dtype=np.int64)
    time = zeros if log.time is None else np.where(log.time[event] == MISSING_TIME, 0, log.time[event])
    clicked = zeros if log.url is None else (log.url[event] != NO_CODE).astype(np.int64)
    table = draft.table
    url = zeros if table.url is None or table.urls is None else by_letters(table.urls, table.url[first])
    rank = zeros if table.rank is None else table.rank[first].astype(np.int64)
    same = joint_codes(log.user[event], log.query[event], time if log.time is None else log.time[event])
    order = np.lexsort((rank, url, clicked, same))
    begin = np.append(True, same[order][1:] != same[order][:-1])[: len(order)]
    copy = np.empty(len(event), dtype=np.int64)
    copy[order] = np.arange(len(order)) - np.flatnonzero(begin)[np.cumsum(begin) - 1]
    users, user = np.unique(log.user[event], return_inverse=True)
    queries, query = np.unique(log.query[event], return_inverse=True)
    of_user = keyed.words(log.users.gather(users).to_list())[:, 0][user]
    of_query = keyed.words(log.queries.gather(queries).to_list(), turn=1)[:, 0][query]
    return event_words(of_user, of_query, time, copy)


def event_words(
    of_user: npt.NDArray[np.uint64],
    of_query: npt.NDArray[np.uint64],
    time: npt.NDArray[np.int64],
    copy: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint64]:
    """uint64[events]: the words of people and queries, with times and numbers, mixed by the finalizer of SplitMix64."""
    out = np.asarray(of_user, dtype=np.uint64)
    for part in (of_query, time.astype(np.uint64), copy.astype(np.uint64)):
        out = (out ^ part) * np.uint64(0x9E3779B97F4A7C15)
        out = (out ^ (out >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out = out ^ (out >> np.uint64(31))
    return out
