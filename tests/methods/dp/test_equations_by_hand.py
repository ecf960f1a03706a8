"""Equations 3, 5, 6, 7 and 12 of Sánchez et al. (2018) on a tree of five concepts, worked out by hand."""

from __future__ import annotations

import math

import pytest

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism

# sport over water sport (over diving, surfing) and tennis
TREE = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["sport"], ["water sport"], ["tennis"], ["diving"], ["surfing"]])
AT = {TREE.label(c): c for c in range(len(TREE))}
# S(diving) = {sport, water sport, diving}: ancestors shared and all, for each candidate
R = {"diving": 0 / 3, "surfing": 2 / 4, "water sport": 1 / 3, "tennis": 3 / 4, "sport": 2 / 3}
SIM = {name: 1 - math.log2(1 + r) for name, r in R.items()}  # eq. 5
LEAST = 1 - math.log2(1 + 3 / 4)  # of diving and tennis


def shares(criterion, epsilon, profile=()) -> dict[str, float]:
    mechanism = Mechanism.over(TREE, [0], criterion=criterion, profile=profile, as_in_paper=True)
    found = mechanism.probabilities(AT["diving"], epsilon)
    return {TREE.label(c): float(p) for c, p in found.items()}


def proportional(weight) -> dict[str, float]:
    return {name: w / sum(weight.values()) for name, w in weight.items()}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_equations_3_and_5(epsilon) -> None:
    """SQC1: exp(ε sim / 2 (max - min)), the similarity falling from 1 to that of the least similar pair."""
    expected = proportional({name: math.exp(epsilon * sim / (2 * (1 - LEAST))) for name, sim in SIM.items()})
    assert shares("sqc1", epsilon) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_equations_6_and_7(epsilon) -> None:
    """SQC2 with the topics water sport and tennis: outside the topic of diving the similarity is 0, and max is 1."""
    same = {"diving", "surfing", "water sport"}
    expected = proportional({
        name: math.exp(epsilon * (sim if name in same else 0.0) / 2) for name, sim in SIM.items()
    })  # fmt: skip
    found = shares("sqc2", epsilon, profile=[AT["water sport"], AT["tennis"]])
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_equation_12(epsilon) -> None:
    """NSQC: 1 for the concept itself, 0 for all others."""
    expected = proportional({name: math.exp(epsilon / 2) if name == "diving" else 1.0 for name in SIM})
    assert shares("nsqc", epsilon) == pytest.approx(expected, rel=1e-9)
