"""Generated logs for the experiments of a paper: another one for each draw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from querycloak.evaluation.reproduce.source import Source, check_users
from querycloak.evaluation.workbench import Workbench
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.paper import Paper
    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["generated_logs"]


def generated_logs(
    paper: Paper, taxonomy: Taxonomy, users: int | None, progress: Progress = QUIET, *, mapping: str | None = None
) -> Source:
    """Generate a log like that of the paper for each draw, with the seed of the draw; `mapping` reads its queries."""
    if users is None:
        users = paper.users if paper.generated_users is None else paper.generated_users
    check_users(paper, users)
    queries = max(users, round(users * paper.queries_per_user))
    settings = Generate.from_json({**paper.generated, "users": users, "queries": queries})

    def make(seed: int) -> Workbench:
        progress.note(f"generating a log of {users:,} users and {queries:,} queries, seed {seed}")
        made = generate(settings, taxonomy, Randomness(seed))
        directory = None
        if paper.directory:
            from querycloak.knowledge.directory import SiteDirectory

            sites = made.directory()
            directory = SiteDirectory.of(sites["site"].to_list(), sites["category"].to_list())
        return Workbench(made.log, taxonomy, directory, mapping=mapping)

    return Source(
        says=f"generated, no real person in it: {users:,} users and {queries:,} queries, another log for every draw",
        mark=json.dumps([settings.to_json(), taxonomy.name, len(taxonomy), mapping], sort_keys=True),
        users=users,
        make=make,
    )
