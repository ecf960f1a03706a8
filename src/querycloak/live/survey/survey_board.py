"""The board of a survey: what was found last, for `/metrics` and `/health`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak._version import __version__
from querycloak.live.watch.exposition import Metric, Sample

if TYPE_CHECKING:
    from querycloak.live.survey.surveyor import Survey

__all__ = ["SurveyBoard", "SurveyHealth"]

SCOPES: Final = ("window", "all")
QUANTILES: Final = {"0.5": "delay p50", "0.9": "delay p90", "0.99": "delay p99"}


@dataclass(frozen=True)
class SurveyHealth:
    """Whether a survey runs."""

    ready: bool
    windows: int
    last_window_age_seconds: float | None


class SurveyBoard:
    """Keeps the last window and what was found in all."""

    def __init__(self) -> None:
        self._found: dict[str, Survey] = {}
        self._windows = 0
        self._at: float | None = None

    def show(self, window: Survey, so_far: Survey) -> None:
        """Show a new window."""
        self._found = {"window": window, "all": so_far}
        self._windows += 1
        self._at = time.monotonic()

    def health(self) -> SurveyHealth:
        """Return whether the survey runs: it does, while somebody asks."""
        age = None if self._at is None else round(time.monotonic() - self._at, 3)
        return SurveyHealth(ready=True, windows=self._windows, last_window_age_seconds=age)

    def metrics(self) -> list[Metric]:
        """Return all metrics; those of findings once there are some."""
        name = "querycloak_survey"
        metrics = [
            Metric(f"{name}_info", "gauge", "Version.", (Sample(1.0, {"version": __version__}),)),
            Metric.one(f"{name}_windows_total", "counter", "Windows that were surveyed.", self._windows),
        ]
        found = self._found
        if not found:
            return metrics
        now = found["all"]
        rates = [(scope, a) for scope, survey in found.items() for a in survey.reidentified]
        moved = [(scope, survey.emd) for scope, survey in found.items() if survey.emd is not None]

        def by_attacker(field: str) -> tuple[Sample, ...]:
            return tuple(Sample(getattr(a, field), {"attacker": a.attacker, "scope": scope}) for scope, a in rates)

        metrics += [
            Metric(f"{name}_reidentified_ratio", "gauge", "Records named rightly.", by_attacker("rate")),
            Metric(
                f"{name}_reidentified_high_ratio",
                "gauge",
                "Upper end of the 95 % interval of that.",
                by_attacker("high"),
            ),
            Metric(f"{name}_targets", "gauge", "Records that an attacker could name.", by_attacker("targets")),
            Metric.one(f"{name}_one_in_k_ratio", "gauge", "1/k.", now.one_in_k),
            Metric(
                f"{name}_emd_ratio",
                "gauge",
                "Distance of categories, of the largest possible.",
                tuple(Sample(emd.share, {"scope": scope}) for scope, emd in moved),
            ),
            Metric(
                f"{name}_emd_edges_per_query",
                "gauge",
                "Distance of categories in edges per query.",
                tuple(Sample(emd.edges_per_query, {"scope": scope}) for scope, emd in moved),
            ),
            Metric(
                f"{name}_delay_records",
                "gauge",
                "Delay in records.",
                tuple(
                    Sample(survey.delays[figure], {"quantile": q, "scope": scope})
                    for scope, survey in found.items()
                    for q, figure in QUANTILES.items()
                    if figure in survey.delays
                ),
            ),
            Metric.one(f"{name}_originals_total", "counter", "Original records read.", now.originals),
            Metric.one(f"{name}_published_total", "counter", "Published records read.", now.published),
            Metric.one(f"{name}_left_ratio", "gauge", "Original records that have left.", now.left),
            Metric.by(
                "level",
                f"{name}_waiting",
                "gauge",
                "Original records that have not left, by the depth of their category.",
                {str(level): n for level, n in enumerate(now.waiting_per_level)},
            ),
        ]
        return metrics
