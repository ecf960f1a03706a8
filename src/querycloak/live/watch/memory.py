"""The memory of this process."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Final

__all__ = ["peak_memory", "resident_memory"]

STATM: Final = Path("/proc/self/statm")


def resident_memory() -> int | None:
    """Return the bytes that the process has in memory now; None where the system does not tell."""
    try:
        return int(STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def peak_memory() -> int:
    """Return the most bytes that the process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
