"""Trials whose releases are made by a plain function, for attacks that run the method themselves."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from sample_releases import queries_of, release_of

from querycloak.attacks.result import CannotAttackError
from querycloak.attacks.trials import Trial
from querycloak.logs.query_log import QueryLog


@dataclass
class TrialsByHand:
    """Publishes for each person with rows what `publish` makes of the list of the person's queries."""

    publish: object
    halves: object = None
    asked_for: list = field(default_factory=list)

    def of(self, log, name):
        self.asked_for.append(name)
        lists = queries_of(log)
        people = [u for u, queries in enumerate(lists) if queries]
        return Trial(log, release_of(log, [self.publish(lists[u]) for u in people], people))

    def later_half(self):
        return self.of(self.halves.other, "later half")

    def concepts_of(self, release):
        raise AssertionError("no taxonomy, no concepts")


class NoTrialsByHand:
    def of(self, *_):
        raise CannotAttackError("not here")

    later_half = of


def shaped_log(users: int = 40, queries: int = 24, words: int = 5, seed: int = 1) -> QueryLog:
    """Everybody asks in the same word, and as often; only how many words each query has differs."""
    draw = random.Random(seed)
    rows = [(f"u{u}", " ".join(["tea"] * draw.randint(1, words))) for u in range(users) for _ in range(queries)]
    return QueryLog.of([r[0] for r in rows], [r[1] for r in rows], times=list(range(len(rows))))


def published_as_asked(log: QueryLog, **parameters):
    """New ids and nothing else, in another order of people."""
    lists = queries_of(log)
    order = list(range(len(lists)))
    random.Random(7).shuffle(order)
    return release_of(log, [lists[u] for u in order], order, **parameters)
