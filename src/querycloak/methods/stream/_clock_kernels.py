"""The present of a stream, record by record: see `clock.py` for what it is and why.

.. code-block:: text

    state  int64[8]   PRESENT   the time that the clock shows, MISSING_TIME before the first known time
                      AHEAD     how many known times in a row, the last ones, were more than `leap` ahead of it
                      LEAST     the earliest of these
                      BEHIND    how many in a row were more than `leap` behind it
                      MOST      the latest of these
                      FAR       times so far that were ahead and have not moved the clock
                      LATE      times so far whose epoch, of a length of time, was over when they came
                      FIRST     the begin of the first epoch of a length of time; MISSING_TIME = it is over
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int64s = npt.NDArray[np.int64]

PRESENT, AHEAD, LEAST, BEHIND, MOST, FAR, LATE, FIRST, FIELDS = range(9)
MISSING = np.iinfo(np.int64).min


@kernel
def follow(time: Int64s, state: Int64s, rule: tuple[int, int, int, int], first: int, present: Int64s) -> None:
    """Fill present int64[n] with what the clock shows when each of some records has come; time int64[n].

    rule = leap in seconds, how many times in a row move the clock, length of an epoch in seconds (0 = of no time) and
    from where these are counted. `first` = how many of the records may still turn the clock back, -1 = as long as the
    first epoch lasts, by its length.
    """
    leap, enough, size, offset = rule
    for i in range(len(time)):
        t, now = time[i], state[PRESENT]
        if t != MISSING:
            if now == MISSING:
                now = t
                state[FIRST] = (now - offset) // size if size else 0
            elif t > now + leap:
                state[LEAST] = t if state[AHEAD] == 0 else min(state[LEAST], t)
                state[AHEAD] += 1
                state[FAR] += 1
                state[BEHIND] = 0
                if state[AHEAD] == enough:
                    now = state[LEAST]
                    state[FAR] -= enough
                    state[AHEAD] = 0
            else:
                state[AHEAD] = 0
                if t < now - leap:
                    state[MOST] = t if state[BEHIND] == 0 else max(state[MOST], t)
                    state[BEHIND] += 1
                else:
                    state[BEHIND] = 0
                    now = max(now, t)
                is_first = i < first if first >= 0 else state[FIRST] != MISSING
                if state[BEHIND] == enough and is_first:
                    now = state[MOST]
                    state[FAR] += 1
                    state[BEHIND] = 0
                    state[FIRST] = (now - offset) // size if size else 0
            state[PRESENT] = now
            if size:
                period = (now - offset) // size
                if state[FIRST] != MISSING and period > state[FIRST]:
                    state[FIRST] = MISSING
                if (t - offset) // size < period:
                    state[LATE] += 1
        present[i] = now
