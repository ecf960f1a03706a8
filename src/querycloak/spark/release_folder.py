"""A release in a folder, and its truth, as tables of Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from querycloak.errors import InputError
from querycloak.logs.layout import known_layout
from querycloak.releases.files import is_intact
from querycloak.releases.folder import open_release
from querycloak.releases.statement_file import StatementFile, read_statement_file
from querycloak.spark.text_lines import PROBLEM, fields_of_lines

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

    from querycloak.releases.statement import PrivacyStatement

__all__ = ["read_release_folder", "read_truth_folder"]


def read_release_folder(session: SparkSession, path: Path) -> tuple[DataFrame, PrivacyStatement]:
    """Read a release that Spark or one machine wrote, by columns of roles; one that was changed is refused."""
    open_release(path)
    file = read_statement_file(path)
    if not is_intact(path, file):
        raise InputError.at(path, "its statement does not belong to it, or the release was edited")
    return _columns(session, path, file), file.statement


def _columns(session: SparkSession, path: Path, file: StatementFile) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    names = {c.name: c.role or c.name for c in file.form.columns}
    whole = str(path.absolute())
    if file.form.format == "parquet":
        found = session.read.parquet(whole)
        return found.select(*(F.col(f"`{name}`").alias(role) for name, role in names.items()))
    layout = known_layout(file.form, (",".join(names) + "\n").encode(), path)
    header = _header(path) if file.form.header and not layout.is_json else b""
    lines = session.read.option("lineSep", "\n").text(whole)
    fields = fields_of_lines(lines, replace(layout, head=header), extra=True).where(f"`{PROBLEM}` = 0").drop(PROBLEM)
    return fields.withColumn("count", F.col("count").cast("bigint")) if "count" in fields.columns else fields


def _header(path: Path) -> bytes:
    from querycloak.logs.compression import open_binary
    from querycloak.releases.folder import parts_of

    parts = parts_of(path) if path.is_dir() else [path]
    if not parts:
        return b""
    with open_binary(parts[0]) as file:
        return file.readline()


def read_truth_folder(session: SparkSession, path: Path) -> DataFrame:
    """Read a truth, a folder or a file: `id` and `user`."""
    from pyspark.sql import functions as F  # noqa: N812

    if not path.exists():
        raise InputError.at(path, "there is no such file")
    lines = session.read.option("lineSep", "\n").text(str(path.absolute()))
    fields = F.split("value", "\t")
    rows = lines.where((F.size(fields) == 3) & (fields[0] == "user"))
    return rows.select(_plain(fields[1]).alias("id"), _plain(fields[2]).alias("user"))


def _plain(text: Column) -> Column:
    """Return an id as it was before it was written: the escapes of `releases/truth_file.py` undone."""
    from pyspark.sql import functions as F  # noqa: N812

    mark = "\x00"
    for written, plain in (("\\\\", mark), ("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"), (mark, "\\")):
        text = F.replace(text, F.lit(written), F.lit(plain))
    return text
