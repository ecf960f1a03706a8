"""Does a release keep what its statement says? Checked from the published files alone.

What can be seen in a file can be checked: that the table is the one the statement was written for, that its counts are
right, that rows are in an order that tells nothing, that ids have the form of new ones, and that every user shares its
log with k - 1 others. With the original log at hand, that no user of it is published, neither as an id nor inside a
text (`ids_in_texts`). What a file cannot show is said too: noise, randomness, and without the log, where ids come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from querycloak.releases.classes import class_sizes
from querycloak.releases.files import is_intact, read_release
from querycloak.releases.ids_in_texts import texts_with_ids
from querycloak.releases.release import StreamRelease

if TYPE_CHECKING:
    from os import PathLike

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["Finding", "verify", "verify_release"]


@dataclass(frozen=True)
class Finding:
    """One check: what should hold, whether it does, and what was seen."""

    check: str
    holds: bool | None
    """None = the files cannot tell"""
    seen: str


def verify(path: str | PathLike[str], log: QueryLog | None = None) -> list[Finding]:
    """Check a release on disk; a file without a statement, or with one that was edited, is refused.

    With the log that the release was made from, its user ids are compared with the published ids and texts.
    """
    table = Path(path)
    intact = is_intact(table)
    seen = "digests agree" if intact else "the table was changed after its statement was written"
    whole = Finding("the table is the one its statement was written for", intact, seen)
    return [whole, *verify_release(read_release(table, changed=True), log)]


def verify_release(release: Release, original: QueryLog | None = None) -> list[Finding]:
    """Check the table of a release against its statement."""
    log, statement = release.log, release.statement
    found = [_count("rows", len(log), statement.counts_out.get("rows"))]
    if release.has_users:
        found.append(_count("users", len(np.unique(log.user)), statement.counts_out.get("users")))
        if release.sorted_by_id:  # a stream is in the order in which records left
            found.append(_order(release))
        if statement.unit == "user" and "k" in statement.parameters:
            found.append(_groups(release, int(statement.parameters["k"])))
        if statement.new_ids:
            found += [_form_of_ids(release), _new_ids(release, original)]
    if original is not None and not release.holds_concepts:  # whose texts are labels of a public taxonomy
        found.append(_no_user_in_texts(release, original))
    if isinstance(release, StreamRelease):
        found.append(Finding(statement.model, None, "a file does not show who waited when a record left"))
    if "epsilon" in statement.parameters:
        found.append(Finding(statement.model, None, "noise cannot be seen in one release"))
    found.append(
        Finding(f"randomness: {statement.randomness}", None, "a file does not show where randomness came from")
    )
    return [f for f in found if f is not None]


def _form_of_ids(release: Release) -> Finding:
    ids = release.log.users
    new = int((ids.str.contains(r"^\d{12}$") | ids.str.contains(r"^[0-9a-f]{16}$")).sum())
    seen = "12 digits, or 16 hexadecimal ones" if new == len(ids) else f"{len(ids) - new:,} ids have another form"
    return Finding("published ids have the form of new ones", new == len(ids), seen)


def _new_ids(release: Release, original: QueryLog | None) -> Finding:
    check = "no id of the log is published"
    if original is None:
        return Finding(check, None, "the log is not at hand; give it with --log")
    left = int(release.log.users.is_in(original.users.implode()).sum())
    return Finding(
        check, left == 0, "none" if left == 0 else f"{left:,} of {len(release.log.users):,} are ids of the log"
    )


def _no_user_in_texts(release: Release, original: QueryLog) -> Finding:
    texts = release.log.queries.gather(np.unique(release.log.query))
    count = texts_with_ids(texts, original)
    seen = "none" if count == 0 else f"{count:,} of {len(texts):,} different texts are, or hold, a user id of the log"
    return Finding("no published text names a user of the log", count == 0, seen)


def _count(what: str, seen: int, stated: int | None) -> Finding | None:
    if stated is None:
        return None
    return Finding(f"the table has the stated number of {what}", seen == stated, f"{seen:,}, stated {stated:,}")


def _order(release: Release) -> Finding:
    ids = release.log.users.gather(release.log.user)
    ordered = bool(ids.is_sorted())
    return Finding("rows are ordered by published id", ordered, "they are" if ordered else "they are not")


def _groups(release: Release, k: int) -> Finding:
    size = class_sizes(release.log)
    few = int((size < k).sum())
    if not len(size):
        seen = "nobody is published"
    elif few == 0:
        seen = f"groups of {int(size.min()):,} to {int(size.max()):,} users"
    else:
        seen = f"{few:,} of {len(size):,} users share their log with fewer than {k - 1} others"
    return Finding(f"every published user shares its log with at least {k - 1} others", few == 0, seen)
