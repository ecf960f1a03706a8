"""Lines with the texts that may be published in place of the queries; all else stays, byte for byte.

A text is written by what it needs itself, and by the form of the file: quotes around it, or escapes in it, that were
kept from the query would tell of the words that are not published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.live import _join_kernels as join
from querycloak.logs import _records_kernels as records

if TYPE_CHECKING:
    from querycloak.logs.layout import Layout
    from querycloak.logs.records import RecordBatch
    from querycloak.methods.stream.text_parts import Chosen

__all__ = ["with_texts"]

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


def with_texts(found: RecordBatch, rows: Int64s, cuts: Int32s, chosen: Chosen, layout: Layout) -> tuple[bytes, Int32s]:
    """Return the lines of some records with the texts that were chosen for them, and their cuts there.

    rows int64[n] of `found`; cuts int32[n, CUTS] and `chosen` are of these rows.
    """
    changed = np.flatnonzero(chosen.begin >= 0)
    if not len(changed):
        return found.data, cuts
    query = np.ascontiguousarray(found.spans[rows, 2 * records.QUERY : 2 * records.QUERY + 2])
    texts = (chosen.data, chosen.begin, chosen.end, np.zeros(len(rows), dtype=np.uint8))
    if layout.is_json or layout.is_csv:
        how = found.how[rows, records.QUERY]
        quoted = (how == records.QUOTED) | (how == records.ESCAPED)
        query += np.where(quoted[:, None], np.array([-1, 1], dtype=np.int32), np.int32(0))  # quotes are replaced, too
        texts = _written(chosen, changed, layout)
    size = int((cuts[:, join.LINE_END] - cuts[:, join.LINE_BEGIN]).sum(dtype=np.int64))
    size += int((texts[2] - texts[1]).sum()) + 2 * len(changed)
    out, moved = np.empty(size, dtype=np.uint8), cuts.copy()
    used = join.replace_queries(found.array, cuts, query, texts, out, moved)
    return out[:used].tobytes(), moved


def _written(chosen: Chosen, changed: Int64s, layout: Layout) -> tuple[Bytes, Int64s, Int64s, Bytes]:
    """Return texts as they are written in this layout: bytes, begin, end, and whether they are between quotes."""
    n = len(chosen.begin)
    plain = [text.encode() for text in chosen.texts(changed).to_list()]
    written = [layout.quoted(text) for text in plain]
    length = np.array([len(text) for text in written], dtype=np.int64)
    ends = np.cumsum(length)
    begin, end = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    begin[changed], end[changed] = ends - length, ends
    quotes = np.zeros(n, dtype=np.uint8)
    always = layout.is_json or layout.form.quoting == "all"
    quotes[changed] = [always or layout.needs_quotes(text) for text in plain]
    return np.frombuffer(b"".join(written), dtype=np.uint8), begin, end, quotes
