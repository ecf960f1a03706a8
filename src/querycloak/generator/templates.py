"""The words around the terms of a phrase: joints between them, and the modifiers that people of all interests use."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["TEMPLATES", "Template"]


class Template(NamedTuple):
    """Words around one to three terms, and how often the template is used among those of as many terms."""

    terms: int
    groups: int
    """word groups (noun phrases) of the phrase, those of the modifier counted"""
    weight: float
    before: str = ""
    between: str = ""
    between2: str = ""
    after: str = ""


_JOINTS: Final = (
    Template(1, 1, 1.0),
    Template(2, 2, 0.60, between=" "),
    Template(2, 2, 0.13, between=" in "),
    Template(2, 2, 0.10, between=" and "),
    Template(2, 2, 0.07, between=" for "),
    Template(2, 2, 0.05, between=" with "),
    Template(2, 2, 0.03, between=" near "),
    Template(2, 2, 0.02, between=" from "),
    Template(3, 3, 0.60, between=" ", between2=" "),
    Template(3, 3, 0.16, between=" ", between2=" in "),
    Template(3, 3, 0.11, between=" and ", between2=" in "),
    Template(3, 3, 0.08, between=" ", between2=" for "),
    Template(3, 3, 0.05, between=" with ", between2=" and "),
)
"""Terms without a modifier; weights of as many terms sum to 1."""

_MODIFIERS: Final = (
    "free *|new *|pictures of *+|* for sale+|how to *|* lyrics+|cheap *|* in texas+|best *|lyrics to *+|* online|"
    "* florida+|* pictures+|what is *|* reviews+|* in california+|history of *+|* recipes+|* new york+|used *|"
    "* jobs+|* county+|* school+|free * games+|list of *+|* parts+|* in new jersey+|how to make *|* store+|* prices+|"
    "information on *+|* ohio+|* games+|* los angeles+|american *|* 2006|* in georgia+|home *+|* michigan+|* hotels+|"
    "* chicago+|recipe for *+|* tickets+|real *|* and kids+|* las vegas+|where to buy *|* in virginia+|* video+|"
    "* club+|* high school+|black *|* pennsylvania+|free * online|* atlanta+|* company+|how to use *|photos of *+|"
    "* north carolina+|* music+|* phone number+|* in illinois+|* coupons+|* for women+|* symptoms+|old *|* houston+|"
    "* tennessee+|women's *+|where is *|* in arizona+|* supplies+|* wholesale|state of *+|* boston+|* home page+|"
    "* manual+|types of *+|* dallas+|small *|* book+|* in colorado+|* seattle+|wedding *+|* for children+|* directory+|"
    "custom *|* song+|* orlando+|baby *+|* in indiana+|* museum+|national *|* san diego+|* software+|* review+|"
    "definition of *+|* missouri+|* show+|* hospital+|discount *|* cards+|* university+|* washington dc+|* area+"
)
"""What people of all interests put around what they look for, the most frequent first.

* is where the terms are, + marks a modifier that is a word group of its own (a noun, not an adjective or a verb).
"""

_MODIFIED: Final = {1: 0.87, 2: 0.79, 3: 0.69}
"""Share of phrases with a modifier, by number of terms."""
_MODIFIER_EXPONENT: Final = 0.8
"""The r-th modifier is used 1 / r^_MODIFIER_EXPONENT as often as the first."""


def _templates() -> tuple[Template, ...]:
    """Return all templates, those of one term first, then of two, then of three."""
    modifiers = _MODIFIERS.split("|")
    weights = [rank**-_MODIFIER_EXPONENT for rank in range(1, len(modifiers) + 1)]
    made = []
    for terms, modified in _MODIFIED.items():
        made += [j._replace(weight=(1 - modified) * j.weight) for j in _JOINTS if j.terms == terms]
        joint = next(j for j in _JOINTS if j.terms == terms)
        for modifier, weight in zip(modifiers, weights, strict=True):
            before, after = modifier.removesuffix("+").split("*")
            share = modified * weight / sum(weights)
            groups = terms + modifier.endswith("+")
            made.append(joint._replace(groups=groups, weight=share, before=before, after=after))
    return tuple(made)


TEMPLATES: Final = _templates()
