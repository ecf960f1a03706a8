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

**When a text was asked** is told by its time, or by the median delay: `stream_epochs.py`.

**Epochs.** Rows of an epoch are shuffled: their order tells nothing. There the attacker counts. With c(d) the rows of
an id in the d-th epoch after that of a time, or before it, n(d) all rows there, and s its share,

    R = T Σ over d of w(d) c(d) / (s n(d)) + 1 - T

since one row more than a Poisson number of mean s n(d) is the asker's, with the chance w(d) in the d-th epoch: OWN in
the epoch of the time itself, the rest falling by FADES from one epoch to the next. The rest is as above; times of one
epoch are one sitting.

**Texts that several people share** are asked by another person at each time. There the other times should count for
nothing, SAME be 0: an attacker who believes in them is led astray by ids that stay, and is right less often than one
whose ids change. So in epochs he counts four times: with and without SAME, with the chances above and with the epoch
of the time alone, which is the better one where epochs are long. What is told is the largest of the four counts.
Without epochs SAME stays what it is: what a smaller one gives is in the card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.attacks._stream_timing_kernels import name_askers, name_by_epochs
from querycloak.attacks.interval import guessing, result_of
from querycloak.attacks.result import NothingToAttackError
from querycloak.attacks.stream_epochs import WINDOW, epochs_of, rows_when_asked, usual_delay
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release, Truth

__all__ = ["stream_timing", "waiting_chances"]

Float64s = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

REPEATED: Final = 3
"""Times that a text must be published."""
APART: Final = 100
TRUST: Final = 0.95
"""How sure it is that the id of a user who asked leaves as expected."""
SAME: Final = 0.8
"""Chance that two records with one rare text are of one person."""
OWN: Final = 0.8
FADES: Final = 0.8
SCALES: Final = (3, 10, 30, 100, 300)
NEAR: Final = 6
"""Epochs before and after one that are looked at."""


def stream_timing(
    log: QueryLog,  # noqa: ARG001 - he sees the release alone
    release: Release,
    random: Randomness,  # noqa: ARG001 - nothing is drawn
    progress: Progress = QUIET,
) -> AttackResult:
    """Name an asker for each record whose text is published often; only such records are targets.

    Details: the share of all records that have such a text; the rate over the fifth of these records whose id leads by
    most, where the attacker is surest; the rate over the records of the user who asked most, and over all others; and
    1/k. No stream method hides a user who asks more than 1/k of all.
    """
    truth = release.truth
    assert truth is not None
    assert truth.asker is not None
    progress.start("attack: stream timing")
    table = release.log
    row, start = _rows_of_repeated_texts(table.query)
    if len(row) == 0:
        raise NothingToAttackError(f"no text is published {REPEATED} times")
    share = np.bincount(table.user, minlength=len(table.users)) / len(table)
    epoch = epochs_of(release)
    text = np.repeat(np.arange(len(start) - 1), np.diff(start))
    if epoch is None:
        asked = rows_when_asked(table, usual_delay(release))
        row = row[np.lexsort((asked[row], text))]
        named, lead = name_askers(row, start, asked, table.user, share, waiting_chances(), APART, TRUST, SAME)
    else:  # rows of a text are in their order, and so are epochs
        counts = []
        for chance in (np.ones(1), chances_of_epochs()):
            ids, seen, first = weighed_epochs(epoch, table.user, len(share), chance)
            found = (row, start, epoch, table.user, share, ids, seen, first, TRUST)
            counts += [name_by_epochs(*found, same) for same in (0.0, SAME)]
        named, lead = max(counts, key=lambda found: int(_hits(found[0], row, truth).sum()))
    asker = truth.asker[row]
    right = _hits(named, row, truth).astype(np.float64)
    is_busiest = asker == np.bincount(truth.asker).argmax()
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
            "the user with the most records": _mean(right[is_busiest]),
            "all other users": _mean(right[~is_busiest]),
            "1/k": 1 / int(release.statement.settings["k"]),
        },
    )


def _hits(named: Int32s, row: Int64s, truth: Truth) -> npt.NDArray[np.bool_]:
    """bool[n]: whether the id that is named for a row is that of its asker."""
    assert truth.asker is not None
    return np.asarray((named >= 0) & (truth.user[named] == truth.asker[row]))


def _mean(values: Float64s) -> float:
    return float(values.mean()) if len(values) else 0.0


def waiting_chances() -> Float64s:
    """Return W: float64[WINDOW + 1], the chance that a user who has asked waits longer than so many rows."""
    gap = np.arange(WINDOW + 1)
    return np.asarray(np.mean([1 / (1 + gap / scale) for scale in SCALES], axis=0))


def chances_of_epochs() -> Float64s:
    """Return w: float64[2 NEAR + 1], the chance that the asker's row is so many epochs before or after a time."""
    away = np.abs(np.arange(-NEAR, NEAR + 1))
    fading = np.where(away == 0, 0.0, FADES**away)
    return np.asarray(np.where(away == 0, OWN, (1 - OWN) * fading / fading.sum()))


def weighed_epochs(epoch: Int64s, user: Int32s, ids: int, chance: Float64s) -> tuple[Int32s, Float64s, Int64s]:
    """Weigh the rows of each id in and around each epoch: the sum of w(d) c(d) / n(d), see above.

    chance float64[2 m + 1] is w, from m epochs before on. Returns the ids and their weights, epoch by epoch, int32[n]
    and float64[n]; and where each epoch begins in them, int64[epochs + 1].
    """
    epochs, near = int(epoch[-1]) + 1, len(chance) // 2
    around = epoch[:, None] - np.arange(-near, near + 1)  # the epochs from which this row is so many away
    there = (around >= 0) & (around < epochs)
    each = chance / np.bincount(epoch)[epoch][:, None]
    pairs, which = np.unique((around * ids + user[:, None])[there], return_inverse=True)
    seen = np.bincount(which, weights=each[there], minlength=len(pairs)).astype(np.float64)
    first = np.searchsorted(pairs // ids, np.arange(epochs + 1))
    return (pairs % ids).astype(np.int32), seen, first.astype(np.int64)


def _rows_of_repeated_texts(query: npt.NDArray[np.int32]) -> tuple[Int64s, Int64s]:
    """Return the rows of texts that are published often, text by text, and where each text begins, int64[texts + 1]."""
    times = np.bincount(query[query >= 0], minlength=1)
    chosen = np.flatnonzero((query >= 0) & (times[query] >= REPEATED))
    row = chosen[np.argsort(query[chosen], kind="stable")]
    new = np.flatnonzero(np.diff(query[row])) + 1
    return row, np.concatenate([[0], new, [len(row)]]).astype(np.int64)
