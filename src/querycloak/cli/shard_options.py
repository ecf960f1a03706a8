"""The options of a stream over several processes: `--shards`, `--shard`, `--secret`, `--take-over`.

A command asks for them by a keyword-only parameter `parts: Parts`; `@is_sharded` adds them to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from querycloak.cli.log_options import with_options
from querycloak.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.run import Run
    from querycloak.live.secret import IdSecret
    from querycloak.live.shards import Shard

__all__ = ["Parts", "is_sharded", "of_shard", "secret_of"]

OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "shards": (
        Annotated[
            int | None,
            typer.Option(
                "--shards",
                help="Run over so many processes, each with top-level categories of its own. FILE.tsv becomes "
                "FILE.0-of-N.tsv and so on.",
                min=1,
                show_default=False,
            ),
        ],
        None,
    ),
    "shard": (
        Annotated[
            str | None,
            typer.Option(
                "--shard",
                metavar="i/N",
                help="Be one of N such processes, which may be on several machines: 0/2, 1/2.",
                show_default=False,
            ),
        ],
        None,
    ),
    "secret": (
        Annotated[
            Path | None,
            typer.Option(
                "--secret",
                help="File of 32 bytes, mode 0600, of which all shards make their ids. --shards makes it where it is "
                "missing; default: `secret` in the checkpoint.",
                show_default=False,
            ),
        ],
        None,
    ),
    "take_over": (
        Annotated[
            list[Path] | None,
            typer.Option(
                "--take-over",
                metavar="DIR",
                help="At the first start of another number of shards: a checkpoint of the shards before, or of one of "
                "them; repeat it.",
                show_default=False,
            ),
        ],
        None,
    ),
    "child": (Annotated[bool, typer.Option("--child", hidden=True)], False),
}
"""name → its option, and the default"""


@dataclass(frozen=True)
class Parts:
    """How a stream is shared out."""

    count: int | None = None
    """processes to start; None = this one is all, or one of them"""
    shard: Shard | None = None
    secret: Path | None = None
    take_over: tuple[Path, ...] = ()
    child: bool = False
    """started by `--shards`, which is told how far this process is"""


def is_sharded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameter `parts` of a command by the options on the command line that make it."""
    return with_options(command, "parts", OPTIONS, chosen_parts)


def chosen_parts(
    shards: int | None, shard: str | None, secret: Path | None, take_over: list[Path] | None, *, child: bool
) -> Parts:
    """Return how the stream is shared out."""
    if shards is None and shard is None:
        for name, given in (("--secret", secret), ("--take-over", take_over)):
            if given:
                raise ParameterError(f"{name} is for shards: give --shards N, or --shard i/N.")
        return Parts()
    from querycloak.live.shards import Shard

    if shard is not None:
        if shards is not None and not child:
            raise ParameterError("--shards N starts all shards, --shard i/N is one of them: give one of the two.")
        one = Shard.parse(shard)
        return Parts(None, one, secret, _states(take_over, one.count), child)
    Shard(0, shards or 1)
    return Parts(shards, None, secret, _states(take_over, shards or 1))


def _states(given: list[Path] | None, count: int) -> tuple[Path, ...]:
    """Return the checkpoints of single shards: a directory of several stands for all of them, but for the new ones.

    Other processes of this run may have begun to make theirs, of `count` shards, in the same directory.
    """
    from querycloak.live.shards import shard_directories

    found: list[Path] = []
    for path in given or ():
        inside = shard_directories(path) if path.is_dir() and not (path / "state").exists() else []
        old = [p for p in inside if not p.name.endswith(f"-of-{count}")]
        found += old or inside or [path]
    return tuple(found)


def of_shard(run: Run, shard: Shard) -> Run:
    """Return the run of one shard, with output, statement, truth, figures and checkpoint of its own."""
    truth, stats, statement = (None if p is None else shard.path(p) for p in (run.truth, run.stats, run.statement))
    checkpoint = None if run.checkpoint is None else shard.directory(run.checkpoint)
    place = shard.place(run.output)
    return replace(run, shard=shard, output=place, statement=statement, truth=truth, stats=stats, checkpoint=checkpoint)


def secret_of(parts: Parts, ids: str, seed: int | None) -> IdSecret | None:
    """Return what the ids of all shards are made of; None = they are the original ones."""
    from querycloak.live.secret import read_secret, secret_of_seed

    if ids == "original":
        return None
    if seed is not None:
        if parts.secret is not None:
            raise ParameterError("With --seed the ids of all shards are made of the seed: leave --secret out.")
        return secret_of_seed(seed)
    if parts.secret is None:
        raise ParameterError(
            "All shards make their ids of one secret: give each the same --secret FILE, as made by "
            "`head -c 32 /dev/urandom`, mode 0600; or --ids original."
        )
    return read_secret(parts.secret)
