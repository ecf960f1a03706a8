"""A connection to NATS that a thread can call: the client library speaks asyncio, a stream runs in threads."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from querycloak.errors import UserError
from querycloak.live.brokers import library
from querycloak.live.brokers.patience import AwayError, credentials

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from querycloak.live.address import Address

__all__ = ["NatsClient"]

T = TypeVar("T")

SECONDS: Final = 10.0
"""How long an answer may take."""
PING: Final = 10
"""Seconds between two signs of life; after two that were missed the connection is broken."""


class NatsClient:
    """One connection, in an event loop of its own thread; made again where it broke."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.nats, self.errors, self.js_errors, self.api = library(
            address, "nats", "nats.errors", "nats.js.errors", "nats.js.api"
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="nats", daemon=True)
        self._thread.start()
        self._connection: Any = None
        self.js: Any = None
        with self.closed_if_refused():
            self.connect()

    def connect(self) -> None:
        """Connect, again where a connection broke; AwayError where the server cannot be reached."""
        self._disconnect()
        user, password = credentials(self._address)
        given: dict[str, Any] = {"token": user} if user and not password else {"user": user, "password": password}
        if self._address.tls:
            import ssl

            given["tls"] = ssl.create_default_context()
        server = f"nats://{self._address.host}:{self._address.port}"

        async def connect() -> Any:
            made = self.nats.NATS()
            try:
                await made.connect(
                    server,
                    name="querycloak",
                    allow_reconnect=False,
                    max_reconnect_attempts=1,  # whoever asks is patient, and says so
                    reconnect_time_wait=0,
                    connect_timeout=SECONDS,
                    ping_interval=PING,
                    error_cb=_ignore,  # what goes wrong is raised where it is waited for
                    **given,
                )
            except BaseException:
                transport = made._transport  # noqa: SLF001 - which it leaves open where the server refuses us
                if transport is not None:
                    transport.close()
                    with suppress(Exception):
                        await transport.wait_closed()
                raise
            return made

        self._connection = self.call(connect)
        self.js = self._connection.jetstream(timeout=SECONDS)

    @property
    def most_bytes(self) -> int:
        """Bytes that a message may hold, with its headers."""
        return int(self._connection.max_payload)

    def call(self, make: Callable[[], Awaitable[T]]) -> T:
        """Run a coroutine in the loop, and wait for what it returns; AwayError where the server is away."""

        async def run() -> T:
            return await make()

        task = asyncio.run_coroutine_threadsafe(run(), self._loop)
        errors, js_errors = self.errors, self.js_errors
        try:
            return task.result(3 * SECONDS)
        except (errors.AuthorizationError, errors.InvalidUserCredentialsError):
            raise UserError(f"{self._address}: NATS refuses the user or the password.") from None
        except (js_errors.ServiceUnavailableError, js_errors.ServerError, js_errors.NoStreamResponseError) as error:
            raise AwayError(type(error).__name__) from None
        except js_errors.APIError:
            raise
        except (errors.Error, OSError, TimeoutError) as error:
            task.cancel()
            if "uthorization" in str(error):
                raise UserError(f"{self._address}: NATS refuses the user or the password.") from None
            raise AwayError(type(error).__name__) from None

    def raise_answer(self, answer: Exception, refused: Callable[[Any], Exception]) -> None:
        """Raise what an answer to a message means: the server is away, or it does not take the message."""
        js_errors = self.js_errors
        if isinstance(answer, js_errors.ServiceUnavailableError | js_errors.ServerError):
            raise AwayError(type(answer).__name__)
        if isinstance(answer, js_errors.APIError):
            raise refused(answer)
        raise AwayError(type(answer).__name__)

    @contextmanager
    def closed_if_refused(self) -> Iterator[None]:
        """Leave no connection open where something is wrong with what was found there."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None

            async def close() -> None:
                with suppress(Exception):  # it may be broken already
                    await asyncio.wait_for(connection.close(), 2)

            asyncio.run_coroutine_threadsafe(close(), self._loop).result(2 * SECONDS)

    def close(self) -> None:
        """Close the connection and end its thread."""
        if self._thread.is_alive():
            self._disconnect()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(SECONDS)
            self._loop.close()


async def _ignore(_: Exception) -> None:
    pass
