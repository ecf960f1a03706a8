"""Whether what attacks take fits into memory: said before the work, since a process that takes too much is killed.

Most is taken by the published logs as vectors, and by the texts of log and release cut into words and grams. Both grow
with rows and distinct texts of the log; a release has no more of them than its log, give or take little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.errors import UserError
from querycloak.logs.memory import available_memory

if TYPE_CHECKING:
    from querycloak.logs.query_log import QueryLog

__all__ = ["check_room", "memory_needed", "processes_that_fit"]

PER_ROW: Final = 1000
PER_TEXT: Final = 1000
"""Bytes: a rough estimate, to be set by measurement. `relink` alone was seen to take 3.9 GB with the log itself, of 3
million rows and 1.4 million texts, for which this says 4.4 GB."""
ALWAYS_THERE: Final = 512 << 20
"""Bytes that are not asked about."""


def memory_needed(log: QueryLog) -> int:
    """Return about how many bytes it takes to attack one release of a log, next to the log itself."""
    return PER_ROW * len(log) + PER_TEXT * len(log.queries)


def check_room(log: QueryLog) -> None:
    """Refuse work that does not fit into memory."""
    needed = memory_needed(log)
    if needed <= ALWAYS_THERE:
        return
    there = available_memory()
    if needed > there:
        raise UserError(
            f"Attacks on a log of {len(log):,} rows take about {needed / 2**30:.1f} GB of memory, and "
            f"{there / 2**30:.1f} GB are left: use a machine with more memory, or a sample of the users."
        )


def processes_that_fit(log: QueryLog, wanted: int) -> int:
    """Return how many of so many processes fit into memory together, one at least."""
    needed = memory_needed(log)
    if wanted <= 1 or needed * wanted <= ALWAYS_THERE:
        return wanted
    return max(1, min(wanted, available_memory() // needed))
