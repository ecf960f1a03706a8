"""Attacks by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from querycloak.catalog.entries import ALL as _ALL
from querycloak.catalog.entries import LOGS as _LOGS
from querycloak.catalog.entries import TEXTS as _TEXTS
from querycloak.catalog.entries import Check, Need, Question, ReleaseKind, check_entry
from querycloak.plugins import Catalog

__all__ = ["ATTACKS"]

_MEANING: Final[tuple[Need, ...]] = ("concepts", "release_concepts", "taxonomy")


def _attack(
    name: str,
    question: Question,
    summary: str,
    kinds: tuple[ReleaseKind, ...],
    *needs: Need,
    without_truth: bool = False,
    of_invented: bool = False,
) -> Check:
    """Return the entry of an attack: the function `name` of the file of that name."""
    entry = check_entry(f"attacks/{name}", summary, kinds, *needs)
    return replace(entry, question=question, without_truth=without_truth, of_invented=of_invented)


ATTACKS: Final = Catalog(
    "attack",
    Check,
    (
        _attack(
            "personal-identifiers",
            "singling out",
            "mail, phone, card numbers, names and the like left in the text",
            _TEXTS,
            without_truth=True,
        ),
        _attack(
            "uniqueness",
            "singling out",
            "texts of one person; people singled out by a pair of texts",
            _LOGS,
            "askers",
            without_truth=True,
        ),
        _attack(
            "known-queries",
            "singling out",
            "knows 1, 2, 5, 10 queries of a person, or half of them, and looks for the published log that fits best",
            _LOGS,
            "concepts",
            "taxonomy",
        ),
        _attack("record-linkage", "linkability", "knows the whole log, links users by queries in common", ("log",)),
        _attack(
            "relink",
            "linkability",
            "knows the earlier half of a log, looks for the most similar published log: words, spelling, concepts",
            _LOGS,
            "halves",
            *_MEANING,
        ),
        _attack(
            "relink-half",
            "linkability",
            "the same against a release of the later half alone: what links the two is a person's habits",
            _LOGS,
            "halves",
            "trials",
            "concepts",
            "taxonomy",
        ),
        _attack(
            "shape",
            "linkability",
            "runs the method on what is known and compares row counts and words per row; reads nothing",
            _LOGS,
            "halves",
            "trials",
        ),
        _attack(
            "timing",
            "linkability",
            "knows when a person searched, looks for the published id that has rows at those times; reads nothing",
            ("log",),
            "halves",
        ),
        _attack(
            "learned-linkage",
            "linkability",
            "learns from people whose published logs are known which similarities find the others",
            _LOGS,
            "halves",
            "trials",
            *_MEANING,
        ),
        _attack(
            "consistent-classes",
            "linkability",
            "knows a person's log, or half of it, and looks for the class of generalized logs that agrees with it",
            ("items",),
            "halves",
            "concepts",
            "taxonomy",
        ),
        _attack(
            "stream-linkage",
            "linkability",
            "pairs published queries and users again: by node, by the anonymizer's own machine, by activity",
            ("stream",),
            "release_paths",
            "stream_engines",
        ),
        _attack(
            "stream-timing",
            "linkability",
            "names the id that leaves soon after each time at which a text was asked, for texts published often",
            ("stream",),
        ),
        _attack(
            "stream-pool",
            "linkability",
            "rehearses the anonymizer to learn how soon and how near an asker's own id is published next",
            ("stream",),
            "release_paths",
            "stream_engines",
        ),
        _attack(
            "intersection",
            "linkability",
            "intersects the people under whom a text of one person is published here and in other releases",
            _LOGS,
            "askers",
            "also",
        ),
        _attack(
            "claim",
            "inference",
            "knows half of a person's log, finds the published log most like it, and claims its most fitting new text",
            _LOGS,
            "halves",
            "askers",
            "trials",
            *_MEANING,
            of_invented=True,
        ),
        _attack(
            "attribute",
            "inference",
            "knows the members of a group and half of their logs; says which of them asked a text of one person",
            ("log",),
            "halves",
            "askers",
        ),
        _attack(
            "membership",
            "inference",
            "knows half of a person's log and tells whether the person is in the release of half of the people",
            _ALL,
            "halves",
            "trials",
            "concepts",
            "taxonomy",
            without_truth=True,
        ),
    ),
)
"""Attacks by name; attackers see only the release and what they know of users."""
