"""The papers by name; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from querycloak.errors import UnknownNameError
from querycloak.names import match_name

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.paper import Paper

__all__ = ["PAPERS", "find_paper"]

PAPERS: Final = {
    "batet-2013": "batet_2013",
    "erola-castella": "erola_castella",
    "milani-fard-2010": "milani_fard_2010",
    "pamies-2023": "pamies_2023",
    "sanchez-2018": "sanchez_2018",
}
"""name → file in this folder, which holds the `Paper` as PAPER"""


def find_paper(name: str) -> Paper:
    """Find a paper; an unknown name is refused with the nearest.

    >>> find_paper("milani-fard-2010").users
    53058
    """
    meant = match_name(name, PAPERS)
    if meant is None:
        raise UnknownNameError.of("paper", name, PAPERS)
    return cast("Paper", import_module(f"querycloak.evaluation.reproduce.{PAPERS[meant]}").PAPER)
