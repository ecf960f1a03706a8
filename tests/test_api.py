from __future__ import annotations

import importlib
import subprocess
import sys

from samples import sample_log

import querycloak as qc


def test_functions_keep_their_names_beside_the_folders():
    log = sample_log()
    for _ in range(2):  # the first call imports the folder of the same name
        release = qc.anonymize(log, "sweep", seed=1)
        assert qc.attack(log, release, names=["uniqueness"])
        assert qc.measure(log, release, names=["kept"])
    assert importlib.import_module("querycloak.methods.suppression.sweep").Sweep().min_query_users == 1


def test_all_names_are_there():
    for name in qc.__all__:
        assert getattr(qc, name) is not None


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, querycloak; print(sorted({'numpy', 'polars', 'numba', 'typer', 'textblob'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
