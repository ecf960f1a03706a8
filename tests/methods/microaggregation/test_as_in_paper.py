"""`as_in_paper` publishes, byte for byte, what the methods published before shared texts became the default."""

from __future__ import annotations

import hashlib

import pytest
from samples import sample_directory, sample_log

import querycloak as qc
from querycloak.api import Workbench
from querycloak.knowledge.directory import SiteDirectory

# log, method, seed, k -> digest of what each person is published with, taken before the last step changed. A change of
# the generator, of the mapping or of the grouping that is meant to be one needs new ones, from a checkout just before
# that change.
DIGESTS = {
    ("sample", "semantic", 1, 3): "e2aab4802bf60dc3",
    ("sample", "semantic", 2, 5): "71899ad6b3a9460c",
    ("sample", "plain", 1, 3): "7b7994b1e3dddc50",
    ("sample", "plain", 2, 5): "db47a9b8af9e7b23",
    ("sample", "syntactic", 1, 3): "c4a0a21b97830af5",
    ("sample", "syntactic", 2, 5): "b64564050a91871a",
    ("sample", "url", 1, 3): "61fd6fe4124e3c00",
    ("sample", "url", 2, 5): "c97ec34a77c7b9ec",
    ("sample", "word", 1, 3): "c51e0ab93ad8d3bd",
    ("sample", "word", 2, 5): "a209f13cf28ce603",
    ("generated", "semantic", 1, 3): "3c82d336743e7d30",
    ("generated", "semantic", 2, 5): "e5d87a81a0b75b2c",
    ("generated", "plain", 1, 3): "6080986b2a786862",
    ("generated", "plain", 2, 5): "6bcb9be0348a48e5",
    ("generated", "syntactic", 1, 3): "184493ebd1a4ba7c",
    ("generated", "syntactic", 2, 5): "469d65f09c3887d0",
    ("generated", "url", 1, 3): "8292145c861d53e3",
    ("generated", "url", 2, 5): "ecdebe78a54d7db4",
    ("generated", "word", 1, 3): "0956a7354a67261a",
    ("generated", "word", 2, 5): "8048f1ec88a29906",
    ("generated", "word, all categories", 1, 3): "807aae2a3b7f9cfb",
    ("generated", "word, all categories", 2, 5): "9b37448f8b15cb9b",
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
    users = benches[log].log.users.gather(release.truth.user).gather(release.log.user).to_list()
    queries = release.log.queries.gather(release.log.query).to_list()
    asked = sorted(zip(users, queries, strict=True), key=lambda row: row[0])  # whatever the ids are
    table = "\n".join(f"{u}\t{q}" for u, q in asked)
    assert hashlib.sha256(table.encode()).hexdigest()[:16] == DIGESTS[which]
    assert release.statement.text_users == 1
    assert any("one person alone" in text for text in release.statement.does_not_cover)
