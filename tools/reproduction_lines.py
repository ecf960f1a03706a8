"""Turn what `querycloak reproduce --json` printed into the sections of docs/reproductions.md.

querycloak reproduce batet-2013 --quick -o out --json > batet.json
python tools/reproduction_lines.py batet.json … >> docs/reproductions.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


USUAL_DRAWS = 3


def section(found: dict[str, object]) -> str:
    """Return the section of one run: what was run, and one line per finding."""
    findings = found["findings"]
    assert isinstance(findings, list)
    counts = [sum(f["verdict"] == v for f in findings) for v in ("found", "not found", "not testable here")]
    seeds = found["seeds"]
    assert isinstance(seeds, list)
    draws = "" if found["quick"] or len(seeds) == USUAL_DRAWS else f"--draws {len(seeds)} "
    command = f"querycloak reproduce {found['paper']} {'--quick ' if found['quick'] else ''}{draws}-o out"
    kind = "**Quick run** (a small log, few points)" if found["quick"] else "Whole run"
    lines = [
        f"## {found['paper']}",
        "",
        f"{kind}, version {found['version']}: `{command}`. Log: {found['log']}. Seeds {', '.join(map(str, seeds))}.",
        f"{counts[0]} found, {counts[1]} not found, {counts[2]} not testable here.",
        "",
        "| the paper says | where | here | figures |",
        "|---|---|---|---|",
    ]
    lines += [
        "| " + " | ".join(str(f[k]).replace("|", "\\|") for k in ("says", "where", "verdict", "figures")) + " |"
        for f in findings
    ]
    repeated = found["not_repeated"]
    assert isinstance(repeated, dict)
    if repeated:
        lines += ["", "Not repeated: " + "; ".join(f"{name}: {why}" for name, why in repeated.items()) + "."]
    return "\n".join([*lines, ""])


def main() -> None:
    """Print a section for each file."""
    for path in sys.argv[1:]:
        print(section(json.loads(Path(path).read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
