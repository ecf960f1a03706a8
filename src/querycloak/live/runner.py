"""Running a stream: read as it comes, write as it leaves, save the state on the way, and sum up at the end."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import InputError, ParameterError
from querycloak.live.converter import Converter
from querycloak.live.first_rows import check_first_rows
from querycloak.live.layout import LONGEST_LINE, find_layout
from querycloak.live.pipes import Feed, Sink, reading, stopping
from querycloak.live.problems import Problems
from querycloak.live.state import HEAD, Checkpoint, Saved, fingerprint
from querycloak.live.truth import TruthFile
from querycloak.logs.atomic import write_text
from querycloak.logs.description import describe_form
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_release import flow_figures
from querycloak.methods.stream.stream_statement import StreamSettings, stream_statement
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness
from querycloak.releases.files import sealed_statement, statement_path

if TYPE_CHECKING:
    from concurrent.futures import Future

    from querycloak.live.reader import Batch, Classifier
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Run", "Summary", "run_stream"]

PIECE: Final = 1 << 21
"""Bytes taken in at once: one batch."""
MAPPED_PIECE: Final = 1 << 18
"""The same where each query must be classified, which takes longer."""
LINE: Final = 64
"""Bytes of a line, about."""
SAMPLE: Final = 1 << 16
"""Bytes by which the form is recognised."""
STATS_SECONDS: Final = 10.0
"""Seconds after which the figures of a run under way are written again."""
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
    """None = next to the output, if that is a file"""
    truth: Path | None = None
    stats: Path | None = None
    """also write the summary there, as JSON"""
    checkpoint: Path | None = None
    checkpoint_records: int = 1_000_000
    checkpoint_seconds: float = 30.0
    options: ReadOptions = field(default_factory=ReadOptions)
    """how the input is to be read"""
    max_wait: float = 1.0
    seed: int | None = None
    taxonomy: str = ""
    """what the classifier maps to, by name"""

    def must_agree(self) -> dict[str, Any]:
        """Return what a checkpoint must share with this run."""
        files = {"input": self.source, "output": self.output, "truth": self.truth}
        same = {name: None if path is None else str(path.resolve()) for name, path in files.items()}
        read = {"columns": dict(self.options.columns), "format": self.options.format, "header": self.options.header}
        given = {"method": self.method, "seed": self.seed, "encoding": self.options.encoding, **read}
        given["taxonomy"] = self.taxonomy
        return {**given, **self.settings.to_json(), **same}


@dataclass(frozen=True)
class Summary:
    """What a run came to."""

    statement: PrivacyStatement
    stats: dict[str, Any]
    finished: bool
    """the input has ended; False = stopped before"""
    signal: int = 0
    """what stopped a run over a file before its end; a live stream has no end but this, and 0"""
    kept: bool = False
    """what waits is kept in a checkpoint"""


def run_stream(run: Run, classifier: Classifier | None = None, progress: Progress = QUIET) -> Summary | None:
    """Run until the input ends or the user stops it; None where the reader of the output went away, or nothing came.

    A bad line that ends the run is raised after what came before it has left, and the statement is written.
    `classifier` finds the category of queries that come without; it is not saved, and must be the same at every start.
    """
    if run.checkpoint is not None and not (_can_wind(run.source) and _can_wind(run.output)):
        raise ParameterError("A checkpoint needs --input FILE and --output FILE: a pipe cannot be wound back.")
    if run.checkpoint is not None and run.checkpoint.exists() and not run.checkpoint.is_dir():
        raise ParameterError.of("--checkpoint", "a directory, there or to be made", str(run.checkpoint))
    with ExitStack() as stack:
        raw = stack.enter_context(reading(run.source))
        asked = stack.enter_context(stopping())
        piece = PIECE if run.checkpoint is None else min(PIECE, max(SAMPLE, LINE * run.checkpoint_records))
        try:
            session = _Session(run, Feed(raw, piece, run.max_wait, asked), classifier, progress)
        except _NothingCameError:
            return None
        session.open_outputs(stack)
        try:
            last = session.go(asked)
        except BrokenPipeError:
            return None
        summary = _sum_up(run, session.converter, session.seconds, finished=last.ended)
        session.sink.close()
        _write_statement(run, session.converter, summary.statement, session.sink)
        _write_stats(run, summary)
        if last.batch.problem is not None:
            raise last.batch.problem
        if last.ended and session.checkpoint is not None:
            session.checkpoint.remove()
        stopped_by = 0 if last.ended or session.feed.is_live else asked[0]
        return replace(summary, signal=stopped_by, kept=not last.ended and session.checkpoint is not None)


def _can_wind(path: Path | None) -> bool:
    """Tell whether it is an ordinary file, or will be."""
    return path is not None and (path.is_file() or not path.exists())


class _NothingCameError(Exception):
    """The user stopped the run before the first line."""


class _Session:
    """A run under way: begun, or gone on with from its checkpoint."""

    def __init__(self, run: Run, feed: Feed, classifier: Classifier | None, progress: Progress) -> None:
        self.run, self.feed, self.progress = run, feed, progress
        self.source = run.source or STDIN
        self.checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint)
        self.saved = None if self.checkpoint is None else self.checkpoint.load(run.must_agree(), self.source)
        self.pending = b""
        self._writing: Future[None] | None = None
        if self.saved is None:
            first = feed.first_lines()
            if not first and feed.asked:
                raise _NothingCameError
            if not first:
                raise InputError.at(self.source, "the stream is empty")
            sample = first if b"\n" not in first[SAMPLE:] else first[: first.index(b"\n", SAMPLE) + 1]
            sample = sample if len(sample) <= LONGEST_LINE else first  # the first line may be too long
            layout = find_layout(sample, self.source, run.options)
            progress.note(f"{self.source}: {describe_form(layout.form, run.options.columns)}")
            check_first_rows(sample, self.source, layout, run.options)
            problems = Problems(self.source, stop=run.options.on_error == "stop")
            random = Randomness(run.seed).child(run.method)
            self.converter = Converter(layout, run.method, run.settings, random, problems)
            self.pending, self.read = first[layout.begin :], len(first)
        else:
            feed.wind_to(self.saved.read)
            self.converter, self.read = self.saved.converter, self.saved.read
            progress.note(f"going on after {self.read:,} bytes of {self.source}")
        self.reader = self.converter.reader
        if not self.reader.layout.has_category and classifier is None:
            raise InputError.at(self.source, "there is no category column; say which, as in category=NAME")
        self.reader.classifier = None if self.reader.layout.has_category else classifier
        if self.reader.classifier is not None:
            feed.piece = min(feed.piece, MAPPED_PIECE)
        self.reader.problems.stop = (
            run.options.on_error == "stop"
        )  # a run that stopped at a bad line may go on without it
        self._begun = time.monotonic() - (0.0 if self.saved is None else self.saved.seconds)

    @property
    def seconds(self) -> float:
        """How long the run has taken, over all its starts."""
        return time.monotonic() - self._begun

    def open_outputs(self, stack: ExitStack) -> None:
        """Open the output and the truth, each at the place of the checkpoint."""
        saved, statement = self.saved, _statement_place(self.run)
        if saved is None and statement is not None:
            statement.unlink(missing_ok=True)  # of an earlier release in this place
        self.sink = Sink(self.run.output, 0 if saved is None else saved.written)
        stack.callback(self.sink.close)
        self.truth = None
        if self.run.truth is not None:
            begin = (0, 0) if saved is None else (saved.truth, saved.rows)
            self.truth = TruthFile(self.run.truth, *begin)
            stack.callback(self.truth.close)

    def go(self, asked: list[int]) -> _Turn:
        """Take batch by batch, and give the last.

        While one batch is converted the next is read and the one before is written, each in a thread of its own. Before
        a checkpoint nothing is read ahead: there the reader must stand where the engine stands.
        """
        if self.saved is None:
            self.sink.write(self.reader.layout.head)
        self.progress.start(f"{self.run.method}: streaming")
        saved_records, saved_at = self.converter.engine.entered, time.monotonic()
        told_at = saved_at
        with ThreadPoolExecutor(1, "read") as pool, ThreadPoolExecutor(1, "write") as writer:
            try:
                turn = self.take(self.pending, asked)
                while True:
                    entered = self.converter.engine.entered + len(turn.batch.user)
                    due = entered - saved_records >= self.run.checkpoint_records
                    due |= time.monotonic() - saved_at >= self.run.checkpoint_seconds
                    due &= self.checkpoint is not None
                    ahead = None if turn.last or due else pool.submit(self.take_next, asked)
                    self.convert(turn.batch, writer)
                    if turn.last:
                        break
                    if self.run.stats is not None and time.monotonic() - told_at >= STATS_SECONDS:
                        _write_stats(self.run, _sum_up(self.run, self.converter, self.seconds, finished=False))
                        told_at = time.monotonic()
                    if due:
                        self.written()
                        self.save()
                        saved_at, saved_records = time.monotonic(), entered
                    turn = self.take_next(asked) if ahead is None else ahead.result()
            finally:
                asked.append(0)  # a reader that waits for input stops waiting
                self.written()  # what went wrong in writing comes first, whatever else did
        if not turn.ended and turn.batch.problem is None:
            self.save()
        if self.truth is not None:
            self.truth.end(self.converter)
        return turn

    def take_next(self, asked: list[int]) -> _Turn:
        """Read the next batch; an empty one where the user asked to stop."""
        data = b"" if asked else self.feed.next()
        self.read += len(data)
        return self.take(data, asked)

    def take(self, data: bytes, asked: list[int]) -> _Turn:
        """Find the records in bytes that were read."""
        batch = self.reader.read(data, final=not data and self.feed.ended)
        ended = not data and self.feed.ended and batch.problem is None
        return _Turn(batch, ended, last=ended or batch.problem is not None or bool(asked and not data))

    def convert(self, batch: Batch, writer: ThreadPoolExecutor) -> None:
        """Let a batch enter, and have written what leaves: at once in a live stream, whose next batch may be late."""
        out = self.converter.push(batch)
        self.written()
        self._writing = writer.submit(self.sink.write, out.data)
        if self.feed.is_live:
            self.written()
        if self.truth is not None:
            self.truth.add(self.converter, out)
        self.progress.advance(len(out.user))

    def written(self) -> None:
        """Wait until all that has left is written; what went wrong there is raised here."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def save(self) -> None:
        """Save the state with the places in the input and in the outputs, if that is asked for."""
        if self.checkpoint is None:
            return
        read = self.read - self.reader.unfinished
        head = min(HEAD, read)
        saved = Saved(
            run=self.run.must_agree(),
            head=head,
            digest=fingerprint(self.source, head),
            converter=self.converter,
            read=read,
            written=self.sink.sync(),
            truth=0 if self.truth is None else self.truth.sync(),
            rows=0 if self.truth is None else self.truth.rows,
            seconds=self.seconds,
        )
        self.checkpoint.save(saved)


@dataclass(frozen=True)
class _Turn:
    """One batch, and whether it is the last one."""

    batch: Batch
    ended: bool
    """the input has ended"""
    last: bool
    """nothing comes after it: the input has ended, or the user asked to stop, or a line is bad"""


def _sum_up(run: Run, converter: Converter, seconds: float, *, finished: bool) -> Summary:
    engine, reader = converter.engine, converter.reader
    delay = converter.total_delay / max(converter.left, 1)
    left_out = {"unclassified": reader.unclassified if run.settings.unclassified == "drop" else 0, **reader.left_out}
    entered = engine.entered + sum(left_out.values())
    figures = flow_figures(engine, delay, converter.fewest if converter.left else 0)
    statement = stream_statement(
        run.method,
        run.settings,
        Randomness(run.seed),
        counts_in={"rows": entered, "users": reader.known_users},
        counts_out={"rows": converter.left, "users": int(converter.seen.sum())},
        dropped={"still waiting at the end": engine.waiting, **left_out, **reader.problems.counts},
        figures=figures | {"unclassified": reader.unclassified, "input ended": int(finished)},
        columns=tuple(c.name for c in reader.layout.form.columns),
    )
    if run.seed is not None:
        statement = statement.seeded()
    import resource

    stats = {
        "method": run.method,
        **run.settings.to_json(),
        "records in": entered,
        "records out": converter.left,
        "records waiting": engine.waiting,
        "records unclassified": reader.unclassified,
        "records swept": dict(reader.left_out),
        "lines skipped": dict(reader.problems.counts),
        "mean delay": delay,
        "seconds": seconds,
        "records per second": entered / max(seconds, 1e-9),
        "waiting users per level": engine.waiting_per_level(),
        "mean size of the query bags": figures["mean bag size"],
        "fewest candidates": figures["fewest candidates"],
        "categories": len(engine.tree) - (reader.unclassified == 0),
        "users": reader.known_users,
        "engine bytes": engine.memory,
        "peak memory bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "finished": finished,
    }
    return Summary(statement, stats, finished)


def _write_stats(run: Run, summary: Summary) -> None:
    if run.stats is not None:
        write_text(run.stats, json.dumps(summary.stats, indent=2) + "\n")


def _statement_place(run: Run) -> Path | None:
    return run.statement or (None if run.output is None else statement_path(run.output))


def _write_statement(run: Run, converter: Converter, statement: PrivacyStatement, sink: Sink) -> None:
    place = _statement_place(run)
    if place is None:
        return
    sealed = sealed_statement("stream", statement, converter.reader.layout.form, sink.digest())
    write_text(place, sealed.decode())
