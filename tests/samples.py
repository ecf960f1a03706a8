"""Small logs that many tests share. All of them are made up."""

from __future__ import annotations

import numpy as np

from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.concept_log import ConceptLog

INTERESTS = [
    ["tea", "green tea", "coffee shops", "cheap tea cups", "how to make coffee", "tea in london"],
    ["windsurfing", "diving in the mediterranean", "water sports", "swimming pools", "sailing boats", "surfing"],
    ["asthma", "diabetes diet", "flu symptoms", "cancer treatment", "hospital in boston", "nurse schools"],
    ["used cars", "car insurance", "truck engine", "motorcycle parts", "bus to chicago", "car dealers"],
]
SITES = ["http://www.tea.example", "http://sport.example/water", None, "http://health.example", "http://cars.example"]


def sample_log(users: int = 24, queries: int = 10) -> QueryLog:
    """A log of users with one main interest each, in no random order at all."""
    who, what, when, where = [], [], [], []
    for u in range(users):
        for q in range(queries):
            topic = INTERESTS[(u if q % 4 else u + q) % len(INTERESTS)]
            who.append(str(1000 + u))
            what.append(topic[(u * 7 + q * 3) % len(topic)])
            when.append(1_141_171_200 + 3600 * q + u)
            where.append(SITES[(u + q) % len(SITES)])
    return QueryLog.of(who, what, times=when, urls=where)


def sample_directory() -> SiteDirectory:
    """A directory that lists the sites of `sample_log`, all but one."""
    paths = ["Top/Home/Tea", "Top/Sports/Water", "Top/Health/Medicine"]
    return SiteDirectory.of(["tea.example", "sport.example", "health.example"], paths)


def no_meaning() -> dict[str, object]:
    """What a method needs to know about the meaning of queries, where they have none."""
    codes = np.zeros(0, dtype=np.int32)
    concepts = ConceptLog(np.zeros(0, dtype=np.int64), codes, codes, codes)
    return {"concepts": concepts, "taxonomy": Taxonomy.from_parents([-1], [["thing"]])}


class Notes:
    """A progress that keeps what a method tells."""

    def __init__(self):
        self.notes = []

    def start(self, step, total=None):
        pass

    def advance(self, units=1):
        pass

    def note(self, text):
        self.notes.append(text)
