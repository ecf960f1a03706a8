"""Set-up that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from jit import JIT

from querycloak.arrays.jit import expect_input

# Kernels compile on first use, so the first example of a test may take seconds: no deadline. In CI the examples are the
# same in every run of the same tests; anywhere else they are new each time. Without the JIT the tests only show which
# lines they reach: a fifth of the examples does that.
settings.register_profile(
    "querycloak",
    deadline=None,
    print_blob=True,
    derandomize="CI" in os.environ,
    max_examples=100 if JIT else 20,
)
# While working (`make test-fast`): a quarter of the examples, and others each time.
settings.register_profile("fast", deadline=None, print_blob=True, max_examples=25)
# Seeded faults (tests/mutation): the same examples in every run, and no time spent on the smallest failing one.
settings.register_profile(
    "faults", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False
)
settings.load_profile("querycloak")
# Threads of parallel kernels sleep while they wait for each other. By default they spin, and two processes of tests on
# two cores keep each other from working: a test of many short kernels took four times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ["QUERYCLOAK_CACHE"] = "off"  # tests read files, and what a run before them kept of one is no test


def pytest_runtest_teardown() -> None:
    """Forget that a command expected a small input: the kernels of the next test are compiled again."""
    expect_input(None)


SPARK = Path(__file__).parent / "spark"


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of Spark. Leave out, where Numba does not compile, what would take minutes in plain Python."""
    for item in items:
        if SPARK in item.path.parents:
            item.add_marker("spark")
    if JIT:
        return
    skip = pytest.mark.skip(reason="needs the JIT, which NUMBA_DISABLE_JIT turns off")
    for item in items:
        if item.get_closest_marker("needs_jit"):
            item.add_marker(skip)
