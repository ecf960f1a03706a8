# Each target does the set-up it needs: a virtual environment in .venv, dependencies by name, versions from constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Modules stay compiled between the hundreds of processes that tests start.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install demo test test-fast mutation coverage coverage-kernels lint types contract check docs bench figures clean

install: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "QueryCloak needs Python 3.11 or later; set PYTHON=python3.x."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: install  ## the main job: a generated log becomes a release with its statement
	$(BIN)/querycloak demo

# Tests that run every kernel; without the JIT they still end within minutes.
KERNEL_TESTS := tests/arrays tests/methods tests/attacks tests/distances tests/measures tests/generator/test_generate.py \
	tests/logs/test_values_kernels.py tests/logs/test_one_policy.py tests/live/test_stream_lines.py
TEST_OPTIONS ?=
# Tests under which lines are counted. All tests of Spark are slow, since they start Java; no others run its lines.
MEASURED := not slow or spark
# Each process begins with one half of the tests, in their order, so that the tests of a file share what they prepare; who is done first
# takes over from the other.
PARALLEL := -n 2 --dist worksteal

test: install  ## all tests, the slow ones too
	$(BIN)/python -m pytest $(PARALLEL) $(TEST_OPTIONS)

test-fast: install  ## what to run while working
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" --hypothesis-profile=fast

mutation: install  ## seeded faults in privacy lines: every one must make a test fail
	$(BIN)/python tests/mutation/run.py

coverage: install  ## lines of src/ that tests run: quick tests and Spark's, then those of kernels without the JIT, so that kernels count
	rm -f .coverage
	$(BIN)/python -m pytest $(PARALLEL) -q -m "$(MEASURED)" --cov --cov-report= --cov-fail-under=0
	$(MAKE) coverage-kernels

coverage-kernels: install  ## the second half, added to what was measured before; then the figure
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PARALLEL) -q -m "not slow" -W "ignore:overflow:RuntimeWarning" $(KERNEL_TESTS) \
		--cov --cov-append --cov-report= --cov-fail-under=0
	$(BIN)/coverage report

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/hadolint Dockerfile
	$(BIN)/yamllint --strict compose.yaml CITATION.cff deploy

types: install
	$(BIN)/mypy

contract: install  ## imports go one way
	$(BIN)/lint-imports

check: lint types contract

docs: install  ## the documentation site, into site/; a dead link or a page in no list ends it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: install  ## every speed claim, one after the other; takes a while
	@for f in benchmarks/[!_]*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

figures: install  ## figures of the docs that depend on the mapping; tools/figures.sh says which page each is for, and the variables
	@PYTHON=$(BIN)/python KDD="$(KDD)" EXCITE="$(EXCITE)" LONG="$(LONG)" ONLY="$(ONLY)" USERS="$(or $(USERS),2000)" tools/figures.sh

clean:
	rm -rf $(VENV) demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
