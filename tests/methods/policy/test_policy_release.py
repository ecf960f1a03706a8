"""What a policy publishes and what its statement claims."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sample_policies import DAY, SPRING, applied, log_of, preset, published, texts_of
from samples import sample_log

from querycloak.errors import GateError, UserError
from querycloak.methods.policy.policy import Policy
from querycloak.methods.policy.presets_list import PRESETS
from querycloak.releases.files import read_release, write_release
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.truth_file import read_truth, write_truth
from querycloak.releases.verify import verify, verify_truth

SESSIONS = '[ids]\nper = "session"\ngap = 30\n'


def asked(people, text):
    return [(f"u{i}", text, SPRING + i) for i in range(people)]


@pytest.mark.parametrize("name", PRESETS)
def test_no_policy_promises_a_bound(name):
    statement = published(sample_log(40), name).statement
    assert (statement.model, statement.parameters, statement.unit, statement.covers) == ("none", {}, "none", ())
    assert statement.bound is None
    assert statement.does_not_cover[0].startswith("no bound for any person is proved")


def test_the_statement_holds_the_rules_and_a_further_run_needs_no_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[query_users]\npeople = 2\n")
    log = log_of(asked(3, "tea") + asked(1, "pot"))
    first = published(log, str(path))
    path.write_text("[query_users]\npeople = 1\n")
    rules = first.statement.settings["rules"]
    assert "people = 2" in rules
    again = published(log, rules)
    assert texts_of(again) == texts_of(first) == ["tea"] * 3
    assert again.statement == first.statement
    settings = Policy.from_json(first.statement.settings)
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize(
    ("rules", "promised"),
    [
        ("[query_users]\npeople = 3\n", 3),
        ('[phrase_users]\npeople = 3\nevery = "query"\n', 3),
        ("[phrase_users]\npeople = 3\n", 1),
        ("[entities]\npeople = 3\n", 1),
        ("[length]\nwords = 3\npeople = 3\n", 1),
        ('[phrase_users]\npeople = 3\nevery = "query"\nrare = "cut"\n', 1),
        ("[query_users]\npeople = 3\n[entities]\npeople = 3\n", 3),
    ],
)
def test_people_are_promised_only_by_rules_about_whole_queries(rules, promised):
    log = log_of(asked(4, "tea") + asked(4, "pot") + asked(1, "tea pot"))
    assert published(log, rules).statement.text_users == promised


def test_the_spelling_of_one_person_is_not_published():
    rows = [*asked(3, "green tea"), ("v", "Green  TEA", SPRING)]
    assert set(texts_of(published(log_of(rows), "[query_users]\npeople = 3\n"))) == {"green tea"}
    rows = [*asked(3, "tea"), *asked(3, "pot"), ("u1", "Tea POT", SPRING)]
    assert "tea pot" in texts_of(published(log_of(rows), "[phrase_users]\npeople = 3\n"))


def test_what_was_dropped_is_counted_by_rule():
    rows = [*asked(3, "tea"), *asked(3, "call 555-010-1234"), *asked(1, "pot"), *asked(3, "a b c d e")]
    release = published(
        log_of(rows), "[identifiers]\n[query_users]\npeople = 2\n[length]\nwords = 4\n[sample]\nshare = 0.34\n"
    )
    dropped = {reason: n for reason, n in release.statement.dropped.items() if n}
    assert dropped == {
        "identifiers: personal identifier": 3,
        "query_users: asked by fewer than 2 people": 1,
        "length: too long": 3,
        "sample: not drawn": 2,
    }
    assert len(release.log) + sum(dropped.values()) == len(rows)


def test_identifiers_are_promised_only_where_all_kinds_go():
    log = log_of(asked(3, "tea"))
    assert published(log, "[identifiers]\n").statement.identifiers_dropped
    assert not published(log, "[identifiers]\nnames = false\n").statement.identifiers_dropped
    assert not published(log, '[identifiers]\nkinds = ["mail"]\n').statement.identifiers_dropped
    assert not published(log, "[query_users]\npeople = 1\n").statement.identifiers_dropped


def test_kinds_that_are_not_named_stay():
    log = log_of([*asked(1, "jane@tea.example"), *asked(1, "555-010-1234")])
    assert texts_of(published(log, '[identifiers]\nkinds = ["mail"]\nnames = false\n')) == ["555-010-1234"]


def test_an_identifier_that_a_cut_puts_together_is_not_published():
    rows = [*asked(3, "555-010 tea"), *asked(3, "pot 1234"), ("u0", "555-010 secret 1234", SPRING)]
    rules = '[identifiers]\n[entities]\npeople = 3\nnames = false\nrare = "cut"\n'
    assert "555-010 1234" in texts_of(published(log_of(rows), rules.removeprefix("[identifiers]\n")))
    release = published(log_of(rows), rules)
    assert "555-010 1234" not in texts_of(release)
    assert release.statement.identifiers_dropped
    assert release.statement.parts


def test_without_rules_about_them_columns_are_not_published_and_ids_are_new():
    log = log_of([("u1", "tea", SPRING, "http://a.example")], secret=["x"])
    release = published(log, "[query_users]\npeople = 1\n")
    table = release.log
    assert (table.time, table.rank, table.url, table.extra, table.category) == (None,) * 5
    assert table.users.to_list() != ["u1"]


def test_numbers_of_columns_are_rounded():
    log = replace(log_of(asked(3, "tea"), age=["34", "39", "x"]), rank=np.array([1, 7, -1], dtype=np.int32))
    rules = '[columns]\nkeep = ["rank", "age"]\nround = { rank = 5, age = 10 }\n'
    table = published(log, rules).log
    assert sorted(table.rank.tolist()) == [-1, 0, 5]
    assert sorted(table.extra["age"].to_list(), key=str) == [30, 30, None]


def test_rows_within_a_grain_are_shuffled_and_others_keep_their_order():
    rows = [("u", f"tea {n:03d}", SPRING + n) for n in range(40)] + [("u", "late", SPRING + DAY)]
    rules = '[time]\ngrain = "day"\nshuffle = {}\n[columns]\nkeep = ["time"]\n'
    in_order = published(log_of(rows), rules.format("false")).log
    shuffled = published(log_of(rows), rules.format("true")).log
    told = [log.queries.gather(log.query).to_list() for log in (in_order, shuffled)]
    assert told[0] == [text for _, text, _ in rows]
    assert told[1] != told[0]
    assert told[1][-1] == "late"
    assert sorted(told[0]) == sorted(told[1])


def test_rows_without_ids_are_counts_of_equal_rows():
    release = published(log_of(asked(3, "tea") + asked(1, "pot")), '[ids]\nper = "none"\n')
    assert release.kind == "counts"
    assert release.log.extra["count"].to_list() == [3, 1]
    assert texts_of(release) == ["pot", "tea"]


@pytest.mark.parametrize("per", ["day", "session"])
def test_days_and_sessions_need_times(per):
    with pytest.raises(UserError, match="no times"):
        applied(log_of([("u", "tea"), ("v", "tea")]), f'[ids]\nper = "{per}"\n')


def test_several_ids_go_to_a_file_and_back(tmp_path):
    rows = [(f"u{u}", f"tea {u}", SPRING + n * DAY) for u in range(3) for n in range(2)]
    log = log_of(rows)
    release = published(log, SESSIONS)
    assert len(release.log.users) == 6
    assert sorted(release.truth.user.tolist()) == [0, 0, 1, 1, 2, 2]
    commitment = write_truth(release, log, tmp_path / "truth.tsv")
    write_release(release, tmp_path / "release.tsv", commitment=commitment)
    again = read_release(tmp_path / "release.tsv")
    assert again.statement.ids == "session"
    assert read_truth(tmp_path / "truth.tsv", log, again).user.tolist() == release.truth.user.tolist()
    findings = verify(tmp_path / "release.tsv", log, truth=tmp_path / "truth.tsv")
    assert all(finding.holds is not False for finding in findings)
    assert "6 ids of 3 people" in verify_truth(release)[0].seen


def test_the_gate_lets_several_ids_through_only_where_the_statement_says_so():
    log = log_of([("u", "tea", SPRING), ("u", "tea", SPRING + DAY), ("v", "tea", SPRING)])
    release = published(log, SESSIONS)
    whole = replace(release.statement, ids="person")
    with pytest.raises(GateError, match="two published ids stand for one person"):
        publish_log(release.log, whole, release.truth, Evidence(log))
    bound = replace(release.statement, model="k-anonymity", unit="user", parameters={"k": 1.0})
    with pytest.raises(GateError, match="several ids"):
        publish_log(release.log, bound, release.truth, Evidence(log))
    promised = replace(release.statement, model="k-anonymity of users")
    with pytest.raises(GateError, match="several ids"):
        publish_log(release.log, promised, release.truth, Evidence(log))


def test_further_clicks_are_published_only_with_their_urls():
    rows = [("u", "tea", SPRING, "http://a.example"), ("u", "tea", SPRING, "http://b.example")]
    assert len(published(log_of(rows), SESSIONS).log) == 1
    both = published(log_of(rows), f'{SESSIONS}[columns]\nkeep = ["url"]\n')
    assert len(both.log) == 2
    assert len(both.log.users) == 1


def test_presets_take_other_numbers():
    assert "people = 3" in Policy(rules=preset("google-2024", people="people = 3")).rules
