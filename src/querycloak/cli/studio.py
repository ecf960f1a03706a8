"""`querycloak studio`: from a log to a checked release in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.log_options import parse_size
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say

__all__ = ["studio"]


def studio(
    folder: Annotated[Path, typer.Argument(help="The folder with the logs; only files below it are read.")] = Path(),
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.", min=0, max=65535, show_default="a free one")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")] = True,
    work: Annotated[
        Path | None,
        typer.Option(
            help="Folder for everything that it writes. Default: `.querycloak-studio` in FOLDER.", show_default=False
        ),
    ] = None,
    max_upload: Annotated[str, typer.Option(help="Largest upload, such as 200M or 2G.")] = "500M",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Open a page in your browser: choose a log, see what it exposes, run methods, take a release away.

    It answers on this machine only, to whoever has the address that it prints. Ctrl-C ends it; what was done is kept.

    Example: `querycloak studio logs`
    """
    from querycloak.errors import UserError

    limit = parse_size(max_upload, "--max-upload")
    assert limit is not None
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: name the one with your logs.")
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"The studio needs {error.name}, which is not installed: install `querycloak[studio]`."
        ) from None
    from querycloak.studio.server import serve

    place = work or folder / ".querycloak-studio"

    def tell(address: str) -> None:
        if as_json:
            print_json({"address": address, "folder": folder, "work": place})
            return
        say(f"The studio is at {address}", "This address is a key: keep it to yourself. Ctrl-C ends the studio.")

    serve(folder, place, port=port, max_upload=limit, browser=browser, tell=tell)
    if not (as_json or quiet):
        say("The studio has ended; what was done is kept.")
