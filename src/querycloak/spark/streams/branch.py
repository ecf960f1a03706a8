"""One top-level category of a stream: its engine, what people asked in it so far, and the rows that wait.

It is the stream of one machine (`methods/stream/`), over the records of one top-level category alone. What holds there
holds here for each record, and the gate is the same: before anything leaves, each record is checked against its asker
and the number of its candidates, and an error ends the run.

What differs: a text is counted among the people who asked it *in this category*. These are no more than all who asked
it, so a text that is published was asked by m people of the stream, and some that one machine publishes are not.
`max_delay` counts the records of the category, and `max_rows_per_user` the rows of an id in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.vocabulary import ByteCodes
from querycloak.errors import GateError, InputError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.category_paths import split_path
from querycloak.logs.durations import DAY, round_down
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.category_tree import UNCLASSIFIED
from querycloak.mapping.row_paths import concept_path
from querycloak.methods.stream.delays import Delays
from querycloak.methods.stream.keyed_ids import KeyedIds
from querycloak.methods.stream.stream_texts import KINDS, StreamTexts, changes_texts
from querycloak.releases.checks import check_departures
from querycloak.texts.phrases import NOTHING, QUERY

if TYPE_CHECKING:
    import polars as pl

    from querycloak.methods.stream.engine import Departures
    from querycloak.spark.streams.plan import Plan

__all__ = ["NONE_LEFT", "PUBLISHED", "Branch", "Tally", "published_columns"]

Int64s = npt.NDArray[np.int64]
Path = tuple[str, ...]

PUBLISHED: Final = ("query", "time", "rank", "url", "category")
"""Columns that are published next to the user, where the log has them."""
NONE_LEFT: Final = 1 << 62
"""Fewest candidates while no record has left."""


def published_columns(roles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of a row that are published, without the user."""
    return tuple(name for name in PUBLISHED if name in roles)


@dataclass
class Tally:
    """What was counted in a branch."""

    rows: int = 0
    no_user: int = 0
    no_query: int = 0
    unclassified: int = 0
    unclassified_dropped: int = 0
    nothing_left: int = 0
    left: int = 0
    too_long: int = 0
    fewest: int = NONE_LEFT
    kinds: list[int] = field(default_factory=lambda: [0] * len(KINDS))
    """records that have left as whole queries, phrases, labels"""


class Branch:
    """The stream of one top-level category."""

    def __init__(self, plan: Plan, top: str) -> None:
        """Begin an empty one; `top` is the name of the category (of a concept its number), "" = unclassified."""
        import polars as pl

        self.plan = plan
        self.engine = plan.settings.engine(plan.method, plan.words.of(top))
        rule = plan.settings.rule
        self.texts = StreamTexts(rule, plan.settings.max_phrases, load_wordnet) if changes_texts(rule) else None
        self.users = ByteCodes()
        self.tally = Tally()
        self.delays = Delays()
        self.columns = published_columns(plan.roles)
        kinds = {"query": pl.String, "url": pl.String, "category": pl.String, "time": pl.Int64, "rank": pl.Int32}
        schema = {"number": pl.Int64, "asker": pl.Int32, "kind": pl.Int8, **{c: kinds[c] for c in self.columns}}
        self._rows = pl.DataFrame(schema=schema)
        self._gone = np.zeros(0, dtype=np.bool_)
        self._paths: dict[str | int | None, Path] = {}
        self._ids = None if plan.id_key is None else KeyedIds(plan.id_key, digits=False)

    def __repr__(self) -> str:
        return f"Branch({self.engine!r})"

    @property
    def waiting(self) -> pl.DataFrame:
        """The rows that wait, by their running numbers: `number`, `asker` (a code), `kind`, and the columns."""
        return self._rows.filter(~self._gone)

    def set_waiting(self, rows: pl.DataFrame) -> None:
        """Take the rows that wait, which the engine has."""
        self._rows, self._gone = rows, np.zeros(len(rows), dtype=np.bool_)

    def push(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Let rows of this category enter, in their order; return those that leave.

        Columns: `user`, those of `columns`, and `concept` where the log has no categories. What leaves has `user` (the
        published id; without a key of ids the original one of another user), the columns, and, for the gate of a whole
        log, `asker`, `candidates` and `kind`.
        """
        import polars as pl

        rows = self._usable(rows)
        key = rows["category" if self.plan.knowledge is None else "concept"]
        distinct = key.unique(maintain_order=True)
        paths = [self._path(value) for value in distinct.to_list()]
        code = _positions(key, distinct)
        classified = np.array([path != UNCLASSIFIED for path in paths], dtype=np.bool_)[code]
        unclassified = int((~classified).sum())
        self.tally.unclassified += unclassified
        if self.plan.settings.unclassified == "drop" and unclassified:
            self.tally.unclassified_dropped += unclassified
            rows, code, classified = rows.filter(classified), code[classified], classified[classified]
        user = self._user_codes(rows["user"])
        query, kind = self._texts(rows["query"], user, np.where(classified, code, -1).astype(np.int32), paths)
        enters = np.flatnonzero(kind != NOTHING)
        self.tally.nothing_left += len(kind) - len(enters)
        node = self.engine.tree.nodes(paths)[code] if paths else code
        first = self.engine.entered
        fresh = rows.select(
            pl.Series("number", np.zeros(len(rows), dtype=np.int64)),
            pl.Series("asker", user),
            pl.Series("kind", kind),
            query.alias("query"),
            *(column for column in self.columns if column != "query"),
        )[enters]
        fresh = fresh.with_columns(pl.Series("number", np.arange(first, first + len(enters), dtype=np.int64)))
        return self._leave(self.engine.push_codes(user[enters], node[enters]), fresh)

    def _usable(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that are a query of a user; others end the run, or are counted and left out."""
        import polars as pl

        self.tally.rows += len(rows)
        user = rows["user"].fill_null("") != ""
        text = pl.col("query").fill_null("")
        query = rows.select((text.str.strip_chars(" ") != "") & ~text.str.contains("\0", literal=True)).to_series()
        no_user, no_query = int((~user).sum()), int((user & ~query).sum())
        if no_user or no_query:
            if not self.plan.skips:
                what = f"{no_user:,} rows of a batch have no user, {no_query:,} have a user and no query"
                raise InputError.at("the stream", f'{what}; leave them out with on_error="skip"')
            self.tally.no_user += no_user
            self.tally.no_query += no_query
            rows = rows.filter(user & query)
        return rows

    def _path(self, value: str | int | None) -> Path:
        """Return the path of a category, or of a concept."""
        if value not in self._paths:
            knowledge = self.plan.knowledge
            if knowledge is not None:
                path = concept_path(knowledge.taxonomy, NO_CODE if value is None else int(value))
            else:
                path = UNCLASSIFIED if value is None else split_path(str(value), self.plan.settings.separator) or ()
            self._paths[value] = path
        return self._paths[value]

    def _user_codes(self, users: pl.Series) -> npt.NDArray[np.int32]:
        """int32[n]: codes of users, new ones for new users."""
        distinct = users.unique(maintain_order=True)
        texts = [text.encode() for text in distinct.to_list()]
        ends = np.cumsum([0, *(len(text) for text in texts)], dtype=np.int64)
        spans = np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int32)
        code = np.full(len(texts), NO_CODE, dtype=np.int32)
        data = np.frombuffer(b"".join(texts), dtype=np.uint8)
        self.users.code(data, spans, 0, np.arange(len(texts), dtype=np.int32), code)
        return code[_positions(users, distinct)]

    def _texts(
        self, queries: pl.Series, user: npt.NDArray[np.int32], path: npt.NDArray[np.int32], paths: list[Path]
    ) -> tuple[pl.Series, npt.NDArray[np.int8]]:
        """Return what is published of each record, and what it is: QUERY, PHRASE, LABEL or NOTHING."""
        if self.texts is None or not len(queries):
            return queries, np.full(len(queries), QUERY, dtype=np.int8)
        knowledge = self.plan.knowledge
        if knowledge is None:
            named = paths
        else:
            named = [tuple(knowledge.taxonomy.label(int(concept)) for concept in p) for p in paths]
        distinct = queries.unique(maintain_order=True)
        chosen = self.texts.take(distinct, _positions(queries, distinct), user, path, named)
        changed = np.flatnonzero(chosen.begin >= 0)
        return queries.scatter(changed, chosen.texts(changed)), chosen.kind

    def _leave(self, out: Departures, fresh: pl.DataFrame) -> pl.DataFrame:
        """Check what leaves, and return it; keep the rest."""
        import polars as pl

        rows = pl.concat([self._rows, fresh])
        gone = np.concatenate([self._gone, np.zeros(len(fresh), dtype=np.bool_)])
        number = rows["number"].to_numpy()
        at = np.searchsorted(number, out.record)
        gone[at] = True
        gone[np.searchsorted(number, out.dropped_record)] = True
        leaving = rows[at]
        asker = leaving["asker"].to_numpy()
        check_departures(self.plan.settings.k, asker, out.user, out.candidates)  # the gate: nothing has left yet
        kind = leaving["kind"].to_numpy()
        tally = self.tally
        tally.left += len(out)
        tally.too_long += len(out.dropped_record)
        tally.fewest = min(tally.fewest, int(out.candidates.min(initial=NONE_LEFT)))
        tally.kinds = (np.array(tally.kinds) + np.bincount(kind, minlength=len(KINDS))).tolist()
        self.delays.add(out.delay)
        if 2 * int(gone.sum()) > len(rows):  # so that a row is copied but twice on average
            rows, gone = rows.filter(~gone), np.zeros(len(rows) - int(gone.sum()), dtype=np.bool_)
            rows = rows.rechunk()
        self._rows, self._gone = rows, gone
        time = None
        if "time" in self.columns:
            time = leaving["time"].to_numpy()
            if self.plan.settings.time_grain is not None:
                time = round_down(time, self.plan.settings.time_grain)
        published = [pl.Series("time", time) if name == "time" else leaving[name] for name in self.columns]
        for_gate = [
            pl.Series("asker", self._names(asker.astype(np.int64)), dtype=pl.String),
            pl.Series("candidates", out.candidates.astype(np.int32)),
            leaving["kind"],
        ]
        return pl.DataFrame(
            [pl.Series("user", self._published(out.user, time), dtype=pl.String), *published, *for_gate]
        )

    def _published(self, user: Int64s, time: Int64s | None) -> list[str]:
        """Return the id of each new user: keyed ids, of the run or of the day of the published time."""
        if self._ids is None or self.plan.settings.ids == "original":
            return self._names(user)
        assert self.plan.settings.ids != "day" or time is not None
        day = time // DAY if self.plan.settings.ids == "day" and time is not None else np.zeros_like(user)
        pairs, code = np.unique(np.stack([day, user]), axis=1, return_inverse=True)
        ids: list[str] = []
        width = self._ids.width
        for period in np.unique(pairs[0]).tolist():
            of_period = pairs[1][pairs[0] == period]
            made = self._ids.of([self.users.text(u) for u in of_period.tolist()], period).decode()
            ids += [made[i : i + width] for i in range(0, len(made), width)]
        if len(set(ids)) != len(ids) or any(c >= 0 for c in self._known(ids)):
            raise GateError("an id would be published that is another user's, or of the log; nothing of this is.")
        named = np.array(ids, dtype=object)[code.ravel()]
        return [str(name) for name in named]

    def _known(self, ids: list[str]) -> list[int]:
        """Return the code of each id that is one of the log, else -1."""
        ends = np.cumsum([0, *(len(i) for i in ids)], dtype=np.int64)
        spans = np.stack([ends[:-1], ends[1:]], axis=1).astype(np.int32)
        return [int(c) for c in self.users.find(np.frombuffer("".join(ids).encode(), dtype=np.uint8), spans)]

    def _names(self, user: Int64s) -> list[str]:
        """Return the original ids of users."""
        distinct, code = np.unique(user, return_inverse=True)
        names = [self.users.text(u).decode() for u in distinct.tolist()]
        return [names[c] for c in code.tolist()]


def _positions(values: pl.Series, distinct: pl.Series) -> npt.NDArray[np.int32]:
    """int32[n]: where each value is in `distinct`."""
    import polars as pl

    table = pl.DataFrame({"v": distinct, "at": np.arange(len(distinct), dtype=np.int32)})
    found = values.alias("v").to_frame().join(table, on="v", how="left", nulls_equal=True, maintain_order="left")
    return found["at"].to_numpy()
