"""What memory is left, and what was taken."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import psutil
import pytest

from querycloak.logs.memory import _left_in_groups, available_memory, peak_memory


def group(folder, limit, used, **stat):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text("".join(f"{name} {value}\n" for name, value in stat.items()))


def test_no_more_than_the_machine_has():
    assert 0 < available_memory() <= psutil.virtual_memory().total


def test_every_group_above_counts(tmp_path):
    group(tmp_path, "max", 900)
    group(tmp_path / "outer", 1000, 700)
    group(tmp_path / "outer" / "inner", 500, 100)
    assert _left_in_groups(tmp_path, "outer/inner") == [400, 300]
    assert _left_in_groups(tmp_path, "") == []


def test_pages_of_files_are_given_back_and_other_figures_are_no_bytes(tmp_path):
    group(tmp_path, 1000, 900, anon=500, active_file=300, inactive_file=50, workingset_refault_file=77, pgscan=5)
    assert _left_in_groups(tmp_path, "") == [450]


def test_a_group_that_is_not_there_or_says_nonsense_counts_for_nothing(tmp_path):
    group(tmp_path / "odd", "many", "")
    assert _left_in_groups(tmp_path, "odd") == []
    assert _left_in_groups(tmp_path / "missing", "a/b") == []


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_address_space_limit_counts():
    code = (
        "import resource; from querycloak.logs.memory import available_memory; import psutil;"
        "resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 10**8,) * 2);"
        "print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 0 <= int(done.stdout) <= 10**8


@pytest.mark.slow
def test_the_peak_holds_what_was_held():
    before = peak_memory()
    held = np.ones(200_000_000 // 8)
    assert held.sum() > 0
    assert peak_memory() >= max(before, 200_000_000)
