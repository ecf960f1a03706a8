"""Users who hold a pair of queries that no other user holds both of: by marks in sparse logs, by bits in dense ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

__all__ = ["with_unique_pair", "with_unique_pair_by_bits"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


@kernel
def with_unique_pair(
    user_start: Int64s, user_query: Int32s, query_start: Int64s, query_user: Int32s
) -> npt.NDArray[np.bool_]:
    """bool[users]. user_*: the distinct queries of each user, the rarest first; query_*: the users of each query.

    A pair (q, r) of u is unique when no other user of q has r. For each q of u, the queries of the other users of q are
    marked, until all of u's are; a query of u that stays unmarked makes a unique pair with q.
    """
    n_users = len(user_start) - 1
    n_queries = len(query_start) - 1
    out = np.zeros(n_users, dtype=np.bool_)
    mine = np.full(n_queries, -1, dtype=np.int64)
    mark = np.full(n_queries, -1, dtype=np.int64)
    stamp = 0
    for u in range(n_users):
        begin, end = user_start[u], user_start[u + 1]
        size = end - begin
        if size < 2:
            continue
        for i in range(begin, end):
            mine[user_query[i]] = u
        for i in range(begin, end):
            q = user_query[i]
            mark[q] = stamp
            marked = 1
            for p in range(query_start[q], query_start[q + 1]):
                v = query_user[p]
                if v == u:
                    continue
                for j in range(user_start[v], user_start[v + 1]):
                    r = user_query[j]
                    if mine[r] == u and mark[r] != stamp:
                        mark[r] = stamp
                        marked += 1
                if marked == size:
                    break
            stamp += 1
            if marked < size:
                out[u] = True
                break
    return out


@kernel
def with_unique_pair_by_bits(
    user_start: Int64s, user_query: Int32s, query_start: Int64s, query_user: Int32s
) -> npt.NDArray[np.bool_]:
    """Like `with_unique_pair`, with one bit per (query, user): a pair is unique when no other bit is set in both rows.

    Where many users share many queries, most pairs are settled by the first word.
    """
    n_users = len(user_start) - 1
    n_queries = len(query_start) - 1
    words = (n_users + 63) // 64
    bits = np.zeros((n_queries, words), dtype=np.uint64)
    for q in range(n_queries):
        for p in range(query_start[q], query_start[q + 1]):
            v = query_user[p]
            bits[q, v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    out = np.zeros(n_users, dtype=np.bool_)
    for u in range(n_users):
        begin, end = user_start[u], user_start[u + 1]
        home = u >> 6
        others = ~(np.uint64(1) << np.uint64(u & 63))
        for i in range(begin, end):
            for j in range(i + 1, end):
                shared = False
                for w in range(words):
                    both = bits[user_query[i], w] & bits[user_query[j], w]
                    if w == home:
                        both &= others
                    if both != 0:
                        shared = True
                        break
                if not shared:
                    out[u] = True
                    break
            if out[u]:
                break
    return out
