"""NATS JetStream: `nats://host:port/NAME`, a subject that a stream takes, or the name of a stream; `natss://` with TLS.

**In.** A consumer of our own, without acknowledgements, that begins after the position in the state: messages come in
the order of the stream, and numbers tell whether one is missing. The stream must keep what it has by limits: one that
removes what was acknowledged, or what nobody has asked for yet, cannot be read again. What its limits remove before it
was read is noticed by the numbers, where the stream has one subject; after each connection the last message that was
read must still be what it was, or gone by limits: a server that lost its newest messages gives their numbers anew.

**Out.** Each message has the number of output bytes after it, their CRC-32, the run and the process in its headers; at
the start the last message of the subject tells what is there. A message is taken only if the last one of its subject is
the one that the sender knows (`Nats-Expected-Last-Subject-Sequence`): of two processes one fails, and nothing depends
on how long the server remembers message ids (its duplicate window, two minutes unless it is told otherwise). Some
messages are on their way at once: the second is taken only if the last message of the stream is the first
(`Nats-Expected-Last-Msg-Id`), and so on, so that none is taken after one that was refused. Where another subject of the
stream comes between them, the rest is refused, and sent again. A sender that lost its connection looks at the last
message: it may be its own.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from querycloak.arrays.checks import Count, read_plain
from querycloak.errors import InputError, OutputError, UserError
from querycloak.live.brokers.messages import Message, MessageSink, MessageSource, Outgoing, Sizes
from querycloak.live.brokers.nats_client import NatsClient

if TYPE_CHECKING:
    from querycloak.live.address import Address
    from querycloak.live.ends import Mark
    from querycloak.progress import Progress

__all__ = ["NatsSink", "NatsSource", "sink", "source"]

RUN: Final = "QueryCloak-Run"
WRITER: Final = "QueryCloak-Writer"
POSITION: Final = "QueryCloak-Position"
CHECK: Final = "QueryCloak-Check"
HEADERS: Final = 1024
"""Bytes kept free for the headers of a message."""
MOST_MESSAGES: Final = 500
WRONG_LAST: Final = (10070, 10071)
"""Errors of the server: another message is the last one of the stream, or of the subject."""
ANSWERS: Final = 15.0
"""Seconds that all answers to a burst may take."""
KEPT: Final = 3600.0
"""Seconds that the server keeps a consumer that asks for nothing."""


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    sequence: Count
    """of the last message that was read"""
    digest: str


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    written: Count
    check: Count
    sequence: Count
    """of the last message of the output; 0 where the broker has more than was written"""


class _Last(NamedTuple):
    """The last message of a subject."""

    sequence: int
    run: str
    writer: str
    size: int
    check: int


def _found_stream(client: NatsClient, address: Address) -> tuple[Any, str | None]:
    """Return what the server tells about a stream, and the subject; None = all of its subjects."""
    try:
        about = client.call(lambda: client.js.stream_info(address.name))
    except client.js_errors.APIError:
        pass
    except ValueError:  # a name with a dot is no stream's
        pass
    else:
        return about, None
    try:
        name = client.call(lambda: client.js.find_stream_name_by_subject(address.name))
        about = client.call(lambda: client.js.stream_info(name))
    except client.js_errors.APIError:
        problem = "no stream of this name, and none that takes this subject; make one first"
        raise UserError(f"{address}: {problem}.") from None
    return about, None if about.config.subjects == [address.name] else address.name


def _identity(about: Any) -> str:
    """Return what tells a stream from all others, at whichever address its server was reached."""
    return f"{about.config.name} {about.created}"


def _takes(subject: str, other: str) -> bool:
    """Tell whether a subject, which may have wildcards, takes another one."""
    ours, theirs = subject.split("."), other.split(".")
    if ours[-1] == ">" and len(theirs) >= len(ours):
        ours, theirs = ours[:-1], theirs[: len(ours) - 1]
    return len(ours) == len(theirs) and all(a in {"*", b} for a, b in zip(ours, theirs, strict=True))


class NatsSource(MessageSource):
    """The messages of a stream, or of one of its subjects."""

    def __init__(self, address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> None:
        super().__init__(address, piece, max_wait, asked, progress)
        address.refuse_other_options("end")
        self._client = self._patience.once(lambda: NatsClient(address))
        with self._client.closed_if_refused():
            self._find(address)
        self._consumer: Any = None
        self._delivered = 0  # messages that this consumer has returned
        self._sizes = Sizes(MOST_MESSAGES)

    def _find(self, address: Address) -> None:
        about, self._subject = self._patience.once(lambda: _found_stream(self._client, address))
        self._stream: str = about.config.name
        self._identity = _identity(about)
        if about.config.retention not in {None, self._client.api.RetentionPolicy.LIMITS}:
            problem = "the stream removes messages that were acknowledged, or that nobody asked for; expected retention"
            raise InputError.at(self.name, f"{problem} by limits, so that a run can go back to its last state")

    def fetch(self, wait: float) -> list[Message]:
        """Ask the consumer for the next messages."""
        client = self._client
        if self._consumer is None:
            self._make_consumer()
        count = self._sizes.ask(self.piece)

        async def ask() -> list[Any]:
            try:
                return list(await self._consumer.fetch(count, timeout=max(wait, 0.01)))
            except client.errors.TimeoutError:
                return []

        try:
            messages = client.call(ask)
        except client.js_errors.APIError:  # the server has forgotten the consumer
            messages = []
            self._consumer = None
        read: list[Message] = []
        before = self.fetched_to
        for message in messages:
            numbers = message.metadata.sequence
            if numbers.consumer != self._delivered + 1:  # one went missing on its way: ask again from there on
                self._consumer = None
                break
            if self._subject is None and before is not None and numbers.stream != before + 1:
                raise self.other_input("lost messages that were not read yet: its limits removed them")
            before = numbers.stream
            self._delivered += 1
            self._not_fetched = message.metadata.num_pending
            read.append((numbers.stream, message.data))
        self._sizes.came(read)
        return read

    def _make_consumer(self) -> None:
        api, client = self._client.api, self._client
        config = api.ConsumerConfig(
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=(self.fetched_to or 0) + 1,
            ack_policy=api.AckPolicy.NONE,
            filter_subject=self._subject,
            inactive_threshold=KEPT,
            mem_storage=True,
            num_replicas=1,
        )

        async def make() -> Any:
            made = await client.js.add_consumer(self._stream, config)
            return await client.js.pull_subscribe_bind(consumer=made.name, stream=self._stream)

        try:
            self._consumer = client.call(make)
        except client.js_errors.APIError as error:
            raise UserError(f"{self.name}: NATS makes no consumer (error {error.err_code}).") from None
        self._delivered = 0

    def reconnect(self) -> None:
        """Connect again; the consumer is made again, after the last message that came."""
        self._consumer = None
        self._client.connect()
        if self._position is not None:
            self._check(_Read(self._position, self.digest()))

    def last_position(self) -> int | None:
        """Return the number of the last message."""
        client = self._client
        try:
            if self._subject is not None:
                return int(client.call(lambda: client.js.get_last_msg(self._stream, self._subject)).seq)
            return client.call(lambda: client.js.stream_info(self._stream)).state.last_seq or None
        except client.js_errors.NotFoundError:
            return None

    def mark(self, unfinished: int) -> Mark:
        """Return the number of the last message that was read."""
        assert unfinished == 0
        return dict(msgspec.to_builtins(_Read(self._position or 0, self.digest())))

    def place_of(self, mark: Mark) -> int | None:
        """Return the number of the last message that was read."""
        return read_plain(mark, _Read).sequence or None

    def wind_to(self, mark: Mark, sample: bytes) -> None:  # noqa: ARG002 - a broker need not have it any more
        """Go on after a message; where it is still there it must be the same."""
        at = read_plain(mark, _Read)
        self._patience(lambda: self._check(at), self._client.connect)
        self._position = at.sequence or None

    def _check(self, at: _Read) -> None:
        """Refuse a stream that is not the one that was read so far."""
        client = self._client
        try:
            state = client.call(lambda: client.js.stream_info(self._stream)).state
        except client.js_errors.NotFoundError:
            raise self.other_input("is gone: it was removed, or its data was lost") from None
        if state.last_seq < at.sequence:
            raise self.other_input("ends before what was read from it already: its data was lost, or it is another")
        if state.first_seq > at.sequence + 1 and self._subject is None:
            raise self.other_input("lost messages that were not read yet: its limits removed them")
        if at.sequence:
            try:
                found = client.call(lambda: client.js.get_msg(self._stream, at.sequence))
            except client.js_errors.NotFoundError:
                return
            self._last = found.data or b""
            if self.digest() != at.digest:
                raise self.other_input("has another message where the last one was read")

    def takes(self, target: str) -> bool:
        """Tell whether a sink sends to this stream, and to a subject that is read."""
        subject, _, stream = target.partition(" ")
        return stream == self._identity and (self._subject is None or _takes(self._subject, subject))

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether nothing came after the last message that was read."""
        return (self._patience(self.last_position, self.reconnect) or 0) <= read_plain(mark, _Read).sequence

    def close(self) -> None:
        """Close the connection; the consumer goes with it."""
        self._client.close()


class NatsSink(MessageSink):
    """A subject that one process publishes to."""

    def __init__(self, address: Address, progress: Progress) -> None:
        super().__init__(address, progress)
        address.refuse_other_options()
        self._client = self._patience.once(lambda: NatsClient(address))
        with self._client.closed_if_refused():
            self._find(address)
        self._run, self._writer, self._sequence = "", secrets.token_hex(8), 0
        self._has_sent = False
        self._is_sure = True  # the last message of the subject is the one we know

    def _find(self, address: Address) -> None:
        about, subject = self._patience.once(lambda: _found_stream(self._client, address))
        config, api = about.config, self._client.api
        if subject is None:
            subjects = config.subjects or []
            if len(subjects) != 1 or "*" in subjects[0] or ">" in subjects[0]:
                raise UserError(f"{address}: the stream takes several subjects; name the one to publish to.")
            subject = subjects[0]
        if config.retention not in {None, api.RetentionPolicy.LIMITS}:
            problem = "the stream removes messages that were read; expected retention by limits, since the last message"
            raise OutputError(f"{address}: {problem} tells where a run goes on.")
        if config.storage == api.StorageType.MEMORY:
            self._note(
                f"{address}: this stream is kept in memory: what NATS loses when it ends is noticed, and then this run "
                "cannot go on."
            )
        self._stream, self._subject = config.name, subject
        self.target = f"{subject} {_identity(about)}"
        largest = config.max_msg_size or -1
        self.most_bytes = min(self._client.most_bytes, largest if largest > 0 else 1 << 62) - HEADERS

    def begin(self, mark: Mark | None, run: str, *, again: bool) -> None:  # noqa: ARG002
        """Look at the last message of the subject: it says how much is there."""
        at = _Written(0, 0, 0) if mark is None else read_plain(mark, _Written)
        self._run = run
        last = self._patience(self._last_message, self._client.connect)
        if last is None:
            size, check = 0, 0
            if at.written and at.sequence and self._patience(self._last_number, self._client.connect) == at.sequence:
                size, check = at.written, at.check  # all was removed, and nothing came after the state
            self.at(at.written, at.check, size, check)
            return
        if last.run != run:
            raise self.other_run()
        self._sequence = last.sequence
        self.at(at.written, at.check, last.size, last.check)

    def _last_number(self) -> int:
        return int(self._client.call(lambda: self._client.js.stream_info(self._stream)).state.last_seq)

    def _last_message(self) -> _Last | None:
        """Return what the last message of the subject says; None = there is none."""
        client = self._client
        try:
            found = client.call(lambda: client.js.get_last_msg(self._stream, self._subject))
        except client.js_errors.NotFoundError:
            return None
        said = found.headers or {}
        size, check = (int(said[name]) if said.get(name, "").isdecimal() else 0 for name in (POSITION, CHECK))
        return _Last(int(found.seq), said.get(RUN, ""), said.get(WRITER, ""), size, check)

    def send(self, burst: list[Outgoing]) -> None:
        """Publish messages, each if the one before it is the last of its subject."""
        self._patience(lambda: self._publish(burst), self._client.connect)

    def _publish(self, burst: list[Outgoing]) -> None:
        client, begin = self._client, self.size
        if not self._is_sure and (self._look(burst) or self.size != burst[0].end - len(burst[0].data)):
            return  # a part of it is there, known before or found now: the rest is cut into another burst
        self._is_sure = False  # until every answer is there
        answers = client.call(lambda: self._all_published(burst))
        refused = None
        for message, answer in zip(burst, answers, strict=True):
            if isinstance(answer, Exception) or answer.duplicate:
                refused = answer
                break
            self.size, self.check, self._sequence = message.end, message.check, int(answer.seq)
            self._has_sent = True
        if isinstance(refused, Exception) and getattr(refused, "err_code", None) not in WRONG_LAST:
            client.raise_answer(refused, self._refused)
        if refused is not None and not self._look(burst) and self.size == begin:
            raise self.fenced()
        self._is_sure = True

    async def _all_published(self, burst: list[Outgoing]) -> list[Any]:
        """Publish all, then wait for all answers."""
        client, api = self._client, self._client.api
        waiting = []
        before = (api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE, str(self._sequence))
        for message in burst:
            name = f"{self._run}-{self._writer}-{message.end}"
            headers = {
                api.Header.MSG_ID: name,
                before[0]: before[1],
                api.Header.EXPECTED_STREAM: self._stream,
                RUN: self._run,
                WRITER: self._writer,
                POSITION: str(message.end),
                CHECK: str(message.check),
            }
            sent = client.js.publish(self._subject, message.data, timeout=ANSWERS, headers=headers)
            waiting.append(asyncio.ensure_future(sent))
            before = (api.Header.EXPECTED_LAST_MSG_ID, name)
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    def _look(self, burst: list[Outgoing]) -> bool:
        """Find out what has arrived; True = more than we knew.

        OutputError where the last message is neither ours nor the one we know. A process of this run that was killed
        may have sent something that arrives only now: as long as we sent nothing it is taken as ours, since a run is
        drawn once.
        """
        last = self._last_message()
        if last is None or last.size < self.size:
            raise self.lost(0 if last is None else last.size, self.size)
        if last.run != self._run:
            raise self.fenced()
        if last.size == self.size:
            self._sequence, self._is_sure = last.sequence, True
            return False
        ours = last.writer == self._writer and last.size in {message.end for message in burst}
        if not ours and self._has_sent:
            raise self.fenced()
        self.size, self.check, self._sequence, self._is_sure = last.size, last.check, last.sequence, True
        return True

    def _refused(self, error: Any) -> Exception:
        return OutputError(f"{self.name}: NATS does not take the message (error {error.err_code}).")

    def sync(self) -> Mark:
        """Return the position: a message that was answered is in the stream."""
        sequence = self._sequence if self._made == self.size else 0
        return dict(msgspec.to_builtins(_Written(self._made, self._made_check, sequence)))

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the last message is still the last one."""
        at = read_plain(mark, _Written)
        last = self._patience.once(self._last_message)
        return last is None or last.sequence == at.sequence

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def source(address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> NatsSource:
    """Connect to what records come from."""
    return NatsSource(address, piece, max_wait, asked, progress)


def sink(address: Address, progress: Progress) -> NatsSink:
    """Connect to where lines go."""
    return NatsSink(address, progress)
