"""Taxonomies and directories of sites from plain tables; dumps of the Open Directory are recognised too.

A taxonomy is a column of paths (`Top/Arts/Animation`), or two columns, child and parent, with an optional third of
labels separated by '|'; the root has an empty parent. A directory is two columns, site and category path. Columns are
separated by tabs (a directory's also by a comma), a first line that names them is optional, and files may be gzip or
zstd.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from querycloak.errors import InputError, TaxonomyError
from querycloak.knowledge.cache import find_slot
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.odp import read_content, read_structure
from querycloak.knowledge.packed import Unpacked, pack, unpack
from querycloak.knowledge.paths import tree_of_paths
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.compression import open_binary
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["read_directory", "read_taxonomy"]

_CHILD: Final = {"child", "concept", "id", "node", "name"}
_PARENT: Final = {"parent", "broader", "hypernym"}
_SITE: Final = {"site", "host", "domain", "url", "address"}
_CATEGORY: Final = {"category", "path", "topic", "concept"}


def read_taxonomy(path: str | Path, progress: Progress = QUIET) -> Taxonomy:
    """Read a taxonomy from a table of paths, a table of child and parent, or an Open Directory dump.

    What was read of a large dump is kept (`cache.py`).
    """
    if _is_dump(path):
        return _remembered(path, "taxonomy", progress, partial(read_structure, path)).taxonomy
    lines, first = _lines(path)
    head = [field.strip().lower() for field in lines[first].split("\t")]
    named = head[0] in _CATEGORY if len(head) == 1 else head[0] in _CHILD and head[1] in _PARENT
    if named:
        lines[first] = ""
    if len(head) == 1:
        return tree_of_paths([line.strip() for line in lines if line.strip()], name=str(path))[0]
    return _tree_of_links(path, lines, len(head))


def _tree_of_links(path: str | Path, lines: list[str], columns: int) -> Taxonomy:
    """Build the tree of (child, parent, labels…) lines."""
    number: dict[str, int] = {}
    above: list[str] = []
    labels: list[list[str]] = []
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        child, *more = (field.strip() for field in line.split("\t"))
        if len(more) + 1 != columns or columns > 3:
            expected = "2 or 3" if columns > 3 else f"{columns}"
            raise InputError.at(path, f"expected {expected} tab-separated fields, found {len(more) + 1}", at)
        if not child or child in number:
            raise InputError.at(path, f"the child {child!r} is listed twice" if child else "the child is empty", at)
        number[child] = len(above)
        above.append(more[0])
        given = [label.strip() for label in more[1].split("|")] if len(more) > 1 else []
        labels.append([label for label in given if label] or [child])
    for child, parent in zip(number, above, strict=True):
        if parent and parent not in number:
            raise TaxonomyError(f"The taxonomy's node {child!r} has the parent {parent!r}, which does not exist.")
    parents = [number[parent] if parent else -1 for parent in above]
    return Taxonomy.from_parents(parents, labels, name=str(path), names=list(number))


def read_directory(path: str | Path, taxonomy: Taxonomy | None = None, progress: Progress = QUIET) -> SiteDirectory:
    """Read a directory of sites from a table of site and category path, or from an Open Directory dump of content.

    With a taxonomy, the categories are its concepts; without, they make their own, and what was read of a large file is
    kept (`cache.py`).
    """
    if taxonomy is not None:
        return _read_directory(path, taxonomy, progress)
    found = _remembered(path, "directory", progress, partial(_read_directory, path, None)).directory
    assert found is not None  # a kept file has its kind in its name
    return found


def _read_directory(path: str | Path, taxonomy: Taxonomy | None, progress: Progress) -> SiteDirectory:
    if _is_dump(path):
        return read_content(path, taxonomy, progress)
    lines, first = _lines(path)
    separator = "\t" if "\t" in lines[first] else ","
    head = [field.strip().lower() for field in lines[first].split(separator)]
    named = head[0] in _SITE
    if len(head) < 2 or (named and head[1] not in _CATEGORY):
        found = ", ".join(head[:5]) if named else "one"
        raise InputError.at(path, f"expected two columns, site and category path, found {found}", first + 1)
    if named:
        lines[first] = ""
    table = pl.Series(lines).str.splitn(separator, 2).struct.unnest()
    table.columns = ["site", "category"]
    listed = table.with_row_index("line", offset=1).filter(pl.col("site").str.strip_chars() != "")
    bad = listed.filter(pl.col("category").is_null() | pl.col("category").str.contains("\t"))
    if len(bad):
        raise InputError.at(path, "expected two fields, site and category path", int(bad["line"][0]))
    bare = listed.filter(~pl.col("category").str.contains(r"[^\s/]"))
    if len(bare):
        raise InputError.at(path, "the category of the site is empty: leave the line out", int(bare["line"][0]))
    return SiteDirectory.of(listed["site"], listed["category"].str.strip_chars(), taxonomy)


class _Notes:
    """Passes progress on, and remembers what was noted."""

    def __init__(self, progress: Progress) -> None:
        self.start, self.advance = progress.start, progress.advance
        self._note = progress.note
        self.noted: list[str] = []

    def note(self, text: str) -> None:
        self.noted.append(text)
        self._note(text)


def _remembered(
    path: str | Path, kind: str, progress: Progress, read: Callable[[Progress], Taxonomy | SiteDirectory]
) -> Unpacked:
    """Return what was kept of a file, and say again what was noted when it was read; or read it, and keep that."""
    slot = find_slot(path, kind)
    data = None if slot is None else slot.load()
    if data is not None:
        with suppress(ValueError):
            kept = unpack(data)
            for note in kept.notes:
                progress.note(f"{path}{note}")
            return kept
    notes = _Notes(progress)
    found = read(notes)
    directory = found if isinstance(found, SiteDirectory) else None
    taxonomy = found.taxonomy if isinstance(found, SiteDirectory) else found
    if slot is not None:
        # The same content may be read under another name next time.
        slot.save(pack(taxonomy, directory, [note.removeprefix(str(path)) for note in notes.noted]))
    return Unpacked(taxonomy, directory, [])


def _is_dump(path: str | Path) -> bool:
    """Tell whether a file begins like an Open Directory dump rather than a table."""
    with open_binary(path) as file:
        head = file.read(4096)
    return b"<RDF" in head or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml")


def _lines(path: str | Path) -> tuple[list[str], int]:
    """Read the lines of a text file, and the index of the first that is not blank."""
    with open_binary(path) as file:
        data = file.read()
    if b"\0" in data:
        raise InputError.at(path, "expected a table, found binary data")
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise InputError.at(path, "the file is empty")
    return lines, first
