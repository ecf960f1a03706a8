"""How far the measures of a run move when only the draw changes: mean, lowest and highest over its releases.

>>> from querycloak.measures.score import Score
>>> from querycloak.evaluation.run import Run
>>> scores = [Score(measure="loss", value=v, better="lower", curve={2: v, 5: v / 2}) for v in (10.0, 14.0)]
>>> run = Run(name="r", method="m", settings={}, scores=(scores[0],), draws=((scores[1],),))
>>> spread_of(run, "loss")
Spread(mean=12.0, low=10.0, high=14.0, draws=2)
>>> curve_of(run, "loss")[5].high
7.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.evaluation.run import Run
    from querycloak.measures.score import Score

__all__ = ["Spread", "curve_of", "spread_of"]


class Spread(NamedTuple):
    """A figure over several releases of one run."""

    mean: float
    low: float
    high: float
    draws: int
    """releases that have it"""

    @property
    def moves(self) -> bool:
        """Whether any two releases differ."""
        return self.high > self.low


def spread_of(run: Run, measure: str) -> Spread:
    """Return a measure over all releases of a run that have it; one at least must."""
    return _spread([score.value for score in _found(run, measure)])


def curve_of(run: Run, measure: str) -> dict[int, Spread]:
    """Return the curve of a measure over all releases of a run; empty where it has none."""
    curves = [score.curve for score in _found(run, measure)]
    numbers = sorted({number for curve in curves for number in curve})
    return {number: _spread([curve[number] for curve in curves if number in curve]) for number in numbers}


def _found(run: Run, measure: str) -> list[Score]:
    return [score for scores in (run.scores, *run.draws) for score in scores if score.measure == measure]


def _spread(values: Sequence[float]) -> Spread:
    return Spread(sum(values) / len(values), min(values), max(values), len(values))
