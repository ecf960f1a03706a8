"""What the commands of Spark check before Spark is loaded: that it can be, and that the arguments make sense."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_apart", "check_installed", "check_method_on_spark", "parse_conf"]

INSTALL: Final = "pip install 'querycloak[spark]'"


def check_installed(master: str | None) -> None:
    """Refuse where pyspark, what it needs of Python, or Java is missing; nothing is started."""
    for name in ("pyspark", "pandas", "pyarrow"):
        if importlib.util.find_spec(name) is None:
            raise UserError(f"Spark needs {name}, which is not installed: {INSTALL}.")
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else None
    if (java is None or not java.exists()) and shutil.which("java") is None:
        where = f"JAVA_HOME is {home}, where there is no bin/java" if home else "there is no `java`, and no JAVA_HOME"
        raise UserError(f"Spark needs Java 17 or later, and {where}: install it, or set JAVA_HOME.")
    if master is not None and not master.startswith(("local", "spark://", "yarn", "k8s://")):
        raise UserError(f"--master must be local[N], spark://HOST:PORT, yarn or k8s://ADDRESS, got {master!r}.")


def check_method_on_spark(name: str) -> None:
    """Refuse a method that is for one machine alone, by its name in the catalog."""
    from querycloak.spark.methods import METHODS

    if name not in METHODS:
        raise UserError(
            f"{name} does not run on Spark. These do: {', '.join(sorted(METHODS))}. For {name}, take one machine with "
            "enough memory (`querycloak anonymize`), or a part of the users."
        )


def check_apart(output: str, truth: Path) -> None:
    """Refuse a truth in the folder of the release, or the other way round: whoever gets one would get both."""
    release, ours = Path(output).absolute(), truth.absolute()
    if release == ours or release in ours.parents or ours in release.parents:
        raise UserError(f"{truth}: the truth is to be kept, and {output} to be shared; choose two folders apart.")


def parse_conf(given: Sequence[str]) -> dict[str, str]:
    """Read `name=value` pairs of --spark-conf.

    >>> parse_conf(["spark.executor.memory=8g"])
    {'spark.executor.memory': '8g'}
    """
    found = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.startswith("spark."):
            raise UserError(f"--spark-conf takes spark.name=value, such as spark.executor.memory=8g; {pair!r} is none.")
        found[name] = value
    return found
