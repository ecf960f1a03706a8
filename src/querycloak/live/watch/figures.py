"""The figures of a stream at one moment: counts and sizes, never a text or an id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from querycloak.methods.stream.stream_statement import TOO_LONG

if TYPE_CHECKING:
    from querycloak.live.converter import Converter

__all__ = ["Figures", "figures_of"]

LEFT_OUT: Final = ", left out"


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a run has done so far, over all its starts."""

    records_in: int = 0
    records_out: int = 0
    records_waiting: int = 0
    records_in_epoch: int = 0
    """records that have left into the open epoch, and are published with it"""
    records_dropped: dict[str, int] = field(default_factory=dict)
    """good records that will never leave, by reason"""
    lines_skipped: dict[str, int] = field(default_factory=dict)
    """lines that are no records, by reason"""
    delays: dict[str, float] = field(default_factory=dict)
    """in records: `mean delay`, `delay p50`, `delay p90`, `delay p99`, `longest delay`"""
    total_delay: int = 0
    """of all records that have left, in records"""
    fewest_candidates: int | None = None
    """smallest set of users from which one was drawn; None = nothing has left"""
    waiting_per_level: tuple[int, ...] = ()
    """waiting users by the depth of their category: the first is the unclassified branch"""
    users: int = 0
    categories: int = 0
    phrases: int = 0
    bytes_out: int = 0
    reconnects: int = 0
    """since the process began"""
    engine_bytes: int = 0
    phrase_bytes: int = 0


def figures_of(converter: Converter, *, drops_unclassified: bool, bytes_out: int, reconnects: int = 0) -> Figures:
    """Return the figures of a run; called by its own thread between two batches."""
    engine, reader = converter.engine, converter.reader
    dropped = {"unclassified": reader.unclassified} if drops_unclassified else {}
    dropped |= {reason: n for reason, n in dict(reader.left_out).items() if n}
    entered = engine.entered - converter.before + sum(dropped.values())
    if converter.dropped:
        dropped[TOO_LONG] = converter.dropped
    texts = reader.texts
    return Figures(
        records_in=entered,
        records_out=converter.left,
        records_waiting=engine.waiting,
        records_in_epoch=converter.kept,
        records_dropped=dropped,
        lines_skipped={kind.removesuffix(LEFT_OUT): n for kind, n in dict(reader.problems.counts).items()},
        delays=converter.delays.figures(),
        total_delay=converter.delays.total,
        fewest_candidates=converter.fewest if converter.left else None,
        waiting_per_level=tuple(engine.waiting_per_level()),
        users=reader.known_users,
        categories=len(engine.tree),
        phrases=0 if texts is None else texts.people.phrases,
        bytes_out=bytes_out,
        reconnects=reconnects,
        engine_bytes=engine.memory,
        phrase_bytes=0 if texts is None else texts.memory,
    )
