"""One person is one user: ids that look the same are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.source import read_log
from querycloak.logs.user_ids import normal_user

INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
SPACE = " \t\u00a0\u3000\x0b\x1f"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd = st.text(st.sampled_from(INVISIBLE + SPACE + "ae\u0301\u0308\uff17\u00a8"), max_size=8)


@given(texts | odd)
def test_normal_form_is_stable(text):
    normal = normal_user(text)
    assert normal_user(normal) == normal
    assert normal == normal.strip()
    assert unicodedata.is_normalized("NFKC", normal)
    assert not set(normal) & set(INVISIBLE)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12))
def test_ascii_without_spaces_is_its_own_normal_form(text):
    assert normal_user(text) == text


@given(
    st.text(st.sampled_from("abc7"), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(INVISIBLE))),
    st.text(st.sampled_from(SPACE), max_size=2),
    st.text(st.sampled_from(SPACE), max_size=2),
)
def test_what_cannot_be_seen_does_not_count(text, put, before, after):
    written = text
    for at, mark in put:
        written = written[:at] + mark + written[at:]
    assert normal_user(before + written + after) == text


def test_case_and_inner_spaces_count():
    assert len({normal_user(text) for text in ("ann lee", "annlee", "Ann lee")}) == 3


def test_a_log_in_memory_is_normalised_too():
    log = QueryLog.of(["ann", " ann", "a\u200bnn", "\uff41nn", "bob"], ["tea"] * 5)
    assert (log.users.to_list(), log.user.tolist()) == (["ann", "bob"], [0, 0, 0, 0, 1])


SPELLINGS = ["7\uff14", "74", "\u200b74", "74 ", "e\u0301", "\u00e9", "\ufeff", "74"]


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "ascii", "json"])
def test_spellings_of_one_user_have_one_code(tmp_path, form):
    import json

    rows = [{"user": user, "query": f"q{i}"} for i, user in enumerate(SPELLINGS)]
    if form in {"tsv", "csv"}:
        by = "\t" if form == "tsv" else ","
        text = f"user{by}query\n" + "".join(f"{r['user']}{by}{r['query']}\n" for r in rows)
    elif form == "json":
        text = json.dumps(rows)
    else:
        text = "".join(json.dumps(r, ensure_ascii=form == "ascii") + "\n" for r in rows)
    (tmp_path / "log").write_bytes(text.encode())
    log = read_log(tmp_path / "log")
    assert log.users.to_list() == ["74", "\u00e9"]
    assert log.user.tolist() == [0, 0, 0, 0, 1, 1, 0]
    assert log.problems == {"rows without a user, left out": 1}


def test_a_quote_tells_what_is_escaped_from_what_looks_like_it(tmp_path):
    (tmp_path / "log").write_bytes(b'user,query\n a""b,x\n" a""b",y\na"b,z\n')
    log = read_log(tmp_path / "log", ReadOptions(format="csv"))
    assert (log.users.to_list(), log.user.tolist()) == (['a""b', 'a"b'], [0, 1, 1])
