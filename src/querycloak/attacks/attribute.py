"""Attribute: say which member of a group asked a text that only one person asked.

Published ids with the same log form a class: each member is hidden among the others. The attacker knows who the members
are, and half of the log of each. A text that only one member asked goes to the member whose known half it is most like.
Texts that are in the known half itself are no targets: he knows them without the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.attacks.claim import ranking_spaces
from querycloak.attacks.clustered import clustered
from querycloak.attacks.interval import mean_guess, rated_result
from querycloak.attacks.likeness import Likeness, share_of_top
from querycloak.attacks.result import NothingToAttackError
from querycloak.attacks.targets import sample, sampled
from querycloak.attacks.vectors import text_spaces
from querycloak.logs.query_log import NO_CODE
from querycloak.releases.classes import distinct_logs

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.interval import Float64s
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["attribute"]

CONFIDENT: Final = 0.2
"""Share of the texts that the attacker is most confident about."""

Int64s = npt.NDArray[np.int64]


def attribute(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress,
    *,
    halves: Halves,
    askers: Askers,
) -> list[AttackResult]:
    """Give each own text of a class to the most similar member; all of them, and the fifth with the widest margin.

    The baseline is a blind guess among the members. A class of one has nobody else to guess at: its own texts are
    attributed rightly, always. There the release itself says whose text it is, so the baseline is an attacker who has
    no release and guesses among all people.
    """
    targets = _targets(log, release, halves, askers, random)
    if len(targets.text) == 0:
        raise NothingToAttackError("no new text that only one person asked is published in that person's group")
    progress.start("attack: attribute")
    size = targets.members.lengths
    right, margin = _attributed(log, release, halves.known, targets)
    everybody = len(np.unique(log.user))
    guess = 1.0 / np.where(size == 1, everybody, size)
    fifth = max(round(CONFIDENT * len(right)), 1)
    details = {
        "own texts": float(askers.own.sum()),
        "known already": float(targets.known_already),
        "people": float(n_people := len(np.unique(targets.asker))),
        "mean members of a class": float(size.mean()),
        "share of texts in classes of one": float((size == 1).mean()),
        **sampled(n_people, targets.people),
    }
    knows = f"the members of each group, and of each {halves.which}"
    results = []
    for name, most in (("attribute", len(right)), ("attribute, confident fifth", fifth)):
        weight = share_of_top(margin, most) * most  # 1 for a text that counts, less where equal margins share the rest
        kept = np.flatnonzero(weight)
        results.append(
            rated_result(
                name,
                clustered(right[kept], targets.asker[kept], weight[kept]),
                most,
                release,
                question="inference",
                risk="claim",
                knows=knows,
                unit="query",
                baseline=mean_guess(guess, weight),
                details=details,
            )
        )
    return results


class _Targets(NamedTuple):
    """Own texts that are published under their asker's own id: one entry per text."""

    text: Int64s
    asker: Int64s
    published_id: Int64s
    """that of the asker"""
    members: Ragged
    """the people of the asker's class, the asker among them"""
    known_already: int
    """own texts that are no targets, as the attacker knows them"""
    people: int
    """people with such texts; the targets are those of all of them, or of a sample"""


def _targets(log: QueryLog, release: Release, halves: Halves, askers: Askers, random: Randomness) -> _Targets:
    assert release.truth is not None
    own = np.flatnonzero(askers.own)
    asker = askers.of_own_texts(log)[own]
    in_known = np.zeros(len(log.queries), dtype=np.bool_)
    in_known[halves.known.query[halves.known.query != NO_CODE]] = True
    queries = askers.queries.take(own)
    new = queries.sums(in_known[queries.values].astype(np.int64)) == 0

    published_id = _id_of_asker(release, own, asker)
    shown = published_id >= 0
    kept = np.flatnonzero(shown & new)
    people = np.unique(asker[kept])
    chosen = sample(people, random)  # in a large log, the texts of some people
    kept = kept[np.isin(asker[kept], chosen)]

    log_of, one = distinct_logs(release.log)
    there = np.unique(release.log.user)
    there = there[release.truth.user[there] != NO_CODE]
    classes = Ragged.of(log_of[there], release.truth.user[there].astype(np.int64), len(one))
    classes = classes.ascending().distinct()  # who has two of the ids is one member
    members = classes.take(log_of[published_id[kept]])
    return _Targets(own[kept], asker[kept], published_id[kept], members, int((shown & ~new).sum()), len(people))


def _id_of_asker(release: Release, own: Int64s, asker: Int64s) -> Int64s:
    """int64[own texts]: the asker's published id under which each text is, the first of several; -1 = there is none."""
    assert release.truth is not None
    asker_of = np.full(len(release.log.queries), -2, dtype=np.int64)
    asker_of[own] = asker
    rows = np.flatnonzero(release.truth.user[release.log.user] == asker_of[release.log.query])[::-1]
    out = np.full(len(release.log.queries), -1, dtype=np.int64)
    out[release.log.query[rows]] = release.log.user[rows]
    return out[own]


def _attributed(log: QueryLog, release: Release, known: QueryLog, targets: _Targets) -> tuple[Float64s, Float64s]:
    """Return the chance that each text goes to its asker, and by how much the best member leads: float64[texts]."""
    people: Codes = np.unique(targets.members.values).astype(np.int32)
    index = np.full(len(log.users), -1, dtype=np.int64)
    index[people] = np.arange(len(people))
    spaces = ranking_spaces(text_spaces(log, release), holds_concepts=False)
    likeness = Likeness.of(spaces, known, people, targets.text)
    score = np.zeros(len(targets.members.values))  # one for each text and member
    by_member = Ragged.positions(index[targets.members.values], len(people))
    text = targets.text[targets.members.owner]
    for p in range(len(people)):
        mine = by_member.row(p)
        score[mine] = likeness.of_person(p, text[mine])
    owner, start = targets.members.owner, targets.members.start[:-1]
    best = np.maximum.reduceat(score, start)
    is_best = score == best[owner]
    tied = np.add.reduceat(is_best.astype(np.float64), start)
    is_asker = targets.members.values == targets.asker[owner]
    right = np.bincount(owner, weights=is_best & is_asker, minlength=len(best)) / tied
    second = np.maximum.reduceat(np.where(is_best, -np.inf, score), start)
    margin = np.where(tied > 1, 0.0, best - second)  # infinite in a class of one
    return right, margin
