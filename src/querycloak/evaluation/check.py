"""One verdict on one release: RELEASE, DO NOT RELEASE, or NEEDS A HUMAN.

RELEASE: the four conditions of `evaluation.advice` hold and the files keep what the statement says. DO NOT RELEASE: a
limit is broken, a check of the files fails, or the release was made with a seed. NEEDS A HUMAN: no limit is broken, but
something is open that no program decides: nothing is proved, something could not be tested, or the release is of no use
for a task that was named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from querycloak.catalog import ATTACKS
from querycloak.evaluation._stated_texts import verify_texts
from querycloak.evaluation.advice import NEED_OTHER_RELEASES, Condition, judge
from querycloak.evaluation.limits import LIMITS, Limits
from querycloak.evaluation.questions import QUESTIONS, Light, answer_question
from querycloak.evaluation.run import Run  # noqa: TC001 - msgspec reads the types of fields
from querycloak.evaluation.sample import Sample, sample_rows
from querycloak.releases.verify import Finding, verify_release, verify_truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.evaluation.assess import Assessor
    from querycloak.releases.release import Release

__all__ = ["EXIT_CODES", "QUESTIONS", "Light", "Outcome", "ReleaseCheck", "check_release"]

Outcome = Literal["RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"]
EXIT_CODES: Final[dict[Outcome, int]] = {"RELEASE": 0, "DO NOT RELEASE": 1, "NEEDS A HUMAN": 3}
MADE_WITH_A_SEED: Final = "a seed"


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseCheck:
    """One release, judged; `print` shows the verdict and why."""

    verdict: Outcome
    reasons: tuple[str, ...]
    """why, the gravest first"""
    changes: tuple[str, ...]
    """what to change"""
    not_tested: tuple[str, ...]
    """what could not be tested, and what it lacked"""
    lights: tuple[Light, ...]
    findings: tuple[Finding, ...]
    """the files against the statement"""
    run: Run
    """everything that was found out"""
    sample: Sample
    """rows before and after, masked"""
    limits: Limits
    tasks: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 release, 1 do not, 3 needs a human."""
        return EXIT_CODES[self.verdict]

    def __repr__(self) -> str:
        return f"ReleaseCheck({self.run.method}: {self.verdict})"

    def __str__(self) -> str:
        from querycloak.evaluation.cards import check_text

        return check_text(self)

    def _repr_html_(self) -> str:
        from querycloak.evaluation.cards import check_card

        return check_card(self)


def check_release(
    assessor: Assessor,
    release: Release,
    *,
    limits: Limits = LIMITS,
    tasks: tuple[str, ...],
    rerun: bool = True,
    also: Sequence[Release] = (),
    findings: Sequence[Finding] | None = None,
) -> ReleaseCheck:
    """Find out everything about a release and judge it; `findings` are those of its files, where it has some."""
    bench = assessor.bench
    run = assessor.run(release, name=release.statement.method, rerun=rerun, also=also)
    if findings is None:
        findings = verify_release(release, bench.log)
    findings = [*findings, *verify_truth(release), *verify_texts(release, bench.askers_of(release))]
    failed = judge(run, limits, tasks).failed
    broken = [f for f in findings if f.holds is False]
    seeded = release.statement.randomness.startswith(MADE_WITH_A_SEED)
    grave = [c for number in (3, 2) for c in failed if c.number == number and not c.untested]  # what all can see first
    grave += [c for c in failed if c.number == 1 and not c.untested and _has_budget(run)]
    open_points = [c for c in failed if c not in grave]
    reasons = [f"the files do not keep the statement: {f.check} ({f.seen})" for f in broken]
    reasons += ["it was made with a seed: whoever guesses the seed can undo it"] if seeded else []
    reasons += [c.says for c in (*grave, *open_points)]
    verdict: Outcome = "DO NOT RELEASE" if broken or seeded or grave else "NEEDS A HUMAN" if open_points else "RELEASE"
    changes = ["make it again without a seed"] if seeded else []
    changes += [c.change for c in (*grave, *open_points) if c.change]
    changes = [c for c in changes if not any(_asks_less(c, other) for other in changes)]
    return ReleaseCheck(
        verdict=verdict,
        reasons=tuple(reasons) or ("all four conditions hold",),
        changes=tuple(dict.fromkeys(changes)),
        not_tested=_not_tested(run, findings),
        lights=tuple(_light(question, release, run, failed, limits) for question in QUESTIONS),
        findings=tuple(findings),
        run=run,
        sample=sample_rows(bench.log, release, assessor.seed),
        limits=limits,
        tasks=tasks,
    )


def _has_budget(run: Run) -> bool:
    """Tell whether the statement has a budget: then condition 1 fails because it is too large, not for lack of any."""
    return run.statement is not None and "epsilon" in run.statement.parameters


def _asks_less(change: str, other: str) -> bool:
    """Tell whether another change asks for more of the same setting.

    >>> _asks_less("raise --k to 5", "raise --k to 10"), _asks_less("raise --k to 5", "lower --epsilon")
    (True, False)
    """
    (what, _, number), (other_what, _, more) = change.rpartition(" "), other.rpartition(" ")
    return what == other_what and number.isdigit() and more.isdigit() and int(number) < int(more)


def _not_tested(run: Run, findings: Sequence[Finding]) -> tuple[str, ...]:
    attacks = [f"{name}: {why}" for name, why in run.not_run.items()]
    counts = [] if run.exposure is None else list(run.exposure.not_counted)
    return (*attacks, *counts, *(f"{f.check}: {f.seen}" for f in findings if f.holds is None))


def _light(question: str, release: Release, run: Run, failed: Sequence[Condition], limits: Limits) -> Light:
    """Answer one question; which attacks ask it of this kind of release is known here."""
    fits = [c for c in ATTACKS.values() if c.question == question and release.kind in c.kinds]
    open_to_attack = question != "singling out" and any(c.name not in NEED_OTHER_RELEASES for c in fits)
    return answer_question(question, run, failed, limits, open_to_attack=open_to_attack)
