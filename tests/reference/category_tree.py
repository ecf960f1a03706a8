"""The tree of categories, read plainly: dictionaries of whole paths."""

from __future__ import annotations


class ReferenceTree:
    def __init__(self, depth: int, *, borrows: bool) -> None:
        self.depth, self.borrows, self.sets = depth, borrows, 0
        self.nodes: dict[tuple[str, ...], int] = {}
        self.branches: dict[tuple[str, ...], int] = {}
        self.chains: list[list[int]] = []

    def node(self, path: tuple[str, ...]) -> int:
        cut = path[: self.depth]
        if cut not in self.nodes:
            self.nodes[cut] = len(self.chains)
            self.chains.append(self.chain(cut))
        return self.nodes[cut]

    def chain(self, cut: tuple[str, ...]) -> list[int]:
        if not self.borrows or not cut:
            return [self.new_set()]
        sets = []
        for level in range(len(cut)):
            branch = cut[: level + 1]
            if branch not in self.branches:
                self.branches[branch] = self.new_set()
            sets.append(self.branches[branch])
        return sets if len(cut) == self.depth else [*sets, self.new_set()]

    def new_set(self) -> int:
        self.sets += 1
        return self.sets - 1
