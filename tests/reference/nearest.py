"""The stream method `nearest` read plainly: lists, searched from end to end.

Equal draws are not asked for: the distribution of what leaves is compared.
"""

from __future__ import annotations

from random import Random

from reference.stream import below, exact


class ReferenceNearest:
    def __init__(self, k: int, depth: int, seed: int, *, pool: int, max_delay: float = float("inf")) -> None:
        self.k, self.depth, self.pool, self.max_delay = k, depth, pool, max_delay
        self.random = Random(seed)
        self.seen = 0
        self.queries: list[tuple[tuple[str, ...], str, int]] = []  # (node, asker, number), the oldest first
        self.users: list[tuple[tuple[str, ...], str]] = []  # (node, user), the oldest first
        self.dropped: list[tuple[str, int]] = []  # (user, number)

    def push(self, user: str, path: tuple[str, ...]) -> list[tuple[str, int, int]]:
        """Return (new user, number of the record, candidates) of what leaves."""
        v = path[: self.depth]
        self.queries.append((v, user, self.seen))
        self.users.append((v, user))
        self.seen += 1
        out = self.expire(self.seen - self.max_delay)
        while len(out) < 2:
            ready = self.next_sets(v)
            if not ready:
                break
            inside = self.random.choice(ready)
            query = self.random.choice([q for q in self.queries if inside(q[0])])
            out.append(self.leave(query, inside))
        return out

    def expire(self, before: float) -> list[tuple[str, int, int]]:
        out = []
        for query in [q for q in self.queries if q[2] < before]:
            ready = [inside for inside in self.chain(query[0]) if self.is_ready(inside)]
            if ready:
                out.append(self.leave(query, ready[-1]))
            else:
                top = self.chain(query[0])[0]
                token = self.random.choice([i for i, (node, _) in enumerate(self.users) if top(node)])
                self.queries.remove(query)
                self.dropped.append((self.users.pop(token)[1], query[2]))
        return out

    def chain(self, v):
        """The sets of a node, the widest first."""
        branches = [below(v[:d]) for d in range(1, len(v) + 1)]
        return branches if len(v) == self.depth else [*branches, exact(v)]

    def is_ready(self, inside) -> bool:
        return any(inside(q[0]) for q in self.queries) and len({u for node, u in self.users if inside(node)}) > self.k

    def next_sets(self, v):
        """The sets that may let out next, all alike: ready own sets, or else the deepest ready branches."""
        nodes = sorted({node for node, *_ in self.queries if node[:1] == v[:1]})
        own = [exact(node) for node in nodes if self.is_ready(exact(node))]
        if own or len(nodes) == 0 or sum(q[0][:1] == v[:1] for q in self.queries) <= self.pool:
            return own
        for d in range(self.depth - 1, 0, -1):
            branches = sorted({node[:d] for node in nodes if len(node) >= d})
            ready = [below(b) for b in branches if self.is_ready(below(b))]
            if ready:
                return ready
        return []

    def leave(self, query, inside):
        """Let a query out with a user of its circle: the k + 1 nearest, whoever asked."""
        v, asker, number = query
        circle: list[str] = []
        for near in reversed(self.chain(v)):
            here = {u for node, u in self.users if near(node)} - {*circle}
            missing = self.k + 1 - len(circle)
            circle += sorted(here) if len(here) <= missing else self.random.sample(sorted(here), missing)
        candidates = [u for u in circle if u != asker]
        user = self.random.choice(candidates)
        self.queries.remove(query)
        first = next(i for i, (node, u) in enumerate(self.users) if inside(node) and u == user)
        self.users.pop(first)
        return user, number, len(candidates)

    def waiting_per_level(self) -> list[int]:
        return [sum(len(node) == d for node, _ in self.users) for d in range(self.depth + 1)]
