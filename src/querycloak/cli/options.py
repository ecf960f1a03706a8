"""Options that several subcommands share; those of reading a log are in `log_options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from querycloak.cli import completion

__all__ = [
    "TAXONOMIES",
    "DirectoryOption",
    "LearnOption",
    "LogArgument",
    "NamedTaxonomyOption",
    "ReleaseArgument",
    "ResolverOption",
    "SafeCsvOption",
    "SafeResultsOption",
    "SeedOption",
    "SensitiveOption",
    "SignOption",
    "TaxonomyOption",
    "known_mapping",
]

LogArgument = Annotated[Path, typer.Argument(help="The original log.", show_default=False)]
ReleaseArgument = Annotated[
    Path, typer.Argument(help="A release of it, with its statement next to it.", show_default=False)
]


def known_mapping(name: str | None) -> str | None:
    """Refuse a mapping that is not there before any work is done."""
    if name is not None:
        from querycloak.mapping.modes import check_mapping

        check_mapping(name)
    return name


TAXONOMIES: Final = "`wordnet`, `topics`, or a file: paths, (child, parent) pairs, or `structure.rdf.u8`."
"""What --taxonomy takes, in all commands."""
NamedTaxonomyOption = Annotated[str, typer.Option("--taxonomy", help=TAXONOMIES, autocompletion=completion.taxonomies)]
TaxonomyOption = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        help=f"{TAXONOMIES} Default: `wordnet`, but `topics` for the categories of a stream method.",
        autocompletion=completion.taxonomies,
        show_default=False,
    ),
]
DirectoryOption = Annotated[
    Path | None,
    typer.Option(
        "--directory",
        help="Sites and their categories, for what looks sites up: a table, or `content.rdf.u8`.",
        show_default=False,
    ),
]
LearnOption = Annotated[
    bool,
    typer.Option(
        "--learn-from-clicks",
        help="Learn from the clicks of the log which queries name a site and, with --directory, which category goes "
        "with which words, for queries without a click on a listed site. Not for differential privacy.",
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
SensitiveOption = Annotated[
    Path | None,
    typer.Option(
        "--sensitive",
        help="A list of sensitive words to count by instead of ours: a topic, a tab, a word or phrase per line.",
        show_default=False,
    ),
]
SafeCsvOption = Annotated[
    bool,
    typer.Option(
        "--safe-csv/--no-safe-csv",
        help="In CSV, put an apostrophe before texts that a spreadsheet would take for formulas (= + - @). The "
        "statement says so, and commands that read the release take it away again.",
    ),
]
SafeResultsOption = Annotated[
    bool,
    typer.Option(
        "--safe-csv/--no-safe-csv",
        help="In results.csv, put an apostrophe before texts that a spreadsheet would take for formulas.",
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
SignOption = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        help="Sign the statement with this private key (Ed25519, in PEM or of OpenSSH, without a password); "
        "`querycloak keys new FILE` makes one.",
        show_default=False,
    ),
]
