"""`querycloak audit`: a table or JSON; exit 0, 1 where a bound is above the claim, 2 for the user's mistakes."""

from __future__ import annotations

import json

import pytest
from cli.command import querycloak, refused
from code_faults import applied
from mutation.fault import fault

QUICK = ("--runs", "100", "--seed", "1")
METHODS = ["semantic-dp", "histogram-dp", "frequent-queries"]


@pytest.mark.slow
def test_a_table():
    done = querycloak("audit", "semantic-dp", "--epsilon", "1", *QUICK, "--pairs", "length, no concept")
    assert done.returncode == 0, done.stderr
    assert "measured pair" in done.stdout
    assert "one user's log replaced" in done.stdout
    assert "noise of a seed" in done.stdout
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith(("length ", "no concept "))] == [
        "within", "within"
    ]  # fmt: skip


@pytest.mark.slow
def test_json_is_stable_and_options_may_come_first():
    done = querycloak("audit", "--epsilon", "1", "--pairs", "length", *QUICK, "--json", "--quiet", "histogram-dp")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert list(found) == ["method", "settings", "relation", "taxonomy", "seed", "error", "runs", "pairs", "passed"]
    assert found["settings"] == {"domain": "all", "epsilon": 1.0}
    (pair,) = found["pairs"]
    assert list(pair) == [
        "pair", "what", "people", "claim", "delta", "event", "likely", "choosing", "promise", "runs", "hits",
        "other_hits", "bound",
    ]  # fmt: skip
    again = querycloak("audit", "histogram-dp", "--pairs", "length", "--epsilon", "1", *QUICK, "--json")
    assert json.loads(again.stdout) == found


def test_a_broken_promise():
    wrong = fault(
        "x", "methods/dp/_semantic_dp_rows.py", "permutation(drawn.size)",
        "permutation(drawn.size); order = order[order % r < np.minimum(r, 1 + units.number)[order // r]]",
    )  # fmt: skip
    with applied(wrong):
        done = querycloak("audit", "semantic-dp", "--epsilon", "1", "--pairs", "length", *QUICK)
    assert done.returncode == 1
    assert "BROKEN" in done.stdout
    assert "semantic-dp does not keep its promise: epsilon is at least" in done.stderr


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1e9", "one"])
def test_an_epsilon_that_makes_no_sense(method, epsilon):
    refused(querycloak("audit", method, "--epsilon", epsilon), "--epsilon must be")


@pytest.mark.parametrize("delta", ["0", "-1", "nan", "inf", "1"])
def test_a_delta_that_makes_no_sense(delta):
    refused(querycloak("audit", "frequent-queries", "--delta", delta), "--delta must be")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("semantic-pd",), "Did you mean 'semantic-dp'?"),
        (("sweep",), "claims no differential privacy"),
        (("--runs", "100"), "Name a method to audit"),
        (("semantic-dp", "--shape", "paper"), "no differential privacy of a user's whole log"),
        (("semantic-dp", "--choose", "sips"), "--choose is an option of"),
        (("histogram-dp", "--runs", "5"), "runs must be an integer from 100"),
        (("histogram-dp", "--pairs", "hevy user"), "Did you mean 'heavy user'?"),
        (("histogram-dp", "--pairs", ","), "names no pair"),
        (("histogram-dp", "--seed", "-1", "--runs", "100"), "seed must be"),
        (("histogram-dp", "--taxonomy", "no-such-file"), "no-such-file"),
        (("frequent-queries", "--ledger", "x", "--ledger-log", "y"), "takes no ledger"),
    ],
)
def test_mistakes_are_one_sentence(words, why):
    done = querycloak("audit", *words)
    refused(done, why)
    assert len([line for line in done.stderr.splitlines() if line.startswith("querycloak:")]) == 1


def test_help_shows_the_options_of_a_method():
    assert "--rows-per-user" in querycloak("audit", "semantic-dp", "--help").stdout
    assert "frequent-queries" in querycloak("audit", "--help").stdout
