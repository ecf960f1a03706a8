from __future__ import annotations

import pytest

from querycloak.report.pages import decimal, percent, sentence


@pytest.mark.parametrize("share", [1e-12, 0.0001, 0.00049])
def test_a_small_share_is_not_none(share):
    assert percent(share) == "<0.1%"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (-0.0, "0%"), (0.0005, "0.1%"), (0.995, "99.5%"), (1.0, "100%"), (-0.02, "−2%")],  # noqa: RUF001
)
def test_shares_are_written_in_percent(share, text):
    assert percent(share) == text


def test_zero_has_no_sign():
    assert decimal(-0.001) == decimal(0.0) == "0.00"
    assert decimal(-0.12) == "−0.12"  # noqa: RUF001


def test_a_sentence_keeps_its_end():
    assert sentence("who?") == "Who?"
    assert sentence("") == "."
