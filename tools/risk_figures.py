"""Make docs/risk.md: what every method exposes, and how often every attack is right, at k = 5 and epsilon = 5.

    python tools/risk_figures.py                                      # the generated log alone
    python tools/risk_figures.py --excite excite-small.log

Runs are kept in `--work` and taken from there when the command is given again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import querycloak as qc
from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.exposure import exposure_rows

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.run import Run

GRID: dict[str, list[float]] = {"k": [5], "epsilon": [5.0]}
USERS, QUERIES, SEED = 400, 40_000, 1
CARDS = Path(__file__).parent.parent / "docs" / "methods"
START, END = "<!-- risk: made by tools/risk_figures.py -->", "<!-- end of risk -->"
PAGE = Path(__file__).parent.parent / "docs" / "risk.md"
QUESTIONS = ("singling out", "linkability", "inference")

HEAD = """# What every method exposes, and how often every attack is right

Made by `python tools/risk_figures.py --excite excite-small.log`; nothing here was written by hand. Methods run with
their defaults as they are now, k = 5 or epsilon = 5. `pseudonyms only` is the log with new ids and nothing else.

How to read a cell: **right (without) ≤ at most**. *Right* is how often the attacker is right, in percent; in brackets
how often the same attacker is right without the release; *at most* is the upper end of the 95 % interval of the
difference, which is what [limits and advice](threat-model.md#how-a-rate-is-read) look at. Lower is better everywhere.
An empty cell: the attack does not fit the release, or could not be run.
"""


class Told:
    """Progress that prints each run."""

    def start(self, step: str, total: int | None = None) -> None:
        """Say nothing."""

    def advance(self, units: int = 1) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Print it."""
        print(text, flush=True)


def run(name: str, log: qc.QueryLog, work: Path, directory: qc.SiteDirectory | None) -> Comparison:
    """Compare all methods that fit the log."""
    bench = qc.Workbench(log, directory=directory)
    methods = [m for m in (*METHODS, *STREAM_METHODS) if directory is not None or not m.startswith(("url", "word"))]
    if log.url is None:
        methods = [m for m in methods if m not in {"url-microaggregation", "click-graph-removal"}]
    return compare(bench, plan_runs(methods, GRID), work / name, seed=SEED, progress=Told())


def tables(title: str, found: Comparison) -> list[str]:
    """Return the lines of one log."""
    lines = [f"\n## {title}\n", f"{found.log['users']:,} people, {found.log['rows']:,} rows.\n"]
    runs = [r for r in found.runs if r.error is None]
    lines += ["### Exposure: no attacker, just reading\n"]
    what = list(dict.fromkeys(row[0] for r in runs if r.exposure is not None for row in exposure_rows(r.exposure)))
    lines += table(["method", *what], [[r.name, *_values(r, what)] for r in runs])
    for question in QUESTIONS:
        names = list(dict.fromkeys(a.attack for r in runs for a in r.attacks if a.question == question))
        lines += [f"\n### {question.capitalize()}\n"]
        rows = []
        for r in runs:
            by_name = {a.attack: a for a in r.attacks}
            rows.append([r.name, *(_cell(by_name.get(n)) for n in names)])
        lines += table(["method", *names], rows)
    lines += [
        "\n### What each run is good for\n",
        "1 = the original log, 0 = the same method run blindly; higher is better.\n",
    ]
    tasks = [u.task for u in runs[0].utility]
    lines += table(
        ["method", *tasks],
        [
            [
                r.name,
                *(
                    "-" if (u := r.task(t)) is None or not u.possible or u.scaled is None else f"{u.scaled:.2f}"
                    for t in tasks
                ),
            ]
            for r in runs
        ],
    )
    lines += ["\n### Advice\n", found.advice.text + "\n"]
    for verdict in found.advice.verdicts:
        for failed in verdict.failed[:3]:
            lines.append(f"- {verdict.run}: ({failed.number}) {failed.says}")
    broken = [f"- {r.name}: {r.error}" for r in found.runs if r.error is not None]
    if broken:
        lines += ["\n### Not run\n", *broken]
    return lines


def _values(r: Run, what: list[str]) -> list[str]:
    found = {} if r.exposure is None else {row[0]: row[1] for row in exposure_rows(r.exposure)}
    return [found.get(name, "") for name in what]


def _kept(r: Run, task: str) -> str:
    found = r.task(task)
    return "-" if found is None or not found.possible or found.scaled is None else f"{found.scaled:.2f}"


def _cell(attack: AttackResult | None) -> str:
    if attack is None or not attack.targets:
        return ""
    if not attack.names_people:
        return f"{100 * attack.rate:.1f}"
    return f"{100 * attack.rate:.1f} ({100 * attack.baseline.rate:.1f}) ≤ {100 * attack.lift_high:.1f}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table in Markdown."""
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def with_risk(card: str, run_: Run, found: Comparison) -> str:
    """Return a method's card with its figures about people: the block between two marks, before the last section."""
    exposed = run_.exposure
    assert exposed is not None
    rows = [["people with a query published that nobody else asked", f"{exposed.exposed_share:.0%}"],
            ["rows that are such a query", f"{exposed.own_row_share:.1%}"]]  # fmt: skip
    for question, risks in (("linked to their published id", {"link"}), ("claimed to have asked something", {"claim"}),
                            ("told to be in the log (2 AUC - 1)", {"membership"})):  # fmt: skip
        results = [a for a in run_.attacks if a.risk in risks and a.targets]
        if results:
            worst = max(results, key=lambda a: a.judged)
            rows.append([f"{question}: `{worst.attack}`, % right (without) ≤ at most", _cell(worst)])
    verdict = next(v for v in found.advice.verdicts if v.run == run_.name)
    says = "; ".join(f"({c.number}) {c.says}" for c in verdict.failed[:2]) or "may be published"
    settings = " ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in run_.settings.items())
    block = [
        START,
        "## Risk to people",
        "",
        f"`{run_.method} {settings}`".replace(" `", "`")
        + f" on the generated log of [risk](../risk.md) ({USERS} people); lower is better:",
        "",
        *table(["what", "figure"], rows),
        "",
        f"Advice: {says}.",
        END,
    ]
    text = "\n".join(block)
    if START in card:
        return card[: card.index(START)] + text + card[card.index(END) + len(END) :]
    last = card.rindex("\n## ")
    return card[: last + 1] + text + "\n\n" + card[last + 1 :]


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--excite", type=Path, help="a log in the form of Excite")
    parser.add_argument("--work", type=Path, default=Path("risk-figures"), help="directory for finished runs")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    made = qc.generate(users=USERS, queries=QUERIES, seed=SEED)
    qc.write_generated(made, given.work / "log.tsv")
    directory = qc.load_directory(given.work / "log.directory.tsv")
    found = run("generated", qc.read_log(given.work / "log.tsv"), given.work, directory)
    lines = [
        HEAD,
        *tables(f"A generated log (`querycloak generate --users {USERS} --queries {QUERIES} --seed {SEED}`)", found),
    ]
    if given.excite is not None:
        lines += tables("Excite, a real log", run("excite", qc.read_log(given.excite), given.work, None))
    given.output.write_text("\n".join(lines) + "\n")
    for run_ in found.runs:
        card = CARDS / f"{run_.method}.md"
        if run_.error is None and not run_.baseline and card.exists():
            card.write_text(with_risk(card.read_text(), run_, found))


if __name__ == "__main__":
    main()
