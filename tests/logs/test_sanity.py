"""Columns that do not look like what they were taken for stop the reading, and numbers alone are told."""

from __future__ import annotations

from random import Random

import pytest
from places import EXCITE

from querycloak.errors import InputError
from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.source import read_log
from querycloak.methods.stream.stream_statement import StreamSettings

WORDS = [
    "tea",
    "cheap",
    "hotel",
    "paris",
    "weather",
    "car",
    "blue",
    "shoes",
    "map",
    "of",
    "rome",
    "cat",
    "food",
    "news",
]
FIRST = ["anna", "bernd", "clara", "dieter", "eva", "franz", "greta", "hans", "ina", "jan"]
LAST = ["schmidt", "maier", "vogel", "braun", "lang"]


def queries(n: int, seed: int = 1) -> list[str]:
    """Queries of one to four words, some of them often."""
    random = Random(seed)
    return [" ".join(random.choices(WORDS, k=min(4, 1 + int(random.expovariate(1))))) for _ in range(n)]


def some_users(n: int, many: int) -> list[str]:
    random = Random(2)
    return [str(100_000 + int(many * random.random() ** 2)) for _ in range(n)]


def people(n: int, separator: str) -> list[str]:
    names = [f"{a}{separator}{b}" for a in FIRST for b in LAST]
    random = Random(3)
    return [random.choice(names) for _ in range(n)]


def write(tmp_path, users, texts, times=None):
    columns = [users, texts] + ([] if times is None else [times])
    head = ["user", "query", "time"][: len(columns)]
    path = tmp_path / "log.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [head, *zip(*columns, strict=True)]))
    return path


N = 600
GOOD = some_users(N, 40), queries(N)
ODD = {
    "nearly one per row": ([f"r{i}" for i in range(N)], GOOD[1]),
    "a value of the user column": (GOOD[0], [*GOOD[1][: N * 9 // 10], *GOOD[0][N * 9 // 10 :]]),
    "JSON, markup, a URL or a command": (GOOD[0], [f'{{"match": "{q}"}}' for q in GOOD[1]]),
    "mail addresses": (
        GOOD[0],
        [
            f"ask {p}@example.com" if i % 8 == 0 else q
            for i, (p, q) in enumerate(zip(people(N, "."), GOOD[1], strict=True))
        ],
    ),
    "as ids and login names do": (GOOD[0], people(N, "_")),
    "the query in 0%: they look swapped": (GOOD[1], [name.partition(".")[0] for name in people(N, ".")]),
    "in one row only": ([f"{q} {i % 4}" for i, q in enumerate(GOOD[1])], people(N, " ")),
    "as their name would be": (GOOD[0], [f"{FIRST[int(u) % 10]} {LAST[int(u) // 10 % 5]}" for u in GOOD[0]]),
}


@pytest.mark.parametrize("said", ODD)
def test_an_odd_column_stops_with_a_sentence_of_numbers(tmp_path, said):
    path = write(tmp_path, *ODD[said])
    with pytest.raises(InputError) as caught:
        read_log(path)
    sentence = str(caught.value)
    assert said in sentence
    assert "go on with --yes" in sentence
    for secret in {*ODD[said][0], *ODD[said][1]}:
        assert secret not in sentence or secret in {"of", "map"}  # our own words
    assert len(read_log(path, yes=True)) == N
    assert len(read_log(path, ReadOptions(assume_yes=True))) == N


def test_ids_of_many_kinds_are_no_queries(tmp_path):
    kinds = ["{i:012x}1", "9{i:06d}", "user{i}", "{i:08x}-0000-4000-8000-{i:012x}", "n.{i}@example.com"]
    for kind in kinds:
        with pytest.raises(InputError, match="the column taken for the query"):
            read_log(write(tmp_path, GOOD[0], [kind.format(i=i % 300) for i in range(N)]))


def test_times_that_are_none(tmp_path):
    times = ["2006-03-01 10:00:00" if i % 3 == 0 else f"{i % 24}h" for i in range(N)]
    with pytest.raises(InputError, match=r"time \(time\) does not parse as a time in 400 of 600 rows"):
        read_log(write(tmp_path, *GOOD, times))
    times = ["" if i % 3 else "2006-03-01 10:00:00" for i in range(N)]  # missing is not wrong
    assert len(read_log(write(tmp_path, *GOOD, times))) == N


def test_an_ordinary_log_passes(tmp_path):
    assert len(read_log(write(tmp_path, *GOOD))) == N
    assert len(read_log(write(tmp_path, people(N, "."), GOOD[1]))) == N
    assert len(read_log(write(tmp_path, people(N, " "), GOOD[1]))) == N  # users with full names


def test_few_rows_are_not_judged(tmp_path):
    for users, texts in ODD.values():
        assert len(read_log(write(tmp_path, users[:49], texts[:49]))) == 49
    assert len(read_log(write(tmp_path, [str(i) for i in range(99)], queries(99)))) == 99  # many people, one query each


@pytest.mark.parametrize("said", [said for said in ODD if said not in {"nearly one per row", "in one row only"}])
@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl"])
def test_a_stream_is_judged_by_its_first_lines_before_any_record_leaves(tmp_path, said, kind):
    import csv
    import json

    table = [[*row, "Top/News"] for row in zip(*ODD[said], strict=True)]
    names = ["user", "query", "category"]
    source, output = tmp_path / "log", tmp_path / "out"
    with source.open("w", newline="") as file:
        if kind == "jsonl":
            file.writelines(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in table)
        elif kind == "csv":
            csv.writer(file, lineterminator="\n").writerows([names, *table])
        else:
            file.writelines("\t".join(row) + "\n" for row in [names, *table])
    run = Run("self-adjusting", StreamSettings(k=2, depth=1, as_in_paper=True), source, output, seed=1)
    with pytest.raises(InputError, match="go on with --yes"):
        run_stream(run)
    assert not output.exists()
    from dataclasses import replace

    run_stream(replace(run, options=ReadOptions(assume_yes=True)))
    assert output.stat().st_size > 0


def test_a_stream_of_many_people_passes(tmp_path):
    (tmp_path / "log").write_text(
        "user\tquery\tcategory\n" + "".join(f"u{i}\t{q}\tTop\n" for i, q in enumerate(queries(600)))
    )
    run = Run(
        "self-adjusting", StreamSettings(k=2, depth=1, as_in_paper=True), tmp_path / "log", tmp_path / "out", seed=1
    )
    assert run_stream(run).stats["records in"] == 600


@pytest.mark.data
@pytest.mark.skipif(not EXCITE.exists(), reason="the real logs are not next to the checkout")
def test_a_real_log_passes_and_not_with_its_columns_swapped(tmp_path):
    assert len(read_log(EXCITE)) == 3968
    with pytest.raises(InputError, match="go on with --yes"):
        read_log(EXCITE, columns={"user": "3", "query": "1", "time": "2"}, header=False)
    rows = [line.split(b"\t") for line in EXCITE.read_bytes().splitlines()]
    name_of = {user: f"{FIRST[i % 10]} {LAST[i // 10 % 5]}{i}".encode() for i, user in enumerate({r[0] for r in rows})}
    (tmp_path / "log.tsv").write_bytes(b"".join(b"%s\t%s\n" % (r[2], name_of[r[0]]) for r in rows if r[2]))
    with pytest.raises(InputError, match="go on with --yes"):
        read_log(tmp_path / "log.tsv", columns={"user": "1", "query": "2"}, header=False)
