"""Taking what fits, the slow and obvious way."""

from __future__ import annotations


def take_fitting(user, units, left):
    taken = []
    for i, (u, n) in enumerate(zip(user, units, strict=True)):
        spent = sum(units[j] for j in taken if user[j] == u)
        if n and spent + n <= left[u]:
            taken.append(i)
    return [i in taken for i in range(len(user))]
