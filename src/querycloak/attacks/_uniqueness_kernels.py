"""Users who have a pair of queries that no other user has both of: by marks in sparse logs, by bits in dense ones.

The memory, made by the caller and read only:

    queries_of   Ragged, row u = the distinct queries of user u, the rarest first: a rare query settles most users
    users_of     Ragged, row q = the users who have query q

and of `with_unique_pair`, both int64[queries]; neither is ever cleared, since a number that is not the current one
means "no":

    mine[q]      the last user u whose queries were entered here: mine[q] == u means that u has q
    mark[q]      the last (user, query) turn, counted by `stamp`, in which q was found with another user
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

if TYPE_CHECKING:
    from querycloak.arrays.ragged import Ragged

__all__ = ["with_unique_pair", "with_unique_pair_by_bits"]


@kernel
def with_unique_pair(queries_of: Ragged, users_of: Ragged) -> npt.NDArray[np.bool_]:
    """Return bool[users]: the users with a unique pair.

    A pair (q, r) of u is unique when no other user of q has r. For each q of u, the queries of the other users of q are
    marked, until all of u's are; a query of u that stays unmarked makes a unique pair with q.
    """
    user_start, user_query = queries_of.start, queries_of.values
    query_start, query_user = users_of.start, users_of.values
    n_users, n_queries = len(user_start) - 1, len(query_start) - 1
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
def with_unique_pair_by_bits(queries_of: Ragged, users_of: Ragged) -> npt.NDArray[np.bool_]:
    """Like `with_unique_pair`, with one bit per (query, user): a pair is unique when no other bit is set in both rows.

    Where many users share many queries, most pairs are settled by the first word.
    """
    user_start, user_query = queries_of.start, queries_of.values
    query_start, query_user = users_of.start, users_of.values
    n_users, n_queries = len(user_start) - 1, len(query_start) - 1
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
                    if w == home:  # the word that has the bit of u itself
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
