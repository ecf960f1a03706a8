"""Users who hold a pair of queries that no other user holds both of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.jit import kernel

__all__ = ["with_unique_pair"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


@kernel
def with_unique_pair(
    user_start: Int64s, user_query: Int32s, query_start: Int64s, query_user: Int32s
) -> npt.NDArray[np.bool_]:
    """bool[users]. user_*: the distinct queries of each user, the rarest first; query_*: the users of each query.

    A pair (q, r) of u is unique when no other user of q has r. For each q of u, the queries of the other users of q are
    marked; a query of u that stays unmarked makes a unique pair with q.
    """
    n_users = len(user_start) - 1
    n_queries = len(query_start) - 1
    out = np.zeros(n_users, dtype=np.bool_)
    mark = np.full(n_queries, -1, dtype=np.int64)
    stamp = 0
    for u in range(n_users):
        begin, end = user_start[u], user_start[u + 1]
        if end - begin < 2:
            continue
        for i in range(begin, end):
            q = user_query[i]
            for p in range(query_start[q], query_start[q + 1]):
                v = query_user[p]
                if v == u:
                    continue
                for j in range(user_start[v], user_start[v + 1]):
                    mark[user_query[j]] = stamp
            for j in range(begin, end):
                if j != i and mark[user_query[j]] != stamp:
                    out[u] = True
                    break
            stamp += 1
            if out[u]:
                break
    return out
