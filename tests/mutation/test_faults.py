"""The list of faults is in order: each is found in the source once, changes it, and names tests that are there."""

from __future__ import annotations

import pytest

from mutation.faults import FAULTS
from mutation.run import TESTS, changed


def test_names_are_distinct():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 25


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_fits_the_source(fault):
    file, text = changed(fault)
    assert text != file.read_text()
    for test in fault.tests:
        path, _, function = test.partition("::")
        text = (TESTS / path).read_text()
        for name in function.partition("[")[0].split("::"):
            assert not name or f"def {name}(" in text or f"class {name}:" in text
