"""Runs, comparisons and checks as pages show them, with known figures and any text."""

from __future__ import annotations

from dataclasses import replace

from sample_attacks import found
from sample_releases import statement

from querycloak.attacks.result import Baseline
from querycloak.evaluation.check import QUESTIONS, Light, ReleaseCheck
from querycloak.evaluation.comparison import Comparison
from querycloak.evaluation.exposure import Exposure
from querycloak.evaluation.limits import LIMITS
from querycloak.evaluation.run import Run
from querycloak.evaluation.sample import Sample
from querycloak.evaluation.utility import Utility
from querycloak.measures.score import Score
from querycloak.releases.verify import Finding

HELD_OUT = Baseline(kind="people held out", rate=0.02, low=0.0, high=0.05, targets=40)


def exposed(own=0, **more):
    """What was counted of 100 rows of 10 people; `own` rows and texts are those of one person."""
    plain = {
        "rows": 100.0, "texts": 50, "people": 10, "own_rows": float(own), "own_texts": own, "own_row_share": own / 100,
        "own_text_share": own / 50, "exposed_people": own, "exposed_share": own / 10, "most_own_in_one_log": own,
        "logs_with_own": own, "logs_naming_member": own, "public_rows": 0.0, "public_texts": 0, "texts_of_nobody": 0,
        "unknown_texts": 0, "own_value_shares": {}, "own_moment_share": None,
        "few_people": {2: own, 5: 7, 10: 8, 30: 9},
        "identifiers": {"mail": 0}, "identifier_texts": 0, "identifier_rows": 0.0, "name_texts": 0, "name_rows": 0.0,
        "smallest_class": 5, "classes": 2, "sensitive_own_texts": {"health": 0, "money": 0},
        "classes_with_sensitive": 0, "classes_sharing_sensitive": 0,
    }  # fmt: skip
    return Exposure(**{**plain, **more})


def useful(task="topics", scaled=0.7, **more):
    """A task of which this much is kept; better than blind where that is more than 0.1."""
    plain = {
        "possible": True, "note": "", "cases": 9, "value": scaled, "low": scaled - 0.1, "high": scaled + 0.1,
        "original": 1.0, "blind": 0.0, "blind_high": 0.0, "scaled": scaled, "scaled_low": scaled - 0.1,
        "scaled_high": scaled + 0.1,
    }  # fmt: skip
    return Utility(task=task, **{**plain, **more})


def proved(text="k-anonymity of users, k = 5", k=5):
    """A statement whose texts are all `text`."""
    return replace(
        statement(k=k), method=text, model=text, covers=(text,), does_not_cover=(text,), assumptions=(text,),
        settings={text: text}, dropped={text: 3}, version=text,
    )  # fmt: skip


def run(name="r", *, relink=0.05, claim=0.02, text="plain", **more):
    """A run that keeps its limits as long as `relink` and `claim` are small; every text of it is `text`."""
    attacks = (
        found(f"known, {text}", 0.1, low=0.05, high=0.15, question="singling out", knows=text, bound=0.2),
        found(f"relink, {text}", relink, low=relink - 0.03, high=relink + 0.03, knows=text, baseline=HELD_OUT),
        found(f"claim, {text}", claim, risk="claim", low=0.0, high=claim + 0.03, question="inference", knows=text),
        found(f"count, {text}", 0.5, risk="count", question="singling out", knows=text),
    )
    plain = {
        "method": text, "settings": {"k": 5}, "statement": proved(text), "exposure": exposed(), "attacks": attacks,
        "utility": (useful("topics"), useful("popularity", 0.4), useful("profiles", 0.05)),
        "scores": (Score(measure=f"measure {text}", value=0.5, better="higher"),),
        "seconds": {text: 1.0}, "group_sizes": {5: 10}, "topics": {text: 0.5},
    }  # fmt: skip
    return Run(name=name, **{**plain, **more})


def comparison(*runs, text="plain", tasks=("topics",), **more):
    """A comparison of these runs."""
    plain = {"version": text, "log": {text: 1}, "seed": 1, "repeat": text, "topics": {text: 0.4}}
    return Comparison(runs=runs, tasks=tasks, **{**plain, **more})


def check(verdict="RELEASE", text="plain", **more):
    """One release, judged; every text of it is `text`."""
    colours = dict(zip(QUESTIONS, ("green", "amber", "red"), strict=True))
    plain = {
        "reasons": (text,) * 6, "changes": (text,), "not_tested": (text,),
        "lights": tuple(Light(question=q, asks=a, colour=colours[q], says=text) for q, a in QUESTIONS.items()),
        "findings": tuple(Finding(text, holds, text) for holds in (True, False, None)),
        "run": run(text=text, nothing={text: text}), "sample": Sample(before=((text, text),), after=((text, text),)),
        "limits": LIMITS, "tasks": ("topics",),
    }  # fmt: skip
    return ReleaseCheck(verdict=verdict, **{**plain, **more})
