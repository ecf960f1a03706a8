"""Figures of `synthetic-dp`: how near an invented log is to the real one, what attacks find, and what it is good for.

`python tools/synthetic_dp_figures.py [--users 100000] [--seed 2] [--epsilon 3] [--attacked 20000] [--plot FILE]`

Logs are generated (32 query events per user) and kept in `--logs`. Settings were tuned on seed 1; seed 2 is fresh.
Noise is OpenDP's with `--exact`, else seeded, of the same distribution. The clusters are compared with those that the
same rounds find without noise. Attacks run on a log of `--attacked` users, since some of them run the method again.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import querycloak as qc
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.topics import TOPIC_DEPTH
from querycloak.measures.top_queries import spearman
from querycloak.measures.topics import divergence
from querycloak.methods.dp import _synthetic_sums as sums
from querycloak.methods.dp._synthetic_domain import HOURS, topic_bins
from querycloak.methods.dp._synthetic_events import read_events
from querycloak.methods.dp._synthetic_statistics import find_statistics, plans, take_all
from querycloak.methods.dp._synthetic_texts import choose_vocabulary, longest_chosen
from querycloak.methods.dp.synthetic_dp import SyntheticDp
from querycloak.randomness import Randomness
from querycloak.releases.budget import Budget
from querycloak.tasks.original import as_release
from querycloak.tasks.suite import prepare, score_tasks
from querycloak.texts.compared import code_texts, compared
from querycloak.texts.word_runs import WordRuns

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog

DELTA = 1e-6
ROOT = Path(__file__).parents[1]


def log_of(users: int, seed: int, logs: Path) -> qc.QueryLog:
    """Read a generated log, made when it is first asked for."""
    path = logs / f"log{users}_{seed}.tsv"
    if not path.exists():
        qc.write_generated(qc.generate(users=users, queries=32 * users, seed=seed), path)
    return qc.read_log(path)


def hours(log: qc.QueryLog) -> np.ndarray:
    """float64[168]: the share of query events in each hour of the week."""
    assert log.time is not None
    when = log.time[log.event]
    return np.bincount((when - 4 * 86_400) // 3600 % HOURS, minlength=HOURS) / len(when)


def people(log: qc.QueryLog, shown: qc.QueryLog, first: int) -> tuple[float, int]:
    """Return the rank correlation of the first texts by people, and how many are published."""
    before = log.users_per_query()
    top = np.argsort(-before, kind="stable")[:first]
    after_of = dict(zip(shown.queries.to_list(), shown.users_per_query().tolist(), strict=True))
    after = np.array([after_of.get(text, 0) for text in log.queries.gather(top).to_list()])
    return spearman(before[top].astype(float), after.astype(float)), int((after > 0).sum())


def same_clusters(bench: Workbench, epsilon: float, seed: int) -> float:
    """Return the adjusted Rand index of the clusters with noise and without."""
    log, topics = bench.log, topic_bins(bench.taxonomy)
    events = read_events(log, bench.concepts, topics, np.ones(len(log.users), dtype=np.bool_))
    found = []
    for noise in (True, False):
        budget = Budget(epsilon, DELTA, reserved_delta=DELTA / 2)
        taken = take_all(plans(rounds=2, per_user=50, clicks=True), budget, times=True)
        without: AbstractContextManager[Any] = (
            nullcontext() if noise else patch.object(sums, "add_gaussian", lambda values, **_: values)
        )
        with without:
            made = find_statistics(events, topics, len(log.users), SyntheticDp().clusters, taken, Randomness(seed))
        found.append(made.cluster[np.unique(events.user)])
    return adjusted_rand(*found)


def adjusted_rand(a: np.ndarray, b: np.ndarray) -> float:
    """Return the index of Hubert and Arabie (1985)."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    both, rows, columns, all_pairs = (
        (x * (x - 1) / 2).sum() for x in (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    )
    expected = rows * columns / all_pairs
    return float((both - expected) / ((rows + columns) / 2 - expected))


def covered(bench: Workbench, epsilon: float, seed: int) -> tuple[int, float, int, float]:
    """Return chosen queries and the share of query events that they are; phrases, and the share that holds one."""
    log = bench.log
    budget = Budget(epsilon, DELTA, reserved_delta=DELTA / 2)
    texts = plans(rounds=2, per_user=50, clicks=True)
    found = choose_vocabulary(log, texts, take_all(texts, budget, times=True).texts, Randomness(seed))
    asked = log.query[log.event]
    whole = log.queries.is_in(found.text[: found.queries].implode()).to_numpy()
    form, first = code_texts(compared(log.queries))
    runs = WordRuns.of(compared(log.queries.gather(first)))
    words = runs.texts(np.arange(len(runs.words))).is_in(compared(found.text).implode()).to_numpy()
    holds = longest_chosen(runs, np.flatnonzero(words))[form] >= 0
    return found.queries, float(whole[asked].mean()), len(found.text) - found.queries, float(holds[asked].mean())


def own_topics(concepts: ConceptLog, taxonomy: Taxonomy) -> np.ndarray:
    """float64[concepts of the taxonomy]: share of each topic as the method has them: concepts at depth 4."""
    topic = taxonomy.ancestor_at_depth(TOPIC_DEPTH)[concepts.known().concept]
    return np.bincount(topic, minlength=len(taxonomy)) / max(len(topic), 1)


def near(bench: Workbench, release: qc.Release, epsilon: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Print how near a release is; return the shares of topics, before and after."""
    log, shown = bench.log, release.log
    before, after = (own_topics(c, bench.taxonomy) for c in (bench.concepts, bench.concepts_of(release)))
    print("| what | aim | reached |\n|---|---|---|")
    print(f"| divergence of the topics | <= 0.02 | {divergence(before, after):.4f} |")
    value, there = people(log, shown, 100)
    print(f"| rank correlation of the top 100 queries by people | >= 0.9 | {value:.3f} |")
    print(f"| of these present | >= 70 | {there} |")
    value, there = people(log, shown, 1000)
    print(f"| the same of the top 1,000 | | {value:.3f}, {there} present |")
    off = 0.5 * np.abs(hours(log) - hours(shown)).sum()
    print(f"| hour of the week, total variation | <= 1 % | {off:.2%} |")
    print(f"| clusters with noise and without, adjusted Rand | >= 0.75 | {same_clusters(bench, epsilon, seed):.3f} |")
    queries, whole, phrases, some = covered(bench, epsilon, seed)
    print(f"| query events that are a chosen query ({queries:,}) | | {whole:.1%} |")
    print(f"| query events that hold a chosen text, {phrases:,} phrases more | | {some:.1%} |")
    labels = shown.queries.str.ends_with("}").to_numpy()
    print(f"| invented events with a label in braces | | {labels[shown.query].mean():.1%} |")
    per_user = [len(x.query[x.event]) / len(x.users) for x in (log, shown)]
    print(
        f"| users; events per user | {len(log.users):,}; {per_user[0]:.1f} | {len(shown.users):,}; {per_user[1]:.1f} |"
    )
    clicks = [0.0 if x.url is None else float((x.url >= 0).mean()) for x in (log, shown)]
    print(f"| rows with a click | {clicks[0]:.1%} | {clicks[1]:.1%} |", flush=True)
    return before, after


def attacks(users: int, seed: int, epsilon: float, logs: Path) -> None:
    """Print what attacks find."""
    bench = Workbench(log_of(users, seed, logs))
    release = bench.anonymize("synthetic-dp", seed=seed, epsilon=epsilon, delta=DELTA)
    begun = time.monotonic()
    found = bench.try_attacks(release, ["shape", "relink", "claim", "membership"], seed=seed)
    print(f"\n{users:,} users, epsilon {epsilon:g}: attacks in {time.monotonic() - begun:.0f} s")
    print("| attack | rate | baseline | lift | at most |\n|---|---|---|---|---|")
    for r in found.results:
        print(f"| {r.attack} | {r.rate:.2%} | {r.baseline.rate:.2%} | {r.lift:.2%} | {r.lift_high:.2%} |")
    for name, why in (found.nothing | found.not_run).items():
        print(f"| {name} | {why} | | | |")


def tasks(bench: Workbench, release: qc.Release, epsilon: float, seed: int) -> None:
    """Print what the release is good for, next to frequent-queries and the log itself."""
    data = prepare(bench.log, bench.concepts, bench.taxonomy, Randomness(seed).child("tasks"))
    both = {"items": "both", "clicks": True, "epsilon": epsilon, "delta": DELTA}
    rows: dict[str, Any] = {
        "the log itself": as_release(bench.log),
        "synthetic-dp": release,
        "frequent-queries": bench.anonymize("frequent-queries", seed=seed, epsilon=epsilon, delta=DELTA),
        "frequent-queries --items both": bench.anonymize("frequent-queries", seed=seed, **both),
    }
    scores = {name: score_tasks(data, shown, bench.concepts_of(shown)) for name, shown in rows.items()}
    names = [score.task for score in scores["the log itself"]]
    print(f"\n| | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for name, found in scores.items():
        shown = [f"{s.value:.3f}" if s.possible else "-" for s in found]
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


def plot(log: qc.QueryLog, shown: qc.QueryLog, topics: list[tuple[str, float, float]], path: Path) -> None:
    """Draw hours of the week and the largest topics, both logs next to each other."""
    import vl_convert

    when = [
        {"hour": h, "share": float(s), "log": name}
        for name, one in (("real", log), ("invented", shown))
        for h, s in enumerate(hours(one))
    ]
    what = [
        {"topic": label, "share": s, "log": name}
        for label, a, b in topics
        for name, s in (("real", a), ("invented", b))
    ]
    colour = {
        "field": "log",
        "type": "nominal",
        "title": None,
        "sort": ["real", "invented"],
        "scale": {"range": ["#333", "#d62"]},
    }
    share = {"field": "share", "type": "quantitative", "axis": {"format": ".1%"}}
    days = {"values": list(range(0, HOURS, 24)), "labelExpr": "['Mo','Tu','We','Th','Fr','Sa','Su'][datum.value/24]"}
    chart = {
        "background": "white",
        "hconcat": [
            {
                "data": {"values": when},
                "width": 420,
                "height": 260,
                "mark": {"type": "line", "strokeWidth": 1},
                "encoding": {
                    "x": {"field": "hour", "type": "quantitative", "title": "hour of the week", "axis": days},
                    "y": {**share, "title": "share of query events"},
                    "color": colour,
                },
            },
            {
                "data": {"values": what},
                "width": 260,
                "height": 260,
                "mark": "bar",
                "encoding": {
                    "y": {"field": "topic", "type": "nominal", "title": None, "sort": [t[0] for t in topics]},
                    "x": {**share, "title": "share of topics"},
                    "yOffset": {"field": "log", "sort": ["real", "invented"]},
                    "color": colour,
                },
            },
        ],
    }
    path.write_text(vl_convert.vegalite_to_svg(json.dumps(chart)), encoding="utf-8")


def largest(bench: Workbench, before: np.ndarray, after: np.ndarray, n: int = 12) -> list[tuple[str, float, float]]:
    """Return label, share before and share after of the largest topics."""
    top = np.argsort(-before)[:n]
    return [
        (f"{bench.taxonomy.label(t)} ({i + 1})", float(before[t]), float(after[t])) for i, t in enumerate(top.tolist())
    ]


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--attacked", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--logs", type=Path, default=Path("synthetic-logs"))
    parser.add_argument("--plot", type=Path, default=None)
    parser.add_argument("--only", choices=["near", "tasks", "attacks"], nargs="*", default=["near", "tasks", "attacks"])
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    if "near" in options.only or "tasks" in options.only:
        log = log_of(options.users, options.seed, options.logs)
        bench = Workbench(log)
        begun = time.monotonic()
        bench.concepts  # noqa: B018 - mapping is made when first asked for
        mapped, used = time.monotonic(), time.process_time()
        made = None if options.exact else options.seed
        release = bench.anonymize("synthetic-dp", seed=made, epsilon=options.epsilon, delta=DELTA)
        done, used = time.monotonic(), time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        size = f"{options.users:,} users, {int(log.event.sum()):,} query events"
        print(f"{size}, seed {options.seed}, epsilon {options.epsilon:g}")
        took = f"mapping {mapped - begun:.0f} s, method {done - mapped:.0f} s ({used:.0f} s of one core)"
        print(f"{took}, peak {peak:.1f} GB\n", flush=True)
    if "near" in options.only:
        before, after = near(bench, release, options.epsilon, options.seed)
        if options.plot is not None:
            plot(log, release.log, largest(bench, before, after), options.plot)
    if "tasks" in options.only:
        tasks(bench, release, options.epsilon, options.seed)
    if "attacks" in options.only:
        attacks(options.attacked, options.seed, options.epsilon, options.logs)


if __name__ == "__main__":
    main()
