"""What the child does: look at a log, generate one, count what it exposes, make and judge a release of it.

One log at a time is kept, with its mapping and what its releases are judged against: the second run on a log does not
read and map it again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import InputError, UserError
from querycloak.studio.messages import (
    Checked,
    ExposeOrder,
    Generated,
    GenerateOrder,
    Looked,
    LookOrder,
    RunOrder,
    WasExposed,
)
from querycloak.studio.model import Exposed, Reading
from querycloak.studio.roles import in_studio

if TYPE_CHECKING:
    from querycloak.evaluation.assess import Assessor
    from querycloak.evaluation.workbench import Workbench
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions
    from querycloak.progress import Progress
    from querycloak.studio.messages import Log, Order, Result

__all__ = ["Bench", "read_options_of"]

NEW_IDS: Final = ("sweep", {"as_in_paper": True})
"""The method that changes ids and nothing else."""
SEED: Final = 0
"""Of the attackers' random choices, as in `querycloak check`."""
DAY: Final = 86_400
_KEPT: Final = ("taxonomy", "concepts")
"""What is made of the log alone, and stays where the directory changes."""


def read_options_of(reading: Reading) -> ReadOptions:
    """Return how a log is read, as the reader takes it."""
    from querycloak.logs.read_options import ReadOptions

    return ReadOptions(
        columns=reading.columns,
        format=reading.format,
        header=reading.header,
        encoding=reading.encoding,
        on_error=reading.on_error,
        assume_yes=reading.assume_yes,
    )


class Bench:
    """Does what is ordered, one order after the other."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._key: tuple[Any, ...] = ()
        self._bench: Workbench | None = None
        self._knows: tuple[str, str] = ("", "")
        """paths of the directory and the resolver on the bench"""
        self._assessor: Assessor | None = None

    def warm_up(self) -> None:
        """Load what every log needs, and compile it where it was never compiled, while the user still chooses."""
        from querycloak.evaluation.workbench import Workbench
        from querycloak.logs.query_log import QueryLog
        from querycloak.mapping.parallel import LEAST_BULK

        texts = ["tea", "green tea", *(f"tea {number}" for number in range(LEAST_BULK))]
        users = ["a", "b"] * (len(texts) // 2)
        clicks = ["http://a.org", *[None] * (len(texts) - 1)]
        log = QueryLog.of(users, texts, times=list(range(len(texts))), urls=clicks)
        _exposed(Workbench(log))

    def do(self, order: Order) -> Result:
        """Do what is ordered, and return the answer."""
        if isinstance(order, LookOrder):
            from querycloak.studio.looking import look_at

            self._progress.start("looking at the columns")
            return Looked(look_at(_unchanged(order.log)))
        if isinstance(order, GenerateOrder):
            return self._generate(order)
        if isinstance(order, ExposeOrder):
            bench = self._bench_of(order.log, order.reading)
            self._progress.start("counting what the log exposes")
            return WasExposed(_exposed(bench))
        return self._run(order)

    def forget(self) -> None:
        """Forget the log."""
        self._key, self._bench, self._assessor = (), None, None

    def _generate(self, order: GenerateOrder) -> Generated:
        from querycloak import api

        self._progress.start("generating a log")
        made = api.generate(seed=order.seed, progress=self._progress, users=order.users, queries=order.queries)
        self._progress.start("writing the log")
        _, directory, *_ = api.write_generated(made, Path(order.path))
        return Generated(directory.name)

    def _bench_of(self, log: Log, reading: Reading) -> Workbench:
        """Return the bench of a log; it is read where it is not the one that is there."""
        from querycloak import api
        from querycloak.logs.description import describe_log
        from querycloak.logs.source import read_log

        path, options = _unchanged(log), read_options_of(reading)
        key = (log, repr(options))
        if self._bench is not None and key == self._key:
            return self._bench
        self.forget()
        self._progress.start("reading the log")
        try:
            found = read_log(path, options, progress=self._progress)
        except UserError as error:
            raise in_studio(error) from None
        _refuse_few(found)
        self._progress.note(describe_log(found, path.name, options.columns))
        for kind, count in found.problems.items():
            self._progress.note(f"{count:,} {kind}")
        self._key, self._knows = key, ("", "")
        self._bench = api.Workbench(found, progress=self._progress)
        return self._bench

    def _run(self, order: RunOrder) -> Checked:
        from querycloak.evaluation.assess import Assessor
        from querycloak.studio.running import make_and_check

        self._bench_of(order.log, order.reading)
        bench = self._with_knowledge(order.directory, order.resolver)
        if self._assessor is None or self._assessor.bench is not bench:
            self._assessor = Assessor(bench, SEED, self._progress)
        try:
            return Checked(make_and_check(self._assessor, order, self._progress))
        finally:
            bench.forget_releases()

    def _with_knowledge(self, directory: str, resolver: str) -> Workbench:
        """Put a directory and a resolver on the bench, or take them away."""
        from querycloak import api

        assert self._bench is not None
        if self._knows != (directory, resolver):
            self._progress.start("reading the directory")
            changed = replace(
                self._bench,
                directory=api.load_directory(directory, progress=self._progress) if directory else None,
                resolver=api.load_resolver(resolver) if resolver else None,
            )
            changed.__dict__.update(
                {name: self._bench.__dict__[name] for name in _KEPT if name in self._bench.__dict__}
            )
            self._bench, self._knows = changed, (directory, resolver)
        return self._bench


def _unchanged(log: Log) -> Path:
    """Return the path of a log; one that changed since it was opened is refused."""
    path = Path(log.path)
    try:
        now = path.stat()
    except OSError:
        raise InputError.at(path.name, "the log is not there any more") from None
    if (now.st_size, now.st_mtime) != (log.size, log.modified):
        raise InputError.at(path.name, "the log has changed since it was opened; open it again")
    return path


def _refuse_few(log: QueryLog) -> None:
    if not len(log):
        raise UserError("The log has no row with a user and a query.")
    if len(log.users) < 2:
        raise UserError("The log has one user: there is nobody to hide among. Check the column of users.")


def _exposed(bench: Workbench) -> Exposed:
    """Count what a log exposes as it is: with new ids and nothing else."""
    import numpy as np

    from querycloak.evaluation.exposure import exposure_rows

    method, settings = NEW_IDS
    release = bench.anonymize(method, **settings)
    found = bench.exposure_of(release)
    bench.forget_releases()
    log = bench.log
    return Exposed(
        rows=len(log),
        users=len(np.unique(log.user)),
        queries=int(log.event.sum()),
        distinct=len(np.unique(log.query)),
        span=_span(log),
        exposure=found,
        lines=tuple(exposure_rows(found)),
    )


def _span(log: QueryLog) -> str:
    """Return the first and the last day of a log, in words."""
    from datetime import UTC, datetime

    from querycloak.logs.query_log import MISSING_TIME

    times = None if log.time is None else log.time[log.time != MISSING_TIME]
    if times is None or not len(times):
        return ""
    first, last = int(times.min()), int(times.max())
    try:
        begin, end = (datetime.fromtimestamp(t, UTC) for t in (first, last))
    except (OverflowError, ValueError, OSError):
        return ""
    days = last // DAY - first // DAY + 1
    return f"{begin.day} {begin:%B %Y} to {end.day} {end:%B %Y} ({days:,} day{'s' if days > 1 else ''})"
