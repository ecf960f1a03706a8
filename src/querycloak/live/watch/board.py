"""The board: keeps the newest figures of a run, which other threads read as `/metrics` and `/health`.

The run replaces whole objects, readers take the reference once: nobody waits for anybody.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak._version import __version__
from querycloak.live.watch.exposition import Metric, Sample
from querycloak.live.watch.memory import peak_memory, resident_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.live.watch.figures import Figures
    from querycloak.live.watch.watcher import Told

__all__ = ["Board", "Health"]

STUCK_AFTER: Final = 60.0
"""Seconds that a batch may take before the run is said to be stuck: a sink that takes nothing, a disk that hangs."""
QUANTILES: Final = {"0.5": "delay p50", "0.9": "delay p90", "0.99": "delay p99"}


@dataclass(frozen=True)
class Health:
    """Whether a run works, for `/health`."""

    ready: bool
    state: str
    """starting, running, stuck, or how it ended: stopped, finished, failed"""
    lag_seconds: float | None
    """since the newest input was taken in; None = none was"""
    last_batch_age_seconds: float | None
    last_save_age_seconds: float | None


@dataclass(frozen=True)
class _Save:
    at: float
    size: int
    seconds: float
    count: int


class Board:
    """Keeps what a run told last."""

    watches = True

    def __init__(self, method: str, k: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`k` is the least number of candidates that the run promises."""
        self._clock = clock
        self._labels = {"version": __version__, "method": method}
        self._k = k
        self._begun = time.time()
        self._figures: Figures | None = None
        self._state = "starting"
        self._taken: float | None = None
        self._busy_since: float | None = None
        self._to_do = 0  # pieces that were taken, and not told as a batch yet: one may be read ahead
        self._batch: float | None = None
        self._save: _Save | None = None
        self._pending: int | None = None
        self._bytes = 0

    def event(self, name: str, **told: Told) -> None:  # noqa: ARG002 - figures come with batches
        """Note how far the run is."""
        if name in {"stopped", "finished", "failed"}:
            self._state, self._busy_since = name, None
        elif name in {"started", "resumed"}:
            self._state = "running"

    def taken(self, size: int, pending: int | None = None) -> None:
        """Note when input was taken."""
        self._pending = pending
        self._bytes += size
        if size:
            self._taken = self._clock()
            self._to_do += 1
            self._busy_since = self._busy_since or self._taken

    def batch(self, figures: Figures) -> None:
        """Keep the figures."""
        self._figures, self._batch = figures, self._clock()
        self._to_do = max(0, self._to_do - 1)
        self._busy_since = self._batch if self._to_do else None

    def saved(self, size: int, seconds: float) -> None:
        """Keep when the state was saved."""
        count = 0 if self._save is None else self._save.count
        self._save = _Save(self._clock(), size, seconds, count + 1)

    def health(self) -> Health:
        """Return whether the run works."""
        state, busy = self._state, self._busy_since
        if state == "running" and busy is not None and self._clock() - busy > STUCK_AFTER:
            state = "stuck"
        save = self._save
        return Health(
            ready=state == "running",
            state=state,
            lag_seconds=self._age(self._taken),
            last_batch_age_seconds=self._age(self._batch),
            last_save_age_seconds=None if save is None else self._age(save.at),
        )

    def _age(self, at: float | None) -> float | None:
        return None if at is None else round(self._clock() - at, 3)

    def metrics(self) -> list[Metric]:
        """Return all metrics; before the first batch, those of the process."""
        health, save = self.health(), self._save
        metrics = [
            Metric("querycloak_info", "gauge", "Version and method.", (Sample(1.0, self._labels),)),
            Metric.one("querycloak_ready", "gauge", "1 while the run works, as /health says.", health.ready),
            Metric.one("querycloak_start_time_seconds", "gauge", "When the process began, since 1970.", self._begun),
            Metric.one(
                "querycloak_lag_seconds", "gauge", "Seconds since the newest input was taken in.", health.lag_seconds
            ),
            Metric.one(
                "querycloak_batch_age_seconds",
                "gauge",
                "Seconds since the last batch was done.",
                health.last_batch_age_seconds,
            ),
            Metric.one(
                "querycloak_source_pending_messages",
                "gauge",
                "Messages that wait at the source, where it knows.",
                self._pending,
            ),
            Metric.one(
                "querycloak_reconnects_total",
                "counter",
                "Times that the connection to a broker was lost.",
                0 if self._figures is None else self._figures.reconnects,
            ),
            Metric.one(
                "querycloak_input_bytes_total", "counter", "Bytes taken in since the process began.", self._bytes
            ),
            Metric.one("querycloak_candidates_required", "gauge", "Candidates that the run promises: k.", self._k),
            Metric.one("querycloak_resident_memory_bytes", "gauge", "Memory of the process now.", resident_memory()),
            Metric.one("querycloak_peak_memory_bytes", "gauge", "Most memory of the process so far.", peak_memory()),
        ]
        if save is not None:
            metrics += [
                Metric.one("querycloak_state_bytes", "gauge", "Size of the saved state.", save.size),
                Metric.one(
                    "querycloak_state_age_seconds",
                    "gauge",
                    "Seconds since the state was saved.",
                    health.last_save_age_seconds,
                ),
                Metric.one("querycloak_state_save_seconds", "gauge", "How long the last save took.", save.seconds),
                Metric.one("querycloak_state_saves_total", "counter", "Saves since the process began.", save.count),
            ]
        return metrics + ([] if self._figures is None else _run_metrics(self._figures))


def _run_metrics(f: Figures) -> list[Metric]:
    """Return the metrics of what a run has done."""
    quantiles = [Sample(f.delays.get(name, 0.0), {"quantile": q}) for q, name in QUANTILES.items()]
    sums = [Sample(float(f.total_delay), suffix="_sum"), Sample(float(f.records_out), suffix="_count")]
    levels = {str(level): n for level, n in enumerate(f.waiting_per_level)}
    return [
        Metric.one("querycloak_records_in_total", "counter", "Records taken in.", f.records_in),
        Metric.one("querycloak_records_out_total", "counter", "Records that left.", f.records_out),
        Metric.one("querycloak_records_waiting", "gauge", "Records that wait.", f.records_waiting),
        Metric.one(
            "querycloak_records_in_epoch",
            "gauge",
            "Records that have left into the open epoch, to be published with it.",
            f.records_in_epoch,
        ),
        Metric.by(
            "reason",
            "querycloak_records_dropped_total",
            "counter",
            "Good records that never leave.",
            f.records_dropped,
        ),
        Metric.by("reason", "querycloak_lines_skipped_total", "counter", "Lines that are no records.", f.lines_skipped),
        Metric("querycloak_delay_records", "summary", "Delay in records, over the run.", (*quantiles, *sums)),
        Metric.one(
            "querycloak_delay_records_longest", "gauge", "Longest delay in records.", f.delays.get("longest delay")
        ),
        Metric.one(
            "querycloak_candidates_fewest",
            "gauge",
            "Smallest set of users from which one was drawn.",
            f.fewest_candidates,
        ),
        Metric.by(
            "level",
            "querycloak_users_waiting",
            "gauge",
            "Waiting users by the depth of their category, 0 = unclassified.",
            levels,
        ),
        Metric.one("querycloak_users", "gauge", "Users seen.", f.users),
        Metric.one("querycloak_categories", "gauge", "Categories seen, cut to the depth.", f.categories),
        Metric.one("querycloak_phrases", "gauge", "Phrases of which people are counted.", f.phrases),
        Metric.one("querycloak_output_bytes_total", "counter", "Bytes written.", f.bytes_out),
        Metric.one("querycloak_engine_bytes", "gauge", "Memory of what waits, without texts.", f.engine_bytes),
        Metric.one("querycloak_phrase_bytes", "gauge", "Memory of the phrases.", f.phrase_bytes),
    ]
