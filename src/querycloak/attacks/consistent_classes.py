"""Consistent classes: find the class of equal generalized logs that a person's concepts are consistent with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.attacks.interval import link_result
from querycloak.attacks.published_classes import PublishedClasses
from querycloak.attacks.targets import find_targets
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.halves import Halves
    from querycloak.attacks.result import AttackResult
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["consistent_classes"]


def consistent_classes(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    halves: Halves,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> list[AttackResult]:
    """Name each person's published id among the classes that the person's known concepts are consistent with.

    The attacker maps what he knows, the whole log of a person or half of it, to concepts himself, rules out the classes
    that the method cannot have put the person in, and names an id of the most specific one left. All ids of a class
    have the same rows, so he is right about the id in at most 1 / k of the cases, but about the class, and so about
    what is published of the person, in far more: the detail `class found`.
    """
    progress.start("attack: consistent classes", total=2)
    classes = PublishedClasses.find(log, release, concepts, taxonomy)
    results = []
    for variant, known, knows in (
        ("whole", log, "the whole log of a person"),
        ("half", halves.known, halves.which),
    ):
        targets = find_targets(known, release, random.child(variant), most=classes.affordable)
        rows = np.flatnonzero(known.event)
        bags = classes.known(targets.people, known.user[rows], known.query[rows])
        named = classes.name(bags, targets.owner.single, whole=variant == "whole")
        chance = named.chance
        details = targets.details
        if len(targets):
            details["class found"] = float((chance * classes.ids[classes.of[targets.owner.single]]).mean())
            details["mean classes without a fault"] = float(named.consistent.mean())
        results.append(
            link_result(f"consistent-classes, {variant}", chance, release, knows, targets.owner, details=details)
        )
        progress.advance()
    return results
