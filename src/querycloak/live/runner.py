"""Running a stream: read as it comes, write as it leaves, save the state on the way, and sum up at the end."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, OutputError, ParameterError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live.converter import Converter
from querycloak.live.first_rows import check_first_rows
from querycloak.live.pipes import Feed, Sink, reading, stopping
from querycloak.live.run import Run, Summary
from querycloak.live.state import HEAD, Checkpoint, Position, Saved, fingerprint
from querycloak.live.summary import sum_up, write_statement, write_stats
from querycloak.live.truth import TruthFile
from querycloak.logs.atomic import is_pipe
from querycloak.logs.decoding import Decoder, Encoder, Wrapping, find_wrapping
from querycloak.logs.description import describe_form
from querycloak.logs.layout import find_layout, refuse_packed
from querycloak.logs.locks import locked, locked_directory
from querycloak.logs.problems import LONGEST_LINE
from querycloak.progress import QUIET, Progress
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.live.reader import Batch, Classifier

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


def run_stream(
    run: Run,
    classifier: Classifier | None = None,
    progress: Progress = QUIET,
    taxonomy: Callable[[], Taxonomy] = load_wordnet,
) -> Summary | None:
    """Run until the input ends or the user stops it; return what it came to.

    None where the reader of the output went away, nothing came, or the run of this checkpoint is finished already.

    A bad line that ends the run is raised after what came before it has left, and the statement is written.
    `classifier` finds the category of queries that come without, `taxonomy` knows their labels; they are not saved,
    and must be the same at every start.
    """
    if run.checkpoint is not None and not (_can_wind(run.source) and _can_wind(run.output)):
        raise ParameterError("A checkpoint needs --input FILE and --output FILE: a pipe cannot be wound back.")
    if run.checkpoint is not None and run.checkpoint.exists() and not run.checkpoint.is_dir():
        raise ParameterError.of("--checkpoint", "a directory, there or to be made", str(run.checkpoint))
    if run.options.unescape:
        raise ParameterError("A stream passes its lines on as they come: --unescape is for logs that are read whole.")
    with ExitStack() as stack:
        raw = stack.enter_context(reading(run.source))
        stack.enter_context(_alone(run))
        if _is_finished(run):
            progress.note(f"{run.output}: this run is finished; nothing was changed.")
            return None
        asked = stack.enter_context(stopping())
        piece = PIECE if run.checkpoint is None else min(PIECE, max(SAMPLE, LINE * run.checkpoint_records))
        try:
            session = _Session(run, Feed(raw, piece, run.max_wait, asked), classifier, progress, taxonomy)
        except _NothingCameError:
            if asked[0] == signal.SIGINT:
                raise KeyboardInterrupt from None
            return None
        session.open_outputs(stack)
        try:
            last = session.go(asked)
        except BrokenPipeError:
            return None
        summary = sum_up(run, session.converter, session.random, session.seconds, finished=last.ended)
        session.sync()
        session.sink.close()
        write_statement(run, session.converter, summary.statement, session.sink.digest())
        write_stats(run, summary)
        if last.batch.problem is not None:
            raise last.batch.problem
        if last.ended and session.checkpoint is not None:
            session.checkpoint.finish(run.must_agree(), session.read, session.sink.size)
        stopped_by = 0 if last.ended else asked[0]
        if session.feed.is_live and stopped_by != signal.SIGINT:
            stopped_by = 0  # a live stream has no other end: a service that is stopped has not failed
        return replace(summary, signal=stopped_by, kept=not last.ended and session.checkpoint is not None)


def _can_wind(path: Path | None) -> bool:
    """Tell whether it is an ordinary file, or will be."""
    return path is not None and not is_pipe(path) and (path.is_file() or not path.exists())


def _is_finished(run: Run) -> bool:
    """Tell whether the run of this checkpoint has ended."""
    if run.checkpoint is None:
        return False
    assert run.source is not None
    assert run.output is not None
    return Checkpoint(run.checkpoint).is_finished(run.must_agree(), run.source, run.output)


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Be the only run that writes these outputs, from the first byte to the statement."""
    files = (run.output, run.statement_path, run.truth, run.stats)
    with ExitStack() as stack:
        stack.enter_context(locked(*(None if path is None or is_pipe(path) else path.resolve() for path in files)))
        if run.checkpoint is not None:
            stack.enter_context(locked_directory(run.checkpoint, mode=0o700))
        yield


class _NothingCameError(Exception):
    """The user stopped the run before the first line."""


class _Session:
    """A run under way: begun, or continued from its checkpoint."""

    def __init__(
        self,
        run: Run,
        feed: Feed,
        classifier: Classifier | None,
        progress: Progress,
        taxonomy: Callable[[], Taxonomy],
    ) -> None:
        self.run, self.feed, self.progress, self.taxonomy = run, feed, progress, taxonomy
        self.source = run.source or STDIN
        self.checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint)
        saved = None if self.checkpoint is None else self.checkpoint.load(run.must_agree(), self.source)
        self.begin = None if saved is None else saved.position
        keyed = self.checkpoint if run.seed is None else None
        key = None if keyed is None else keyed.key(run.must_agree())
        self.random = Randomness(run.seed, key=key)
        self._writing: Future[None] | None = None
        if saved is None or self.checkpoint is None:
            first = feed.first_lines()
            if not first and feed.asked:
                raise _NothingCameError
            if not first:
                raise InputError.at(self.source, "the stream is empty")
            refuse_packed(first, self.source, run.options.format)
            self.sample = _sample_size(first, self._wrapping(first))
            self.converter = self._new_converter(first[: self.sample])
            layout = self.converter.reader.layout
            progress.note(f"{self.source}: {describe_form(layout.form, run.options.columns)}")
            check_first_rows(first[: self.sample], self.source, layout, run.options)
            self.pending, self.read = first, len(first)
        else:
            self.sample, self.read, self.pending = saved.position.sample, saved.position.read, b""
            with self.source.open("rb") as file:
                self.converter = self._new_converter(file.read(self.sample))
            with self.checkpoint.refusing():
                self.converter.from_state(saved.arrays, saved.converter)
            feed.wind_to(self.read)
            progress.note(f"going on after {self.read:,} bytes of {self.source}")
        self.reader = self.converter.reader
        self.encoder = Encoder(Wrapping.of(self.reader.layout.form), begun=self.converter.left > 0)
        if not self.reader.layout.has_category and classifier is None:
            raise InputError.at(self.source, "there is no category column; say which, as in category=NAME")
        self.reader.classifier = None if self.reader.layout.has_category else classifier
        if self.reader.classifier is not None:
            feed.piece = min(feed.piece, MAPPED_PIECE)
        self._begun = time.monotonic() - (0.0 if self.begin is None else self.begin.seconds)

    def _wrapping(self, first: bytes) -> Wrapping:
        options = self.run.options
        return find_wrapping(first, self.source, options.encoding, options.format)

    def _new_converter(self, sample: bytes) -> Converter:
        """Return the converter of an input that begins with this sample."""
        run, wrapping = self.run, self._wrapping(sample)
        layout = find_layout(Decoder(wrapping).decode(sample), self.source, run.options, wrapping)
        problems = layout.problems(self.source, stop=run.options.on_error == "stop")
        random = self.random.child(run.method)
        return Converter(layout, run.method, run.settings, random, problems, self.taxonomy, safe_csv=run.safe_csv)

    @property
    def seconds(self) -> float:
        """How long the run has taken, over all its starts."""
        return time.monotonic() - self._begun

    def open_outputs(self, stack: ExitStack) -> None:
        """Open the output and the truth, each at the position of the checkpoint."""
        begin = self.begin
        if begin is None and self.run.statement_path is not None and not is_pipe(self.run.statement_path):
            self.run.statement_path.unlink(missing_ok=True)  # of an earlier release under this name
        self.sink = Sink(self.run.output, 0 if begin is None else begin.written)
        stack.callback(self.sink.close)
        if begin is not None and self.sink.digest() != begin.output_digest:
            raise OutputError(f"{self.run.output}: was changed since the checkpoint, and cannot be continued.")
        self.truth = None
        if self.run.truth is not None:
            self.truth = TruthFile(self.run.truth, *((0, 0) if begin is None else (begin.truth, begin.rows)))
            stack.callback(self.truth.close)

    def go(self, asked: list[int]) -> _Turn:
        """Take batch by batch, and return the last.

        While one batch is converted the next is read and the one before is written, each in its own thread. Before a
        checkpoint nothing is read ahead: there the reader must have read exactly what the engine has taken in.
        """
        if self.begin is None:
            self.sink.write(self.encoder.head(self.reader.head))
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
                        write_stats(
                            self.run, sum_up(self.run, self.converter, self.random, self.seconds, finished=False)
                        )
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
        self.sink.write(self.encoder.tail())  # after the checkpoint: a run that goes on writes it at its own end
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
        self._writing = writer.submit(self.sink.write, self.encoder.lines(out.data))
        if self.feed.is_live:
            self.written()
        if self.truth is not None:
            self.truth.add(self.converter, out)
        self.progress.advance(len(out.user))

    def sync(self) -> None:
        """Put output and truth on disk: a run that is said to be finished must be."""
        if self.checkpoint is not None:
            self.sink.sync()
            if self.truth is not None:
                self.truth.sync()

    def written(self) -> None:
        """Wait until all that has left is written; what went wrong there is raised here."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def save(self) -> None:
        """Save the state with the positions in the input and in the outputs, if that is asked for."""
        if self.checkpoint is None:
            return
        read = self.read - self.reader.unfinished
        head = max(min(HEAD, read), self.sample)
        arrays, converter = self.converter.to_state()
        position = Position(
            sample=self.sample,
            head=head,
            digest=fingerprint(self.source, head, read),
            read=read,
            written=self.sink.sync(),
            output_digest=self.sink.digest(),
            truth=0 if self.truth is None else self.truth.sync(),
            rows=0 if self.truth is None else self.truth.rows,
            seconds=self.seconds,
        )
        self.checkpoint.save(Saved(self.run.must_agree(), position, arrays, converter))


@dataclass(frozen=True)
class _Turn:
    """One batch, and whether it is the last one."""

    batch: Batch
    ended: bool
    """the input has ended"""
    last: bool
    """nothing comes after it: the input has ended, or the user asked to stop, or a line is bad"""


def _sample_size(first: bytes, wrapping: Wrapping) -> int:
    """Return how many of the first bytes show the layout: whole lines, unless the first one is too long."""
    if wrapping.array or wrapping.line_end == "\r":
        return min(len(first), SAMPLE)
    end = first.find(b"\n", SAMPLE) + 1 or first.rfind(b"\n") + 1
    return end if 0 < end <= LONGEST_LINE else len(first)
