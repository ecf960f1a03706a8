"""The clock of a stream, one record at a time, with lists in place of counters."""

from __future__ import annotations

DAY = 86_400
ENOUGH = 10


def shown(times, *, seconds=None, records=None):
    """What the clock shows after each time (None = missing), how many were far ahead, and how many late.

    seconds, records: of an epoch; offsets of weeks are left out.
    """
    leap = max(DAY, 3 * (seconds or 0))
    out, ahead, behind = [], [], []
    present, far, late, first_open, first = None, 0, 0, True, None
    for number, time in enumerate(times):
        if records is not None and number >= records:
            first_open = False
        if time is not None:
            if present is None:
                present = time
                first = time // seconds if seconds else None
            elif time > present + leap:
                ahead, behind = [*ahead, time], []
                if len(ahead) == ENOUGH:
                    present, ahead = min(ahead), []
            else:
                far, ahead = far + len(ahead), []
                behind = [*behind, time] if time < present - leap else []
                present = max(present, time)
                if len(behind) == ENOUGH and first_open:
                    present, behind, far = max(behind), [], far + 1
                    first = present // seconds if seconds else None
            if seconds:
                first_open = first_open and present // seconds <= first
                late += time // seconds < present // seconds
        out.append(present)
    return out, far + len(ahead), late
