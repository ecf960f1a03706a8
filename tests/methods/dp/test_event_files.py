"""Two files that differ in one user whose rows come in between the clicks of others: no method's counts move.

300 searches of other people with two clicks each. In the second file one more user has a row at the same second in
between each pair of clicks. Where events were joined by the row above, the other people's searches counted twice.
"""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import querycloak as qc
from querycloak.evaluation.audit_pairs import pairs_for
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping.concept_log import ConceptLog
from querycloak.randomness import Randomness
from querycloak.releases.account import ADD_REMOVE

MODULES = {
    name: importlib.import_module(f"querycloak.methods.dp.{name}")
    for name in ("frequent_queries", "histogram_dp", "_korolova", "_set_union", "_set_union_table")
}


def two_files(folder):
    """Write both files, and read them."""
    lines = {"without": [], "with": []}
    for i in range(300):
        time = f"2006-03-01 10:{i // 60:02}:{i % 60:02}"
        a, b = (f"u{i}\tflu\t{time}\t1\thttp://{site}.example" for site in "ab")
        lines["without"] += [a, b]
        lines["with"] += [a, f"other\tflu\t{time}\t1\thttp://a.example", b]
    out = []
    for name, rows in lines.items():
        path = folder / f"{name}.tsv"
        path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "\n".join(rows) + "\n")
        out.append(qc.read_log(path))
    return out


class Spy:
    """Stands in for the noise: adds none, and keeps the vectors and how much one user may change them."""

    def __init__(self):
        self.seen = []

    def __call__(self, values, *_streams, sensitivity, random=None, epsilon=None, rho=None):
        self.seen.append((values.copy(), sensitivity, 1 if epsilon else 2))
        return values


def frequent(log, **more):
    settings = MODULES["frequent_queries"].FrequentQueries(epsilon=1.0, delta=1e-2, per_user=2, **more)
    return MODULES["frequent_queries"].frequent_queries(log, settings, Randomness(1))


def histogram(log):
    tree = Taxonomy.from_parents([-1, 0], [["thing"], ["flu"]])
    rows = np.flatnonzero(log.event)
    concepts = ConceptLog(rows, log.user[rows], log.query[rows], np.ones(len(rows), dtype=np.int32))
    settings = MODULES["histogram_dp"].HistogramDp(epsilon=1.0, per_user_queries=2, domain="all")
    return MODULES["histogram_dp"].histogram_dp(log, settings, Randomness(1), concepts=concepts, taxonomy=tree)


METHODS = {
    "korolova": lambda log: frequent(log, choose="korolova"),
    "gaussian": lambda log: frequent(log, choose="gaussian"),
    "sips": lambda log: frequent(log, choose="sips"),
    "phrases": lambda log: frequent(log, items="phrases"),
    "phrases and clicks": lambda log: frequent(log, items="both", clicks=True),
    "histogram-dp": histogram,
}


def vectors(name, log, monkeypatch):
    """Run a method without noise: what it adds noise to, for which sensitivity, and in which norm."""
    spy = Spy()
    for module in MODULES.values():
        for function in ("add_noise", "add_noise_by_name", "add_gaussian"):
            if hasattr(module, function):
                monkeypatch.setattr(module, function, spy)
    METHODS[name](log)
    return spy.seen


@pytest.mark.parametrize("name", METHODS)
def test_a_user_in_between_moves_nothing_by_more_than_the_noise_is_made_for(name, tmp_path, monkeypatch):
    without, both = two_files(tmp_path)
    assert len(both) == len(without) + 300
    found = [vectors(name, log, monkeypatch) for log in (without, both)]
    assert len(found[0]) == len(found[1]) > 0
    for (less, sensitivity, norm), (more, same, _) in zip(*found, strict=True):
        assert sensitivity == same
        if name == "histogram-dp":  # a histogram for each user: those of the others stay as they were
            assert less.reshape(300, 2).sum(axis=1).tolist() == [1] * 300
            assert sorted(more.reshape(301, 2).sum(axis=1).tolist()) == [1] * 300 + [2]
            continue
        assert len(less) == len(more)
        apart = np.abs(more - less).astype(float)
        assert (apart.sum() if norm == 1 else math.sqrt((apart**2).sum())) <= sensitivity


@pytest.mark.parametrize("name", [name for name in METHODS if name != "histogram-dp"])
@pytest.mark.parametrize("pair", ["clicks in between", "heavy user", "repeats", "first in the file"])
def test_no_pair_of_the_audit_moves_anything_by_more(name, pair, monkeypatch):
    """The same for the audit's own logs, of which one has one user more; what only that user has is new."""
    (sides,) = [one.sides(40) for one in pairs_for(ADD_REMOVE) if one.name == pair]
    more, less = (vectors(name, log, monkeypatch) for log in sides)
    assert len(more) == len(less) > 0
    for (one, sensitivity, norm), (other, same, _) in zip(more, less, strict=True):
        assert sensitivity == same
        assert len(one) >= len(other)
        large, small = (
            np.sort(one)[::-1],
            np.sort(other)[::-1],
        )  # what is new comes last; sorted, vectors are never further apart
        apart = np.abs(large - np.pad(small, (0, len(large) - len(small)))).astype(float)
        assert (apart.sum() if norm == 1 else math.sqrt((apart**2).sum())) <= sensitivity


@pytest.mark.parametrize("choose", ["korolova", "gaussian", "sips"])
def test_the_published_count_moves_by_noise_alone(choose, tmp_path):
    """300 and at most 302, each with noise of a deviation below 15: the fault published 292 and 597."""
    for log in two_files(tmp_path):
        table = frequent(log, choose=choose).log
        assert table.queries.to_list() == ["flu"]
        assert 200 < table.extra["count"][0] < 400
