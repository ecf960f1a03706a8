"""Every threshold of every preset at one person, day, word or minute too few, just enough, and one more."""

from __future__ import annotations

import numpy as np
import pytest
from sample_policies import DAY, SPRING, log_of, preset, published, texts_of

from querycloak.methods.policy.policy_text import parse_policy
from querycloak.methods.policy.presets_list import PRESETS, policy_text

LETTERS = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"] + [f"{a}{b}x" for a in "hjklm" for b in "aeiou"]


def askers(n, text, time=SPRING, url=None, prefix="u"):
    return [(f"{prefix}{i}", text, time, url) for i in range(n)]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_named_as_their_files_and_say_what_we_read_and_chose(name):
    text = policy_text(name)[0]
    policy = parse_policy(text, name)
    assert policy.name == name
    assert policy.about
    for word in ("# Source:", "# We read:", "# We chose:"):
        assert word in text
    assert parse_policy(policy.text(), name) == policy


class TestGoogle:
    """30 people in 13 months; results of 5 people in a quarter; counts."""

    @pytest.mark.parametrize(("people", "kept"), [(29, False), (30, True), (31, True)])
    def test_people_of_a_query(self, people, kept):
        release = published(log_of(askers(people, "green tea") + askers(40, "tea")), "google-2024")
        assert ("green tea" in texts_of(release)) == kept
        assert release.kind == "counts"
        assert release.truth is None

    @pytest.mark.parametrize(("days", "kept"), [(394, True), (395, False), (396, False)])
    def test_days_before_the_end_of_the_log(self, days, kept):
        rows = [*askers(29, "green tea"), ("late", "green tea", SPRING - days * DAY, None), *askers(31, "tea")]
        assert ("green tea" in texts_of(published(log_of(rows), "google-2024"))) == kept

    @pytest.mark.parametrize(("people", "kept"), [(4, False), (5, True), (6, True)])
    def test_people_of_a_click(self, people, kept):
        rows = askers(people, "tea", url="http://a.example") + askers(40, "tea", prefix="v")
        release = published(log_of([*rows, ("w", "tea", SPRING, "http://b.example")]), "google-2024")
        urls = release.log.urls.to_list()
        assert urls == (["http://a.example"] if kept else [])
        assert release.log.extra["count"].sum() == 41 + people  # a query without its click is still counted

    @pytest.mark.parametrize(("days", "kept"), [(90, True), (91, False), (92, False)])
    def test_days_of_a_quarter(self, days, kept):
        rows = askers(4, "tea", url="http://a.example") + askers(40, "tea", prefix="v")
        rows += [("w", "tea", SPRING + days * DAY, "http://a.example")]
        release = published(log_of(rows), "google-2024")
        assert release.log.urls.to_list() == (["http://a.example"] if kept else [])

    def test_country_and_device_are_part_of_the_combination_where_the_log_has_them(self):
        rows = askers(40, "tea", url="http://a.example")
        country = ["be"] * 36 + ["nl"] * 4
        release = published(log_of(rows, country=country, device=["phone"] * 40, browser=["x"] * 40), "google-2024")
        table = release.log
        seen = set(
            zip(table.extra["country"].to_list(), table.extra["count"].to_list(), table.url.tolist(), strict=True)
        )
        assert seen == {("be", 36, 0), (None, 4, -1)}
        assert "browser" not in table.extra.columns
        missing = published(log_of(rows), "google-2024").statement.does_not_cover
        assert any("country, device" in said for said in missing)


class TestCommission:
    """Words of 10 people, spans of 30; 6 words unless 5 people asked; sessions of 30 minutes and 5 queries."""

    @pytest.mark.parametrize(("people", "kept"), [(9, False), (10, True), (11, True)])
    def test_people_of_a_word(self, people, kept):
        rows = askers(20, "tea") + askers(people, "pot", prefix="v") + [("v0", "tea pot", SPRING, None)]
        assert ("tea pot" in texts_of(published(log_of(rows), "commission-2026-draft"))) == kept

    @pytest.mark.parametrize(("people", "kept"), [(29, False), (30, True), (31, True)])
    @pytest.mark.parametrize("span", ["555-010-1234", "maria kowalski"])
    def test_people_of_a_name_or_a_number(self, people, kept, span):
        rows = askers(31, "tea") + askers(people, span) + [("u0", f"tea {span}", SPRING, None)]
        assert (f"tea {span}" in texts_of(published(log_of(rows), "commission-2026-draft"))) == kept

    def test_a_number_is_the_same_however_it_is_written(self):
        rows = askers(15, "555-010-1234") + askers(15, "(555) 010 1234", prefix="v")
        assert len(texts_of(published(log_of(rows), "commission-2026-draft"))) == 30

    @pytest.mark.parametrize(("words", "people", "kept"), [(6, 4, True), (7, 4, False), (7, 5, True), (8, 6, True)])
    def test_words_of_a_query(self, words, people, kept):
        text = " ".join(LETTERS[:words])
        rows = askers(12, " ".join(LETTERS[:4])) + askers(12, " ".join(LETTERS[4:8])) + askers(people, text)
        assert (text in texts_of(published(log_of(rows), "commission-2026-draft"))) == kept

    @pytest.mark.parametrize(("minutes", "sessions"), [(29, 1), (30, 1), (31, 2)])
    def test_minutes_between_two_queries(self, minutes, sessions):
        rows = [("u0", "tea", SPRING, None), ("u0", "tea", SPRING + 60 * minutes, None)]
        release = published(log_of(rows), preset("commission-2026-draft", people="people = 1", span_people=""))
        assert len(release.log.users) == sessions
        assert set(release.truth.user.tolist()) == {0}
        assert release.statement.ids == "session"

    @pytest.mark.parametrize(("queries", "sessions"), [(4, 1), (5, 1), (6, 2), (11, 3)])
    def test_queries_of_a_session(self, queries, sessions):
        rows = [("u0", f"{LETTERS[i]}", SPRING + i, None) for i in range(queries)]
        release = published(log_of(rows), preset("commission-2026-draft", people="people = 1", span_people=""))
        assert len(release.log.users) == sessions
        assert np.bincount(release.log.user).max() <= 5

    def test_times_are_hours(self):
        release = published(log_of(askers(12, "tea", time=SPRING + 3 * 3600 + 1799)), "commission-2026-draft")
        assert set(release.log.time.tolist()) == {SPRING + 3 * 3600}


class TestDuckDuckGo:
    """Identifiers and names out; words of 2 people; 20 words, 150 characters; days."""

    @pytest.mark.parametrize("text", ["jane@tea.example", "call 555-010-1234", "maria kowalski"])
    def test_personal_information_goes(self, text):
        release = published(log_of(askers(29, text) + askers(2, "tea")), "duckduckgo-2026")
        assert texts_of(release) == ["tea", "tea"]
        assert release.statement.identifiers_dropped

    @pytest.mark.parametrize(("people", "kept"), [(29, False), (30, True), (31, True)])
    def test_a_famous_name_stays(self, people, kept):
        release = published(log_of(askers(people, "maria kowalski") + askers(2, "tea")), "duckduckgo-2026")
        assert ("maria kowalski" in texts_of(release)) == kept

    @pytest.mark.parametrize(("people", "kept"), [(1, False), (2, True), (3, True)])
    def test_people_of_a_word(self, people, kept):
        rows = askers(3, "tea") + askers(people, "pot", prefix="v") + [("v0", "tea pot", SPRING, None)]
        assert ("tea pot" in texts_of(published(log_of(rows), "duckduckgo-2026"))) == kept

    @pytest.mark.parametrize(("words", "kept"), [(19, True), (20, True), (21, False)])
    def test_words_of_a_query(self, words, kept):
        text = " ".join(LETTERS[:words])
        assert (text in texts_of(published(log_of(askers(2, text) + askers(2, "tea")), "duckduckgo-2026"))) == kept

    @pytest.mark.parametrize(("characters", "kept"), [(149, True), (150, True), (151, False)])
    def test_characters_of_a_query(self, characters, kept):
        text = "x" * characters
        assert (text in texts_of(published(log_of(askers(2, text) + askers(2, "tea")), "duckduckgo-2026"))) == kept

    @pytest.mark.parametrize(("seconds", "ids"), [(DAY - 1, 1), (DAY, 2), (DAY + 1, 2)])
    def test_an_id_lasts_a_day(self, seconds, ids):
        rows = [("u0", "tea", SPRING, None), ("u0", "tea", SPRING + seconds, None), ("u1", "tea", SPRING, None)]
        release = published(log_of(rows), "duckduckgo-2026")
        assert (release.truth.user == 0).sum() == ids
        assert set((release.log.time % DAY).tolist()) == {0}


def test_aol_keeps_everything_but_the_ids():
    rows = [("4417749", "tea", SPRING + 17, "http://a.example"), ("4417749", "jane@tea.example", SPRING + 18, None)]
    release = published(log_of(rows), "aol-2006")
    assert texts_of(release) == ["jane@tea.example", "tea"]
    assert sorted(release.log.time.tolist()) == [SPRING + 17, SPRING + 18]
    assert release.log.urls.to_list() == ["http://a.example"]
    assert release.log.users.to_list() != ["4417749"]
    assert release.statement.text_users == 1
    assert not release.statement.identifiers_dropped
