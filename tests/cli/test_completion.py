"""What the shell completes, and how quickly."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest

from querycloak.catalog import ATTACKS, MEASURES, METHODS, STREAM_METHODS
from querycloak.evaluation.reproduce.papers import PAPERS
from querycloak.logs.read_options import FORMATS
from querycloak.methods.policy.presets_list import PRESETS
from querycloak.tasks.task import TASKS

LOADED = """
import json, sys
from querycloak.cli import main
sys.argv = ["querycloak"]
try: main()
except SystemExit: pass
heavy = [name for name in ("numba", "polars", "scipy") if any(m.startswith(name + ".") for m in sys.modules)]
print("loaded:" + json.dumps(heavy))
"""


def complete(*words, shell="bash"):
    """Ask as a shell does; return the words it would offer, and what heavy packages were loaded for it."""
    line = {"COMP_WORDS": " ".join(["querycloak", *words]), "COMP_CWORD": str(len(words))}
    if shell != "bash":
        line = {"_TYPER_COMPLETE_ARGS": " ".join(["querycloak", *words]), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment = {**os.environ, **line, "_QUERYCLOAK_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    text, _, loaded = done.stdout.partition("loaded:")
    assert done.stderr == ""
    return text.splitlines(), json.loads(loaded)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["anonymize", "--method", ""], METHODS | STREAM_METHODS),
        (["anonymize", "--method", "sem"], ["semantic-microaggregation", "semantic-dp"]),
        (["anonymize", "--method", "policy:"], [f"policy:{name}" for name in PRESETS]),
        (["stream", "--method", ""], STREAM_METHODS),
        (["methods", "sw"], ["sweep"]),
        (["audit", ""], ["semantic-dp", "histogram-dp", "frequent-queries", "synthetic-dp"]),
        (["attack", "a", "b", "--only", ""], ATTACKS),
        (["attack", "a", "b", "--only", "claim,record"], ["claim,record-linkage"]),
        (["measure", "a", "b", "--only", ""], MEASURES),
        (["check", "a", "b", "--for", ""], TASKS),
        (["compare", "a", "--methods", "sweep,clu"], ["sweep,clump"]),
        (["reproduce", ""], PAPERS),
        (["policy", "show", ""], PRESETS),
        (["anonymize", "--format", ""], FORMATS),
        (["anonymize", "--method", "sweep", "--identifiers", ""], ["drop", "keep", "mask"]),
        (["anonymize", "--method", "semantic-microaggregation", "--min-q"], ["--min-query-users"]),
        (["anonymize", "--method", "clump", "--ref"], ["--refine"]),
        (["audit", "semantic-dp", "--eps"], ["--epsilon", "--epsilon-for", "--epsilon-times"]),
        (["anonymize", "--method", "nonsense", "--conf"], ["--config"]),
        (["an"], ["anonymize"]),
    ],
)
def test_names_are_completed_and_nothing_heavy_is_loaded(words, offered):
    found, loaded = complete(*words)
    if words[-2:] == ["--identifiers", ""]:
        assert "drop" in found
    else:
        assert sorted(found) == sorted(offered)
    assert loaded == []


def test_other_shells_see_a_line_about_each():
    found, _ = complete("anonymize", "--method", "swee", shell="fish")
    assert any("sweep" in line and "new user ids" in line for line in found)


def test_completion_is_quick():
    # Processor time, which a busy machine stretches little: of the names of methods, and of the options of one.
    for words in [["anonymize", "--method", "s"], ["anonymize", "--method", "clump", "--"]]:
        used = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            complete(*words)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert min(used) < 0.45  # 0.3 on a quiet machine


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_shown_and_installed(shell, tmp_path):
    words = ["import sys; sys.argv = ['querycloak', *sys.argv[1:]]; from querycloak.cli import main; main()"]
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    for option in ["--show-completion", "--install-completion"]:
        done = subprocess.run(
            [sys.executable, "-c", *words, option, shell],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert ("_QUERYCLOAK_COMPLETE" if "show" in option else "installed") in done.stdout
    assert any("_QUERYCLOAK_COMPLETE" in path.read_text() for path in tmp_path.rglob("*querycloak*") if path.is_file())
