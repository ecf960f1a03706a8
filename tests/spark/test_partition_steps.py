"""How Spark splits a part is how the kernel does: who fills up what is merged back. No session is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from querycloak.spark.partition_steps import _balanced, _new_part


def node(back, kept, gain, spare):
    return SimpleNamespace(node=7, back=back, kept=kept, gain=gain, spare=spare)


def group(name, n, worth, least=0):
    return SimpleNamespace(children=name, n=n, worth=worth, least=least)


def test_nobody_is_merged_back_and_nobody_moves() -> None:
    gain, split = _balanced(node(0, 2, 90, 4), [], 5)
    assert (gain, split) == (90, (7, {}, None))


def test_those_with_least_to_gain_fill_up_to_k() -> None:
    donors = [group(b"a", 7, 1), group(b"b", 9, 4)]  # the first can spare two
    gain, split = _balanced(node(1, 2, 43, 6), donors, 5)
    assert split.moved == {b"a": 2, b"b": 2}
    assert gain == 43 - 2 * 1 - 2 * 4
    assert 1 + sum(split.moved.values()) == 5


def test_where_too_few_can_be_spared_a_group_joins_as_a_whole() -> None:
    donors = [group(b"a", 6, 9), group(b"b", 5, 2, least=1)]
    gain, split = _balanced(node(3, 2, 64, 1), donors, 5)
    assert (split.whole, split.moved, gain) == (b"b", {}, 54)
    assert _balanced(node(3, 1, 10, 1), [group(b"b", 5, 2, least=1)], 5) is None  # none would be left


def test_names_and_nodes_of_new_parts() -> None:
    _, split = _balanced(node(0, 1, 9, 0), [], 2)
    children = (7).to_bytes(4, "big") + (9).to_bytes(4, "big")
    name, nodes = _new_part(("0", children), [3, -5, 7], split)
    assert nodes == [3, -5, -8, 9]  # the node itself is published, and closed
    back, closed = _new_part(("0", None), [3, -5, 7], split)
    assert closed == [3, -5, -8]
    assert len({name, back, "0"}) == 3
    assert _new_part(("0", None), [3, -5], None) == ("0", [-4, -5])
