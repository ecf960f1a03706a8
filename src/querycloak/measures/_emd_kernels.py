"""The earth mover's distance on a tree, user by user: the sum over edges of what has to flow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


@kernel
def tree_flows(user: Int32s, node: Int32s, sign: Int32s, parent: Int32s, users: int) -> Int64s:
    """int64[users]: sum over the edges of the tree of |what goes in below minus what goes out below|.

    Rows are sorted by user: user int32[n], node int32[n] (0 = root), sign int32[n] (1 = original, -1 = published).
    """
    total = np.zeros(users, np.int64)
    flow = np.zeros(len(parent), np.int64)
    last = np.full(len(parent), -1, np.int32)  # the user who touched an edge last
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
