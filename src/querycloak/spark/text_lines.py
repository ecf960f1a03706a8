"""Lines of text as rows of Spark, by the reader of one machine: the same fields, the same bad lines.

Spark finds the lines, and each batch of them goes through `logs/records.py`. Parts of a file are read apart, in no
order, so a field of CSV that goes over several lines cannot be put together: whoever began it may be in another task.
Such a line always ends the reading, also with `--on-error skip`: its second half might pass for the row of somebody
else, and one person who types line ends would count as many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from querycloak.logs import _records_kernels as kernels
from querycloak.logs.category_paths import split_path
from querycloak.logs.decoding import Decoder, Wrapping
from querycloak.logs.problems import BAD, HARMLESS
from querycloak.logs.records import COLUMNS, RecordBatch, RecordReader
from querycloak.spark.spark_log import FURTHER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl
    from pyspark.sql import DataFrame

    from querycloak.logs.layout import Layout

__all__ = ["PROBLEM", "SEVERAL_LINES", "STATUS_WORDS", "fields_of_lines"]

PROBLEM: Final = "problem"
"""column of the status of a line, 0 = good; a name that no role has"""
SEVERAL_LINES: Final = 100
"""status of a line with a field that does not end on it"""
STATUS_WORDS: Final[dict[int, str]] = {**HARMLESS, **BAD}
BOM: Final = b"\xef\xbb\xbf"


def fields_of_lines(
    lines: DataFrame, layout: Layout, separator: str = "/", *, extra: bool = False, further: bool = False
) -> DataFrame:
    """Turn a table of lines, `value`, into the columns of the roles, as text, and `problem`.

    `separator` is that of category paths. With `extra`, columns without a role come too, by their names; with `further`
    they do with a name that begins as FURTHER, which is no name of a role.
    """
    before = FURTHER if further else ""
    roles = [str(c.role or before + c.name) for c in layout.form.columns if c.role is not None or extra or further]
    schema = ", ".join([*(f"`{role.replace('`', '``')}` string" for role in roles), f"`{PROBLEM}` int"])
    return lines.selectExpr("cast(value as binary) as value").mapInArrow(_reading(layout, roles, separator), schema)


def _reading(layout: Layout, roles: list[str], separator: str) -> Callable[[Any], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield read_lines(batch.column(0), layout, roles, separator)

    return read


def read_lines(lines: pa.Array, layout: Layout, roles: list[str], separator: str = "/") -> pa.RecordBatch:
    """Read a batch of lines without their line ends."""
    problems = layout.problems("", stop=False)
    texts = [_decoded(line, layout) for line in lines.to_pylist()]
    status = np.zeros(len(texts), dtype=np.int32)
    if layout.is_csv:
        odd = np.asarray(pc.count_substring(lines, b'"').to_numpy(zero_copy_only=False)) % 2 == 1
        status[odd] = SEVERAL_LINES
        texts = [b"" if is_odd else text for text, is_odd in zip(texts, odd.tolist(), strict=True)]
    reader = RecordReader(_without_begin(layout), problems, collect=True)
    batch = _whole_lines(reader, texts, status)
    extras = [(column.name, i) for i, column in enumerate(reader.extras, len(COLUMNS))]
    at = {before + name: i for before in ("", FURTHER) for name, i in extras if before + name in roles} | COLUMNS
    rows, kept = batch.good, batch.kept()  # what is not good may be no text at all
    columns = {role: reader.texts(kept, at[role]) for role in roles}
    judged = np.zeros(len(rows), dtype=np.int32)
    _judge(kept, columns, judged, separator)
    found = batch.status.copy()
    found[rows] = judged
    status = np.where(status == 0, found, status)
    index = np.full(len(status), -1, dtype=np.int64)
    index[rows] = np.arange(len(rows))
    index[status != kernels.GOOD] = -1
    which = pa.array(index, mask=index < 0)
    arrays = [_arrow(columns[role]).take(which) for role in roles]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(status, pa.int32())], names=[*roles, PROBLEM])


def _whole_lines(reader: RecordReader, texts: list[bytes], status: np.ndarray[Any, np.dtype[np.int32]]) -> RecordBatch:
    """Return one record for each line; a line with a quote that is not closed in it is marked and left out."""
    begins = np.cumsum([0, *(len(text) + 1 for text in texts)])[:-1]
    batch = reader.read_text(b"".join(text + b"\n" for text in texts), final=True)
    if len(batch.rows) == len(texts) and (batch.rows[:, kernels.BEGIN] == begins).all():
        return batch
    for i, text in enumerate(texts):  # hardly ever: some record went over a line end
        alone = reader.read_text(text + b"\n" + b"\n", final=True)
        if len(alone.rows) != 2:
            status[i] = SEVERAL_LINES
            texts[i] = b""
    return reader.read_text(b"".join(text + b"\n" for text in texts), final=True)


def _judge(
    batch: RecordBatch,
    columns: dict[str, pl.Series],
    status: np.ndarray[Any, np.dtype[np.int32]],
    separator: str,
) -> None:
    """Mark what only the values show: an escape that means nothing, and empty users and queries."""
    # In the order of one machine: what is found first is what is told of a record.
    for role, empty in (("category", kernels.GOOD), ("query", kernels.NO_QUERY), ("user", kernels.NO_USER)):
        if role not in columns:
            continue
        values = columns[role]
        missing = values.is_null().to_numpy()
        column = COLUMNS[role]
        broken = missing & (batch.how[:, column] == kernels.ESCAPED)
        status[(status == kernels.GOOD) & broken] = kernels.MALFORMED
        if role == "category":
            wrong = {text for text in values.drop_nulls().unique() if split_path(text, separator) is None}
            bad = values.is_in(list(wrong)).fill_null(value=False).to_numpy() if wrong else np.zeros(len(status), bool)
            status[(status == kernels.GOOD) & bad] = kernels.BAD_PATH
        else:
            blank = missing | (values.str.strip_chars(" \t").str.len_bytes() == 0).fill_null(value=True).to_numpy()
            status[(status == kernels.GOOD) & blank] = empty


def _decoded(line: bytes, layout: Layout) -> bytes:
    text = line.removeprefix(BOM)
    return text if layout.form.encoding == "utf-8" else Decoder(Wrapping(layout.form.encoding)).decode(text)


def _without_begin(layout: Layout) -> Layout:
    """Return a layout for lines from anywhere in a file: a header among them is found by what it says."""
    from dataclasses import replace

    return replace(layout, begin=0, lines=0)


def _arrow(values: pl.Series) -> pa.Array:
    return values.to_arrow().cast(pa.string())
