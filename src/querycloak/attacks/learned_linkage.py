"""Learned linkage: an attacker who knows the published logs of some people learns from them how to find the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.attacks.interval import link_result
from querycloak.attacks.logistic import Logistic
from querycloak.attacks.pair_features import PairFeatures
from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.shape import HALF_KNOWN, simulated
from querycloak.attacks.similarity import Similarity, chance_of_best
from querycloak.attacks.targets import Targets, find_targets, sampled
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.result import AttackResult
    from querycloak.attacks.trials import Trials
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["learned_linkage"]

Float64s = npt.NDArray[np.float64]

FEWEST: Final = 20
"""People without whom there is nothing to learn from."""
MOST_TO_LEARN_FROM: Final = 200
LEAST_TO_LEARN_FROM: Final = 40
"""People that are learned from even where that takes longer."""
PAIRS: Final = 20_000_000
"""Pairs of a person and a published log that are looked at, and half as many to learn from; where there are more, fewer
people are attacked."""
LEAST_ATTACKED: Final = 60
"""People who are attacked even where that takes longer."""
WRONG_LOGS: Final = 100
"""Wrong published logs of each person that is learned from: half of them the nearest, half at random."""


def learned_linkage(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    halves: Halves,
    trials: Trials,
    concepts: ConceptLog | None = None,
    release_concepts: ConceptLog | None = None,
    taxonomy: Taxonomy | None = None,
) -> AttackResult:
    """Learn from half of the people, by logistic regression, which similarities tell; find the other half by them.

    Features of a person and a published log: the cosines of `relink`, the rank of the log by each of them, the ratio of
    their row counts, the likelihood of their shapes, and the hours of day where times are published.
    """
    progress.start("attack: learned linkage")
    everybody = find_targets(halves.known, release, random)
    if len(everybody) < FEWEST:
        raise CannotAttackError(
            f"{FEWEST} published people of whom half is known, to learn from; here {len(everybody)}"
        )
    order = random.child("learn").permutation(len(everybody))
    half = len(order) // 2
    similarity = Similarity.of(log, release, concepts=concepts, release_concepts=release_concepts, taxonomy=taxonomy)
    affordable = PAIRS // max(similarity.distinct, 1)
    taught = min(max(affordable // 2, LEAST_TO_LEARN_FROM), MOST_TO_LEARN_FROM)
    teachers = _some(everybody, order[:half][:taught])
    attacked = _some(everybody, order[half:][: max(affordable, LEAST_ATTACKED)])
    seen, seen_user, _ = simulated(halves.known, HALF_KNOWN, trials)
    features = PairFeatures.of(halves.known, release, similarity, seen, seen_user)
    model = _learn(features, teachers, random.child("wrong logs"))
    chance = np.zeros(len(attacked))
    progress.start("attack: learned linkage, people", total=len(attacked))
    for part, x in features.blocks(attacked):
        chance[part] = chance_of_best(model.scores(x)[:, similarity.log_of], attacked.owner[part])
        progress.advance(len(x))
    knows = f"{halves.which}, and the published logs of other people, to learn from"
    details = {**everybody.details, "people learned from": float(len(teachers))}
    details |= sampled(half + len(attacked), everybody.there)
    return link_result("learned-linkage", chance, release, knows, attacked.owner, details=details)


def _learn(features: PairFeatures, teachers: Targets, random: Randomness) -> Logistic:
    """Fit the right log of each teacher against wrong ones."""
    samples: list[Float64s] = []
    labels: list[npt.NDArray[np.bool_]] = []
    log_of = features.similarity.log_of
    for part, x in features.blocks(teachers):
        spaces = len(features.similarity.spaces)
        nearness = x[:, :, :spaces].sum(axis=2)
        for i, ids in enumerate(teachers.owner[part].ids.to_lists()):
            right = np.unique(log_of[ids])
            near = np.argsort(-nearness[i], kind="stable")[: WRONG_LOGS // 2]
            drawn = random.integers(x.shape[1], WRONG_LOGS // 2)
            logs = np.unique(np.concatenate([near, drawn, right]))
            samples.append(x[i, logs])
            labels.append(np.isin(logs, right))
    return Logistic.fitted(np.concatenate(samples), np.concatenate(labels))


def _some(targets: Targets, which: npt.NDArray[np.int64]) -> Targets:
    index = np.sort(which)
    return replace(targets, people=targets.people[index], owner=targets.owner[index])
