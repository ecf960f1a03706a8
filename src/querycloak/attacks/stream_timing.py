"""Stream timing: a user's id leaves a stream soon after the user asks, so repeated texts point at their asker.

For each record whose text is published three times or more the attacker looks at every id: how soon was it published
after the record had been asked, and how soon after the other times of the same text? He names the id that fits best,
never the one under which the record was published. He uses what is published and nothing else (specification of the
stream, second edition).

The score is a log likelihood ratio: the id's user asked the record, against anybody did. With g the rows from a time of
the text to the next row of the id, s the id's share of all rows, and W(g) the chance that a user who has asked waits
longer than g rows for the next row, the ratio of one time is

    R(g) = T P_own(g) / P(g) + 1 - T     with P(g) = s (1 - s)^g, P_own(g) = W(g) (1 - s)^g - W(g + 1) (1 - s)^(g + 1)
    R    = 1 - T + T W(WINDOW)           where the id does not come within WINDOW rows
    R    = 0                             where the record of that time is published under the id

and the score of the record at time i: log R(g_i), plus the sum over the other times j of log(1 - SAME + SAME R(g_j)):
with the chance SAME the same person asked there too; plus log s, since who asks much has asked more.

W is a mean of 1 / (1 + g / c) over several scales c, so that it fits quick and slow streams alike; T is TRUST. Times of
one sitting, fewer than APART rows from each other, count once for the others: the same rows would be counted again.

**When a text was asked.** Where times are published and fine, at the first row with a time as late as its own: a record
keeps the time at which it was asked, and the newest time published so far is the present. Where they are missing or
rounded, so that more than WINDOW rows share one, the attacker goes back from the row by the median delay, which the
statement tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.attacks._stream_timing_kernels import name_askers
from querycloak.attacks.interval import guessing, result_of
from querycloak.attacks.result import NothingToAttackError
from querycloak.logs.query_log import MISSING_TIME
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["rows_when_asked", "stream_timing", "waiting_chances"]

Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]

REPEATED: Final = 3
"""Times that a text must be published."""
WINDOW: Final = 1_000
APART: Final = 100
TRUST: Final = 0.95
"""How sure it is that the id of a user who asked leaves as expected."""
SAME: Final = 0.8
"""Chance that two records with one rare text are of one person."""
SCALES: Final = (3, 10, 30, 100, 300)


def stream_timing(
    log: QueryLog,  # noqa: ARG001 - he sees the release alone
    release: Release,
    random: Randomness,  # noqa: ARG001 - nothing is drawn
    progress: Progress = QUIET,
) -> AttackResult:
    """Name an asker for each record whose text is published often; only such records are targets.

    Details: the share of all records that have such a text; the rate over the fifth of these records whose id leads by
    most, where the attacker is surest; and 1/k.
    """
    truth = release.truth
    assert truth is not None
    assert truth.asker is not None
    progress.start("attack: stream timing")
    table = release.log
    row, start = _rows_of_repeated_texts(table.query)
    if len(row) == 0:
        raise NothingToAttackError(f"no text is published {REPEATED} times")
    asked = rows_when_asked(table, release.statement.figures.get("delay p50", 0.0))
    text = np.repeat(np.arange(len(start) - 1), np.diff(start))
    row = row[np.lexsort((asked[row], text))]
    share = np.bincount(table.user, minlength=len(table.users)) / len(table)
    named, lead = name_askers(row, start, asked, table.user, share, waiting_chances(), APART, TRUST, SAME)
    right = np.where(named >= 0, truth.user[named] == truth.asker[row], False).astype(np.float64)
    surest = np.argsort(-lead, kind="stable")[: max(1, len(right) // 5)]
    return result_of(
        "stream-timing",
        right,
        release,
        question="linkability",
        risk="link",
        knows="the published stream",
        unit="record",
        baseline=guessing(len(table.users)),
        details={
            "records with a text published often": len(right) / len(table),
            "the surest fifth": float(right[surest].mean()),
            "1/k": 1 / int(release.statement.settings["k"]),
        },
    )


def waiting_chances() -> Float64s:
    """Return W: float64[WINDOW + 1], the chance that a user who has asked waits longer than so many rows."""
    gap = np.arange(WINDOW + 1)
    return np.asarray(np.mean([1 / (1 + gap / scale) for scale in SCALES], axis=0))


def rows_when_asked(table: QueryLog, usual_delay: float) -> Int64s:
    """Return int64[rows]: the row of the release that left when a row had been asked, as far as that can be told."""
    here = np.arange(len(table), dtype=np.int64)
    back = np.maximum(here - round(usual_delay), 0)
    if table.time is None:
        return back
    present = np.maximum.accumulate(table.time)
    first = np.searchsorted(present, table.time, side="left")
    alike = np.searchsorted(present, table.time, side="right") - first
    return np.where((table.time != MISSING_TIME) & (alike <= WINDOW), first, back).astype(np.int64)


def _rows_of_repeated_texts(query: npt.NDArray[np.int32]) -> tuple[Int64s, Int64s]:
    """Return the rows of texts that are published often, text by text, and where each text begins, int64[texts + 1]."""
    times = np.bincount(query[query >= 0], minlength=1)
    chosen = np.flatnonzero((query >= 0) & (times[query] >= REPEATED))
    row = chosen[np.argsort(query[chosen], kind="stable")]
    new = np.flatnonzero(np.diff(query[row])) + 1
    return row, np.concatenate([[0], new, [len(row)]]).astype(np.int64)
