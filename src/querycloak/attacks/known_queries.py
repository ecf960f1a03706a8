"""Known queries: the attacker knows m random queries of a user and looks for the published log that fits best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.attacks.interval import link_result
from querycloak.attacks.known import Features, text_features
from querycloak.attacks.matching import chance_of_match
from querycloak.attacks.published_classes import PublishedClasses
from querycloak.attacks.published_ids import PublishedIds, published_ids
from querycloak.attacks.targets import MOST_TARGETS, sample, sampled
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["known_queries"]

HOW_MANY = (1, 2, 5, 10)


def known_queries(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog | None = None,
    taxonomy: Taxonomy | None = None,
) -> list[AttackResult]:
    """Attack with 1, 2, 5 and 10 known queries, and with half of each user's log.

    Targets are the published users; of a large release, a random sample of them. The known queries are
    drawn without repetition from the user's query events; of a user with fewer, all are known. A published log is
    scored by how many known queries, and words of them, it has; rare ones weigh more. In a generalized release it is
    scored by how well its class agrees with the concepts of the known queries (`published_classes`). Among logs with
    equal scores the attacker guesses.
    """
    known: Features | PublishedClasses
    if release.holds_concepts:
        assert concepts is not None
        assert taxonomy is not None
        known = PublishedClasses.find(log, release, concepts, taxonomy)
    else:
        known = text_features(log, release, whole=True)
    owner = published_ids(log, release)
    results = []
    progress.start("attack: known queries", total=len(HOW_MANY) + 1)
    for m in (*HOW_MANY, None):
        chance, named = _attack(log, known, owner, m, random.child(f"m={m}"))
        knows = "half of a person's queries, at random" if m is None else f"{m} random queries of a person"
        name = f"known-queries, {'half' if m is None else m}"
        details = sampled(len(chance), int(owner.is_published.sum()))
        results.append(link_result(name, chance, release, knows, named, question="singling out", details=details))
        progress.advance()
    return results


def _attack(
    log: QueryLog, known: Features | PublishedClasses, owner: PublishedIds, m: int | None, random: Randomness
) -> tuple[npt.NDArray[np.float64], PublishedIds]:
    """Return float64[targets], the chance of finding each from m of its queries (None = half), and their right ids."""
    targeted = np.zeros(len(owner), dtype=np.bool_)
    most = known.affordable if isinstance(known, PublishedClasses) else MOST_TARGETS
    targeted[sample(np.flatnonzero(owner.is_published), random, most)] = True
    events = np.flatnonzero(log.event & targeted[log.user])
    shuffled = events[random.permutation(len(events))]
    by_user = shuffled[np.argsort(log.user[shuffled], kind="stable")]  # in random order within each user
    user = log.user[by_user]
    first = np.searchsorted(user, user)
    rank = np.arange(len(user)) - first
    limit = np.bincount(log.user[events], minlength=len(log.users))[user] / 2 if m is None else m
    taken = by_user[rank < np.maximum(limit, 1)]
    targets, target = np.unique(log.user[taken], return_inverse=True)
    if isinstance(known, PublishedClasses):
        bags = known.known(targets, log.user[taken], log.query[taken])
        return known.name(bags, owner[targets].single, whole=False).chance, owner[targets]
    rows = known.known(target.astype(np.int64), log.query[taken], len(targets))
    return chance_of_match(rows, known.published, owner[targets], known.size, cosine=False), owner[targets]
