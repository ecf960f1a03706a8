"""Figures of a release that is made block by block: each block counts its own, the driver adds them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["added_up"]

USERS: Final = "users"
"""what a block counts next to its figures, for means"""
MEAN: Final = "mean distance to the group's medoid"
SAVED: Final = "distance saved by refinement"
SMALLEST: Final = "smallest group"
LARGEST: Final = "largest group"


def added_up(blocks: Sequence[dict[str, float]], *, counted: bool) -> dict[str, float]:
    """Add up the figures of blocks, each with its number of `users`; with `counted` the blocks are a figure too.

    >>> found = added_up([{"users": 4, "groups": 2, "smallest group": 2}, {"users": 6, "groups": 1,
    ...     "smallest group": 6}], counted=True)
    >>> found
    {'groups': 3, 'smallest group': 2, 'blocks': 2}
    """
    if len(blocks) == 1:
        return {name: value for name, value in blocks[0].items() if name != USERS}
    out: dict[str, float] = {}
    for name in dict.fromkeys(name for block in blocks for name in block):
        values = [block[name] for block in blocks if name in block]
        if name == SMALLEST:
            out[name] = min(values)
        elif name == LARGEST:
            out[name] = max(values)
        elif name == MEAN:
            out[name] = sum(_total(block) for block in blocks) / sum(block[USERS] for block in blocks)
        elif name not in {SAVED, USERS}:
            out[name] = sum(values)
        if name == (MEAN if MEAN in blocks[0] else LARGEST) and counted:
            out["blocks"] = len(blocks)
    before = sum(_total(block) / (1 - block.get(SAVED, 0.0)) for block in blocks if MEAN in block)
    if any(SAVED in block for block in blocks):
        out[SAVED] = 1 - sum(_total(block) for block in blocks) / before
    return out if "blocks" in out or not counted else {**out, "blocks": len(blocks)}


def _total(block: dict[str, float]) -> float:
    return block.get(MEAN, 0.0) * block[USERS]
