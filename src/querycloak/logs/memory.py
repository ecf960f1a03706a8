"""How much memory there is for us, so that a log that cannot fit is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["available_memory"]

PAGE: Final = 4096


def available_memory() -> int | None:
    """Return the bytes that this process may still take; None where the system does not say.

    The least of what the machine has free, what its control group leaves, and what its address-space limit leaves.
    """
    found = [_machine(), _control_group(), _address_space()]
    return min((n for n in found if n is not None), default=None)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _machine() -> int | None:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _control_group() -> int | None:
    limit = _read("/sys/fs/cgroup/memory.max").strip()
    used = _read("/sys/fs/cgroup/memory.current").strip()
    if not limit.isdigit() or not used.isdigit():
        return None
    cache = sum(int(line.split()[1]) for line in _read("/sys/fs/cgroup/memory.stat").splitlines() if "_file " in line)
    return int(limit) - int(used) + cache


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _read("/proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * PAGE
