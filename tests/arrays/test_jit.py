from __future__ import annotations

import json
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
from cli.command import querycloak

from querycloak.arrays import jit

FACTOR = np.uint64(0x9E3779B97F4A7C15)


@jit.inlined_kernel
def _mixed(word):
    return (word ^ (word >> np.uint64(31))) * FACTOR


@jit.kernel
def digest(words):
    total = np.uint64(0)
    for i in range(len(words)):
        total += _mixed(words[i])
    return total


INTERPRET_SMALL = True


@pytest.fixture(autouse=True)
def unknown_input():
    yield
    jit.expect_input(None)


@pytest.mark.needs_jit
def test_interpreted_and_compiled_wrap_around_alike():
    words = np.arange(1, 50, dtype=np.uint64) * FACTOR
    compiled = digest(words)
    jit.expect_input(10)
    assert digest(words) == compiled  # and no warning: the tests turn one into an error


@pytest.mark.needs_jit
def test_only_small_inputs_of_willing_files_are_interpreted(monkeypatch):
    seen = []
    monkeypatch.setattr(jit.Kernel, "_interpret", lambda kernel, *args: seen.append(kernel.__name__))
    words = np.arange(3, dtype=np.uint64)
    for size in (None, jit.SMALL_INPUT + 1):
        jit.expect_input(size)
        digest(words)
    assert seen == []
    jit.expect_input(jit.SMALL_INPUT)
    digest(words)
    assert seen == ["digest"]
    monkeypatch.setitem(globals(), "INTERPRET_SMALL", False)
    digest(words)
    assert seen == ["digest"]


@pytest.mark.needs_jit
def test_threads_share_one_compiled_kernel():
    @jit.kernel
    def twice(x):
        return x + x

    made = []
    threads = [threading.Thread(target=lambda: made.append((twice(2), twice._compiled))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {value for value, _ in made} == {4}
    assert len({id(function) for _, function in made}) == 1


def rows(seed, n):
    draw = random.Random(seed)
    topics = ["Top/Arts/Music", "Top/Arts/Film", "Top/Arts", "Top/Home/Cook/Bread", "Top/Sports", ""]
    texts = ["tea", 'say "hi"', "a, b", "back\\slash", "ćevapi 🍖", "x" * 300, "{}", "mail me@example.org", " padded "]
    for i in range(n):
        yield f"u{draw.randrange(12)}", draw.choice(texts), draw.choice(topics), i


def write(path, kind, seed, n=120):
    if kind == "jsonl":
        lines = [json.dumps({"user": u, "query": q, "category": c, "n": i}) for u, q, c, i in rows(seed, n)]
    elif kind == "csv":
        quote = '"{}"'.format
        lines = ["user,query,category"]
        lines += [f"{u},{quote(q.replace(chr(34), chr(34) * 2))},{c}" for u, q, c, _ in rows(seed, n)]
    else:
        lines = ["user\tquery\tcategory", *(f"{u}\t{q.replace(chr(34), '')}\t{c}" for u, q, c, _ in rows(seed, n))]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize(
    "options",
    [
        ("--k", "2", "--as-in-paper"),
        ("--k", "3", "--depth", "2", "--hold", "4"),
        ("--k", "2", "--method", "fixed-depth", "--min-query-users", "3"),
        ("--k", "2", "--method", "flat", "--ids", "original", "--identifiers", "keep"),
    ],
)
def test_a_small_stream_is_published_alike_interpreted_and_compiled(kind, options, tmp_path, monkeypatch):
    for seed in range(3):
        write(tmp_path / "log", kind, seed)
        assert (tmp_path / "log").stat().st_size <= jit.SMALL_INPUT
        published = []
        for limit in (jit.SMALL_INPUT, 0):
            monkeypatch.setattr(jit, "SMALL_INPUT", limit)
            words = [
                "-i",
                tmp_path / "log",
                "-o",
                tmp_path / f"out{limit}",
                "--seed",
                seed,
                "--on-error",
                "skip",
                "--yes",
            ]
            done = querycloak("stream", *words, *options)
            assert done.returncode == 0, done.stderr
            published.append((tmp_path / f"out{limit}").read_bytes())
            monkeypatch.undo()
        assert published[0] == published[1]
        assert published[0].count(b"\n") > 20


def test_a_small_log_is_swept_alike_interpreted_and_compiled(tmp_path, monkeypatch):
    for seed in range(2):
        write(tmp_path / "log", "tsv", seed)
        published = []
        for limit in (jit.SMALL_INPUT, 0):
            monkeypatch.setattr(jit, "SMALL_INPUT", limit)
            words = [tmp_path / "log", "-o", tmp_path / f"out{limit}", "--seed", seed, "--yes", "--on-error", "skip"]
            done = querycloak("anonymize", *words, "-m", "sweep", "--min-query-users", 3)
            assert done.returncode == 0, done.stderr
            published.append((tmp_path / f"out{limit}").read_bytes())
            monkeypatch.undo()
        assert published[0] == published[1]
        assert published[0].count(b"\n") > 20


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize(
    "command",
    [
        ["stream", "--k", "2", "-i", "log.tsv", "-o", "stream.tsv", "--yes"],
        ["anonymize", "log.tsv", "-m", "sweep", "-o", "release.tsv", "--yes"],
    ],
)
def test_small_commands_do_not_load_numba(command, tmp_path):
    write(tmp_path / "log.tsv", "tsv", 1, 100)
    code = (
        "import sys; from querycloak.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0, end\n"
        "assert not {'numba', 'scipy', 'textblob'} & set(sys.modules), sys.modules.keys()\n"
    )
    words = [sys.executable, "-c", code, *command]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_jit
def test_kernels_do_not_load_linear_algebra_and_leave_it_usable():
    code = (
        "import sys, numpy as np\n"
        "from querycloak.methods.stream._text_kernels import keep_pairs\n"
        "from querycloak.arrays import jit\n"
        "jit._link(keep_pairs, compiled=True)\n"
        "assert 'numba' in sys.modules\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "import scipy.linalg.cython_blas, scipy.cluster.hierarchy\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
