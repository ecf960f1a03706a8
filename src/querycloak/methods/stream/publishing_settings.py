"""Settings of when, under which ids and with which times the records of a stream are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from querycloak.errors import ParameterError
from querycloak.logs.durations import seconds_of
from querycloak.settings import Settings, setting

__all__ = ["PublishingSettings"]

MAX_DELAY: Final = 1_000_000
"""Changes nothing in a shorter stream, and bounds the memory of an endless one."""


@dataclass(frozen=True)
class PublishingSettings(Settings):
    """How long records wait, and how they are published."""

    ids: str = setting(
        "run",
        "new random ids, the same for a user throughout the run, the epoch or the day of the published time; or the "
        "original ids of other users",
        choices=("run", "epoch", "day", "original"),
    )
    epoch: str | None = setting(
        None,
        "publish in epochs of so many records (1000) or of a time (10m): the rows of an epoch are shuffled, and all "
        "have its time",
    )
    time_grain: str | None = setting(None, "round times down to this: 10m, 1h, day")
    max_delay: int | None = setting(
        None,
        "a record that has waited for so many others leaves from the smallest branch with k candidates, or is dropped; "
        "0: it may wait for ever",
        minimum=0,
        shown="1,000,000, and 0 with as_in_paper",
    )
    max_age: float | None = setting(None, "the same after so many seconds", above=0)

    def __post_init__(self) -> None:
        if self.ids == "new":  # what `run` was called in settings and statements of earlier versions
            object.__setattr__(self, "ids", "run")
        given: object = self.epoch
        if isinstance(given, int) and not isinstance(given, bool):
            object.__setattr__(self, "epoch", str(given))
        if self.max_delay is None:
            object.__setattr__(self, "max_delay", 0 if getattr(self, "as_in_paper", False) else MAX_DELAY)
        super().__post_init__()
        self._require(
            "epoch", self.epoch_records or self.epoch_seconds, "a number of records or a time, as 1000 or 10m"
        )
        self._require("time_grain", seconds_of(self.time_grain or ""), "a time, as 10m, 1h or day")
        if self.ids == "epoch" and self.epoch is None:
            raise ParameterError.of(
                f"{type(self).__name__}.ids", "another than epoch where there is no epoch", self.ids
            )

    def _require(self, name: str, meaning: Any, expected: str) -> None:
        given = getattr(self, name)
        if given is not None and not meaning:
            raise ParameterError.of(f"{type(self).__name__}.{name}", expected, given)

    @property
    def epoch_records(self) -> int | None:
        """Records of an epoch; None = there are none, or they are of a time."""
        digits = self.epoch is not None and self.epoch.isascii() and self.epoch.isdigit() and len(self.epoch) < 10
        return int(self.epoch or 0) if digits else None

    @property
    def epoch_seconds(self) -> int | None:
        """Seconds of an epoch; None = there are none, or they are of so many records."""
        return None if self.epoch is None else seconds_of(self.epoch)

    @property
    def published_grain(self) -> str:
        """What published times are multiples of, where there are times; empty = nothing is promised."""
        return self.time_grain or (self.epoch if self.epoch is not None and self.epoch_seconds else "")

    @property
    def new_ids(self) -> bool:
        """Ids are new ones."""
        return self.ids != "original"
