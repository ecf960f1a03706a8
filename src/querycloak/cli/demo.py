"""`querycloak demo`: the whole tour on a generated log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from querycloak.cli.log_options import QuietOption

__all__ = ["demo"]

USERS, QUERIES, K = 300, 12_000, 5
GRID: dict[str, list[float]] = {"k": [3, 5, 10], "epsilon": [100.0]}
METHODS = ["sweep", "semantic-microaggregation", "clump", "semantic-dp"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for what it makes.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 1,
    quiet: QuietOption = False,
) -> None:
    """Generate a log, release it, check the release, attack and compare methods, and write a report."""
    from querycloak import api
    from querycloak.cli.inputs import open_log
    from querycloak.cli.progress import ShownProgress
    from querycloak.evaluation.compare import compare, plan_runs
    from querycloak.logs.locks import locked_directory
    from querycloak.logs.read_options import ReadOptions
    from querycloak.report.html import recommendation, write_report

    log_path, release_path = output / "log.tsv", output / "release.tsv"
    with locked_directory(output), ShownProgress(quiet=quiet) as progress:
        progress.tell_compiling()
        api.write_generated(api.generate(users=USERS, queries=QUERIES, seed=seed, progress=progress), log_path)
        bench = api.Workbench(open_log(log_path, ReadOptions(), progress), progress=progress)
        release = bench.anonymize("semantic-microaggregation", k=K)
        api.write_release(release, release_path)
        checks = api.verify(release_path)
        repeat = f"querycloak demo -o {output} --seed {seed}"
        found = compare(bench, plan_runs(METHODS, GRID), output, seed=seed, repeat=repeat, progress=progress)
        write_report(found, output)
    held = sum(check.holds is True for check in checks)
    seen = sum(check.holds is not None for check in checks)
    naive = found.runs[0]
    typer.echo(release.statement.short() + "\n")
    typer.echo(f"log:       {log_path}  ({len(bench.log):,} rows of {USERS} users; generated, no real person)")
    typer.echo(f"release:   {release_path}  (k = {K}; {held} of {seen} checks of its statement hold)")
    typer.echo(f"new ids alone: the worst attack finds {naive.risk:.0%} of the users")
    typer.echo(f"advice:    {recommendation(found)}")
    typer.echo(f"report:    {output / 'report.html'}")
