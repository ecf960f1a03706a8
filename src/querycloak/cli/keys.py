"""`querycloak keys new`: a pair of keys to sign statements with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.command import EXIT_CODES, Command
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Keys that sign statements.", rich_markup_mode="markdown", epilog=EXIT_CODES
)


@app.callback()
def keys() -> None:
    """Keys that sign statements: `querycloak anonymize --sign KEY`, `querycloak verify --public-key KEY.pub`."""


@app.command("new", cls=Command)
def new(
    file: Annotated[
        Path, typer.Argument(help="Where the private key goes; the public one goes to FILE.pub.", show_default=False)
    ],
    as_json: JsonOption = False,
    quiet: QuietOption = False,  # noqa: ARG001 - nothing is said on the way
) -> None:
    """Make a new pair of Ed25519 keys. The private key is for its owner alone (mode 0600); no file is overwritten.

    Hand out FILE.pub by a way that your readers trust, apart from the releases: who can change it can sign instead of
    you.
    """
    from querycloak.releases.signing import new_key_pair

    fingerprint = new_key_pair(file)
    if as_json:
        print_json({"private_key": file, "public_key": f"{file}.pub", "fingerprint": fingerprint})
        return
    say(f"private key: {file} (keep it, never share it)", f"public key:  {file}.pub", f"fingerprint: {fingerprint}")
