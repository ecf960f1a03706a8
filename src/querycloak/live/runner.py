"""Running a stream: read as it comes, write as it leaves, save the state on the way, and sum up at the end."""

from __future__ import annotations

import hashlib
import json
import secrets
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak._version import __version__
from querycloak.arrays.bulk_randomness import BulkRandomness
from querycloak.errors import InputError, ParameterError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live.address import Address
from querycloak.live.converter import Converter, Published
from querycloak.live.first_rows import check_first_rows
from querycloak.live.open_ends import open_ends
from querycloak.live.pipes import stopping
from querycloak.live.quotes import whole_texts
from querycloak.live.run import Run, Summary
from querycloak.live.shard_filter import ShardFilter
from querycloak.live.sharding import Sharding
from querycloak.live.state import STOPPED, Checkpoint, Position, Saved, Stopped
from querycloak.live.summary import sum_up, write_statement, write_stats
from querycloak.live.take_over import begin_shard
from querycloak.live.timekeeper import Event, Timekeeper
from querycloak.live.truth import TruthFile
from querycloak.live.watch.figures import figures_of
from querycloak.live.watch.watcher import NOBODY
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
    from querycloak.live.address import Place
    from querycloak.live.ends import Mark, Sink, Source
    from querycloak.live.reader import Batch, Classifier
    from querycloak.live.shards import Shard
    from querycloak.live.state import Taken
    from querycloak.live.watch.watcher import Watcher

__all__ = ["Run", "Summary", "run_stream"]

PIECE: Final = 1 << 20
"""Bytes taken in at once: one batch."""
MAPPED_PIECE: Final = 1 << 18
"""The same where each query must be classified, which takes longer."""
LINE: Final = 64
"""Bytes of a line, about."""
SAMPLE: Final = 1 << 16
"""Bytes by which the form is recognised."""
SILENT_SECONDS: Final = 0.25
"""Seconds after which a run that waits for input looks at the clock."""
STATS_SECONDS: Final = 10.0
"""Seconds after which the figures of a run under way are written again."""


def run_stream(
    run: Run,
    classifier: Classifier | None = None,
    progress: Progress = QUIET,
    taxonomy: Callable[[], Taxonomy] = load_wordnet,
    watcher: Watcher = NOBODY,
) -> Summary | None:
    """Run until the input ends or the user stops it; return what it came to.

    None where the reader of the output went away, nothing came, or the run of this checkpoint is finished already.

    A bad line that ends the run is raised after what came before it has left, and the statement is written.
    `classifier` finds the category of queries that come without, `taxonomy` knows their labels; they are not saved,
    and must be the same at every start. `watcher` is told what happens and how far the run is.
    """
    if isinstance(run.source, Address) and run.source.is_same_as(run.output):
        raise ParameterError(f"{run.output}: is also where the records come from: choose another output.")
    if run.shard is not None and isinstance(run.source, Address) and dict(run.source.options).get("trim") == "yes":
        raise ParameterError(f"{run.source}?trim: a shard would remove what the others have not read yet.")
    if run.checkpoint is not None and not (_can_wind(run.source) and _can_wind(run.output)):
        raise ParameterError("A checkpoint needs files or brokers, with --from and --to: a pipe cannot be wound back.")
    if run.checkpoint is not None and run.checkpoint.exists() and not run.checkpoint.is_dir():
        raise ParameterError.of("--checkpoint", "a directory, there or to be made", str(run.checkpoint))
    if run.options.unescape:
        raise ParameterError("A stream passes its lines on as they come: --unescape is for logs that are read whole.")
    with ExitStack() as stack:
        source, sink = open_ends(run, _piece(run), progress, stack)
        if run.checkpoint is None and run.has_broker:
            progress.note(
                "Without --checkpoint DIR what waits is lost when this run ends, and another start begins with the "
                "first message."
            )
        stack.enter_context(_alone(run))
        if run.checkpoint is not None and Checkpoint(run.checkpoint).is_finished(run.must_agree(), source, sink):
            progress.note(f"{sink.name}: this run is finished; nothing was changed.")
            return None
        source.asked = sink.asked = asked = stack.enter_context(stopping())
        try:
            session = _Session(run, source, sink, classifier, progress, taxonomy, watcher)
        except _NothingCameError:
            if asked[0] == signal.SIGINT:
                raise KeyboardInterrupt from None
            return None
        session.open_outputs(stack)
        try:
            last = session.go(asked)
        except BrokenPipeError:
            watcher.event("stopped", reason="the reader of the output went away")
            return None
        summary = sum_up(run, session.converter, session.random, session.seconds, finished=last.ended)
        is_behind = not last.ended and sink.is_behind
        sink.finish(ended=last.ended)
        written = session.sync()
        sink.close()
        if is_behind:
            progress.note(
                f"{sink.name}: an earlier start had come farther; no statement was written. The same command goes on."
            )
        else:
            write_statement(run, session.converter, summary.statement, sink.digest())
        write_stats(run, summary)
        if last.batch.problem is not None:
            raise last.batch.problem
        if last.ended and session.checkpoint is not None:
            session.checkpoint.finish(run.must_agree(), source.mark(0), written)
            source.release()
        kept = not last.ended and session.checkpoint is not None
        watcher.event("finished" if last.ended else "stopped", kept_in_checkpoint=kept)
        stopped_by = 0 if last.ended else asked[0]
        if source.is_live and stopped_by != signal.SIGINT:
            stopped_by = 0  # a live stream has no other end: a service that is stopped has not failed
        return replace(summary, signal=stopped_by, kept=kept)


def _can_wind(place: Place) -> bool:
    """Tell whether it is a broker, or an ordinary file, or will be."""
    if not isinstance(place, Path):
        return place is not None
    return not is_pipe(place) and (place.is_file() or not place.exists())


def _piece(run: Run) -> int:
    """Return how many bytes are taken in at once: few where a checkpoint is asked for often."""
    return PIECE if run.checkpoint is None else min(PIECE, max(SAMPLE, LINE * run.checkpoint_records))


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Be the only run that writes these outputs, from the first byte to the statement."""
    files = (run.output, run.statement_path, run.truth, run.stats)
    with ExitStack() as stack:
        stack.enter_context(
            locked(*(path.resolve() if isinstance(path, Path) and not is_pipe(path) else None for path in files))
        )
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
        source: Source,
        sink: Sink,
        classifier: Classifier | None,
        progress: Progress,
        taxonomy: Callable[[], Taxonomy],
        watcher: Watcher,
    ) -> None:
        self.watcher = watcher
        self.run, self.source, self.sink, self.progress, self.taxonomy = run, source, sink, progress, taxonomy
        self.checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint)
        self.taken: Taken | None = None
        self.sharding: Sharding | None = None
        if run.shard is not None:
            self._begin_shard(run.shard)
        saved = None if self.checkpoint is None else self.checkpoint.load(run.must_agree())
        self.begin = None if saved is None or not saved.position.output else saved.position
        keyed = self.checkpoint if run.seed is None else None
        key = None if keyed is None else keyed.key(run.must_agree())
        self.identity = _identity(run, key)
        self.random = BulkRandomness() if run.seed is None and key is None else Randomness(run.seed, key=key)
        self._writing: Future[None] | None = None
        self._events: list[Event] = []  # what the clock had decided after the last save
        if saved is None or self.checkpoint is None:
            first = source.first_lines()
            if not first and source.asked:
                raise _NothingCameError
            if not first:
                raise InputError.at(source.name, "the stream is empty")
            refuse_packed(first, source.name, run.options.format)
            self.sample = first[: _sample_size(first, self._wrapping(first))]
            self.converter = self._new_converter(self.sample)
            with nullcontext() if self.checkpoint is None else self.checkpoint.refusing():
                self.converter.timekeeper.replay(self._events)  # killed before its first save
            layout = self.converter.reader.layout
            progress.note(f"{source.name}: {describe_form(layout.form, run.options.columns)}")
            check_first_rows(self.sample, source.name, layout, run.options)
            self.pending = first
            watcher.taken(len(first))
        else:
            self.sample, self.pending = saved.sample, b""
            with self.checkpoint.refusing():
                source.wind_to(saved.position.input, self.sample)
                source.pause_at([] if self.taken is None else self.taken.marks)
                self.converter = self._new_converter(self.sample)
                self.converter.from_state(saved.arrays, saved.converter)
                self.converter.timekeeper.replay(self._events)
            progress.note(f"going on after {self.converter.engine.entered:,} records of {source.name}")
        self.reader = self.converter.reader
        source.joins = sink.joins = whole_texts(self.reader.layout)
        wrapping = Wrapping.of(self.reader.layout.form)
        if run.has_broker and (wrapping.array or wrapping.encoding.startswith("utf-16") or wrapping.line_end == "\r"):
            raise InputError.at(source.name, "messages of a broker are lines of UTF-8 or Latin-1; this is another form")
        self.encoder = Encoder(wrapping, begun=self.converter.left > 0)
        if not self.reader.layout.has_category and classifier is None:
            raise InputError.at(source.name, "there is no category column; say which, as in category=NAME")
        self.reader.classifier = None if self.reader.layout.has_category else classifier
        if self.reader.classifier is not None:
            source.piece = min(source.piece, MAPPED_PIECE)
        self._begun = time.monotonic() - (0.0 if self.begin is None else self.begin.seconds)
        begun = "started" if saved is None else "resumed"
        watcher.event(begun, method=run.method, k=run.settings.k, records=self.converter.engine.entered)

    def _begin_shard(self, shard: Shard) -> None:
        """Find out what shards there were before, and take over what waits in their states at the first start."""
        earlier = 0
        if self.checkpoint is not None:
            self.taken = begin_shard(self.run, self.checkpoint, self.source, self._empty_converter)
            earlier = 0 if self.taken is None else len(self.taken.marks)
        self.sharding = Sharding(ShardFilter(shard, self.run.settings.separator, earlier), self.run.secret)

    def _empty_converter(self, sample: bytes, shard: Shard) -> Converter:
        """Return a converter of some shard, of which only the state is asked for: its draws count for nothing."""
        run, wrapping = self.run, self._wrapping(sample)
        layout = find_layout(Decoder(wrapping).decode(sample), self.source.name, run.options, wrapping)
        sharding = Sharding(ShardFilter(shard, run.settings.separator), run.secret)
        problems, random = layout.problems(self.source.name, stop=False), Randomness(0)
        made = Converter(
            layout, run.method, run.settings, random, problems, self.taxonomy, safe_csv=run.safe_csv, sharding=sharding
        )
        made.timekeeper = Timekeeper(run.settings)
        return made

    def _wrapping(self, first: bytes) -> Wrapping:
        options = self.run.options
        return find_wrapping(first, self.source.name, options.encoding, options.format)

    def _new_converter(self, sample: bytes) -> Converter:
        """Return the converter of an input that begins with this sample."""
        run, wrapping = self.run, self._wrapping(sample)
        layout = find_layout(Decoder(wrapping).decode(sample), self.source.name, run.options, wrapping)
        problems = layout.problems(self.source.name, stop=run.options.on_error == "stop")
        random = self.random.child(run.method)
        if run.shard is not None:
            random = random.child(f"shard {run.shard}")
        made = Converter(
            layout,
            run.method,
            run.settings,
            random,
            problems,
            self.taxonomy,
            safe_csv=run.safe_csv,
            sharding=self.sharding,
        )
        if run.settings.epoch_seconds is not None and not (made.publisher.has_time or self.source.is_live):
            problem = "there is no time column for epochs of a time; say which, as in time=NAME, or --epoch RECORDS"
            raise InputError.at(self.source.name, problem)
        journal = None
        if self.checkpoint is not None and not made.timekeeper.is_idle:
            self._events = self.checkpoint.open_journal()
            journal = self.checkpoint.add_event
        made.timekeeper = Timekeeper(run.settings, by_clock=self.source.is_live, journal=journal)
        return made

    @property
    def seconds(self) -> float:
        """How long the run has taken, over all its starts."""
        return time.monotonic() - self._begun

    def open_outputs(self, stack: ExitStack) -> None:
        """Open the output and the truth, each at the position of the checkpoint."""
        begin = self.begin
        if self.checkpoint is not None:
            self.checkpoint.goes_on()
        if begin is None and self.run.statement_path is not None and not is_pipe(self.run.statement_path):
            self.run.statement_path.unlink(missing_ok=True)  # of an earlier release under this name
        stack.callback(self.sink.close)
        with self.checkpoint.refusing() if self.checkpoint is not None else nullcontext():
            again = begin is not None or (self.checkpoint is not None and self.checkpoint.had_key)
            self.sink.begin(None if begin is None else begin.output, self.identity, again=again)
        self.truth = None
        if self.run.truth is not None:
            written = (0, 0) if begin is None else (begin.truth, begin.rows)
            self.truth = TruthFile(self.run.truth, *written, self.converter.seen)
            stack.callback(self.truth.close)

    def go(self, asked: list[int]) -> _Turn:
        """Take batch by batch, and return the last.

        While one batch is converted the next is read and the one before is written, each in its own thread. Before a
        checkpoint nothing is read ahead: there the reader must have read exactly what the engine has taken in.
        """
        if self.begin is None:
            self.write(self.encoder.head(self.reader.head))
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
                    self.tell()
                    if turn.last:
                        if turn.ended or self.checkpoint is None:
                            self.publish(self.converter.finish(), writer)
                            self.tell()
                        break
                    self.tick(writer)
                    if self.run.stats is not None and time.monotonic() - told_at >= STATS_SECONDS:
                        write_stats(
                            self.run, sum_up(self.run, self.converter, self.random, self.seconds, finished=False)
                        )
                        told_at = time.monotonic()
                    if due:
                        self.written()
                        self.save()
                        saved_at, saved_records = time.monotonic(), entered
                    turn = self.wait_for(ahead or pool.submit(self.take_next, asked), writer)
            finally:
                asked.append(0)  # a reader that waits for input stops waiting
                self.written()  # what went wrong in writing comes first, whatever else did
        if not turn.ended and turn.batch.problem is None:
            self.save()
            if self.checkpoint is not None and self.run.shard is not None and not self.sink.is_behind:
                self.checkpoint.note(STOPPED, Stopped(__version__, catching_up=bool(self.source.ahead)))
        if turn.ended or not self.sink.is_behind:
            self.write(self.encoder.tail())  # after the checkpoint: a run that goes on writes it at its own end
        return turn

    def take_next(self, asked: list[int]) -> _Turn:
        """Read the next batch; an empty one where the user asked to stop."""
        data = b"" if asked else self.source.next()
        self.watcher.taken(len(data), self.source.pending)
        return self.take(data, asked)

    def take(self, data: bytes, asked: list[int]) -> _Turn:
        """Find the records in bytes that were read."""
        at_end = not data and self.source.ended
        if self.sharding is not None:
            self.sharding.filter.behind = self.source.ahead
        batch = self.reader.read(data, final=at_end or (self.source.is_whole and len(data) > 0))
        ended = at_end and batch.problem is None
        return _Turn(batch, ended, last=ended or batch.problem is not None or bool(asked and not data))

    def convert(self, batch: Batch, writer: ThreadPoolExecutor) -> None:
        """Let a batch enter, and have written what leaves: at once in a live stream, whose next batch may be late."""
        with nullcontext() if self.checkpoint is None else self.checkpoint.refusing():  # its journal may be crafted
            out = self.converter.push(batch)
        self.publish(out, writer)

    def wait_for(self, ahead: Future[_Turn], writer: ThreadPoolExecutor) -> _Turn:
        """Wait for the next batch, and do meanwhile what the clock asks for: the stream may be silent."""
        while not self.converter.timekeeper.is_idle:
            try:
                return ahead.result(timeout=SILENT_SECONDS)
            except TimeoutError:
                if ahead.done():  # the reader's own
                    break
                self.tick(writer)
        return ahead.result()

    def tick(self, writer: ThreadPoolExecutor) -> None:
        """Do what the clock asks for."""
        dropped, out = self.converter.dropped, self.converter.tick()
        self.publish(out, writer)
        if len(out.user) or self.converter.dropped > dropped:
            self.tell()

    def publish(self, out: Published, writer: ThreadPoolExecutor) -> None:
        """Have written what leaves."""
        if not len(out.user):
            return
        self.written()
        self._writing = writer.submit(self.write, self.encoder.lines(out.data))
        if self.source.is_live:
            self.written()
        if self.truth is not None:
            self.truth.add(self.converter, out)
        self.progress.advance(len(out.user))

    def tell(self) -> None:
        """Tell whoever watches how far the run is."""
        if self.watcher.watches:
            drops = self.run.settings.unclassified == "drop"
            told = {"bytes_out": self.sink.size, "reconnects": self.source.reconnects + self.sink.reconnects}
            self.watcher.batch(figures_of(self.converter, drops_unclassified=drops, **told))

    def write(self, data: bytes | memoryview) -> None:
        """Write what comes next in the output."""
        self.sink.write(data)

    def sync(self) -> Mark:
        """Put output and truth on disk, or to the broker: a run that is said to be finished must be."""
        if self.truth is not None and self.checkpoint is not None:
            self.truth.sync()
        return {} if self.checkpoint is None else self.sink.sync()

    def written(self) -> None:
        """Wait until all that has left is written; what went wrong there is raised here."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def save(self) -> None:
        """Save the state with the positions in the input and in the outputs, if that is asked for."""
        if self.checkpoint is None:
            return
        begun = time.monotonic()
        arrays, converter = self.converter.to_state()
        position = Position(
            input=self.source.mark(self.reader.unfinished),
            output=self.sink.sync(),
            truth=0 if self.truth is None else self.truth.sync(),
            rows=0 if self.truth is None else self.truth.rows,
            seconds=self.seconds,
        )
        self.checkpoint.save(Saved(self.run.must_agree(), position, self.sample, arrays, converter))
        if not self.converter.timekeeper.is_replaying:
            self.checkpoint.clear_journal()
        self.source.release()
        self.watcher.saved(self.checkpoint.size, time.monotonic() - begun)


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
    if wrapping.encoding.startswith("utf-16"):
        end += end % 2  # the other half of the character
    return end if 0 < end <= LONGEST_LINE else len(first)


def _identity(run: Run, key: bytes | None) -> str:
    """Return a name of this run that no other has and that tells nothing of its key: what a sink is signed with."""
    given = secrets.token_bytes(32) if key is None and run.seed is None else key or b""
    said = json.dumps(run.must_agree(), sort_keys=True).encode()
    return hashlib.blake2b(said, key=given, person=b"querycloak run", digest_size=16).hexdigest()
