"""Kafka: `kafka://host:port/TOPIC?partition=0`, `kafkas://` with TLS.

**In.** One partition, read from the offset in the state on; only what was committed is read. At a start the last
message that was read must be what it was, or gone. A topic of several partitions has no order over all of them, and
without one a run could not be repeated: name the partition.

**Out.** Each batch is a transaction. Its messages carry, as headers, the run, the number of output bytes after them and
their CRC-32, so that message and position are there together or not at all. At the start the last committed message
tells what is there. The transactional id belongs to the topic and partition: a process that begins ends the transaction
that a killed one left open, and fences off one that still runs.

The offset of the input is not part of the transaction: the position in the output is enough, since the run makes the
same output again from its last state. It is committed for a consumer group, `?group=`, after each state, to be watched.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from querycloak.arrays.checks import Count, read_plain
from querycloak.errors import OutputError, UserError
from querycloak.live.brokers import library
from querycloak.live.brokers.messages import Message, MessageSink, MessageSource, Outgoing
from querycloak.live.brokers.patience import AwayError, credentials

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.address import Address
    from querycloak.live.ends import Mark
    from querycloak.progress import Progress

__all__ = ["KafkaSink", "KafkaSource", "sink", "source"]

RUN: Final = "querycloak-run"
POSITION: Final = "querycloak-position"
CHECK: Final = "querycloak-check"
SECONDS: Final = 10.0
"""How long an answer may take."""
MOST_MESSAGES: Final = 1000
LARGEST: Final = 1_000_000
"""Bytes of a message, headers included: what Kafka takes unless it is told otherwise."""
HEADERS: Final = 1024
DECISIVE: Final = ("_ALL_BROKERS_DOWN", "_RESOLVE", "_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED")
FENCED: Final = ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    offset: Count
    """of the message to be read next"""
    cluster: str
    last: Count | None
    """of the last message that was read: between the two are ends of transactions; None = none was"""
    digest: str


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    written: Count
    check: Count


class _Last(NamedTuple):
    """What the last message of a partition says."""

    run: str
    size: int
    check: int

    @classmethod
    def of(cls, headers: dict[str, bytes | None]) -> _Last:
        run, size, check = ((headers.get(name) or b"").decode(errors="replace") for name in (RUN, POSITION, CHECK))
        return cls(run, int(size) if size.isdecimal() else 0, int(check) if check.isdecimal() else 0)


def _quiet() -> logging.Logger:
    """Return where the library's own messages go: nowhere; what goes wrong is raised."""
    logger = logging.getLogger("querycloak.kafka")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


class _Topic:
    """One partition of a topic, and how it is connected to."""

    def __init__(self, address: Address) -> None:
        (self.kafka,) = library(address, "confluent_kafka")
        self.address, self.name = address, address.name
        self._problem = ""  # what the library could not do, by name
        user, password = credentials(address)
        self.settings: dict[str, Any] = {
            "bootstrap.servers": f"{address.host}:{address.port}",
            "client.id": "querycloak",
            "reconnect.backoff.max.ms": 5000,
            "logger": _quiet(),
            "error_cb": self._note_problem,
        }
        if user is not None:
            self.settings |= {
                "security.protocol": "SASL_SSL" if address.tls else "SASL_PLAINTEXT",
                "sasl.mechanism": address.option("sasl", MECHANISMS, "PLAIN"),
                "sasl.username": user,
                "sasl.password": password or "",
            }
        elif address.tls:
            self.settings |= {"security.protocol": "SSL"}

    def call(self, action: Callable[[], Any]) -> Any:
        """Do something; AwayError where it may work later."""
        kafka = self.kafka
        try:
            return action()
        except kafka.KafkaException as error:
            found = error.args[0]
            if isinstance(found, kafka.KafkaError):
                if found.name() in {"_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED"}:
                    raise UserError(f"{self.address}: Kafka refuses the user or the password.") from None
                if not found.fatal() and not found.txn_requires_abort():
                    raise AwayError(found.name()) from None
            raise

    def _note_problem(self, error: Any) -> None:
        if error.name() in DECISIVE:
            self._problem = error.name()

    def _first_answer(self, client: Any) -> Any:
        """Return what Kafka tells about the topic; where nobody can answer, that is said before the time is over."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                return self.call(lambda: client.list_topics(self.name, timeout=0.5))
            except AwayError as error:
                client.poll(0)  # lets the library tell what is wrong
                if "AUTHENTICATION" in self._problem:
                    raise UserError(f"{self.address}: Kafka refuses the user or the password.") from None
                if self._problem or time.monotonic() > deadline:
                    raise AwayError(self._problem or str(error)) from None

    def find(self, client: Any) -> tuple[int, str]:
        """Return the partition to use and the id of the cluster."""
        about = self._first_answer(client)
        found = about.topics[self.name]
        count = len(found.partitions)
        if found.error is not None or not count:
            raise UserError(f"{self.address}: there is no topic of this name; make it first.")
        told = dict(self.address.options).get("partition")
        if told is None and count > 1:
            problem = f"the topic has {count} partitions, and no order over all of them"
            raise UserError(f"{self.address}: {problem}; name one, as in {self.address}?partition=0.")
        partition = int(told) if told is not None and told.isdecimal() else 0
        if told is not None and (not told.isdecimal() or partition not in found.partitions):
            raise UserError(f"{self.address}: the topic has the partitions 0 to {count - 1}.")
        return partition, str(about.cluster_id)

    def at(self, partition: int, offset: int | None = None) -> Any:
        """Return an offset of a partition, as the library has it."""
        words = (self.name, partition) if offset is None else (self.name, partition, offset)
        return self.kafka.TopicPartition(*words)

    def consumer(self, group: str) -> Any:
        """Return a consumer that is told what to read, and decides nothing by itself."""
        more = {
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "queued.max.messages.kbytes": 16384,
        }
        return self.kafka.Consumer(self.settings | more)


class KafkaSource(MessageSource):
    """The messages of one partition."""

    def __init__(self, address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> None:
        super().__init__(address, piece, max_wait, asked, progress)
        address.refuse_other_options("end", "partition", "group", "sasl")
        self._topic = _Topic(address)
        self._consumer = self._topic.consumer(dict(address.options).get("group", "querycloak"))
        self._partition, self._cluster = self._patience.once(lambda: self._topic.find(self._consumer))
        self._assigned = False
        self._last_offset: int | None = None
        self._size = 1000.0  # bytes of a message, about

    def fetch(self, wait: float) -> list[Message]:
        """Take what has come."""
        consumer = self._consumer
        if not self._assigned:
            begin = self._watermarks()[0] if self.fetched_to is None else self.fetched_to + 1
            consumer.assign([self._topic.at(self._partition, begin)])
            self._assigned = True
        found = list(consumer.consume(1, wait))
        if found:
            found += consumer.consume(int(min(max(self.piece / self._size, 1), MOST_MESSAGES)), 0.0)
        read: list[Message] = []
        for message in found:
            error = message.error()
            if error is None:
                read.append((message.offset(), message.value() or b""))
            elif error.name() == "_PARTITION_EOF":
                if not read and message.offset() > 0:  # what is between is no message: the end of a transaction
                    self._position = max(message.offset() - 1, self._position or 0)
            elif error.name() == "_AUTO_OFFSET_RESET":
                raise self.other_input("lost messages that were not read yet: they were removed")
            else:
                raise AwayError(error.name())
        if read:
            self._size = max(sum(len(data) for _, data in read) / len(read), 1.0)
            _, high = consumer.get_watermark_offsets(self._topic.at(self._partition), cached=True)
            self._not_fetched = max(high - 1 - read[-1][0], 0) if high >= 0 else None
        return read

    def _watermarks(self) -> tuple[int, int]:
        consumer, at = self._consumer, self._topic.at(self._partition)
        low, high = self._topic.call(lambda: consumer.get_watermark_offsets(at, timeout=SECONDS))
        return int(low), int(high)

    def reconnect(self) -> None:
        """Ask whether Kafka is back; the library connects by itself."""
        self._topic.call(lambda: self._consumer.list_topics(self._topic.name, timeout=SECONDS))

    def last_position(self) -> int | None:
        """Return the offset of the last message."""
        low, high = self._watermarks()
        return None if high <= low else high - 1

    def mark(self, unfinished: int) -> Mark:
        """Return the offset of the message to be read next."""
        assert unfinished == 0
        offset = 0 if self._position is None else self._position + 1
        return dict(msgspec.to_builtins(_Read(offset, self._cluster, self._last_offset, self.digest())))

    def _take(self, wait: float) -> bytes | None:
        """Return the lines of the next message, and note where it was."""
        found = super()._take(wait)
        if found is not None:
            self._last_offset = self._position
        return found

    def place_of(self, mark: Mark) -> int | None:
        """Return the offset of the last message that was read."""
        offset = read_plain(mark, _Read).offset
        return offset - 1 if offset else None

    def wind_to(self, mark: Mark, sample: bytes) -> None:  # noqa: ARG002 - a broker need not have it any more
        """Go on at an offset that the partition still has; the message before it must be what it was, or gone."""
        at = read_plain(mark, _Read)
        if at.cluster != self._cluster:
            raise self.other_input("is of another cluster")
        low, high = self._patience(self._watermarks, self.reconnect)
        if high < at.offset:
            raise self.other_input("ends before what was read from it already: its data was lost, or it is another")
        if low > at.offset:
            raise self.other_input("lost messages that were not read yet: they were removed")
        if at.last is not None and at.last >= low:
            found = self._patience(lambda: self._message_at(at.last or 0), self.reconnect)
            if found is not None:
                self._last = found
                if self.digest() != at.digest:
                    raise self.other_input("has another message where the last one was read")
        self._position, self._last_offset = at.offset - 1 if at.offset else None, at.last

    def _message_at(self, offset: int) -> bytes | None:
        """Return the message at an offset; None = there is none any more."""
        consumer, deadline = self._consumer, time.monotonic() + SECONDS
        consumer.assign([self._topic.at(self._partition, offset)])
        self._assigned = False  # where the next message is read is told again
        while time.monotonic() < deadline:
            for message in consumer.consume(1, 1.0):
                error = message.error()
                if error is None:
                    return (message.value() or b"") if message.offset() == offset else None
                if error.name() in {"_PARTITION_EOF", "_AUTO_OFFSET_RESET"}:
                    return None
                raise AwayError(error.name())
        raise AwayError("no answer")

    def release(self) -> None:
        """Commit the offset for the group, to be watched; the position that counts is in the state."""
        if self._position is not None:
            at = [self._topic.at(self._partition, self._position + 1)]
            try:
                self._consumer.commit(offsets=at, asynchronous=True)
            except self._topic.kafka.KafkaException:
                return

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether nothing came after the last message that was read."""
        return self._patience(self._watermarks, self.reconnect)[1] <= read_plain(mark, _Read).offset

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()


class KafkaSink(MessageSink):
    """One partition that one process writes to, in transactions."""

    def __init__(self, address: Address, progress: Progress) -> None:
        super().__init__(address, progress)
        address.refuse_other_options("partition", "sasl")
        self._topic = _Topic(address)
        self._producer: Any = None
        probe = self._topic.consumer("querycloak-probe")
        try:
            self._partition, _ = self._patience.once(lambda: self._topic.find(probe))
        finally:
            probe.close()
        self._run = ""
        self.most_bytes = LARGEST - HEADERS

    def begin(self, mark: Mark | None, run: str, *, again: bool) -> None:  # noqa: ARG002
        """Fence off other writers, then look at the last message: it says how much is there."""
        at = _Written(0, 0) if mark is None else read_plain(mark, _Written)
        self._run = run
        more = {"transactional.id": f"querycloak-{self._topic.name}-{self._partition}", "linger.ms": 0}
        self._producer = self._topic.kafka.Producer(self._topic.settings | more)
        self._patience(self._init, _nothing)
        last = self._patience(self._last_message, _nothing)
        if last is not None and last.run != run:
            raise self.other_run()
        self.at(at.written, at.check, *((0, 0) if last is None else (last.size, last.check)))

    def _init(self) -> None:
        self._topic.call(lambda: self._producer.init_transactions(SECONDS))

    def _last_message(self) -> _Last | None:
        """Return run and position of the last committed message; None = there is none."""
        consumer = self._topic.consumer("querycloak-probe")
        try:
            at = self._topic.at(self._partition)
            low, high = self._topic.call(lambda: consumer.get_watermark_offsets(at, timeout=SECONDS))
            back = 16
            while high > low:
                begin = max(low, high - back)
                found = self._read_from(consumer, begin)
                if found is not None:
                    return found
                if begin == low:
                    break
                back *= 8  # nothing but ends of transactions, and what was given up
        finally:
            consumer.close()
        return None

    def _read_from(self, consumer: Any, begin: int) -> _Last | None:
        """Return run and position of the last message at or after an offset."""
        consumer.assign([self._topic.at(self._partition, begin)])
        last = None
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for message in consumer.consume(1, 1.0):
                error = message.error()
                if error is None:
                    last = dict(message.headers() or [])
                elif error.name() == "_PARTITION_EOF":
                    if last is None:
                        return None
                    return _Last.of(last)
                else:
                    raise AwayError(error.name())
        raise AwayError("no answer")

    def send(self, burst: list[Outgoing]) -> None:
        """Send messages in one transaction."""
        self._patience(lambda: self._transaction(burst), _nothing)
        self.size, self.check = burst[-1].end, burst[-1].check

    def _transaction(self, burst: list[Outgoing]) -> None:
        """Send all of them, or nothing; once begun it is repeated only after it was given up for certain."""
        kafka = self._topic.kafka
        try:
            self._producer.begin_transaction()
            for message in burst:
                self._produce(message)
            self._commit()
        except kafka.KafkaException as error:
            found = error.args[0]
            if found.name() in FENCED:
                raise self.fenced() from None
            if found.fatal():
                raise OutputError(f"{self.name}: Kafka takes no more of this process ({found.name()}).") from None
            self._abort()
            raise AwayError(found.name()) from None

    def _commit(self) -> None:
        """Commit; as long as there is no answer, the same is asked again."""
        self._patience(lambda: self._topic.call(lambda: self._producer.commit_transaction(SECONDS)), _nothing)

    def _abort(self) -> None:
        self._patience(lambda: self._topic.call(lambda: self._producer.abort_transaction(SECONDS)), _nothing)

    def _produce(self, message: Outgoing) -> None:
        """Add a message to the transaction."""
        said = {RUN: self._run, POSITION: str(message.end), CHECK: str(message.check)}
        headers = [(name, value.encode()) for name, value in said.items()]
        while True:
            try:
                self._producer.produce(self._topic.name, message.data, partition=self._partition, headers=headers)
            except BufferError:  # the library has as much as it keeps
                self._producer.poll(0.1)
            else:
                return

    def sync(self) -> Mark:
        """Return the position: a transaction that was committed is there."""
        return dict(msgspec.to_builtins(_Written(self._made, self._made_check)))

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the last message is still the last one."""
        last = self._patience.once(self._last_message)
        return last is None or last.size == read_plain(mark, _Written).written

    def close(self) -> None:
        """End without a transaction under way."""
        self._producer = None


def _nothing() -> None:
    """Repair nothing: the library connects again by itself."""


def source(address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> KafkaSource:
    """Connect to what records come from."""
    return KafkaSource(address, piece, max_wait, asked, progress)


def sink(address: Address, progress: Progress) -> KafkaSink:
    """Connect to where lines go."""
    return KafkaSink(address, progress)
