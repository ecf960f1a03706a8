"""The earth mover's distance on a tree, user by user: the sum over edges of what has to flow.

The memory, all by node, which names the edge to its parent; no array is cleared between users:

    flow      int64, original items below the edge minus published ones, of the user in `last`
    last      int32, the user who touched the edge last: where it is another one, `flow` is not valid
    touched   int32, the edges of the current user, the first n of them: only these are added up
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def tree_flows(user: Int32s, node: Int32s, sign: Int32s, parent: Int32s, users: int) -> Int64s:
    """Return int64[users]: the sum over the edges of the tree of |original items below - published items below|.

    Rows are sorted by user: user int32[n], node int32[n] (0 = root), sign int32[n] (1 = original, -1 = published).
    """
    total = np.zeros(users, np.int64)
    flow = np.zeros(len(parent), np.int64)
    last = np.full(len(parent), -1, np.int32)
    touched = np.empty(len(parent), np.int32)
    i = 0
    while i < len(user):
        u, n = user[i], 0
        while i < len(user) and user[i] == u:
            v = node[i]
            while v > 0:
                if last[v] != u:
                    last[v], flow[v], touched[n] = u, 0, v
                    n += 1
                flow[v] += sign[i]
                v = parent[v]
            i += 1
        for t in range(n):
            total[u] += abs(flow[touched[t]])
    return total
