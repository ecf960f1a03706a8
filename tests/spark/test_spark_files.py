"""`querycloak spark anonymize`: files in, a folder release and its statement out; bad input in one sentence."""

import gzip
import json
import random

import pytest
from cli_of_tests import querycloak

import querycloak as qc

pytestmark = pytest.mark.slow

PLAIN = ["--min-query-users", 3, "--identifiers", "keep", "--rare", "drop"]
KEPT = [*PLAIN, "--keep", "time,clicks", "--time-grain", "day"]
AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def rows(seed, n=400, users=12):
    draw = random.Random(seed)
    texts = ['green "tea"', "tea, green", "=1+1", "Größe 5", "jaguar; -car", "one's own"]
    return [
        (
            f"{draw.randrange(users)}",
            draw.choice(texts),
            f"2006-03-{draw.randrange(1, 29):02} 07:17:{draw.randrange(60):02}",
            str(draw.randrange(1, 9)),
            draw.choice(["http://a.example", "http://b.example/x,y"]),
        )
        for _ in range(n)
    ]


def run(*words, settings=PLAIN):
    return querycloak("spark", "anonymize", *words, "--method", "sweep", *settings, "--seed", 5)


def aol(path, seed=1, header=True, **given):
    path.write_text((AOL if header else "") + "".join("\t".join(row) + "\n" for row in rows(seed, **given)))
    return path


def table(log):
    """Return the rows of a log as texts, in order of all columns."""
    columns = [log.users.gather(log.user), log.queries.gather(log.query), log.time, log.rank]
    urls = [None if code < 0 else log.urls[int(code)] for code in log.url]
    rows = zip(
        *(column.to_list() if hasattr(column, "to_list") else column.tolist() for column in columns), strict=True
    )
    return sorted(f"{row} {url}" for row, url in zip(rows, urls, strict=True))


@pytest.fixture(scope="module")
def released(tmp_path_factory, spark):
    """Two files as one log, written as CSV, with the truth."""
    folder = tmp_path_factory.mktemp("released")
    aol(folder / "a.tsv", 1)
    gz = aol(folder / "b.tsv", 2)
    gz.with_suffix(".tsv.gz").write_bytes(gzip.compress(gz.read_bytes()))
    gz.unlink()
    done = run(folder / "*.tsv*", "-o", folder / "release.csv", "--truth", folder / "truth", settings=KEPT)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_folder_holds_parts_and_nothing_else(released):
    folder, done = released
    assert f"{folder}/a.tsv and 1 more files: aol; user = AnonID" in done.stderr
    assert "800 rows, 12 users" in done.stderr
    names = sorted(path.name for path in (folder / "release.csv").iterdir())
    assert names[0] == "_SUCCESS"
    assert names[1:] == [f"part-{i:05}.csv" for i in range(len(names) - 1)]
    assert sorted(path.name for path in folder.iterdir()) == [
        "a.tsv", "b.tsv.gz", "release.csv", "release.csv.statement.json", "truth"
    ]  # fmt: skip
    assert "--seed HIDDEN" in json.loads((folder / "release.csv.statement.json").read_text())["statement"]["command"]


def test_a_folder_is_a_release_on_one_machine(released):
    folder, _ = released
    whole = folder / "whole.tsv"
    whole.write_text(
        (folder / "a.tsv").read_text() + gzip.decompress((folder / "b.tsv.gz").read_bytes()).decode()[len(AOL) :]
    )
    log = qc.read_log(whole)
    release = qc.read_release(folder / "release.csv", log=log, truth=folder / "truth")
    assert len(release.log) == 800
    assert len(set(release.truth.user.tolist())) == 12
    whole.unlink()
    found = qc.verify(folder / "release.csv", log)
    assert [finding.check for finding in found if finding.holds is False] == []
    assert {finding.check for finding in found} >= {
        "the table is the one its statement was written for",
        "rows are ordered by published id",
    }
    settings = {"min_query_users": 3, "identifiers": "keep", "rare": "drop", "keep": "time,clicks", "seed": 5}
    one = qc.anonymize(log, "sweep", **settings)
    assert table(release.log) == table(one.log)


def test_the_rows_of_an_id_are_in_one_part(released):
    folder, _ = released
    seen = {}
    for part in sorted((folder / "release.csv").glob("part-*")):
        ids = [line.split(",")[0] for line in part.read_text().splitlines()[1:]]
        assert ids == sorted(ids)
        for user in ids:
            assert seen.setdefault(user, part) == part
    assert len(seen) == 12


def test_the_truth_is_for_its_owner_alone(released):
    folder, _ = released
    assert (folder / "truth").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (folder / "truth").iterdir()} == {0o600}


def test_a_part_that_was_changed_added_or_removed_is_noticed(released, tmp_path):
    import shutil

    folder, _ = released

    def copy(name):
        shutil.copytree(folder / "release.csv", tmp_path / name / "release.csv")
        shutil.copy(folder / "release.csv.statement.json", tmp_path / name)
        return tmp_path / name / "release.csv"

    changed, more, unfinished = copy("changed"), copy("more"), copy("unfinished")
    part = changed / "part-00000.csv"
    part.write_bytes(part.read_bytes().replace(b"Gr", b"gr", 1))
    (more / "part-99999.csv").write_bytes((more / "part-00000.csv").read_bytes())
    (unfinished / "_SUCCESS").unlink()
    for path in (changed, more):
        with pytest.raises(qc.errors.InputError, match="does not belong to this file, or the file was edited"):
            qc.read_release(path)
        assert querycloak("verify", path).returncode == 1
    with pytest.raises(qc.errors.InputError, match="not written to its end"):
        qc.read_release(unfinished)


def test_a_folder_that_is_there_is_refused_and_a_release_is_replaced_when_told(released, tmp_path):
    folder, _ = released
    log = aol(tmp_path / "log.tsv")
    done = run(log, "-o", folder / "release.csv")
    assert done.returncode == 2
    assert "is there already" in done.stderr
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    done = run(log, "-o", other, "--overwrite")
    assert done.returncode == 2
    assert (other / "thesis.tex").exists()
    parquet = tmp_path / "r.parquet"
    for _ in range(2):
        done = run(log, "-o", parquet, "--overwrite", "--json")
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 400
    release = qc.read_release(parquet)
    assert release.log.form.time_format == "datetime"
    assert [finding.check for finding in qc.verify(parquet) if finding.holds is False] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "log.tsv", "other", "r.parquet", "r.parquet.statement.json"
    ]  # fmt: skip


def test_bad_input_is_one_sentence_before_any_work(tmp_path, spark):
    good = aol(tmp_path / "a.tsv")
    out = tmp_path / "out"

    def refused(*words):
        done = run(*words, "-o", out)
        assert done.returncode == 2, done.stderr
        (line,) = done.stderr.strip().splitlines()[-1:]
        assert "Traceback" not in done.stderr
        assert "tea" not in done.stderr
        assert not out.exists()
        return line

    assert "there is no such file" in refused(tmp_path / "nothing-*.tsv")
    assert "does not begin as" in refused(good, _with(tmp_path / "b.csv", "user,query\nann,tea\n"), "--format", "tsv")
    assert "another format by its name" in refused(good, tmp_path / "b.csv")
    other = _with(tmp_path / "c.tsv", AOL.replace("ItemRank", "Rank") + "1\ttea\t2006-03-01 07:17:12\t\t\n")
    assert f"{other}: has another form than {good}" in refused(good, other)
    assert "does not say by common names" in refused(_with(tmp_path / "d.tsv", "ann\ttea\nbob\ttea\n"))
    assert "There is no format" in refused(good, "--format", "exel")
    assert "column" in refused(good, "--columns", "user=who,query=Query")
    assert "1 lines with a wrong number of fields" in refused(_with(tmp_path / "e.tsv", AOL + "1\ttea\n"))
    torn = _with(tmp_path / "f.csv", 'user,query\nann,"tea\ncem,secret tea\nbob,x"\n')
    assert "2 lines have a quote that is not closed" in refused(torn, "--on-error", "skip")
    assert "the file is empty" in refused(_with(tmp_path / "g.tsv", ""))
    assert "one JSON array" in refused(_with(tmp_path / "h.json", '[{"user": "a", "query": "b"}]'))
    assert "cannot be opened or unpacked" in refused(_bytes(tmp_path / "i.tsv.gz", b"\x1f\x8bno gzip"))
    frame = spark.sql("select 'ann' as user, 'tea' as query")
    frame.write.parquet(str(tmp_path / "p" / "1"))
    spark.sql("select 7 as user, 'tea' as query").write.parquet(str(tmp_path / "p" / "2"))
    line = refused(tmp_path / "p")
    assert "has another schema than" in line
    assert "1 columns of another type" in line


def test_a_damaged_parquet_part_is_left_out_only_when_told(tmp_path, spark):
    spark.createDataFrame([(f"u{i % 5}", "tea") for i in range(60)], "user string, query string").repartition(
        2
    ).write.parquet(str(tmp_path / "log"))
    part = sorted((tmp_path / "log").glob("part-*"))[1]
    part.write_bytes(part.read_bytes()[:-9])
    done = run(tmp_path / "log", "-o", tmp_path / "out", "--yes")
    assert done.returncode == 2
    assert f"{part}: is damaged or no Parquet file" in done.stderr
    done = run(tmp_path / "log", "-o", tmp_path / "out", "--yes", "--on-error", "skip", "--json")
    assert done.returncode == 0, done.stderr
    assert f"{part}: cannot be read, left out with all its rows" in done.stderr
    assert json.loads(done.stdout)["statement"]["dropped"]["files that cannot be read (files, not rows)"] == 1


def _with(path, text):
    path.write_text(text)
    return path


def _bytes(path, data):
    path.write_bytes(data)
    return path


def test_sites_are_looked_up_in_a_directory(tmp_path, spark):
    log = aol(tmp_path / "a.tsv")
    directory = _with(tmp_path / "sites.tsv", "a.example\tShopping/Food/Tea\nb.example\tScience/Biology/Cats\n")
    words = ["spark", "anonymize", log, "-o", tmp_path / "out", "--method", "url-microaggregation", "--k", 3, "--yes"]
    assert "--directory" in querycloak(*words).stderr
    done = querycloak(*words, "--directory", directory, "--seed", 1, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statement"]["parameters"]["k"] == 3
    assert "there is no such file" in querycloak(*words, "--directory", tmp_path / "none.tsv").stderr
