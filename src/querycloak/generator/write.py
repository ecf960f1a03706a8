"""A generated log on disk: the log, the directory of its sites next to it and, where asked, its truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from querycloak.generator.generated_log import EVENT_KINDS, GeneratedLog
from querycloak.logs.atomic import writing
from querycloak.logs.query_log import NO_CODE
from querycloak.logs.sink import fit_form, write_to

if TYPE_CHECKING:
    from querycloak.logs.compression import Compression
    from querycloak.logs.form import LogForm

__all__ = ["truth_table", "write_generated"]

_COMPRESSIONS: Final[dict[str, Compression]] = {".gz": "gz", ".zst": "zst"}


def write_generated(
    generated: GeneratedLog, path: str | Path, *, truth: bool = False, form: LogForm | None = None
) -> list[Path]:
    """Write the log to `path`, and `<stem>.directory.tsv` and `<stem>.truth.tsv` next to it; return the paths written.

    The directory has the columns site and category; without clicks it is still the truth about typed addresses. Either
    all files appear or none. A path that ends in .gz or .zst has the log compressed.
    """
    target = Path(path)
    compression: Compression = _COMPRESSIONS.get(target.suffix, "")
    stem = Path(target.stem).stem if compression else target.stem
    tables = {target.with_name(f"{stem}.directory.tsv"): generated.directory()}
    if truth:
        tables[target.with_name(f"{stem}.truth.tsv")] = truth_table(generated)
    fitted = replace(fit_form(generated.log, form), compression=compression)
    with writing(target, *tables) as (file, *others):
        write_to(file, generated.log, fitted, target)
        for out, table in zip(others, tables.values(), strict=True):
            table.write_csv(out, separator="\t", quote_style="never")
    return [target, *tables]


def truth_table(generated: GeneratedLog) -> pl.DataFrame:
    """Return what is true of the log: one row per query event and concept.

    row = number of the event's first row in the log, from 1 and without the header; concept = its path in the taxonomy,
    empty where the query is about none; kind = how the event came about.
    """
    log, truth = generated.log, generated.concepts
    event = np.unique(truth.row, return_inverse=True)[1]  # every drawn event has a row of truth, in their order
    concept = pl.Series(generated.taxonomy.paths).gather(np.maximum(truth.concept, 0)).to_frame("concept")
    return pl.DataFrame(
        {
            "row": truth.row + 1,
            "user": log.users.gather(truth.user),
            "query": log.queries.gather(truth.query),
            "concept": concept.with_columns(known=pl.Series(truth.concept != NO_CODE))
            .select(pl.when("known").then("concept").otherwise(pl.lit("")))
            .to_series(),
            "kind": pl.Series(EVENT_KINDS).gather(generated.kind[event]),
        }
    )
