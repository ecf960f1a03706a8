"""Does a release keep what its statement says? Checked from the published files alone.

What can be seen in a file can be checked: that the table is the one the statement was written for, that its counts are
right, that rows are in an order that tells nothing, that ids have the form of new ones, and that every user shares its
log with k - 1 others. With the original log at hand, that no user of it is published, neither as an id nor inside a
text (`ids_in_texts`); with the truth file too, that the release was made from exactly this log. With a public key, who
wrote both files. What a file cannot show is said too: noise, randomness, and without the log, where ids come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import InputError, ParameterError, UserError
from querycloak.logs.source import guarded
from querycloak.releases.classes import class_sizes
from querycloak.releases.commitment import NO_COMMITMENT, is_commitment, opens
from querycloak.releases.files import is_intact, release_of
from querycloak.releases.folder import open_release
from querycloak.releases.ids_in_texts import texts_with_ids
from querycloak.releases.period_checks import epochs_out_of_order, ids_of_several_periods
from querycloak.releases.release import StreamRelease
from querycloak.releases.signing import read_public_key
from querycloak.releases.statement_file import decode_statement, statement_content, statement_path
from querycloak.releases.truth_file import read_opening
from querycloak.releases.verify_promises import verify_promises

if TYPE_CHECKING:
    from os import PathLike

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release
    from querycloak.releases.signing import PublicKey
    from querycloak.releases.statement_file import StatementFile

__all__ = ["Finding", "verify", "verify_release", "verify_truth"]

SIGNED: Final = "the statement is signed with this key"
UNSIGNED: Final = (
    "unsigned: recomputed digests find accidents, and a table or a statement that was edited alone; whoever can change "
    "both files can write a new pair"
)


@dataclass(frozen=True)
class Finding:
    """One check: what should hold, whether it does, and what was seen."""

    check: str
    holds: bool | None
    """None = the files cannot tell"""
    seen: str

    def to_row(self) -> dict[str, object]:
        """Return the check and what was seen, for a table."""
        return {"check": self.check, "holds": self.holds, "seen": self.seen}

    def to_cells(self) -> dict[str, str]:
        """Return the same as text."""
        holds = "cannot tell" if self.holds is None else "yes" if self.holds else "NO"
        return {"check": self.check, "holds": holds, "seen": self.seen}


def verify(
    path: str | PathLike[str],
    log: QueryLog | None = None,
    *,
    truth: str | PathLike[str] | None = None,
    public_key: str | PathLike[str] | None = None,
) -> list[Finding]:
    """Check a release on disk; a file without a statement, or with one that was edited, is refused.

    With the log that the release was made from, its user ids are compared with the published ids and texts; with the
    file of its truth too, the statement's commitment to the log is opened. With a public key the signature is checked,
    and a statement that was edited is a check that fails.
    """
    if truth is not None and log is None:
        raise ParameterError("To check the truth's salt the original log is needed too: give it with --log (`log`).")
    table = Path(path)
    key = None if public_key is None else read_public_key(Path(public_key))
    with guarded(table):
        open_release(table)  # a missing table is told before its missing statement
        content = statement_content(table)  # read once: what is checked is what was signed
    try:
        file = decode_statement(content)
    except ValueError as error:
        if key is None:
            raise InputError.at(statement_path(table), str(error)) from None
        return [Finding(SIGNED, False, f"nothing else was checked: {error}")]
    intact = is_intact(table, file)
    seen = "digests agree" if intact else "the table was changed after its statement was written"
    found = [
        _signature(file, content, key),
        Finding("the table is the one its statement was written for", intact, seen),
    ]
    try:
        release = release_of(table, file)
    except UserError:
        if intact:
            raise
        return [*found, Finding("the table can be read in the form that its statement names", False, "it cannot")]
    found += verify_release(release, log)
    return found if log is None else [*found, _input(release, log, None if truth is None else Path(truth))]


def _signature(file: StatementFile, content: bytes, key: PublicKey | None) -> Finding:
    """Say who signed a statement, as far as that can be told."""
    if key is None:
        if file.signature is None:
            return Finding("signature", None, UNSIGNED)
        return Finding("signature", None, f"signed by key {file.signature.key}; give --public-key to check")
    if file.signature is None:
        return Finding(SIGNED, False, "the statement is unsigned")
    if file.signature.key != key.fingerprint:
        return Finding(SIGNED, False, f"it names the key {file.signature.key}, the key given is {key.fingerprint}")
    # The signature is over canonical bytes; spaces or names that come twice are edits all the same.
    if not file.is_signed_by(key) or content != file.encode():
        return Finding(SIGNED, False, "the statement was edited after it was signed, or signed by somebody else")
    return Finding(SIGNED, True, f"signed by key {key.fingerprint}; the signature covers the table's digest")


def _input(release: Release, log: QueryLog, truth: Path | None) -> Finding:
    """Open the commitment to the input with the salt of the truth."""
    check = "the release was made from exactly this log"
    stated = release.statement.input_commitment
    if not is_commitment(stated):
        return Finding(check, None, NO_COMMITMENT if stated else "its statement is of a version without a commitment")
    if truth is None:
        return Finding(check, None, "the statement has a salted commitment; give the truth file with --truth to check")
    opening = read_opening(truth, release)
    if opening is None:
        return Finding(check, None, "the truth file has no salt to open the statement's commitment")
    if opens(stated, opening, log):
        return Finding(check, True, "the statement's commitment opens with this log and this truth")
    return Finding(
        check, False, "the commitment does not open: another log, read otherwise, or the truth of another run"
    )


def verify_release(release: Release, original: QueryLog | None = None) -> list[Finding]:
    """Check the table of a release against its statement."""
    log, statement = release.log, release.statement
    found = [_count("rows", len(log), statement.counts_out.get("rows"))]
    if release.has_users:
        found.append(_count("users", len(np.unique(log.user)), statement.counts_out.get("users")))
        if release.sorted_by_id:  # a stream is in the order in which records left
            found.append(_order(release))
        if statement.unit == "user" and "k" in statement.parameters:
            found.append(_groups(release, statement.parameters["k"]))
        if statement.new_ids:
            found += [_form_of_ids(release), _new_ids(release, original)]
    if original is not None and not release.holds_concepts:  # whose texts are labels of a public taxonomy
        found.append(_no_user_in_texts(release, original))
    found += [Finding(*recount) for recount in verify_promises(release, original)]
    if isinstance(release, StreamRelease):
        found += _periods(release)
        found.append(Finding(statement.model, None, "a file does not show who waited when a record left"))
    if "epsilon" in statement.parameters:
        found.append(Finding(statement.model, None, "noise cannot be seen in one release"))
    found.append(
        Finding(f"randomness: {statement.randomness}", None, "a file does not show where randomness came from")
    )
    return [f for f in found if f is not None]


def verify_truth(release: Release) -> list[Finding]:
    """Check that no two published ids stand for one person: whoever is published k times hides among copies.

    Nothing is found without the truth.
    """
    if release.truth is None or not release.has_users:
        return []
    people = release.truth.user[np.unique(release.log.user)]
    twice = len(people) - len(np.unique(people))
    if release.statement.ids != "person" and release.statement.bound is None:
        seen = (
            f"one id per {release.statement.ids}, as stated: {len(people):,} ids of {len(np.unique(people)):,} people"
        )
        return [Finding("a person has as many published ids as the statement says", None, seen)]
    seen = "each is another person's" if twice == 0 else f"{twice:,} of {len(people):,} are of somebody who has another"
    return [Finding("no two published ids are of one person", twice == 0, seen)]


def _periods(release: Release) -> list[Finding]:
    """Check what times show of epochs, and of ids that change."""
    found, statement = [], release.statement
    several, back = ids_of_several_periods(release.log, statement), epochs_out_of_order(release.log, statement)
    if several is not None:
        seen = "each is in one" if several == 0 else f"{several:,} are in more than one"
        found.append(Finding(f"no id is published in two {statement.ids}s", several == 0, seen))
    if back is not None:
        seen = "times never go back" if back == 0 else f"times go back {back:,} times"
        found.append(Finding("epochs are published one after the other", back == 0, seen))
    return found


def _form_of_ids(release: Release) -> Finding:
    ids = release.log.users
    new = int((ids.str.contains(r"^\d{12}(\d{4})?$") | ids.str.contains(r"^[0-9a-f]{16}$")).sum())
    seen = "12 or 16 digits, or 16 hexadecimal ones" if new == len(ids) else f"{len(ids) - new:,} ids have another form"
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


def _groups(release: Release, stated: float) -> Finding:
    if release.statement.bound is None:
        return Finding("every published user shares its log", False, f"stated is k = {stated:g}, which hides nobody")
    # As the gate counts them: rows of one group that are in another order for each member tell them apart.
    k, size = int(stated), class_sizes(release.log, ordered=True)
    few = int((size < k).sum())
    if not len(size):
        seen = "nobody is published"
    elif few == 0:
        seen = f"groups of {int(size.min()):,} to {int(size.max()):,} users"
    else:
        seen = f"{few:,} of {len(size):,} users share their log with fewer than {k - 1} others"
    return Finding(f"every published user shares its log with at least {k - 1} others", few == 0, seen)
