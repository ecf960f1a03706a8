"""What a survey reads, opened: a file is followed, a pipe or a broker read as the stream reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError
from querycloak.live.open_ends import open_source
from querycloak.live.survey.pump import PIECE, GrowingFile
from querycloak.logs.atomic import is_pipe

if TYPE_CHECKING:
    from querycloak.live.address import Place
    from querycloak.live.survey.pump import Bytes
    from querycloak.progress import Progress

__all__ = ["open_followed"]

MAX_WAIT: Final = 0.2
"""Seconds that a batch of a pipe or a broker waits for more."""


def open_followed(place: Place, asked: list[int], progress: Progress) -> Bytes:
    """Open a source; a file may be missing as long as its folder is there."""
    if isinstance(place, Path) and not is_pipe(place):
        if place.is_dir() or not place.parent.is_dir():
            raise InputError.at(place, "is a directory" if place.is_dir() else "its directory does not exist")
        return GrowingFile(place, asked)
    return open_source(place, PIECE, MAX_WAIT, asked, progress)
