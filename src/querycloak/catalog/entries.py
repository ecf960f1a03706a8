"""What an entry of a catalog says: where code is, and what it needs next to the log."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from querycloak.releases.release import Release
    from querycloak.settings import Settings

__all__ = ["ALL", "LOGS", "TEXTS", "Check", "Method", "Need", "Question", "ReleaseKind", "check_entry"]

ReleaseKind = Literal["log", "items", "counts", "stream"]
"""As in `querycloak.releases.release`, which is not loaded here."""
Question = Literal["singling out", "linkability", "inference"]
"""As in `querycloak.attacks.result`, which is not loaded here."""

Need = Literal[
    "concepts",
    "release_concepts",
    "paths",
    "release_paths",
    "taxonomy",
    "directory",
    "resolver",
    "click_categories",
    "stream_engines",
    "halves",
    "askers",
    "trials",
    "also",
]
"""What a method, attack or measure may ask for next to the log: `concepts` is the log's ConceptLog over `taxonomy`,
`release_concepts` that of the release; `click_categories` finds categories of texts as learned from the log's clicks,
None where that was not asked for; `paths` and `release_paths` find the category path of each row;
`stream_engines` makes the engine of a stream method, for an attacker who runs it himself. `halves` (attacks.halves) is
each person's log in a known and an unknown half, `askers` (releases.askers) who asked each published text, `trials`
(attacks.trials) makes further releases with the same method, `also` are other releases of the same log."""


@dataclass(frozen=True)
class Method:
    """A method: where its code is, and what it promises. `function(log, settings, random, progress, **needs)`."""

    name: str
    summary: str
    """one line"""
    guarantee: str
    """one line: the formal model, or 'none'"""
    module: str
    settings_name: str
    """the settings class in `module`"""
    function_name: str
    """the function in `module`"""
    needs: tuple[Need, ...] = ()
    package: str = ""
    """the package it comes from, with its version; empty = QueryCloak itself"""
    named_by: str = ""
    """a setting that may follow the name after a colon, as in `policy:google-2024`; empty = there is none"""
    given: Mapping[str, Any] = field(default_factory=dict)
    """the settings that the name says in this way"""

    @property
    def settings(self) -> type[Settings]:
        """The settings class (imports the method)."""
        return cast("type[Settings]", getattr(import_module(self.module), self.settings_name))

    @property
    def is_private(self) -> bool:
        """Whether it promises differential privacy, so that nothing may be learned from the log but through noise."""
        return any(f.name == "epsilon" for f in fields(self.settings))

    @property
    def function(self) -> Callable[..., Release]:
        """The function (imports the method)."""
        return cast("Callable[..., Release]", getattr(import_module(self.module), self.function_name))


@dataclass(frozen=True)
class Check:
    """An attack or a measure: where its code is. `function(log, release, random, progress, **needs)`."""

    name: str
    summary: str
    """one line"""
    module: str
    function_name: str
    """the function in `module`; it returns an AttackResult or a Score, or a list of them"""
    kinds: tuple[ReleaseKind, ...]
    """kinds of release it fits"""
    needs: tuple[Need, ...] = ()
    package: str = ""
    """the package it comes from, with its version; empty = QueryCloak itself"""
    question: Question | None = None
    """of an attack: which of the regulators' questions it answers"""
    without_truth: bool = False
    """of an attack: it keeps score without the truth of the release"""
    of_invented: bool = False
    """of an attack: it looks for no id, so it fits a release whose ids stand for nobody, without a truth"""

    @property
    def function(self) -> Callable[..., Any]:
        """The function (imports its module)."""
        return cast("Callable[..., Any]", getattr(import_module(self.module), self.function_name))


def check_entry(path: str, summary: str, kinds: tuple[ReleaseKind, ...], *needs: Need) -> Check:
    """Return the entry of `folder/name`: the function `name` of the file of that name."""
    folder, name = path.split("/")
    stem = name.replace("-", "_")
    return Check(name, summary, f"querycloak.{folder}.{stem}", stem, kinds, needs)


LOGS: Final[tuple[ReleaseKind, ...]] = ("log", "items")
TEXTS: Final[tuple[ReleaseKind, ...]] = ("log", "counts", "stream")
ALL: Final[tuple[ReleaseKind, ...]] = ("log", "items", "counts", "stream")
