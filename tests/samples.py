"""Small logs that many tests share. All of them are made up."""

from __future__ import annotations

from querycloak.knowledge.directory import SiteDirectory
from querycloak.logs.query_log import QueryLog

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
