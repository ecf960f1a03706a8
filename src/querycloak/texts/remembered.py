"""What was found in the texts of large columns, remembered: the same texts come again with each release of a log.

A log is anonymized several times, on parts of it, and what is published is searched again for exposure and by attacks.
Nearly all of these texts are texts of the log. Small columns, such as those of a stream, are searched as they are:
looking them up among millions would take longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    import polars as pl

__all__ = ["Remembered"]

FEWEST: Final = 20_000
"""Texts of the smallest column that is remembered and looked up."""
MOST: Final = 8_000_000
"""Texts remembered at most; then all are forgotten but those of the last column."""


class Remembered:
    """Searches texts once. What is found in a text must depend on the text alone."""

    def __init__(
        self, find: Callable[[pl.Series], npt.NDArray[Any]], *, fewest: int = FEWEST, most: int = MOST
    ) -> None:
        self._find, self._fewest, self._most = find, fewest, most
        self._known: pl.DataFrame | None = None
        """columns text, each once, and found"""

    def of(self, texts: pl.Series) -> npt.NDArray[Any]:
        """Return what is found in each text, in their order."""
        import polars as pl

        if len(texts) < self._fewest:
            return self._find(texts)
        wanted = pl.DataFrame({"text": texts})
        new = wanted.unique(maintain_order=True)
        if self._known is not None:
            new = new.join(self._known, on="text", how="anti", maintain_order="left")
        found = new.with_columns(found=pl.Series(self._find(new["text"])))
        known = found if self._known is None else pl.concat([self._known, found])
        self._known = known if len(known) <= self._most else found
        return np.array(wanted.join(known, on="text", how="left", maintain_order="left")["found"].to_numpy())
