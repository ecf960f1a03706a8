"""The summary of a stream run, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak.methods.stream.clock import FAR, LATE
from querycloak.methods.stream.stream_texts import KINDS

if TYPE_CHECKING:
    from querycloak.live.runner import Summary

__all__ = ["clock_lines", "short_summary"]


def clock_lines(stats: dict[str, Any]) -> list[str]:
    """Return what is worth a line about times that were out of order, in epochs of a length of time."""
    said = []
    if stats.get(FAR):
        said.append(f"{stats[FAR]:,} times were far ahead of the others: they ended no epoch")
    if stats.get(LATE):
        said.append(f"{stats[LATE]:,} records came after the epoch of their time, and are in a later one")
    return said


def short_summary(found: Summary, signature: str = "unsigned") -> str:
    """Return the lines that end a run; `signature` says who signed the statement."""
    s = found.stats
    skipped, left_out = (sum(s[which].values()) for which in ("lines skipped", "records not published"))
    kinds = [f"{s[name]:,} {name}" for name in KINDS if name in s]
    head = "done" if found.finished else "stopped"
    return "\n".join(
        [
            f"{head}: {s['records in']:,} records in, {s['records out']:,} out, {s['records waiting']:,} waiting"
            + (" (kept in the checkpoint)" if found.kept else " (dropped)")
            + (f", {s['records in the open epoch']:,} in the open epoch" if s["records in the open epoch"] else "")
            + (f", {s['records dropped']:,} dropped because they waited too long" if s["records dropped"] else "")
            + f", {s['records unclassified']:,} unclassified"
            + (" (dropped)" if s["unclassified"] == "drop" else "")
            + f", {skipped:,} lines skipped"
            + (f", {left_out:,} not published" if s["records not published"] else ""),
            *([", ".join(kinds)] if kinds else []),
            *(
                [f"{s['phrases counted']:,} phrases are counted, as many as there may be: new ones are not published"]
                if s.get("phrases full")
                else []
            ),
            *clock_lines(s),
            (
                f"mean delay {s['mean delay']:,.1f} records, p50 {s['delay p50']:,.0f}, p90 {s['delay p90']:,.0f}, "
                f"p99 {s['delay p99']:,.0f}, longest {s['longest delay']:,.0f}; "
                f"{s['records per second']:,.0f} records/s"
            ),
            *(["nothing left: no category or branch had more than k users waiting"] if s["records out"] == 0 else []),
            *(f"  {n:,} {kind}" for kind, n in (s["lines skipped"] | s["records not published"]).items()),
            f"guarantee: {found.statement.model}",
            *(f"  does not cover: {text}" for text in found.statement.does_not_cover),
            f"signature: {signature}",
        ]
    )
