"""Running a stream: read as it comes, write as it leaves, save the state on the way, and sum up at the end."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from querycloak.errors import InputError, OutputError, ParameterError
from querycloak.io.release import VERSION, StatementFile, statement_path
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.stream.checkpoint import HEAD, Checkpoint, Saved, fingerprint
from querycloak.stream.converter import Converter
from querycloak.stream.layout import find_layout
from querycloak.stream.problems import Problems
from querycloak.stream.release import flow_figures
from querycloak.stream.statement import StreamSettings, stream_statement
from querycloak.stream.truth import TruthFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.records import PrivacyStatement
    from querycloak.stream.converter import Classifier

__all__ = ["Run", "Summary", "run_stream"]

PIECE: Final = 1 << 22
"""Bytes taken in at once: one batch."""
SAMPLE: Final = 1 << 16
"""Bytes by which the form is recognised."""
TICK: Final = 0.1
"""Seconds after which a waiting run looks whether it was asked to stop."""
STDIN: Final = Path("standard input")
SEEDED: Final = "made with a seed: who knows or guesses it can undo ids and draws; for experiments, not to publish"


@dataclass(frozen=True)
class Run:
    """What is asked for."""

    method: str
    settings: StreamSettings
    source: Path | None = None
    """None = standard input"""
    output: Path | None = None
    """None = standard output"""
    statement: Path | None = None
    """None = beside the output, if that is a file"""
    truth: Path | None = None
    checkpoint: Path | None = None
    checkpoint_records: int = 1_000_000
    checkpoint_seconds: float = 30.0
    columns: dict[str, str] | None = None
    format: str | None = None
    skip_bad: bool = False
    max_wait: float = 1.0
    seed: int | None = None
    taxonomy: str = ""
    """what the classifier maps to, by name"""

    def must_agree(self) -> dict[str, Any]:
        """Give what a checkpoint must share with this run."""
        files = {"input": self.source, "output": self.output, "truth": self.truth}
        same = {name: None if path is None else str(path.resolve()) for name, path in files.items()}
        given = {"method": self.method, "columns": self.columns, "format": self.format, "seed": self.seed}
        given["taxonomy"] = self.taxonomy
        return {**given, **self.settings.to_json(), "on-error skip": self.skip_bad, **same}


@dataclass(frozen=True)
class Summary:
    """What a run came to."""

    statement: PrivacyStatement
    stats: dict[str, Any]
    finished: bool
    """the input has ended; False = stopped before"""


def run_stream(run: Run, classifier: Classifier | None = None, progress: Progress = QUIET) -> Summary | None:
    """Run until the input ends or the user stops it; None where the reader of the output went away.

    `classifier` finds the category of queries that come without; it is not saved, and must be the same at every start.
    """
    if run.checkpoint is not None and (run.source is None or run.output is None):
        raise ParameterError("A checkpoint needs --input FILE and --output FILE: a pipe cannot be wound back.")
    with ExitStack() as stack:
        raw = stack.enter_context(_reading(run.source))
        asked = stack.enter_context(_stopping())
        session = _Session(run, _Feed(raw, run.max_wait, asked), classifier, progress)
        session.open_outputs(stack)
        try:
            finished = session.go(asked)
        except BrokenPipeError:
            return None
        summary = _sum_up(run, session.converter, session.seconds, finished=finished)
        session.sink.close()
        _write_statement(run, session.converter, summary.statement, session.sink)
        if finished and session.checkpoint is not None:
            session.checkpoint.remove()
        return summary


class _Session:
    """A run under way: begun, or gone on with from its checkpoint."""

    def __init__(self, run: Run, feed: _Feed, classifier: Classifier | None, progress: Progress) -> None:
        self.run, self.feed, self.progress = run, feed, progress
        self.source = run.source or STDIN
        self.checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint)
        self.saved = None if self.checkpoint is None else self.checkpoint.load(run.must_agree(), self.source)
        self.pending = b""
        if self.saved is None:
            first = feed.first_lines()
            if not first:
                raise InputError.at(self.source, "the stream is empty")
            sample = first if b"\n" not in first[SAMPLE:] else first[: first.index(b"\n", SAMPLE) + 1]
            layout = find_layout(sample, self.source, run.columns, run.format)
            problems = Problems(self.source, stop=not run.skip_bad)
            random = Randomness(run.seed).child(run.method)
            self.converter = Converter(layout, run.method, run.settings, random, problems)
            self.pending, self.read = first[layout.begin :], len(first)
        else:
            feed.wind_to(self.saved.read)
            self.converter, self.read = self.saved.converter, self.saved.read
            progress.note(f"going on after {self.read:,} bytes of {self.source}")
        if not self.converter.layout.has_category and classifier is None:
            raise InputError.at(self.source, "there is no category column; say which, as in category=NAME")
        self.classifier = None if self.converter.layout.has_category else classifier
        self.converter.classifier = self.classifier
        self._begun = time.monotonic() - (0.0 if self.saved is None else self.saved.seconds)

    @property
    def seconds(self) -> float:
        """How long the run has taken, over all its starts."""
        return time.monotonic() - self._begun

    def open_outputs(self, stack: ExitStack) -> None:
        """Open the output and the truth, each at the place of the checkpoint."""
        saved = self.saved
        self.sink = _Sink(self.run.output, 0 if saved is None else saved.written)
        stack.callback(self.sink.close)
        self.truth = None
        if self.run.truth is not None:
            begin = (0, 0) if saved is None else (saved.truth, saved.rows)
            self.truth = TruthFile(self.run.truth, *begin)
            stack.callback(self.truth.close)

    def go(self, asked: list[int]) -> bool:
        """Feed the converter batch by batch; True = the input has ended, False = the user stopped it."""
        if self.saved is None:
            self.sink.write(self.converter.layout.head)
        self.progress.start(f"{self.run.method}: streaming")
        saved_at, saved_records = time.monotonic(), self.converter.engine.entered
        while True:
            ended = not self.pending and self.feed.ended
            out = self.converter.feed(self.pending, final=ended)
            self.sink.write(out.data)
            if self.truth is not None:
                self.truth.add(self.converter, out)
            self.progress.advance(len(out.user))
            if ended or (asked and not self.pending):
                break
            entered = self.converter.engine.entered
            due = entered - saved_records >= self.run.checkpoint_records
            if due or time.monotonic() - saved_at >= self.run.checkpoint_seconds:
                self.save()
                saved_at, saved_records = time.monotonic(), entered
            self.pending = b"" if asked else self.feed.next()
            self.read += len(self.pending)
        if not ended:
            self.save()
        if self.truth is not None:
            self.truth.end(self.converter)
        return ended

    def save(self) -> None:
        """Save the state with the places in the input and in the outputs, if that is asked for."""
        if self.checkpoint is None:
            return
        head = min(HEAD, self.read)
        self.converter.classifier = None
        saved = Saved(
            run=self.run.must_agree(),
            head=head,
            digest=fingerprint(self.source, head),
            converter=self.converter,
            read=self.read,
            written=self.sink.sync(),
            truth=0 if self.truth is None else self.truth.sync(),
            rows=0 if self.truth is None else self.truth.rows,
            seconds=self.seconds,
        )
        self.checkpoint.save(saved)
        self.converter.classifier = self.classifier


def _sum_up(run: Run, converter: Converter, seconds: float, *, finished: bool) -> Summary:
    engine, problems = converter.engine, converter.problems.counts
    delay = converter.total_delay / max(converter.left, 1)
    dropped_unclassified = converter.unclassified if run.settings.unclassified == "drop" else 0
    entered = engine.entered + dropped_unclassified
    figures = flow_figures(engine, delay, converter.fewest if converter.left else 0)
    statement = stream_statement(
        run.method,
        run.settings,
        Randomness(run.seed),
        counts_in={"rows": entered, "users": len(converter.users)},
        counts_out={"rows": converter.left, "users": int(converter.seen.sum())},
        dropped={"still waiting at the end": engine.waiting, "unclassified": dropped_unclassified, **problems},
        figures=figures | {"unclassified": converter.unclassified},
        columns=tuple(c.name for c in converter.layout.form.columns),
    )
    if run.seed is not None:
        statement = replace(statement, does_not_cover=(*statement.does_not_cover, SEEDED))
    import resource

    stats = {
        "method": run.method,
        **run.settings.to_json(),
        "records in": entered,
        "records out": converter.left,
        "records waiting": engine.waiting,
        "records unclassified": converter.unclassified,
        "lines skipped": dict(problems),
        "mean delay": delay,
        "seconds": seconds,
        "records per second": entered / max(seconds, 1e-9),
        "waiting users per level": engine.waiting_per_level(),
        "mean size of the query bags": figures["mean bag size"],
        "fewest candidates": figures["fewest candidates"],
        "categories": len(engine.tree),
        "users": len(converter.users),
        "engine bytes": engine.memory,
        "peak memory bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "finished": finished,
    }
    return Summary(statement, stats, finished)


def _write_statement(run: Run, converter: Converter, statement: PrivacyStatement, sink: _Sink) -> None:
    place = run.statement or (None if run.output is None else statement_path(run.output))
    if place is None:
        return
    from querycloak.io.atomic import write_text

    file = StatementFile(VERSION, "stream", statement, converter.layout.form, sink.digest())
    file.digest = file.own_digest()
    plain = msgspec.to_builtins(file, enc_hook=lambda value: value.item())
    write_text(place, msgspec.json.format(msgspec.json.encode(plain), indent=2).decode() + "\n")


class _Feed:
    """Bytes as they come: a whole piece where there is one, else what has come within the longest wait."""

    def __init__(self, raw: int, max_wait: float, asked: list[int]) -> None:
        self.ended = False
        self._raw = raw
        self._asked = asked
        self._max_wait = max_wait
        self._waits = not stat.S_ISREG(os.fstat(raw).st_mode)

    def wind_to(self, place: int) -> None:
        """Go on at a place of the file."""
        os.lseek(self._raw, place, os.SEEK_SET)

    def first_lines(self) -> bytes:
        """Wait for at least one whole line."""
        data = b""
        while b"\n" not in data.lstrip(b"\r\n") and not self.ended and not self._asked:
            data += self.next()
            if len(data) > 2 * PIECE:
                break
        return data

    def next(self) -> bytes:
        """Give the next bytes; none at the end, or where the user asked to stop."""
        if not self._waits:
            data = os.read(self._raw, PIECE)
            self.ended = not data
            return data
        parts: list[bytes] = []
        size, deadline = 0, 0.0
        while size < PIECE and not self._asked:
            wait = TICK if not parts else min(TICK, deadline - time.monotonic())
            if parts and wait <= 0:
                break
            if not select.select([self._raw], [], [], wait)[0]:
                continue
            data = os.read(self._raw, PIECE - size)
            if not data:
                self.ended = True
                break
            deadline = deadline or time.monotonic() + self._max_wait
            parts.append(data)
            size += len(data)
        return b"".join(parts)


class _Sink:
    """Where lines go: a file that may be gone on with, or standard output."""

    def __init__(self, path: Path | None, begin: int) -> None:
        self._path = path
        self._sha = hashlib.sha256()
        if path is None:
            self._file: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
            return
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
            size = os.fstat(self._file.fileno()).st_size
            if size < begin:
                self._file.close()
                raise OutputError(
                    f"{path}: is shorter than at the checkpoint: it was changed, and cannot be continued."
                )
            self._file.truncate(begin)
            self._file.seek(begin)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}).") from None

    def write(self, data: bytes) -> None:
        """Write all of it."""
        if self._path is None:
            self._sha.update(data)
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) or 0 :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self._path or 'standard output'}: cannot be written ({error.strerror}).") from None

    def sync(self) -> int:
        """Put all on disk, and give the size."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            self._file.close()

    def digest(self) -> str:
        """Give the SHA-256 of all that was written."""
        if self._path is None:
            return self._sha.hexdigest()
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _reading(path: Path | None) -> Iterator[int]:
    if path is None:
        yield 0
        return
    try:
        raw = os.open(path, os.O_RDONLY)
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
    except OSError as error:
        raise InputError.at(path, f"cannot be read ({(error.strerror or '').lower()})") from None
    try:
        yield raw
    finally:
        os.close(raw)


@contextmanager
def _stopping() -> Iterator[list[int]]:
    """Turn Ctrl-C and a request to end into a word that is heard between two batches: nothing stops half done."""
    asked: list[int] = []
    before = {}
    with suppress(ValueError):  # signals belong to the main thread alone
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda n, _: asked.append(n))
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
