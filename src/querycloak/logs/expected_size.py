"""About how much memory a log will take, by the size and the form of its file, before it is read.

The factors were measured on a generated AOL log (1.0 million rows, 66 MB of text, 15 MB as .gz, 14 MB as Parquet):
reading took 288 MB at most, and `sweep` 811 MB. Other logs differ: one of few different queries takes less, so this is
good for a note, not for a refusal. Reading itself stops before memory is full (`logs/builder.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.logs.memory import available_memory

if TYPE_CHECKING:
    from querycloak.logs.read_options import ReadOptions

__all__ = ["expected_memory", "too_large"]

TEXT: Final = 4.4
"""bytes of memory per byte of text, while a log is read"""
PACKED: Final = {b"\x1f\x8b": 4.5, b"\x28\xb5\x2f\xfd": 5.0, b"PAR1": 5.2}
"""first bytes of a file → bytes of text per byte of it"""
WORK: Final = 3
"""times the memory of reading: what a method takes next to the log"""
NOT_WORTH_A_LINE: Final = 256 << 20


def expected_memory(path: str | Path) -> int | None:
    """Return about how many bytes it takes to read and anonymize a log; None where it is no plain file."""
    file = Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        head = opened.read(4)
    times = next((ratio for magic, ratio in PACKED.items() if head.startswith(magic)), 1.0)
    return int(file.stat().st_size * times * TEXT * WORK)


def too_large(path: str | Path, options: ReadOptions | None = None) -> str:
    """Say that a log probably does not fit into memory; empty where it does, or where that cannot be told."""
    try:
        needed = expected_memory(path)
    except OSError:  # whoever reads it tells why
        return ""
    if needed is None or needed < NOT_WORTH_A_LINE:
        return ""
    there = available_memory()
    if options is not None and options.max_memory is not None:
        there = min(there, options.max_memory * WORK)
    if needed <= there:
        return ""
    return (
        f"{path}: this log may take about {needed / 2**30:,.1f} GB of memory by its size, and {there / 2**30:,.1f} GB "
        "are left"
    )
