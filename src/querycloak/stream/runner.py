"""Running a stream: read as it comes, write as it leaves, save the state on the way, and sum up at the end."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
TICK: Final = 0.1
"""Seconds after which a waiting run looks whether it was asked to stop."""
STDIN: Final = Path("standard input")


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
    source = run.source or STDIN
    keep = None if run.checkpoint is None else Checkpoint(run.checkpoint)
    if keep is not None and (run.source is None or run.output is None):
        raise ParameterError("A checkpoint needs --input FILE and --output FILE: a pipe cannot be wound back.")
    with _reading(run.source) as raw, _stopping() as asked:
        saved = None if keep is None else keep.load(run.must_agree(), source)
        feed = _Feed(raw, run.max_wait, asked)
        random = Randomness(run.seed)
        if saved is None:
            problems = Problems(source, stop=not run.skip_bad)
            first = feed.first_lines()
            if not first:
                raise InputError.at(source, "the stream is empty")
            layout = find_layout(first, source, run.columns, run.format)
            converter = Converter(layout, run.method, run.settings, random, problems)
            pending, read, rows, seconds = first[layout.begin :], len(first), 0, 0.0
            written, truth_size = 0, 0
        else:
            os.lseek(raw, saved.read, os.SEEK_SET)
            converter, pending, read, rows = saved.converter, b"", saved.read, saved.rows
            written, truth_size, seconds = saved.written, saved.truth, saved.seconds
            progress.note(f"going on after {read:,} bytes of {source}")
        if converter.layout.has_category:
            classifier = None
        elif classifier is None:
            raise InputError.at(source, "there is no category column; say which with --columns category=NAME, or map")
        converter.classifier = classifier
        sink = _Sink(run.output, written)
        truth = None if run.truth is None else TruthFile(run.truth, truth_size, rows)
        started, saved_at, saved_records = time.monotonic() - seconds, time.monotonic(), converter.engine.entered

        def save() -> None:
            assert keep is not None
            head = min(HEAD, read)
            digest = fingerprint(source, head)
            converter.classifier = None
            size = 0 if truth is None else truth.sync()
            done = 0 if truth is None else truth.rows
            spent = time.monotonic() - started
            keep.save(Saved(run.must_agree(), head, digest, converter, read, sink.sync(), size, done, spent))
            converter.classifier = classifier

        try:
            if saved is None:
                sink.write(converter.layout.head)
            progress.start(f"{run.method}: streaming")
            while True:
                ended = not pending and feed.ended
                out = converter.feed(pending, final=ended)
                sink.write(out.data)
                if truth is not None:
                    truth.add(converter, out)
                progress.advance(len(out.user))
                if keep is not None and not ended:
                    enough = converter.engine.entered - saved_records >= run.checkpoint_records
                    if enough or time.monotonic() - saved_at >= run.checkpoint_seconds:
                        save()
                        saved_at, saved_records = time.monotonic(), converter.engine.entered
                if ended or (asked and not pending):
                    break
                pending = b"" if asked else feed.next()
                read += len(pending)
            if keep is not None and not ended:
                save()
            if truth is not None:
                truth.end(converter)
        except BrokenPipeError:
            return None
        finally:
            sink.close()
        spent = time.monotonic() - started
        summary = _sum_up(run, converter, random, spent, finished=ended)
        _write_statement(run, converter, summary.statement, sink)
        if keep is not None and ended:
            keep.remove()
        return summary


def _sum_up(run: Run, converter: Converter, random: Randomness, seconds: float, *, finished: bool) -> Summary:
    engine, problems = converter.engine, converter.problems.counts
    delay = converter.total_delay / max(converter.left, 1)
    dropped_unclassified = converter.unclassified if run.settings.unclassified == "drop" else 0
    entered = engine.entered + dropped_unclassified
    figures = flow_figures(engine, delay, converter.fewest if converter.left else 0)
    statement = stream_statement(
        run.method,
        run.settings,
        random,
        counts_in={"rows": entered, "users": len(converter.users)},
        counts_out={"rows": converter.left, "users": int(converter.seen.sum())},
        dropped={"still waiting at the end": engine.waiting, "unclassified": dropped_unclassified, **problems},
        figures=figures | {"unclassified": converter.unclassified},
        columns=tuple(c.name for c in converter.layout.form.columns),
    )
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
                raise OutputError(
                    f"{path}: is shorter than at the checkpoint; it was changed, and cannot be gone on with."
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
