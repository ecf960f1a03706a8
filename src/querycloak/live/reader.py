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
from querycloak.arrays.vocabulary import BROKEN, ByteCodes, Vocabulary, fresh_ids, id_width
from querycloak.errors import InputError, UserError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live import _join_kernels as join
from querycloak.live import _plain_kernels as plain_kernels
from querycloak.live.plain_reader import PlainReader
from querycloak.live.safe_lines import safe_head, with_apostrophes
from querycloak.live.text_lines import with_texts
from querycloak.logs import _records_kernels as records
from querycloak.logs.formulas import escaped, unescaped
from querycloak.logs.query_log import MISSING_TIME
from querycloak.logs.records import COLUMNS, RecordReader
from querycloak.logs.time_texts import NO_WAY, known_pattern, read_times
from querycloak.mapping.category_tree import UNCLASSIFIED, split_path
from querycloak.methods.stream.run_ids import run_id_width, run_ids
from querycloak.methods.stream.stream_texts import StreamTexts, changes_texts, nothing_left
from querycloak.texts.phrases import NOTHING, QUERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.live.sharding import Sharding
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
    time: Int64s
    """int64[n]: seconds, MISSING_TIME where a record has none, or nobody asks"""
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
        sharding: Sharding | None = None,
    ) -> None:
        """`tree` grows with the categories that are read; `random` makes the ids under which users are published.

        `taxonomy` is called when the label of a concept is looked for: that of the classifier. With `safe_csv`, lines
        of CSV leave with apostrophes before what a spreadsheet would take for a formula. With `sharding` only the
        records of a shard are returned, and ids are made of its secret.
        """
        self._sharding = sharding
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
        self._paths: list[Path | None] = []  # of the categories, where texts may change
        self._taxonomy = taxonomy
        rule = settings.rule
        self.texts = StreamTexts(rule, settings.max_phrases, load_wordnet) if changes_texts(rule) else None
        """what may be published of texts; None = everything, as it is"""
        self._id_random = random
        self._digits: bool | None = None
        self._needs_quotes = np.zeros(0, dtype=np.uint8)
        has_time = any(column.role == "time" for column in layout.form.columns)
        if not has_time and (settings.time_grain is not None or settings.ids == "day"):
            option = "--time-grain" if settings.time_grain is not None else "--ids day"
            raise InputError.at(problems.source, f"there is no time column for {option}; say which, as in time=NAME")
        self.reads_times = has_time and (
            settings.time_grain is not None or settings.epoch is not None or settings.ids == "day"
        )
        """whether anybody asks for the times of records"""
        self._records = RecordReader(layout, problems, collect=False, times=self.reads_times)
        changes = self.texts is not None or self.safe_csv or self.reads_times or settings.unclassified == "drop"
        is_plain = sharding is None and not changes and PlainReader.knows(layout)
        self._plain = PlainReader(layout, settings.separator) if is_plain else None

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
        unnamed = said.digits is None
        has_form = unnamed <= (users == 0) if self._sharding is not None else unnamed == (users == 0)
        require(unnamed if self.settings.ids == "original" else has_form, "ids have one form")
        if said.digits is not None:  # kernels take ids of one width, without looking where each ends
            ends = self.ids.ends[1 : users + 1]
            require((np.diff(ends, prepend=0) == self._width(digits=said.digits)).all(), "ids have one width")
        self._needs_quotes = take(arrays, "needs_quotes", np.uint8, length=users, high=1).copy()
        self._categories = Vocabulary.from_arrays(part("categories", arrays))
        self._node_of_category = take(
            arrays, "node_of_category", np.int32, length=len(self._categories), low=-1, high=len(self._tree) - 1
        ).copy()
        try:
            names = [self._categories.text(c).decode() for c in range(len(self._categories))]
        except UnicodeDecodeError:
            raise BadStateError("it does not hold that categories are texts") from None
        if self.texts is not None:
            self._paths = [split_path(name, self.settings.separator) for name in names]
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

    def id_table(self) -> tuple[tuple[Bytes, Int64s, Bytes], int]:
        """Return texts and ends of the ids of all users, whether one needs quotes; and the bytes of each, or 0."""
        width = self._width(digits=bool(self._digits)) if self.settings.new_ids else 0
        return (self.ids.texts, self.ids.ends, self._needs_quotes), width

    def _width(self, *, digits: bool) -> int:
        """Return the length of new ids."""
        keyed = None if self._sharding is None else self._sharding.secret
        return id_width(digits=digits) if keyed is None else run_id_width(digits=digits)

    @property
    def digits(self) -> bool | None:
        """New ids are decimal numbers; None = that is not known yet."""
        return self._digits

    @property
    def unfinished(self) -> int:
        """Bytes taken in of a line that is not whole yet."""
        return self._records.unfinished

    def read(self, data: bytes, *, final: bool = False) -> Batch:
        """Take in bytes; return the records that may enter. After the final piece an unfinished line is whole."""
        counted = self.problems.counts.copy()
        text = self._records.take_in(data, final=final)
        plain = None if self._plain is None else self._read_plain(text, self._plain)
        if plain is not None:
            return plain
        found = self._records.read_text(text, final=final)
        until = int(found.rows[-1, records.END]) if len(found.rows) else 0
        if self._sharding is not None:
            found = self._own(found, self._sharding, counted)
        node, path, paths = self._nodes(found)
        user = self._records.code(found, records.USER, self.users)
        time = self._times(found)
        chosen = self._choose_texts(found, user, path, paths)
        end, problem = self._records.settle(found, until)
        self.known_users = max(self.known_users, int(user[:end].max(initial=-1)) + 1)
        self._count(found.status[:end], node[:end])
        self._name_users(lambda: self._is_quoted(found, user))
        good = found.status[:end] == records.GOOD
        keep = slice(0, end) if chosen is None and good.all() else np.flatnonzero(good)  # a slice copies nothing
        ids, width = self.id_table()
        lines, cuts = found.data, _cuts(found, keep)
        kind = np.full(len(cuts), QUERY, dtype=np.int8)
        if chosen is not None and not isinstance(keep, slice):
            chosen = chosen.take(keep)
            lines, cuts = with_texts(found, keep, cuts, chosen, self.layout)
            kind = chosen.kind
        if self.safe_csv:
            lines, cuts = with_apostrophes(lines, cuts, self.layout)
        known = len(self.users)
        return Batch(lines, cuts, user[keep], node[keep], kind, known, ids, width, time[keep], problem or found.problem)

    def _read_plain(self, text: bytes, plain: PlainReader) -> Batch | None:
        """Return the records of a text the short way; None where that is not possible, and nothing is counted then."""
        found = plain.take(text, self.users, self._categories, self._known_nodes())
        if found is None:
            return None
        known, n = self._known_nodes(), len(found.codes)
        node, user = np.empty(n, dtype=np.int32), found.codes[:, plain_kernels.USER].copy()
        without = plain_kernels.find_nodes(found.codes, known, self._unclassified, node)
        self._records.pass_over(text, found.consumed, n)
        self.known_users, self.unclassified = max(self.known_users, len(self.users)), self.unclassified + without
        self._name_users(lambda: False)
        ids, width = self.id_table()
        kind, time = np.full(n, QUERY, dtype=np.int8), np.broadcast_to(MISSING_TIME, n)
        return Batch(text, found.cuts, user, node, kind, len(self.users), ids, width, time, None)

    def _known_nodes(self) -> Int32s:
        """int32[categories]: node of each category so far, -1 = a path with an empty level."""
        known = self._node_of_category
        if len(self._categories) > len(known):
            new = self._tree.nodes_from(self._categories.codes, len(known), self.settings.separator)
            known = self._node_of_category = np.concatenate([known, new])
        return known

    def _own(self, found: RecordBatch, sharding: Sharding, counted: Counter[str]) -> RecordBatch:
        """Return the records of this shard; `counted` = what was left out before this batch."""
        if self._digits is None and self.settings.new_ids:
            self._digits = self._first_user_is_number(found)
        if not sharding.counts_lost_lines:
            self.problems.counts = counted  # a line that was too long
        path = None if self.classifier is None else self.classifier.path
        return sharding.filter.take(found, self._records, path)

    def _first_user_is_number(self, found: RecordBatch) -> bool | None:
        """Tell whether the first user of all records, of whichever shard, is a number: ids of all shards are alike."""
        for row in found.good.tolist():
            first = replace(found, rows=found.rows[[row]], spans=found.spans[[row]], how=found.how[[row]])
            users = Vocabulary()
            if self._records.code(first, records.USER, users)[0] >= 0:
                return users.text(0).isdigit()
        return None

    def _count(self, status: Int32s, node: Int32s) -> None:
        """Count the records without a category, and those that are left out."""
        sound = (status == records.GOOD) | (status > records.BAD_TIME)
        self.unclassified += int((sound & (node == self._unclassified)).sum())
        if self.texts is not None:
            self.left_out[nothing_left(self.texts.rule)] += int((status == records.RARE).sum())

    def _times(self, found: RecordBatch) -> Int64s:
        """int64[n]: times, where they are needed. A record whose time cannot be read is marked."""
        if not self.reads_times:
            return np.full(len(found.rows), MISSING_TIME, dtype=np.int64)
        texts = self._records.texts(found, COLUMNS["time"])
        time, way = read_times(texts, known_pattern(self.layout))
        bad = (way == NO_WAY) & texts.is_not_null().to_numpy() & (found.status == records.GOOD)
        found.status[bad] = records.BAD_TIME
        return time

    def _nodes(self, found: RecordBatch) -> tuple[Int32s, Int32s, list[Path]]:
        """int32[n]: node of each record, and of its path; paths, as names. A record whose path is bad is marked."""
        paths: list[Path] = []
        path = np.full(len(found.rows), -1, dtype=np.int32)
        if self.layout.has_category:
            code = self._records.code(found, records.CATEGORY, self._categories)
            known = self._known_nodes()
            if self.texts is not None:
                names, separator = self._categories.codes.texts_from(len(self._paths)), self.settings.separator
                self._paths += [split_path(name.decode(), separator) for name in names]
                path, used = _numbered(code, len(self._categories))
                paths = [() if c < 0 else self._paths[c] or () for c in used.tolist()]
        elif self.classifier is not None:
            queries = Vocabulary()
            code = path = self._records.code(found, records.QUERY, queries)
            paths = [self.classifier.path(queries.text(c).decode()) for c in range(len(queries))]
            known = self._tree.nodes(paths)
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

    def _name_users(self, is_first_quoted: Callable[[], bool]) -> None:
        """Draw or copy the ids under which new users are published.

        Ids are between quotes where the first one of all was, or where they must be: how the asker's was written is
        not kept, since that tells of the asker.
        """
        n = len(self.users) - len(self.ids)
        if n == 0:
            return
        quoted = bool(self._needs_quotes[0]) if len(self.ids) else is_first_quoted()
        if self.settings.ids != "original":
            if self._digits is None:
                self._digits = self.users.text(0).isdigit()
            if self._sharding is not None and self._sharding.secret is not None:
                self._keyed_ids(self._sharding.secret.run_key)
            else:
                fresh_ids(self.ids, n, self._id_random, digits=self._digits)
            needs = np.full(n, quoted or (self.layout.is_json and not self._digits), dtype=np.uint8)
        else:
            new = [self.users.text(c) for c in range(len(self.ids), len(self.users))]
            for text in new:
                self.ids.add(self.layout.quoted(escaped(text.decode()).encode() if self.safe_csv else text))
            needs = np.array([quoted or self.layout.needs_quotes(text) for text in new], dtype=np.uint8)
        self._needs_quotes = np.concatenate([self._needs_quotes, needs])

    def _is_quoted(self, found: RecordBatch, user: Int32s) -> bool:
        """Tell whether the first user of all is written between quotes."""
        first = np.flatnonzero(user == 0)[:1]
        return bool(_between_quotes(found, first).any())

    def _keyed_ids(self, key: bytes) -> None:
        """Make the ids of new users of the secret of all shards."""
        texts = run_ids(key, self.users.codes, len(self.ids), digits=bool(self._digits))
        n, width = texts.shape
        begin = np.arange(n, dtype=np.int32) * np.int32(width)
        spans, code = np.stack([begin, begin + np.int32(width)], axis=1), np.full(n, -1, dtype=np.int32)
        self.ids.code(texts.ravel(), spans, 0, np.arange(n, dtype=np.int32), code)
        if len(self.ids) != len(self.users):
            raise UserError("Two users of this stream would get one id: begin again, with another --secret.")


def _numbered(code: Int32s, codes: int) -> tuple[Int32s, Int64s]:
    """Return the number of each code among those in use, and which are in use, ascending; BROKEN and NONE are codes."""
    is_used = np.zeros(codes - BROKEN, dtype=np.bool_)
    is_used[code - BROKEN] = True
    number = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return number[code - BROKEN], np.flatnonzero(is_used) + BROKEN


def _cuts(found: RecordBatch, rows: Int64s | slice) -> Int32s:
    """Return where the lines of some records, and the users in them, with their quotes, begin and end."""
    cuts = np.empty((len(found.rows[rows]), join.CUTS), dtype=np.int32)
    cuts[:, join.LINE_BEGIN], cuts[:, join.LINE_END] = found.rows[rows, records.BEGIN], found.rows[rows, records.END]
    quoted = _between_quotes(found, rows)
    cuts[:, join.USER_BEGIN] = found.spans[rows, 2 * records.USER] - quoted
    cuts[:, join.USER_END] = found.spans[rows, 2 * records.USER + 1] + quoted
    cuts[:, join.BARE] = quoted | (found.how[rows, records.USER] == records.BARE)
    return cuts


def _between_quotes(found: RecordBatch, rows: Int64s | slice) -> npt.NDArray[np.bool_]:
    """bool[rows]: the user of each record is written between quotes."""
    how = found.how[rows, records.USER]
    return np.asarray((how == records.QUOTED) | (how == records.ESCAPED))
