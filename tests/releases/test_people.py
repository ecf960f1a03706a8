"""One person is one person for a ledger, however the id is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.releases.people import normal_person


@pytest.mark.parametrize(
    "spelling",
    ["Ann", " ann", "ann ", "ANN", "ann\u200b", "a\u200dnn", "\ufeffann", "\uff41nn", "an\u00adn", "ann\u2060\t",
     "a\x00nn", "ann\ufff9", " \u200b Ann", "ann\u3000"],
)  # fmt: skip
def test_spellings_of_ann(spelling):
    assert normal_person(spelling) == "ann"


@pytest.mark.parametrize(
    ("first", "second"), [("ann", "anna"), ("a nn", "ann"), ("4417749", "4417748"), ("ann", "änn")]
)
def test_others_stay_others(first, second):
    assert normal_person(first) != normal_person(second)


def test_case_is_kept_where_it_matters():
    assert normal_person(" Ann\u200b", fold_case=False) == "Ann"
    assert normal_person("STRASSE") == normal_person("straße")


@given(st.text(), st.booleans())
def test_the_normal_form_is_its_own(text, fold):
    normal = normal_person(text, fold_case=fold)
    assert normal_person(normal, fold_case=fold) == normal


@given(st.text(), st.sampled_from([" ", "\u200b", "\ufeff", "\t", "\u00ad", "\u2060"]), st.booleans())
def test_what_is_shown_as_nothing_makes_no_new_person(text, nothing, fold):
    for spelling in (nothing + text, text + nothing):
        assert normal_person(spelling, fold_case=fold) == normal_person(text, fold_case=fold)
