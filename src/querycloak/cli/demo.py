"""`querycloak demo`: the whole tour on a generated log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say, say_text

__all__ = ["demo"]

USERS, QUERIES, K = 300, 12_000, 5
GRID: dict[str, list[float]] = {"k": [K], "epsilon": [5.0]}
METHODS = ["semantic-microaggregation", "clump", "semantic-dp", "frequent-queries"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for what it makes.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 1,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generate a log, release it, judge the release, compare methods, and write two pages to open in a browser."""
    from querycloak import api
    from querycloak.cli.early_checks import check_folder
    from querycloak.cli.inputs import open_log
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.tables import print_advice
    from querycloak.evaluation.assess import Assessor
    from querycloak.evaluation.check import check_release
    from querycloak.evaluation.command_words import CommandWords
    from querycloak.evaluation.compare import DEFAULT_TASKS, compare, plan_runs
    from querycloak.logs.locks import locked_directory
    from querycloak.logs.read_options import ReadOptions
    from querycloak.report.check_page import write_check_page
    from querycloak.report.html import write_report

    check_folder(output)
    log_path, release_path, page_path = output / "log.tsv", output / "release.tsv", output / "check.html"
    with locked_directory(output), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        api.write_generated(api.generate(users=USERS, queries=QUERIES, seed=seed, progress=progress), log_path)
        bench = api.Workbench(open_log(log_path, ReadOptions(), progress), progress=progress)
        release = bench.anonymize("semantic-microaggregation", k=K)
        api.write_release(release, release_path)
        judged = check_release(
            Assessor(bench, seed, progress),
            release,
            tasks=DEFAULT_TASKS,
            findings=api.verify(release_path, bench.log),
        )
        write_check_page(judged, page_path)
        repeat = f"querycloak demo -o {output} --seed {seed}"
        command = CommandWords(log=str(log_path))
        plans = plan_runs(METHODS, GRID)
        found = compare(bench, plans, output, seed=seed, repeat=repeat, command=command, progress=progress)
        write_report(found, output)
    held = sum(finding.holds is True for finding in judged.findings)
    seen = sum(finding.holds is not None for finding in judged.findings)
    naive = found.runs[0].exposure
    assert naive is not None
    if as_json:
        files = {"log": log_path, "release": release_path, "check_page": page_path, "report": output / "report.html"}
        about = {"verdict": judged.verdict, "reasons": judged.reasons, "lights": judged.lights}
        advice = {"publish": found.advice.publish, "advice": found.advice.text}
        print_json({**files, "rows": len(bench.log), "users": USERS, "checks_that_hold": held, **about, **advice})
        return
    say_text(release.statement.short() + "\n")
    say(f"log:       {log_path}  ({len(bench.log):,} rows of {USERS} users; generated, no real person)")
    say(f"new ids alone: {naive.exposed_share:.0%} of the people have a query published that nobody else asked")
    say(f"release:   {release_path}  (k = {K}; {held} of {seen} checks of its files hold)")
    say(f"verdict:   {judged.verdict}: {judged.reasons[0]}")
    for light in judged.lights:
        say(f"           {light.colour:>5}  {light.question}: {light.says}")
    say("advice:    ", nl=False)
    print_advice(found)
    say(f"pages:     {page_path} (this release), {output / 'report.html'} (methods side by side)")
