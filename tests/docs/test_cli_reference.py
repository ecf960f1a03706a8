from __future__ import annotations

import importlib.util

from places import ROOT


def test_the_reference_is_up_to_date():
    place = ROOT / "tools" / "build_cli_reference.py"
    spec = importlib.util.spec_from_file_location("build_cli_reference", place)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (ROOT / "docs" / "cli.md").read_text()
    assert written == tool.reference(), "run: python tools/build_cli_reference.py"
