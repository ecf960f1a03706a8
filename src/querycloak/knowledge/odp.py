"""The dumps of the Open Directory: `structure.rdf.u8` to a taxonomy, `content.rdf.u8` to a directory of sites.

The dumps look like XML and often are not: they hold control characters, bytes that are not UTF-8 and bare ampersands.
So they are streamed in blocks of lines and searched for the few elements that matter; what is malformed is read as
well as it can be, and counted.

.. code-block:: text

    <Topic r:id="Top/Arts">                       a category, by its path                      both files
      <d:Title>Arts</d:Title>                     its title                                    structure
      <narrow1 r:resource="Top/Arts/Music"/>      a category below; narrow, narrow2, letterbar structure
      <link r:resource="http://…"/>               a site of the category; link1, pdf, rss, …   content
    <ExternalPage about="http://…">               the same site again,                         content
      <topic>Top/Arts</topic>                     and its category (dumps since 2003)          content

Symbolic links point across the tree and are left out: the tree is that of the paths.
"""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Final

import polars as pl

from querycloak.errors import InputError
from querycloak.knowledge._rdf import Dump
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.paths import tree_of_paths
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["read_content", "read_structure"]

_STRUCTURE: Final = r'<(?:(?:Topic|Alias) r:id|(?:narrow|letterbar)[0-9]? r:resource)="[^"\n]*"|<d:Title>[^<\n]*<'
_CONTENT: Final = r'<(?:Topic r:id|(?:link|pdf|rss|atom)1? r:resource|ExternalPage about)="[^"\n]*"|<topic>[^<\n]*<'


def read_structure(path: str | Path, progress: Progress = QUIET) -> Taxonomy:
    """Read the taxonomy of `structure.rdf.u8`; of `content.rdf.u8` it is that of the categories with sites."""
    paths, titles = [], []
    kind, value = pl.col("kind"), pl.col("value")
    topic = pl.when(kind == "Topic").then(value).when(kind == "Alias").then(pl.lit("")).forward_fill()
    for block in _elements(Dump(path, progress), _STRUCTURE, ("Topic", "Alias")):
        named = block.with_columns(path=topic)
        paths.append(block.filter(~kind.is_in(["Alias", "d:Title"]))["value"].unique(maintain_order=True))
        is_title = (kind == "d:Title") & (pl.col("path") != "")
        titles.append(
            named.filter(is_title).select("path", title=value).unique("path", keep="first", maintain_order=True)
        )
    listed = pl.concat(paths).unique(maintain_order=True)
    if listed.is_empty():
        raise InputError.at(path, "expected an Open Directory dump, found no <Topic r:id=…> in it")
    return tree_of_paths(listed, name="odp", titles=pl.concat(titles))[0]


def read_content(path: str | Path, taxonomy: Taxonomy | None = None, progress: Progress = QUIET) -> SiteDirectory:
    """Read the sites of `content.rdf.u8`, into a taxonomy or into the tree of the file's own categories."""
    pairs = []
    kind, value = pl.col("kind"), pl.col("value")
    opened = pl.when(kind.is_in(["Topic", "ExternalPage"])).then(pl.struct("kind", "value")).forward_fill()
    inside, name = opened.struct.field("kind"), opened.struct.field("value")
    for block in _elements(Dump(path, progress), _CONTENT, ("Topic", "ExternalPage")):
        rows = block.select("kind", "value", inside=inside, name=name).filter(~kind.is_in(["Topic", "ExternalPage"]))
        in_page = pl.col("inside") == "ExternalPage"
        rows = rows.filter(in_page == (kind == "topic"))  # a link belongs in a topic, a topic in a page
        pairs.append(
            rows.select(
                address=pl.when(in_page).then(pl.col("name")).otherwise(value),
                path=pl.when(in_page).then(value).otherwise(pl.col("name")),
            ).unique(maintain_order=True)
        )
    listed = pl.concat(pairs)
    if listed.is_empty():
        raise InputError.at(path, "expected an Open Directory dump of content, found no site with a category in it")
    return SiteDirectory.of(listed["address"], listed["path"], taxonomy)


def _elements(dump: Dump, pattern: str, openers: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    """Return the elements of each block as `kind` and `value`, after the opener still open from the block before.

    The last block may be empty; there is always one.
    """
    still_open = pl.DataFrame(schema={"kind": pl.String, "value": pl.String})
    element, inner = pl.col("element"), pl.col("element").str.contains("^<(?:d:Title|topic)>")
    text_parts, tag_parts = element.str.splitn(">", 2).struct, element.str.splitn('"', 3).struct
    kind = pl.when(inner).then(text_parts.field("field_0")).otherwise(element.str.extract("^([^ ]*)"))
    value = pl.when(inner).then(text_parts.field("field_1").str.strip_suffix("<")).otherwise(tag_parts.field("field_1"))
    for text in dump:
        found = pl.Series("element", [text]).str.extract_all(pattern).explode().drop_nulls().to_frame()
        block = pl.concat([still_open, _unescaped(found.select(kind=kind.str.strip_prefix("<"), value=value))])
        still_open = block.filter(pl.col("kind").is_in(openers)).tail(1)
        yield block


def _unescaped(block: pl.DataFrame) -> pl.DataFrame:
    """Resolve entities, where there are any."""
    escaped = block["value"].filter(block["value"].str.contains("&", literal=True)).unique().to_list()
    return block.with_columns(pl.col("value").replace({value: unescape(value) for value in escaped}))
