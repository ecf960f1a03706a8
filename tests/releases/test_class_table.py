"""Releases of generalized users written and read: by key, and class by class."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import FOOD, TABLE_II, bag, log_of, published, trees_with_bags

import querycloak as qc
from querycloak.errors import GateError, InputError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.methods.generalization.clump import Clump, clump
from querycloak.methods.generalization.partition import Partition, partition
from querycloak.randomness import Randomness
from querycloak.releases.class_table import class_table, members
from querycloak.releases.files import read_release, write_release
from querycloak.releases.release import table_digest
from querycloak.releases.verify import verify

TWINS = Taxonomy.from_parents([-1, 0, 0, 0, 1, 2], [["river"], ["Avon"], ["Avon"], ["Trent"], ["bank"], ["bank"]])
"""Two rivers of one name, each with a bank: 4 of 6 concepts share their path."""


def made(transactions=TABLE_II, taxonomy=FOOD, method=clump, /, **settings):
    log, concepts = log_of(transactions, taxonomy)
    chosen = (Clump if method is clump else Partition)(**{"k": 2, "output_form": "classes"} | settings)
    return method(log, chosen, Randomness(1), concepts=concepts, taxonomy=taxonomy)


def written(release, tmp_path, name="release.tsv"):
    write_release(release, tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize("form", ["users", "classes"])
@pytest.mark.parametrize("method", [clump, partition])
def test_a_file_read_back_names_the_same_concepts(tmp_path, method, form):
    transactions = [[2, 3], [2, 3], [2, 3], [1, 5], [1, 5], [1, 5]]
    release = made(transactions, TWINS, method, k=3, output_form=form)
    back = read_release(written(release, tmp_path))
    found = back.concepts(TWINS, None)
    bags = [[int(c) for c in found.concept[found.user == u]] for u in range(len(back.log.users))]
    assert bags == [transactions[u] for u in release.truth.user.tolist()]
    assert back.statement.figures == release.statement.figures


def test_a_file_without_keys_is_read_by_paths(tmp_path):
    back = read_release(written(made([[2, 3], [2, 3]], TWINS, output_form="users"), tmp_path))
    old = replace(back, log=replace(back.log, extra=None))
    assert back.has_keys
    assert not old.has_keys
    assert back.concepts(TWINS, None).concept.tolist() == [2, 3] * 2
    assert old.concepts(TWINS, None).concept.tolist() == [2, 1] * 2, "the first of those with the path"


@given(trees_with_bags(fewest=2, most=12), st.integers(2, 4))
def test_classes_tell_all_rows(case, k):
    taxonomy, transactions = case
    release = made(transactions, taxonomy, k=min(k, len(transactions)), transactions="bags")
    table = class_table(release.log)
    assert table.extra["size"].min() >= min(k, len(transactions))
    counts = {"users": len(release.log.users), "rows": len(release.log)}
    assert table_digest(members(table, counts)) == table_digest(release.log)
    sizes = Counter(map(tuple, published(release).values()))
    assert sorted(sizes.values()) == sorted(dict(zip(table.user.tolist(), table.extra["size"], strict=True)).values())


@pytest.mark.parametrize("name", ["release.tsv", "release.csv", "release.jsonl", "release.json", "release.parquet"])
def test_classes_can_be_read_by_people_and_by_us(tmp_path, name):
    release = made([*[bag("apple orange")] * 2, bag("apple banana"), *[bag("beef")] * 3], k=3)
    path = written(release, tmp_path, name)
    back = read_release(path)
    assert back.kind == "items"
    assert published(back) == published(release)
    assert back.concepts(FOOD, None).concept.tolist() == release.concepts(FOOD, None).concept.tolist()
    assert all(finding.holds is not False for finding in verify(path))
    if name == "release.tsv":
        assert path.read_text().splitlines() == [
            "class\tsize\tconcept\tcount\tpath\tconcept_id",
            "1\t3\tfruit\t1\tfood/fruit\tfood/fruit",
            "1\t3\tapple\t1\tfood/fruit/apple\tfood/fruit/apple",
            "2\t3\tbeef\t1\tfood/meat/beef\tfood/meat/beef",
        ]


def edited(path, old, new):
    """Change the table, and its digest in the statement's place is left: only the table is edited."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_a_class_that_was_made_smaller_is_noticed(tmp_path):
    path = written(made([*[bag("apple")] * 3, *[bag("beef")] * 3], k=3), tmp_path)
    findings = {f.check: f.holds for f in verify(edited(path, "1\t3\t", "1\t2\t"))}
    assert findings["every published user shares its log with at least 2 others"] is False
    assert findings["the table is the one its statement was written for"] is False


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1\t3\tapple", "1\t99999999999\tapple", "size must hold whole numbers"),
        ("1\t3\t", "1\t4\t", "more users or rows than its statement says"),
        ("1\t3\tapple\t1", "1\t3\tapple\t0", "count must hold whole numbers"),
        ("1\t3\tapple", "1\tx\tapple", "size must hold whole numbers"),
        ("1\t3\t", "x\t3\t", "a class is a number"),
        ("1\t3\tfruit", "1\t2\tfruit", "have one size"),
    ],
)
def test_tables_of_classes_that_make_no_sense_are_refused(tmp_path, old, new, message):
    release = made([bag("apple orange"), bag("apple orange"), bag("apple banana"), *[bag("beef")] * 3], k=3)
    path = edited(written(release, tmp_path), old, new)
    with pytest.raises(InputError, match=message):
        read_release(path, changed=True)


def test_ids_of_the_log_are_avoided():
    log, concepts = log_of([bag("apple")] * 2 + [bag("beef")] * 2)
    log = replace(log, users=pl.Series(["0000000100000002", "b", "c", "d"]))
    release = clump(log, Clump(k=2, output_form="classes"), Randomness(1), concepts=concepts, taxonomy=FOOD)
    assert set(release.log.users).isdisjoint(log.users)
    assert class_table(release.log).users.to_list() == ["3", "4"]


def test_a_release_whose_classes_do_not_tell_it_is_not_written():
    release = made(output_form="users")
    with pytest.raises(GateError, match="do not tell its rows"):
        class_table(release.log)


def test_keys_of_wordnet_are_those_of_its_tools():
    wordnet = qc.load_taxonomy()
    assert len(set(wordnet.keys)) == len(wordnet.keys) == 82_115
    assert wordnet.keys[0] == "entity.n.01"
    assert wordnet.keys[wordnet.concept("dog")] == "dog.n.01"
    assert [wordnet.keys[c] for c in wordnet.find("bank")[:2]] == ["bank.n.01", "depository_financial_institution.n.01"]
    assert all(wordnet.concept_of_key[key] == c for c, key in enumerate(wordnet.keys))
