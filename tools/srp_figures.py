"""Measure what the two readings of SRP tell about groups: by bags, by sets, by length alone, and at random.

Run from the root of the repository: `python tools/srp_figures.py`. It prints the tables of
`docs/methods/url-microaggregation.md` as Markdown. All groups have the sizes of those by bags and publish random
queries of their members (`--as-in-paper`), so that only who is with whom differs. `--between 40 60` keeps the users
with so many queries, as the paper did with 400 to 600: then length tells nothing.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from microaggregation_figures import resolver_of

import querycloak as qc
from querycloak.api import Workbench
from querycloak.knowledge.directory import SiteDirectory
from querycloak.methods.microaggregation import _category_release as releasing
from querycloak.methods.microaggregation._category_groups import group_by_categories

if TYPE_CHECKING:
    from querycloak.methods.microaggregation._category_groups import UserCategories


def shuffled(categories: UserCategories, k: int, *_: Any) -> Any:
    """Return groups of the same sizes whose members are drawn at random: the same in every run."""
    group = group_by_categories(categories, k)
    return np.random.default_rng(len(group)).permutation(group)


def by_length(categories: UserCategories, k: int, *_: Any) -> Any:
    """Return groups of the same sizes of users with about as many queries, whatever these are about."""
    sizes = np.bincount(group_by_categories(categories, k))
    group = np.empty(categories.n, dtype=np.int32)
    queries = categories.by_user.uncounted.sums(categories.by_user.counts)
    group[np.argsort(queries, kind="stable")] = np.repeat(np.arange(len(sizes)), sizes)
    return group


GROUPINGS = {"bags": group_by_categories, "sets": group_by_categories, "length alone": by_length, "random": shuffled}


METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "url, bags": ("url-microaggregation", {"similarity": "bags"}),
    "url, sets": ("url-microaggregation", {}),
    "word, bags": ("word-microaggregation", {"similarity": "bags"}),
    "word, sets": ("word-microaggregation", {}),
    "word, sets, one category": ("word-microaggregation", {"categories": "one"}),
}
KS = (2, 3, 5, 7)


def srp_of(bench: Workbench, method: str, seed: int, **settings: Any) -> list[dict[str, float]]:
    """Return SRP by level, as it is and one for one."""
    release = bench.anonymize(method, seed=seed, as_in_paper=True, **settings)
    return [score.details for score in bench.measure(release, names=["srp"], seed=seed)]


def print_groups(bench: Workbench, k: int, levels: int, draws: int) -> None:
    """Print both readings for each kind of groups: the range over the draws of the published queries."""
    print(f"\n--levels {levels}, SRP at level {levels}\n\n| groups | SRP | one for one |\n|---|---:|---:|")
    for groups, grouping in GROUPINGS.items():
        similarity = "sets" if groups == "sets" else "bags"
        with patch.object(releasing, "group_by_categories", grouping):
            found = [
                srp_of(bench, "url-microaggregation", seed, k=k, levels=levels, similarity=similarity)
                for seed in range(draws)
            ]
        cells = np.array([[100 * reading[f"level {levels}"] for reading in draw] for draw in found])
        shown = [f"{a:.2f} to {b:.2f}" for a, b in zip(cells.min(axis=0), cells.max(axis=0), strict=True)]
        print(f"| {groups} | {' | '.join(shown)} |", flush=True)


def print_methods(bench: Workbench, seed: int) -> None:
    """Print both readings for each method, by level and k."""
    found = {
        (name, k): srp_of(bench, method, seed, k=k, **settings)
        for k in KS
        for name, (method, settings) in METHODS.items()
    }
    for reading, title in enumerate(("SRP", "one for one")):
        print(f"\n{title}\n\n| level | method |" + "".join(f" k = {k} |" for k in KS))
        print("|---:|---|" + "---:|" * len(KS))
        for level in range(1, 6):
            for name in METHODS:
                cells = [f"{100 * found[name, k][reading][f'level {level}']:.1f}" for k in KS]
                print(f"| {level} | {name} | {' | '.join(cells)} |")


def main() -> None:
    """Make the log, and print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=56_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--between", type=int, nargs=2)
    parser.add_argument("--methods", action="store_true", help="url and word, by k, instead of kinds of groups")
    given = parser.parse_args()
    made = qc.generate(users=given.users, queries=given.queries, seed=given.seed)
    listed = made.directory()
    directory = SiteDirectory.of(listed["site"], listed["category"], qc.load_taxonomy())
    log = made.log
    if given.between:
        asked = np.bincount(log.user[log.event], minlength=len(log.users))
        log = log.take(((asked >= given.between[0]) & (asked <= given.between[1]))[log.user])
        print(f"{len(np.unique(log.user))} users, {log.event.sum():,} queries")
    bench = Workbench(log, qc.load_taxonomy(), directory, resolver_of(made))
    if given.methods:
        print_methods(bench, given.seed)
        return
    for levels in (1, 2, 3, 5):
        print_groups(bench, given.k, levels, given.draws)


if __name__ == "__main__":
    main()
