"""Exposure of groups: what the distinct logs of a release say about their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.releases.published_logs import PublishedLogs
from querycloak.texts.sensitive import NOT_SENSITIVE

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["count_groups"]

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_NO_LOGS: Final = dict.fromkeys(
    (
        "most_own_in_one_log",
        "logs_with_own",
        "logs_naming_member",
        "smallest_class",
        "classes",
        "classes_with_sensitive",
        "classes_sharing_sensitive",
    )
)


def count_groups(
    log: QueryLog, release: Release, askers: Askers, own: Bools, person: Int64s, topic: npt.NDArray[np.int8]
) -> dict[str, Any]:
    """Count what needs whole published logs, by the name of the field; ids of one class have the same log.

    bool[texts] `own`; int64[texts] `person`, who asked an own text; int8[texts] `topic`, sensitive or not.
    """
    if not release.holds_user_logs:
        reason = "a release without logs of users has no groups, and no texts of one person in one log"
        return {**_NO_LOGS, "not_counted": (reason,)}
    logs = PublishedLogs.of(release)
    n_classes = len(logs.size)
    texts = logs.texts
    own_pairs = own[texts.values]
    counts = CountedRows.of(texts.owner[own_pairs], person[texts.values[own_pairs]], n_classes)
    most = np.zeros(n_classes, dtype=np.int64)
    np.maximum.at(most, counts.owner, counts.counts)
    risky = topic[texts.values] != NOT_SENSITIVE
    found = {
        "most_own_in_one_log": int(most.max(initial=0)),
        "logs_with_own": int((most > 0).sum()),
        "smallest_class": int(logs.size.min()) if n_classes else None,
        "classes": n_classes,
        "classes_with_sensitive": len(np.unique(texts.owner[risky])),
    }
    if logs.members is None:
        reason = "without the truth nobody knows who is in a group: whether the people named there are its members"
        return {**_NO_LOGS, **found, "not_counted": (reason,)}
    member = {*zip(logs.members.owner.tolist(), logs.members.values.tolist(), strict=True)}
    top = counts.counts == most[counts.owner]
    named = {
        c for c, u in zip(counts.owner[top].tolist(), counts.values[top].tolist(), strict=True) if (c, u) in member
    }
    shared = _sharing(log, askers, logs, Ragged.of(texts.owner[risky], texts.values[risky], n_classes))
    return {**found, "logs_naming_member": len(named), "classes_sharing_sensitive": shared}


def _sharing(log: QueryLog, askers: Askers, logs: PublishedLogs, risky: Ragged) -> int:
    """Count the logs with a sensitive text that all their members asked; `risky`: the sensitive texts of each."""
    assert logs.members is not None
    texts, code = np.unique(risky.values, return_inverse=True)
    people = [set(users) for users in askers.users(log, texts).to_lists()]
    asked_in = Ragged(risky.start, code).to_lists()  # of each log, indexes into `people`
    members = map(set, logs.members.to_lists())
    return sum(any(group <= people[t] for t in found) for group, found in zip(members, asked_in, strict=True))
