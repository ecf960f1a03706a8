"""`querycloak verify`: whether a release keeps what its statement says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["verify"]


def verify(
    release: Annotated[Path, typer.Argument(help="A release, with its statement beside it.", show_default=False)],
) -> None:
    """Check a release from its files alone: exit 0 if all that can be seen holds, 1 if something does not.

    Groups of users with equal logs (k-anonymity) are counted in the table. Noise cannot be seen in a file: of a
    differentially private release only the counts and the digests are checked.
    """
    from querycloak import api
    from querycloak.errors import CheckFailedError

    found = api.verify(release)
    for finding in found:
        typer.echo(f"{'holds' if finding.holds else 'FAILS'}  {finding.check}: {finding.seen}")
    failed = sum(not finding.holds for finding in found)
    if failed:
        raise CheckFailedError(f"{release}: {failed} of {len(found)} checks failed.")
