"""Names as people write them: case, spaces, underscores and hyphens do not matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import querycloak as qc
from querycloak.catalog import ATTACKS, MEASURES, METHODS, STREAM_METHODS, method
from querycloak.errors import UnknownNameError
from querycloak.evaluation.limits import check_tasks
from querycloak.evaluation.plans import plan_runs
from querycloak.evaluation.reproduce.papers import PAPERS, find_paper
from querycloak.logs.read_options import FORMATS, ReadOptions
from querycloak.methods.policy.presets_list import PRESETS, policy_text
from querycloak.names import match_name, plain_name
from querycloak.tasks.task import TASKS

LISTS = [list(METHODS), list(STREAM_METHODS), list(ATTACKS), list(MEASURES), list(TASKS), list(PAPERS), list(PRESETS)]


def spellings(name):
    return [name, name.upper(), name.replace("-", " "), name.replace("-", "_"), name.title(), f" {name} "]


def test_no_two_names_of_a_list_are_spelled_alike():
    for names in [*LISTS, list(FORMATS), list(METHODS | STREAM_METHODS)]:
        assert len({plain_name(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("names", "find"),
    [
        (METHODS | STREAM_METHODS, lambda name: method(name).name),
        (ATTACKS, lambda name: ATTACKS.find(name).name),
        (MEASURES, lambda name: MEASURES.find(name).name),
        (TASKS, lambda name: check_tasks((name,))[0]),
        (PAPERS, lambda name: find_paper(name).name),
        (PRESETS, lambda name: policy_text(name)[1]),
        (FORMATS, lambda name: ReadOptions(format=name).format),
    ],
)
def test_every_name_is_found_however_it_is_spelled(names, find):
    for name in names:
        assert {find(spelled) for spelled in spellings(name)} == {name}


@given(st.text(max_size=12))
def test_what_is_no_name_stays_none(text):
    found = match_name(text, ["sweep", "clump"])
    assert found is None or plain_name(text) == found


def test_the_nearest_name_is_still_told():
    with pytest.raises(UnknownNameError, match="Did you mean 'sweep'"):
        method("Swep")
    with pytest.raises(UnknownNameError, match="Did you mean 'topics'"):
        check_tasks(("topcis",))


def test_results_have_the_name_of_the_catalog():
    log = qc.QueryLog.of(["ann", "bob", "cem", "ann"], ["tea", "tea", "tea", "cake"])
    release = qc.anonymize(log, "Sweep", min_query_users=2, seed=7)
    assert release.statement.method == "sweep"
    assert {r.attack for r in qc.attack(log, release, names=["Record Linkage"])} >= {"record-linkage"}
    assert [plan.name for plan in plan_runs(["Sweep", "policy:google-2024"], {})][1:] == ["sweep", "policy:google-2024"]
    assert method("Policy:google-2024").given == {"rules": "google-2024"}
