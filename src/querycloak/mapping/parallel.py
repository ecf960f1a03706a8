"""Mapping over several processes (`querycloak.workers`): blocks of queries go out, and return by number."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak import workers
from querycloak.mapping.reading import concepts_in
from querycloak.workers import Workers, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    import polars as pl

    from querycloak.mapping.reading import Reader

__all__ = ["LEAST_BULK", "Block", "block_reader", "map_blocks", "pack_block", "serve", "workers_for"]

Block = tuple["npt.NDArray[np.int64]", "npt.NDArray[np.int32]"]
"""(units per query, concepts of all units)"""

LEAST_BULK: Final = 2_000
"""Queries from which on reading in bulk pays: it takes a second to load, and one by one new words are slow."""
_WORTH_A_PROCESS: Final = 100_000
"""Queries that one worker should have at least: starting one takes about as long as mapping 50,000."""
_WORTH_A_BULK: Final = 400_000
"""The same where queries are read in bulk; every worker then learns the words for itself."""


def workers_for(queries: int, asked: int | None, *, bulk: bool = False) -> int:
    """Return the number of processes for so many queries, read in bulk or not: as asked, or as many as pay."""
    if asked is not None:
        return max(1, asked)
    return max(1, min(cores(), queries // (_WORTH_A_BULK if bulk else _WORTH_A_PROCESS)))


def block_reader(reader: Reader) -> Callable[[Sequence[str] | pl.Series], Block]:
    """Return what maps blocks of queries: one by one while blocks are small, in bulk from the first large one on."""
    large = False

    def read(texts: Sequence[str] | pl.Series) -> Block:
        nonlocal large
        large = large or len(texts) >= LEAST_BULK
        bulk = reader.bulk if large else None
        if bulk is None:
            return pack_block([concepts_in(reader.read(text)) for text in texts])
        import polars as pl

        return bulk.read(pl.Series(texts, dtype=pl.String))

    return read


def pack_block(units: Sequence[tuple[int, ...]]) -> Block:
    """Put the concepts of queries into two arrays."""
    count = np.fromiter(map(len, units), np.int64, len(units))
    concept = np.fromiter(chain.from_iterable(units), np.int32, int(count.sum()))
    return count, concept


def map_blocks(reader: Reader, count: int, queries: pl.Series, size: int) -> Iterator[Block]:
    """Map blocks of `size` queries by several processes, and yield the results in order."""
    with Workers("querycloak.mapping.parallel:serve", reader, count) as pool:
        yield from pool.map(queries[start : start + size].to_list() for start in range(0, len(queries), size))


def serve() -> None:
    """Run as a worker that maps blocks of queries."""
    workers.serve(_answers)


def _answers(reader: Reader) -> Callable[[list[str]], Block]:
    return block_reader(reader)
