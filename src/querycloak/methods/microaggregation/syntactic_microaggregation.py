"""Syntactic microaggregation: users in groups of k by how alike their queries are spelled, clicked and timed.

Navarro-Arribas, Torra, Erola and Castellà-Roca 2012, "User k-anonymity for privacy preserving data mining of query
logs", as summed up by Batet et al. 2013, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.distances.distance import MATRIX_USERS, Matrix
from querycloak.errors import InputError
from querycloak.logs.query_log import MISSING_TIME, NO_CODE
from querycloak.methods.microaggregation._group_release import (
    GroupBags,
    Grouped,
    no_rows,
    release_groups,
    release_shared,
)
from querycloak.methods.microaggregation._group_settings import GroupSettings
from querycloak.methods.microaggregation._grouping import group_distances, refuse_too_few
from querycloak.methods.microaggregation._syntactic_distance import syntactic_matrix
from querycloak.methods.microaggregation._syntactic_records import Records
from querycloak.progress import QUIET, Progress
from querycloak.settings import setting
from querycloak.texts.phrases import shared_texts

if TYPE_CHECKING:
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.microaggregation._grouping import Grouping
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["SyntacticMicroaggregation", "group_by_spelling", "syntactic_microaggregation"]

Slices = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

NAME: Final = "syntactic-microaggregation"
MOST_LETTERS: Final = 1_000
"""letters of a query that are compared"""
MOST_REMEMBERED: Final = 256 * 1024 * 1024
"""bytes of distances that are remembered"""


@dataclass(frozen=True)
class SyntacticMicroaggregation(GroupSettings):
    """Settings of `syntactic-microaggregation`."""

    refine: bool = setting(False, "after grouping, move and swap users as long as groups become tighter")


def syntactic_microaggregation(
    log: QueryLog,
    settings: SyntacticMicroaggregation,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> Release:
    """Group users by MDAV with a distance of strings, times and clicks; publish queries by frequency in the group.

    Two queries are as far apart as the mean of: time difference over the span of the log; labels of the clicked domains
    that differ, from the right; edit distance of letters; of words; difference in length; each 0 to 1. What the log
    lacks (times, clicks) plays no part. Two users: each query against the nearest of the other, both ways, as in Batet
    et al. 2013, eq. 4; the summary of the paper says only that distances are averaged. A user's repetitions of a query
    are one record with their mean time and first clicked domain, weighted by their number.

    The group's log keeps the frequency of queries: n / size of each query asked n times in the group, in the form that
    many people share. As in the paper: verbatim, rounded by largest remainder, ties at random.
    """
    grouping = _grouping(log, settings, progress)
    progress.start("writing the groups' logs")
    if settings.as_in_paper:
        events = np.flatnonzero(log.event)
        users, user = np.unique(log.user[events], return_inverse=True)
        group, query = grouping.group, log.query[events]
        owner, drawn = by_frequency(group[user], query, np.bincount(group), random)
        made = GroupBags(users, group, owner, drawn, no_rows(drawn), log.queries)
        return release_groups(NAME, log, settings, random, made, dropped={}, figures=grouping.figures())
    shared = shared_texts(log, settings.rule, concepts=concepts, taxonomy=taxonomy)
    grouped = Grouped(np.unique(log.user), grouping.group, grouping.figures())
    return release_shared(NAME, log, settings, random, grouped, shared, concepts=concepts, taxonomy=taxonomy)


def group_by_spelling(log: QueryLog, settings: SyntacticMicroaggregation, progress: Progress = QUIET) -> Grouped:
    """Group the users of a log by how alike their queries are spelled, clicked and timed."""
    grouping = _grouping(log, settings, progress)
    return Grouped(np.unique(log.user), grouping.group, grouping.figures())


def _grouping(log: QueryLog, settings: SyntacticMicroaggregation, progress: Progress) -> Grouping:
    n = len(np.unique(log.user))  # every user has an event
    refuse_too_few(n, settings.k, "")
    if n > MATRIX_USERS:
        raise InputError(
            f"syntactic-microaggregation compares all queries with all and takes {MATRIX_USERS:,} users at most, "
            f"the log has {n:,}. Use semantic-microaggregation."
        )
    return group_distances(_distances(log, progress), settings.k, progress, refined=settings.refine)


_REMEMBERED: dict[int, tuple[QueryLog, Matrix]] = {}
"""id of a log → the log and its distances; the log is kept too, so that its id is not given to another"""


def _distances(log: QueryLog, progress: Progress) -> Matrix:
    """Compare all users with all; remembered, because a comparison asks for the same logs with one k after another."""
    if id(log) in _REMEMBERED:
        return _REMEMBERED[id(log)][1]
    events = np.flatnonzero(log.event)
    users, user = np.unique(log.user[events], return_inverse=True)
    records, alphabet = _records(log, events, user, len(users))
    longest = max(int(np.diff(records.letter_start).max()), int(np.diff(records.word_start).max()))
    made = Matrix(syntactic_matrix(records, alphabet, longest, progress))
    _REMEMBERED[id(log)] = (log, made)
    while len(_REMEMBERED) > 1 and sum(m.values.nbytes for _, m in _REMEMBERED.values()) > MOST_REMEMBERED:
        del _REMEMBERED[next(iter(_REMEMBERED))]
    return made


def by_frequency(
    group: npt.NDArray[np.int32], query: npt.NDArray[np.int32], size: npt.NDArray[Any], random: Randomness
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return each group's log, its queries as frequent as in the group: group and query of each entry."""
    width = int(query.max(initial=0)) + 1
    pairs, count = np.unique(group.astype(np.int64) * width + query, return_counts=True)
    owner = pairs // width
    share, remainder = np.divmod(count, size[owner])
    total = np.bincount(owner, weights=count).astype(np.int64)
    target = np.maximum((2 * total + size) // (2 * size), 1)
    extra = target - np.bincount(owner, weights=share).astype(np.int64)
    order = np.lexsort((random.child("queries").words(len(pairs)), -remainder, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    share[order] += rank < extra[owner[order]]
    return np.repeat(owner, share), np.repeat(pairs % width, share)


def _records(log: QueryLog, events: npt.NDArray[np.int64], user: npt.NDArray[np.int64], n: int) -> tuple[Records, int]:
    """Lay out the records of n users, and the number of distinct letters."""
    query = log.query[events].astype(np.int64)
    pairs, inverse, count = np.unique(user * len(log.queries) + query, return_inverse=True, return_counts=True)
    start = np.searchsorted(pairs // len(log.queries), np.arange(n + 1)).astype(np.int64)
    letters, alphabet = _code_parts(log.queries.str.to_lowercase().str.slice(0, MOST_LETTERS).str.split(""))
    words, _ = _code_parts(log.queries.str.to_lowercase().str.split(" "))
    time = np.zeros(0)
    if log.time is not None:
        known = np.where(log.time[events] == MISSING_TIME, np.nan, log.time[events].astype(np.float64))
        low, high = (np.nanmin(known), np.nanmax(known)) if np.isfinite(known).any() else (0.0, 1.0)
        time = np.bincount(inverse, weights=(known - low) / max(high - low, 1.0)) / count
    domain, labels = np.zeros(0, np.int32), (np.zeros(1, np.int64), np.zeros(0, np.int32))
    if log.url is not None and log.urls is not None:
        of_url, hosts = _hosts(log.urls)
        clicked = np.append(of_url, np.int32(NO_CODE))[log.url[events]]  # code -1 reads the last entry
        domain = _first_known(clicked, inverse, len(pairs))
        labels = _code_parts(hosts.str.split(".").list.reverse())[0]
    text = (pairs % len(log.queries)).astype(np.int32)
    return Records(start, text, count.astype(np.int64), time, domain, *letters, *words, *labels), alphabet


def _hosts(urls: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Return the host of each address: codes int32[urls], distinct hosts."""
    from querycloak.knowledge.addresses import split_addresses

    host = split_addresses(urls)["host"].fill_null("")
    code = host.rank("dense").to_numpy().astype(np.int32) - 1
    return code, host.unique().sort()


def _first_known(code: npt.NDArray[np.int32], record: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int32]:
    """Return the first code of each record that is not -1: int32[n]."""
    out = np.full(n, NO_CODE, dtype=np.int32)
    known = np.flatnonzero(code != NO_CODE)[::-1]
    out[record[known]] = code[known]
    return out


def _code_parts(parts: pl.Series) -> tuple[Slices, int]:
    """Code lists of strings: (start, codes), and how many distinct parts there are. Empty parts are passed over."""
    import polars as pl

    frame = pl.DataFrame({"part": parts}).with_row_index("text").explode("part")
    frame = frame.filter(pl.col("part").is_not_null() & (pl.col("part") != ""))
    code = frame["part"].rank("dense").cast(pl.Int64).to_numpy() - 1
    start = np.searchsorted(frame["text"].to_numpy(), np.arange(len(parts) + 1)).astype(np.int64)
    return (start, code.astype(np.int32)), int(code.max(initial=-1)) + 1
