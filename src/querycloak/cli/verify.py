"""`querycloak verify`: whether a release keeps what its statement says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.options import ColumnsOption

__all__ = ["verify"]


def verify(
    release: Annotated[Path, typer.Argument(help="A release, with its statement next to it.", show_default=False)],
    log: Annotated[
        Path | None,
        typer.Option(help="The original log, to make sure that none of its ids is published.", show_default=False),
    ] = None,
    columns: ColumnsOption = None,
) -> None:
    """Check a release from its files alone: exit 0 if all that can be seen holds, 1 if something does not.

    Groups of users with equal logs (k-anonymity) are counted in the table. What a file cannot show, such as noise, is
    said.
    """
    from querycloak import api
    from querycloak.cli.inputs import parse_columns
    from querycloak.errors import CheckFailedError

    original = None if log is None else api.read_log(log, columns=parse_columns(columns))
    found = api.verify(release, original)
    words = {True: "holds", False: "FAILS", None: "     ?"}
    for finding in found:
        typer.echo(f"{words[finding.holds]:>6}  {finding.check}: {finding.seen}")
    failed = sum(finding.holds is False for finding in found)
    if failed:
        raise CheckFailedError(f"{release}: {failed} of {len(found)} checks failed.")
