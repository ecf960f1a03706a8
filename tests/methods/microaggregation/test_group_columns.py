"""Times and clicks in groups: all members have the same, and their order tells nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from samples import sample_log

import querycloak as qc
from querycloak.errors import ParameterError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.microaggregation._group_release import GroupBags, release_groups
from querycloak.methods.microaggregation._group_settings import GroupSettings
from querycloak.randomness import Randomness
from querycloak.releases.classes import class_sizes

TEA = "http://tea.example"
DAY = 86_400
LOG = QueryLog.of(
    ["a", "a", "b", "b", "c", "c"],
    ["cup", "tea", "tea", "cup", "cup", "tea"],
    times=[DAY + 7, 5, 9, DAY, 3 * DAY, 8],
    urls=["http://cup.example", TEA, TEA, None, None, None],
)
WORDS = pl.Series(["cup", "tea"])


def released(bag_row, keep="time,clicks", bag_query=None, text=(0, 1), **settings):
    """Publish the rows bag_row of LOG for one group of all three people."""
    row = np.array(bag_row)
    query = LOG.query[row].astype(np.int64) if bag_query is None else np.array(bag_query)
    bags = GroupBags(
        user=np.arange(3),
        group=np.zeros(3, np.int64),
        bag_group=np.zeros(len(row), np.int64),
        bag_query=query,
        bag_row=row,
        queries=WORDS,
        text=None if text is None else np.array(text),
    )
    given = GroupSettings(k=3, min_query_users=2, keep=keep, **settings)
    return release_groups("by-hand", LOG, given, Randomness(1), bags, dropped={}, figures={})


def rows_of(release):
    """The rows of the first published id: (time, text, url)."""
    table = release.log
    first = np.flatnonzero(table.user == 0)
    none = np.full(len(table), -1)
    urls, times = none if table.url is None else table.url, none if table.time is None else table.time
    return [
        (int(times[i]), table.queries[int(table.query[i])], "" if urls[i] < 0 else table.urls[int(urls[i])])
        for i in first
    ]


def test_all_members_have_the_same_times_and_clicks():
    release = released([0, 1, 2, 4])
    assert (class_sizes(release.log, ordered=True) == 3).all()
    expected = [(0, "tea", TEA), (0, "tea", TEA), (DAY, "cup", ""), (3 * DAY, "cup", "")]  # one clicked the cup
    assert rows_of(release) == expected
    assert release.statement.time_grain == "day"
    assert release.statement.click_users == 2


@pytest.mark.parametrize("keep", ["none", "time", "clicks", "time,clicks"])
def test_the_order_of_rows_tells_nothing(keep):
    """Of the two rows with tea one has a click: whether it comes first must not depend on the order of the bag."""
    rows = rows_of(released([0, 1, 5, 3], keep))
    assert rows == rows_of(released([3, 5, 1, 0], keep))
    assert rows == sorted(rows)


def test_entries_without_a_row_have_neither_time_nor_click():
    rows = rows_of(released([-1, 1], bag_query=[0, 1]))
    assert [(text, url) for _, text, url in rows] == [("cup", ""), ("tea", TEA)]
    assert rows[0][0] < 0 == rows[1][0]


def test_columns_are_refused_where_entries_come_from_no_rows():
    with pytest.raises(ParameterError, match="keep must be none with as_in_paper"):
        released([0, 1], text=None)


@pytest.mark.parametrize("keep", ["none", "time", "clicks", "time,clicks"])
def test_a_method_with_groups_publishes_what_is_asked_for(keep):
    release = qc.anonymize(sample_log(), "plain-microaggregation", seed=1, k=3, keep=keep)
    assert release.passed
    assert (release.log.time is not None) == ("time" in keep)
    assert (release.log.url is not None) == ("clicks" in keep)
    if "clicks" in keep:
        assert (release.log.url >= 0).any()
