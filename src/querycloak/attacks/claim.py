"""Claim: say what a person asked that the attacker does not know yet.

The attacker knows half of a person's log. He finds the published log that is most like it (as `relink` does), leaves
out the texts that the known queries are, hold or mean, ranks the others by their likeness to what he knows, and claims
that the person asked the first, or the first five. A claim is right where the person asked it in the other half.

Much can be claimed of anybody: everybody asks for the weather. So the same attacker is run on people who were held out
of a further release. What he gets right about them he did not learn from their data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows, Ragged
from querycloak.attacks.interval import baseline_of, result_of
from querycloak.attacks.likeness import Likeness, share_of_top
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.similarity import Similarity
from querycloak.attacks.targets import HEAVY, events_of, find_targets, sample
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.interval import Float64s
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.attacks.vectors import Space
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["claim", "ranking_spaces"]

SEVERAL: Final = 5
"""Texts that the attacker claims where he does not claim the first alone."""
MOST_TIES: Final = 20
"""Published logs with the same score that are looked at; of more, a random sample."""


def claim(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress,
    *,
    halves: Halves,
    askers: Askers,
    trials: Trials,
    concepts: ConceptLog,
    release_concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> list[AttackResult]:
    """Claim the text, and the five texts, of the most similar published log that are most like what is known."""
    targets = find_targets(halves.known, release, random)
    if len(targets) == 0:
        raise CannotAttackError("nobody with two queries or more is published")
    progress.start("attack: claim")
    similarity = Similarity.of(log, release, concepts=concepts, release_concepts=release_concepts, taxonomy=taxonomy)
    claims = _claims(halves, release, askers, similarity, targets.people, random)
    without = _claims_about_held_out(log, halves, trials, concepts, taxonomy, random.child("held out"))
    many = events_of(halves.known)[targets.people] >= HEAVY
    results = []
    for i, name in enumerate(("claim", f"claim, first {SEVERAL}")):
        details = {
            **targets.details,
            "people without a claim": float((~claims.made).sum()),
            "rate for another person": float(claims.another[i].mean()),
            f"people with {HEAVY} known events or more": float(many.sum()),
        }
        if many.any():
            details[f"rate with {HEAVY} known events or more"] = float(claims.right[i][many].mean())
        if without is None:
            baseline = baseline_of("another person", claims.another[i])
        else:
            baseline = baseline_of("people held out", without.right[i])
        results.append(
            result_of(
                name,
                claims.right[i],
                release,
                question="inference",
                risk="claim",
                knows=halves.which,
                unit="person",
                baseline=baseline,
                details=details,
            )
        )
    return results


def _claims_about_held_out(
    log: QueryLog, halves: Halves, trials: Trials, concepts: ConceptLog, taxonomy: Taxonomy, random: Randomness
) -> _Claims | None:
    """Make claims about people who are not in a further release; None where there is none, or nobody to claim about."""
    try:
        trial = trials.without_held_out()
    except CannotAttackError:
        return None
    held_out = np.flatnonzero((events_of(halves.known) >= 1) & ~trial.inside)
    if len(held_out) == 0:
        return None
    shown = trials.concepts_of(trial.release)
    fits = Similarity.of(log, trial.release, concepts=concepts, release_concepts=shown, taxonomy=taxonomy)
    return _claims(halves, trial.release, trials.askers_of(trial), fits, sample(held_out, random), random)


def ranking_spaces(spaces: list[Space], *, holds_concepts: bool) -> list[Space]:
    """Return the spaces in which single texts are compared with a person: whole queries say nothing about new ones."""
    wanted = {"words", "grams", "concepts"} if holds_concepts else {"words", "grams"}
    return [space for space in spaces if space.name in wanted]


class _Claims(NamedTuple):
    """How often claims are right, for the first text and for the first five: rows of float64[2, people]."""

    right: Float64s
    another: Float64s
    """the same claims, made of another person: the mean over all others"""
    made: npt.NDArray[np.bool_]
    """bool[people]: there was something to claim"""


def _claims(
    halves: Halves, release: Release, askers: Askers, similarity: Similarity, people: Codes, random: Randomness
) -> _Claims:
    """Make the claims about some people, and score them."""
    n_queries, published = len(halves.known.queries), release.log
    texts_of = CountedRows.of(published.user, published.query, len(published.users)).uncounted
    texts_behind = askers.queries.inverted(n_queries)  # query → texts that it is, holds or means
    known, other = (_marks(half, people, texts_behind) for half in halves)
    told = None if release.statement.ids == "person" else KnownTexts.of(texts_of, known, len(published.queries))
    found = _found_logs(similarity, halves.known, people, random, told)
    used = np.unique(texts_of.take(np.unique(found.values)).values)
    spaces = ranking_spaces(similarity.spaces, holds_concepts=release.holds_concepts)
    likeness = Likeness.of(spaces, halves.known, people, used)

    is_known = np.zeros(len(published.queries), dtype=np.bool_)
    is_right = np.zeros(len(published.queries), dtype=np.bool_)
    right = np.zeros((2, len(people)))
    made = np.zeros(len(people), dtype=np.bool_)
    claimed: list[tuple[int, npt.NDArray[np.int64], Float64s, Float64s]] = []
    for p in range(len(people)):
        is_known[known.row(p)] = True
        is_right[other.row(p)] = True
        ids = found.row(p)  # one for each tied log, as often as it ties
        for published_id, ties in zip(*np.unique(ids, return_counts=True), strict=True):
            texts = texts_of.row(int(published_id))
            new = texts[~is_known[texts]]
            if len(new) == 0:
                continue
            score = likeness.of_person(p, new)
            share = np.stack([share_of_top(score, 1), share_of_top(score, SEVERAL)]) * (ties / len(ids))
            right[:, p] += share @ is_right[new]
            made[p] = True
            top = np.flatnonzero(share[1])
            claimed.append((p, new[top], share[:, top], is_right[new[top]].astype(np.float64)))
        is_known[known.row(p)] = False
        is_right[other.row(p)] = False
    another = _of_another(claimed, halves.other, askers, len(people))
    return _Claims(np.minimum(right, 1.0), another, made)  # sums of shares may be 1 and a bit


class KnownTexts(NamedTuple):
    """What the attacker knows already of each published log.

    Where a person has several ids, the most similar log is often one that he knows whole, and there is nothing to claim
    from: he takes the most similar one that has something new.
    """

    known: Ragged
    """the published texts that are known of each person"""
    holders: Ragged
    """the published ids that have each text"""
    texts: npt.NDArray[np.int64]
    """int64[published ids]: how many distinct texts each has"""

    @classmethod
    def of(cls, texts_of: Ragged, known: Ragged, texts: int) -> KnownTexts:
        """Find which ids have each text; texts_of: the distinct texts of each id."""
        return cls(known, texts_of.inverted(texts), texts_of.lengths)

    def has_new(self, person: int) -> npt.NDArray[np.bool_]:
        """bool[published ids]: has a text that is not known of the person."""
        holders = self.holders.take(self.known.row(person)).values
        return np.asarray(np.bincount(holders, minlength=len(self.texts)) < self.texts)


def _found_logs(
    similarity: Similarity, known: QueryLog, people: Codes, random: Randomness, told: KnownTexts | None
) -> Ragged:
    """Return, for each person, the published logs with the best score, each by one of its ids, as often as it ties.

    With `told`, only logs that have something new to the attacker.
    """
    one_of = np.unique(similarity.log_of, return_index=True)[1][similarity.log_of]  # equal logs have equal texts
    rows: list[npt.NDArray[np.int64]] = []
    for part, scores in similarity.blocks(known, people):
        for person, score in enumerate(scores, part.start):
            new = np.ones(len(score), dtype=np.bool_) if told is None else told.has_new(person)
            best = np.flatnonzero(new & (score == score[new].max(initial=-np.inf)))
            distinct = np.unique(one_of[best])
            if len(distinct) > MOST_TIES:
                best = best[random.permutation(len(best))[:MOST_TIES]]
            rows.append(one_of[best])
    return Ragged.of_lists([row.tolist() for row in rows], np.int64)


def _marks(half: QueryLog, people: Codes, texts_behind: Ragged) -> Ragged:
    """Return, for each person, the published texts that the queries of a half are, hold or mean."""
    asked = half.query != NO_CODE
    queries = CountedRows.of(half.user[asked], half.query[asked], len(half.users)).take(people)
    texts = texts_behind.take(queries.values)
    owner = queries.owner[texts.owner]
    return CountedRows.of(owner, texts.values, len(people)).uncounted


def _of_another(
    claimed: list[tuple[int, npt.NDArray[np.int64], Float64s, Float64s]],
    other: QueryLog,
    askers: Askers,
    people: int,
) -> Float64s:
    """float64[2, people]: the mean chance that the same claims are right of somebody else in the log."""
    from querycloak.releases._askers_kernels import count_people

    if not claimed:
        return np.zeros((2, people))
    owner = np.repeat([p for p, *_ in claimed], [len(texts) for _, texts, *_ in claimed])
    texts = np.concatenate([texts for _, texts, *_ in claimed])
    share = np.concatenate([share for *_, share, _ in claimed], axis=1)
    right = np.concatenate([right for *_, right in claimed])
    distinct, of = np.unique(texts, return_inverse=True)
    asked = other.query != NO_CODE
    users_of = CountedRows.of(other.query[asked], other.user[asked], len(other.queries)).uncounted
    asked_by = count_people(askers.queries.take(distinct), users_of, len(other.users))[of]
    everybody_else = max(len(np.unique(other.user)) - 1, 1)
    chance = (asked_by - right) / everybody_else
    out = np.stack([np.bincount(owner, weights=weight * chance, minlength=people) for weight in share])
    return np.clip(out, 0.0, 1.0)
