"""What this package adds: the objects that the entry points in `pyproject.toml` refer to.

QueryCloak imports this file whenever it lists its methods, so nothing heavy is imported here: a `Method` or a `Check`
names its module, and what it names is imported when it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from querycloak import Check, Format, Knowledge, Method
from querycloak_example.logfmt import is_logfmt, read_logfmt, write_logfmt

if TYPE_CHECKING:
    from querycloak import Taxonomy

POPULAR_QUERIES = Method(
    name="popular-queries",
    summary="only the queries that most users asked, under new ids",
    guarantee="none",
    module="querycloak_example.popular_queries",
    settings_name="PopularQueries",
    function_name="popular_queries",
)

ACTIVITY_RANK = Check(
    name="activity-rank",
    summary="knows how much each user asks, and orders the published users alike",
    module="querycloak_example.activity_rank",
    function_name="activity_rank",
    kinds=("log",),
)

USERS_KEPT = Check(
    name="users-kept",
    summary="share of users with at least one published query",
    module="querycloak_example.users_kept",
    function_name="users_kept",
    kinds=("log",),
)


def _kitchen() -> Taxonomy:
    from querycloak import load_taxonomy

    return load_taxonomy(Path(__file__).with_name("kitchen.tsv"))


KITCHEN = Knowledge("kitchen", "fifteen words of a kitchen", _kitchen)

LOGFMT = Format("logfmt", 'lines of key=value, such as user=17 query="green tea"', read_logfmt, write_logfmt, is_logfmt)
