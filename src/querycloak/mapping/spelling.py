"""Words that nobody knows: a small misspelling, or words glued together. Strictly: rather nothing than nonsense.

How likely a word is follows from its rank among the vectors' words, the most frequent first (Zipf's law). A row of
random letters is as likely as one in 26 to the power of its length; what is proposed must be much likelier.

>>> from querycloak.knowledge.vectors import load_vectors
>>> spelling = Spelling(load_vectors().words)
>>> spelling.correct("univeristy"), spelling.split("cheapflights"), spelling.split("qzxvkjw")
('university', ('cheap', 'flights'), ())
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from math import log
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["Spelling"]

FREQUENT: Final = ((6, 5_000), (7, 30_000), (8, 100_000))
"""Letters of a misspelt word → rank up to which a word may be what was meant: short words lie near too many others."""
CLEARLY: Final = 4
"""How many times further down the second candidate must be for the first to be taken."""
LEAST_GLUED: Final = 6
LONGEST_GLUED: Final = 40
LEAST_PART: Final = 3
FREQUENT_PART: Final = 40_000
MOST_PARTS: Final = 4
MUCH: Final = log(3)
"""A split must be this much likelier than random letters, in logarithms."""
_ENOUGH: Final = 1_500
"""Words to correct that take as long as listing how frequent words begin."""
_LETTER: Final = log(26)
_OFFSET: Final = 2.7
_TOTAL: Final = 12.0


class Spelling:
    """Corrects and splits words by a list of words, the most frequent first."""

    def __init__(self, rank: Mapping[str, int]) -> None:
        self._rank = rank
        self._left = _ENOUGH

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """How the words begin that may be meant."""
        frequent = islice(self._rank, FREQUENT[-1][1])
        return frozenset({word[:end] for word in frequent for end in range(1, len(word) + 1)})

    def correct(self, word: str) -> str:
        """Return the frequent word that is one letter apart, or two letters swapped; empty where none stands out.

        The first letter must be right.
        """
        if not FREQUENT[0][0] <= len(word) <= LONGEST_GLUED or not (word.isascii() and word.isalpha()):
            return ""
        below = max(rank for letters, rank in FREQUENT if letters <= len(word))
        self._left -= 1
        edits = _edits(word) if self._left >= 0 else _likely_edits(word, self._beginnings)
        found = {(rank, other) for other in edits if (rank := self._rank.get(other, below)) < below}
        if not found:
            return ""
        (rank, best), *others = sorted(found)
        return best if not others or others[0][0] >= CLEARLY * (rank + 1) else ""

    def split(self, word: str) -> tuple[str, ...]:
        """Return the words that are glued together, the likeliest way; empty where no way is much likelier than chance.

        Every part has three letters or more and is frequent. Digits at the end of a word are taken off.
        """
        letters = word.rstrip(digits)
        if letters != word:
            return (letters,) if len(letters) > LEAST_PART and letters in self._rank else ()
        size = len(word)
        if not LEAST_GLUED <= size <= LONGEST_GLUED or not (word.isascii() and word.isalpha()):
            return ()
        best: list[list[tuple[float, tuple[str, ...]]]] = [[] for _ in range(size + 1)]  # by parts used
        best[0] = [(0.0, ())]
        for end in range(LEAST_PART, size + 1):
            ways: dict[int, tuple[float, tuple[str, ...]]] = {}
            for start in range(max(0, end - 20), end - LEAST_PART + 1):
                if not best[start]:
                    continue
                rank = self._rank.get(word[start:end], FREQUENT_PART)
                if rank >= FREQUENT_PART:
                    continue
                likely = -log((rank + _OFFSET) * _TOTAL)
                for before, parts in best[start]:
                    count = len(parts) + 1
                    way = (before + likely, (*parts, word[start:end]))
                    if count <= MOST_PARTS and (count not in ways or way[0] > ways[count][0]):
                        ways[count] = way
            best[end] = list(ways.values())
        several = [way for way in best[size] if len(way[1]) > 1]
        if not several:
            return ()
        likely, parts = max(several)
        return parts if likely > MUCH - size * _LETTER else ()


def _edits(word: str) -> Iterator[str]:
    """Yield the words one edit away that begin alike."""
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]
        if i + 1 < len(word):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        for letter in ascii_lowercase:
            yield word[:i] + letter + word[i + 1 :]
            yield word[:i] + letter + word[i:]
    for letter in ascii_lowercase:
        yield word + letter


def _likely_edits(word: str, beginnings: Collection[str]) -> Iterator[str]:
    """Yield the words one edit away that begin alike, without most of those that begin as no frequent word does."""
    for i in range(1, len(word) + 1):
        before = word[:i]
        if before not in beginnings:
            return
        if i < len(word):
            yield before + word[i + 1 :]
            if i + 1 < len(word):
                yield before + word[i + 1] + word[i] + word[i + 2 :]
        for letter in ascii_lowercase:
            new = before + letter
            if new in beginnings:
                yield new + word[i:]
                if i < len(word):
                    yield new + word[i + 1 :]
