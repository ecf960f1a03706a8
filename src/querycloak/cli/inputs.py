"""What several subcommands ask of their arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from querycloak.errors import OutputError, UnknownNameError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions
    from querycloak.progress import Progress
    from querycloak.releases.release import Release

__all__ = [
    "announce_input",
    "check_outputs",
    "digest_of_files",
    "note_time",
    "open_bench",
    "open_log",
    "parse_grid",
    "read_for_judging",
]


def announce_input(path: Path | None) -> None:
    """Tell the kernels how large the input is, where that can be known: a plain file that is not compressed."""
    from querycloak.arrays.jit import expect_input

    plain = path is not None and path.is_file() and path.suffix not in {".gz", ".zst", ".bz2", ".xz", ".parquet"}
    expect_input(path.stat().st_size if plain and path is not None else None)


def parse_grid(methods: Sequence[str], text: str | None, options: Mapping[str, str]) -> dict[str, list[Any]]:
    """Read values of settings, from `k=2,3 epsilon=1` and from options that take several values."""
    from querycloak.catalog import describe_settings, method
    from querycloak.cli.setting_options import convert

    kinds = {s["name"]: s["type"] for name in methods for s in describe_settings(method(name).settings)}
    given = dict(options)
    for part in (text or "").split():
        name, equals, values = part.partition("=")
        if not equals or not values:
            raise UserError(f'--grid takes name=values, such as "k=2,3,5 epsilon=1,5"; {part!r} is not one.')
        given[name.replace("-", "_")] = values
    out: dict[str, list[Any]] = {}
    for name, values in given.items():
        if name not in kinds:
            raise UnknownNameError.of("setting of these methods", name, kinds)
        out[name] = [convert(value, kinds[name], f"--{name.replace('_', '-')}") for value in values.split(",")]
    return out


def open_log(path: Path, options: ReadOptions, progress: Progress) -> QueryLog:
    """Read a log, and say what it was taken for and what the reader had to fix, before any work starts."""
    from querycloak.logs.description import describe_log
    from querycloak.logs.source import read_log

    if str(path) == "-":
        raise UserError("Standard input is not read here: give a file. `querycloak stream` reads standard input.")
    announce_input(path)
    progress.start("reading the log")
    log = read_log(path, options, progress=progress)
    progress.note(describe_log(log, path, options.columns))
    for kind, count in log.problems.items():
        progress.note(f"{path}: {count:,} {kind}")
    return log


def note_time(seconds: float | None, progress: Progress) -> None:
    """Say how long the work takes, where that is known and worth a line."""
    from querycloak.evaluation.estimates import LEAST_SHOWN, in_words

    if seconds is not None and seconds >= LEAST_SHOWN:
        progress.note(f"This takes {in_words(seconds)} if this machine has nothing else to do.")


def open_bench(
    log: Path,
    options: ReadOptions,
    taxonomy: str | None,
    directory: Path | None,
    resolver: Path | None,
    progress: Progress,
    sensitive: Path | None = None,
    mapping: str | None = None,
    *,
    learn: bool = False,
) -> Workbench:
    """Read a log and its background knowledge."""
    from querycloak import api
    from querycloak.texts.sensitive import read_sensitive

    queries = open_log(log, options, progress)
    sites = None if directory is None else api.load_directory(directory, progress=progress)
    sites_of = None if resolver is None else api.load_resolver(resolver)
    words = None if sensitive is None else read_sensitive(sensitive)
    return api.Workbench(queries, taxonomy, sites, sites_of, progress, words, mapping, learn)


def read_for_judging(release: Path, truth: Path | None, log: QueryLog) -> Release:
    """Read a release that is to be attacked; one of another log, an empty one, or a log of one user is refused."""
    import numpy as np

    from querycloak import api

    published = api.read_release(release, log=log, truth=truth)
    if len(published.log) == 0:
        raise UserError(f"{release} is empty: there is nothing to attack.")
    if len(np.unique(log.user)) < 2:
        raise UserError("The log has one user: there is nobody to hide among.")
    return published


def digest_of_files(*paths: Path | None) -> str:
    """Return a digest of what the files hold; a path that is no file counts by its name."""
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes() if path and path.is_file() else str(path).encode()).digest())
    return digest.hexdigest()


def check_outputs(inputs: Sequence[Path | str | None], outputs: Sequence[Path | None]) -> None:
    """Refuse, before any work is done, outputs that cannot be written or would overwrite an input or each other."""
    from querycloak.logs.atomic import check_output

    taken: dict[object, str] = {}
    for i in inputs:
        if i is not None and Path(i).exists():
            taken |= dict.fromkeys(_names_of(Path(i)), f"the input {i}")
    for output in outputs:
        if output is None:
            continue
        names = _names_of(check_output(output))
        for name in names:
            if name in taken:
                raise OutputError(f"{output} is also {taken[name]}: choose another output.")
        taken |= dict.fromkeys(names, f"the output {output}")


def _names_of(path: Path) -> list[object]:
    """Return what a file is known by: its path without links, and its inode, since a file may have several names."""
    names: list[object] = [path.resolve()]
    if path.is_file():
        about = path.stat()
        names.append((about.st_dev, about.st_ino))
    return names
