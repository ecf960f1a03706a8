"""A survey finds what the batch commands find, however the streams come."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import asdict
from random import Random

import numpy as np
import pytest
from cli.command import querycloak, refused

from querycloak import api
from querycloak.errors import InputError
from querycloak.live.survey.flows import Flows
from querycloak.live.survey.pump import GrowingFile, Pump
from querycloak.live.survey.rows import Names
from querycloak.live.survey.survey_board import SurveyBoard
from querycloak.live.survey.surveyor import Surveyor
from querycloak.live.survey.truth_lines import TruthLines
from querycloak.live.survey.window import ATTACKERS, Known
from querycloak.logs.read_options import ReadOptions
from querycloak.measures.category_emd import user_distances

QUERY, USER = "zebrafish", "quokka"
CATEGORIES = ["Sports/Rowing/Boats", "Sports/Tennis", "Arts/Music/Jazz", "Arts", "News/World", ""]
K, DEPTH = 3, 2


def lines(n=2500, users=40, seed=5):
    """Texts that are asked often, by people who ask at different rates."""
    random = Random(seed)
    for i in range(n):
        user = int(random.random() ** 2 * users)
        text = f"{QUERY} {user % 7} {random.randrange(6)}"
        yield (
            f"{USER}{user}",
            text,
            f"2006-03-01 {i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}",
            random.choice(CATEGORIES),
        )


def as_table(rows):
    head = ("user", "query", "time", "category")
    return "".join("\t".join(row) + "\n" for row in [head, *rows])


def stream(folder, *words):
    (folder / "log.tsv").write_text(as_table(lines()))
    done = querycloak(
        "stream", "-i", folder / "log.tsv", "-o", folder / "out.tsv", "--truth", folder / "truth.tsv",
        "--k", K, "--depth", DEPTH, "--yes", *words,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return stream(tmp_path_factory.mktemp("made"), "--as-in-paper")


def words(folder, *more):
    files = ("--from", folder / "out.tsv", "--original", folder / "log.tsv", "--truth", folder / "truth.tsv")
    return ("survey", *files, "--k", K, "--depth", DEPTH, "--idle", 0, *more)


def surveyed(folder, *more):
    done = querycloak(*words(folder, *more), "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def batch_figures(folder):
    log = api.read_log(folder / "log.tsv", yes=True)
    release = api.read_release(folder / "out.tsv", log=log, truth=folder / "truth.tsv")
    found = api.attack(log, release, names=["stream-linkage", "stream-timing", "stream-pool"], seed=0)
    scores = {s.measure: s for s in api.measure(log, release, names=["category-emd", "stream-flow"])}
    return {r.attack: r for r in found}, scores, release.statement.figures


def same_as_batch(total, folder):
    attacks, scores, figures = batch_figures(folder)
    names = ["stream-linkage, simple", "stream-linkage, full", "stream-linkage, activity", "stream-timing"]
    names.append("stream-pool")
    for found, name in zip(total["reidentified"], names, strict=True):
        expected = attacks[name]
        assert found["targets"] == expected.targets > 100
        assert found["rate"] == pytest.approx(expected.rate, abs=1e-12)
        assert found["high"] == pytest.approx(expected.high, abs=1e-12)
    same_counts(total, scores, figures)


def same_counts(total, scores, figures):
    assert total["emd"]["share"] == pytest.approx(scores["category EMD, share of the largest"].value, abs=1e-12)
    assert total["emd"]["edges_per_query"] == pytest.approx(scores["category EMD, edges per query"].value, abs=1e-12)
    assert total["left"] == pytest.approx(scores["records that left"].value, abs=1e-12)
    levels = scores["users waiting at the end"].details
    assert total["waiting_per_level"] == [levels["0 (unclassified)"], *(levels[str(d)] for d in range(1, DEPTH + 1))]
    assert total["delays"] == {name: figures[name] for name in total["delays"]}
    assert len(total["delays"]) == 5


def test_one_window_over_all_is_the_batch(made):
    found = surveyed(made, "--window", 1_000_000)
    assert [one["window"] for one in found] == [1, None]
    same_as_batch(found[-1], made)
    assert found[0]["reidentified"] == found[-1]["reidentified"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--method", "nearest", "--pool", 40), ("--method", "nearest", "--pool", 40)),
        (("--method", "fixed-depth"), ("--method", "fixed-depth")),
        (("--epoch", 100, "--ids", "epoch"), ("--epoch", 100)),
        (("--epoch", 100, "--time-grain", "day"), ("--epoch", 100, "--time-grain", "day")),
        (("--epoch", "10m"), ("--epoch", "10m")),
        (("--ids", "day", "--time-grain", "1h"), ()),
    ],
)
def test_it_is_the_batch_for_other_settings(tmp_path, given, told):
    stream(tmp_path, "--as-in-paper", *given)
    (*_, total) = surveyed(tmp_path, "--window", 1_000_000, *told)
    attacks, scores, figures = batch_figures(tmp_path)
    rates = {found["attacker"]: found["rate"] for found in total["reidentified"] if found["targets"]}
    expected = {name.removeprefix("stream-linkage, ").removeprefix("stream-"): r.rate for name, r in attacks.items()}
    assert rates == pytest.approx(expected, abs=1e-12)
    same_counts(total, scores, figures)


def test_windows(made):
    found = surveyed(made, "--window", 1000)
    *windows, total = found
    assert [one["records"] for one in windows] == [1000, 1000, total["published"] - 2000]
    for i, name in enumerate(ATTACKERS):
        parts = [one["reidentified"][i] for one in windows]
        assert {part["attacker"] for part in parts} == {name}
        assert total["reidentified"][i]["right"] == sum(part["right"] for part in parts)
    same_counts(total, *batch_figures(made)[1:])


def test_windows_do_not_depend_on_how_the_bytes_come(made):
    """Pieces of any size, in any order: the windows are the same."""
    expected = surveyed(made, "--window", 700)
    random = Random(3)
    files = [(made / name).read_bytes() for name in ("log.tsv", "out.tsv", "truth.tsv")]
    surveyor = Surveyor(Known(K, DEPTH), ReadOptions(), None, ("log", "out", "truth"), window=700)
    take = [surveyor.take_original, surveyor.take_published, surveyor.take_truth]
    at, windows = [0, 0, 0], []
    while any(i < len(data) for i, data in zip(at, files, strict=True)):
        which = random.randrange(3)
        size = random.choice([1, 50, 3000, 40_000])
        take[which](files[which][at[which] : at[which] + size])
        at[which] += size
        while (window := surveyor.next_window()) is not None:
            windows.append(window)
    windows.append(surveyor.next_window(last=True))
    assert len(windows) == len(expected) - 1
    for window, one in zip(windows, expected, strict=False):
        found = json.loads(json.dumps(asdict(window)))
        for name in ("window", "records", "delays", "emd", "reidentified"):
            assert found[name] == one[name]
    assert json.loads(json.dumps(asdict(surveyor.so_far()))) == expected[-1]


def test_with_shared_phrases_texts_change_and_the_truth_still_fits(tmp_path):
    stream(tmp_path, "--min-query-users", 2)
    total = surveyed(tmp_path, "--window", 1_000_000)[-1]
    assert total["records"] == total["published"] > 1000
    attacks = batch_figures(tmp_path)[0]
    assert total["reidentified"][1]["rate"] == pytest.approx(attacks["stream-linkage, full"].rate, abs=1e-12)


def test_without_the_truth_there_are_counts(made):
    done = querycloak(
        "survey", "--from", made / "out.tsv", "--original", made / "log.tsv", "--k", K, "--depth", DEPTH,
        "--idle", 0, "--json", "--quiet",
    )  # fmt: skip
    total = json.loads(done.stdout.splitlines()[-1])
    assert (total["reidentified"], total["emd"], total["delays"]) == ([], None, {})
    assert total["originals"] == 2500 == total["published"] + sum(total["waiting_per_level"])


def test_the_table_has_a_line_per_window(made):
    done = querycloak(*words(made, "--window", 1000))
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["window", "1", "2", "3", "all", "not"]
    for planted in (QUERY, USER, "Sports"):
        assert planted not in done.stdout + done.stderr


def test_metrics_of_a_survey(made):
    from prometheus_client.parser import text_string_to_metric_families

    from querycloak.live.watch.exposition import exposition

    board = SurveyBoard()
    assert board.health().windows == 0
    assert "querycloak_survey_windows_total 0" in exposition(board.metrics())
    surveyor = Surveyor(Known(K, DEPTH), ReadOptions(), None, ("log", "out", "truth"), window=1000)
    for take, name in (
        (surveyor.take_original, "log.tsv"),
        (surveyor.take_published, "out.tsv"),
        (surveyor.take_truth, "truth.tsv"),
    ):
        take((made / name).read_bytes())
    window = surveyor.next_window()
    board.show(window, surveyor.so_far())
    text = exposition(board.metrics())
    samples = {
        (s.name, *sorted(s.labels.items())): s.value for f in text_string_to_metric_families(text) for s in f.samples
    }
    key = ("attacker", "full"), ("scope", "window")
    assert samples["querycloak_survey_reidentified_ratio", *key] == window.reidentified[1].rate
    assert samples["querycloak_survey_reidentified_high_ratio", *key] == window.reidentified[1].high
    assert samples["querycloak_survey_emd_ratio", ("scope", "window")] == window.emd.share
    assert samples["querycloak_survey_left_ratio",] == window.left
    assert samples["querycloak_survey_one_in_k_ratio",] == pytest.approx(1 / 3)
    for planted in (QUERY, USER, "Sports"):
        assert planted not in text


def test_emd_so_far_is_that_of_the_measure():
    """Against `user_distances` over all rows, on random rows that come in pieces."""
    random = Random(1)
    paths = [(), ("a",), ("a", "x"), ("a", "y"), ("b",), ("b", "x", "z")]
    before = [(random.randrange(5), random.randrange(len(paths))) for _ in range(200)]
    after = [(random.randrange(5), random.randrange(len(paths))) for _ in range(150)]
    flows = Flows()
    for rows, sign in ((before[:50], 1), (after[:100], -1), (before[50:], 1), (after[100:], -1)):
        user, path = np.array(rows, dtype=np.int32).T
        flows.add(user, flows.nodes(paths)[path], sign)
    moved, largest = user_distances(
        *((np.array([u for u, _ in rows], np.int32), [paths[p] for _, p in rows]) for rows in (before, after)), 5
    )
    assert flows.moved().share == moved.sum() / largest.sum()
    assert flows.moved().edges_per_query == moved.sum() / len(before)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("who\tknows\n", "not a truth file"),
        ("kind\tpublished\toriginal\nrow\t0\n", "expected 3 tab-separated fields"),
        ("kind\tpublished\toriginal\nrow\t1\tann\n", "not the truth of a stream"),
        ("kind\tpublished\toriginal\ndelay\t0\tann\n", "not the truth of a stream"),
        ("kind\tpublished\toriginal\nsalt\t\t00\n", "not the truth of a stream"),
    ],
)
def test_what_is_no_truth_is_refused(text, problem):
    with pytest.raises(InputError, match=problem) as error:
        TruthLines("truth.tsv", Names()).read(text.encode())
    assert "ann" not in str(error.value)


def test_the_truth_of_another_stream(made, tmp_path):
    (tmp_path / "out.tsv").write_bytes((made / "out.tsv").read_bytes())
    (tmp_path / "log.tsv").write_bytes((made / "log.tsv").read_bytes())
    text = (made / "truth.tsv").read_text()
    (tmp_path / "truth.tsv").write_text("".join(x for x in text.splitlines(True) if not x.startswith("user")))
    refused(querycloak(*words(tmp_path)), "is the truth of another stream")


def test_wrong_words(made, tmp_path):
    files = ("--from", made / "out.tsv", "--original", made / "log.tsv")
    refused(querycloak("survey", "--from", "-", "--original", "-"), "Only one of --from and --original")
    refused(querycloak("survey", "--from", made / "log.tsv", "--original", made / "log.tsv"), "must be different")
    refused(querycloak("survey", *files, "--truth", "-"), "the truth is a file")
    refused(querycloak("survey", *files, "--k", 1))
    refused(querycloak("survey", *files, "--metrics", "x"), "--metrics must be")
    refused(querycloak("survey", "--from", tmp_path, "--original", made / "log.tsv"), "is a directory")
    (tmp_path / "empty").write_text("")
    done = querycloak("survey", "--from", tmp_path / "empty", "--original", made / "log.tsv", "--idle", 0)
    refused(done, "Nothing was surveyed")


def taken(pump, size):
    data, deadline = b"", time.monotonic() + 10
    while len(data) < size:
        data += pump.take()
        assert time.monotonic() < deadline
    return data


def test_a_file_is_followed_while_it_grows(tmp_path):
    path, asked = tmp_path / "log", []
    pump = Pump(GrowingFile(path, asked))
    try:
        time.sleep(0.1)  # it is not there yet
        path.write_bytes(b"one\n")
        assert taken(pump, 4) == b"one\n"
        with path.open("ab") as file:
            file.write(b"two\n")
        assert taken(pump, 4) == b"two\n"
        os.truncate(path, 4)  # after a crash a stream writes the same bytes again
        with path.open("ab") as file:
            file.write(b"two\nthree\n")
        assert taken(pump, 6) == b"three\n"
        path.unlink()
        path.write_bytes(b"another\n")
        with pytest.raises(InputError, match="is another file than before"):
            taken(pump, 1)
    finally:
        asked.append(1)
        pump.close()


@pytest.mark.slow
def test_a_survey_follows_a_stream_that_runs(tmp_path):
    """The stream writes while the survey reads, in processes of their own; the end is the batch."""
    import subprocess
    import sys

    table = as_table(lines()).splitlines(True)
    log, out, truth = (tmp_path / name for name in ("log.tsv", "out.tsv", "truth.tsv"))
    log.write_text("")
    command = [sys.executable, "-m", "querycloak"]
    stream = subprocess.Popen(
        [
            *command, "stream", "-o", str(out), "--truth", str(truth), "--k", str(K), "--depth", str(DEPTH), "--yes",
            "--as-in-paper", "--max-wait", "0.05", "--quiet",
        ],
        stdin=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    with log.open("a") as original:
        for first in range(0, len(table), 500):
            for file in (original, stream.stdin):
                file.write("".join(table[first : first + 500]))
                file.flush()
            if first == 0:  # how long the stream takes to start must not count as silence
                while not (out.exists() and out.stat().st_size):
                    assert stream.poll() is None
                    time.sleep(0.05)
                survey = subprocess.Popen(
                    [
                        *command,
                        *map(str, words(tmp_path)[:-2]),
                        "--window",
                        "1000000",
                        "--idle",
                        "6",
                        "--json",
                        "--quiet",
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            time.sleep(0.2)
    assert stream.communicate(timeout=120)[0] is None
    shown, errors = survey.communicate(timeout=90)
    assert survey.returncode == 0, errors
    same_as_batch(json.loads(shown.splitlines()[-1]), tmp_path)


def test_threads_end(made):
    before = threading.active_count()
    surveyed(made)
    assert threading.active_count() == before
