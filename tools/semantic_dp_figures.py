"""Make the table and the plot of docs/methods/semantic-dp.md: the paper's settings on a generated log.

    python tools/semantic_dp_figures.py docs/methods

Sánchez et al. (2018), section 4, with 1,000 users of 100 queries each over the four topics, ε from 0.1 to 10, the mean
of 3 runs. Every setting is run twice: with ε for a user (each query has ε / 100), and with ε for each query (a user has
100 ε). Weights are those of equation 3, not calibrated. Takes about 5 minutes on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

import querycloak as qc
from querycloak.knowledge.topics import read_topics
from querycloak.measures.profile_divergence import divergence_by_user, topic_of_concept
from querycloak.measures.unchanged import share_in_common
from querycloak.methods.dp._semantic_dp_mechanism import Criterion, Mechanism
from querycloak.methods.dp.histogram_dp import HistogramDp, noisy_histograms
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

USERS, QUERIES, RUNS = 1000, 100, 3
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
EXPONENTIAL: tuple[Criterion, ...] = ("sqc2", "sqc1", "nsqc")
AXES = {"user": (*EXPONENTIAL, "hbdp"), "query": (*EXPONENTIAL, "hbdp", "hbdp-equal")}
"""Methods by what ε is for; hbdp-equal has the budget that the others spend on a user, hbdp has ε for a user."""
COLOURS = {"sqc2": "#1b6ca8", "sqc1": "#3a9d5d", "nsqc": "#c98a1b", "hbdp": "#a8323e", "hbdp-equal": "#8a6fb0"}
SETTINGS = ("A", "B", "C", "D=P")

Found = dict[tuple[str, str, str, float], list[tuple[float, float, float]]]
"""(axis, setting, method, ε) → per run: loss by topics alone, loss with others as a topic, share unchanged"""

Int32s = npt.NDArray[np.int32]


class Setting(NamedTuple):
    """One setting of the paper: where replacements come from, and what profiles are made of."""

    name: str
    domains: tuple[int, ...]
    profile: tuple[int, ...]


def queries_over_topics(taxonomy: Taxonomy, topics: tuple[int, ...], seed: int) -> tuple[Int32s, Int32s]:
    """Generate users whose mapped units lie in the topics: user and concept, the first 100 units of each user."""
    made = qc.generate(
        users=USERS, queries=2 * USERS * QUERIES, topics=",".join(taxonomy.label(t) for t in topics),
        spread=0.0, personal=0.0, clicks=False, seed=seed,
    )  # fmt: skip
    mapped = qc.map_log(made.log, taxonomy).known()
    kept = topic_of_concept(taxonomy, topics)[mapped.concept] >= 0
    user, concept = mapped.user[kept], mapped.concept[kept]
    order = np.argsort(user, kind="stable")
    user, concept = user[order], concept[order]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    return user[place < QUERIES], concept[place < QUERIES]


def loss_of_draws(
    taxonomy: Taxonomy, setting: Setting, user: Int32s, before: Int32s, after: Int32s, *, others: bool
) -> float:
    """Return equation 11 over drawn concepts. `others`: what lies in no topic counts as one further topic."""
    topic = topic_of_concept(taxonomy, setting.profile)
    topic = np.where(topic < 0, len(taxonomy), topic).astype(np.int32) if others else topic
    ones = np.ones(len(user))
    return float(np.nanmean(divergence_by_user((user, topic[before], ones), (user, topic[after], ones), USERS)))


def exponential(
    taxonomy: Taxonomy, setting: Setting, criterion: Criterion, user: Int32s, concept: Int32s, each: float, run: int
) -> tuple[float, float, float]:
    """Draw with ε = `each` for a query; give both losses, and the share of concepts unchanged."""
    mechanism = Mechanism.over(
        taxonomy, setting.domains, criterion=criterion, profile=setting.profile, as_in_paper=True
    )
    inside = mechanism.covers(concept)
    user, concept = user[inside], concept[inside]
    drawn = mechanism.draw(concept, np.full(len(user), each), Randomness(run).child(f"{setting.name} {each}"))
    return (
        loss_of_draws(taxonomy, setting, user, concept, drawn, others=False),
        loss_of_draws(taxonomy, setting, user, concept, drawn, others=True),
        share_in_common((user, concept), (user, drawn)),
    )


def histogram(
    taxonomy: Taxonomy, settings: list[Setting], user: Int32s, concept: Int32s, epsilon: float, run: int
) -> list[tuple[float, float]]:
    """Return both losses of HBDP for settings that share their domains, with the paper's sensitivity."""
    bins = np.concatenate([np.arange(d, d + taxonomy.size[d], dtype=np.int32) for d in settings[0].domains])
    place = np.full(len(taxonomy), -1, dtype=np.int32)
    place[bins] = np.arange(len(bins), dtype=np.int32)
    inside = place[concept] >= 0
    user, concept = user[inside], concept[inside]
    made = HistogramDp(epsilon=epsilon, per_user_queries=QUERIES, sensitivity="paper")
    topics = [topic_of_concept(taxonomy, s.profile) for s in settings]
    names = [[*s.profile, len(taxonomy)] for s in settings]
    sums = [np.zeros((USERS, len(n))) for n in names]
    column = [
        np.searchsorted(n, np.where(t < 0, len(taxonomy), t)).astype(np.int64)
        for n, t in zip(names, topics, strict=True)
    ]
    random = Randomness(1000 * run + int(10 * epsilon))
    everyone = np.arange(USERS, dtype=np.int32)
    names_of = [str(i) for i in range(USERS)]
    noisy = noisy_histograms(everyone, user, place[concept], len(bins), made, made.epsilon, random, names_of)
    for who, where, count in noisy:
        for i, col in enumerate(column):
            cell = who.astype(np.int64) * sums[i].shape[1] + col[bins[where]]
            sums[i] += np.bincount(cell, weights=count, minlength=sums[i].size).reshape(sums[i].shape)
    return [_losses(n, total, t, user, concept) for n, total, t in zip(names, sums, topics, strict=True)]


def _losses(
    names: list[int], total: npt.NDArray[np.float64], topic: Int32s, user: Int32s, concept: Int32s
) -> tuple[float, float]:
    out = []
    for others in (False, True):
        of = np.where(topic < 0, names[-1] if others else -1, topic).astype(np.int32)
        shown = np.array(names if others else [*names[:-1], -1], dtype=np.int32)
        after = (np.repeat(np.arange(USERS, dtype=np.int32), len(names)), np.tile(shown, USERS), total.ravel())
        each = divergence_by_user((user, of[concept], np.ones(len(user))), after, USERS)
        out.append(float(np.nanmean(each)))
    return out[0], out[1]


def run_all() -> Found:
    """Run every setting, method and ε."""
    taxonomy = qc.load_taxonomy()
    topics = read_topics("paper", taxonomy)
    user, concept = queries_over_topics(taxonomy, topics.main, seed=1)
    one = (topics.common(taxonomy),)
    roots = ((topics.main, topics.fine), (one, topics.fine), (one, topics.main), (topics.fine, topics.fine))
    settings = [Setting(name, *r) for name, r in zip(SETTINGS, roots, strict=True)]
    found: Found = {}
    for run in range(RUNS):
        for e in EPSILONS:
            for s in settings:
                for c in EXPONENTIAL:
                    for axis, each in (("user", e / QUERIES), ("query", e)):
                        one_run = exponential(taxonomy, s, c, user, concept, each, run)
                        found.setdefault((axis, s.name, c, e), []).append(one_run)
            for group in ([settings[0]], settings[1:3], [settings[3]]):
                for name, budget in (("hbdp", e), ("hbdp-equal", e * QUERIES)):
                    losses = histogram(taxonomy, group, user, concept, budget, run)
                    for s, both in zip(group, losses, strict=True):
                        found.setdefault(("query", s.name, name, e), []).append((*both, 0.0))
        print(f"run {run + 1} of {RUNS}", file=sys.stderr)
    found |= {("user", s, m, e): runs for (_, s, m, e), runs in found.items() if m == "hbdp"}
    return found


def table(found: Found, axis: str, which: int, methods: tuple[str, ...]) -> str:
    """Return a Markdown table: a row per setting and method, a column per ε."""
    lines = ["| setting | method | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |", "|---" * 8 + "|"]
    for name in SETTINGS:
        for m in methods:
            cells = [f"{np.mean([run[which] for run in found[axis, name, m, e]]):.4f}" for e in EPSILONS]
            lines.append(f"| {name} | {m} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(found: Found) -> str:
    """Return an SVG with one panel per setting: loss over the ε of a query, on a logarithmic axis."""
    width, height, left, top, gap = 250, 190, 50, 40, 40
    box = f"0 0 {3 * (width + gap) + left + 60} {height + 100}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, name in enumerate(("A", "B", "C")):
        x0 = left + i * (width + gap)
        parts.append(f'<text x="{x0 + width / 2}" y="{top - 14}" text-anchor="middle">Setting {name}</text>')
        for y in (0, 0.25, 0.5, 0.75, 1):
            at = top + height * (1 - y)
            parts.append(f'<path d="M{x0} {at}H{x0 + width}" stroke="#ddd"/>')
            parts.append(f'<text x="{x0 - 5}" y="{at + 4}" text-anchor="end">{y:g}</text>')
        for e in EPSILONS:
            x = x0 + width * (np.log10(e) + 1) / 2
            parts.append(f'<text x="{x:.1f}" y="{top + height + 16}" text-anchor="middle">{e:g}</text>')
        parts.append(f'<text x="{x0 + width / 2}" y="{top + height + 34}" text-anchor="middle">ε of a query</text>')
        for m in AXES["query"]:
            loss = {e: float(np.mean([run[0] for run in found["query", name, m, e]])) for e in EPSILONS}
            points = " ".join(
                f"{x0 + width * (np.log10(e) + 1) / 2:.1f},{top + height * (1 - loss[e]):.1f}" for e in EPSILONS
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[m]}" stroke-width="2"/>')
    for j, m in enumerate(AXES["query"]):
        x, y = left + j * 90, top + height + 54
        parts.append(f'<path d="M{x} {y}h22" stroke="{COLOURS[m]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 28}" y="{y + 4}">{m}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Print the tables and write the plot into the folder given."""
    found = run_all()
    for axis, shown in AXES.items():
        for which, title in enumerate(("loss, topics alone", "loss, others as a topic", "concepts unchanged")):
            methods = shown if which < 2 else EXPONENTIAL
            print(f"\nε of a {axis}: {title}\n\n{table(found, axis, which, methods)}")
    if len(sys.argv) > 1:
        (Path(sys.argv[1]) / "semantic-dp.svg").write_text(plot(found), encoding="utf-8")


if __name__ == "__main__":
    main()
