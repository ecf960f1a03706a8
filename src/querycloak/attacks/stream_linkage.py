"""Stream linkage: the attackers of Pàmies-Estrems & Garcia-Alfaro (2023), and one who bets on the most active user.

All of them see the published stream in order, and know the settings and the categories. For each published query they
name a user, never the one under whom it was published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from querycloak.attacks._activity_kernels import most_active_others
from querycloak.attacks.interval import guessing, result_of
from querycloak.mapping.category_tree import CategoryTree
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.row_paths import PathsOf, RowPaths
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["activity_guesses", "full_linkage", "simple_linkage", "stream_linkage"]

Int32s = npt.NDArray[np.int32]

TENTH = 10


class Engine(Protocol):
    """The anonymizer's engine, which the attacker runs too."""

    tree: CategoryTree

    def push_codes(self, user: Int32s, node: Int32s) -> Any:
        """Let records enter; return those that leave, with `record` and `user`."""


Engines = Callable[..., Engine]
"""Makes an engine: (method, k, depth, *, random, hold = 0, pool = 0, max_delay = None, eager = False)."""


def simple_linkage(user: Int32s, paths: RowPaths, k: int, depth: int, random: Randomness, engines: Engines) -> Int32s:
    """Algorithm 2: pair at random inside each node of a fixed depth, while it has more than k users.

    Returns the user named for each row, int32[n]; -1 where no user was named.
    """
    return _linked(engines("fixed-depth", k, depth, random=random, eager=True), user, paths)


def full_linkage(
    user: Int32s,
    paths: RowPaths,
    k: int,
    depth: int,
    random: Randomness,
    engines: Engines,
    method: str = "self-adjusting",
    **settings: int,
) -> Int32s:
    """Algorithm 3: run the anonymizer's own engine on what it published; `settings` as of `Engines`."""
    return _linked(engines(method, k, depth, random=random, **settings), user, paths)


def _linked(machine: Engine, user: Int32s, paths: RowPaths) -> Int32s:
    guess = np.full(len(user), -1, dtype=np.int32)
    out = machine.push_codes(user, paths.nodes(machine.tree))
    guess[out.record] = out.user
    return guess


def activity_guesses(user: Int32s, paths: RowPaths, k: int, depth: int) -> Int32s:
    """Name the user with the most records so far in the branch, other than the published one.

    The branch is the deepest in which more than k users have been seen, as in the anonymizer. Where some users are much
    more active than others, k candidates are not equally likely: this attacker makes use of that.
    """
    tree = CategoryTree(depth)
    node = paths.nodes(tree)
    chain, length = tree.chains()
    per_row = chain[node] if len(node) else np.zeros((0, depth), dtype=np.int32)
    inside = np.arange(per_row.shape[1]) < (length[node] if len(node) else np.zeros(0, np.int32))[:, None]
    width = int(user.max(initial=0)) + 1
    keys = np.where(inside, per_row.astype(np.int64) * width + user[:, None], -1)
    known, pair = np.unique(keys, return_inverse=True)
    pairs = np.asarray(pair.reshape(keys.shape), dtype=np.int32)
    return most_active_others(user, per_row, pairs, max(tree.sets, 1), max(len(known), 1), k)


def stream_linkage(
    log: QueryLog,
    release: Release,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    release_paths: PathsOf,
    stream_engines: Engines,
) -> list[AttackResult]:
    """Run the three attackers. A target is a published record; one for which no user is named counts as missed.

    Details: the rate over the records of the tenth of the users who asked least, and of the tenth who asked most; the
    share of records for which a user was named; and 1/k, the rate of a random choice among k candidates.
    """
    truth = release.truth
    assert truth is not None
    assert truth.asker is not None
    settings = release.statement.settings
    k, depth = int(settings["k"]), int(settings.get("depth", 1))
    method = "nearest" if release.statement.method == "nearest" else "self-adjusting"
    held = {name: int(settings[name]) for name in ("hold", "pool", "max_delay") if settings.get(name)}
    user = release.log.user
    paths = release_paths(str(settings.get("separator", "/")))
    progress.start("attack: stream linkage", total=3)
    attackers: dict[str, Callable[[], Int32s]] = {
        "stream-linkage, simple": lambda: simple_linkage(user, paths, k, depth, random.child("simple"), stream_engines),
        "stream-linkage, full": lambda: full_linkage(
            user, paths, k, depth, random.child("full"), stream_engines, method, **held
        ),
        "stream-linkage, activity": lambda: activity_guesses(user, paths, k, depth),
    }
    fewest, most = _least_and_most_active(log, truth.asker)
    results = []
    for name, attacker in attackers.items():
        guess = attacker()
        named = np.where(guess >= 0, truth.user[guess], -2)
        right = (named == truth.asker).astype(np.float64)
        details = {
            "users with the fewest records": _mean(right[fewest]),
            "users with the most records": _mean(right[most]),
            "records with a guess": _mean((guess >= 0).astype(np.float64)),
            "1/k": 1 / k,
        }
        results.append(
            result_of(
                name,
                right,
                release,
                question="linkability",
                risk="link",
                knows="the published stream, the settings and the categories",
                unit="record",
                baseline=guessing(len(release.log.users)),
                details=details,
            )
        )
        progress.advance()
    return results


def _least_and_most_active(log: QueryLog, asker: Int32s) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """bool[rows] twice: asked by the tenth of the users with the fewest, and with the most, records in the log."""
    count = np.bincount(log.user, minlength=len(log.users))
    there = np.flatnonzero(count)
    by_count = there[np.argsort(count[there], kind="stable")]
    tenth = max(1, len(by_count) // TENTH) if len(by_count) else 0
    return np.isin(asker, by_count[:tenth]), np.isin(asker, by_count[len(by_count) - tenth :])


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0
