"""Advice: which run to publish, if any. A run must keep four conditions; "publish none of these" is a good answer.

1. Its statement proves a bound per person: k-anonymity of users, or differential privacy of users with a budget within
   the limit. A method that proves nothing can at best pass the attacks we have.
2. The upper end of the interval of every lift is within its limit; where a bound is proved for exactly this rate, the
   smaller of the two counts. An attack that fits the release and could not be run was not passed.
3. Own texts and identifiers are within their limits.
4. For every task that the user named, the lower end of what the release reaches is above the upper end of what the same
   method reaches blindly. A run that published nothing fails this one, whatever tasks are named: attacks that found
   nobody and counts of 0 are no sign that it is safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.run import Run
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["Advice", "Condition", "Verdict", "advise", "judge"]

NEED_OTHER_RELEASES: Final = frozenset({"intersection"})
"""Attacks on several releases: not part of the judgement of one."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition of a run that failed."""

    number: int
    """1 proof, 2 attacks, 3 texts, 4 usefulness"""
    says: str
    """what failed, in one sentence"""
    change: str
    """what to change; empty where nothing helps"""
    untested: bool = False
    """it failed because something could not be tested"""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the conditions say about a run."""

    run: str
    failed: tuple[Condition, ...]

    @property
    def passes(self) -> bool:
        """All four conditions hold."""
        return not self.failed

    @property
    def only_unproved(self) -> bool:
        """Only the proof is missing: the run passes the attacks that there are."""
        return bool(self.failed) and all(c.number == 1 for c in self.failed)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do with the runs of a comparison."""

    publish: str | None
    """name of the run; None = publish none of these"""
    text: str
    verdicts: tuple[Verdict, ...]


def judge(run: Run, limits: Limits, tasks: Sequence[str]) -> Verdict:
    """Hold the four conditions against a run."""
    if run.error is not None or run.statement is None:
        return Verdict(run=run.name, failed=(Condition(number=1, says="the method failed", change="", untested=True),))
    proof = list(_proof(run, run.statement, limits))
    if run.published_nothing:  # attacks found nobody and counts are 0: that is not to have passed them
        says = "it published nothing: there is nothing to attack, and nothing to use"
        return Verdict(run=run.name, failed=(Condition(number=4, says=says, change=_less_strict(run)), *proof))
    risky = [*proof, *_attacks(run, limits), *_texts(run, limits)]
    too_loose = any(c.change for c in risky)  # what makes it safer makes it less useful: do not ask for both
    return Verdict(run=run.name, failed=(*risky, *_tasks(run, tasks, too_loose=too_loose)))


def advise(runs: Sequence[Run], limits: Limits, tasks: Sequence[str]) -> Advice:
    """Say which run to publish, or that none will do, and which condition each failed.

    Among the runs that pass, the one that keeps most of the tasks named is taken: the largest sum of the lower ends of
    the scaled values. That order is for choosing only; what each run keeps is shown task by task. Where that is a run
    of generalized concepts, the least distorted of its kind is taken instead: a task such as `topics` likes what says
    little and nothing wrong, and distortion counts both.
    """
    verdicts = tuple(judge(run, limits, tasks) for run in runs)
    passing = [run for run, verdict in zip(runs, verdicts, strict=True) if verdict.passes and not run.baseline]
    best = max(passing, key=lambda run: _kept(run, tasks), default=None)
    if best is not None:
        best = _least_distorted(best, passing)
        return Advice(publish=best.name, text=_recommended(best, limits, tasks), verdicts=verdicts)
    text = "Publish none of these: every run fails a condition."
    unproved = [v.run for v, run in zip(verdicts, runs, strict=True) if v.only_unproved and not run.baseline]
    if unproved:
        text = (
            f"Publish none of these without a decision of your own: {', '.join(unproved)} passes the attacks we have, "
            "proves nothing; every other run fails a condition."
        )
    return Advice(publish=None, text=text, verdicts=verdicts)


def _least_distorted(best: Run, passing: Sequence[Run]) -> Run:
    """Return the run with the least distortion among those whose distortion is the same figure as that of `best`."""
    kind = _figure(best)
    rivals = [run for run in passing if kind is not None and _figure(run) == kind]
    return min(rivals, key=lambda run: run.generalized.value if run.generalized else 1.0, default=best)


def _figure(run: Run) -> tuple[object, ...] | None:
    """Return what distortion is counted over, tree and transactions; None where a release is not generalized.

    Under differential privacy some users' items are noise, and stand for nothing: another figure again.
    """
    if run.generalized is None or run.statement is None:
        return None
    settings = run.statement.settings
    over = bool(settings.get("prune")), settings.get("transactions", "sets")
    return (*over, "epsilon" in run.statement.parameters)


def _kept(run: Run, tasks: Sequence[str]) -> float:
    found = [run.task(name) for name in tasks]
    return sum(u.scaled_low for u in found if u is not None and u.scaled_low is not None)


def _recommended(run: Run, limits: Limits, tasks: Sequence[str]) -> str:
    worst = run.worst(limits)
    assert run.statement is not None
    kept = "; ".join(
        f"{u.task} {u.scaled:.0%} of the original" for name in tasks if (u := run.task(name)) and u.scaled is not None
    )
    risk = "" if worst is None else (
        f" Nearest to its limit: {worst.attack}, at most {worst.judged:.1%} of {limits.of(worst.risk):.0%}."
    )  # fmt: skip
    return (
        f"{run.name} may be published: {run.statement.model}.{risk} It keeps: {kept or 'no task was named'}."
        + _how_general(run)
    )


def _how_general(run: Run) -> str:
    """Say how far a release is generalized; nothing where it is not."""
    found = run.generalized
    if found is None:
        return ""
    level, density = (found.details.get(name) for name in ("mean level of items (root = 1)", "density"))
    more = "" if level is None or density is None else f", mean level {level:.2f} (root = 1), density {density:.3%}"
    return f" Generalized: distortion {found.value:.1%} of the worst case{more}."


def _proof(run: Run, statement: PrivacyStatement, limits: Limits) -> Iterator[Condition]:
    """Check condition 1.

    With a delta of 1 / people a method may publish one person outright and still keep its promise.
    """
    epsilon, delta = statement.parameters.get("epsilon", 0.0), statement.parameters.get("delta", 0.0)
    if epsilon > 0 and statement.unit == "user":
        if epsilon > limits.epsilon:
            says = f"its budget of {epsilon:g} per person is above the limit of {limits.epsilon:g}: that proves little"
            yield Condition(number=1, says=says, change=f"lower --epsilon to {limits.epsilon:g} or less")
        people = 1 if run.exposure is None else run.exposure.people
        if not 0 <= delta * people < 1:
            says = f"its delta of {delta:g} is not below 1 / {people:,} people: it may publish a person outright"
            yield Condition(number=1, says=says, change=f"lower --delta to {0.01 / people:.0e} or less")
    elif statement.bound is None or statement.unit != "user":
        says = "its statement proves no bound per person: at best it passes the attacks we have"
        yield Condition(number=1, says=says, change="take a method with a guarantee for people")


def _attacks(run: Run, limits: Limits) -> Iterator[Condition]:
    """Check condition 2."""
    lacking: dict[str, list[str]] = {}
    for name, why in run.not_run.items():
        if name not in NEED_OTHER_RELEASES:
            lacking.setdefault(why, []).append(name)
    for why, names in lacking.items():
        yield Condition(number=2, says=f"not tested: {', '.join(names)}: {why}", change="", untested=True)
    worst: dict[tuple[str, str], AttackResult] = {}  # of the variants of an attack the one that gains most
    for attack in run.attacks:
        key = (attack.attack.partition(",")[0], attack.risk)
        if not limits.keeps(attack) and (key not in worst or attack.judged > worst[key].judged):
            worst[key] = attack
    for attack in worst.values():
        says = (
            f"{attack.attack} gains up to {attack.judged:.1%} by the release, above the limit of "
            f"{limits.of(attack.risk):.0%} (right {attack.rate:.1%}, {attack.baseline.rate:.1%} without it)"
        )
        few = attack.lift <= (limits.of(attack.risk) or 0.0) / 2
        if few:  # the interval alone is above the limit: no setting makes it narrower
            says += f": that may be chance, {attack.targets:,} are too few to tell"
        yield Condition(number=2, says=says, change="more people in the log" if few else _remedy(run, attack))


def _texts(run: Run, limits: Limits) -> Iterator[Condition]:
    """Check condition 3."""
    found = run.exposure
    if found is None:
        yield Condition(number=3, says="exposure was not counted", change="", untested=True)
        return
    if found.own_row_share > limits.own_texts or (found.own_texts and limits.own_texts == 0):
        says = f"{_percent(found.own_row_share)} of its rows are texts that one person alone asked"
        if not found.own_row_share:  # a row whose count is 0 weighs nothing, and can be read all the same
            says = f"{found.own_texts:,} of its texts were asked by one person alone"
        yield Condition(number=3, says=says, change=_fewer_own_texts(run))
    for column, share in found.own_value_shares.items():
        if share > limits.own_texts:
            says = f"{_percent(share)} of its rows have a value in the column {column} that one person alone has"
            yield Condition(number=3, says=says, change=f"leave out the column {column}")
    with_identifier = found.identifier_rows / found.rows if found.rows else 0.0
    if with_identifier > limits.identifiers or (found.identifier_texts and limits.identifiers == 0):
        says = f"{_percent(with_identifier)} of its rows hold an identifier, such as a phone number"
        if not with_identifier:
            says = f"{found.identifier_texts:,} of its texts hold an identifier, such as a phone number"
        yield Condition(number=3, says=says, change=_without_identifiers(run))
    if found.unknown_texts:
        says = (
            f"{found.unknown_texts:,} of its {found.texts:,} texts hold words that nobody asked, such as codes: "
            "what they tell could not be counted"
        )
        yield Condition(number=3, says=says, change="", untested=True)


def _tasks(run: Run, tasks: Sequence[str], *, too_loose: bool) -> Iterator[Condition]:
    """Check condition 4."""
    for name in tasks:
        found = run.task(name)
        if found is None:
            yield Condition(number=4, says=f"{name} was not tested", change="", untested=True)
        elif not found.possible:
            yield Condition(number=4, says=f"{name} cannot be done with it: {found.note}", change="")
        elif not found.useful:
            says = (
                f"for {name} it is no better than the same method run blindly ({found.value:.3f} and {found.blind:.3f})"
            )
            yield Condition(number=4, says=says, change="" if too_loose else _looser(run))


def _remedy(run: Run, attack: AttackResult) -> str:
    """Say what lowers the rate of an attack, by the settings that the method has."""
    if "epsilon" in run.settings or _parameter(run, "epsilon") is not None:
        if attack.attack.startswith("shape"):
            return "no setting hides the number and the form of a person's rows: take another method"
        return "lower --epsilon"
    if attack.risk == "link" and _parameter(run, "k") is not None:
        return f"raise --k to {2 * int(_parameter(run, 'k') or 1)}"
    return _more_askers(run, 20)


def _fewer_own_texts(run: Run) -> str:
    """Say what leaves out own texts; where texts of more people are promised, there should be none."""
    if run.statement is not None and run.statement.text_users > 1:
        return f"make it again: its statement promises texts of {run.statement.text_users} people"
    return _more_askers(run, 5)


def _without_identifiers(run: Run) -> str:
    """Say what leaves out identifiers, by the settings that the method has."""
    settings = {} if run.statement is None else run.statement.settings
    if not settings.get("as_in_paper") and settings.get("identifiers") in {"keep", False}:
        return "leave out identifiers: --identifiers drop"
    return _more_askers(run, 20)


def _more_askers(run: Run, least: int) -> str:
    """Say what makes more people share each text."""
    now = run.statement.text_users if run.statement is not None else 1
    if run.statement is None or "min_query_users" not in run.statement.settings:
        return "take a method that publishes shared texts only"
    if run.statement.settings.get("as_in_paper"):
        return "leave out --as-in-paper: by default only what many people share is published"
    if run.statement.settings.get("rare") == "keep":
        return "publish of rare queries only what many people share: --rare phrase"
    return f"raise --min-query-users to {max(least, 2 * now if now > 1 else least)}"


def _looser(run: Run) -> str:
    if _parameter(run, "epsilon") is not None:
        return "more people in the log, or a larger --epsilon"
    if _parameter(run, "k") is not None:
        return "more people in the log, or a smaller --k"
    return "more people in the log"


def _less_strict(run: Run) -> str:
    """Say what lets something through, where nothing was published."""
    settings = {} if run.statement is None else run.statement.settings
    if settings.get("min_query_users"):
        return "lower --min-query-users, or take more people into the log"
    return _looser(run)


def _percent(share: float) -> str:
    """Return a share in percent; what is above 0 never reads as 0.

    >>> _percent(0.123), _percent(0.00004)
    ('12.3%', 'less than 0.1%')
    """
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _parameter(run: Run, name: str) -> float | None:
    return None if run.statement is None else run.statement.parameters.get(name)
