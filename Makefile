# Each target does the set-up it needs: a virtual environment in .venv, dependencies by name, versions from constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: install demo test test-fast mutation coverage lint types contract check bench clean

install: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "QueryCloak needs Python 3.11 or later; set PYTHON=python3.x."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: install  ## the main job: a generated log becomes a release with its statement
	$(BIN)/querycloak demo

test: install  ## all tests, the slow ones too
	$(BIN)/python -m pytest -n 2

test-fast: install  ## what to run while working
	$(BIN)/python -m pytest -n 2 -m "not slow"

mutation: install  ## seeded faults in privacy lines: every one must make a test fail
	$(BIN)/python tests/mutation/run.py

coverage: install  ## lines of src/ that the quick tests run; without the JIT, so that kernels count
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q -m "not slow" -W "ignore:overflow:RuntimeWarning" --cov --cov-report=term-missing

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: install
	$(BIN)/mypy

contract: install  ## imports go one way
	$(BIN)/lint-imports

check: lint types contract

bench: install  ## every speed claim, one after the other; takes a while
	@for f in benchmarks/[!_]*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
