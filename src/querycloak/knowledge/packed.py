"""A directory or a taxonomy of paths as bytes, and back: two Arrow tables, and what was said while reading.

.. code-block:: text

    8 bytes   length of the first table       first table    parent, label, title, key, count    a row per concept
    8 bytes   length of the second            second table   site, category                      a row per site
    the rest  JSON: name of the taxonomy, notes

Nothing is taken on trust: what does not make one tree with categories inside it is refused with ValueError.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl

from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Unpacked", "pack", "unpack"]

_CONCEPTS: Final = {"parent": pl.Int32, "label": pl.String, "title": pl.String, "key": pl.String, "count": pl.Int32}
_SITES: Final = {"site": pl.String, "category": pl.Int32}


class Unpacked(NamedTuple):
    """What was packed."""

    taxonomy: Taxonomy
    directory: SiteDirectory | None
    notes: list[str]


def pack(taxonomy: Taxonomy, directory: SiteDirectory | None = None, notes: Sequence[str] = ()) -> bytes:
    """Return the bytes of a taxonomy that `tree_of_paths` made, and of a directory over it.

    Such a taxonomy has no senses, one key per concept, and two labels at most: the last part of the path and a title.
    """
    concepts = pl.DataFrame(
        {
            "parent": taxonomy.parent,
            "label": [labels[0] for labels in taxonomy.labels],
            "title": [labels[1] if len(labels) > 1 else None for labels in taxonomy.labels],
            "key": taxonomy.own_keys,
            "count": np.full(len(taxonomy), -1, np.int32) if directory is None else directory.site_count,
        },
        schema=_CONCEPTS,
    )
    sites = pl.DataFrame(schema=_SITES) if directory is None else directory.sites
    out = io.BytesIO()
    for table in (concepts, sites):
        part = io.BytesIO()
        table.write_ipc(part, compression="lz4")
        out.write(len(part.getvalue()).to_bytes(8, "little"))
        out.write(part.getvalue())
    out.write(json.dumps({"name": taxonomy.name, "notes": list(notes)}).encode())
    return out.getvalue()


def unpack(data: bytes) -> Unpacked:
    """Return what `pack` was given; ValueError where the bytes are not that."""
    try:
        concepts, rest = _table(data, _CONCEPTS)
        sites, rest = _table(rest, _SITES)
        about = json.loads(rest)
        name, notes = str(about["name"]), [str(note) for note in about["notes"]]
    except (pl.exceptions.ComputeError, OSError, KeyError, TypeError) as error:
        raise ValueError("no packed directory") from error
    count = concepts["count"].to_numpy()
    taxonomy = _taxonomy(concepts, name)
    if not len(sites):
        return Unpacked(taxonomy, None, notes)
    category = sites["category"].to_numpy()
    if sites.null_count().sum_horizontal()[0] or category.min() < 0 or category.max() >= len(taxonomy):
        raise ValueError("a site has no category")
    return Unpacked(taxonomy, SiteDirectory(taxonomy, sites, count), notes)


def _table(data: bytes, schema: dict[str, type[pl.DataType]]) -> tuple[pl.DataFrame, bytes]:
    """Return the table at the beginning, and what follows it."""
    end = 8 + int.from_bytes(data[:8], "little")
    if end > len(data):
        raise ValueError("cut short")
    table = pl.read_ipc(io.BytesIO(data[8:end])).rechunk()
    if table.schema != pl.Schema(schema):
        raise ValueError("other columns")
    return table, data[end:]


def _taxonomy(concepts: pl.DataFrame, name: str) -> Taxonomy:
    parent = concepts["parent"].to_numpy()
    node = np.arange(len(parent))
    if not len(parent) or parent[0] != -1 or (parent[1:] < 0).any() or (parent[1:] >= node[1:]).any():
        raise ValueError("not one tree")
    labels: list[tuple[str, ...]] = list(zip(concepts["label"].to_list(), strict=True))
    titles = concepts["title"]
    for i in titles.is_not_null().arg_true().to_list():
        labels[i] = (*labels[i], titles[i])
    taxonomy = Taxonomy.from_depth_first(parent, labels, name=name, keys=concepts["key"].alias("path"))
    depth = taxonomy.depth.astype(np.int64)
    keys = np.sort(depth * len(node) + node)  # by depth, then by index
    # In depth-first order a node is one deeper than the one before it at most, and its parent is the last of those one
    # less deep that come before it.
    last = keys[np.searchsorted(keys, (depth[1:] - 1) * len(node) + node[1:]) - 1] % len(node)
    if (np.diff(depth) > 1).any() or (last != parent[1:]).any():
        raise ValueError("not in depth-first order")
    return taxonomy
