"""A generated log on disk: the log, the directory of its sites next to it and, where asked, its truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from querycloak.errors import ParameterError
from querycloak.generator.generated_log import EVENT_KINDS, GeneratedLog
from querycloak.logs.atomic import is_pipe, writing
from querycloak.logs.output_form import COMPRESSIONS, form_for_name
from querycloak.logs.query_log import NO_CODE
from querycloak.logs.sink import TSV, fit_form, write_to

if TYPE_CHECKING:
    from querycloak.logs.form import LogForm

__all__ = ["truth_table", "write_generated"]


def write_generated(
    generated: GeneratedLog,
    path: str | Path,
    *,
    truth: bool = False,
    form: LogForm | None = None,
    safe_csv: bool = True,
) -> list[Path]:
    """Write the log to `path`, `<stem>.directory.tsv` and `<stem>.truth.tsv` next to it, and return the paths written.

    The directory has the columns site and category; without clicks it is still the truth about typed addresses. Either
    all files appear or none. The suffix of the path says in which form the log is written, as for a release. A log that
    goes to standard output (`-`) or to a pipe goes alone. `safe_csv` is that of `write_log`.
    """
    path = Path(path)
    tables = {}
    if not is_pipe(path):
        log_stem = stem(path)
        tables[path.with_name(f"{log_stem}.directory.tsv")] = generated.directory()
        if truth:
            tables[path.with_name(f"{log_stem}.truth.tsv")] = truth_table(generated)
    elif truth:
        raise ParameterError("A log that goes to a pipe has no truth next to it: name a file, or leave the truth out.")
    fitted = fit_form(generated.log, form or form_for_name(path, generated.log.form or TSV), safe_csv=safe_csv)
    with writing(path, *tables) as (file, *others):
        write_to(file, generated.log, fitted, path)
        for out, table in zip(others, tables.values(), strict=True):
            table.write_csv(out, separator="\t", quote_style="never")
    return [path, *tables]


def stem(path: Path) -> str:
    """Return the name of a file without the suffixes of its format and its compression."""
    return Path(path.stem).stem if path.suffix in COMPRESSIONS else path.stem


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
