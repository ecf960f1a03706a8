"""What a policy publishes does not depend on the order of rows in the file: the same seed, the same rows and ids."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sample_policies import DAY, SPRING, log_of, published

from querycloak.logs.query_log import MISSING_TIME

POLICIES = {
    "people": '[columns]\nkeep = ["time", "url"]\n',
    "days": '[ids]\nper = "day"\n[columns]\nkeep = ["time", "url"]\n',
    "sessions": '[ids]\nper = "session"\ngap = 20\nmost = 2\n[columns]\nkeep = ["time", "url"]\n',
    "half of the people": '[columns]\nkeep = ["url"]\n[sample]\nshare = 0.5\n',
    "some events": '[ids]\nper = "day"\n[columns]\nkeep = ["time", "url"]\n[sample]\nshare = 0.3\nof = "events"\n',
}


def rows_of(seed):
    """Events of one or two clicks; several events of one person and second; some times are missing."""
    draw = random.Random(seed)
    events = []
    for _ in range(40):
        user, text = draw.choice("abcdef"), draw.choice(["tea", "pot", "cup"])
        time = draw.choice([MISSING_TIME, *(SPRING + n * 900 for n in range(4)), SPRING + 3 * DAY])
        clicks = draw.choice([[None], ["x"], ["x", "y"]])
        if time != MISSING_TIME and clicks[0] and any((user, text, time) == row[:3] for e in events for row in e):
            continue  # clicks of two such events would be one, if they followed each other
        events.append([(user, text, time, url) for url in clicks])
    return events


def seen(events, rules):
    """Return what is published under each id, and whose it is."""
    log = log_of([row for event in events for row in event])
    release = published(log, rules, seed=5)
    table, people = release.log, log.users.to_list()
    columns = [table.queries.gather(table.query).to_list()]
    columns += [] if table.time is None else [table.time.tolist()]
    columns += [] if table.url is None else [[None if u < 0 else table.urls[u] for u in table.url.tolist()]]
    owner = [people[code] for code in release.truth.user[table.user].tolist()]
    return Counter(zip(table.users.gather(table.user).to_list(), owner, *columns, strict=True))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_plays_no_part(name, seed):
    events = rows_of(seed)
    shuffled = random.Random(seed).sample(events, len(events))
    assert shuffled != events
    first = seen(events, POLICIES[name])
    assert first == seen(shuffled, POLICIES[name])
    assert len(first) > 5
