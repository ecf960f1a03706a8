"""Which times and clicks of a log are published: rounding, sharing by m people, and the form of the output."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.columns import begin_of, kept_rows

import querycloak as qc
from querycloak.errors import GateError, ParameterError
from querycloak.logs.query_log import MISSING_TIME, QueryLog
from querycloak.methods.suppression.sweep import Sweep
from querycloak.randomness import Randomness
from querycloak.releases.column_checks import check_columns, is_of_grain, people_per_click
from querycloak.releases.columns import GRAINS, ColumnSettings, KeptColumns, rounded
from querycloak.releases.table import under_new_ids
from querycloak.texts.text_settings import TextRule
from querycloak.texts.urls import urls_that_identify

TEA, CUP = "http://tea.example", "http://cup.example"
BOTH = ColumnSettings(keep="time,clicks")
DAY = 86_400


def log_of(rows):
    """A log of rows (user, query, time, url, rank)."""
    users, queries, times, urls, ranks = zip(*rows, strict=True) if rows else ((),) * 5
    log = QueryLog.of(list(users), list(queries), times=list(times), urls=list(urls))
    return replace(log, rank=np.array([-1 if r is None else r for r in ranks], dtype=np.int32))


def published(log, given=BOTH, people=2, text=None, words=None, **rule):
    """Publish all events of a log, of each query the text with that code."""
    text = np.arange(len(log.queries)) if text is None else np.array(text, dtype=np.int64)
    words = log.queries if words is None else pl.Series(words)
    kept = KeptColumns.of(log, given, TextRule(people, "drop", "drop", **rule), text, words)
    rows = np.flatnonzero(log.event & (text[log.query] >= 0))
    table = under_new_ids(
        log, log.user[rows], text[log.query[rows]].astype(np.int32), Randomness(1), queries=words, rows=rows, kept=kept
    )
    return table, kept


def rows_of(log, table):
    """Rows by original user: {user: [(time, text, url, rank)] in the order of the table}."""
    out = {}
    for i, user in enumerate(table.log.user.tolist()):
        url = None if table.log.url is None else table.log.url[i]
        row = (
            None if table.log.time is None else int(table.log.time[i]),
            table.log.queries[int(table.log.query[i])],
            "" if url is None or url < 0 else table.log.urls[int(url)],
            -1 if table.log.rank is None else int(table.log.rank[i]),
        )
        out.setdefault(log.users[int(table.truth.user[user])], []).append(row)
    return out


QUERIES = ["tea", "green tea", "cup", "old cup"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d"]),
        st.sampled_from(QUERIES),
        st.sampled_from([3600, 7300, DAY - 1, DAY, 6 * DAY, 40 * DAY + 5]),
        st.sampled_from([None, TEA, CUP]),
        st.sampled_from([1, 2]),
    ).map(lambda row: row if row[3] else (*row[:4], None)),
    max_size=24,
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 3), st.sampled_from(sorted(GRAINS)))
def test_times_and_clicks_like_the_reference(rows, people, grain):
    log = log_of(rows)
    texts = {"tea": "tea", "green tea": "tea", "cup": "cup"}  # "old cup" is not published
    words = ["tea", "cup"]
    text = [words.index(texts[q]) if q in texts else -1 for q in log.queries.to_list()]
    table, _ = published(log, ColumnSettings("time,clicks", grain), people, text, words)
    assert rows_of(log, table) == kept_rows(rows, texts, people, grain)


@given(st.integers(-(10**9), 4 * 10**9), st.sampled_from(sorted(GRAINS)))
def test_times_are_rounded_down_to_the_calendar(time, grain):
    (down,) = rounded(np.array([time]), grain)
    assert down == begin_of(time, grain)
    assert is_of_grain(np.array([down]), grain)
    assert is_of_grain(np.array([down + 1]), grain) is False


def test_a_missing_time_stays_missing():
    assert rounded(np.array([MISSING_TIME, 5]), "week").tolist() == [MISSING_TIME, -3 * DAY]
    assert is_of_grain(np.array([MISSING_TIME]), "day")


def test_the_order_within_a_grain_is_gone():
    """The same rows at other moments of the same days give the same table."""
    rows = [("a", "tea", 50, None, None), ("a", "cup", 70, None, None), ("a", "ale", DAY, None, None)]
    other = [(*rows[1][:2], 9, None, None), (*rows[0][:2], 10, None, None), rows[2]]
    first, second = (rows_of(log, published(log, people=1)[0]) for log in (log_of(rows), log_of(other)))
    assert first == second == {"a": [(0, "cup", "", -1), (0, "tea", "", -1), (DAY, "ale", "", -1)]}


def test_a_click_needs_m_people_with_the_published_text():
    """Red and green tea are both published as "tea": three people share its click; of the cup there are two."""
    rows = [
        ("a", "red tea", 1, TEA, 1),
        ("b", "green tea", 2, TEA, 1),
        ("c", "green tea", 3, TEA, 2),
        ("a", "cup", 4, CUP, 1),
        ("b", "cup", 5, CUP, 1),
        ("b", "cup", 9, CUP, 1),
    ]
    log = log_of(rows)
    table, _ = published(log, people=3, text=[0, 0, 1], words=["tea", "cup"])
    assert {(text, url) for found in rows_of(log, table).values() for _, text, url, _ in found} == {
        ("tea", TEA),
        ("cup", ""),
    }
    assert (table.log.rank == -1).all()  # two people have rank 1
    assert table.log.urls.to_list() == [TEA]


def test_ids_taken_for_machines_count_as_nobody():
    rows = [("a", "tea", 1, TEA, 1), ("b", "tea", 2, TEA, 1), *(("b", "cup", 9, None, None) for _ in range(4))]
    log = log_of(rows)
    assert (published(log)[0].log.url >= 0).sum() == 2
    assert (published(log, most_rows=4)[0].log.url >= 0).sum() == 0


def test_labels_have_no_clicks():
    log = log_of([("a", "tea", 1, TEA, 1), ("b", "tea", 2, TEA, 1)])
    assert (published(log, words=["[tea]"])[0].log.url == -1).all()


def test_an_entry_with_another_text_has_no_click():
    log = log_of([("a", "tea", 1, TEA, 1), ("b", "tea", 2, TEA, 1)])
    kept = KeptColumns.of(log, BOTH, TextRule(2, "drop", "drop"), np.zeros(1, np.int64), pl.Series(["tea", "cup"]))
    rows = kept.at(np.array([0, 1, -1]), np.array([0, 1, 0]))
    assert rows.url.tolist() == [0, -1, -1]
    assert rows.rank.tolist() == [1, -1, -1]
    assert rows.time.tolist() == [0, 0, MISSING_TIME]


@pytest.mark.parametrize(
    "url",
    [
        "http://tea.example/?PHPSESSID=1",
        "http://tea.example/a;jsessionid=A1",
        "http://tea.example/ann%40mail.example",
        "http://ann:secret@tea.example/",
        "http://tea.example/d41d8cd98f00b204e9800998ecf8427e",
        "http://tea.example/t/Ab3dE5fG7hJ9kL1mN2pQ",
        "http://tea.example/call/555-010-1234",
        "http://tea.example/item?token=x",
    ],
)
def test_urls_with_a_session_or_an_identifier_are_not_published(url):
    log = log_of([("a", "tea", 1, url, 1), ("b", "tea", 2, url, 1)])
    assert (published(log)[0].log.url == -1).all()
    kept = KeptColumns.of(log, BOTH, TextRule(2, "drop", "keep"), np.zeros(1, np.int64), log.queries)
    assert kept.click.all()


def test_plain_urls_identify_nobody():
    plain = [TEA, "http://www.tea.example/green/how-to-make-very-good-tea.html", "http://en.tea.example/wiki/Tea_2006"]
    assert not urls_that_identify(pl.Series(plain)).any()


def test_further_clicks_become_rows_only_with_clicks():
    rows = [("a", "tea", 1, TEA, 1), ("a", "tea", 1, CUP, 2), ("b", "tea", 2, TEA, 1), ("b", "tea", 2, CUP, 2)]
    log = log_of(rows)
    for keep, expected in (("none", 2), ("time", 2), ("clicks", 4), ("time,clicks", 4)):
        assert len(published(log, ColumnSettings(keep))[0].log) == expected
    rare = log_of([*rows[:3], ("b", "tea", 2, "http://x.example", 2)])
    assert sorted(rows_of(rare, published(rare)[0])["b"]) == [(0, "tea", TEA, 1)]  # not one more row without a click


def test_columns_that_the_log_has_not_are_not_published():
    log = QueryLog.of(["a", "b"], ["tea", "tea"])
    table, kept = published(log)
    assert (table.log.time, table.log.url, table.log.rank) == (None, None, None)
    assert kept.promises == {"time_grain": "", "click_users": 0}
    assert kept.exposes == ()


def test_senseless_columns_are_refused():
    with pytest.raises(ParameterError, match="keep must be one of none, time"):
        ColumnSettings(keep="ranks")
    with pytest.raises(ParameterError, match="time_grain"):
        ColumnSettings(time_grain="minute")


CLICKED = [(u, "tea", 100 * i, TEA, 1) for i, u in enumerate("abc")] + [
    ("a", "cup", 900, CUP, 1),
    ("b", "cup", 950, CUP, 1),
]


def swept(**given):
    log = log_of(CLICKED)
    settings = {"min_query_users": 1, "keep": "time,clicks", **given}
    return log, qc.anonymize(log, "sweep", seed=1, mapping="segments", **settings)  # a rare text has no label here


def test_the_statement_says_what_columns_expose():
    _, release = swept(min_query_users=3, time_grain="hour")
    assert (release.statement.time_grain, release.statement.click_users) == ("hour", 3)
    said = " ".join(release.statement.does_not_cover)
    assert "the hour of each row is published" in said
    assert "3 people share text and URL" in said
    assert "also those of one person alone" in " ".join(swept()[1].statement.does_not_cover)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": np.array([0, 0, 1])}, "times are promised by the day"),
        ({"time": None}, "times are promised by the day"),
        ({"urls": pl.Series(["http://other.example"])}, "3 clicks are of fewer than 3"),
        ({"rank": np.array([1, 1, 2], dtype=np.int32)}, "1 clicks with their ranks are of fewer"),
        ({"queries": pl.Series(["cup"])}, "3 clicks are of fewer than 3"),
        ({"queries": pl.Series(["cup"]), "urls": pl.Series([CUP])}, "3 clicks are of fewer than 3"),  # of two
        ({"url": None, "urls": None}, "clicks are promised, and there are none"),
        ({"url": np.array([0, 0, -1], dtype=np.int32)}, "ranks are published without their clicks"),
    ],
)
def test_the_gate_recomputes_times_and_clicks(change, message):
    log, release = swept(min_query_users=3)
    check_columns(release.log, release.statement, log)
    with pytest.raises(GateError, match=message):
        check_columns(replace(release.log, **change), release.statement, log)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keep": "clicks"}, "time are published, and were not asked for"),
        ({"keep": "time"}, "clicks are published, and were not asked for"),
        ({"time_grain": "week"}, "not the grain promised"),
        ({"min_query_users": 4}, "clicks of fewer people are promised"),
        ({"max_rows_per_user": 1}, "3 clicks are of fewer than 3"),
    ],
)
def test_the_gate_publishes_what_was_asked_for(change, message):
    log, release = swept(min_query_users=3)
    said = replace(release.statement, settings=release.statement.settings | change)
    with pytest.raises(GateError, match=message):
        check_columns(release.log, said, log)


def test_the_gate_finds_urls_that_identify():
    log, release = swept(min_query_users=3)
    named = "http://tea.example/?sid=1"
    log = replace(log, urls=pl.Series([named, CUP]))
    with pytest.raises(GateError, match="1 published URLs hold an identifier"):
        check_columns(replace(release.log, urls=pl.Series([named])), release.statement, log)


def test_people_who_hold_a_text_with_a_url_are_counted():
    log = log_of([
        ("a", "green tea", 1, TEA, 1), ("b", "Tea  cup", 1, TEA, 1), ("c", "teapot", 1, TEA, 1),
        ("d", "tea", 1, CUP, 1),
    ])  # fmt: skip
    table = QueryLog.of(["p", "p", "p"], ["tea", "tea", "cup"], urls=[TEA, CUP, None])
    rows, people = people_per_click(log, table)
    assert rows.tolist() == [0, 1]
    assert people.tolist() == [2, 1]


def test_a_release_with_columns_has_the_form_of_the_input(tmp_path):
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    for u in range(3):
        lines += [f"{u}\ttea\t2006-03-01 10:0{u}:00\t1\t{TEA}", f"{u}\tcup {u}\t2006-03-02 11:00:00\t\t"]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(lines) + "\n")
    log = qc.read_log(path)
    release = qc.anonymize(log, "sweep", seed=1, min_query_users=3, keep="time,clicks")
    out = tmp_path / "release.txt"
    qc.write_release(release, out)
    header, *body = out.read_text().splitlines()
    assert header == lines[0]
    assert {line.split("\t", 1)[1] for line in body} == {
        f"tea\t2006-03-01 00:00:00\t1\t{TEA}",
        "cup\t2006-03-02 00:00:00\t\t",
    }
    back = qc.read_release(out)
    assert back.statement.time_grain == "day"
    assert back.log.time.tolist() == release.log.time.tolist()


def test_sweep_keeps_nothing_that_it_is_not_asked_to():
    log = log_of(CLICKED)
    release = qc.anonymize(log, "sweep", seed=1, **Sweep(min_query_users=1, keep="none").to_json())
    assert (release.log.time, release.log.url, release.log.rank) == (None, None, None)
