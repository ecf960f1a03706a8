"""`querycloak demo`: the main job on a generated log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for what it makes.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 1,
) -> None:
    """Generate a log, sweep it, write the release with its statement, and say what it is worth."""
    from querycloak import api
    from querycloak.cli.progress import ShownProgress
    from querycloak.errors import OutputError

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{output} is not a directory and cannot be made one; choose another with -o.") from None
    log_path, release_path = output / "log.tsv", output / "release.tsv"
    with ShownProgress() as progress:
        progress.tell_compiling()
        made = api.generate(users=1000, queries=56_000, seed=seed, progress=progress)
        api.write_generated(made, log_path)
        log = api.read_log(log_path, progress=progress)
        release = api.anonymize(log, "sweep", seed=seed, progress=progress)
        api.write_release(release, release_path)
    typer.echo(
        f"log:       {log_path}  ({len(log):,} rows, {len(log.users):,} users, generated: no real person is in it)"
    )
    typer.echo(f"release:   {release_path}\nstatement: {release_path}.statement.json\n")
    typer.echo(release.statement.short())
