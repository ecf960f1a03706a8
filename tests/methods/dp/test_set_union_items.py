"""The items of a set union: each user's own queries, runs of words and clicks, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reference.set_union import runs_of

from querycloak.logs.query_log import QueryLog
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.methods.dp._set_union_items import click_items, phrase_items, query_items
from querycloak.texts.word_runs import LONGEST

WORDS = st.lists(st.sampled_from(["the", "tea", "green", "cup"]), min_size=1, max_size=8)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), WORDS), min_size=1, max_size=8)


def held(items):
    """{user: texts} of items."""
    out = {}
    for user, text in zip(items.users.user.tolist(), items.text(items.users.item).to_list(), strict=True):
        out.setdefault(user, set()).add(text)
    return out


@given(ROWS)
def test_candidates_are_each_users_own_runs(rows):
    log = QueryLog.of([r[0] for r in rows], [" ".join(r[1]).upper() for r in rows])
    items = phrase_items(log, short=True)
    names = log.users.to_list()
    expected = {}
    for user, words in rows:
        runs = {" ".join(run) for run in runs_of(words, LONGEST, STOP_WORDS)}
        if runs:
            expected.setdefault(names.index(user), set()).update(runs)
    assert held(items) == expected
    texts = items.text(np.arange(len(items.cost))).to_list()
    assert items.cost.tolist() == [len(text.split(" ")) for text in texts]
    pairs = list(zip(items.users.user.tolist(), items.users.item.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))


@given(ROWS)
def test_queries_are_as_they_were_typed(rows):
    log = QueryLog.of([r[0] for r in rows], [" ".join(r[1]) for r in rows])
    items = query_items(log, short=True)
    expected = {}
    for user, words in rows:
        expected.setdefault(log.users.to_list().index(user), set()).add(" ".join(words))
    assert held(items) == expected
    assert items.cost.tolist() == [len(text.split(" ")) for text in log.queries.to_list()]
    assert set(query_items(log, short=False).cost.tolist()) == {1}


def test_clicks_are_of_chosen_queries():
    log = QueryLog.of(list("aabbc"), ["x", "x", "x", "y", "x"], urls=["u", "u", "v", "u", None])
    items = click_items(log, np.array([0]))
    urls = log.urls.gather(items.url(items.users.item)).to_list()
    texts = items.text(items.users.item).to_list()
    assert list(zip(items.users.user.tolist(), texts, urls, strict=True)) == [(0, "x", "u"), (1, "x", "v")]
    assert len(click_items(log, np.zeros(0, np.int64)).users.user) == 0
    assert len(click_items(QueryLog.of(["a", "b"], ["x", "x"]), np.array([0])).users.user) == 0
