"""Streams of brokers as the ends of a run, one module per broker.

A message holds one or many lines, in the forms that files have. What the brokers have in common is in `messages.py`;
how each of them commits an output once, and no more than once, is at the top of its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from querycloak.errors import UserError

if TYPE_CHECKING:
    from types import ModuleType

    from querycloak.live.address import Address
    from querycloak.live.ends import Sink, Source
    from querycloak.progress import Progress

__all__ = ["Broker", "broker", "library"]

LIBRARIES: Final = {"nats": "nats-py", "redis": "redis", "kafka": "confluent-kafka"}


class Broker(Protocol):
    """What a module of this folder has."""

    def source(self, address: Address, piece: int, max_wait: float, asked: list[int], progress: Progress) -> Source:
        """Connect to what records come from."""

    def sink(self, address: Address, progress: Progress) -> Sink:
        """Connect to where lines go."""


def broker(address: Address) -> Broker:
    """Return the module of an address."""
    found: Any = import_module(f"querycloak.live.brokers.{address.scheme}_stream")
    return cast("Broker", found)


def library(address: Address, *names: str) -> list[ModuleType]:
    """Import modules of the client library of a broker; where it is missing, say how to get it."""
    try:
        return [import_module(name) for name in names]
    except ImportError:
        needed = LIBRARIES[address.scheme]
        raise UserError(f"{address}: needs {needed}; install it with: pip install 'querycloak[live]'.") from None
