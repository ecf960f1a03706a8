"""Following a stream while it runs: the loop around the surveyor."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from querycloak.live.survey.pump import Pump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from querycloak.live.survey.pump import Bytes
    from querycloak.live.survey.surveyor import Survey, Surveyor

__all__ = ["follow"]

TICK: Final = 0.05


def follow(
    surveyor: Surveyor, original: Bytes, published: Bytes, truth: Bytes | None, idle: float | None, asked: list[int]
) -> Iterator[Survey]:
    """Yield window after window, and at the end what was found in all.

    It ends when all sources have ended, when nothing has come for `idle` seconds (None = never), or when `asked` holds
    something. Then a window that is not full is yielded, too.
    """
    takers: list[tuple[Bytes, Callable[..., None]]] = [
        (original, surveyor.take_original),
        (published, surveyor.take_published),
    ]
    if truth is not None:
        takers.append((truth, surveyor.take_truth))
    with ExitStack() as stack:
        pumps = []
        for source, take in takers:
            pumps.append((Pump(source), take))
            stack.callback(pumps[-1][0].close)
        stack.callback(asked.append, 0)  # before the pumps are closed: they stop waiting
        while True:
            came = False
            for pump, take in pumps:
                data = pump.take()
                if data:
                    take(data, final=pump.is_whole)
                    came = True
            while (window := surveyor.next_window()) is not None:
                yield window
            if came:
                continue
            quiet = min(pump.quiet_seconds for pump, _ in pumps)
            done = all(pump.ended for pump, _ in pumps)
            done |= idle is not None and quiet >= idle and all(pump.is_idle for pump, _ in pumps)
            if done or asked:
                break
            time.sleep(TICK)
    surveyor.take_original(b"", final=True)
    surveyor.take_published(b"", final=True)
    while (window := surveyor.next_window(last=True)) is not None:
        yield window
    yield surveyor.so_far()
