"""`querycloak studio`: from a log to a checked release in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["studio"]

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


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
) -> None:
    """Open a page in your browser: choose a log, see what it exposes, run methods, take a release away.

    It answers on this machine only, to whoever has the address that it prints. Ctrl-C ends it; what was done is kept.

    Example: `querycloak studio logs`
    """
    from querycloak.cli.say import say
    from querycloak.errors import UserError

    limit = parse_size(max_upload)
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

    def tell(address: str) -> None:
        say(f"The studio is at {address}", "This address is a key: keep it to yourself. Ctrl-C ends the studio.")

    serve(folder, work or folder / ".querycloak-studio", port=port, max_upload=limit, browser=browser, tell=tell)
    say("The studio has ended; what was done is kept.")


def parse_size(text: str) -> int:
    """Read a number of bytes.

    >>> parse_size("500M"), parse_size("1.5g")
    (500000000, 1500000000)
    """
    from querycloak.errors import ParameterError

    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", text.strip().lower())
    if found is None or float(found[1]) <= 0:
        raise ParameterError.of("--max-upload", "a size such as 200M or 2G", text)
    return int(float(found[1]) * UNITS[found[2]])
