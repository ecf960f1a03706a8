import numpy as np
import polars as pl
import pytest
from sample_worlds import FOOD, make

from querycloak.errors import OutputError
from querycloak.generator.write import write_generated
from querycloak.knowledge.table import read_directory
from querycloak.logs.source import read_log


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz", "log.tsv.zst"])
def test_what_is_written_reads_back(tmp_path, name):
    made = make(FOOD, users=10, queries=300)
    written = write_generated(made, tmp_path / name, truth=True)
    assert [p.name for p in written] == [name, "log.directory.tsv", "log.truth.tsv"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in written)
    log = read_log(tmp_path / name)
    assert log.form.format == "aol"
    assert [c.name for c in log.form.columns] == ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
    for column in ("user", "query", "time", "rank", "url"):
        assert np.array_equal(getattr(log, column), getattr(made.log, column))
    assert log.queries.to_list() == made.log.queries.to_list()
    assert log.users.cast(pl.String).to_list() == made.log.users.to_list()


def test_same_seed_same_bytes(tmp_path):
    for name in ("a.tsv", "b.tsv"):
        write_generated(make(FOOD, users=10, queries=300), tmp_path / name, truth=True)
    for kind in (".tsv", ".directory.tsv", ".truth.tsv"):
        assert (tmp_path / f"a{kind}").read_bytes() == (tmp_path / f"b{kind}").read_bytes()


def test_the_directory_is_read_back_against_the_taxonomy(tmp_path):
    made = make(FOOD, users=10, queries=300)
    write_generated(made, tmp_path / "log.tsv")
    directory = read_directory(tmp_path / "log.directory.tsv", FOOD)
    assert len(directory) == len(made.sites.host)
    assert not (tmp_path / "log.truth.tsv").exists()


def test_truth_points_at_the_rows(tmp_path):
    made = make(FOOD, users=10, queries=300)
    write_generated(made, tmp_path / "log.tsv", truth=True)
    lines = (tmp_path / "log.tsv").read_text().splitlines()[1:]
    truth = pl.read_csv(tmp_path / "log.truth.tsv", separator="\t", quote_char=None, infer_schema=False)
    assert truth["row"].n_unique() == 300
    for row, user, query in truth.select("row", "user", "query").iter_rows():
        assert lines[int(row) - 1].split("\t")[:2] == [user, query]


def test_categories_make_a_table_with_one_more_column(tmp_path):
    made = make(FOOD, users=5, queries=100, categories=True, clicks=False)
    write_generated(made, tmp_path / "log.tsv")
    log = read_log(tmp_path / "log.tsv")
    assert log.categories is not None
    assert set(log.categories.to_list()) == set(made.log.categories.to_list())


def test_nothing_is_written_where_the_folder_is_missing(tmp_path):
    with pytest.raises(OutputError):
        write_generated(make(FOOD, users=2, queries=5), tmp_path / "none" / "log.tsv")
