"""Intersection: two releases of one log, each of which hides a person among k, name the person together.

An *own text* was asked by one person of the log alone. A release publishes it under the ids of a group, so its asker is
one of the group's members. Another release of the same log (by another method, with another k, or by another draw)
publishes it under another group. The asker is a member of both, and may be the only one.

The attacker knows who the members of each group are (`relink` finds out for many), and nothing of what they asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks.clustered import clustered
from querycloak.attacks.interval import mean_guess, rated_result, result_of
from querycloak.attacks.result import CannotAttackError, NothingToAttackError
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import polars as pl

    from querycloak.attacks.interval import Float64s
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["intersection"]


def intersection(
    log: QueryLog,
    release: Release,
    random: Randomness,  # noqa: ARG001 - attacks are called alike
    progress: Progress,
    *,
    askers: Askers,
    also: Sequence[Release],
) -> list[AttackResult]:
    """Intersect the people under whom each own text is published here and in other releases of the same log.

    Targets are the own texts of this release that at least one other release publishes, too. The attacker is right
    where one candidate is left and that is the asker. The baseline guesses among the candidates of this release alone:
    the lift is what the other releases add.
    """
    others = [other for other in also if other.holds_user_logs]
    if not others:
        raise CannotAttackError("give other releases of the same log with --also")
    progress.start("attack: intersection")
    found = _targets(log, release, askers, others)
    if len(found.asker) == 0:
        raise NothingToAttackError("no text that only one person asked is in this release and in another")
    right = found.single_right.astype(np.float64)
    _, first, of = np.unique(found.asker, return_index=True, return_inverse=True)
    per_person = Ragged.positions(of, len(first)).lengths
    by_guess = np.bincount(of, weights=found.guess) / per_person  # float64[people]: one text of theirs, at random
    people = (np.bincount(of, weights=right) > 0).astype(np.float64)
    details = {
        "releases": 1.0 + len(others),
        "own texts": float(askers.own.sum()),
        "own texts in another release": float(len(right)),
        "cut to one candidate": float(found.single.sum()),
        "right": float(right.sum()),
        "one candidate in the first release alone": float(found.alone.sum()),
        "people named": float(people.sum()),
    }
    knows = "who is in which group of each release"
    return [
        rated_result(
            "intersection, queries", clustered(right, found.asker), len(right), release,
            question="linkability", risk="link", knows=knows, unit="query", baseline=mean_guess(found.guess),
            details=details,
        ),
        result_of(
            "intersection, people", people, release, question="linkability", risk="link",
            knows=knows, unit="person", baseline=mean_guess(by_guess), details=details,
        ),
    ]  # fmt: skip


class _Targets(NamedTuple):
    """Own texts that several releases publish: one entry per text."""

    asker: npt.NDArray[np.int64]
    single: npt.NDArray[np.bool_]
    """one candidate is left after all releases"""
    single_right: npt.NDArray[np.bool_]
    """and that is the asker"""
    alone: npt.NDArray[np.bool_]
    """this release alone leaves one candidate"""
    guess: Float64s
    """the chance of a blind guess among the candidates of this release alone"""


def _targets(log: QueryLog, release: Release, askers: Askers, others: Sequence[Release]) -> _Targets:
    own = np.flatnonzero(askers.own)
    asker = askers.of_own_texts(log)[own]

    first = _candidates(release, release.log.queries, len(log.users)).take(own)
    left, published = first, np.zeros(len(own), dtype=np.bool_)
    for other in others:
        there = _candidates(other, release.log.queries, len(log.users)).take(own)
        published |= there.lengths > 0
        left = _common(left, there, len(log.users))
    kept = np.flatnonzero(published & (first.lengths > 0))
    first, left, asker = first.take(kept), left.take(kept), asker[kept]
    named = np.full(len(kept), NO_CODE, dtype=np.int64)
    single = left.lengths == 1
    named[single] = left.values[left.start[:-1][single]]
    among = np.bincount(first.owner[first.values == asker[first.owner]], minlength=len(kept))
    return _Targets(asker, single, single & (named == asker), first.lengths == 1, among / first.lengths)


def _candidates(release: Release, texts: pl.Series, people: int) -> Ragged:
    """Return, for each of the texts, the people (ascending) under whose ids a release publishes it.

    Members of a group have equal logs, so the ids of a text are those of whole groups.
    """
    import polars as pl

    from querycloak.texts.compared import compared

    assert release.truth is not None
    both = pl.concat([compared(texts), compared(release.log.queries)])
    code = (both.rank("dense").cast(pl.Int64) - 1).to_numpy()
    wanted, theirs = code[: len(texts)], code[len(texts) :]
    user = release.truth.user[release.log.user]
    told = (user != NO_CODE) & (release.log.query != NO_CODE)
    rows = int(code.max(initial=-1)) + 1
    assert people >= int(user.max(initial=-1)) + 1
    return CountedRows.of(theirs[release.log.query[told]], user[told], rows).uncounted.take(wanted)


def _common(left: Ragged, right: Ragged, people: int) -> Ragged:
    """Keep in each row of `left` what the row of `right` holds, too; a row that is empty in `right` cuts nothing."""
    keys = left.owner * people + left.values
    kept = np.isin(keys, right.owner * people + right.values) | (right.lengths == 0)[left.owner]
    return Ragged.of(left.owner[kept], left.values[kept], left.rows)
