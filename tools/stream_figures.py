"""Prints the tables of docs/methods/self-adjusting.md: `python tools/stream_figures.py [TABLE ...] [records]`.

A generated log over a directory-like tree of depth 13 goes through the stream methods, and each release is attacked and
measured: `grid` for every k and depth; `hold` for every depth at k = 3, with records held back or not, over a tree so
small that a category has as many records as one of AOL's; `edges` is the distance in edges per query, next to both of
its denominators, and the delay, at k = 3 over both trees, without attacks; `trees` is for a log without categories,
whose queries are mapped to WordNet or to the topics: how they are shared between top-level categories, and what leaves;
`attackers` is every method with the paper's settings and with the defaults, under every attacker, on a log of 2,000
users who repeat themselves, and `again` the same on logs of other seeds;
`busiest` is whom timing finds there; `defences` is `self-adjusting` with epochs, other ids, coarser times, records held
back and a longest delay, and `epochs` whom timing finds in epochs; `nearest` is that method against `self-adjusting` at
equal mean delay, and `inside` both under an attacker who sees what waits.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.attacks.stream_pool import inside_guess
from querycloak.attacks.stream_timing import stream_timing
from querycloak.evaluation.workbench import Workbench
from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.generator.tree import generate_directory_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.measures.against_bound import against_bound
from querycloak.measures.category_emd import PAPER_LARGEST
from querycloak.measures.stream_flow import LOWER
from querycloak.methods.stream.engine import make_engine
from querycloak.methods.stream.engine_state import to_state
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog

KS = (3, 10, 30, 100, 200)
DEPTHS = (1, 3, 5, 7, 9, 11)
HOLDS = (0, 100, 300, 1000)
PER_CATEGORY = 140
"""Records of a category: 27.2 million in 194,505, as the paper counts."""
DELAYS = [name for name in LOWER if "delay" in name]
HEAD = "left | simple | full | activity | EMD share | delay | bag | waiting |"


def directory_log(records: int, categories: int = 20_000, seed: int = 1, users: int | None = None) -> QueryLog:
    """Generate a log with categories in a directory-like tree, in the order of time."""
    random = Randomness(seed=seed)
    tree = generate_directory_tree(load_wordnet(), random.child("tree"), depth=13, categories=categories)
    settings = Generate(users=users or records // 44, queries=records, clicks=False, categories=True, order="time")
    log = generate(settings, tree, random.child("log")).log
    depth = [path.count("/") for path in (log.categories.to_list() if log.categories is not None else [])]
    print(f"{log!r}, {len(depth):,} distinct categories, depth to {max(depth)}")
    return log


def figures(bench: Workbench, method: str, **settings: int) -> tuple[str, list[float]]:
    """Make, attack and measure one release; give the cells of its line, and the rates of the attackers."""
    release = bench.anonymize(method, seed=1, as_in_paper=True, **settings)
    rates = [a.rate for a in bench.attack(release, ["stream-linkage"], seed=2)]
    scores = {s.measure: s.value for s in bench.measure(release, ["category-emd", "stream-flow"])}
    simple, full, activity = (f"{rate:.2%}" for rate in rates)
    line = (
        f"{scores['records that left']:.2%} | {simple} | {full} | {activity} "
        f"| {scores['category EMD, share of the largest']:.2%} | {scores['mean delay in records']:.0f} "
        f"| {scores['mean size of query bags']:.1f} | {scores['users waiting at the end']:.0f} |"
    )
    return line, rates


def grid(records: int) -> None:
    """Print a line per method, k and depth, then the rates against 1/k."""
    bench = Workbench(directory_log(records))
    print(f"| method | k | depth | {HEAD}\n" + "|---" * 11 + "|", flush=True)
    best: dict[int, list[float]] = {d: [] for d in DEPTHS}
    for method in ("self-adjusting", "fixed-depth"):
        for k in KS if method == "self-adjusting" else KS[:1]:
            for d in DEPTHS:
                line, rates = figures(bench, method, k=k, depth=d)
                if method == "self-adjusting":
                    best[d].append(max(rates[:2]))
                print(f"| {method} | {k} | {d} | {line}", flush=True)
    print("\n| depth | D | p |\n|---|---|---|")
    for d in DEPTHS:
        statistic, p = against_bound(best[d], KS)
        print(f"| {d} | {statistic:.2f} | {p:.4f} |")


def hold(records: int) -> None:
    """Print a line per number of records held back, and depth; and fixed depth next to them."""
    bench = Workbench(directory_log(records, records // PER_CATEGORY))
    print(f"| hold | depth | {HEAD}\n" + "|---" * 10 + "|", flush=True)
    for n in HOLDS:
        for d in DEPTHS:
            print(f"| {n} | {d} | {figures(bench, 'self-adjusting', k=3, depth=d, hold=n)[0]}", flush=True)
    for d in DEPTHS:
        print(f"| fixed depth | {d} | {figures(bench, 'fixed-depth', k=3, depth=d)[0]}", flush=True)


def edges(records: int) -> None:
    """Print the distance in edges per query and as a share of both denominators, and the delay."""
    names = "categories | method | depth | edges/query | of Σ depth + Σ depth | of 18.2"
    print(f"| {names} | mean | p50 | p90 | p99 | longest |")
    print("|---" * 11 + "|", flush=True)
    for categories in (20_000, records // PER_CATEGORY):
        log = directory_log(records, categories)
        assert log.categories is not None
        bench = Workbench(log)
        for method in ("self-adjusting", "fixed-depth"):
            for d in DEPTHS if method == "self-adjusting" else DEPTHS[:1] + DEPTHS[-2:]:
                release = bench.anonymize(method, seed=1, as_in_paper=True, k=3, depth=d)
                scores = {s.measure: s for s in bench.measure(release, ["category-emd", "stream-flow"])}
                moved = scores["category EMD, edges per query"]
                largest = moved.details["largest possible"]
                delay = [scores[name].value for name in DELAYS]
                print(
                    f"| {len(log.categories):,} | {method} | {d} | {moved.value:.2f} of {largest:.2f} "
                    f"| {moved.value / largest:.1%} | {moved.value / PAPER_LARGEST:.1%} | "
                    + " | ".join(f"{value:,.0f}" for value in delay)
                    + " |",
                    flush=True,
                )


def trees(records: int) -> None:
    """Print how a log without categories is shared out by each taxonomy, and what self-adjusting makes of it."""
    settings = Generate(users=records // 44, queries=records, clicks=False, order="time")
    log = generate(settings, load_wordnet(), Randomness(seed=1)).log
    benches = {name: Workbench(log, name) for name in ("wordnet", "topics")}
    print("| taxonomy | top-level sets | with 1 % or more | as many as if alike | largest | without a category |")
    print("|---" * 6 + "|", flush=True)
    for name, bench in benches.items():
        found = bench.paths("/")
        top, has = [path[:1] for path in found.paths], found.classified()
        counts = Counter(top[c] for c in found.code[has].tolist())
        shares = np.array(list(counts.values())) / has.sum()
        alike = 1 / (shares**2).sum()
        wide = (shares >= 0.01).sum()
        print(f"| {name} | {len(shares)} | {wide} | {alike:.1f} | {shares.max():.1%} | {1 - has.mean():.1%} |")
    emd = " | ".join(f"EMD in {name}" for name in benches)
    print(f"\n| taxonomy | texts | left | mean delay | p50 | p99 | {emd} | simple | full | activity |")
    print("|---" * 11 + "|", flush=True)
    for name, bench in benches.items():
        for as_in_paper in (False, True):
            release = bench.anonymize("self-adjusting", seed=1, as_in_paper=as_in_paper)
            flow = {s.measure: s.value for s in bench.measure(release, ["stream-flow"])}
            moved = [
                {s.measure: s.value for s in other.measure(release, ["category-emd"])} for other in benches.values()
            ]
            rates = [attack.rate for attack in bench.attack(release, ["stream-linkage"], seed=2)]
            cells = [
                name,
                "as they are" if as_in_paper else "what ten share",
                f"{flow['records that left']:.1%}",
                *(f"{flow[d]:,.0f}" for d in (DELAYS[0], DELAYS[1], DELAYS[3])),
                *(f"{m['category EMD, share of the largest']:.1%}" for m in moved),
                *(f"{rate:.2%}" for rate in rates),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


ATTACKED = "k | 1/k | timing | of records | pool | simple | full | activity | EMD share | left"
WAITED = "mean delay | p50 | p90 | p99 | longest"
COLUMNS = 15
METHODS = ("self-adjusting", "nearest", "fixed-depth", "flat")
ANONYMITY = (3, 10, 30)
NO_LIMIT = 1_000_000


@cache
def repeating(records: int, seed: int) -> Workbench:
    """Return a log of 2,000 users who repeat themselves."""
    return Workbench(directory_log(records, seed=seed, users=2000))


def rate(attack: AttackResult) -> str:
    """Return a rate with the upper end of its interval, in bold where that is above 1/k."""
    text = f"{attack.rate:.1%} ≤ {attack.high:.1%}"
    return f"**{text}**" if attack.high > attack.details["1/k"] else text


def attacked(bench: Workbench, method: str, k: int, **settings: Any) -> str:
    """Make a release, attack and measure it; return its cells."""
    release = bench.anonymize(method, seed=1, k=k, **settings)
    found = {
        a.attack.rpartition(" ")[2]: a
        for a in bench.attack(release, ["stream-timing", "stream-pool", "stream-linkage"], seed=2)
    }
    moved = {s.measure: s.value for s in bench.measure(release, ["category-emd"])}
    flow = release.statement.figures
    cells = [
        str(k),
        f"{1 / k:.1%}",
        rate(found["stream-timing"]),
        f"{found['stream-timing'].details['records with a text published often']:.0%}",
        *(rate(found[name]) for name in ("stream-pool", "simple", "full", "activity")),
        f"{moved['category EMD, share of the largest']:.1%}",
        f"{len(release.log) / len(bench.log):.1%}",
        *(f"{flow[n]:,.0f}" for n in ("mean delay", "delay p50", "delay p90", "delay p99", "longest delay")),
    ]
    return " | ".join(cells)


def attackers(records: int, seed: int = 1, methods: tuple[str, ...] = METHODS) -> None:
    """Print a line per method, settings and k: what the attackers get right, and what it costs."""
    bench = repeating(records, seed)
    most = np.bincount(bench.log.user).max() / len(bench.log)
    print(f"seed {seed}: the most active user asks {most:.1%} of all")
    print(f"| method | settings | {ATTACKED} | {WAITED} |\n" + "|---" * (COLUMNS + 2) + "|", flush=True)
    for method in methods:
        for as_in_paper in (True, False):
            for k in ANONYMITY:
                said = "`--as-in-paper`" if as_in_paper else "default"
                print(f"| {method} | {said} | {attacked(bench, method, k, as_in_paper=as_in_paper)} |", flush=True)


def again(records: int) -> None:
    """Print the same for logs of other seeds, on which no constant of an attacker was chosen."""
    for seed in (2, 3):
        attackers(records, seed, METHODS[:2])


def busiest(records: int) -> None:
    """Print how often timing is right about the user who asks most, and about all others, with the defaults."""
    print(
        "| seed | its share of all records | k | 1/k | timing | this user | all others |\n" + "|---" * 7 + "|",
        flush=True,
    )
    for seed in (1, 2, 3):
        bench = repeating(records, seed)
        share = np.bincount(bench.log.user).max() / len(bench.log)
        for k in ANONYMITY:
            found = stream_timing(
                bench.log, bench.anonymize("self-adjusting", seed=1, k=k, depth=5), Randomness(seed=1)
            )
            rates = (found.rate, found.details["the user with the most records"], found.details["all other users"])
            cells = [f"{share:.1%}", str(k), *(f"{rate:.1%}" for rate in (1 / k, *rates))]
            print(f"| {seed} | {' | '.join(cells)} |", flush=True)


DEFENCES: dict[str, dict[str, Any]] = {
    "none": {},
    "--epoch 1000": {"epoch": "1000"},
    "--epoch 10000": {"epoch": "10000"},
    "--epoch 1000 --ids epoch": {"epoch": "1000", "ids": "epoch"},
    "--ids day": {"ids": "day"},
    "--time-grain day": {"time_grain": "day"},
    "--hold 300": {"hold": 300},
    "--hold 1000": {"hold": 1000},
    "--max-delay 10000": {"max_delay": 10_000},
    "--max-delay 3000": {"max_delay": 3_000},
}


def defences(records: int) -> None:
    """Print a line per defence and k, with the texts of the paper, which leave the attackers most, and by default."""
    bench = repeating(records, 1)
    print(f"| texts | defence | {ATTACKED} | {WAITED} |\n" + "|---" * (COLUMNS + 2) + "|", flush=True)
    for as_in_paper in (True, False):
        for name, settings in DEFENCES.items():
            for k in ANONYMITY:
                texts = "as they are" if as_in_paper else "what k share"
                line = attacked(bench, "self-adjusting", k, as_in_paper=as_in_paper, **settings)
                print(f"| {texts} | `{name}` | {line} |", flush=True)


def epochs(records: int) -> None:
    """Print what timing gets right in epochs with shared texts, over all and over all but the busiest user."""
    print("| seed | defence | k | 1/k | timing | this user | all others |\n" + "|---" * 7 + "|", flush=True)
    for seed in (1, 2):
        bench = repeating(records, seed)
        for name, settings in DEFENCES.items():
            if "epoch" not in settings:
                continue
            for k in ANONYMITY:
                found = stream_timing(
                    bench.log, bench.anonymize("self-adjusting", seed=1, k=k, **settings), Randomness(seed=2)
                )
                rates = (found.details["the user with the most records"], found.details["all other users"])
                cells = [str(k), f"{1 / k:.1%}", rate(found), *(f"{each:.1%}" for each in rates)]
                print(f"| {seed} | `{name}` | {' | '.join(cells)} |", flush=True)


def coded(bench: Workbench, engine: Any) -> tuple[Any, Any]:
    """Return the users and nodes of a log, as codes of an engine."""
    return bench.log.user, bench.paths("/").nodes(engine.tree)


def mean_delay(bench: Workbench, method: str, k: int, **settings: Any) -> float:
    """Return the mean delay of a method, whatever the texts."""
    engine = make_engine(method, k, 5, random=Randomness(seed=1), **settings)
    return float(engine.push_codes(*coded(bench, engine)).delay.mean())


def as_long(bench: Workbench, method: str, k: int, name: str, wanted: float, **settings: int) -> int:
    """Return the smallest `hold` or `pool` whose mean delay is no less than that wanted; the delay grows with it."""
    low, high = -1, 20_000
    while high - low > 1:
        middle = (low + high) // 2
        if mean_delay(bench, method, k, **{name: middle}, **settings) < wanted:
            low = middle
        else:
            high = middle
    return high


def nearest(records: int) -> None:
    """Print both methods at equal mean delay: with a longest delay of 5,000 records, and without one."""
    bench = repeating(records, 1)
    print(f"| method | {ATTACKED} | {WAITED} |\n" + "|---" * (COLUMNS + 1) + "|", flush=True)
    for longest in (5_000, NO_LIMIT):
        for k in ANONYMITY:
            limit = {"max_delay": longest}
            pool = 300
            if longest == NO_LIMIT:  # as much as `self-adjusting` waits of itself
                usual = mean_delay(bench, "self-adjusting", k, **limit)
                pool = as_long(bench, "nearest", k, "pool", usual, **limit)
            wanted = mean_delay(bench, "nearest", k, pool=pool, **limit)
            hold = as_long(bench, "self-adjusting", k, "hold", wanted, **limit) if longest != NO_LIMIT else 0
            for method, given in (("nearest", {"pool": pool}), ("self-adjusting", {"hold": hold})):
                ((name, size),) = given.items()
                line = attacked(bench, method, k, **given, **limit)
                print(f"| `{method} --{name} {size} --max-delay {longest}` | {line} |", flush=True)


STRETCH, SAMPLES = 1_000, 5
"""Between two looks into memory so many records pass; then so many enter one by one."""


def inside(records: int) -> None:
    """Print how often the nearest waiting id is the asker's: for who sees what waits when a record leaves."""
    bench = repeating(records, 1)
    print("| method | k | 1/k | right | looks |\n" + "|---" * 5 + "|", flush=True)
    for method, given in (("self-adjusting", {}), ("nearest", {"pool": 300, "max_delay": 5000})):
        for k in ANONYMITY:
            right, looks = look_inside(bench, method, k, **given)
            print(f"| {method} | {k} | {1 / k:.1%} | {right / looks:.1%} | {looks:,} |", flush=True)


def look_inside(bench: Workbench, method: str, k: int, **settings: Any) -> tuple[int, int]:
    """Return for how many records that left the guess was right, and how many left."""
    engine = make_engine(method, k, 5, random=Randomness(seed=1), **settings)
    user, node = coded(bench, engine)
    chains, random = engine.tree.chains()[0], Randomness(seed=2)
    right = looks = 0
    for begin in range(0, len(user) - STRETCH, STRETCH):
        engine.push_codes(user[begin : begin + STRETCH - SAMPLES], node[begin : begin + STRETCH - SAMPLES])
        for i in range(begin + STRETCH - SAMPLES, begin + STRETCH):
            arrays, _ = to_state(engine)
            where = arrays.get("token_node")
            if where is None:
                where = np.repeat(np.arange(len(arrays["sizes"])), arrays["sizes"])
            where, who = np.append(where, node[i]), np.append(arrays["holder"], user[i])
            out = engine.push_codes(user[i : i + 1], node[i : i + 1])
            for record, published in zip(out.record[:1].tolist(), out.user[:1].tolist(), strict=True):
                guess = inside_guess(where, who, chains, int(node[record]), published, random)
                right += guess == int(user[record])
                looks += 1
    return right, looks


TABLES = {"grid": grid, "hold": hold, "edges": edges, "trees": trees, "attackers": attackers, "again": again}
TABLES |= {"busiest": busiest, "defences": defences, "epochs": epochs, "nearest": nearest, "inside": inside}

if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if not word.isdigit()] or list(TABLES)
    size = next((int(word) for word in sys.argv[1:] if word.isdigit()), 300_000)
    for name in chosen:
        TABLES[name](size)
