from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from cli.command import querycloak, querycloak_process, refused

from querycloak.catalog import METHODS


def test_help_teaches_and_loads_nothing_heavy():
    done = querycloak("--help")
    assert done.returncode == 0
    for command in ["demo", "anonymize", "attack", "measure", "compare", "map", "generate", "methods"]:
        assert command in done.stdout
    code = (
        "import sys; sys.argv = ['querycloak', '--help']\n"
        "from querycloak.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'polars', 'numba', 'scipy', 'jinja2', 'psutil', 'textblob'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip().endswith("[]")


def test_map_loads_neither_polars_nor_numba_and_stems_no_labels():
    code = (
        "import sys; sys.argv = ['querycloak', 'map', 'exciting water sports']\n"
        "from querycloak.cli import main\n"
        "from querycloak.mapping.label_index import LabelIndex\n"
        "LabelIndex.__init__ = None\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'polars', 'numba', 'scipy', 'jinja2', 'psutil', 'textblob', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "/ water sport (by its label" in done.stdout
    assert done.stdout.strip().endswith("[]")


@pytest.mark.slow
def test_a_method_loads_no_statistics_and_no_templates(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("user\tquery\n" + "".join(f"u{i % 9}\tquery {i % 5}\n" for i in range(90)))
    words = ["querycloak", "anonymize", str(log), "-m", "sweep", "-o", str(tmp_path / "release.tsv")]
    code = (
        f"import sys; sys.argv = {words!r}\n"
        "from querycloak.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        # Numba loads the bare package `scipy`
        "heavy = {'scipy.special', 'scipy.stats', 'scipy.cluster', 'jinja2', 'textblob', 'nltk'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("0\n[]")


def test_help_is_quick():
    # Processor time, which a busy machine stretches little; benchmarks/start.py measures the wall clock.
    used = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert querycloak_process("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(used) < 0.6


def test_methods_lists_all_and_shows_one():
    listed = querycloak("methods").stdout
    assert all(name in listed for name in METHODS)
    shown = querycloak("methods", "sweep").stdout
    assert "guarantee: none" in shown
    assert "--min-query-users" in shown
    refused(querycloak("methods", "sweeep"), "Did you mean 'sweep'")


def test_map_shows_every_step():
    done = querycloak("map", "exciting water sports")
    assert done.returncode == 0, done.stderr
    for part in ["noun phrases", "stems", "water sport"]:
        assert part in done.stdout
    refused(querycloak("map", "tea", "--mapping", "wrong"), "segments")
    refused(querycloak("map", " "), "the text of a query")


def test_compare_says_whose_option_a_stray_one_is(tmp_path):
    words = ["compare", tmp_path / "log.tsv", "--methods", "sweep", "-o", tmp_path / "out"]
    refused(querycloak(*words, "--epsilon", "3"), "--epsilon is an option of", "not among --methods")
    refused(querycloak(*words, "--hold=3"), "--hold is an option of self-adjusting")
    refused(querycloak(*words, "--nonsense", "3"), "There is no option of compare '--nonsense'")


@pytest.mark.slow
def test_generate_writes_log_directory_and_truth(tmp_path):
    words = ["generate", "--users", 20, "--queries", 300, "--seed", 4, "--truth"]
    for name in ["a", "b"]:
        (tmp_path / name).mkdir()
        done = querycloak(*words, "-o", tmp_path / name / "log.tsv")
        assert done.returncode == 0, done.stderr
        assert "300 query events, 20 users" in done.stdout
    files = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert files == ["log.directory.tsv", "log.truth.tsv", "log.tsv"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    refused(
        querycloak("generate", "--users", 20, "--queries", 10, "-o", tmp_path / "x"), "at most the number of queries"
    )


@pytest.mark.slow
def test_demo_runs_the_main_job(tmp_path):
    done = querycloak_process("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ["log.tsv", "release.tsv", "release.tsv.statement.json"]:
        assert (tmp_path / "demo" / name).stat().st_size > 0


def test_a_closed_pipe_ends_quietly(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "querycloak", "methods"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141  # not 1, which means that a check failed


def test_a_full_disk_behind_standard_output_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "querycloak", "methods"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "no space left" in done.stderr


def test_a_wrong_command_line_is_one_sentence():
    assert len(refused(querycloak("anonymize", "x", "--method", "sweep"), "--output").strip().splitlines()) == 1
    refused(querycloak("nonsense"), "nonsense")
