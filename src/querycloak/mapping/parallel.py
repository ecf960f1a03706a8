"""Mapping over several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from querycloak.mapping.lexicon import Lexicon
    from querycloak.progress import Progress


def workers_for(queries: int, asked: int | None) -> int:
    return 1


def map_in_processes(
    texts: list[str], lexicon: Lexicon, mode: str, count: int, progress: Progress
) -> list[tuple[int, ...]] | None:
    return None
