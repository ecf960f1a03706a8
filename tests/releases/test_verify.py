from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sample_releases import release_of, sealed
from samples import sample_log

import querycloak as qc
from querycloak.errors import InputError
from querycloak.logs.query_log import QueryLog
from querycloak.releases.classes import class_sizes
from querycloak.releases.verify import verify_release, verify_truth


def written(tmp_path, k=4):
    path = tmp_path / "release.tsv"
    qc.write_release(qc.anonymize(sample_log(), "semantic-microaggregation", k=k, seed=1), path)
    return path


def test_a_release_as_written_holds(tmp_path) -> None:
    found = qc.verify(written(tmp_path))
    assert [f.holds for f in found] == [None] + [True] * 6 + [None, True, None, None]
    assert any("groups of 4 to" in f.seen for f in found)
    assert [f.holds for f in qc.verify(written(tmp_path), sample_log())] == [None] + [True] * 10 + [None] * 2


def test_a_row_that_was_changed_is_found_twice(tmp_path) -> None:
    path = written(tmp_path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].partition("\t")[0] + "\tsomething else"
    path.write_text("\n".join(lines) + "\n")
    failed = [f.check for f in qc.verify(path) if f.holds is False]
    assert failed == [
        "the table is the one its statement was written for",
        "every published user shares its log with at least 3 others",
    ]


def test_rows_that_were_left_out_are_found(tmp_path) -> None:
    path = written(tmp_path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    rows = next(f for f in qc.verify(path) if f.check == "the table has the stated number of rows")
    assert not rows.holds


def test_a_missing_statement_is_refused(tmp_path) -> None:
    path = written(tmp_path)
    (tmp_path / "release.tsv.statement.json").unlink()
    with pytest.raises(InputError, match="statement is missing"):
        qc.verify(path)


def test_items_are_compared_with_their_categories() -> None:
    log = QueryLog.of(["a", "b"], ["x", "x"])
    release = release_of(log, [["x"], ["x"]], [0, 1], k=2)
    by_path = replace(release.log, category=np.array([0, 1], np.int32), categories=release.log.users)
    groups = [f for f in verify_release(release) if "shares" in f.check]
    assert [f.holds for f in groups] == [True]
    groups = [f for f in verify_release(replace(release, log=by_path)) if "shares" in f.check]
    assert [f.holds for f in groups] == [False]


def test_rows_out_of_order_are_found() -> None:
    log = QueryLog.of(["b", "a"], ["x", "x"])
    release = release_of(log, [["x"], ["x"]], [0, 1], k=2)
    shuffled = replace(release, log=log)
    assert [f.holds for f in verify_release(shuffled) if "ordered" in f.check] == [False]
    assert [f.holds for f in verify_release(release) if "ordered" in f.check] == [True]


def test_a_release_without_a_model_has_no_groups_to_check(tmp_path) -> None:
    path = tmp_path / "swept.tsv"
    qc.write_release(qc.anonymize(sample_log(), "sweep", seed=1), path)
    assert all(f.holds is not False and "shares" not in f.check for f in qc.verify(path))


def broken(tmp_path, change):
    """Write a release whose table was changed before its statement was written: digests agree, claims do not."""
    release = qc.anonymize(sample_log(), "semantic-microaggregation", k=4, seed=1)
    qc.write_release(sealed(change(release)), tmp_path / "release.tsv")
    return [f.check for f in qc.verify(tmp_path / "release.tsv", sample_log()) if f.holds is False]


def test_a_group_of_k_less_one_is_found(tmp_path) -> None:
    def leave_one_out(release):
        size = class_sizes(release.log)
        smallest = int(np.flatnonzero(size == size.min())[0])
        log = release.log.take(release.log.user != smallest)
        counts = {**release.statement.counts_out, "rows": len(log), "users": len(np.unique(log.user))}
        return replace(release, log=log, statement=replace(release.statement, counts_out=counts))

    assert broken(tmp_path, leave_one_out) == ["every published user shares its log with at least 3 others"]


def test_an_original_id_that_was_left_is_found(tmp_path) -> None:
    def leave_an_id(release):
        users = [*release.log.users.to_list()[:-1], sample_log().users[0]]
        return replace(release, log=replace(release.log, users=pl.Series(users)))

    failed = broken(tmp_path, leave_an_id)
    assert "no id of the log is published" in failed
    assert "published ids have the form of new ones" in failed


def test_a_statement_with_a_wrong_k_is_found(tmp_path) -> None:
    def claim_more(release):
        return replace(release, statement=replace(release.statement, parameters={"k": 9}))

    assert broken(tmp_path, claim_more) == ["every published user shares its log with at least 8 others"]


def test_what_a_file_cannot_show_is_said(tmp_path) -> None:
    qc.write_release(qc.anonymize(sample_log(), "semantic-dp", seed=1), tmp_path / "o.tsv")
    said = [f.seen for f in qc.verify(tmp_path / "o.tsv") if f.holds is None]
    assert "noise cannot be seen in one release" in said


def test_one_person_under_several_ids_hides_among_copies():
    log = QueryLog.of(["ann", "bob"], ["tea", "milk"])
    copies = release_of(log, [["tea"]] * 5, [0] * 5, k=5)
    assert [(f.holds, f.seen) for f in verify_truth(copies)] == [(False, "4 of 5 are of somebody who has another")]
    assert [f.holds for f in verify_truth(release_of(log, [["tea"]] * 2, [0, 1], k=2))] == [True]
    assert verify_truth(replace(copies, truth=None)) == []


@pytest.mark.parametrize("k", [-1.0, 0.0, 1.0, 2.5])
def test_a_k_that_hides_nobody_is_no_promise_that_holds(k):
    found = verify_release(release_of(QueryLog.of(["ann", "bob"], ["tea", "tea"]), [["tea"]] * 2, [0, 1], k=k))
    assert [f.seen for f in found if f.check.startswith("every published user")] == [
        f"stated is k = {k:g}, which hides nobody"
    ]


def test_members_of_a_group_whose_rows_are_in_their_own_order_are_told_apart():
    log = QueryLog.of(["ann", "bob"], ["tea", "milk"])
    for rows, holds in ((["tea", "milk"], True), (["milk", "tea"], False)):
        found = verify_release(release_of(log, [["tea", "milk"], rows], [0, 1], k=2))
        assert [f.holds for f in found if f.check.startswith("every published user")] == [holds]
