"""What a record of a stream may say: its text, a phrase of it, a label, by what people asked in the records before it.

**What holds.** A record enters the engine with a text that at least m people asked, whole or as a run of words inside
their queries, in records of this run *that came before it*. Whether it does depends on the text and on the records
before, and **not on who asks**:

- The record that brings a text to m people is itself not published whole; the next one is, whoever asks it. Were it
  counted with its own asker, the first publication of a text would always be of the person who was the m-th, and
  whoever knows the other m - 1 could name that person. Were only *other* people counted, it would be of somebody who
  was not among the first m.
- It is decided when the record comes, not when it leaves: what is published of a record then depends on the input
  alone, on no draw and on no other record that waits, and it tells nothing of how queries and users were paired. What
  is not published does not enter, so that queries and users stay balanced, and does not wait in memory or on disk.

What it does not give: m people asked the text, and who knows m - 1 of them learns that there is one more. Counts begin
with the run and never forget: the window is the run.

**Memory** grows with the distinct phrases. When `max_phrases` are known, no new ones are counted: their texts are never
published, those that are known go on. An id with more than `max_rows_per_user` records counts for nothing from the next
one on; what it asked before stays counted, since people above `enough` are not told apart any more.

Ties between phrases of the same length: more people, as far as they are counted (m, or `famous` where that is more),
then the left one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, part, prefixed, require, take
from querycloak.arrays.vocabulary import ByteCodes
from querycloak.mapping.stopwords import STOP_WORDS
from querycloak.methods.stream import _text_kernels as kernels
from querycloak.methods.stream.people_so_far import PeopleSoFar
from querycloak.methods.stream.text_parts import Chosen, CutTexts, chosen_parts, cut_texts
from querycloak.texts.compared import compared
from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import find_names
from querycloak.texts.phrases import LEAST_DEPTH, as_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.texts.text_settings import TextRule

__all__ = ["KINDS", "StreamTexts", "changes_texts", "nothing_left", "published_kinds"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Path = tuple[str, ...]

KINDS: Final = ("published as whole queries", "published as phrases", "published as labels")
"""Figures of a statement, by kind: the names of `SharedTexts.counts`."""
_STOP: Final = tuple(word.encode() for word in sorted(STOP_WORDS))
_RARE: Final = {"drop": kernels.DROP, "label": kernels.LABELS, "phrase": kernels.RUNS, "keep": kernels.KEEP}
_ANY_NUMBER: Final = 1 << 60
_JOINT: Final = "\x1f"  # between the levels of a path


def changes_texts(rule: TextRule) -> bool:
    """Tell whether a rule may change a text or leave one out."""
    return rule.rare != "keep" or rule.identifiers == "drop"


def nothing_left(rule: TextRule) -> str:
    """Say why a record was left out."""
    if rule.rare == "keep":
        return "with an identifier, or the name of somebody who is not famous"
    return f"with nothing that {rule.people} people asked before"


def published_kinds(counts: Int64s) -> dict[str, int]:
    """Return how many records were published as what, for a statement."""
    return dict(zip(KINDS, counts.tolist(), strict=True))


class StreamTexts:
    """Takes records in their order, says what of each is published, and counts who asked what."""

    def __init__(self, rule: TextRule, max_phrases: int, taxonomy: Callable[[], Taxonomy]) -> None:
        """`taxonomy` is called when the first name is looked for: it knows who is famous. The gate asks WordNet."""
        self.rule = rule
        self.max_phrases = max_phrases
        self._taxonomy = taxonomy
        searched = rule.identifiers == "drop"
        people = 1 if rule.rare == "keep" else rule.people
        self._rule = kernels.Rule(
            people=people,
            famous=rule.famous,
            enough=max(people, rule.famous) if searched else people,
            most_rows=_ANY_NUMBER if rule.most_rows is None else rule.most_rows,
            rare=_RARE[rule.rare],
        )
        self.people = PeopleSoFar(self._rule.enough)
        self._words, self._spellings, self._labels = ByteCodes(), ByteCodes(), ByteCodes()
        for word in _STOP:  # they have the first codes
            self._words.add(word)
        self._path_codes: dict[Path, int] = {}
        # of each path, by its code: where its labels begin in the next; labels by their codes, deepest first; items of
        # labels by these codes, -1 = never to be published
        self._first_label = np.zeros(1, dtype=np.int64)
        self._path_label = np.zeros(0, dtype=np.int32)
        self._label_item = np.zeros(0, dtype=np.int32)
        self._rows = np.zeros(0, dtype=np.int64)

    def __repr__(self) -> str:
        return f"StreamTexts({self.people.phrases:,} phrases)"

    @property
    def is_full(self) -> bool:
        """As many phrases are known as there may be: new ones are not counted."""
        return self.people.phrases >= self.max_phrases

    @property
    def memory(self) -> int:
        """Bytes of what is counted."""
        texts = self._words.memory + self._spellings.memory + self._labels.memory
        return self.people.memory + texts + self._rows.nbytes

    def take(self, queries: pl.Series, query: Int32s, user: Int32s, path: Int32s, paths: Sequence[Path]) -> Chosen:
        """Choose what is published of records, in their order, and count them.

        query int32[n] into `queries`, which are distinct and in the order of their first record; user int32[n] >= 0;
        path int32[n] into `paths`, -1 = none. `paths` hold what is published as labels: the names of categories.
        """
        if not len(query):
            nothing = np.zeros(0, dtype=np.int64)
            return Chosen(np.zeros(0, dtype=np.int8), np.zeros(0, dtype=np.uint8), nothing, nothing)
        users = int(user.max()) + 1
        if users > len(self._rows):
            more = np.zeros(max(users, 2 * len(self._rows)) - len(self._rows), dtype=np.int64)
            self._rows = np.concatenate([self._rows, more])
        plain = compared(queries)
        cut = cut_texts(plain)
        texts = self._named(queries, plain, cut)
        path = np.append(self._coded_paths(paths), np.int32(-1))[path]
        labels = self._first_label, self._label_item[self._path_label]
        self._look_at(queries, cut, texts, np.bincount(query, minlength=len(queries)))
        n = len(query)
        choice = kernels.Choice(np.empty(n, dtype=np.int8), np.zeros((n, 2), dtype=np.int32))
        widest = kernels.LONGEST * int(np.diff(texts.first).max()) + int(np.diff(labels[0]).max(initial=0)) + 2
        self.people.until_done(
            lambda done: kernels.choose(
                self.people.store, texts, self._rule, (query, user, path), labels, self._rows, choice, done
            ),
            n,
            lambda: self.people.more_pairs(widest),
        )
        return chosen_parts(query, choice, cut, self._label_text)

    def to_arrays(self) -> Arrays:
        """Return what a checkpoint keeps."""
        return {
            **prefixed("people", self.people.to_arrays()),
            **prefixed("words", self._words.to_arrays()),
            **prefixed("spellings", self._spellings.to_arrays()),
            **prefixed("labels", self._labels.to_arrays()),
            "rows": np.trim_zeros(self._rows, "b").copy(),
        }

    def restore(self, arrays: Arrays, users: int) -> None:
        """Go on from `to_arrays`, with so many users known; BadStateError where that cannot be."""
        found = [ByteCodes.from_arrays(part(name, arrays)) for name in ("words", "spellings", "labels")]
        self._words, self._spellings, self._labels = found
        words, spellings, labels = map(len, found)
        stop = [self._words.text(c) for c in range(min(len(_STOP), words))]
        require(stop == list(_STOP), "the first words are the stop words")
        self.people.restore(part("people", arrays), words=words, spellings=spellings, labels=labels, users=users)
        self._rows = take(arrays, "rows", np.int64, low=0).copy()
        require(len(self._rows) <= users, "only users that are known have rows")

    def _named(self, queries: pl.Series, plain: pl.Series, cut: CutTexts) -> kernels.Texts:
        """Return the texts of a batch with their items; new ones are made while there is room."""
        n, words = len(queries), len(cut.words)
        odd = np.flatnonzero((queries != plain).to_numpy())
        written = [text.encode() for text in queries.gather(odd).to_list()]
        data, spans = _laid_out(written)
        spelled, spelling = np.full(n, -1, dtype=np.int32), np.full(n, -2, dtype=np.int32)
        spelled[odd] = self._coded(self._spellings, data, spans)
        spelling[odd] = -1
        word = self._coded(self._words, cut.data, cut.words)
        content = (word >= len(_STOP)).astype(np.int32)
        texts = kernels.Texts(
            first=cut.first,
            word=word,
            content=np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(content, dtype=np.int32)]),
            spelled=spelled,
            runs=np.full((words, kernels.LONGEST), -1, dtype=np.int32),
            whole=np.full(n, -1, dtype=np.int32),
            spelling=spelling,
            flag=self._flags(queries) if self.rule.rare == "keep" else np.zeros(0, dtype=np.int32),
        )
        runs, widest = self.rule.rare == "phrase", (kernels.LONGEST + 1) * int(np.diff(cut.first).max()) + 2
        self.people.until_done(
            lambda done: kernels.name_items(self.people.store, texts, runs, self.max_phrases, done),
            n,
            lambda: self.people.more_items(widest),
        )
        return texts

    def _coded(self, codes: ByteCodes, data: Bytes, spans: Int32s) -> Int32s:
        """int32[n]: codes of texts; when there is no room for more phrases, only those of texts that are known."""
        if self.is_full:
            return codes.find(data, spans)
        code = np.full(len(spans), -1, dtype=np.int32)
        codes.code(data, spans, 0, np.arange(len(spans), dtype=np.int32), code)
        return code

    def _coded_paths(self, paths: Sequence[Path]) -> Int32s:
        """int32[paths]: codes of paths; the labels of new ones are made, and get their items."""
        if self.rule.rare not in {"phrase", "label"}:
            return np.full(len(paths), -1, dtype=np.int32)
        new = [path for path in dict.fromkeys(paths) if path not in self._path_codes]
        prefixes = [_label_paths(path) for path in new]
        self._path_codes |= {path: len(self._path_codes) + i for i, path in enumerate(new)}
        ends = self._first_label[-1] + np.cumsum([len(above) for above in prefixes], dtype=np.int64)
        self._first_label = np.concatenate([self._first_label, ends])
        added = _coded([_JOINT.join(path).encode() for above in prefixes for path in above], self._labels)
        self._path_label = np.concatenate([self._path_label, added])
        self._name_labels()
        return np.array([self._path_codes[path] for path in paths], dtype=np.int32)

    def _name_labels(self) -> None:
        """Find the items of new labels; a label with an identifier has none."""
        import polars as pl

        code = np.arange(len(self._label_item), len(self._labels), dtype=np.int32)
        item = np.full(len(code), -1, dtype=np.int32)
        self.people.until_done(
            lambda done: kernels.name_labels(self.people.store, code, item, done),
            len(code),
            lambda: self.people.more_items(len(code)),
        )
        if self.rule.identifiers == "drop" and len(code):
            texts = pl.Series([as_label(self._label_name(c)) for c in code.tolist()])
            item[find_identifiers(texts) != 0] = -1
        self._label_item = np.concatenate([self._label_item, item])

    def _label_name(self, code: int) -> str:
        return self._labels.text(code).decode().split(_JOINT)[-1]

    def _label_text(self, index: int) -> str:
        """Return the text of a label of a path, in the form in which it is published."""
        return as_label(self._label_name(int(self._path_label[index])))

    def _look_at(self, queries: pl.Series, cut: CutTexts, texts: kernels.Texts, times: Int64s) -> None:
        """Find out whether what may be published here for the first time holds an identifier or a name."""
        if self.rule.rare == "keep":
            return
        import polars as pl

        out = np.empty((texts.runs.size + 2 * len(queries), 4), dtype=np.int32)
        found = out[: kernels.find_wanted(self.people.store, texts, times, self._rule.people, out)]
        written: list[str] = []
        for q, p, n in found[:, 1:].tolist():
            if p == -1:
                written.append(queries[q])
            elif p == -2:
                written.append(cut.text(cut.begin[q], cut.end[q]))
            else:
                written.append(cut.text(cut.words[p, 0], cut.words[p + n - 1, 1]))
        self.people.store.items[found[:, 0], kernels.FLAG] = self._flags(pl.Series(written, dtype=pl.String))

    def _flags(self, texts: pl.Series) -> Int32s:
        """int32[n]: what texts hold."""
        flags = np.full(len(texts), kernels.FINE, dtype=np.int32)
        if self.rule.identifiers == "drop" and len(texts):
            flags[find_names(texts, self._taxonomy())] = kernels.NAMED
            flags[find_identifiers(texts) != 0] = kernels.NEVER
        return flags


def _label_paths(path: Path) -> list[Path]:
    """Return the paths of a path's labels, the deepest first: its own, and those above at depth 5 or deeper."""
    return [path[:d] for d in range(len(path), 0, -1) if d == len(path) or d >= LEAST_DEPTH]


def _laid_out(texts: list[bytes]) -> tuple[Bytes, Int32s]:
    """Return texts in one buffer, and int32[n, 2]: where each begins and ends."""
    length = np.array([len(text) for text in texts], dtype=np.int64)
    ends = np.cumsum(length)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), np.stack([ends - length, ends], axis=1).astype(np.int32)


def _coded(texts: list[bytes], codes: ByteCodes) -> Int32s:
    """int32[n]: codes of texts, new ones where there are none."""
    data, spans = _laid_out(texts)
    code = np.full(len(spans), -1, dtype=np.int32)
    codes.code(data, spans, 0, np.arange(len(spans), dtype=np.int32), code)
    return code
