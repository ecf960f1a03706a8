"""From records to what enters a stream's engine: users and categories as codes, texts as they may be published.

Lines are found, checked and decoded by `logs.records`, as for a log that is read whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, BadStateError, Count, part, prefixed, read_plain, require, take
from querycloak.arrays.vocabulary import ByteCodes, Vocabulary, fresh_ids, id_width
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live import _join_kernels as join
from querycloak.live.safe_lines import safe_head, with_apostrophes
from querycloak.live.text_lines import with_texts
from querycloak.logs import _records_kernels as records
from querycloak.logs.formulas import escaped, unescaped
from querycloak.logs.records import RecordReader
from querycloak.mapping.category_tree import UNCLASSIFIED, split_path
from querycloak.methods.stream.stream_texts import StreamTexts, changes_texts, nothing_left
from querycloak.texts.phrases import NOTHING, QUERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.errors import InputError
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.form import LogForm
    from querycloak.logs.layout import Layout
    from querycloak.logs.problems import Problems
    from querycloak.logs.records import RecordBatch
    from querycloak.mapping.category_tree import CategoryTree
    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.methods.stream.text_parts import Chosen
    from querycloak.randomness import Randomness

__all__ = ["Batch", "Classifier", "Reader"]

Bytes = npt.NDArray[np.uint8]
Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


Path = tuple[str, ...]


class ReaderState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved of a reader next to its arrays."""

    records: dict[str, Any]
    known_users: Count
    unclassified: Count
    left_out: dict[str, Count]
    problems: dict[str, Count]
    digits: bool | None
    id_words: Count | None


class Classifier(Protocol):
    """What finds the path of a query that comes without one."""

    @property
    def mapping(self) -> str:
        """The mapping that is used (`mapping.modes`)."""

    def path(self, query: str) -> tuple[str, ...]:
        """Return the path, or () where there is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Records that may enter. What it needs of the reader's vocabulary is in it: the reader may go on meanwhile."""

    data: bytes
    """the lines, with the texts that may be published"""
    cuts: Int32s
    """int32[n, 5]: begin and end of each line and of its user, see `_join_kernels`"""
    user: Int32s
    """int32[n]: code of the asker"""
    node: Int32s
    """int32[n]: node of the tree"""
    kind: Int8s
    """int8[n]: whether the text is a whole query, a phrase or a label, see texts/phrases.py"""
    users: int
    """users known so far"""
    ids: tuple[Bytes, Int64s, Bytes]
    """texts and ends of the ids of all users, and whether one needs quotes"""
    id_width: int
    """bytes of each id, 0 = they differ"""
    problem: InputError | None
    """what is wrong with the line after these records, if that ends the run"""


class Reader:
    """Takes in bytes in pieces of any size, and returns the records of their whole lines that may enter."""

    def __init__(
        self,
        layout: Layout,
        settings: StreamSettings,
        tree: CategoryTree,
        random: Randomness,
        problems: Problems,
        taxonomy: Callable[[], Taxonomy],
        *,
        safe_csv: bool = False,
    ) -> None:
        """`tree` grows with the categories that are read; `random` makes the ids under which users are published.

        `taxonomy` is called when the label of a concept is looked for: that of the classifier. With `safe_csv`, lines
        of CSV leave with apostrophes before what a spreadsheet would take for a formula.
        """
        self.layout = layout
        self.safe_csv = safe_csv and layout.is_csv
        self.settings = settings
        self.problems = problems
        self.classifier: Classifier | None = None
        self.users = Vocabulary()
        self.ids = ByteCodes()
        """ids under which users are published, by their code"""
        self.known_users = 0
        """distinct users of the records so far; those after a line that ends the run are none"""
        self.unclassified = 0
        self.left_out: Counter[str] = Counter()
        """good records that do not enter, by reason"""
        self._tree = tree
        self._unclassified = tree.node(UNCLASSIFIED)
        self._categories = Vocabulary()
        self._node_of_category = np.zeros(0, dtype=np.int32)  # -1 = a path with an empty level
        self._paths: list[Path | None] = []  # of the categories
        self._taxonomy = taxonomy
        rule = settings.rule
        self.texts = StreamTexts(rule, settings.max_phrases, load_wordnet) if changes_texts(rule) else None
        """what may be published of texts; None = everything, as it is"""
        self._id_random = random
        self._digits: bool | None = None
        self._needs_quotes = np.zeros(0, dtype=np.uint8)
        self._records = RecordReader(layout, problems, collect=False)

    def __repr__(self) -> str:
        return f"Reader({self._records.lines:,} lines, {len(self.users):,} users)"

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what `from_state` needs.

        A line that is not whole yet is left out, to be read again.
        """
        arrays: Arrays = {
            **prefixed("users", self.users.to_arrays()),
            **prefixed("ids", self.ids.to_arrays()),
            **prefixed("categories", self._categories.to_arrays()),
            "node_of_category": self._node_of_category,
            "needs_quotes": self._needs_quotes,
        }
        if self.texts is not None:
            arrays |= prefixed("texts", self.texts.to_arrays())
        plain = ReaderState(
            records=self._records.to_state(),
            known_users=self.known_users,
            unclassified=self.unclassified,
            left_out=dict(self.left_out),
            problems=dict(self.problems.counts),
            digits=self._digits,
            id_words=self._id_random.position if self._id_random.repeats else None,
        )
        return arrays, msgspec.to_builtins(plain)

    def from_state(self, arrays: Arrays, plain: dict[str, Any]) -> None:
        """Bring a new reader of the same layout and settings, whose tree is restored, into a saved state."""
        said = read_plain(plain, ReaderState)
        self.users = Vocabulary.from_arrays(part("users", arrays))
        self.ids = ByteCodes.from_arrays(part("ids", arrays))
        users = len(self.users)
        require(len(self.ids) == users, "each user has an id")
        require(said.known_users <= users, "all users are known")
        require((said.digits is None) == (users == 0 or self.settings.ids != "new"), "ids have one form")
        if said.digits is not None:  # kernels take ids of one width, without looking where each ends
            ends = self.ids.ends[1 : users + 1]
            require((np.diff(ends, prepend=0) == id_width(digits=said.digits)).all(), "ids have one width")
        self._needs_quotes = take(arrays, "needs_quotes", np.uint8, length=users, high=1).copy()
        self._categories = Vocabulary.from_arrays(part("categories", arrays))
        self._node_of_category = take(
            arrays, "node_of_category", np.int32, length=len(self._categories), low=-1, high=len(self._tree) - 1
        ).copy()
        try:
            names = [self._categories.text(c).decode() for c in range(len(self._categories))]
        except UnicodeDecodeError:
            raise BadStateError("it does not hold that categories are texts") from None
        self._paths = [split_path(name, self.settings.separator) for name in names]
        if self.texts is not None:
            self.texts.restore(part("texts", arrays), users)
        self._records.from_state(said.records)
        self._digits = said.digits
        self.known_users, self.unclassified = said.known_users, said.unclassified
        self.left_out, self.problems.counts = Counter(said.left_out), Counter(said.problems)
        if self._id_random.repeats:
            require(said.id_words is not None, "a run that can be repeated says how many random words it drew")
            self._id_random.wind_to(said.id_words or 0)

    @property
    def head(self) -> bytes:
        """The header of a table as it is published, with its line end; b'' = none."""
        return safe_head(self.layout.head, self.layout) if self.safe_csv and self.layout.head else self.layout.head

    @property
    def published_form(self) -> LogForm:
        """The form of what leaves."""
        return replace(self.layout.form, safe_csv=self.safe_csv)

    def published_id(self, code: int) -> str:
        """Return the id under which a user is published, as a reader of the release sees it."""
        found = self.layout.published(self.ids.text(code)).decode()
        return unescaped(found) if self.safe_csv else found

    @property
    def unfinished(self) -> int:
        """Bytes taken in of a line that is not whole yet."""
        return self._records.unfinished

    def read(self, data: bytes, *, final: bool = False) -> Batch:
        """Take in bytes; return the records that may enter. After the final piece an unfinished line is whole."""
        found = self._records.read(data, final=final)
        node, path, paths = self._nodes(found)
        user = self._records.code(found, records.USER, self.users)
        chosen = self._choose_texts(found, user, path, paths)
        end, problem = self._records.settle(found)
        self.known_users = max(self.known_users, int(user[:end].max(initial=-1)) + 1)
        self._count(found.status[:end], node[:end])
        self._name_users()
        keep = np.flatnonzero(found.status[:end] == records.GOOD)
        ids = (self.ids.texts, self.ids.ends, self._needs_quotes)
        width = id_width(digits=bool(self._digits)) if self.settings.ids == "new" else 0
        lines, cuts, kind = found.data, _cuts(found, keep), np.full(len(keep), QUERY, dtype=np.int8)
        if chosen is not None:
            chosen = chosen.take(keep)
            lines, cuts = with_texts(found, keep, cuts, chosen, self.layout)
            kind = chosen.kind
        if self.safe_csv:
            lines, cuts = with_apostrophes(lines, cuts, self.layout)
        known = len(self.users)
        return Batch(lines, cuts, user[keep], node[keep], kind, known, ids, width, problem or found.problem)

    def _count(self, status: Int32s, node: Int32s) -> None:
        """Count the records without a category, and those that are left out."""
        sound = (status == records.GOOD) | (status > records.BAD_PATH)
        self.unclassified += int((sound & (node == self._unclassified)).sum())
        if self.texts is not None:
            self.left_out[nothing_left(self.texts.rule)] += int((status == records.RARE).sum())

    def _nodes(self, found: RecordBatch) -> tuple[Int32s, Int32s, list[Path]]:
        """int32[n]: node of each record, and of its path; paths, as names. A record whose path is bad is marked."""
        paths: list[Path] = []
        path = np.full(len(found.rows), -1, dtype=np.int32)
        if self.layout.has_category:
            code = self._records.code(found, records.CATEGORY, self._categories)
            for c in range(len(self._node_of_category), len(self._categories)):
                self._paths.append(split_path(self._categories.text(c).decode(), self.settings.separator))
            new = self._paths[len(self._node_of_category) :]
            nodes = np.array([-1 if p is None else self._tree.node(p) for p in new], dtype=np.int32)
            known = self._node_of_category = np.concatenate([self._node_of_category, nodes])
            used, inverse = np.unique(code, return_inverse=True)
            path = inverse.astype(np.int32)
            paths = [() if c < 0 else self._paths[c] or () for c in used.tolist()]
        elif self.classifier is not None:
            queries = Vocabulary()
            code = path = self._records.code(found, records.QUERY, queries)
            paths = [self.classifier.path(queries.text(c).decode()) for c in range(len(queries))]
            known = np.array([self._tree.node(p) for p in paths], dtype=np.int32)
        else:
            code, known = path, np.zeros(0, dtype=np.int32)
        node = np.append(known, np.int32(self._unclassified))[np.maximum(code, -1)]  # an empty category: code -1
        found.status[node < 0] = records.BAD_PATH
        if self.settings.unclassified == "drop":
            dropped = (node == self._unclassified) & (found.status == records.GOOD)
            found.status[dropped] = records.UNCLASSIFIED
        return node, path, paths

    def _choose_texts(self, found: RecordBatch, user: Int32s, path: Int32s, paths: list[Path]) -> Chosen | None:
        """Find what is published of each good record; those of which nothing is are marked. None = all as it came."""
        if self.texts is None:
            return None
        queries = Vocabulary()  # of this batch: memory is kept for phrases alone
        query = self._records.code(found, records.QUERY, queries)
        if not self.layout.has_category:  # paths are of concepts, by number
            paths = [tuple(self._taxonomy().label(int(c)) for c in p) for p in paths]
        good = found.good
        chosen = self.texts.take(queries.codes.to_series(), query[good], user[good], path[good], paths)
        found.status[good[chosen.kind == NOTHING]] = records.RARE
        return chosen.spread(good, len(found.rows))

    def _name_users(self) -> None:
        """Draw or copy the ids under which new users are published."""
        n = len(self.users) - len(self.ids)
        if n == 0:
            return
        if self.settings.ids == "new":
            if self._digits is None:
                self._digits = self.users.text(0).isdigit()
            fresh_ids(self.ids, n, self._id_random, digits=self._digits)
            needs = np.full(n, self.layout.is_json and not self._digits, dtype=np.uint8)
        else:
            new = [self.users.text(c) for c in range(len(self.ids), len(self.users))]
            for text in new:
                self.ids.add(self.layout.quoted(escaped(text.decode()).encode() if self.safe_csv else text))
            needs = np.array([self.layout.needs_quotes(text) for text in new], dtype=np.uint8)
        self._needs_quotes = np.concatenate([self._needs_quotes, needs])


def _cuts(found: RecordBatch, rows: Int64s) -> Int32s:
    """Return where the lines of some records, and the users in them, begin and end."""
    cuts = np.empty((len(rows), join.CUTS), dtype=np.int32)
    cuts[:, join.LINE_BEGIN], cuts[:, join.LINE_END] = found.rows[rows, records.BEGIN], found.rows[rows, records.END]
    cuts[:, join.USER_BEGIN] = found.spans[rows, 2 * records.USER]
    cuts[:, join.USER_END] = found.spans[rows, 2 * records.USER + 1]
    cuts[:, join.BARE] = found.how[rows, records.USER] == records.BARE
    return cuts
