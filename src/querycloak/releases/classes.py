"""Equal logs: how many published users share each published log, from the release alone.

>>> from querycloak.logs.query_log import QueryLog
>>> group_sizes(QueryLog.of(["a", "a", "b", "b", "c"], ["x", "y", "y", "x", "x"])).tolist()
[2, 2, 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog

__all__ = ["group_sizes"]


def group_sizes(published: QueryLog) -> npt.NDArray[np.int64]:
    """int64[published users]: how many users have the same bag of rows (query and category), the user included."""
    category = published.category if published.category is not None else np.zeros(len(published), dtype=np.int32)
    order = np.lexsort((category, published.query, published.user))
    rows = np.stack([published.query[order], category[order]], axis=1).astype(np.int32)
    start = np.searchsorted(published.user[order], np.arange(len(published.users) + 1))
    keys = [rows[start[u] : start[u + 1]].tobytes() for u in range(len(published.users))]
    count: dict[bytes, int] = {}
    for key in keys:
        count[key] = count.get(key, 0) + 1
    return np.array([count[key] for key in keys], dtype=np.int64)
