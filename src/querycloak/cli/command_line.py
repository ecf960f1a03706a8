"""The command line as a statement shows it: what was asked for, without what is nobody's business."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from querycloak.live.address import looks_like_address, without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["shown_command", "shown_words"]

SECRET: Final = frozenset({"--seed"})
"""Options whose value undoes a release: the statement says that there was a seed, never which."""
HIDDEN: Final = "HIDDEN"
_OPTION: Final = re.compile(r"(--[\w-]+=|-[A-Za-z]=?(?!$))(.*)", re.DOTALL)
"""an option together with its value: --output=x, -ox"""


def shown_command(words: Sequence[str]) -> str:
    """Return a command with files by their names alone, without the value of a seed and without credentials.

    >>> shown_command(["/usr/bin/querycloak", "anonymize", "/home/ann/log.tsv", "-o", "out/r.tsv", "--seed", "7"])
    'querycloak anonymize log.tsv -o r.tsv --seed HIDDEN'
    >>> shown_command(["querycloak", "stream", "--output=/srv/x.tsv", "-i/srv/y.tsv", "--separator", "/", "--seed=7"])
    'querycloak stream --output=x.tsv -iy.tsv --separator / --seed=HIDDEN'
    >>> shown_command(["querycloak", "stream", "--from", "nats://ann:secret@host/searches"])
    'querycloak stream --from nats://host/searches'
    """
    text = shlex.join(["querycloak", *shown_words(words[1:])])
    return text.encode("utf-8", "replace").decode()  # a name of a file may be no text


def shown_words(words: Sequence[str]) -> Iterator[str]:
    """Yield words of a command line, without folders, the value of a seed and the credentials of addresses."""
    before = ""
    for word in words:
        option = _OPTION.fullmatch(word)
        name, value = (option[1], option[2]) if option else ("", word)
        if before in SECRET or name.rstrip("=") in SECRET:
            value = HIDDEN
        elif looks_like_address(value):
            value = without_credentials(value)
        elif value.strip("/"):  # a bare separator of category paths is no path
            value = PurePath(value).name or value
        yield name + value
        before = word
