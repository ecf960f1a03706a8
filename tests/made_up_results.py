"""Made-up results of the papers: as the paper has them, and the other way round."""

from __future__ import annotations

import math

from querycloak.evaluation.reproduce.paper import Scale
from querycloak.evaluation.reproduce.papers import find_paper
from querycloak.evaluation.reproduce.results import Place, Results
from querycloak.evaluation.reproduce.run import judge


def judged(name, value):
    """Return the verdict of every finding where each spot of a quick run has the value that `value` makes up."""
    paper = find_paper(name)
    results = Results()
    for cell in paper.cells(Scale(paper.quick_users, quick=True)):
        for spot in cell.spots:
            for draw in (1, 2):
                results.add(Place(spot.figure, spot.panel, spot.series, spot.x), draw, value(spot))
    if paper.derive is not None:
        paper.derive(results)
    return {finding.says: judge(finding, results).verdict for finding in paper.findings}


def milani(spot):
    k, size = spot.x, float(spot.panel.rsplit(" ", 1)[-1].replace(",", "") or 0) if spot.panel else spot.x
    gain = 0.32 - 0.01 * k - 0.02 * math.log10(max(size, 150) / 150)
    return {
        "fig-3": {"Partition": size, "Clump1": size * (1 - gain), "Clump2": 1.01 * size * (1 - gain)}.get(spot.series),
        "fig-4": {"Clump1": 10.0}.get(spot.series, 5.0),
        "fig-5": {"Clump1": 2.0, "Partition": 3.0, "Clump2": 4.0}.get(spot.series),
        "fig-6": 100 + abs(spot.x - 10),
        "fig-7": spot.x * (2e-5 if spot.series == "Clump" else 1e-5),
        "table-3": 1 / spot.x,
        "orders": 1.0 if spot.series == "decreasing" else 2.0,
    }[spot.figure]


def milani_not(spot):
    k, size = spot.x, float(spot.panel.rsplit(" ", 1)[-1].replace(",", "") or 0) if spot.panel else spot.x
    gain = -0.5 + 0.01 * k + 0.02 * math.log10(max(size, 150) / 150)
    return {
        "fig-3": {"Partition": size, "Clump1": size * (1 - gain), "Clump2": 2 * size * (1 - gain)}.get(spot.series),
        "fig-4": {"Clump1": 1.0}.get(spot.series, 5.0),
        "fig-5": {"Clump1": 4.0, "Partition": 3.0, "Clump2": 2.0}.get(spot.series),
        "fig-6": 100 - spot.x / 10 + 90 * (spot.x == 10),
        "fig-7": spot.x**2 * (1e-5 if spot.series == "Clump" else 2e-5),
        "table-3": spot.x,
        "orders": 2.0 if spot.series == "decreasing" else 1.0,
    }[spot.figure]


def _depth(spot):
    return int(spot.series.rsplit("depth ", 1)[-1]) if "depth " in spot.series else int(spot.x)


def pamies(spot):
    k, depth, now = spot.x or 1, _depth(spot) or 1, "current" in spot.panel + spot.series
    shares = {1: 0.4326, 3: 0.2, 8: 0.005}
    return {
        "fig-6": 0.4 / k / depth if now else 0.4 / k * (0.9 + 0.1 * depth),
        "fig-8": k * (1 + 1 / depth),
        "fig-9": 100.0 if "largest" in spot.series else 10.0,
        "fig-9-share": shares.get(depth, 0) - (0 if now else 0.03 * (depth < 8)),
        "fig-10": 0.99 if now else 1 - 0.06 * depth,
        "fig-11": (1 + 0.1 * k + 0.01 * depth) * (1 if now else 10),
        "fig-12": 3.0,
        "fig-13": 110.0 if now else 1000.0 * depth,
        "fig-14": 1 + k + 0.01 * depth + (0 if now else 100),
        "table-2": 1.0 if now else 1000.0,
        "linear": 5.0,
    }[spot.figure]


def pamies_not(spot):
    k, depth, now = spot.x or 1, _depth(spot) or 1, "current" in spot.panel + spot.series
    of_k = float(spot.series.rsplit("= ", 1)[-1]) if "k = " in spot.series else 0.0
    return {
        "fig-6": 0.02 * k * depth * (2 if "2" in spot.panel else 1) if now else 0.4 / k / depth,
        "fig-8": 3 * k * depth,
        "fig-9": 100.0 * depth if "largest" in spot.series else 10.0,
        "fig-9-share": 0.6 + 0.01 * depth + 0.002 * of_k if now else 0.9,
        "fig-10": 0.5 if now else 0.9,
        "fig-11": 10 - 0.1 * k + 5 * depth if now else 0.1,
        "fig-12": 1.0 if "1" in spot.panel else 10.0,
        "fig-13": 1e4 * spot.x * depth if now else 100 / depth,
        "fig-14": 1000 - k + 500 * depth if now else 1.0,
        "table-2": 1000.0 if now else 1.0,
        "linear": 50 * spot.x,
    }[spot.figure]


_A = {"SQC2": (0.2, 0.18, 0.03), "SQC1": (0.21, 0.2, 0.1), "NSQC": (0.22, 0.21, 0.12), "HBDP": (0.3,) * 3}
_C = {"SQC2": (0.02, 0.018, 0.003), "SQC1": (0.021, 0.02, 0.01), "NSQC": (0.04, 0.035, 0.03), "HBDP": (0.7,) * 3}
_A_NOT = {"SQC2": (0.1, 0.2, 0.6), "SQC1": (0.1, 0.2, 0.3), "NSQC": (0.05, 0.1, 0.2), "HBDP": (0.01,) * 3}


def sanchez(spot):
    series, _, equal = spot.series.partition(",")
    if spot.figure == "logs":
        return 0.2
    if equal:
        return 0.2 if series == "HBDP" else 0.0
    at = (0.1, 1.0, 10.0).index(spot.x)
    b = 0.7 if series == "HBDP" else _A[series][at] + _C[series][at]
    return {"fig-2": _A[series][at], "fig-3": b, "fig-4": _C[series][at]}[spot.figure]


def sanchez_not(spot):
    series, _, equal = spot.series.partition(",")
    if spot.figure == "logs":
        return spot.x
    if equal:
        return 5.0 if series == "HBDP" else 0.5
    at = (0.1, 1.0, 10.0).index(spot.x)
    if series == "HBDP":
        return {"fig-2": 0.01, "fig-3": (0.02, 0.015, 0.005)[at], "fig-4": 0.1}[spot.figure]
    return _A_NOT[series][at] * {"fig-2": 1, "fig-3": 0.25, "fig-4": 3}[spot.figure]


_METHODS = ("our proposal", "Erola et al.", "Navarro-Arribas et al.", "non-semantic")


def batet(spot):
    if spot.figure == "removed":
        first, last = (0.94, 0.975) if spot.panel.startswith("queries") else (0.46, 0.9)
        return first if spot.x < 5 else last
    if spot.series in _METHODS:
        rank = _METHODS.index(spot.series)
        return 20 + 5 * rank + spot.x if spot.figure == "fig-2" else 50 + 0.5 * rank - 5 * spot.x
    loss = spot.figure == "fig-2"
    return {"Korolova et al.": 95.0 if loss else 25 - spot.x, "Poblete et al.": 70.0 if loss else 63.0}[spot.series]


def batet_not(spot):
    if spot.figure == "removed":
        return 0.5 if spot.panel.startswith("queries") else 1 / spot.x
    loss = spot.figure == "fig-2"
    if spot.series in _METHODS:
        values = {"our proposal": 90, "non-semantic": 10, "Navarro-Arribas et al.": 20, "Erola et al.": 30}
        return values[spot.series] * (1 if loss else spot.x)
    return {"Korolova et al.": 5.0 if loss else 999.0, "Poblete et al.": 50.0}[spot.series]


MADE_UP = {
    "batet-2013": (batet, batet_not),
    "milani-fard-2010": (milani, milani_not),
    "pamies-2023": (pamies, pamies_not),
    "sanchez-2018": (sanchez, sanchez_not),
}
