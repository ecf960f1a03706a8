"""Category paths as text: `Top/Sports/Rowing` is the levels Sports and Rowing."""

from __future__ import annotations

from typing import Final

__all__ = ["split_path"]

ROOT_NAMES: Final = frozenset({"top"})
"""A first level of this name is the root, and not counted."""


def split_path(path: str, separator: str) -> tuple[str, ...] | None:
    """Return the levels of a path without the root, or None where a level is empty.

    >>> split_path("Top/Sports/Rowing", "/"), split_path("Sports: Rowing", ":"), split_path("Sports//Rowing", "/")
    (('Sports', 'Rowing'), ('Sports', 'Rowing'), None)
    >>> split_path("Top", "/"), split_path("/Top/Arts/", "/")
    ((), ('Arts',))
    """
    levels = path.strip().strip(separator).split(separator)
    if " " in path or "\t" in path:
        levels = [level.strip() for level in levels]
    if "" in levels:
        return None
    return tuple(levels[1:] if levels[0].lower() in ROOT_NAMES else levels)
