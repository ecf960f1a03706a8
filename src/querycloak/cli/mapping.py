"""`querycloak map`: what a query maps to, step by step."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import NamedTaxonomyOption
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say, say_heading

__all__ = ["map_query"]


@maps_queries
def map_query(
    query: Annotated[str, typer.Argument(help="The text of a query.", show_default=False)],
    taxonomy: NamedTaxonomyOption = "wordnet",
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
    *,
    mapping: str | None,
) -> None:
    """Show what a query maps to, step by step.

    Example: `querycloak map "exciting water sports"`
    """
    from querycloak.errors import ParameterError
    from querycloak.knowledge.named import load_taxonomy  # not from `api`, which imports Polars: 0.3 s
    from querycloak.mapping.mappers import mapper_of

    if not query.strip():
        raise ParameterError.of("QUERY", "the text of a query", query)
    steps = mapper_of(load_taxonomy(taxonomy), mapping).explain(query)
    if as_json:
        print_json({"query": query, "steps": [{"title": title, "lines": lines} for title, lines in steps]})
        return
    for title, lines in steps:
        say_heading(title)
        for line in lines:
            say(f"  {line}")
