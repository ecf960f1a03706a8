"""The settings of streams: what they accept, and what they mean."""

from __future__ import annotations

import pytest

from querycloak.errors import ParameterError
from querycloak.methods.stream.stream_statement import FlatSettings, SelfAdjustingSettings, StreamSettings
from querycloak.randomness import Randomness


def test_new_in_settings_of_earlier_versions_means_run():
    assert StreamSettings(ids="new") == StreamSettings(ids="run") == StreamSettings()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("epoch", "0", "a number of records or a time, as 1000 or 10m"),
        ("epoch", "10 m", "a number of records or a time"),
        ("epoch", "-5", "a number of records or a time"),
        ("epoch", "1" * 12, "a number of records or a time"),
        ("time_grain", "soon", "a time, as 10m, 1h or day"),
        ("time_grain", "100", "a time, as 10m, 1h or day"),
        ("max_delay", -1, "an integer >= 0"),
        ("max_age", 0.0, "a finite number > 0"),
        ("ids", "epoch", "another than epoch where there is no epoch"),
        ("ids", "week", "one of run, epoch, day, original"),
    ],
)
def test_nonsense_is_refused(name, value, expected):
    with pytest.raises(ParameterError, match=expected):
        StreamSettings(**{name: value})


def test_what_settings_mean():
    assert StreamSettings(epoch=1000) == StreamSettings(epoch="1000")
    assert StreamSettings(epoch="1000").epoch_records == 1000
    assert StreamSettings(epoch="10m").epoch_seconds == 600
    assert StreamSettings(epoch="10m").published_grain == "10m"
    assert StreamSettings(epoch="10m", time_grain="day").published_grain == "day"
    assert StreamSettings(epoch="1000").published_grain == ""


def test_a_stream_has_a_longest_delay_and_the_paper_has_none():
    assert StreamSettings().max_delay == 1_000_000
    assert FlatSettings().engine("flat", Randomness(seed=1)).max_delay == 1_000_000
    for settings in (StreamSettings(as_in_paper=True), StreamSettings(max_delay=0)):
        assert settings.max_delay == 0
        assert settings.engine("fixed-depth", Randomness(seed=1)).max_delay is None
    assert SelfAdjustingSettings(max_delay=7).engine("self-adjusting", Randomness(seed=1)).max_delay == 7
