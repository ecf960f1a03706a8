"""A stream of bytes in, a stream of bytes out: lines become records, records leave with another user's id.

The converter knows nothing of files, pipes and clocks: the runner feeds it, and may save it between two feeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from querycloak.stream import _lines_kernels as lines
from querycloak.stream.coding import ByteCodes, fresh_ids
from querycloak.stream.layout import LONGEST_LINE
from querycloak.stream.tree import UNCLASSIFIED, split_path

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.stream.layout import Layout
    from querycloak.stream.problems import Problems
    from querycloak.stream.statement import StreamSettings

__all__ = ["Classifier", "Converter", "Published"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Classifier(Protocol):
    """What finds the path of a query that comes without one."""

    def path(self, query: str) -> tuple[str, ...]:
        """Give the path, or () where there is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What one feed let out."""

    data: bytes
    """lines, ready to be written"""
    user: Int64s
    """int64[n]: code of each record's published user"""
    asker: Int64s
    """int64[n]: code of the user who asked"""


class Converter:
    """The engine with what surrounds it: codes of users and categories, and the bytes of the records that wait."""

    def __init__(
        self,
        layout: Layout,
        method: str,
        settings: StreamSettings,
        random: Randomness,
        problems: Problems,
        classifier: Classifier | None = None,
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.problems = problems
        self.engine = settings.engine(method, random.child("engine"))
        self.classifier = classifier
        self.users = ByteCodes()
        self.ids = ByteCodes()
        self.unclassified = 0
        self.left = 0
        self.total_delay = 0
        self.fewest = 1 << 62
        self.seen = np.zeros(0, dtype=np.bool_)
        """bool[users]: whether a user's id has been published"""
        self._id_random = random.child("ids")
        self._needs_quotes = np.zeros(0, dtype=np.uint8)
        self._digits: bool | None = None
        self._paths = ByteCodes()
        self._node_of_path = np.zeros(0, dtype=np.int32)  # -1 = a path with an empty level
        self._waiting: dict[int, tuple[bytes, bytes, bool, int]] = {}  # before and after the user, bare, asker
        self._rest = b""
        self._line = layout.head.count(b"\n") if layout.form.header else 0
        self._skipping = False

    def feed(self, data: bytes, *, final: bool = False) -> Published:
        """Take in bytes, in pieces of any size; give what leaves. After the final piece an unfinished line is whole."""
        data = self._rest + data if not self._skipping else self._skip(data)
        if final and data and not data.endswith(b"\n"):
            data += self.layout.form.line_end.encode()
        array = np.frombuffer(data, dtype=np.uint8)
        spans = np.empty((data.count(b"\n") + 2, lines.COLUMNS), dtype=np.int32)
        n = self.layout.split(array, spans)
        consumed, spans = int(spans[n, lines.LINE]), spans[:n]
        self._rest = data[consumed:]
        if len(self._rest) > LONGEST_LINE:
            self.problems.note(lines.TOO_LONG, self._line + self._rest.count(b"\n") + n + 1)
            self._rest, self._skipping = b"", True
        self._check_text(data[:consumed], spans)
        node = self._nodes(data, array, spans)
        self._tell_problems(data, spans)
        keep = spans[:, lines.STATUS] == lines.GOOD
        keep &= (node >= 0) if self.settings.unclassified == "keep" else (node > 0)
        if keep.all():
            return self._push(data, array, spans, node)
        return self._push(data, array, spans[keep], node[keep])

    def _skip(self, data: bytes) -> bytes:
        """Pass over the rest of a line that is too long."""
        end = data.find(b"\n")
        if end < 0:
            return b""
        self._skipping = False
        self._line += 1
        return data[end + 1 :]

    def _check_text(self, data: bytes, spans: Int32s) -> None:
        """Mark the lines that are not UTF-8; where all are, that costs one look at the whole."""
        try:
            data.decode()
        except UnicodeDecodeError:
            for span in spans:
                try:
                    data[span[lines.LINE] : span[lines.LINE + 1]].decode()
                except UnicodeDecodeError:
                    span[lines.STATUS] = lines.NOT_UTF8

    def _tell_problems(self, data: bytes, spans: Int32s) -> None:
        bad = np.flatnonzero(spans[:, lines.STATUS] != lines.GOOD)
        if not self.layout.is_json and self.layout.form.format == "csv":  # a record may have line ends inside
            starts = [0, *(data.count(b"\n", a, b) for a, b in spans[:, lines.LINE : lines.LINE + 2].tolist())]
            number = np.cumsum(starts)
        else:
            number = np.arange(len(spans) + 1)
        for i in bad.tolist():
            self.problems.note(int(spans[i, lines.STATUS]), self._line + int(number[i]) + 1)
        self._line += int(number[-1]) if len(number) else 0

    def _codes(self, codes: ByteCodes, array: Bytes, data: bytes, spans: Int32s, column: int, escaped: int) -> Int32s:
        """int32[n]: codes of a value; one with escapes is decoded first."""
        begin, end = spans[:, column].astype(np.int64), spans[:, column + 1].astype(np.int64)
        known = np.full(len(spans), -1, dtype=np.int32)
        for i in np.flatnonzero(spans[:, lines.FLAGS] & escaped).tolist():
            try:
                plain = self.layout.plain(data[begin[i] : end[i]])
            except ValueError:  # a lone surrogate, or an escape that JSON does not have
                spans[i, lines.STATUS] = lines.MALFORMED
                plain = b""
            end[i] = begin[i]
            if plain:
                known[i] = codes.add(plain)
        return codes.code(array, begin, end, known)

    def _nodes(self, data: bytes, array: Bytes, spans: Int32s) -> Int32s:
        """int32[n]: node of each record; 0 = unclassified. A record whose path is bad is marked."""
        tree = self.engine.tree
        if len(tree) == 0:
            tree.node(UNCLASSIFIED)
        fine = spans[:, lines.STATUS] == lines.GOOD
        good: npt.NDArray[np.bool_] | slice = slice(None) if fine.all() else fine  # the spans of all are not copied
        node = np.zeros(len(spans), dtype=np.int32)
        if self.layout.has_category:
            chosen = spans[good]
            code = self._codes(self._paths, array, data, chosen, lines.CATEGORY, lines.CATEGORY_ESCAPED)
            new = range(len(self._node_of_path), len(self._paths))
            paths = (split_path(self._paths.text(c).decode(), self.settings.separator) for c in new)
            found = [-1 if path is None else tree.node(path) for path in paths]
            self._node_of_path = np.concatenate([self._node_of_path, np.array(found, dtype=np.int32)])
            table = np.append(self._node_of_path, np.int32(0))  # code -1, an empty category: unclassified
            node[good] = table[code]
            chosen[:, lines.STATUS] = np.where(node[good] < 0, lines.BAD_PATH, chosen[:, lines.STATUS])
            spans[good] = chosen
        elif self.classifier is not None:
            chosen, queries = spans[good], ByteCodes()
            code = self._codes(queries, array, data, chosen, lines.QUERY, lines.QUERY_ESCAPED)
            found = [tree.node(self.classifier.path(queries.text(c).decode())) for c in range(len(queries))]
            node[good] = np.array([*found, 0], dtype=np.int32)[code]
            spans[good] = chosen
        self.unclassified += int((node[spans[:, lines.STATUS] == lines.GOOD] == 0).sum())
        return node

    def _push(self, data: bytes, array: Bytes, spans: Int32s, node: Int32s) -> Published:
        """Let good records enter, and write those that leave."""
        user = self._codes(self.users, array, data, spans, lines.USER, lines.USER_ESCAPED)
        whole = user >= 0  # a user whose escapes are broken is no user
        if not whole.all():
            self.problems.note(lines.MALFORMED, self._line)
            spans, node, user = spans[whole], node[whole], user[whole]
        self._name_users()
        first = self.engine.entered
        out = self.engine.push_codes(user, node)
        self.left += len(out)
        self.total_delay += int(out.delay.sum())
        self.fewest = min(self.fewest, int(out.candidates.min(initial=1 << 62)))
        self.seen[out.user] = True

        pieces = np.empty((len(out), 4), dtype=np.int64)
        bare = np.empty(len(out), dtype=np.bool_)
        asker = np.empty(len(out), dtype=np.int64)
        now = out.record >= first
        mine = spans[out.record[now] - first]
        pieces[now, 0], pieces[now, 1] = mine[:, lines.LINE], mine[:, lines.USER]
        pieces[now, 2], pieces[now, 3] = mine[:, lines.USER + 1], mine[:, lines.LINE + 1]
        bare[now] = (mine[:, lines.FLAGS] & lines.QUOTED) == 0
        asker[now] = user[out.record[now] - first]
        stored, at = [], 0
        for i in np.flatnonzero(~now).tolist():
            before, after, bare[i], asker[i] = self._waiting.pop(int(out.record[i]))
            pieces[i] = (~at, at + len(before), at + len(before), at + len(before) + len(after))
            stored += [before, after]
            at += len(before) + len(after)
        stays = np.ones(len(spans), dtype=np.bool_)
        stays[out.record[now] - first] = False
        for i in np.flatnonzero(stays).tolist():
            begin, end, user_begin, user_end = spans[i, :4].tolist()
            quoted = bool(spans[i, lines.FLAGS] & lines.QUOTED)
            self._waiting[first + i] = (data[begin:user_begin], data[user_end:end], not quoted, int(user[i]))
        sources = (array, np.frombuffer(b"".join(stored), dtype=np.uint8))
        text = lines.join_lines(sources, pieces, out.user, bare, self._needs_quotes, self.ids.ends, self.ids.texts)
        return Published(text.tobytes(), out.user, asker)

    def _name_users(self) -> None:
        """Give the users that are new the ids they will be published under."""
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
        self.seen = np.concatenate([self.seen, np.zeros(n, dtype=np.bool_)])
