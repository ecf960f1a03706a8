"""What every method of the catalog keeps. Registering a method buys all of these checks."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import pytest
from places import ROOT
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.catalog import METHODS, method
from querycloak.errors import UserError
from querycloak.logs.query_log import QueryLog
from querycloak.methods.policy.presets_list import PRESETS
from querycloak.releases.files import write_release
from querycloak.releases.statement import TWO_RELEASES
from querycloak.settings import Settings

if TYPE_CHECKING:
    from querycloak.releases.release import Release

NAMES = [*sorted(METHODS), *(f"policy:{preset}" for preset in PRESETS)]
EMPTY = QueryLog.of([], [], times=[], urls=[])
COLUMNS = ("user", "query", "time", "rank", "url", "category")


def run(name: str, log: QueryLog, seed: int | None = 5) -> Release:
    directory = sample_directory() if "directory" in method(name).needs else None
    return qc.anonymize(log, name, seed=seed, directory=directory)


@pytest.mark.parametrize("name", NAMES)
def test_does_not_change_its_input(name):
    log, twin = sample_log(), sample_log()
    run(name, log)
    for column in COLUMNS:
        before, after = getattr(twin, column), getattr(log, column)
        assert (before is None) == (after is None)
        if before is not None:
            np.testing.assert_array_equal(before, after)
    assert log.queries.equals(twin.queries)
    assert log.users.equals(twin.users)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name, tmp_path):
    for i in range(2):
        write_release(run(name, sample_log()), tmp_path / f"{i}.tsv")
    assert (tmp_path / "0.tsv").read_bytes() == (tmp_path / "1.tsv").read_bytes()
    assert (tmp_path / "0.tsv").stat().st_size > 0
    first, second = ((tmp_path / f"{i}.tsv.statement.json").read_text() for i in range(2))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_without_a_seed_ids_differ_from_run_to_run(name):
    first, second = run(name, sample_log(), seed=None), run(name, sample_log(), seed=None)
    assert "operating system" in first.statement.randomness
    if first.has_users:
        assert set(first.log.users.to_list()).isdisjoint(second.log.users.to_list())


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_log_gives_an_empty_release_or_one_sentence(name):
    try:
        outcome = run(name, EMPTY)
    except UserError as error:
        outcome = str(error)
    assert outcome.endswith(".") if isinstance(outcome, str) else len(outcome.log) == 0


@pytest.mark.parametrize("name", NAMES)
def test_pickles(name):
    release = run(name, sample_log())
    again = pickle.loads(pickle.dumps(release))
    np.testing.assert_array_equal(release.log.user, again.log.user)
    np.testing.assert_array_equal(release.log.query, again.log.query)
    assert release.statement == again.statement


@pytest.mark.parametrize("name", NAMES)
def test_settings_go_to_json_and_back(name):
    kind = method(name).settings
    assert issubclass(kind, Settings)
    settings = kind()
    assert kind.from_json(settings.to_json()) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    for field in fields(kind):
        assert field.metadata.get("help"), f"{kind.__name__}.{field.name} has no help"


@pytest.mark.parametrize("name", NAMES)
def test_invents_no_user_and_publishes_no_original_id(name):
    log = sample_log()
    release = run(name, log)
    if not release.has_users:
        return
    assert release.statement.new_ids
    assert set(release.log.users.to_list()).isdisjoint(log.users.to_list())
    if release.statement.ids == "invented":  # no id stands for anybody, which only differential privacy can promise
        assert release.truth is None
        assert release.statement.unit == "user"
        assert release.statement.parameters["epsilon"] > 0
        return
    assert release.truth is not None
    assert len(release.truth.user) == len(release.log.users)
    if release.statement.ids == "person":
        assert len(set(release.truth.user.tolist())) == len(release.truth.user)
    else:
        assert release.statement.model == "none"
    assert set(release.truth.user.tolist()) <= set(log.user.tolist())


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_tells_nothing(name):
    release = run(name, sample_log())
    assert (np.diff(release.log.user) >= 0).all(), "rows must be ordered by published id"
    ids = release.log.users.to_list()
    assert ids == sorted(ids)


@pytest.mark.parametrize("name", NAMES)
def test_carries_nothing_it_does_not_publish(name):
    release = run(name, sample_log())
    assert set(release.log.query.tolist()) == set(range(len(release.log.queries)))
    assert set(release.log.user.tolist()) == set(range(len(release.log.users)))
    if name.split(":")[0] == "policy":  # which columns are published, its rules say
        kept = tomllib.loads(release.statement.settings["rules"])["columns"]["keep"]
        if release.log.urls is not None:
            assert set(release.log.url.tolist()) - {-1} == set(range(len(release.log.urls)))
    else:
        kept = ["time", "url"] if release.statement.ids == "invented" else []
    assert {column for column in ("time", "rank", "url") if getattr(release.log, column) is not None} <= set(kept)


@pytest.mark.parametrize("name", NAMES)
def test_the_statement_counts_what_is_there(name):
    log = sample_log()
    release = run(name, log)
    statement = release.statement
    assert statement.method == name.split(":")[0]
    if "epsilon" in statement.parameters:
        assert statement.counts_in == statement.dropped == statement.figures == {}, (
            "exact counts next to noisy ones void the noise"
        )
    else:
        assert statement.counts_in["rows"] == len(log)
    assert statement.counts_out["rows"] == len(release.log)
    assert all(n >= 0 for n in statement.dropped.values())
    assert statement.does_not_cover, "every release leaves something open: say what"
    assert (statement.model == "none") == (method(name).guarantee == "none")


@pytest.mark.parametrize("name", NAMES)
def test_a_method_that_promises_a_k_says_that_two_releases_do_not_add_up(name):
    if "k" in {field.name for field in fields(method(name).settings)} and method(name).guarantee != "none":
        assert TWO_RELEASES in run(name, sample_log()).statement.does_not_cover


@pytest.mark.parametrize("name", NAMES)
def test_no_repr_shows_a_query_or_a_user(name):
    log = sample_log()
    release = run(name, log)
    shown = repr(release) + repr(log) + repr(release.log) + repr(release.truth) + release.statement.short()
    for word in [*log.users.to_list(), *release.log.users.to_list(), "windsurfing", "asthma", "diabetes"]:
        assert word not in shown


@pytest.mark.parametrize("name", NAMES)
def test_is_documented(name):
    card = (ROOT / "docs" / "methods" / f"{name.split(':')[0]}.md").read_text()
    for field in fields(method(name).settings):
        assert f"--{field.name.replace('_', '-')}" in card, f"docs/methods/{name}.md does not name the option"
    assert f"`{name.split(':')[0]}`" in (ROOT / "README.md").read_text()
