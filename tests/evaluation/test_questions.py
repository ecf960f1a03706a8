"""The three questions, answered for a run whose release is gone."""

from __future__ import annotations

import pytest
from sample_attacks import found
from sample_reports import exposed, run

from querycloak.evaluation.limits import LIMITS
from querycloak.evaluation.questions import NOBODY, NOT_ASKED, QUESTIONS, answers_of_run


def colours(made):
    return [light.colour for light in answers_of_run(made, LIMITS).values()]


def test_a_run_within_its_limits_answers_all_three():
    assert colours(run()) == ["green"] * 3
    assert list(answers_of_run(run(), LIMITS)) == list(QUESTIONS)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (run(relink=0.5), ["green", "red", "green"]),
        (run(claim=0.5), ["green", "green", "red"]),
        (run(exposure=exposed(own=3)), ["red", "green", "green"]),
        (run(not_run={"relink": "no times"}), ["green", "amber", "green"]),
        (run(not_run={"intersection": "one release"}), ["green", "green", "green"]),
        (run(attacks=(), nothing={"relink": "nobody"}), ["green", "amber", "green"]),
        (run(exposure=exposed(rows=0.0, texts=0)), ["amber"] * 3),
    ],
)
def test_each_question_has_the_light_of_its_own_attacks(made, expected):
    assert colours(made) == expected


def test_a_question_that_no_attack_asks_says_so():
    answers = answers_of_run(run(attacks=(found("membership", 0.0, risk="membership", question="inference"),)), LIMITS)
    assert answers["linkability"].says == NOT_ASKED
    nobody = answers_of_run(run(attacks=(), nothing={"relink": "nobody"}), LIMITS)
    assert nobody["linkability"].says == NOBODY


def test_what_published_nothing_was_not_tested():
    says = {light.says for light in answers_of_run(run(exposure=exposed(rows=0.0, texts=0)), LIMITS).values()}
    assert says == {"it published nothing, so there was nothing to test"}
