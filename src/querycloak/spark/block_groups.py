"""What is done in a block: its users are grouped, and what each group publishes is drawn, by one machine's code.

A block returns one row per group: its members, and the rows that all of them get. So members cannot differ.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from querycloak.methods.microaggregation import plain_microaggregation as plain
from querycloak.methods.microaggregation import semantic_microaggregation as semantic
from querycloak.methods.microaggregation import syntactic_microaggregation as syntactic
from querycloak.methods.microaggregation import url_microaggregation as url
from querycloak.methods.microaggregation import word_microaggregation as word
from querycloak.methods.microaggregation._category_release import group_by_units
from querycloak.methods.microaggregation._group_release import FURTHER_CLICKS, Drawn, Grouped, draw_shared
from querycloak.methods.microaggregation._group_settings import MdavSettings
from querycloak.progress import QUIET
from querycloak.releases.columns import KeptColumns
from querycloak.releases.kinds import KIND_NAMES
from querycloak.spark.block_figures import USERS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.methods.microaggregation._group_settings import GroupSettings
    from querycloak.randomness import Randomness
    from querycloak.releases.columns import KeptRows
    from querycloak.spark.block_rows import Block
    from querycloak.spark.knowledge import Knowledge

__all__ = ["grouping_of", "groups_of"]


def groups_of(
    block: Block,
    group: Callable[[Block], Grouped],
    random: Randomness,
    taxonomy: Taxonomy,
    columns: list[str],
    *,
    grain: str,
    people: int,
) -> pa.Table:
    """Return the groups of a block: `users` and `entries`, rows of the `columns`; and one more row with its `figures`.

    Times are rounded to the `grain`, "" = there are none; `people` share each click, 0 = there are none.
    """
    grouped = group(block)
    drawn = draw_shared(block.log, random, grouped, block.shared, concepts=block.concepts, taxonomy=taxonomy)
    bags = drawn.bags
    held = KeptColumns(block.log, grain, people, block.shared.text, block.click, block.ranked, by_text=True)
    made = held.at(np.asarray(bags.bag_row, dtype=np.int64), bags.bag_query)
    return _table(block, drawn, grouped, made, columns)


def grouping_of(name: str, settings: GroupSettings, knowledge: Knowledge) -> Callable[[Block], Grouped]:
    """Return what groups the users of a block."""
    if isinstance(settings, MdavSettings):
        settings = replace(settings, blocks="off")
    asked = cast("Any", settings)

    def group(block: Block) -> Grouped:
        log, shared = block.log, block.shared
        if name == "semantic-microaggregation":
            taxonomy = knowledge.taxonomy
            return semantic.group_by_meaning(log, asked, shared, concepts=block.concepts, taxonomy=taxonomy)
        if name == "plain-microaggregation":
            return plain.group_by_texts(log, asked)
        if name == "syntactic-microaggregation":
            return syntactic.group_by_spelling(log, asked)
        if name == "url-microaggregation":
            units = url.units_of_sites(log, knowledge.directory)
        else:
            units = word.units_of_words(log, asked, knowledge.taxonomy, knowledge.directory)
        return group_by_units(log, asked, units, shared, QUIET)

    return group


def _table(block: Block, drawn: Drawn, grouped: Grouped, made: KeptRows, columns: list[str]) -> pa.Table:
    """Return the groups of a block, and its figures."""
    bags, log = drawn.bags, block.log
    order = np.argsort(bags.bag_group[made.entry], kind="stable")
    entry = made.entry[order]
    values: dict[str, pa.Array] = {"query": bags.queries.gather(bags.bag_query[entry]).to_arrow().cast(pa.string())}
    if "kind" in columns:
        kind = np.zeros(len(bags.bag_query), np.int64) if bags.bag_kind is None else bags.bag_kind
        values["kind"] = pa.array(KIND_NAMES).take(pa.array(kind[entry]))
    if made.time is not None:
        time = made.time[order]
        values["time"] = pa.array(time, mask=time == np.iinfo(np.int64).min)
    if made.url is not None and log.urls is not None:
        url = made.url[order]
        values["url"] = log.urls.to_arrow().cast(pa.string()).take(pa.array(url, mask=url < 0))
    if "rank" in columns and made.url is not None:
        rank = np.full(len(order), -1, np.int32) if made.rank is None else made.rank[order]
        values["rank"] = pa.array(rank, mask=rank < 0)
    groups = int(grouped.group.max()) + 1
    struct = pa.StructArray.from_arrays([values[name] for name in columns], names=columns)
    entries = _lists(bags.bag_group[entry], struct, groups)
    by_group = np.argsort(grouped.group, kind="stable")
    names = log.users.gather(grouped.users[by_group]).to_arrow().cast(pa.string())
    users = _lists(grouped.group[by_group], names, groups)
    event = log.event
    figures = {
        "dropped": {FURTHER_CLICKS: int((~event).sum()), **drawn.dropped},
        "figures": {USERS: len(grouped.users), **grouped.figures, **drawn.figures},
    }
    schema = pa.schema([("users", users.type), ("entries", entries.type), ("figures", pa.string())])
    out = pa.table([users, entries, pa.nulls(groups, pa.string())], schema=schema)
    last = pa.table(
        [pa.nulls(1, users.type), pa.nulls(1, entries.type), pa.array([json.dumps(figures, default=float)])],
        schema=schema,
    )
    return pa.concat_tables([out, last])


def _lists(group: npt.NDArray[Any], values: pa.Array, groups: int) -> pa.ListArray:
    """Cut values, ordered by group, into one list per group."""
    start = np.searchsorted(group, np.arange(groups + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(start), values)
