"""Algorithm 1 of Pàmies-Estrems & Garcia-Alfaro (2023) read plainly: lists, searched from end to end.

Where the paper leaves a choice open: the root is no branch; the query of a branch is uniform over its waiting queries;
the user is uniform over its distinct users other than the asker, and taken from one of its places in the branch, all
alike; the user that moves is uniform over those that wait in the query's node.

With `max_delay`, ours: after all that a record brings about, the record that has waited for so many others goes, from
the smallest set around it that has k users other than its asker. If there is none, it is dropped with one of the users
that wait in its top-level category, all places alike. Where the two come from different nodes, a user moves.
"""

from __future__ import annotations

from collections import Counter
from random import Random


class ReferenceStream:
    def __init__(
        self,
        k: int,
        depth: int,
        seed: int,
        *,
        borrows: bool = True,
        most: float = 2,
        hold: int = 0,
        max_delay: int | None = None,
    ) -> None:
        self.k, self.depth, self.borrows, self.most, self.hold = k, depth, borrows, most, hold
        self.max_delay = max_delay
        self.entered = 0
        self.dropped: list[tuple[str, str]] = []  # (user, query)
        self.random = Random(seed)
        self.queries: list[tuple[tuple[str, ...], str, str, int]] = []  # (node, asker, query, running number)
        self.users: list[tuple[tuple[str, ...], str]] = []  # (node, user)

    def push(self, user: str, query: str, path: tuple[str, ...]) -> list[tuple[str, str]]:
        out = self.enter(user, query, path[: self.depth])
        if self.max_delay is not None:
            out += self.expire(self.entered - self.max_delay)
        return out

    def expire(self, before: int) -> list[tuple[str, str]]:
        """Let out, or drop, the waiting queries with a running number below `before`."""
        out = []
        for query in [q for q in sorted(self.queries, key=lambda q: q[3]) if q[3] < before]:
            v, asker, text, _ = query
            branches = [below(v[:d]) for d in range(1, len(v) + 1)] if self.borrows else []
            enough = [s for s in (*branches, exact(v)) if len(self.candidates(s, asker)) >= self.k]
            self.queries.remove(query)
            if enough:
                user = self.random.choice(self.candidates(enough[-1], asker))
                vu = self.take_user(lambda node, u, inside=enough[-1], user=user: inside(node) and u == user)[0]
                out.append((user, text))
            else:
                top = below(v[:1]) if self.borrows and v else exact(v)
                vu, user = self.take_user(lambda node, _, top=top: top(node))
                self.dropped.append((user, text))
            if vu != v:
                self.move(v, vu)
        return out

    def candidates(self, inside, asker: str) -> list[str]:
        return sorted({user for node, user in self.users if inside(node) and user != asker})

    def take_user(self, fits) -> tuple[tuple[str, ...], str]:
        return self.users.pop(self.random.choice([i for i, (node, u) in enumerate(self.users) if fits(node, u)]))

    def move(self, vq, vu) -> None:
        mover = self.random.choice([i for i, (node, _) in enumerate(self.users) if node == vq])
        self.users[mover] = (vu, self.users[mover][1])

    def enter(self, user: str, query: str, v: tuple[str, ...]) -> list[tuple[str, str]]:
        self.users.append((v, user))
        self.queries.append((v, user, query, self.entered))
        self.entered += 1
        out = []
        if self.distinct(exact(v)) > self.k:
            while len(out) < self.most and self.distinct(exact(v)) > self.k:
                out.append(self.generate(exact(v))[0])
            return out
        branches = [v[:d] for d in range(1, len(v) + 1)] if self.borrows else []
        deepest = [b for b in branches if self.distinct(below(b)) > self.k][-1:]
        if sum(below(v[:1])(node) for node, _ in self.users) <= self.hold:
            deepest = []
        for b in deepest:
            record, vq, vu = self.generate(below(b))
            out.append(record)
            if vq != vu:
                self.move(vq, vu)
                if self.distinct(exact(vu)) > self.k:
                    out.append(self.generate(exact(vu))[0])
        return out

    def distinct(self, inside) -> int:
        return len({user for node, user in self.users if inside(node)})

    def generate(self, inside):
        query = self.random.choice([i for i, (node, *_) in enumerate(self.queries) if inside(node)])
        vq, asker, text, _ = self.queries.pop(query)
        user = self.random.choice(sorted({u for node, u in self.users if inside(node) and u != asker}))
        place = self.random.choice([i for i, (node, u) in enumerate(self.users) if inside(node) and u == user])
        vu, _ = self.users.pop(place)
        return (user, text), vq, vu

    def waiting_per_level(self) -> list[int]:
        levels = Counter(len(node) for node, _ in self.users)
        return [levels[d] for d in range(self.depth + 1)]


def exact(v):
    return lambda node: node == v


def below(b):
    return lambda node: node[: len(b)] == b


def activity_guess(rows: list[tuple[str, tuple[str, ...]]], k: int, depth: int) -> list[str | None]:
    """For each (published user, path): who was seen most in the deepest set with more than k users, itself left out."""
    out: list[str | None] = []
    for i, (user, path) in enumerate(rows):
        cut = path[:depth]
        sets = [below(cut[:d]) for d in range(1, len(cut) + 1)] + ([exact(cut)] if len(cut) < depth else [])
        guess = None
        for inside in sets:
            counts: Counter[str] = Counter()
            reached: dict[str, int] = {}
            for j, (u, p) in enumerate(rows[:i]):
                if inside(p[:depth]):
                    counts[u] += 1
                    reached[u] = j
            if len(counts) <= k:
                break
            others = [u for u in counts if u != user]
            guess = min(others, key=lambda u: (-counts[u], reached[u]))
        out.append(guess)
    return out


def best_matching(before: list[tuple[str, ...]], after: list[tuple[str, ...]]) -> int:
    """The cheapest matching on the tree, by trying all; what is too many on one side goes to the root."""
    from itertools import permutations

    size = max(len(before), len(after))
    padded = [list(side) + [()] * (size - len(side)) for side in (before, after)]

    def distance(a, b):
        shared = 0
        while shared < min(len(a), len(b)) and a[shared] == b[shared]:
            shared += 1
        return len(a) + len(b) - 2 * shared

    return min(sum(distance(a, b) for a, b in zip(padded[0], p, strict=True)) for p in permutations(padded[1]))


def asked_enough(records: list[tuple[int, int]], least: int) -> list[bool]:
    """For each (query, user): whether so many distinct users have asked the query so far, this one included."""
    return [len({u for q, u in records[: i + 1] if q == query}) >= least for i, (query, _) in enumerate(records)]
