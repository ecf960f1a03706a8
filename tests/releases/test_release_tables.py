from __future__ import annotations

import polars as pl
import pytest
from samples import sample_log

import querycloak as qc


def release_of(method: str) -> qc.Release:
    settings = {
        "sweep": {"min_query_users": 1},
        "clump": {"k": 3},
        "clump classes": {"k": 3, "output_form": "classes"},
        "frequent-queries": {"epsilon": 50.0, "delta": 0.1},
        "flat": {"k": 2},
    }[method]
    return qc.anonymize(sample_log(), method.split(maxsplit=1)[0], seed=1, **settings)


@pytest.mark.parametrize("method", ["sweep", "clump", "frequent-queries", "flat"])
def test_a_table_is_what_is_written(method, tmp_path):
    release = release_of(method)
    assert len(release.log)
    qc.write_release(release, tmp_path / "release.parquet")
    written = pl.read_parquet(tmp_path / "release.parquet")
    table = release.to_polars()
    ranks = [c.name for c in release.log.form.columns if c.role == "rank"] if release.log.form else []
    assert table.drop(ranks).equals(written.drop(ranks))
    assert release.to_arrow().column_names == table.columns
    assert list(release.to_pandas().columns) == table.columns
    again = qc.read_release(tmp_path / "release.parquet").to_polars()
    assert again.columns == table.columns
    assert again.rows() == table.rows()


def test_what_is_written_by_class_has_all_members(tmp_path):
    release = release_of("clump classes")
    qc.write_release(release, tmp_path / "release.parquet")
    again = qc.read_release(tmp_path / "release.parquet")
    assert len(release.to_polars()) == len(again.to_polars()) == len(release.log)


def test_counts_have_no_users():
    assert "user" not in release_of("frequent-queries").to_polars().columns


def test_a_release_of_a_table_has_its_columns_and_types():
    log = sample_log()
    table = pl.DataFrame(
        {
            "q": log.queries.gather(log.query),
            "uid": log.user.astype("int64") + 10**6,
        }
    )
    read = qc.read_log(table, columns={"user": "uid", "query": "q"}, yes=True)
    assert read.to_polars().equals(table)
    published = qc.anonymize(read, "sweep", min_query_users=1, seed=1).to_polars()
    assert published.schema == table.schema
    assert set(published["uid"]).isdisjoint(table["uid"])
