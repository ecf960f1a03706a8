"""Files of rules: what is wrong is refused with file, line, and what is allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.methods.policy.policy import Policy
from querycloak.methods.policy.policy_text import parse_policy
from querycloak.methods.policy.presets_list import PRESETS, policy_text
from querycloak.methods.policy.rules import RULES

BAD = {
    "unknown rule": ('name = "x"\n\n[query_user]\npeople = 3\n', 3, ["'query_user'", "Did you mean 'query_users'?"]),
    "unknown setting": ("[query_users]\npeople = 3\nday = 3\n", 3, ["'day'", "'days'", "people"]),
    "unknown top": ('[ids]\nper = "none"\n\n[other]\n', 4, ["'other'", "There are: as_counts"]),
    "wrong type": (
        '[query_users]\n# so many\npeople = "3"\n',
        3,
        ["query_users.people must be an integer >= 1", "'3'"],
    ),
    "a bool is no number": ("[query_users]\npeople = true\n", 2, ["an integer >= 1", "True"]),
    "a threshold of 0": ("[query_users]\npeople = 0\n", 2, ["an integer >= 1, got 0"]),
    "days of 0": ("[query_users]\npeople = 3\ndays = 0\n", 3, ["query_users.days must be an integer >= 1, got 0"]),
    "clicks of 0 people": ("[combination_users]\npeople = 0\n", 2, ["an integer >= 1, got 0"]),
    "counts of 0": ("[as_counts]\nleast = 0\n", 2, ["an integer >= 1, got 0"]),
    "a gap of 0": ('[ids]\nper = "session"\ngap = 0\n', 3, ["ids.gap must be an integer >= 1, got 0"]),
    "negative": ("[phrase_users]\npeople = -5\n", 2, ["an integer >= 1, got -5"]),
    "no threshold": ("[length]\nwords = 3\n", None, None),
    "threshold missing": ("[phrase_users]\n", 1, ["phrase_users needs people"]),
    "length of nothing": ("\n[length]\npeople = 3\n", 2, ["length.words must be given, or `characters`"]),
    "unknown choice": ('[ids]\nper = "week"\n', 2, ["one of none, release, day, session, got 'week'"]),
    "unknown kind": ('[identifiers]\nkinds = ["mial"]\n', 2, ["a list of: all, mail", "['mial']"]),
    "no list": ('[columns]\nkeep = "url"\n', 2, ["columns.keep must be a list of texts, got 'url'"]),
    "list of numbers": ("[columns]\nkeep = [1]\n", 2, ["columns.keep must be a list of texts"]),
    "twice in a list": ('[columns]\nkeep = ["url", "url"]\n', 2, ["each once"]),
    "a grain of 0": ('[columns]\nkeep = ["rank"]\nround = { rank = 0 }\n', 3, ["whole numbers >= 1"]),
    "rounded and not kept": ('[columns]\nkeep = ["url"]\nround = { rank = 5 }\n', 3, ["'rank'", "columns.keep"]),
    "more than all": ("[sample]\nshare = 1.5\n", 2, ["<= 1, got 1.5"]),
    "a share of 0": ("[sample]\nshare = 0.0\n", 2, ["> 0, got 0.0"]),
    "order": (
        "[length]\nwords = 5\n\n[identifiers]\n",
        4,
        ["identifiers comes after length", "identifiers, query_users"],
    ),
    "counts with ids": ('[ids]\nper = "day"\n\n[as_counts]\n', 4, ["as_counts publishes no ids", '"day"']),
    "twice": ("[ids]\n[ids]\n", 2, ["not TOML"]),
    "not TOML": ("[query_users]\npeople 3\n", 2, ["not TOML"]),
    "unfinished": ("[query_users]\npeople = [3\n", None, ["not TOML"]),
    "no table": ("query_users = 3\n", 1, ["expected a table [query_users]"]),
    "a rule in a line": ("query_users = { people = 0 }\n", 1, ["an integer >= 1, got 0"]),
    "dotted": ("query_users.people = 0\n", 1, ["an integer >= 1, got 0"]),
    "name is no text": ("name = 3\n[ids]\n", 1, ["name must be a text"]),
    "empty": ("# nothing\n", None, ["no rule in it; there are: identifiers, query_users"]),
}


@pytest.mark.parametrize("case", [case for case, (*_, parts) in BAD.items() if parts is not None])
def test_what_is_wrong_is_refused_with_its_line(case, tmp_path):
    text, line, parts = BAD[case]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        Policy(rules=str(path))
    message = str(refused.value)
    assert message.startswith(f"{path}, line {line}: " if line else f"{path}")
    assert message.endswith(".")
    for part in parts:
        assert part in message


def test_a_key_of_another_rule_is_not_taken_for_the_wrong_one():
    text = "[query_users]\npeople = 3\n[phrase_users]\n\npeople = 0\n"
    with pytest.raises(InputError, match=r"line 5: phrase_users\.people"):
        parse_policy(text, "mine.toml")


def test_files_that_are_not_there_or_no_text(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Policy(rules=str(tmp_path / "none.toml"))
    with pytest.raises(UnknownNameError, match="Did you mean 'google-2024'"):
        Policy(rules="gogle-2024")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        Policy(rules=str(tmp_path / "bad.toml"))
    (tmp_path / "long.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="at most"):
        Policy(rules=str(tmp_path / "long.toml"))
    with pytest.raises(InputError, match="directory"):
        Policy(rules=str(tmp_path / "."))
    with pytest.raises(ParameterError, match="a preset or a file"):
        Policy(rules=" ")


def test_line_ends_and_marks_of_other_systems_do_not_matter(tmp_path):
    (tmp_path / "mine.toml").write_bytes("﻿[query_users]\r\npeople = 3\r\n".encode())
    assert Policy(rules=str(tmp_path / "mine.toml")) == Policy(rules="[query_users]\npeople = 3\n")


def test_rules_are_in_the_order_of_the_specification():
    order = "identifiers query_users entities phrase_users length combination_users time ids columns sample as_counts"
    assert list(RULES) == order.split()


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "identifiers": st.fixed_dictionaries({}, optional={"names": st.booleans(), "famous": st.integers(1, 99)}),
            "query_users": st.fixed_dictionaries({"people": st.integers(1, 99)}, optional={"days": st.integers(1, 9)}),
            "ids": st.fixed_dictionaries({"per": st.sampled_from(["release", "day"])}, optional={"most": st.just(3)}),
            "columns": st.fixed_dictionaries({"keep": st.just(["rank", "a b"]), "round": st.just({"rank": 5})}),
            "sample": st.fixed_dictionaries({"share": st.floats(0.001, 1)}),
        },
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9),
)
def test_rules_become_text_and_the_same_rules_again(tables, name):
    from querycloak.methods.policy.policy_text import PolicyRules

    tables = tables or {"ids": {}}
    rules = PolicyRules({rule: RULES[rule].settings(**tables[rule]) for rule in RULES if rule in tables}, name)
    assert parse_policy(rules.text(), "rules") == rules


@pytest.mark.parametrize("name", PRESETS)
def test_shown_saved_and_used_is_the_preset(name, tmp_path):
    (tmp_path / "saved.toml").write_text(policy_text(name)[0])
    assert Policy(rules=str(tmp_path / "saved.toml")) == Policy(rules=name)
