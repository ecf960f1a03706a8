from __future__ import annotations

import doctest

import pytest
from places import ROOT


@pytest.mark.parametrize("page", ["api.md", "plugins.md"])
def test_the_examples_of_a_page_run(page):
    options = doctest.ELLIPSIS
    found = doctest.testfile(str(ROOT / "docs" / page), module_relative=False, optionflags=options, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0
