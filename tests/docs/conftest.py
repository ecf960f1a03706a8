"""Prints how many blocks of the pages were run, also where several processes ran the tests."""

from __future__ import annotations

from collections import Counter


def pytest_terminal_summary(terminalreporter):
    count = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name.startswith("blocks ") or name == "commands in the text":
                count[name] += value
    if any(name.startswith("blocks ") for name in count):
        parts = (f"{count[name]} {name.removeprefix('blocks ')}" for name in sorted(count) if name.startswith("blocks"))
        terminalreporter.write_line(f"blocks of the pages: {', '.join(parts)}")
    if count["commands in the text"]:
        terminalreporter.write_line(f"commands in the text of pages: {count['commands in the text']} checked")
