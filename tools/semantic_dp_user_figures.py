"""Print the figures of docs/methods/semantic-dp.md on the user-level shape: what one row says, and what many users say.

    python tools/semantic_dp_user_figures.py

Takes less than a minute on one core.

1. How far a row is from a blind draw: total variation between the row's distribution for a unit and the uniform one,
   the mean over units. It is exact for each unit; in domains of more than 200 concepts, 200 units are sampled.
2. What the rows of many users say together: shares of 25 topics among all units of a generated population, estimated
   from the release by undoing the mechanism on the sum, against the true shares (total variation, mean of 3 runs).
3. The true loss as a share of ε, as it was with the paper's rate and as it is.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

import querycloak as qc
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.knowledge.topics import read_topics
from querycloak.methods.dp._semantic_dp_loss_kernels import worst_losses
from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
from querycloak.randomness import Randomness

TOPICS, UNITS, RUNS = 25, 30, 3
EPSILON = 3.0


def star(leaves: int) -> Taxonomy:
    """Return a taxonomy of one level."""
    return Taxonomy.from_parents([-1] + [0] * leaves, [["all"], *([f"topic {i}"] for i in range(leaves))])


def variation(mechanism: Mechanism, epsilon: float, size: int, root: int) -> float:
    """Return the mean total variation of a row to the uniform distribution."""
    concept = np.arange(root, root + size)
    if size > 200:
        concept = np.random.default_rng(1).choice(concept, 200, replace=False)
    found = []
    for c in concept.tolist():
        piece, total = mechanism.cells_from(c, epsilon)
        count, weight = (piece[:, 1] + piece[:, 3]).astype(float), total[:, 0].astype(float)
        share = weight / (count * weight).sum()
        found.append(float((count * np.abs(share - 1 / size)).sum() / 2))
    return float(np.mean(found))


def estimated(mechanism: Mechanism, drawn: npt.NDArray[np.int32], each: float, size: int) -> npt.NDArray[np.float64]:
    """Return the shares of all concepts among the units: the mechanism undone on the sum, then made a distribution."""
    chances = np.array([[float(p) for _, p in sorted(mechanism.probabilities(c, each).items())] for c in range(size)])
    seen = np.bincount(drawn, minlength=size) / len(drawn)
    shares = np.clip(np.linalg.solve(chances.T, seen), 0, None)
    return np.asarray(shares / shares.sum())


def population(users: int, run: int) -> npt.NDArray[np.int32]:
    """int32[users, units]: topics 1 to 25 that users ask about, a few each, some of them liked by more people."""
    source = np.random.default_rng(run)
    liked = np.cumsum(source.dirichlet(1 / np.arange(1.0, TOPICS + 1), size=users), axis=1)
    point = source.random((users, UNITS))
    found = np.ones((users, UNITS), dtype=np.int32)
    for topic in range(TOPICS - 1):
        found += point > liked[:, [topic]]
    return found


def error_of_sums(unit: npt.NDArray[np.int32], rows: int, run: int) -> float:
    """Return the total variation of the estimated shares of topics to the true ones."""
    mechanism = Mechanism.over(star(TOPICS), [0], criterion="nsqc")
    choice = np.random.default_rng(run).integers(0, UNITS, (len(unit), rows))
    chosen = np.take_along_axis(unit, choice, axis=1).ravel()
    each = math.nextafter(EPSILON / rows, 0.0)
    drawn = mechanism.draw(chosen, np.full(len(chosen), each), Randomness(run))
    true = np.bincount(unit.ravel(), minlength=TOPICS + 1) / unit.size
    return float(np.abs(estimated(mechanism, drawn, each, TOPICS + 1) - true).sum() / 2)


def shares_of_epsilon(mechanism: Mechanism, epsilon: float) -> tuple[float, float]:
    """Return the true loss with the paper's rate and with the calibrated one, as shares of ε."""
    c = mechanism.calibration
    found = []
    for rate in (epsilon / 2, c.rate(epsilon, 0)):
        weights = np.exp(-rate * np.minimum(1.0, c.loss[None] / c.spread[:, None, None]))
        found.append(float(worst_losses(c.cells, weights, math.exp(-rate), c.size)[0]) / epsilon)
    return found[0], found[1]


def main() -> None:
    """Print the tables."""
    taxonomy = qc.load_taxonomy()
    topics = read_topics("paper", taxonomy)
    named = {"all": 0, "one": topics.common(taxonomy)}
    named |= {name: taxonomy.concept(name) for name in ("disease", "sport")}
    domains = [(name, taxonomy, root) for name, root in named.items()] + [("25 topics", star(TOPICS), 0)]
    print("| domain | concepts | rows | sqc1 | nsqc |\n" + "|---" * 5 + "|")
    for name, tree, root in domains:
        size = int(tree.size[root])
        for rows in (20, 5, 1):
            cells = []
            for criterion in ("sqc1", "nsqc"):
                mechanism = Mechanism.over(tree, [root], criterion=criterion)
                cells.append(f"{variation(mechanism, EPSILON / rows, size, root):.4f}")
            print(f"| {name} ({tree.label(root)}) | {size:,} | {rows} | " + " | ".join(cells) + " |", flush=True)
    print("\n| users | " + " | ".join(f"{r} rows" for r in (20, 5, 1)) + " |\n" + "|---" * 4 + "|")
    for users in (100, 1_000, 10_000, 50_000):
        people = [population(users, run) for run in range(RUNS)]
        off = [np.mean([error_of_sums(unit, r, run) for run, unit in enumerate(people)]) for r in (20, 5, 1)]
        print(f"| {users:,} | " + " | ".join(f"{each:.3f}" for each in off) + " |", flush=True)
    print("\n| domain | criterion | paper's rate | calibrated |\n|---|---|---|---|")
    for name, root in named.items():
        for criterion in ("sqc1", "sqc2"):
            mechanism = Mechanism.over(taxonomy, [root], criterion=criterion, profile=topics.fine)  # type: ignore[arg-type]
            before, after = shares_of_epsilon(mechanism, EPSILON / 20)
            print(f"| {name} | {criterion} | {before:.3f} | {after:.3f} |", flush=True)


if __name__ == "__main__":
    main()
