"""Names of persons in the text of queries: a first name from a list next to a last name from a list.

"first last" or "last, first", anywhere in the text, with initials or words such as "van der" in between; where the last
name comes first, as in China, Vietnam or Korea, also "last first". Recall comes first: a phrase wrongly taken for a
name costs little. Two things are left alone:

- two ordinary words: "summer park" could be somebody, but one of the two must be no ordinary English word and no place,
  unless it is rather a name than a word (`rather_names.txt`: "john smith")
- what the knowledge base has a label for: "bill clinton" is famous, "virginia beach" is no person

The lists: the US census of 1990, lists of fifty countries, and romanised names (names-NOTICE.txt;
`tools/build_names.py` builds the file).

>>> import polars as pl
>>> from querycloak.knowledge.wordnet import load_wordnet
>>> texts = ["tall jane q. miller boston", "summer park", "Abraham Lincoln", "Müller, Jürgen", "wang xiaoming"]
>>> find_names(pl.Series(texts), load_wordnet()).tolist()
[True, False, False, True, True]
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.mapping.tagger import Tagger
from querycloak.mapping.words import fold
from querycloak.texts import _name_lists as _lists
from querycloak.texts.compared import compared
from querycloak.texts.plain import CONTROLS_AS_SPACES, Plain, spread
from querycloak.texts.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt
    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = [
    "EASTERN_FIRST",
    "EASTERN_LAST",
    "FIRST",
    "LAST",
    "NameFinder",
    "find_names",
    "find_rare_names",
    "folded_name",
    "name_spans",
    "names_in_texts",
]

FIRST: Final = 1
LAST: Final = 2
EASTERN_FIRST: Final = 4
EASTERN_LAST: Final = 8
"""Roles of a name, added up; eastern: of countries where the last name comes first."""

_ANY_FIRST: Final = FIRST | EASTERN_FIRST
_ANY_LAST: Final = LAST | EASTERN_LAST

_LETTERS: Final = str.maketrans(
    {"\u0131": "i", "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ə": "a"}
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['`-](?!s\b)[^\W\d_]+)*|'s\b|,|\.(?=\w)|[^\s.]")
_INITIAL: Final = re.compile(r"(?<![^\W_])([^\W\d_])\.")
_NO_NAMES: Final = frozenset(["com", "edu", "gov", "http", "net", "org", "www"])
_BETWEEN: Final = frozenset(
    word
    for words in ("van von der den de da di del della la le dos das du", "bin ibn al el ben ter ten st mac mc thi y e")
    for word in words.split()
)
"""Short words that may come between a first and a last name."""
_MOST_BETWEEN: Final = 3
_AS_SPACES: Final[dict[int, str]] = {**CONTROLS_AS_SPACES, **dict.fromkeys(map(ord, "+_|"), " ")}
"""+karen +hartwell: must be there; karen_hartwell: as in the name of a file."""
_LOOSE: Final[dict[int, str]] = dict.fromkeys(map(ord, '-.()[]{}/"*:;='), " ")
"""A text is read twice: these marks may be parts of a name (anna-maria), or between its words: karen-hartwell.html."""


def find_names(texts: pl.Series, taxonomy: Taxonomy) -> npt.NDArray[np.bool_]:
    """Find which texts hold the name of a person who is not famous: bool[n]."""
    return _found_before(taxonomy).of(texts)


def find_rare_names(
    texts: pl.Series, taxonomy: Taxonomy, people: Callable[[pl.Series], npt.NDArray[np.integer]], *, famous: int
) -> npt.NDArray[np.bool_]:
    """Find which texts hold a name that fewer than `famous` people asked and that the taxonomy does not know: bool[n].

    `people` tells how many people asked each of some distinct names, which are given as texts are compared. In a longer
    text it is the name that must be famous, not the text. Names that overlap ("anna maria lopez") are one name: that
    "anna maria" and "maria lopez" are famous says nothing about her.

    >>> import polars as pl
    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> asked = {"karen hartwell": 40}
    >>> texts = pl.Series(["karen hartwell boston", "bob hartwell boston", "green tea"])
    >>> nobody = Taxonomy.from_parents([-1], [["thing"]])
    >>> def people(names):
    ...     return np.array([asked.get(name, 0) for name in names])
    >>> find_rare_names(texts, nobody, people, famous=30).tolist()
    [False, True, False]
    """
    import polars as pl

    names = names_in_texts(texts, taxonomy)
    out = np.zeros(len(texts), dtype=np.bool_)
    if any(names):
        owner = np.repeat(np.arange(len(names)), list(map(len, names)))
        plain = pl.Series([name for some in names for name in some], dtype=pl.String)
        distinct = plain.unique(maintain_order=True)
        rare = distinct.gather(np.flatnonzero(people(distinct) < famous))
        out[owner[plain.is_in(rare.implode()).to_numpy()]] = True
    return out


def names_in_texts(texts: pl.Series, taxonomy: Taxonomy) -> list[list[str]]:
    """Return the names in each text of people whom the taxonomy does not know, in the form in which texts are compared.

    >>> import polars as pl
    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> names_in_texts(pl.Series(["Karen  Hartwell boston", "green tea"]), Taxonomy.from_parents([-1], [["thing"]]))
    [['karen hartwell'], []]
    """
    import polars as pl

    finder = _finder(taxonomy)
    spans = [(text, finder.spans(text)) for text in texts.to_list()]
    names = iter(compared(pl.Series([text[a:b] for text, some in spans for a, b in some], dtype=pl.String)).to_list())
    return [[next(names) for _ in some] for _, some in spans]


def name_spans(text: str, taxonomy: Taxonomy) -> list[tuple[int, int]]:
    """Find where in a text the names of persons are whom the taxonomy does not know: begin and end of each.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> text = "is Jürgen Müller, or Smith, Jane, in Boston"
    >>> [text[begin:end] for begin, end in name_spans(text, Taxonomy.from_parents([-1], [["thing"]]))]
    ['Jürgen Müller', 'Smith, Jane']
    """
    return _finder(taxonomy).spans(text)


def folded_name(text: str) -> str:
    """Return a text as names are compared: lower case, without accents, letters that have none as plain ones.

    >>> folded_name("O'Brien Łukasz Müller")
    'obrien lukasz muller'
    """
    return fold(text).translate(_LETTERS).replace("'", "")


class NameFinder:
    """Tells whether a text holds a name; what a taxonomy has a label for is left alone."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._roles = _lists.names()
        self._rather = _lists.rather_names()
        self._taxonomy = taxonomy
        self._tagger = Tagger()

    # The labels are asked for once there may be a name; a log of few queries may have none, and pays nothing for them.

    @cached_property
    def _labels(self) -> frozenset[str]:
        """Labels of several words, as texts are compared."""
        labels = (label for labels in self._taxonomy.labels for label in labels if " " in label)
        return frozenset(" ".join(_tokens(label)) for label in labels)

    @cached_property
    def _single(self) -> tuple[frozenset[str], frozenset[str]]:
        return _lists.single_labels(self._taxonomy)

    @property
    def _words(self) -> frozenset[str]:
        """Labels of one word in lower case."""
        return self._single[0]

    @property
    def _places(self) -> frozenset[str]:
        """Labels of one word that are places."""
        return self._single[1]

    def holds_name(self, text: str) -> bool:
        """Tell whether a name is in the text.

        >>> from querycloak.knowledge.taxonomy import Taxonomy
        >>> finder = NameFinder(Taxonomy.from_parents([-1], [["thing"]]))
        >>> [finder.holds_name(text) for text in ("dr maria van der berg", "maria's tea pot", "maria.com")]
        [True, False, False]
        """
        if next(self._found(_tokens(text)), None) is not None:
            return True
        loose = text.translate(_LOOSE)
        return loose != text and next(self._found(_tokens(loose)), None) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Find where names are in a text; names that overlap are one: "anna maria lopez"."""
        loose = text.translate(_LOOSE)
        found = self._typed(text) | (self._typed(loose) if loose != text else set())
        out: list[tuple[int, int]] = []
        for begin, end in sorted(found):
            if out and begin < out[-1][1]:
                out[-1] = out[-1][0], max(end, out[-1][1])
            else:
                out.append((begin, end))
        return out

    def _typed(self, text: str) -> set[tuple[int, int]]:
        """Find where names are in a text, by letters: begin and end of each."""
        plain = _folded(text)
        tokens = list(_TOKEN.finditer(plain.text))
        words = [_word(token.group()) for token in tokens]
        return {plain.typed(tokens[begin].start(), tokens[end].end()) for begin, end in self._found(words)}

    def _found(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """Find the first and the last word of each name."""
        roles = [self._role(word) for word in words]
        if not any(roles):
            return
        for i, role in enumerate(roles):
            ends = []
            if role & _ANY_FIRST:
                ends.append(self._first_last(words, roles, i))
            if role & LAST:
                ends.append(self._last_comma_first(words, roles, i))
            if role & EASTERN_LAST:
                ends.append(self._eastern(words, roles, i))
            ends.append(self._half_known(words, roles, i))
            yield from ((i, end) for end in ends if end)

    def _first_last(self, words: list[str], roles: list[int], i: int) -> int:
        """Return where the last name after the first name at i is; 0 = there is none."""
        for j in range(i + 1, min(len(words), i + 2 + _MOST_BETWEEN)):
            if roles[j] & _ANY_LAST and self._is_name(words, i, j, first=i, last=j):
                return j
            if len(words[j]) > 1 and words[j] not in _BETWEEN:
                return 0
            if not words[j].isalpha():
                return 0
        return 0

    def _last_comma_first(self, words: list[str], roles: list[int], i: int) -> int:
        """Return where the first name after the last name at i and a comma is; 0 = there is none."""
        if i + 2 >= len(words) or words[i + 1] != "," or not roles[i + 2] & _ANY_FIRST:
            return 0
        return i + 2 if self._is_name(words, i, i + 2, first=i + 2, last=i) else 0

    def _eastern(self, words: list[str], roles: list[int], i: int) -> int:
        """Return where the first name after the last name at i is, with at most one middle name between; 0 = none."""
        for j in range(i + 1, min(len(words), i + 3)):
            if roles[j] & EASTERN_FIRST and self._is_name(words, i, j, first=j, last=i):
                return j
            if words[j] not in {"thi", "van"}:
                return 0
        return 0

    def _half_known(self, words: list[str], roles: list[int], i: int) -> int:
        """Return i + 1 if one of two words is a sure name and the other may be a rare one; else 0.

        Lists hold the common names only: "joe zzyzx" must be found as well. Sure: in a list, and no ordinary word.
        """
        if i + 1 >= len(words) or not roles[i] | roles[i + 1]:
            return 0
        one, two = words[i], words[i + 1]
        sure_last = roles[i + 1] & LAST and not self._is_ordinary(two, "last")
        found = sure_last and (
            self._is_unknown(one) or (len(one) == 1 and one.isalpha() and not (i and words[i - 1].isalpha()))
        )
        if len(words) == 2:  # "hartwell melissa"; in a longer text these would be parts of two names
            last_first = roles[0] & LAST and not self._is_ordinary(one, "last") and roles[1] & _ANY_FIRST
            found = found or (last_first and not self._is_ordinary(two, "first"))
        found = found or (roles[i] & FIRST and not self._is_ordinary(one, "first") and self._is_unknown(two))
        return i + 1 if found and self._is_name(words, i, i + 1, first=i, last=i + 1) else 0

    def _is_unknown(self, word: str) -> bool:
        """Tell whether a word is in no list of names or words: it may be a rare name."""
        return len(word) > 3 and word.isalpha() and not self._roles.get(word) and not self._is_ordinary(word, "last")

    def _is_name(self, words: list[str], begin: int, end: int, *, first: int, last: int) -> bool:
        """Tell whether one of the two is no ordinary word, and neither the words nor the two are a label."""
        if self._is_ordinary(words[first], "first") and self._is_ordinary(words[last], "last"):
            return False
        run = [word for word in words[begin : end + 1] if word != ","]
        before, after = words[max(begin - 1, 0) : begin], words[end + 1 : end + 2]
        parts = [run, [*before, *run], [*run, *after]]
        if first > last:  # "lincoln, abraham"; but "john q smith" is another than the john smith who is known
            parts.append([words[first], words[last]])
        parts += [[*before, words[begin]], [words[end], *after]]  # "san juan" island, karen "high school"
        return not any(" ".join(part) in self._labels for part in parts)

    def _role(self, word: str) -> int:
        """Return the roles that a word may have in a name; all parts of a word with a hyphen must have one."""
        if "-" in word:
            out = FIRST | LAST | EASTERN_FIRST | EASTERN_LAST
            for part in word.split("-"):
                out &= self._roles.get(part, 0)
            return out
        if word in _NO_NAMES or (word in STOP_WORDS and word not in self._rather["first"]):
            return 0
        return self._roles.get(word, 0)

    @lru_cache(maxsize=100_000)  # noqa: B019 - finders live as long as their taxonomy
    def _is_ordinary(self, word: str, role: str) -> bool:
        """Tell whether a word is an English word or a place rather than a name in this role."""
        if word in self._rather[role]:
            return False
        if self._is_english(word) or word in self._places or word in self._words:
            return True
        singular = word.removesuffix("s")  # of a short word, this is another word: "hans"
        return len(singular) > 3 and (singular in self._words or self._is_english(singular))

    def _is_english(self, word: str) -> bool:
        """Tell whether the tagger knows the word in lower case."""
        tag, known = self._tagger.tag(word)
        return known and tag != "NNP"


@lru_cache(maxsize=4)
def _finder(taxonomy: Taxonomy) -> NameFinder:
    return NameFinder(taxonomy)


@lru_cache(maxsize=4)
def _found_before(taxonomy: Taxonomy) -> Remembered:
    finder = _finder(taxonomy)
    return Remembered(lambda texts: np.fromiter(map(finder.holds_name, texts.to_list()), np.bool_, len(texts)))


def _tokens(text: str) -> list[str]:
    """Return the words, commas and other marks of a text, "'s" as one of them; without full stops before a space."""
    folded = _spaced(text.lower()) if text.isascii() else _folded(text).text
    words = _TOKEN.findall(folded)
    return [_word(found) for found in words] if "'" in folded or "`" in folded else words


def _word(typed: str) -> str:
    return typed if typed == "'s" else typed.replace("'", "").replace("`", "")


def _folded(text: str) -> Plain:
    """Return the folded letters of a text; the full stop of an initial becomes a space."""
    plain = Plain(text.lower(), range(len(text))) if text.isascii() else spread(text, _folded_char)
    return plain._replace(text=_spaced(plain.text))


def _spaced(text: str) -> str:
    text = text.translate(_AS_SPACES)
    return _INITIAL.sub(r"\1 ", text) if "." in text else text


@lru_cache(maxsize=10_000)
def _folded_char(char: str) -> str:
    return "" if unicodedata.category(char) in {"Mn", "Cf"} else fold(char).translate(_LETTERS)
