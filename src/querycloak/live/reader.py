"""From bytes to records: lines found, checked and coded, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from querycloak.arrays.checks import Arrays, Count, part, prefixed, read_plain, require, take
from querycloak.arrays.vocabulary import BROKEN, ByteCodes, Vocabulary, fresh_ids, id_width
from querycloak.live import _lines_kernels as lines
from querycloak.live.layout import LONGEST_LINE
from querycloak.mapping.category_tree import UNCLASSIFIED, split_path
from querycloak.methods.stream.sweeping import PERSONAL, AskedEnough, is_personal, rare_name, sweeps

if TYPE_CHECKING:
    from querycloak.errors import InputError
    from querycloak.live.layout import Layout
    from querycloak.live.problems import Problems
    from querycloak.mapping.category_tree import CategoryTree
    from querycloak.methods.stream.stream_statement import StreamSettings
    from querycloak.randomness import Randomness

__all__ = ["Batch", "Classifier", "Reader"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


_JSON = msgspec.json.Decoder(msgspec.Raw)
"""Looks whether lines are JSON, and builds nothing of them."""


class ReaderState(msgspec.Struct, forbid_unknown_fields=True):
    """What is saved of a reader next to its arrays."""

    lines: Count
    skipping: bool
    known_users: Count
    unclassified: Count
    left_out: dict[str, Count]
    problems: dict[str, Count]
    digits: bool | None
    id_words: Count | None


class Classifier(Protocol):
    """What finds the path of a query that comes without one."""

    def path(self, query: str) -> tuple[str, ...]:
        """Return the path, or () where there is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Records that may enter. What it needs of the reader's vocabulary is in it: the reader may go on meanwhile."""

    data: bytes
    """the lines"""
    spans: Int32s
    """int32[n, columns]: where things stand in the lines"""
    user: Int32s
    """int32[n]: code of the asker"""
    node: Int32s
    """int32[n]: node of the tree"""
    users: int
    """users known so far"""
    ids: tuple[Bytes, Int64s, Bytes]
    """texts and ends of the ids of all users, and whether one needs quotes"""
    id_width: int
    """bytes of each id, 0 = they differ"""
    problem: InputError | None
    """what is wrong with the line after these records, if that ends the run"""


class Reader:
    """Takes in bytes in pieces of any size, and gives the records of their whole lines."""

    def __init__(
        self, layout: Layout, settings: StreamSettings, tree: CategoryTree, random: Randomness, problems: Problems
    ) -> None:
        """`tree` grows with the categories that are read; `random` makes the ids under which users are published."""
        self.layout = layout
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
        self._queries = Vocabulary()
        self._is_personal = np.zeros(0, dtype=np.bool_)
        self._asked = AskedEnough(settings.min_query_users)
        self._id_random = random
        self._digits: bool | None = None
        self._needs_quotes = np.zeros(0, dtype=np.uint8)
        self._rest = b""
        self._line = layout.lines
        self._skipping = False

    def __repr__(self) -> str:
        return f"Reader({self._line:,} lines, {len(self.users):,} users)"

    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what `from_state` needs.

        A line that is not whole yet is left out, to be read again; so are queries that need not be known again.
        """
        arrays: Arrays = {
            **prefixed("users", self.users.to_arrays()),
            **prefixed("ids", self.ids.to_arrays()),
            **prefixed("categories", self._categories.to_arrays()),
            "node_of_category": self._node_of_category,
            "needs_quotes": self._needs_quotes,
        }
        if self.settings.min_query_users > 1:
            arrays |= prefixed("queries", self._queries.to_arrays()) | prefixed("asked", self._asked.to_arrays())
            arrays["is_personal"] = self._is_personal.astype(np.uint8)
        plain = ReaderState(
            lines=self._line,
            skipping=self._skipping,
            known_users=self.known_users,
            unclassified=self.unclassified,
            left_out=dict(self.left_out),
            problems=dict(self.problems.counts),
            digits=self._digits,
            id_words=None if self._id_random.seed is None else self._id_random.position,
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
        if self.settings.min_query_users > 1:
            self._queries = Vocabulary.from_arrays(part("queries", arrays))
            self._asked.restore(part("asked", arrays), len(self._queries), users)
            told = len(self._queries) if self.settings.identifiers else 0
            self._is_personal = take(arrays, "is_personal", np.uint8, length=told, high=1).astype(np.bool_)
        self._line, self._skipping, self._digits = said.lines, said.skipping, said.digits
        self.known_users, self.unclassified = said.known_users, said.unclassified
        self.left_out, self.problems.counts = Counter(said.left_out), Counter(said.problems)
        if self._id_random.seed is not None:
            require(said.id_words is not None, "a run with a seed says how many random words it drew")
            self._id_random.wind_to(said.id_words or 0)

    @property
    def unfinished(self) -> int:
        """Bytes taken in of a line that is not whole yet."""
        return len(self._rest)

    def read(self, data: bytes, *, final: bool = False) -> Batch:
        """Take in bytes; give the records that may enter. After the final piece an unfinished line is whole."""
        data = self._rest + data if not self._skipping else self._skip(data)
        if final and data and not data.endswith(b"\n"):
            data += b"\n" if data.endswith(b"\r") else self.layout.form.line_end.encode()
        array = np.frombuffer(data, dtype=np.uint8)
        ends = lines.count_lines(array)
        spans = np.empty((ends + 2, lines.COLUMNS), dtype=np.int32)
        n = self.layout.split(array, spans, final=final)
        consumed, spans = int(spans[n, lines.LINE]), spans[:n]
        self._rest = data[consumed:]
        problem = None
        if len(self._rest) > LONGEST_LINE:
            problem = self.problems.note(lines.TOO_LONG, self._line + data.count(b"\n", 0, consumed) + 1)
            self._rest, self._skipping = b"", True
        if not data.isascii():
            self._check_text(data[:consumed], spans)
        if self.layout.is_json:
            self._check_json(data, consumed, spans)
        node = self._nodes(array, spans)
        queries = self._sweep_personal(array, spans)
        user = self._codes(self.users, array, spans, lines.USER)
        self._sweep_rare(queries, user, spans)
        end, earlier = self._tell_problems(data, spans, one_line_each=ends == n)
        spans, user, node = spans[:end], user[:end], node[:end]
        self.known_users = max(self.known_users, int(user.max(initial=-1)) + 1)
        self._count(spans[:, lines.STATUS], node)
        self._name_users()
        keep = spans[:, lines.STATUS] == lines.GOOD
        if not keep.all():
            spans, user, node = spans[keep], user[keep], node[keep]
        ids = (self.ids.texts, self.ids.ends, self._needs_quotes)
        width = id_width(digits=bool(self._digits)) if self.settings.ids == "new" else 0
        return Batch(data, spans, user, node, len(self.users), ids, width, earlier or problem)

    def _skip(self, data: bytes) -> bytes:
        """Pass over the rest of a line that is too long."""
        end = data.find(b"\n")
        if end < 0:
            return b""
        self._skipping = False
        self._line += 1
        return data[end + 1 :]

    def _check_text(self, data: bytes, spans: Int32s) -> None:
        """Mark the lines that are not UTF-8."""
        try:
            data.decode()
        except UnicodeDecodeError:
            for span in spans:
                try:
                    data[span[lines.LINE] : span[lines.LINE + 1]].decode()
                except UnicodeDecodeError:
                    span[lines.STATUS] = lines.NOT_UTF8

    def _check_json(self, data: bytes, consumed: int, spans: Int32s) -> None:
        """Mark the lines that are no JSON, or in which a key of ours is written with escapes: readers would see it."""
        try:
            _JSON.decode_lines(data[:consumed])
        except (msgspec.DecodeError, UnicodeDecodeError):
            for i in np.flatnonzero(spans[:, lines.STATUS] == lines.GOOD).tolist():
                if not _is_json(data[slice(*spans[i, : lines.USER])]):
                    spans[i, lines.STATUS] = lines.MALFORMED
        for i in np.flatnonzero(spans[:, lines.FLAGS] & lines.KEY_ESCAPED).tolist():
            found = [bool(spans[i, c] < spans[i, c + 1]) for c in (lines.USER, lines.QUERY, lines.CATEGORY)]
            if not self.layout.sees_as_we_do(data[slice(*spans[i, : lines.USER])], found):
                spans[i, lines.STATUS] = lines.MALFORMED

    def _tell_problems(self, data: bytes, spans: Int32s, *, one_line_each: bool) -> tuple[int, InputError | None]:
        """Count the bad records; where one ends the run, give its place and what is wrong."""
        bad = (spans[:, lines.STATUS] != lines.GOOD) & (spans[:, lines.STATUS] <= lines.BAD_PATH)
        number = np.arange(len(spans) + 1)  # lines before each record
        if not one_line_each:  # one in quotes may have line ends inside
            number[1:] = np.cumsum([data.count(b"\n", a, b) for a, b in spans[:, : lines.USER].tolist()])
        for i in np.flatnonzero(bad).tolist():
            problem = self.problems.note(int(spans[i, lines.STATUS]), self._line + int(number[i]) + 1)
            if problem is not None:
                return i, problem
        self._line += int(number[-1])
        return len(spans), None

    def _count(self, status: Int32s, node: Int32s) -> None:
        """Count the records without a category, and those that are left out."""
        sound = (status == lines.GOOD) | (status > lines.BAD_PATH)
        self.unclassified += int((sound & (node == self._unclassified)).sum())
        if self.settings.identifiers:
            self.left_out[PERSONAL] += int((status == lines.PERSONAL).sum())
        if self.settings.min_query_users > 1:
            self.left_out[rare_name(self.settings.min_query_users)] += int((status == lines.RARE).sum())

    def _codes(self, vocabulary: Vocabulary, array: Bytes, spans: Int32s, column: int) -> Int32s:
        """int32[n]: codes of a value of the good records, -1 of others; one whose escapes are broken is marked."""
        rows = _good(spans)
        escaped = (spans[rows, lines.FLAGS] & (lines.USER_ESCAPED << (column - lines.USER) // 2)) != 0
        code = vocabulary.code(array, spans, column, rows, escaped, self.layout.plain)
        if escaped.any():
            spans[code == BROKEN, lines.STATUS] = lines.MALFORMED
        return code

    def _nodes(self, array: Bytes, spans: Int32s) -> Int32s:
        """int32[n]: node of each record. A record whose path is bad is marked."""
        if self.layout.has_category:
            code = self._codes(self._categories, array, spans, lines.CATEGORY)
            new = range(len(self._node_of_category), len(self._categories))
            paths = (split_path(self._categories.text(c).decode(), self.settings.separator) for c in new)
            nodes = np.array([-1 if path is None else self._tree.node(path) for path in paths], dtype=np.int32)
            known = self._node_of_category = np.concatenate([self._node_of_category, nodes])
        elif self.classifier is not None:
            queries = Vocabulary()
            code = self._codes(queries, array, spans, lines.QUERY)
            texts = (queries.text(c).decode() for c in range(len(queries)))
            known = np.array([self._tree.node(self.classifier.path(text)) for text in texts], dtype=np.int32)
        else:
            code, known = np.full(len(spans), -1, dtype=np.int32), np.zeros(0, dtype=np.int32)
        node = np.append(known, np.int32(self._unclassified))[np.maximum(code, -1)]  # an empty category: code -1
        spans[node < 0, lines.STATUS] = lines.BAD_PATH
        if self.settings.unclassified == "drop":
            dropped = (node == self._unclassified) & (spans[:, lines.STATUS] == lines.GOOD)
            spans[dropped, lines.STATUS] = lines.UNCLASSIFIED
        return node

    def _sweep_personal(self, array: Bytes, spans: Int32s) -> Int32s | None:
        """Mark the records whose query holds an identifier; int32[n]: codes of the queries, None = nothing is swept."""
        if not sweeps(self.settings):
            return None
        if self.settings.min_query_users == 1:  # queries need not be known again
            self._queries, self._is_personal = Vocabulary(), np.zeros(0, dtype=np.bool_)
        code = self._codes(self._queries, array, spans, lines.QUERY)
        if self.settings.identifiers:
            new = range(len(self._is_personal), len(self._queries))
            found = is_personal([self._queries.text(c).decode() for c in new])
            self._is_personal = np.concatenate([self._is_personal, found])
            personal = np.append(self._is_personal, np.False_)[np.maximum(code, -1)]
            spans[personal, lines.STATUS] = lines.PERSONAL
        return code

    def _sweep_rare(self, query: Int32s | None, user: Int32s, spans: Int32s) -> None:
        """Mark the records whose query too few users have asked so far."""
        if query is None or self.settings.min_query_users == 1:
            return
        good = _good(spans)
        spans[good[~self._asked.tell(query[good], user[good])], lines.STATUS] = lines.RARE

    def _name_users(self) -> None:
        """Return the users that are new the ids they will be published under."""
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
                self.ids.add(self.layout.quoted(text))
            needs = np.array([self.layout.needs_quotes(text) for text in new], dtype=np.uint8)
        self._needs_quotes = np.concatenate([self._needs_quotes, needs])


def _is_json(line: bytes) -> bool:
    try:
        _JSON.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _good(spans: Int32s) -> Int32s:
    """int32: the rows of good records."""
    return np.flatnonzero(spans[:, lines.STATUS] == lines.GOOD).astype(np.int32)
