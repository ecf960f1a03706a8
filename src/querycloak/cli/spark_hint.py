"""The command of Spark for a log that is too large for one machine, to copy and paste."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["spark_command"]

ONE_MACHINE: Final = frozenset({"--resolver", "--statement", "--max-memory", "--config"})
"""options with a value that are for one machine alone"""
FLAGS: Final = frozenset({"--learn-from-clicks", "--no-config"})


def spark_command(words: Sequence[str]) -> str:
    """Return the command line of `spark anonymize` for one of `anonymize`; its first word is the program.

    >>> spark_command(["/bin/querycloak", "anonymize", "my log.tsv", "-o", "r.csv", "--max-memory=4G", "-m", "sweep"])
    "querycloak spark anonymize 'my log.tsv' -o r.csv -m sweep --master 'local[*]'"
    """
    kept: list[str] = []
    skip = False
    for word in words[2:]:
        name = word.split("=", 1)[0]
        if skip:
            skip = False
        elif name in ONE_MACHINE:
            skip = name == word
        elif word not in FLAGS:
            kept.append(word)
    return shlex.join(["querycloak", "spark", "anonymize", *kept, "--master", "local[*]"])
