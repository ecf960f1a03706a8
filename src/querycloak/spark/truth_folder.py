"""Who is behind each published id, as a folder of parts that its owner alone may read.

The lines are those of one machine (`releases/truth_file.py`), without its header and a salt: no commitment to the input
is made on a cluster, since it would read all rows in the order of the file, and a folder of files has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import OutputError
from querycloak.logs.atomic import publish_folder, temporary_folder
from querycloak.logs.locks import locked
from querycloak.releases.folder import SUCCESS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame

__all__ = ["check_truth_output", "write_truth_folder"]


def check_truth_output(path: Path) -> None:
    """Refuse a folder that is there: a truth undoes a release, and is not replaced by accident."""
    if path.exists():
        raise OutputError(f"{path}: is there already; choose another folder for the truth.")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: the directory {path.parent} does not exist; make it first.")


def write_truth_folder(truth: DataFrame, path: Path) -> None:
    """Write the truth into a new folder of this machine; nobody else can look into it from the first byte on."""
    from pyspark.sql import functions as F  # noqa: N812

    check_truth_output(path)
    rows = truth.select("id", "user").distinct()
    line = F.concat_ws("\t", F.lit("user"), _escaped(F.col("id")), _escaped(F.col("user")))
    with locked(path), temporary_folder(path, mode=0o700) as hidden:
        rows.select(line.alias("value")).write.mode("append").option("lineSep", "\n").text(str(hidden / "data"))
        (hidden / "data").chmod(0o700)
        for part in list((hidden / "data").iterdir()):
            if part.name.startswith(".") or part.stat().st_size == 0:
                part.unlink()
            else:
                part.chmod(0o600)
        for i, part in enumerate(sorted((hidden / "data").glob("part-*"))):
            part.rename(hidden / "data" / f"part-{i:05}.tsv")
        (hidden / "data" / SUCCESS).touch(0o600)
        publish_folder(hidden / "data", path)


def _escaped(text: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    for plain, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = F.replace(text, F.lit(plain), F.lit(written))
    return text
