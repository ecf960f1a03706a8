r"""The text format of Prometheus, version 0.0.4: `# HELP`, `# TYPE`, then one line per sample.

    # HELP querycloak_records_in_total Records taken in.
    # TYPE querycloak_records_in_total counter
    querycloak_records_in_total 42

Values of labels have backslash, quote and line end escaped; a help text backslash and line end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, Literal

__all__ = ["CONTENT_TYPE", "Metric", "Sample", "exposition"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Sample:
    """One value of a metric."""

    value: float
    labels: dict[str, str] = field(default_factory=dict)
    suffix: str = ""
    """`_sum` and `_count` of a summary"""


@dataclass(frozen=True)
class Metric:
    """A metric with its samples."""

    name: str
    kind: Literal["counter", "gauge", "summary"]
    help: str
    samples: tuple[Sample, ...]

    @classmethod
    def one(cls, name: str, kind: Literal["counter", "gauge"], help_text: str, value: float | None) -> Metric:
        """Return a metric with one sample without labels; with none where the value is not known."""
        return cls(name, kind, help_text, () if value is None else (Sample(float(value)),))

    @classmethod
    def by(
        cls, label: str, name: str, kind: Literal["counter", "gauge"], help_text: str, values: dict[str, int]
    ) -> Metric:
        """Return a metric with one sample for each value of a label."""
        return cls(name, kind, help_text, tuple(Sample(float(n), {label: word}) for word, n in values.items()))


def exposition(metrics: list[Metric]) -> str:
    """Return metrics as text; one without samples is left out.

    >>> print(exposition([Metric.one("cups", "gauge", "Cups on the table.", 3)]), end="")
    # HELP cups Cups on the table.
    # TYPE cups gauge
    cups 3
    """
    lines: list[str] = []
    for metric in metrics:
        if not metric.samples:
            continue
        told = metric.help.replace("\\", "\\\\").replace("\n", "\\n")
        lines += [f"# HELP {metric.name} {told}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"{metric.name}{s.suffix}{_labels(s.labels)} {_number(s.value)}" for s in metric.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    words = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(words) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    if math.isinf(value) or math.isnan(value):
        return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
    return str(int(value)) if value == int(value) and abs(value) < 1 << 53 else repr(value)
