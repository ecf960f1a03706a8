"""`querycloak verify`: whether a release keeps what its statement says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.log_options import reads_log
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say
from querycloak.logs.read_options import ReadOptions

__all__ = ["verify"]


@reads_log
def verify(
    release: Annotated[Path, typer.Argument(help="A release, with its statement next to it.", show_default=False)],
    log: Annotated[
        Path | None,
        typer.Option(
            help="The original log, to make sure that none of its users is published, as an id or inside a text.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The truth file, whose salt shows with --log that the release was made from exactly this log.",
            show_default=False,
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(
            help="Check the signature of the statement with this key (Ed25519, in PEM or of OpenSSH): unsigned, "
            "edited or signed by another key fails.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    *,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Check a release from its files alone: exit 0 if all that can be seen holds, 1 if something does not.

    Groups of users with equal logs (k-anonymity) are counted in the table. What a file cannot show, such as noise, is
    said. Without a signature, digests find accidents; whoever can change both files can write a new pair.
    """
    from querycloak import api
    from querycloak.cli.early_checks import check_release_there
    from querycloak.cli.inputs import open_log
    from querycloak.cli.progress import ShownProgress
    from querycloak.errors import CheckFailedError, UserError
    from querycloak.releases.signing import read_public_key

    if truth is not None and log is None:
        raise UserError("--truth opens a commitment to the original log: give that too, with --log LOG.")
    check_release_there(release)
    if public_key is not None:
        read_public_key(public_key)
    with ShownProgress(quiet=quiet) as progress:
        original = None if log is None else open_log(log, options, progress)
        found = api.verify(release, original, truth=truth, public_key=public_key)
    failed = sum(finding.holds is False for finding in found)
    if as_json:
        print_json({"release": release, "passed": not failed, "failed": failed, "findings": found})
    words = {True: "holds", False: "FAILS", None: "     ?"}
    for finding in () if as_json else found:
        say(f"{words[finding.holds]:>6}  {finding.check}: {finding.seen}")
    if failed:
        raise CheckFailedError(f"{release}: {failed} of {len(found)} checks failed.")
