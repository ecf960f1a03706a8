"""Rows of varying length against plain lists."""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from querycloak.arrays.ragged import CountedRows, Ragged, row_starts

LISTS = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30)


def columns(pairs):
    return (np.array([p[i] for p in pairs], dtype=np.int32) for i in range(2))


def ragged(lists):
    return Ragged.of_lists(lists, np.int32)


def counted(lists):
    owner = [r for r, row in enumerate(lists) for _ in row]
    value = [v for row in lists for v in row]
    return CountedRows.of(np.array(owner, np.int32), np.array(value, np.int32), len(lists))


def to_counters(rows: CountedRows):
    return [
        Counter(dict(zip(rows.values[a:b].tolist(), rows.counts[a:b].tolist(), strict=True)))
        for a, b in zip(rows.start[:-1], rows.start[1:], strict=True)
    ]


@given(LISTS)
def test_rows_come_back_as_they_went_in(lists):
    rows = ragged(lists)
    assert rows.to_lists() == lists
    assert rows.rows == len(lists)
    assert [rows.row(r).tolist() for r in range(len(lists))] == lists
    assert rows.lengths.tolist() == [len(row) for row in lists]
    assert rows.owner.tolist() == [r for r, row in enumerate(lists) for _ in row]
    assert (rows.start.dtype, rows.values.dtype) == (np.int64, np.int32)
    assert row_starts(rows.lengths).tolist() == rows.start.tolist()


@given(PAIRS)
def test_values_are_gathered_by_owner_in_the_order_they_come(pairs):
    owner, value = columns(pairs)
    expected = [[v for o, v in pairs if o == who] for who in range(5)]
    assert Ragged.of(owner, value, rows=5).to_lists() == expected
    assert Ragged.of(owner, value, rows=5).ascending().to_lists() == [sorted(row) for row in expected]


@given(LISTS, st.data())
def test_take_returns_rows_by_number(lists, data):
    which = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8)) if lists else []
    index = np.array(which, dtype=np.int64)
    assert ragged(lists).take(index).to_lists() == [lists[r] for r in which]
    assert to_counters(counted(lists).take(index)) == [Counter(lists[r]) for r in which]


@given(LISTS)
def test_distinct_keeps_each_value_once_per_row(lists):
    assert ragged(lists).ascending().distinct().to_lists() == [sorted(set(row)) for row in lists]


@given(LISTS)
def test_inverted_returns_the_rows_of_each_value(lists):
    expected = [[r for r, row in enumerate(lists) for v in row if v == value] for value in range(10)]
    assert ragged(lists).inverted(10).to_lists() == expected
    by_value = [Counter(row) for row in expected]
    assert to_counters(counted(lists).inverted(10)) == by_value


@given(LISTS)
def test_sums_add_up_by_row(lists):
    rows = ragged(lists)
    assert rows.sums(rows.values.astype(np.int64) + 1).tolist() == [sum(v + 1 for v in row) for row in lists]


@given(LISTS)
def test_values_are_counted_by_row(lists):
    rows = counted(lists)
    assert to_counters(rows) == [Counter(row) for row in lists]
    assert rows.uncounted.to_lists() == [sorted(set(row)) for row in lists]
    assert (rows.rows, rows.lengths.tolist()) == (len(lists), [len(set(row)) for row in lists])


@given(LISTS, st.sets(st.integers(0, 9)))
def test_keep_leaves_values_out(lists, kept):
    rows = counted(lists)
    found = rows.keep(np.isin(rows.values, list(kept)))
    assert to_counters(found) == [Counter(v for v in row if v in kept) for row in lists]


def test_kernels_take_rows_as_one_argument():
    @numba.njit
    def total(rows, r):
        out = 0
        for i in range(rows.start[r], rows.start[r + 1]):
            out += rows.values[i]
        return out

    rows = ragged([[1, 2], [], [4]])
    assert [total(rows, r) for r in range(3)] == [3, 0, 4]
