"""Forms made from what there is: the settings of a method, the limits of a verdict."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings
from querycloak.errors import UserError
from querycloak.evaluation.limits import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from querycloak.catalog import Method

__all__ = [
    "FIRST_SET",
    "LIMIT_WORDS",
    "TASK_WORDS",
    "Card",
    "Family",
    "Field",
    "given_settings",
    "limit_fields",
    "method_families",
    "read_limits",
]

FIRST_SET: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("sweep", {"min_query_users": "5"}),
    ("frequent-queries", {}),
    ("semantic-microaggregation", {"k": "5"}),
    ("semantic-microaggregation", {"k": "20"}),
    ("clump", {"k": "5"}),
    ("synthetic-dp", {}),
)
"""What "run a good first set" runs: a look at every family, the quickest first."""

TASK_WORDS: Final = {
    "popularity": ("Popular queries", "How often each query is asked: the most popular ones, in the right order."),
    "topics": ("Topics", "Which topics people ask about, and how much."),
    "suggestions": ("Query suggestions", "To suggest the next query to somebody who has typed one."),
    "profiles": ("Profiles", "Interests of single users: which topics go together in one head."),
    "sessions": ("Sessions", "How people reformulate: which query follows which."),
}
LIMIT_WORDS: Final = {
    "link": ("Linking a person to a published id", "Most that the release may add to the chance."),
    "claim": ("A claim about what a person asked", "Most that the release may add to the chance that it is right."),
    "membership": ("Telling who is in the log", "Most 2 AUC − 1: 0 = as good as a coin, 1 = always right."),  # noqa: RUF001
    "membership_at_1": ("Telling who is in the log, with few false alarms", "Most true hits at 1 % false alarms."),
    "own_texts": ("Rows whose text one person alone asked", "Largest share of the published rows."),
    "identifiers": ("Rows with an identifier, such as a phone number", "Largest share of the published rows."),
    "epsilon": ("Budget per person under differential privacy", "Largest ε; there is no upper bound but sense."),
}
"""field of Limits → title, what is limited"""
MAIN: Final = frozenset({"k", "epsilon", "delta", "min_query_users", "rules", "rows_per_user", "sites"})
"""Settings that are shown; the others are folded."""
NO_FILES: Final = frozenset({"ledger", "ledger_log"})
"""Settings that name files of the command line: not in the studio."""
FAMILIES: Final = {
    "microaggregation": ("Groups of people", "Each person shares one published log with at least k − 1 others."),  # noqa: RUF001
    "dp": ("Differential privacy", "Noise hides whether any one person was in the log at all."),
    "generalization": ("Concepts instead of queries", "People are published as the concepts that k of them share."),
    "suppression": ("Leaving out", "What looks dangerous is left out; nothing is proved."),
    "policy": ("Rules of others", "What a regulator or a service publishes by."),
    "stream": ("Methods of live streams", "Each query leaves under the id of somebody else; here on the whole log."),
}
"""folder of the method → title, what its methods do; in the order of the page"""


@dataclass(frozen=True)
class Field:
    """One setting, as a form shows it."""

    name: str
    label: str
    help: str
    kind: str
    """number, select or text"""
    value: str
    """what is filled in at first, which is the default; empty = the default follows from others, as `shown` says"""
    shown: str
    """the default in words"""
    options: tuple[tuple[str, str], ...] = ()
    least: str = ""
    step: str = ""
    main: bool = True


@dataclass(frozen=True)
class Card:
    """One method, as the page of methods shows it."""

    name: str
    summary: str
    guarantee: str
    fields: tuple[Field, ...]
    directory: bool = False
    """it looks sites up in a directory, which is a file of the folder"""

    @property
    def main(self) -> list[Field]:
        """Settings that are shown."""
        return [f for f in self.fields if f.main]

    @property
    def folded(self) -> list[Field]:
        """Settings that are folded."""
        return [f for f in self.fields if not f.main]


@dataclass(frozen=True)
class Family:
    """Methods that work alike."""

    name: str
    title: str
    says: str
    cards: tuple[Card, ...]


@cache
def method_families() -> tuple[Family, ...]:
    """Return all methods with their settings, by family. The first call imports them: about a second."""
    found: dict[str, list[Card]] = {}
    for entry in (METHODS | STREAM_METHODS).values():
        parts = entry.module.split(".")
        family = parts[2] if entry.module.startswith("querycloak.methods.") else entry.package or "other packages"
        found.setdefault(family, []).append(_card(entry))
    order = [*(name for name in FAMILIES if name in found), *(name for name in found if name not in FAMILIES)]
    words = {name: FAMILIES.get(name, (f"From {name}", "")) for name in order}
    return tuple(Family(name, *words[name], tuple(found[name])) for name in order)


def _card(entry: Method) -> Card:
    described = [s for s in describe_settings(entry.settings) if s["name"] not in NO_FILES]
    guarantee = "" if entry.guarantee == "none" else entry.guarantee
    return Card(entry.name, entry.summary, guarantee, tuple(_field(s) for s in described), "directory" in entry.needs)


def _field(described: Mapping[str, Any]) -> Field:
    """Return the field of one setting."""
    name, default, kind = described["name"], described["default"], described["type"]
    shown = described["shown"] or _text(default)
    options = _options(name, kind, described["choices"])
    least = described["minimum"] if described["minimum"] is not None else described["above"]
    return Field(
        name=name,
        label=name.replace("_", " "),
        help=described["help"],
        kind="select" if options else "number" if kind in {int, float} else "text",
        value="" if described["shown"] else _text(default, plain=True),
        shown=shown or "none",
        options=options,
        least="" if least is None else f"{least:g}",
        step="1" if kind is int else "any",
        main=name in MAIN,
    )


def _options(name: str, kind: type, choices: tuple[str, ...] | None) -> tuple[tuple[str, str], ...]:
    if choices:
        return tuple((c, c) for c in choices)
    if kind is bool:
        return (("true", "yes"), ("false", "no"))
    if name == "rules":
        from querycloak.methods.policy.presets_list import PRESETS

        return tuple((preset, preset) for preset in PRESETS)
    if name == "topics":
        return (("paper", "paper"), ("paper-fine", "paper-fine"))
    return ()


def _text(value: object, *, plain: bool = False) -> str:
    """Write a default for a person, or `plain` as the form sends it."""
    if value is MISSING or value is None:
        return ""
    if isinstance(value, bool):
        return ("true" if value else "false") if plain else ("yes" if value else "no")
    return (repr(value) if plain else f"{value:g}") if isinstance(value, float) else str(value)


def given_settings(method: str, form: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the settings that were changed, by name: fields of a form are `set-<name>`.

    What is as it was filled in at first is the default, and not worth a word in the name of a run; but for k.
    """
    given = {name[4:]: text.strip() for name, text in form if name.startswith("set-") and text.strip()}
    cards = [card for family in method_families() for card in family.cards if card.name == method]
    first = {field.name: field.value for card in cards for field in card.fields if field.name != "k"}
    return {name: text for name, text in given.items() if text != first.get(name)}


def limit_fields(limits: Limits) -> list[tuple[str, tuple[str, str], str, str]]:
    """Return (name, what it limits, value, default) of each limit."""
    return [
        (f.name, LIMIT_WORDS[f.name], f"{getattr(limits, f.name):g}", f"{getattr(LIMITS, f.name):g}")
        for f in fields(Limits)
    ]


def read_limits(form: Mapping[str, str]) -> Limits:
    """Return the limits of a form; what is empty has its default."""
    values = {}
    for f in fields(Limits):
        text = form.get(f"limit-{f.name}", "").strip()
        try:
            values[f.name] = float(text) if text else getattr(LIMITS, f.name)
        except ValueError:
            raise UserError(f"The limit of “{LIMIT_WORDS[f.name][0]}” must be a number.") from None
    return Limits(**values)
