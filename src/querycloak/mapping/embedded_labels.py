"""The label texts of WordNet, indexed ahead of time: what `LabelIndex` would make of the embedded taxonomy.

Reading and stemming 150,000 labels takes a second; the file is read in a few milliseconds. Its tables are sorted texts,
searched in place: a look-up takes 10 µs, a dictionary's a tenth of one. Who maps one query asks some dozen
times; who maps a log asks millions of times, and then `Lexicon` turns the tables into dictionaries (`unpack`).

`wordnet-labels.npz` is made by `tools/build_lexicon.py`, not compressed, so that the same labels are the same bytes on
every machine (a wheel is compressed as a whole). Its columns, texts sorted by their characters, one per line:

=============  ======  ====================================================================================
labels         text    the label texts
sense_count    u1[n]   concepts of each label text
senses         i4      the concepts of all label texts in a row, of each the first sense first
stems          text    the stems of label texts
stem_label     i4      number of the label text that these stems stand for
starts         text    the first two stems of label texts
start_words    u1      words of the longest label text that begins so
last_words     text    the last words of whole labels
possessive     text    label text, tab, concept: pairs that only a possessive makes
stemmer        text    the stemmer of all this, by `stemmer_digest` of every 64th last word
=============  ======  ====================================================================================
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

import numpy as np

from querycloak.knowledge.lines import Lines
from querycloak.mapping.stems import stemmer_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from querycloak.mapping.label_index import LabelIndex

__all__ = ["EmbeddedLabels", "Table", "columns", "embedded_labels"]

FILE: Final = "wordnet-labels.npz"
_PROBE: Final = slice(None, None, 64)
"""The words whose stems tell one stemmer from another: 1,000 of them, a millisecond."""
_ENOUGH: Final = 7_500
"""Look-ups in the tables that take as long as turning them into dictionaries."""

V = TypeVar("V")


class Table(Generic[V]):
    """Sorted texts with a value each; like a dictionary as far as the mapping needs one."""

    def __init__(self, texts: Lines, value: Callable[[int], V], look_up: Callable[[], None]) -> None:
        """`value` returns the value of a text by its number; `look_up` is called at each look-up."""
        self._texts = texts
        self._value: Callable[[int], V] = value
        self._look_up = look_up

    def __contains__(self, text: str) -> bool:
        self._look_up()
        return self._texts.find(text) >= 0

    def __getitem__(self, text: str) -> V:
        found = self.get(text)
        if found is None:
            raise KeyError
        return found

    @overload
    def get(self, text: str) -> V | None: ...
    @overload
    def get(self, text: str, default: V) -> V: ...
    def get(self, text: str, default: V | None = None) -> V | None:
        """Return the value of a text, or the default."""
        self._look_up()
        at = self._texts.find(text)
        return default if at < 0 else self._value(at)


class EmbeddedLabels:
    """The tables of the file, with the names that they have in `LabelIndex`."""

    def __init__(self, column: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the columns of the file."""
        self.columns = column
        """as the file has them"""
        self._labels = Lines(column["labels"])
        self._senses = column["senses"]
        self._start = np.concatenate([np.zeros(1, np.int64), np.cumsum(column["sense_count"], dtype=np.int64)])
        self._known: dict[str, tuple[int, ...]] = {}
        self._number: dict[str, int] | None = None
        self._left = _ENOUGH
        label = column["stem_label"].item
        last = Lines(column["last_words"])
        self.concept: Table[int] | dict[str, int] = Table(self._labels, self._first_sense, self._count)
        self.label_of_stems: Table[str] | dict[str, str] = Table(
            Lines(column["stems"]), lambda at: self._labels[label(at)], self._count
        )
        self.longest: Table[int] | dict[str, int] = Table(
            Lines(column["starts"]), column["start_words"].item, self._count
        )
        self.last_words: Table[int] | set[str] = Table(last, int, self._count)
        self.possessive_pairs = frozenset(
            (text, int(concept)) for text, concept in (line.split("\t") for line in Lines(column["possessive"]))
        )
        self.fits = stemmer_digest(last[_PROBE]) == Lines(column["stemmer"])[0]
        """whether the installed stemmer has the same stems as the file"""

    def senses(self, text: str) -> tuple[int, ...]:
        """Return all concepts of a label text that is there, the first sense first."""
        found = self._known.get(text)
        if found is None:
            at = self._labels.find(text) if self._number is None else self._number[text]
            start, end = self._start[at : at + 2].tolist()
            found = self._known[text] = tuple(self._senses[start:end].tolist())
        return found

    def unpack(self) -> None:
        """Turn the tables into dictionaries: 0.1 s, and ten times faster look-ups from then on."""
        if self._number is not None:
            return
        column, labels = self.columns, self._labels.all()
        self._number = {text: at for at, text in enumerate(labels)}
        self.concept = dict(zip(labels, self._senses[self._start[:-1]].tolist(), strict=True))
        of_stems = map(labels.__getitem__, column["stem_label"].tolist())
        self.label_of_stems = dict(zip(Lines(column["stems"]), of_stems, strict=True))
        self.longest = dict(zip(Lines(column["starts"]), column["start_words"].tolist(), strict=True))
        self.last_words = set(Lines(column["last_words"]))

    def _first_sense(self, at: int) -> int:
        return int(self._senses[self._start[at]])

    def _count(self) -> None:
        """Count a look-up; after so many that they took as long as unpacking does, unpack."""
        self._left -= 1
        if self._left == 0:
            self.unpack()


@cache
def embedded_labels() -> EmbeddedLabels:
    """Return the labels of the embedded WordNet, read once: all lexicons of a process share them."""
    with as_file(files("querycloak.mapping") / FILE) as path, np.load(path, allow_pickle=False) as npz:
        return EmbeddedLabels(dict(npz.items()))


def columns(index: LabelIndex) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of the file that has the same tables as an index."""
    labels, stems, starts = sorted(index.concept), sorted(index.label_of_stems), sorted(index.longest)
    number = {text: at for at, text in enumerate(labels)}
    senses = [index.senses(text) for text in labels]
    last_words = sorted(index.last_words)
    return {
        "labels": Lines.of(labels).column,
        "sense_count": np.array([len(concepts) for concepts in senses], "u1"),
        "senses": np.array([concept for concepts in senses for concept in concepts], "<i4"),
        "stems": Lines.of(stems).column,
        "stem_label": np.array([number[index.label_of_stems[text]] for text in stems], "<i4"),
        "starts": Lines.of(starts).column,
        "start_words": np.array([index.longest[text] for text in starts], "u1"),
        "last_words": Lines.of(last_words).column,
        "possessive": Lines.of(f"{text}\t{concept}" for text, concept in sorted(index.possessive_pairs)).column,
        "stemmer": Lines.of([stemmer_digest(last_words[_PROBE])]).column,
    }
