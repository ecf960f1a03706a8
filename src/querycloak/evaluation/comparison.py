"""What a comparison found: runs with their attacks and tasks, and the limits they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from querycloak.evaluation.advice import Advice, Verdict, advise
from querycloak.evaluation.command_words import CommandWords  # noqa: TC001 - msgspec reads the types of fields
from querycloak.evaluation.limits import LIMITS, Limits
from querycloak.evaluation.run import Run  # noqa: TC001
from querycloak.mapping.modes import DEFAULT_MAPPING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Comparison"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """All runs on one log; its repr is a table of them, with the advice below."""

    version: str
    log: dict[str, int]
    """counts of the log"""
    seed: int
    limits: Limits = LIMITS
    tasks: tuple[str, ...]
    """what the release is for, as the user named it"""
    repeat: str
    """the command that repeats it"""
    command: CommandWords | None = None
    """its parts, for the commands that make and judge a real release; None where it was made from Python"""
    mapping: str = DEFAULT_MAPPING
    """how queries were read, for methods, attacks and measures alike"""
    topics: dict[str, float]
    """share of each topic in the log"""
    runs: tuple[Run, ...]

    @property
    def advice(self) -> Advice:
        """Which run to publish, or that none will do, and why."""
        return advise(self.runs, self.limits, self.tasks)

    def table(self) -> pl.DataFrame:
        """Return one row per run: what it is, what it exposes, what it is good for, and the verdict.

        `verdict` is `publish` (what `advice` recommends), `passes`, `unproved` (only a proof is missing), `fails`,
        `failed` (the method gave no release) or `baseline` (for comparison only). `conditions` are the numbers of the
        conditions that do not hold: 1 proof, 2 attacks, 3 texts, 4 usefulness; `why` is the first of them in words.
        `worst_attack` is the attack that is nearest to its limit, or farthest above it. Each task that was named has a
        column: 1 = as good as the original log, 0 = as the same method run blindly.
        """
        import polars as pl

        advice = self.advice
        rows = [self._row(run, verdict, advice) for run, verdict in zip(self.runs, advice.verdicts, strict=True)]
        tasks = dict.fromkeys(self.tasks, pl.Float64)
        return pl.DataFrame(rows, schema={**_schema(), **tasks}, orient="row")

    def _row(self, run: Run, verdict: Verdict, advice: Advice) -> list[object]:
        worst = run.worst(self.limits)
        found = run.exposure
        tasks = [(u := run.task(name)) and u.possible and u.scaled for name in self.tasks]
        return [
            run.name,
            run.method,
            _word(run, verdict, advice),
            ", ".join(str(number) for number in sorted({c.number for c in verdict.failed})),
            verdict.failed[0].says if verdict.failed else "",
            None if run.statement is None else run.statement.model,
            None if run.statement is None else run.statement.counts_out.get("rows"),
            None if worst is None else worst.attack,
            None if worst is None else float(worst.judged),
            None if worst is None else self.limits.of(worst.risk),
            None if found is None else float(found.own_row_share),
            None if found is None else float(found.exposed_share),
            sum(run.seconds.values()),
            *(value if isinstance(value, float) else None for value in tasks),
        ]

    def __repr__(self) -> str:
        from querycloak.evaluation.cards import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from querycloak.evaluation.cards import comparison_card

        return comparison_card(self)


def _schema() -> dict[str, type[pl.DataType]]:
    import polars as pl

    texts = dict.fromkeys(("run", "method", "verdict", "conditions", "why", "guarantee"), pl.String)
    figures = dict.fromkeys(("worst_judged", "worst_limit", "own_texts", "exposed_people", "seconds"), pl.Float64)
    return {**texts, "rows": pl.Int64, "worst_attack": pl.String, **figures}


def _word(run: Run, verdict: Verdict, advice: Advice) -> str:
    """Return the verdict on a run in one word."""
    if run.baseline:
        return "baseline"
    if run.error is not None or run.statement is None:
        return "failed"
    if verdict.passes:
        return "publish" if run.name == advice.publish else "passes"
    return "unproved" if verdict.only_unproved else "fails"
