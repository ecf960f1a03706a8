"""How much memory this process may still take, and how much it has taken at most."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

__all__ = ["available_memory", "peak_memory"]

GROUPS: Final = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the bytes that this process may still take.

    The least of what the machine has available, what the process's control groups leave (psutil does not know them, and
    a container's limit is one), and what its address-space limit leaves.
    """
    import psutil

    process = psutil.Process()
    left = [int(psutil.virtual_memory().available)]
    left += _left_in_groups(GROUPS, _own_group())
    if hasattr(process, "rlimit"):  # Linux
        limit = process.rlimit(psutil.RLIMIT_AS)[0]
        if limit != psutil.RLIM_INFINITY:
            left.append(limit - process.memory_info().vms)
    return max(min(left), 0)


def peak_memory() -> int:
    """Return the most bytes that this process has held in physical memory so far."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _own_group() -> str:
    """Return the path of this process's control group (version 2); empty where there is none."""
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::"):
            return line[3:].strip("/")
    return ""


def _left_in_groups(root: Path, group: str) -> list[int]:
    """Return what each control group with a limit leaves, from the given one up to the root.

    Pages of files count as used by a group, but are given back when memory is short.
    """
    own = root / group
    out = []
    for folder in (own, *own.parents):
        if not folder.is_relative_to(root):
            break
        limit, used = (_read(folder / name).strip() for name in ("memory.max", "memory.current"))
        if limit.isdigit() and used.isdigit():
            fields = dict(line.split()[:2] for line in _read(folder / "memory.stat").splitlines() if " " in line)
            files = sum(int(fields.get(name, 0)) for name in ("active_file", "inactive_file"))
            out.append(int(limit) - int(used) + files)
    return out


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
