"""Policies side by side on a generated log: the table and the plot of docs/policies.md.

    python tools/policy_figures.py --users 100000 --output /tmp/policies

It generates the log, runs `querycloak compare` on the presets and on `sweep`, and puts a table between two marks of the
page, and the plot next to it. The comparison goes on where it was interrupted. `--no-docs` only prints the table.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parents[1] / "docs"
BLOCK: Final = re.compile(
    r"(?<=<!-- policies: made by tools/policy_figures\.py -->\n).*?(?=<!-- end of policies -->)", re.DOTALL
)
METHODS: Final = (
    "policy:google-2024",
    "policy:commission-2026-draft",
    "policy:duckduckgo-2026",
    "policy:aol-2006",
    "sweep",
    "semantic-microaggregation",
)
TASKS: Final = ("popularity", "topics", "suggestions", "suggestions, shared texts", "profiles", "sessions")
LINKS: Final = ("known-queries, 2", "relink", "shape, half known", "claim", "membership")
QUERIES_PER_USER: Final = 30
NEAR: Final = 0.04
"""Points that are nearer share a label."""
SIDES: Final = (("left", 8), ("right", -8))
TOP: Final = 1.05
"""End of both axes."""
WIDTH, HEIGHT, FONT = 560, 320, 11
LIMIT: Final = 0.2
"""Gain of a linking attack from which on `check` and `compare` warn."""


def main() -> None:
    """Generate, compare, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="directory for the log and the comparison")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--no-docs", action="store_true", help="print the table, and leave the page alone")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    log = options.output / f"log-{options.users}-{options.seed}.tsv"
    shape = ["--users", str(options.users), "--queries", str(QUERIES_PER_USER * options.users)]
    compare = ["compare", "--methods", options.methods, "--seed", str(options.seed), "--for", "popularity,topics"]
    if not log.exists():
        _querycloak("generate", *shape, "--seed", str(options.seed), "-o", str(log))
    _querycloak(*compare, str(log), "-o", str(options.output / "comparison"))
    found = json.loads((options.output / "comparison" / "results.json").read_text(encoding="utf-8"))
    text = page(found, ["querycloak generate " + " ".join([*shape, "--seed", str(options.seed), "-o log.tsv"]),
                        "querycloak " + " ".join([*compare, "log.tsv -o comparison"])])  # fmt: skip
    if options.no_docs:
        print(text)
        return
    path = DOCS / "policies.md"
    path.write_text(BLOCK.sub(lambda _: text, path.read_text(encoding="utf-8")), encoding="utf-8")
    (DOCS / "policies.svg").write_text(plot(found), encoding="utf-8")


def _querycloak(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "querycloak", *words], check=True)  # noqa: S603 - our own command


def page(found: dict[str, Any], commands: list[str]) -> str:
    """Return the tables of a comparison, and the commands that made them."""
    log = found["log"]
    runs = [run for run in found["runs"] if run.get("error") is None]
    lines = [
        f"A generated log: {log['users']:,} users, {log['rows']:,} rows, {log['distinct queries']:,} distinct queries.",
        "",
        "| | " + " | ".join(run["name"] for run in runs) + " |",
        "|---|" + "---|" * len(runs),
    ]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in _rows(runs).items()]
    for run in found["runs"]:
        if run.get("error") is not None:
            lines.append(f"\n{run['name']} could not be run: {run['error']}")
    code = "\n".join(commands)
    return "\n".join([*lines, "", "![risk and use of each policy](policies.svg)", "", f"```sh\n{code}\n```", ""])


def _rows(runs: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the rows of the table: what is published, what is exposed, what attackers gain, what it is good for."""
    rows: dict[str, list[str]] = {
        "published ids stand for": [_ids(run) for run in runs],
        "rows published": [f"{run['statement']['counts_out']['rows']:,}" for run in runs],
        "query volume kept": [_score(run, "volume kept") for run in runs],
        "distinct queries kept": [_score(run, "distinct queries kept") for run in runs],
        "distinct texts that one person alone asked": [_rate(run, "uniqueness, queries", lift=False) for run in runs],
    }
    for name in LINKS:
        rows[f"`{name}`: right (without)"] = [_rate(run, name) for run in runs]
    for task in TASKS:
        rows[f"useful for {task}: 1 = the log, 0 = blind"] = [_useful(run, task) for run in runs]
    return rows


def _ids(run: dict[str, Any]) -> str:
    if run["statement"].get("ids") == "none" or "users" not in run["statement"]["counts_out"]:
        return "nobody: counts"
    return {"person": "a person", "day": "a person's day", "session": "a session"}[
        run["statement"].get("ids", "person")
    ]


def _score(run: dict[str, Any], name: str) -> str:
    values = {score["measure"]: score["value"] for score in run["scores"]}
    return f"{100 * values[name]:.1f} %" if name in values else "-"


def _rate(run: dict[str, Any], name: str, *, lift: bool = True) -> str:
    found = {result["attack"]: result for result in run["attacks"]}.get(name)
    if found is None or not found["targets"]:
        return "-"
    without = f" ({100 * found['baseline']['rate']:.2g} %)" if lift else ""
    return f"{100 * found['rate']:.1f} %{without}"


def _useful(run: dict[str, Any], task: str) -> str:
    found = {use["task"]: use for use in run["utility"]}.get(task)
    if found is None or not found["possible"] or found["scaled"] is None:
        return "-"
    return f"{found['scaled']:.2f}"


def plot(found: dict[str, Any]) -> str:
    """Return an SVG: of each run, the lift of the worst linking attack against the volume that it keeps."""
    import vl_convert as vlc

    points = []
    for run in found["runs"]:
        if run.get("error") is not None:
            continue
        lifts = [a["lift"] for a in run["attacks"] if a["risk"] == "link" and a["targets"]]
        volume = next((s["value"] for s in run["scores"] if s["measure"] == "volume kept"), 0.0)
        point = {"kept": volume, "lift": max(lifts, default=0.0), "published ids": _ids(run)}
        points.append({"run": run["name"].removeprefix("policy:"), **point})
    labels = _labels(points)
    scale = {"domain": [0, TOP], "nice": False}
    axis = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "format": "%"}
    x = {"field": "kept", "type": "quantitative", "title": "query volume kept", "scale": scale, "axis": axis}
    y = {**x, "field": "lift", "title": "gain of the best linking attack"}
    limit = {"kept": TOP, "lift": LIMIT, "run": "limit of the checks", "align": "right", "dx": -4, "dy": -6}
    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "height": HEIGHT,
        "background": "white",
        "padding": {"left": 5, "top": 5, "right": 40, "bottom": 5},
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#999"},
                "encoding": {"y": {"datum": LIMIT}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": {"field": "published ids", "type": "nominal"}},
            },
            *(
                {
                    "data": {"values": [label]},
                    "mark": {"type": "text", "fontSize": FONT, **{key: label[key] for key in ("align", "dx", "dy")}},
                    "encoding": {"x": x, "y": y, "text": {"field": "run"}},
                }
                for label in (*labels, limit)
            ),
        ],
    }
    return str(vlc.vegalite_to_svg(json.dumps(chart)))


def _labels(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one label for points that are in the same spot, next to the point where it covers nothing else."""
    spots: list[dict[str, Any]] = []
    for point in points:
        same = [o for o in spots if abs(o["kept"] - point["kept"]) < NEAR and abs(o["lift"] - point["lift"]) < NEAR]
        if same:
            same[0]["run"] += f", {point['run']}"
        else:
            spots.append({**point})
    covered = [_box(point, "left", -6, 0, 12) for point in points]  # of the points themselves
    out = []
    for spot in spots:
        width = 0.56 * FONT * len(spot["run"])
        tried = [
            (_box(spot, align, dx, dy, width), align, dx, dy) for dy in (-11, 15, 0, -24, 28) for align, dx in SIDES
        ]
        inside = [
            t for t in tried if t[0][0] >= 0 and t[0][2] <= WIDTH and t[0][1] >= -FONT and t[0][3] <= HEIGHT
        ] or tried
        box, align, dx, dy = min(inside, key=lambda t: sum(_overlap(t[0], other) for other in covered))
        covered.append(box)
        out.append({**spot, "align": align, "dx": dx, "dy": dy})
    return out


def _box(point: dict[str, Any], align: str, dx: float, dy: float, width: float) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom, in pixels, of a text of that width next to a point."""
    at = point["kept"] / TOP * WIDTH + dx
    left = at if align == "left" else at - width
    middle = HEIGHT - point["lift"] / TOP * HEIGHT + dy
    return left, middle - FONT / 2, left + width, middle + FONT / 2


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    """Return the area that two boxes share."""
    return max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)


if __name__ == "__main__":
    main()
