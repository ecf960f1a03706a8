"""`querycloak map`: what a query maps to, step by step."""

from __future__ import annotations

from typing import Annotated

import typer

from querycloak.cli.options import MappingOption, NamedTaxonomyOption

__all__ = ["map_query"]


def map_query(
    query: Annotated[str, typer.Argument(help="The text of a query.", show_default=False)],
    mapping: MappingOption = None,
    taxonomy: NamedTaxonomyOption = "wordnet",
) -> None:
    """Show what a query maps to, step by step.

    Example: `querycloak map "exciting water sports"`
    """
    from querycloak import api
    from querycloak.errors import ParameterError

    if not query.strip():
        raise ParameterError.of("QUERY", "the text of a query", query)
    for title, lines in api.explain(query, taxonomy=taxonomy, mapping=mapping):
        typer.secho(title, bold=True)
        for line in lines:
            typer.echo(f"  {line}")
