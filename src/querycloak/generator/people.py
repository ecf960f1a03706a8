"""Personal queries of made-up people: no number, address or name in them belongs to anybody.

Names are put together from halves of the taxonomy's words, and none is itself a word of the taxonomy. Phone numbers end
in 555-0100 to 555-0199, mail addresses in example.com, .org or .net: all reserved for fiction. Social-security numbers
begin with 000 or 666, which are never issued; card numbers are the published test numbers of card processors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from querycloak.generator.world import Terms
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness

__all__ = ["KINDS", "TEST_CARDS", "WITH_TOWN", "People"]

KINDS: Final = ("name", "name and town", "phone", "mail", "address", "social security", "card")
WITH_TOWN: Final = np.array([kind in {"name and town", "address"} for kind in KINDS])
"""bool[kinds]: which kinds name the user's town, a concept of the taxonomy."""

TEST_CARDS: Final = (
    "4111111111111111",
    "4012888888881881",
    "5555555555554444",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "30569309025904",
    "3530111333300000",
)

_TOWNS: Final = ("city", "town", "municipality", "country", "location", "region")
"""Towns are drawn from the first of these subtrees that has enough terms, else from all terms."""
_STREETS: Final = ("street", "avenue", "road", "lane", "drive")
_MAILS: Final = ("example.com", "example.org", "example.net")
_PEOPLE: Final = 4
"""The user and three others of the same surname."""


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """The made-up people of a log: four per user."""

    seed: npt.NDArray[np.uint64]
    """uint64[users]"""
    words: list[str]
    """single words of the taxonomy's labels, of letters only"""
    known: frozenset[str]
    town: npt.NDArray[np.int64]
    """int64[users], the term that is the user's town"""
    town_text: list[str]
    """text of each user's town"""

    @classmethod
    def draw(cls, users: int, taxonomy: Taxonomy, terms: Terms, random: Randomness) -> People:
        """Draw a town and a seed for each user."""
        texts = terms.text.to_list()
        known = frozenset(word for text in texts for word in text.split())
        words = sorted(word for word in known if re.fullmatch(r"[a-z]{4,12}", word)) or ["lorem", "ipsum", "dolor"]
        low, high = _town_terms(taxonomy, terms)
        town = low + random.integers(high - low, users)
        return cls(random.words(users), words, known, town, [texts[t] for t in town.tolist()])

    def text(self, kind: int, payload: int) -> str:
        """Write the query of a kind about a person: payload = 4 times the user, plus the person."""
        user, person = divmod(payload, _PEOPLE)
        seed = int(self.seed[user])
        given, surname = self._name(seed, 1 + person), self._name(seed, 0)
        draw = _mix(seed, 100 + _PEOPLE * kind + person)
        if kind == 0:
            return f"{given} {surname}"
        if kind == 1:
            return f"{given} {surname} {self.town_text[user]}"
        if kind == 2:
            return f"{200 + draw % 800}-555-01{draw // 800 % 100:02d}"
        if kind == 3:
            return f"{given}.{surname}@{_MAILS[draw % len(_MAILS)]}"
        if kind == 4:
            street = self.words[draw % len(self.words)]
            return f"{1 + draw // 2**20 % 9999} {street} {_STREETS[draw % len(_STREETS)]} {self.town_text[user]}"
        if kind == 5:
            return f"{('000', '666')[draw % 2]}-{1 + draw // 2 % 99:02d}-{1 + draw // 200 % 9999:04d}"
        return TEST_CARDS[draw % len(TEST_CARDS)]

    def _name(self, seed: int, which: int) -> str:
        """Put a name together from the front of one word and the back of another; never a word of the taxonomy."""
        turn = 0
        while True:
            draw = _mix(seed, 1000 * which + turn)
            front, back = self.words[draw % len(self.words)], self.words[(draw >> 32) % len(self.words)]
            name = front[: 2 + draw // 7 % 3] + back[-3:]
            if name not in self.known:
                return name
            turn += 1
            if turn > 50:  # a tiny taxonomy may know every such name
                return name + name[::-1]


def _mix(seed: int, turn: int) -> int:
    """Return 64 bits from a seed and a number (SplitMix64)."""
    z = (seed + (turn + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def _town_terms(taxonomy: Taxonomy, terms: Terms) -> tuple[int, int]:
    """Find the slice of terms that towns are drawn from."""
    for name in _TOWNS:
        for concept in range(len(taxonomy)):
            if taxonomy.labels[concept] and taxonomy.label(concept) == name:
                low, high = np.searchsorted(terms.concept, [concept + 1, concept + int(taxonomy.size[concept])])
                if high - low >= 8:
                    return int(low), int(high)
    return 0, len(terms.concept)
