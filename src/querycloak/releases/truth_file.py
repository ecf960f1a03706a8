r"""Who is behind each published id, on disk only where asked: readable by its owner alone.

A table of tab-separated text: `user`, published id, original id; and where rows have an asker of their own, `row`,
number of the row from 0, original id. A stream also writes `delay`, number of the row, records that it waited for.
Backslash, tab and line end inside an id are written as `\\`, `\t`, `\n`, `\r`. One line `salt`, nothing, 64 hexadecimal
digits opens the commitment of the statement (`releases/commitment.py`). The truth is written before its release: after
a crash in between there is a truth too many, never a lost salt.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import InputError, ParameterError
from querycloak.logs.atomic import PRIVATE, writing
from querycloak.logs.guarded import guarded
from querycloak.logs.query_log import NO_CODE
from querycloak.releases.commitment import SALT_BYTES, Opening, commit, is_commitment, new_salt, opens
from querycloak.releases.folder import parts_of
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["escaped", "read_opening", "read_truth", "write_truth"]

HEADER: Final = ("kind", "published", "original")
SALT: Final = "salt"
DELAY: Final = "delay"
"""Kind of a line that is for the survey of a stream: whoever reads a truth to keep score passes over it."""
FOREIGN: Final = "the truth does not belong to this {what}: line {line} names an id that the {what} does not have"
_ESCAPES: Final = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def write_truth(release: Release, log: QueryLog, path: str | Path) -> str:
    """Write which original user each published id stands for; only its owner may read the file, from the first byte.

    Return a new commitment to the log, whose salt is in the file: `write_release` puts it into the statement.

    >>> import tempfile
    >>> import querycloak as qc
    >>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
    >>> release = qc.anonymize(log, "sweep", min_query_users=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     commitment = qc.write_truth(release, log, f"{folder}/truth.tsv")
    ...     qc.write_release(release, f"{folder}/release.tsv", commitment=commitment)
    ...     again = qc.read_release(f"{folder}/release.tsv", log=log, truth=f"{folder}/truth.tsv")
    >>> sorted(log.users.gather(again.truth.user).to_list())
    ['ann', 'bob']
    """
    if release.truth is None:
        raise ParameterError("The release holds no truth: it was read from a file, or its method publishes no users.")
    original = [escaped(word) for word in log.users.to_list()]
    salt, digest = new_salt(), hashlib.sha256()
    with writing(path, mode=PRIVATE) as (file,):
        file.write(("\t".join(HEADER) + f"\n{SALT}\t\t{salt.hex()}\n").encode())
        for fields in _told(release, release.truth, original):
            line = _as_line(fields)
            file.write(line)
            digest.update(line)
    return commit(Opening(salt, digest.digest()), log)


def _told(release: Release, truth: Truth, original: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the truth: kind, published, original."""
    if release.has_users:
        published = release.log.users.to_list()
        for code in np.unique(release.log.user).tolist():
            stands_for = int(truth.user[code])
            yield "user", escaped(published[code]), "" if stands_for == NO_CODE else original[stands_for]
    if truth.asker is not None:
        for row, code in enumerate(truth.asker.tolist()):
            yield "row", str(row), "" if code == NO_CODE else original[code]


def _as_line(fields: Sequence[str]) -> bytes:
    return ("\t".join(fields) + "\n").encode()


def read_truth(path: str | Path, log: QueryLog, release: Release) -> Truth:
    """Read the truth of a release of a log; one that belongs to another log or release is refused.

    Ids alone do not tell: logs may have the same users, and runs with the same seed the same new ids. Where the
    statement has a commitment, the truth's salt must open it with this log.

    For example `replace(release, truth=read_truth("truth.tsv", log, release))` makes a release that was read from its
    file ready for attacks; `querycloak.read_release(path, log=log, truth="truth.tsv")` does both.
    """
    truth_path = Path(path)
    user = np.full(len(release.log.users), NO_CODE, dtype=np.int32)
    asker = np.full(len(release.log), NO_CODE, dtype=np.int32)
    published, original = _codes(release.log.users), _codes(log.users)
    original[""] = NO_CODE
    rows = 0
    named = np.zeros(len(user), dtype=np.bool_)
    for line, (kind, left, right) in _lines(truth_path):
        if kind in {SALT, DELAY}:
            continue
        if right not in original:
            raise InputError.at(truth_path, FOREIGN.format(what="log", line=line))
        if kind == "user" and left in published:
            user[published[left]] = original[right]
            named[published[left]] = True
        elif kind == "row" and left.isascii() and left.isdigit() and len(left) < 12 and int(left) < len(asker):
            asker[int(left)] = original[right]
            rows += 1
        else:
            raise InputError.at(truth_path, FOREIGN.format(what="release", line=line))
    there = np.unique(release.log.user) if release.has_users else np.zeros(0, dtype=np.int32)
    if not named[there].all() or rows not in {0, len(asker)}:
        raise InputError.at(
            truth_path, "the truth does not belong to this release: it does not name all that was published"
        )
    opening, stated = read_opening(truth_path, release), release.statement.input_commitment
    if opening is not None and is_commitment(stated) and not opens(stated, opening, log):
        raise InputError.at(
            truth_path,
            "does not open the statement's commitment to the log: the release was made from another log, the log was "
            "read with other options, or the truth is of another run or was changed",
        )
    return Truth(user, asker if rows else None)


def read_opening(path: str | Path, release: Release) -> Opening | None:
    """Read what opens the commitment, None where the truth has no salt; the truth of another release is refused."""
    truth_path = Path(path)
    published = set(_codes(release.log.users))
    salt, digest = None, hashlib.sha256()
    for line, fields in _lines(truth_path):
        kind, left, right = fields
        if kind == "user" and left not in published:
            raise InputError.at(truth_path, FOREIGN.format(what="release", line=line))
        if kind == SALT:
            try:
                salt = bytes.fromhex(right)
            except ValueError:
                salt = b""
            if len(salt) != SALT_BYTES:
                raise InputError.at(truth_path, f"expected a salt of {2 * SALT_BYTES} hexadecimal digits", line)
        else:
            digest.update(_as_line(fields))
    return None if salt is None else Opening(salt, digest.digest())


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    with guarded(path):
        parts = parts_of(path) if path.is_dir() else None
        data = path.read_bytes() if parts is None else b"".join(part.read_bytes() for part in parts)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InputError.at(path, "not a truth file: it is not UTF-8") from None
    if parts is not None:  # each part of a cluster has lines alone
        text = "\t".join(HEADER) + "\n" + text
    lines = text.split("\n")
    if lines[0] != "\t".join(HEADER):
        raise InputError.at(path, f"not a truth file: expected the columns {', '.join(HEADER)}", 1)
    if lines[-1]:
        raise InputError.at(path, "the truth file is cut short", len(lines))
    for number, line in enumerate(lines[1:-1], 2):
        fields = line.split("\t")
        if len(fields) != len(HEADER):
            raise InputError.at(path, f"expected {len(HEADER)} tab-separated fields, found {len(fields)}", number)
        yield number, fields


def _codes(words: pl.Series) -> dict[str, int]:
    """Return escaped id → code."""
    return {escaped(word): code for code, word in enumerate(words.to_list())}


def escaped(word: str) -> str:
    """Return an id as it is written in the file."""
    for plain, written in _ESCAPES:
        word = word.replace(plain, written)
    return word
