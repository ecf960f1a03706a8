"""Clump and partition on a real log, from file to file: k is proved from what was written."""

from __future__ import annotations

from collections import Counter

import pytest
from places import DATA
from trees import published

import querycloak as qc

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.exists(), reason="the real logs are not next to the checkout"),
]


@pytest.fixture(scope="module")
def log():
    return qc.read_log(DATA / "excite-small.log")


@pytest.mark.needs_jit
@pytest.mark.parametrize("k", [2, 5, 15])
@pytest.mark.parametrize("method", ["clump", "partition"])
def test_k_users_or_more_share_every_published_transaction(log, method, k, tmp_path):
    release = qc.anonymize(log, method, k=k)
    qc.write_release(release, tmp_path / "release.tsv")
    rows = published(qc.read_release(tmp_path / "release.tsv"))
    assert min(Counter(map(tuple, rows.values())).values()) >= k
    gone = release.statement.counts_in["users without a concept"]
    assert len(rows) + gone == release.statement.counts_in["users"]
    assert 0 < gone < len(rows)


@pytest.mark.needs_jit
def test_short_transactions_need_refining_to_beat_partition(log):
    """Users have 2.8 concepts each here: the greedy pass is level with partition, the refined one is better."""
    shares = [
        qc.anonymize(log, method, k=5, **settings).statement.figures["distortion, share of worst case"]
        for method, settings in (("partition", {}), ("clump", {}))
    ]
    assert shares[1] < shares[0]
