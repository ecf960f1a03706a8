"""The three questions of European regulators, answered for one release (Article 29 Working Party, Opinion 05/2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from querycloak.catalog import ATTACKS
from querycloak.evaluation.advice import NEED_OTHER_RELEASES, Condition, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run

__all__ = ["QUESTIONS", "Light", "answer_question", "answers_of_run"]

QUESTIONS: Final = {
    "singling out": "Can one person be picked out of the release?",
    "linkability": "Can what is known of a person be linked to the release?",
    "inference": "Can something new about a person be told from the release?",
}
NOBODY: Final = "nothing to attack was found"
NOT_ASKED: Final = "no attack asks this of a release of this kind"


@dataclass(frozen=True, kw_only=True)
class Light:
    """The answer to one of the regulators' three questions."""

    question: str
    asks: str
    colour: Literal["green", "amber", "red"]
    """red = the upper end of a lift, or a count, is above its limit; amber = nothing is, but not all could be tested"""
    says: str


def answer_question(
    question: str, run: Run, failed: Sequence[Condition], limits: Limits, *, open_to_attack: bool
) -> Light:
    """Judge one question by the upper ends of its attacks, and for singling out by the counts of texts too.

    `open_to_attack`: an attack on this kind of release asks the question. One that none asks, as linking where no logs
    are published, is answered. What published nothing was not tested, and passes nothing.
    """
    if run.published_nothing:
        says = "it published nothing, so there was nothing to test"
        return Light(question=question, asks=QUESTIONS[question], colour="amber", says=says)
    asked = [a for a in run.attacks if a.question == question and a.targets and limits.of(a.risk) is not None]
    over = [a for a in asked if not limits.keeps(a)]
    texts = [c.says for c in failed if c.number == 3 and not c.untested] if question == "singling out" else []
    missing = [name for name in run.not_run if name not in NEED_OTHER_RELEASES and asks(name) == question]
    worst = max(asked, key=limits.times, default=None)
    near = "" if worst is None else (
        f"{worst.attack}: the release adds at most {worst.judged:.1%} (limit {limits.of(worst.risk):.0%})"
    )  # fmt: skip
    colour: Literal["green", "amber", "red"] = (
        "red" if over or texts else "amber" if missing or (not asked and open_to_attack) else "green"
    )
    said = [*texts, *([near] if near else []), *([f"not tested: {', '.join(missing)}"] if missing else [])]
    return Light(
        question=question,
        asks=QUESTIONS[question],
        colour=colour,
        says="; ".join(said) or (NOBODY if open_to_attack or run.nothing else NOT_ASKED),
    )


def answers_of_run(run: Run, limits: Limits) -> dict[str, Light]:
    """Answer the three questions for a run whose release is gone: which attacks fitted it is what was tried on it."""
    failed = judge(run, limits, ()).failed
    tried = {a.attack.partition(",")[0] for a in run.attacks} | run.not_run.keys() | run.nothing.keys()
    tried -= NEED_OTHER_RELEASES
    return {
        question: answer_question(
            question,
            run,
            failed,
            limits,
            open_to_attack=question != "singling out" and any(asks(name) == question for name in tried),
        )
        for question in QUESTIONS
    }


def asks(attack: str) -> str:
    """Return the question that an attack asks; none where it is of a package that is not here."""
    found = ATTACKS.get(attack)
    return "" if found is None else found.question or ""
