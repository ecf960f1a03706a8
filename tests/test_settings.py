from __future__ import annotations

from dataclasses import dataclass

import pytest

from querycloak.errors import ParameterError, UnknownNameError
from querycloak.settings import Settings, setting


@dataclass(frozen=True)
class Example(Settings):
    k: int = setting(5, "size", minimum=2)
    delta: float = setting(0.5, "share", above=0, below=1)
    order: str = setting("up", "order", choices=("up", "down"))
    refine: bool = setting(False, "refine")
    cap: int | None = setting(None, "cap", minimum=1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 1}, "Example.k must be an integer >= 2, got 1."),
        ({"k": 2.0}, "Example.k must be an integer >= 2, got 2.0."),
        ({"delta": 0}, "Example.delta must be a finite number > 0 and < 1, got 0."),
        ({"delta": float("nan")}, "Example.delta must be a finite number > 0 and < 1, got nan."),
        ({"delta": float("inf")}, "Example.delta must be a finite number > 0 and < 1, got inf."),
        ({"order": "left"}, "Example.order must be one of up, down, got 'left'."),
        ({"refine": 1}, "Example.refine must be true or false, got 1."),
        ({"cap": 0}, "Example.cap must be an integer >= 1, got 0."),
    ],
)
def test_refuses_nonsense_at_once(values, message):
    with pytest.raises(ParameterError) as error:
        Example(**values)
    assert str(error.value) == message


def test_none_is_allowed_only_where_it_is_the_default():
    assert Example(cap=None).cap is None
    with pytest.raises(ParameterError):
        Example(k=None)


def test_an_unknown_setting_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'delta'"):
        Example.from_json({"dleta": 0.1})
