r"""Who is behind each published id, on disk only where asked: readable by its owner alone.

A table of tab-separated text: `user`, published id, original id; and where rows have an asker of their own, `row`,
number of the row from 0, original id. Backslash, tab and line end inside an id are written as `\\`, `\t`, `\n`, `\r`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import InputError, ParameterError
from querycloak.logs.atomic import PRIVATE, writing
from querycloak.logs.query_log import NO_CODE
from querycloak.logs.source import guarded
from querycloak.releases.release import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.release import Release

__all__ = ["escaped", "read_truth", "write_truth"]

HEADER: Final = ("kind", "published", "original")
FOREIGN: Final = "the truth does not belong to this {what}: line {line} names an id that the {what} does not have"
_ESCAPES: Final = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def write_truth(release: Release, log: QueryLog, path: str | Path) -> None:
    """Write which original user each published id stands for; only its owner may read the file, from the first byte."""
    if release.truth is None:
        raise ParameterError("The release holds no truth: it was read from a file, or its method publishes no users.")
    original = [escaped(word) for word in log.users.to_list()]
    with writing(path, mode=PRIVATE) as (file,):
        file.write(("\t".join(HEADER) + "\n").encode())
        if release.has_users:
            published = release.log.users.to_list()
            for code in np.unique(release.log.user).tolist():
                stands_for = int(release.truth.user[code])
                word = "" if stands_for == NO_CODE else original[stands_for]
                file.write(f"user\t{escaped(published[code])}\t{word}\n".encode())
        if release.truth.asker is not None:
            for row, code in enumerate(release.truth.asker.tolist()):
                file.write(f"row\t{row}\t{'' if code == NO_CODE else original[code]}\n".encode())


def read_truth(path: str | Path, log: QueryLog, release: Release) -> Truth:
    """Read the truth of a release of a log; one that belongs to another log or release is refused."""
    truth_path = Path(path)
    user = np.full(len(release.log.users), NO_CODE, dtype=np.int32)
    asker = np.full(len(release.log), NO_CODE, dtype=np.int32)
    published, original = _codes(release.log.users), _codes(log.users)
    original[""] = NO_CODE
    rows = 0
    named = np.zeros(len(user), dtype=np.bool_)
    for line, (kind, left, right) in _lines(truth_path):
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
    return Truth(user, asker if rows else None)


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    with guarded(path), path.open("rb") as file:
        try:
            text = file.read().decode()
        except UnicodeDecodeError:
            raise InputError.at(path, "not a truth file: it is not UTF-8") from None
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
