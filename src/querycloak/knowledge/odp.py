"""The dumps of the Open Directory: `structure.rdf.u8` to a taxonomy, `content.rdf.u8` to a directory of sites.

The dumps look like XML and often are not: they hold control characters, bytes that are not UTF-8 and bare ampersands.
So they are streamed in blocks of lines and searched for the few elements that matter, which real dumps write on one
line each; what is malformed is read as well as it can be, and counted.

.. code-block:: text

    <Topic r:id="Top/Arts">                         a category, its path             both files
      <d:Title>Arts</d:Title>                       its title                        structure
      <narrow1 r:resource="Top/Arts/Music"/>        a category below; also narrow, narrow2, letterbar
      <link r:resource="http://…"/>                 a site of the category; also link1, pdf, rss, atom    content
    <ExternalPage about="http://…">                 the same site again,             content
      <topic>Top/Arts</topic>                       and its category (since 2003)

Symbolic links point across the tree and are left out: the tree is that of the paths.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError
from querycloak.knowledge._rdf import Dump
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.paths import tree_of_paths
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["read_content", "read_structure"]

_STRUCTURE: Final = re.compile(
    r'<(Topic r:id|Alias r:id|narrow[0-9]? r:resource|letterbar[0-9]? r:resource)="([^"\n]*)"|<d:(Title)>([^<\n]*)<'
)
_CONTENT: Final = re.compile(
    r'<(Topic r:id|(?:link|pdf|rss|atom)1? r:resource|ExternalPage about)="([^"\n]*)"|<(topic)>([^<\n]*)<'
)


def read_structure(path: str | Path, progress: Progress = QUIET) -> Taxonomy:
    """Read the taxonomy of `structure.rdf.u8`; of `content.rdf.u8` it is that of the categories with sites."""
    dump = Dump(path, progress)
    paths: dict[str, None] = {}
    titles: dict[str, str] = {}
    topic: str | None = None
    for kind, value, title, text in _elements(dump, _STRUCTURE):
        if title:
            if topic is not None:
                titles.setdefault(topic, text)
                topic = None
        elif kind == "Alias r:id":
            topic = None
        else:
            paths.setdefault(value)
            if kind == "Topic r:id":
                topic = value
    if not paths:
        raise InputError.at(path, "expected an Open Directory dump, found no <Topic r:id=…> in it")
    plain_titles = dict(zip(_plain(titles), _plain(titles.values()), strict=True))
    return tree_of_paths(_plain(paths), name="odp", titles=plain_titles)[0]


def read_content(path: str | Path, taxonomy: Taxonomy | None = None, progress: Progress = QUIET) -> SiteDirectory:
    """Read the sites of `content.rdf.u8`, into a taxonomy or into the tree of the file's own categories."""
    dump = Dump(path, progress)
    listed: dict[tuple[str, str], None] = {}  # (address, path)
    topic: str | None = None
    page: str | None = None
    for kind, value, inner, text in _elements(dump, _CONTENT):
        if inner:
            if page is not None:
                listed.setdefault((page, text))
            page = None
        elif kind == "ExternalPage about":
            page, topic = value, None
        elif kind == "Topic r:id":
            topic, page = value, None
        elif topic is not None:
            listed.setdefault((value, topic))
    if not listed:
        raise InputError.at(path, "expected an Open Directory dump of content, found no site with a category in it")
    addresses, categories = zip(*listed, strict=True)
    return SiteDirectory.of(_plain(addresses), _plain(categories), taxonomy)


def _elements(dump: Dump, pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str, str]]:
    for block in dump:
        yield from pattern.findall(block)


def _plain(values: Iterable[str]) -> list[str]:
    """Resolve entities; most values have none."""
    return [unescape(value) if "&" in value else value for value in values]
