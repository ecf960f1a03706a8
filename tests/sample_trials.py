"""Further releases as tests need them: published by hand, for people who are easily named."""

from __future__ import annotations

import numpy as np
from sample_releases import queries_of, release_of

from querycloak.attacks.trials import Trial
from querycloak.logs.query_log import QueryLog


class HandTrials:
    """Runs `publish(part of the log)` instead of a method; every fifth person is held out, every other one is in."""

    def __init__(self, bench, publish):
        self.bench, self.publish = bench, publish

    def without_held_out(self):
        return self._of(np.arange(len(self.bench.log.users)) % 5 != 0)

    def half_of_people(self, draw=0):
        return self._of(np.arange(len(self.bench.log.users)) % 2 == draw % 2)

    def concepts_of(self, release):
        return self.bench.concepts_of(release)

    def askers_of(self, trial):
        return self.bench.askers_of(trial.release)

    def _of(self, inside):
        log = self.bench.log
        part = log.take(inside[log.user])
        return Trial(part, self.publish(part))


def as_it_is(log, who=lambda user: True):
    """Publish each person's queries, for some people; nobody else is there."""
    logs = queries_of(log)
    users = [u for u in np.unique(log.user).tolist() if who(u)]
    return release_of(log, [logs[u] for u in users], users)


def all_alike(log, texts):
    """Publish the same texts for everybody."""
    users = np.unique(log.user).tolist()
    return release_of(log, [list(texts)] * len(users), users)


def in_groups(log, size):
    """Publish for each person the queries of all of its group of neighbours."""
    logs = queries_of(log)
    users = np.unique(log.user).tolist()
    return release_of(log, [[q for v in users if v // size == u // size for q in logs[v]] for u in users], users)


def nonsense_log(users, queries=12, shared=lambda user: "", seed=1):
    """Every query is a word of random letters, after the words that a user shares with others."""
    letters = np.random.default_rng(seed).integers(97, 123, (users, queries, 9)).astype(np.uint8)
    who = [f"u{u}" for u in range(users) for _ in range(queries)]
    what = [f"{shared(u)} {letters[u, q].tobytes().decode()}" for u in range(users) for q in range(queries)]
    return QueryLog.of(who, what, times=list(range(len(who))))
