"""Membership: tell whether a person was in the log at all.

A random half of the people goes into a further release, the other half stays out. The attacker knows the known half of
everybody's log, in and out, and asks of each how well it fits the release. What went in are whole logs, so what he
knows of the people inside is part of it.

Differential privacy promises that little can be told, and one draw of halves over 1,000 people cannot show it: where
nothing is to be told, the interval still reaches to 7 points. So a release with such a promise is drawn several times.

He tries a few scores and keeps the one that tells best on people whose answer he knows; it is then counted on others.
Each half of the people chooses for the other half, so everybody is counted once, and nobody by a score that was chosen
on him.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.attacks.interval import NOTHING, rated_result
from querycloak.attacks.result import Baseline, CannotAttackError, NothingToAttackError
from querycloak.attacks.roc import area, mean_area_interval, true_positives, worth
from querycloak.attacks.similarity import Similarity
from querycloak.attacks.targets import events_of, sample, sampled
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.interval import Float64s, Interval
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["membership"]

FALSE_POSITIVES: Final = 0.01
FEWEST: Final = 2
"""People inside, and people outside, that each half of the people must have."""
COSINES_AT_ONCE: Final = 1 << 24
ENOUGH: Final = 40_000
"""Answers, over all draws, that differential privacy is judged by: where nothing can be told, 2 AUC - 1 is then known
to about 1 point."""
MOST_DRAWS: Final = 20

Bools = npt.NDArray[np.bool_]


def membership(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress,
    *,
    halves: Halves,
    trials: Trials,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> list[AttackResult]:
    """Tell people inside a further release from people outside: 2 AUC - 1, and true positives at 1 % false ones."""
    there = np.flatnonzero(events_of(halves.known) >= 1)
    people = sample(there, random)
    draws = min(-(-ENOUGH // len(people)), MOST_DRAWS) if release.statement.account and len(people) else 1
    score, inside = np.zeros((draws, len(people))), np.zeros((draws, len(people)), dtype=np.bool_)
    found: list[dict[str, float]] = []  # the area of each score in each draw
    for draw in range(draws):
        trial = trials.half_of_people(draw)
        inside[draw] = is_in = trial.inside[people]
        _check_sides(is_in)
        if draw == 0:
            progress.start("attack: membership", total=draws)
        progress.advance()
        if len(trial.release.log) == 0:  # nothing can be told: all scores are 0
            continue
        shown = trials.concepts_of(trial.release)
        similarity = Similarity.of(log, trial.release, concepts=concepts, release_concepts=shown, taxonomy=taxonomy)
        scores = _cosines(similarity, halves.known, people)
        scores |= _texts(halves.known, trial.release, trials.askers_of(trial), people)
        found.append({name: area(s[is_in], s[~is_in]) for name, s in scores.items()})
        score[draw] = _cross_chosen(np.stack(list(scores.values())), is_in, random)
    if not found:
        raise NothingToAttackError("nothing of half of the people would be published")
    a, b = score[inside], score[~inside]
    middle, low, high = _no_worse_than_guessing(*mean_area_interval(score, inside))
    details = {"people inside": float(len(a)), "people outside": float(len(b)), **sampled(len(people), len(there))}
    details |= {"draws of who is inside": float(draws)} if draws > 1 else {}
    details |= {f"2 AUC - 1 of {name}": 2 * float(np.mean([each[name] for each in found])) - 1 for name in found[0]}
    guess = Baseline(kind="guessing", rate=FALSE_POSITIVES, low=FALSE_POSITIVES, high=FALSE_POSITIVES, targets=0)
    return [
        rated_result(
            "membership", (2 * middle - 1, 2 * low - 1, 2 * high - 1), len(people), release, question="inference",
            risk="membership", knows=halves.which, unit="person", baseline=NOTHING, details=details,
        ),
        rated_result(
            "membership, 1 % false positives", _at_one_percent(score, inside), len(people), release,
            question="inference", risk="membership at 1 %", knows=halves.which, unit="person", baseline=guess,
            details={
                "people inside": float(len(a)),
                "people outside": float(len(b)),
                "people outside that make 1 %": FALSE_POSITIVES * len(b),
                "too few people to resolve 1 %": float(FALSE_POSITIVES * len(b) < 1),
            },
        ),
    ]  # fmt: skip


def _check_sides(inside: Bools) -> None:
    """Check that there are enough people on both sides; inside: bool[people]."""
    if min(inside.sum(), (~inside).sum()) < 2 * FEWEST:
        raise CannotAttackError(
            f"it takes {2 * FEWEST} people with two queries or more in the further release, and as many outside"
        )


def _at_one_percent(score: Float64s, inside: Bools) -> Interval:
    """Return the true positives at 1 % false ones over all draws; both: [draws, people]."""
    a, b = score[inside], score[~inside]
    above = score > np.quantile(b, 1 - FALSE_POSITIVES)
    pull = np.where(inside, (above - above[inside].mean()) / len(a), (above - above[~inside].mean()) / len(b))
    return true_positives(a, b, FALSE_POSITIVES, worth(pull))


def _no_worse_than_guessing(middle: float, low: float, high: float) -> tuple[float, float, float]:
    """Move the interval of an area below 1/2 up to 1/2.

    An attacker whose scores tell less than nothing would guess. And scores that are chosen on one half of the people
    and counted on the other come out a little below 1/2 where nothing is to be told: what one half has by chance, the
    other lacks. Without this the upper end would call a release safer than guessing.
    """
    up = max(0.5 - middle, 0.0)
    return middle + up, low + up, min(high + up, 1.0)


def _cross_chosen(scores: Float64s, inside: Bools, random: Randomness) -> Float64s:
    """float64[people]: each person's score, chosen on the other half of the people; scores: float64[kinds, people].

    Two halves may choose different scores, so each is measured in standard deviations of the people outside, as the
    choosing half knows them. Both halves have the same share of people inside: else such a shift would tell.
    """
    half = np.zeros(len(inside), dtype=np.bool_)
    for part in (np.flatnonzero(inside), np.flatnonzero(~inside)):
        half[part[random.permutation(len(part))[: len(part) // 2]]] = True
    out = np.zeros(len(inside))
    for chooses in (half, ~half):
        areas = [area(s[chooses & inside], s[chooses & ~inside]) for s in scores]
        best = scores[int(np.argmax(areas))]
        outside = best[chooses & ~inside]
        out[~chooses] = (best[~chooses] - outside.mean()) / (outside.std() or 1.0)
    return out


def _cosines(similarity: Similarity, known: QueryLog, people: Codes) -> dict[str, Float64s]:
    """Return the highest cosine of each person with a published log, and the sum over all, in each space and over all.

    Each: float64[people].
    """
    names = [space.name for space in similarity.spaces]
    most, total = np.zeros((2, len(names) + 1, len(people)))  # in each space, then over all
    ids = len(similarity.log_of)
    step = max(COSINES_AT_ONCE // max(ids * len(names), 1), 1)
    for first in range(0, len(people) if ids else 0, step):
        part = slice(first, first + step)
        cosines = similarity.cosines(known, people[part])  # float64[spaces, people, published ids]
        most[:-1, part], most[-1, part] = cosines.max(axis=2), cosines.sum(axis=0).max(axis=1)
        total[:-1, part], total[-1, part] = cosines.sum(axis=2), cosines.sum(axis=(0, 2))
    names.append("all spaces")
    out = {f"the highest cosine, {name}": s for name, s in zip(names, most, strict=True)}
    return out | {f"the sum of cosines, {name}": s for name, s in zip(names, total, strict=True)}


def _texts(known: QueryLog, release: Release, askers: Askers, people: Codes) -> dict[str, Float64s]:
    """Return the share of the known queries that is published, plain and weighted by rarity, and the rarest of them.

    Each: float64[people]. A query is published where a text is it, is held by it or meant by it.
    """
    weight, published = release.row_weights(), release.log
    asked = published.query != NO_CODE
    if release.has_users:  # the ids that have a text
        held = CountedRows.of(published.user[asked], published.query[asked], len(published.users))
        spread = np.bincount(held.values, minlength=len(published.queries)).astype(np.float64)
        whole = float(len(published.users))
    else:
        counted = np.bincount(published.query[asked], weights=weight[asked], minlength=len(published.queries))
        spread = counted.astype(np.float64)
        whole = float(weight.sum())
    rarity = np.log1p(whole / np.maximum(spread, 1.0))  # float64[texts]
    of_query = np.zeros(len(known.queries))  # float64[queries], 0 = not published
    np.maximum.at(of_query, askers.queries.values, rarity[askers.queries.owner])
    queries = CountedRows.of(known.user, known.query, len(known.users)).take(people)
    value, rows = of_query[queries.values], queries.uncounted
    number = np.maximum(queries.lengths, 1)
    rarest = np.zeros(len(people))
    np.maximum.at(rarest, queries.owner, value)
    return {
        "known queries published": rows.sums((value > 0).astype(np.float64)) / number,
        "known queries published, by rarity": rows.sums(value) / number,
        "the rarest known query published": rarest,
    }
