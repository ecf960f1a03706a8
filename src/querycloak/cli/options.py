"""Options that several subcommands share; those of reading a log are in `log_options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DirectoryOption", "ResolverOption", "SeedOption", "TaxonomyOption"]

TaxonomyOption = Annotated[
    str,
    typer.Option("--taxonomy", help="`wordnet`, or a file: paths, (child, parent) pairs, or `structure.rdf.u8`."),
]
DirectoryOption = Annotated[
    Path | None,
    typer.Option(
        "--directory",
        help="Sites and their categories, for what looks sites up: a table, or `content.rdf.u8`.",
        show_default=False,
    ),
]
ResolverOption = Annotated[
    Path | None,
    typer.Option(
        "--resolver",
        help="Pairs of query and URL, one per line: the site of queries without a click.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Repeatable randomness, for experiments only. Default: the operating system's.",
        show_default=False,
    ),
]
