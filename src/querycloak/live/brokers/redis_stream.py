"""Redis Streams: `redis://host:port/KEY`, `rediss://` with TLS.

**In.** Entries are read with XREAD from the position in the state on, in their order; no consumer group is needed,
since one run reads the whole stream. With `?trim=yes` what a saved state contains is removed from the stream. What
somebody else trims before it was read is noticed, and so is a stream that was removed and made anew: together with
entries Redis tells how many were ever added and how many are gone; no fewer may have been added than were read, and no
more be gone.

**Out.** Next to KEY is a hash, `{KEY}:querycloak`: which run writes, which process of it, how many bytes of the output
are there, and their CRC-32. A script appends an entry and moves the position at once, and only if run, process and
position are what the sender thinks: whoever was overtaken by another process changes nothing. Some scripts are on their
way at once; each depends on the one before it. A sender that lost its connection sends the same again; where the
position has moved already, the first one had arrived.

What a Redis that is killed has lost depends on its log of what is appended: with `appendonly yes` nothing where the
process is killed, and where the machine fails nothing with `appendfsync always` and the last second with `everysec`.
Where Redis can say so (WAITAOF, 7.2), a state is saved only after the entries are on disk. Without the log this is said
at the start; that something was lost is noticed in any case, since the position of the state is then ahead of Redis.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

import msgspec

from querycloak.arrays.checks import Count, read_plain
from querycloak.errors import UserError
from querycloak.live.brokers import library
from querycloak.live.brokers.messages import BAD_MESSAGE, Message, MessageSink, MessageSource, Outgoing, Sizes
from querycloak.live.brokers.patience import AwayError, credentials

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.address import Address
    from querycloak.live.ends import Mark
    from querycloak.progress import Progress

__all__ = ["RedisSink", "RedisSource", "sink", "source"]

FIELD: Final = b"data"
MOST_ENTRIES: Final = 500
LARGEST: Final = 64 << 20
"""Bytes of a message, at most; Redis takes 512 MB."""
SECONDS: Final = 10.0
"""How long an answer may take."""

BEGIN: Final = """
local found = redis.call('HMGET', KEYS[2], 'run', 'position', 'check')
if not found[1] then
    if redis.call('EXISTS', KEYS[1]) == 1 then return {'other', '0', '0'} end
    redis.call('HSET', KEYS[2], 'run', ARGV[1], 'writer', ARGV[2], 'position', '0', 'check', '0')
    return {'ok', '0', '0'}
end
if found[1] ~= ARGV[1] then return {'other', '0', '0'} end
redis.call('HSET', KEYS[2], 'writer', ARGV[2])
return {'ok', found[2], found[3]}
"""
APPEND: Final = """
local found = redis.call('HMGET', KEYS[2], 'run', 'writer', 'position')
if not found[1] then return {'gone', '0'} end
if found[1] ~= ARGV[1] or found[2] ~= ARGV[2] then return {'other', '0'} end
if found[3] ~= ARGV[3] then return {'at', found[3]} end
redis.call('XADD', KEYS[1], '*', ARGV[6], ARGV[7])
redis.call('HSET', KEYS[2], 'position', ARGV[4], 'check', ARGV[5])
return {'ok', ARGV[4]}
"""


class _Read(msgspec.Struct, forbid_unknown_fields=True):
    entry: str
    """id of the last entry that was read"""
    digest: str
    passed: Count
    """entries of the stream up to it, with those that had been removed before it was read"""


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    written: Count
    check: Count


class _Connection:
    """One connection, made again where it broke."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.library, retry, backoff = library(address, "redis", "redis.retry", "redis.backoff")
        user, password = credentials(address)
        self.client: Any = self.library.Redis(
            host=address.host,
            port=address.port,
            username=user,
            password=password,
            ssl=address.tls,
            socket_timeout=SECONDS,
            socket_connect_timeout=SECONDS,
            retry=retry.Retry(backoff.NoBackoff(), 0),
        )

    def call(self, action: Callable[[Any], Any]) -> Any:
        """Do something with the connection; AwayError where Redis cannot be reached or is not ready."""
        errors = self.library.exceptions
        try:
            return action(self.client)
        except errors.AuthenticationError:
            raise UserError(f"{self._address}: Redis refuses the user or the password.") from None
        except (errors.ConnectionError, errors.TimeoutError, OSError) as error:  # also: it is loading its data
            raise AwayError(type(error).__name__) from None
        except errors.ReadOnlyError:
            raise AwayError("a replica, which cannot be written to") from None
        except errors.OutOfMemoryError:
            raise AwayError("it is out of memory") from None
        except errors.NoPermissionError:
            raise UserError(f"{self._address}: Redis answers NOPERM: this user may not do that.") from None
        except errors.ResponseError as error:
            word = str(error).split(" ", 1)[0]
            if word in {"LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "OOM"}:
                raise AwayError(word) from None
            raise UserError(f"{self._address}: Redis answers {_reason(error)}.") from None

    def require_version(self, once: Callable[[Callable[[], Any]], Any]) -> None:
        """Ask for what Redis 7 has: an older one does not tell what was trimmed."""
        about = once(lambda: self.call(lambda c: c.info("server")))
        version = str(about.get("redis_version", "0"))
        if not version.split(".", 1)[0].isdecimal() or int(version.split(".", 1)[0]) < 7:
            raise UserError(f"{self._address}: needs Redis 7 or later, or Valkey; this is {version}.")

    def has_log(self) -> bool:
        """Tell whether Redis writes down what it is sent, so that it is still there after a crash."""
        try:
            return bool(int(self.call(lambda c: c.info("persistence")).get("aof_enabled", 0)))
        except UserError:  # we may not ask
            return True

    def close(self) -> None:
        self.client.close()


def _reason(error: Exception) -> str:
    """Return the first words of an answer: it never holds what was sent, but we do not rely on that."""
    known = ("WRONGTYPE", "NOAUTH", "NOPERM", "READONLY", "NOSCRIPT", "EXECABORT")
    word = str(error).split(" ", 1)[0]
    return word if word in known else "with an error"


def position_key(name: str) -> str:
    """Return the key of the position: in a cluster, on the node of the stream."""
    return f"{name}:querycloak" if "{" in name else f"{{{name}}}:querycloak"


class RedisSource(MessageSource):
    """The entries of a stream."""

    def __init__(self, address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> None:
        super().__init__(address, piece, max_wait, asked, progress)
        address.refuse_other_options("end", "field", "trim")
        self._key = address.name
        self._field = dict(address.options).get("field", FIELD.decode()).encode()
        self._trims = address.option("trim", ("yes", "no"), "no") == "yes"
        self._connection = _Connection(address)
        self._sizes = Sizes(MOST_ENTRIES)
        self._saved: tuple[int, int] | None = None
        self._passed: int | None = None  # entries up to the last one that was fetched; None = not asked yet
        self._connection.require_version(self._patience.once)

    def fetch(self, wait: float) -> list[Message]:
        """Read entries after the last one; where there are none, wait for one."""
        read = self._read_after(self.fetched_to or (0, 0))
        if not read:
            after, block = _id_text(self.fetched_to or (0, 0)), max(int(wait * 1000), 1)
            if self._connection.call(lambda c: c.xread({self._key: after}, count=1, block=block)):
                read = self._read_after(self.fetched_to or (0, 0))
        self._sizes.came(read)
        return read

    def _read_after(self, after: tuple[int, int]) -> list[Message]:
        """Return what comes after an entry, together with how many entries are gone."""
        count = self._sizes.ask(self.piece)
        about, found = self._connection.call(lambda c: self._asked_at_once(c, after, count))
        if self._passed is None:  # what was gone when we came
            self._passed = _removed(about)
        self._refuse_other(about, self._passed)
        entries = found[0][1] if found else []
        read = [(_id(entry), self._lines(fields)) for entry, fields in entries]
        self._passed += len(read)
        self._not_fetched = 0 if about is None else max(int(about["entries-added"]) - self._passed, 0)
        return read

    def _asked_at_once(self, client: Any, after: tuple[int, int], count: int) -> tuple[dict[str, Any] | None, Any]:
        """Return what Redis tells about the stream, and entries, both of one moment."""
        with client.pipeline(transaction=True) as both:
            both.execute_command("XINFO STREAM", self._key)
            both.execute_command("XREAD", "COUNT", count, "STREAMS", self._key, _id_text(after))
            about, found = both.execute(raise_on_error=False)
        errors = self._connection.library.exceptions
        if isinstance(about, errors.ResponseError) and "no such key" in str(about):
            about = None
        for answer in (about, found):
            if isinstance(answer, Exception):
                raise answer
        return about, found

    def _lines(self, fields: dict[bytes, bytes] | None) -> bytes:
        fields = fields or {}
        if self._field in fields:
            return fields[self._field]
        return next(iter(fields.values())) if len(fields) == 1 else BAD_MESSAGE

    def reconnect(self) -> None:
        """Ask whether Redis is back; the client connects by itself."""
        self._connection.call(lambda c: c.ping())

    def last_position(self) -> tuple[int, int] | None:
        """Return the id of the last entry."""
        found = self._connection.call(lambda c: c.xrevrange(self._key, count=1))
        return _id(found[0][0]) if found else None

    def mark(self, unfinished: int) -> Mark:
        """Return the id of the last entry that was read."""
        assert unfinished == 0
        self._saved = self._position
        passed = (self._passed or 0) - len(self._fetched)
        return dict(msgspec.to_builtins(_Read(_id_text(self._position or (0, 0)), self.digest(), passed)))

    def place_of(self, mark: Mark) -> tuple[int, int] | None:
        """Return the id of the last entry that was read."""
        try:
            found = _id(read_plain(mark, _Read).entry)
        except ValueError:
            raise self.other_input("its position is none of Redis") from None
        return None if found == (0, 0) else found

    def wind_to(self, mark: Mark, sample: bytes) -> None:  # noqa: ARG002 - a broker need not have it any more
        """Go on after an entry; where it is still there it must be the same."""
        at = read_plain(mark, _Read)
        try:
            position = _id(at.entry.encode())
        except ValueError:
            raise self.other_input("its position is none of Redis") from None
        text = _id_text(position)
        about, found = self._patience(
            lambda: (self._about(), self._connection.call(lambda c: c.xrange(self._key, min=text, max=text))),
            self.reconnect,
        )
        if about is None or _id(about["last-generated-id"]) < position:
            raise self.other_input("ends before what was read from it already: its data was lost, or it is another")
        if found and position != (0, 0):
            self._last = self._lines(found[0][1])
            if self.digest() != at.digest:
                raise self.other_input("has another entry where the last one was read")
        self._refuse_other(about, at.passed)
        self._position, self._passed = position, at.passed

    def _refuse_other(self, about: dict[str, Any] | None, passed: int) -> None:
        """Refuse a stream that is not the one of which so many entries were passed: it was made anew, or trimmed."""
        if _added(about) < passed:
            raise self.other_input("has fewer entries than were read from it: it was removed, or its data was lost")
        if _removed(about) > passed:
            raise self.other_input("lost entries that were not read yet: they were trimmed or deleted")

    def _about(self) -> dict[str, Any] | None:
        """Return what Redis tells about the stream; None = there is none."""
        about: dict[str, Any] | None
        about, _ = self._connection.call(lambda c: self._asked_at_once(c, (0, 0), 1))
        return about

    def release(self) -> None:
        """Trim what a saved state contains, where that is asked for."""
        if self._trims and self._saved is not None:
            first, second = self._saved
            keep = f"{first}-{second + 1}"
            self._patience(
                lambda: self._connection.call(lambda c: c.xtrim(self._key, minid=keep, approximate=False)),
                self.reconnect,
            )

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether nothing came after the last entry that was read."""
        at = read_plain(mark, _Read)
        last = self._patience(self.last_position, self.reconnect)
        return last is None or _id_text(last) == at.entry

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _id(text: bytes | str) -> tuple[int, int]:
    """Return an id as two numbers, which are in its order."""
    plain = text if isinstance(text, str) else text.decode()
    first, _, second = plain.partition("-")
    return int(first), int(second)


def _added(about: dict[str, Any] | None) -> int:
    """Return how many entries a stream has had since it was made."""
    return 0 if about is None else int(about["entries-added"])


def _removed(about: dict[str, Any] | None) -> int:
    """Return how many entries of a stream are gone."""
    return 0 if about is None else max(_added(about) - int(about["length"]), 0)


def _id_text(position: tuple[int, int]) -> str:
    return f"{position[0]}-{position[1]}"


class RedisSink(MessageSink):
    """A stream that one process appends to."""

    def __init__(self, address: Address, progress: Progress) -> None:
        super().__init__(address, progress)
        address.refuse_other_options("field")
        self._field = dict(address.options).get("field", FIELD.decode())
        self._connection = _Connection(address)
        self._keys = [address.name, position_key(address.name)]
        self._run, self._writer = "", secrets.token_hex(8)
        self._waits_for_disk = True
        self.most_bytes = LARGEST
        self._connection.require_version(self._patience.once)
        if not self._patience.once(self._connection.has_log):
            self._note(
                f"{address}: this Redis keeps no log (appendonly no): what it loses when it ends is noticed, and then "
                "this run cannot go on."
            )

    def begin(self, mark: Mark | None, run: str, *, again: bool) -> None:  # noqa: ARG002
        """Become the process that writes; an earlier one is refused from now on."""
        at = _Written(0, 0) if mark is None else read_plain(mark, _Written)
        self._run, keys = run, self._keys
        word, size, check = self._patience(
            lambda: self._connection.call(lambda c: c.eval(BEGIN, len(keys), *keys, run, self._writer)), self._ping
        )
        if word == b"other":
            raise self.other_run()
        self.at(at.written, at.check, int(size), int(check or 0))

    def send(self, burst: list[Outgoing]) -> None:
        """Append entries, each if the output is where we think."""
        begin, ends = self.size, {message.end for message in burst}
        for message, (word, found) in zip(burst, self._patience(lambda: self._append(burst), self._ping), strict=True):
            there = int(found)
            if word == b"other":
                raise self.fenced()
            if word == b"gone" or there < begin:
                raise self.lost(there, begin)
            if word == b"at" and (there not in ends or there < message.end):
                raise self.fenced()
            self.size, self.check = message.end, message.check  # else it was there already: its answer was lost

    def _append(self, burst: list[Outgoing]) -> list[tuple[bytes, bytes]]:
        return list(self._connection.call(lambda c: self._appended_at_once(c, burst)))

    def _appended_at_once(self, client: Any, burst: list[Outgoing]) -> list[Any]:
        """Send all, then wait for all answers."""
        at = self.size
        with client.pipeline(transaction=False) as pipe:
            for message in burst:
                words = (self._run, self._writer, at, message.end, message.check, self._field, message.data)
                pipe.eval(APPEND, len(self._keys), *self._keys, *words)
                at = message.end
            answers = list(pipe.execute(raise_on_error=False))  # else the error would hold what was sent
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _ping(self) -> None:
        self._connection.call(lambda c: c.ping())

    def sync(self) -> Mark:
        """Have all entries on the disk of Redis, where it can tell."""
        if self._waits_for_disk:
            self._patience(self._wait_for_disk, self._ping)
        return dict(msgspec.to_builtins(_Written(self._made, self._made_check)))

    def _wait_for_disk(self) -> None:
        try:
            found = self._connection.call(lambda c: c.execute_command("WAITAOF", 1, 0, int(SECONDS * 500)))
        except UserError:  # Redis before 7.2, or without a log of what was appended
            self._waits_for_disk = False
            return
        if not found or int(found[0]) < 1:
            raise AwayError("its log is not on disk yet")

    def ends_at(self, mark: Mark) -> bool:
        """Tell whether the position is still the last one."""
        found = self._patience.once(lambda: self._connection.call(lambda c: c.hget(self._keys[1], "position")))
        return found is not None and int(found) == read_plain(mark, _Written).written

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def source(address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> RedisSource:
    """Connect to what records come from."""
    return RedisSource(address, piece, max_wait, asked, progress)


def sink(address: Address, progress: Progress) -> RedisSink:
    """Connect to where lines go."""
    return RedisSink(address, progress)
