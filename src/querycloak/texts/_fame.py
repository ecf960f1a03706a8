"""How many people asked a name, alone or inside a longer query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.arrays.ragged import CountedRows

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.arrays.ragged import Ragged

__all__ = ["people_of_names"]


def people_of_names(names: pl.Series, forms: pl.Series, people_of: Ragged) -> npt.NDArray[np.int64]:
    """int64[names]: how many people hold the words of each name, one after the other, in a query.

    Names are distinct, and in the form in which texts are compared, as `forms` are. `people_of`: row f = the people who
    asked form f.

    >>> import polars as pl
    >>> from querycloak.arrays.ragged import Ragged
    >>> forms = pl.Series(["karen hartwell", "karen hartwell boston", "karen hartwells"])
    >>> people_of_names(pl.Series(["karen hartwell"]), forms, Ragged.of_lists([[0, 1], [1, 2], [3]], np.int32)).tolist()
    [3]
    """
    import polars as pl

    if not len(names):
        return np.zeros(0, dtype=np.int64)
    words = (" " + names + " ").to_list()
    found = (" " + forms + " ").str.extract_many(words, overlapping=True)  # names next to each other share a space
    known = pl.DataFrame({"word": words, "name": np.arange(len(words), dtype=np.int64)})
    held = pl.DataFrame({"form": np.arange(len(forms), dtype=np.int64), "word": found})
    held = held.filter(pl.col("word").list.len() > 0).explode("word").join(known, on="word")
    holders = people_of.take(held["form"].to_numpy())
    name = np.repeat(held["name"].to_numpy(), holders.lengths)
    return CountedRows.of(name, holders.values, len(words)).lengths
