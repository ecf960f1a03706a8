"""`as_in_paper` publishes, byte for byte, what the methods published before shared texts became the default."""

from __future__ import annotations

import hashlib

import pytest
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.api import Workbench
from querycloak.knowledge.directory import SiteDirectory

# log, method, seed, k -> digest of the table, taken before the last step changed. A change of the generator, of the
# mapping or of the grouping that is meant to be one needs new ones, from a checkout just before that change.
DIGESTS = {
    ("sample", "semantic", 1, 3): "9acbb54150f531ad",
    ("sample", "semantic", 2, 5): "6e468672486a1641",
    ("sample", "plain", 1, 3): "8bcc5fdcaccb6c23",
    ("sample", "plain", 2, 5): "8330c964c3a72520",
    ("sample", "syntactic", 1, 3): "b8bd9423d920e9aa",
    ("sample", "syntactic", 2, 5): "508813322424c6ce",
    ("sample", "url", 1, 3): "ccf4be9b793b7391",
    ("sample", "url", 2, 5): "aa9183826a629bcd",
    ("sample", "word", 1, 3): "6d75ccc8d22be570",
    ("sample", "word", 2, 5): "41a86797bfa2905b",
    ("generated", "semantic", 1, 3): "7352e4edcd5f2ea3",
    ("generated", "semantic", 2, 5): "89dc0acd5e6df8c9",
    ("generated", "plain", 1, 3): "1d140127d97feb56",
    ("generated", "plain", 2, 5): "612e1f249d0b2046",
    ("generated", "syntactic", 1, 3): "faa62ba63abf0e47",
    ("generated", "syntactic", 2, 5): "58c75d8943dc3b1f",
    ("generated", "url", 1, 3): "d7feaf81d446c11d",
    ("generated", "url", 2, 5): "1efa3a66bda08de5",
    ("generated", "word", 1, 3): "9cfce5e994e026e6",
    ("generated", "word", 2, 5): "d5efa2e47968ee18",
    ("generated", "word, all categories", 1, 3): "803cb69693fda8e4",
    ("generated", "word, all categories", 2, 5): "d8995806cf16629e",
}
SETTINGS = {"word": {"categories": "one"}}
"""What was published before the words of a query had all their categories."""


@pytest.fixture(scope="module")
def benches():
    made = qc.generate(users=40, queries=1500, seed=5)
    taxonomy, listed = qc.load_taxonomy(), made.directory()
    sites = SiteDirectory.of(listed["site"], listed["category"], taxonomy)
    return {
        "sample": Workbench(sample_log(), taxonomy, sample_directory(), mapping="segments"),
        "generated": Workbench(made.log, taxonomy, sites, mapping="segments"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("which", DIGESTS)
def test_the_paper_mode_is_what_it_was(benches, which) -> None:
    log, method, seed, k = which
    name = f"{method.partition(',')[0]}-microaggregation"
    release = benches[log].anonymize(name, seed=seed, k=k, as_in_paper=True, **SETTINGS.get(method, {}))
    users = release.log.users.gather(release.log.user).to_list()
    queries = release.log.queries.gather(release.log.query).to_list()
    table = "\n".join(f"{u}\t{q}" for u, q in zip(users, queries, strict=True))
    assert hashlib.sha256(table.encode()).hexdigest()[:16] == DIGESTS[which]
    assert release.statement.text_users == 1
    assert any("one person alone" in text for text in release.statement.does_not_cover)
