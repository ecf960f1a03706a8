"""Every rule equals its plain reference on drawn logs."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import policy as plain
from sample_policies import DAY, SPRING, applied, log_of

TEXTS = ["tea", "Tea", "green tea", "green  tea", "green tea pot", "tea pot for two", "pot", "of the tea", "red cup"]


@st.composite
def logs(draw, most=14):
    """A log with few people, texts, times and URLs, so that they meet; some events have several clicks."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from("abcd"),
                st.sampled_from(TEXTS),
                st.integers(0, 60).map(lambda n: SPRING + n * 20 * 60 + (n % 3) * DAY),
                st.sampled_from([None, "x", "y"]),
            ),
            min_size=1,
            max_size=most,
        )
    )
    rows.append(("a", "tea", SPRING, "x"))  # so that there is a column of URLs
    log = log_of(rows)
    events = log.event_row.tolist()
    names = ("user", "text", "time", "url", "event")
    return log, [dict(zip(names, (*row, event), strict=True)) for row, event in zip(rows, events, strict=True)]


CLICKS = '\n[columns]\nkeep = ["time", "url"]\n'
people = st.integers(1, 4)
days = st.sampled_from([None, 1, 2, 3])


def lines(**values):
    told = {key: str(v).lower() if isinstance(v, bool) else repr(v) for key, v in values.items() if v is not None}
    return "\n".join(f"{key} = {value}" for key, value in told.items())


def rows_of(draft):
    """Return a draft as a bag of (user, text, time, url)."""
    table = draft.table
    urls = [None] * len(table) if table.url is None else [None if u < 0 else table.urls[u] for u in table.url.tolist()]
    users = table.users.gather(table.user).to_list()
    texts = table.queries.gather(table.query).to_list()
    return Counter(zip(users, texts, table.time.tolist(), urls, strict=True))


def bag(rows):
    return Counter((row["user"], row["text"], row["time"], row["url"]) for row in rows)


@given(logs(), people, days)
def test_query_users(drawn, people, days):
    log, rows = drawn
    draft = applied(log, f"[query_users]\n{lines(people=people, days=days)}\n{CLICKS}")
    assert rows_of(draft) == bag(plain.query_users(rows, people, days))
    assert len(draft) + sum(draft.dropped.values()) == len(log)


@given(logs(), people)
def test_phrase_users_of_words(drawn, people):
    log, rows = drawn
    draft = applied(log, f"[phrase_users]\n{lines(people=people)}\n{CLICKS}")
    kept = plain.every_word(rows, people)
    found = rows_of(draft)
    assert sum(found.values()) == len(kept)
    assert Counter((u, plain.form(t), w, x) for (u, t, w, x), n in found.items() for _ in range(n)) == bag(
        [{**row, "text": plain.form(row["text"])} for row in kept]
    )


@pytest.mark.slow
@given(logs(), people)
def test_phrase_users_cut_to_the_longest_phrase(drawn, people):
    log, rows = drawn
    draft = applied(log, f'[phrase_users]\n{lines(people=people)}\nevery = "query"\nrare = "cut"\n{CLICKS}')
    longest = plain.longest_phrases(rows, people)
    kept = [(row, n) for row, n in zip(rows, longest, strict=True) if n]
    assert len(draft) == len(kept)
    expected = Counter((row["user"], row["time"], row["url"], n) for row, n in kept)
    assert (
        Counter((u, w, x, len(t.split())) for (u, t, w, x), n in rows_of(draft).items() for _ in range(n)) == expected
    )


@given(logs(), people, st.booleans())
def test_entities_of_single_words(drawn, people, cut):
    log, rows = drawn
    rule = f'[entities]\n{lines(people=people, names=False)}\nkinds = []\nrare = "{"cut" if cut else "drop"}"'
    draft = applied(log, rule + CLICKS)
    reference = plain.cut_words if cut else plain.every_word
    assert rows_of(draft) == bag(reference(rows, people))


@given(logs(), st.integers(1, 4), st.sampled_from([None, 3, 9]), st.sampled_from([None, 1, 2, 3]))
def test_length(drawn, words, characters, people):
    log, rows = drawn
    draft = applied(log, f"[length]\n{lines(words=words, characters=characters, people=people)}\n{CLICKS}")
    assert rows_of(draft) == bag(plain.length(rows, words, characters, people))


@given(logs(), people, days)
def test_combination_users(drawn, people, days):
    log, rows = drawn
    draft = applied(log, f"[combination_users]\n{lines(people=people, days=days)}\n{CLICKS}")
    assert rows_of(draft) == bag(plain.combination_users(rows, people, days))


@given(logs(), st.sampled_from(["second", "hour", "day", "week"]))
def test_times(drawn, grain):
    log, rows = drawn
    draft = applied(log, f'[time]\ngrain = "{grain}"\n{CLICKS}')
    assert rows_of(draft) == bag([{**row, "time": plain.rounded(row["time"], grain)} for row in rows])


@given(logs(), st.sampled_from([1, 20, 40, 60]), st.sampled_from([None, 1, 2, 3]))
def test_sessions(drawn, gap, most):
    log, rows = drawn
    draft = applied(log, f'[time]\ngrain = "day"\n[ids]\nper = "session"\n{lines(gap=gap, most=most)}\n{CLICKS}')
    found = {}
    for row, unit in zip(draft.row.tolist(), draft.unit.tolist(), strict=True):
        found.setdefault(unit, set()).add(row)
    assert set(map(frozenset, found.values())) == plain.sessions(rows, gap, most)


@given(logs())
def test_days(drawn):
    log, rows = drawn
    draft = applied(log, f'[ids]\nper = "day"\n{CLICKS}')
    keys = [(rows[row]["user"], rows[row]["time"] // DAY) for row in draft.row.tolist()]
    pairs = set(zip(keys, draft.unit.tolist(), strict=True))
    assert len(pairs) == len(set(keys)) == len(set(draft.unit.tolist()))


@given(logs(), st.integers(1, 4), st.sampled_from([(), ("url",), ("time", "url")]))
def test_counts(drawn, least, columns):
    from sample_policies import published

    log, rows = drawn
    kept = rows if "url" in columns else [row for i, row in enumerate(rows) if row["event"] == i]
    release = published(log, f"[columns]\nkeep = {list(columns)!r}\n[as_counts]\nleast = {least}\n")
    table = release.log
    values = {
        "text": table.queries.gather(table.query).to_list(),
        "time": None if table.time is None else table.time.tolist(),
        "url": None if table.url is None else [None if u < 0 else table.urls[u] for u in table.url.tolist()],
    }
    keys = ("text", *columns)
    found = dict(zip(zip(*(values[key] for key in keys), strict=True), table.extra["count"].to_list(), strict=True))
    assert found == plain.as_counts(kept, least, keys)


@pytest.mark.parametrize(("of", "share", "expected"), [("people", 0.5, 2), ("people", 1.0, 4), ("events", 0.25, 2)])
def test_a_sample_has_the_share_that_was_asked_for(of, share, expected):
    log = log_of([(user, f"tea {n}") for user in "abcd" for n in range(2)])
    draft = applied(log, f'[sample]\nshare = {share}\nof = "{of}"\n')
    drawn = draft.table.user if of == "people" else draft.row
    assert len(set(drawn.tolist())) == expected
    assert len(draft) == (2 * expected if of == "people" else expected)
