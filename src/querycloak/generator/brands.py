"""Well-known sites of the generated world: names that everybody asks for and that mean nothing else.

The names are invented. In a real log about one query in seven is such a name or its address: people type it into the
search box to get there.
"""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

__all__ = ["BRANDS", "FORMS", "Form"]

_FRONTS: Final = "zo bli qui ya ebo mav glo tri vox kli wu ne pla jum ody fri xa lyc hub sno"
_BACKS: Final = "ogo vu zzle roo quo mio bix tasta ndle kka woot zip pendo lumo ffo dax yara nto bbi xel"

BRANDS: Final = tuple(front + back for front, back in product(_FRONTS.split(), _BACKS.split()))
"""Names of the sites; which of them are the most popular is drawn for each log."""


class Form(NamedTuple):
    """One way to type the name of a site."""

    weight: float
    before: str = ""
    after: str = ""


FORMS: Final = (
    Form(0.38),
    Form(0.16, after=".com"),
    Form(0.21, before="www.", after=".com"),
    Form(0.07, before="http://www.", after=".com"),
    Form(0.06, after=" com"),
    Form(0.07, after=" search"),
    Form(0.05, after=" mail"),
)
"""How people type a site."""
