"""`querycloak spark`: the same methods on Apache Spark, for logs beyond one machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from querycloak.cli import completion
from querycloak.cli.command import EXIT_CODES, Command, effective_words
from querycloak.cli.log_options import reads_log
from querycloak.cli.mapping_options import maps_queries
from querycloak.cli.options import DirectoryOption, SafeCsvOption, SeedOption, SignOption, TaxonomyOption
from querycloak.cli.output import JsonOption, QuietOption, print_json
from querycloak.cli.say import say, say_text
from querycloak.cli.setting_options import MethodCommand, given_settings
from querycloak.logs.read_options import ReadOptions

if TYPE_CHECKING:
    from querycloak.spark.reader import SparkInput

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="The same methods on Apache Spark, for logs beyond one machine.",
    rich_markup_mode="markdown",
    epilog=EXIT_CODES,
)

LogsArgument = Annotated[
    list[str],
    typer.Argument(
        help="The query log: files, folders or patterns such as `logs/2026-*/*.tsv.gz`, here or in a store that Spark "
        "knows (`hdfs://`, `s3a://`, `gs://`); Parquet, CSV, TSV or JSON lines, all of one form.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="Where Spark runs: `local[4]`, `spark://HOST:7077`, `yarn`, `k8s://ADDRESS`. Default: where "
        "`spark-submit` says, else all cores of this machine.",
        show_default=False,
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--spark-conf",
        help="A setting of Spark, such as `spark.executor.memory=8g`. Repeat it for more.",
        show_default=False,
    ),
]


@app.callback()
def spark() -> None:
    """Use Apache Spark: the same methods, gate and statement. It needs `querycloak[spark]` and Java 17."""


@app.command("anonymize", cls=MethodCommand)
@reads_log
@maps_queries
def anonymize(
    context: typer.Context,
    log: LogsArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="The folder of the release, which must not be there. Its name may end in .parquet, .csv, .tsv or "
            ".jsonl, and .gz after it, to say in which form its parts are; else it is that of the log.",
            show_default=False,
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="Name of the method; see `querycloak methods`.",
            show_default=False,
            autocompletion=completion.methods,
        ),
    ],
    master: MasterOption = None,
    spark_conf: ConfOption = None,
    taxonomy: TaxonomyOption = None,
    directory: DirectoryOption = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Also write, into a folder of this machine, which original user is behind each published id. This "
            "undoes the release: mode 0700, never share it.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a release that is there; another folder never.")
    ] = False,
    safe_csv: SafeCsvOption = True,
    sign: SignOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
    *,
    mapping: str | None,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Turn a log into a release with Spark: a folder of parts, with its privacy statement next to it.

    `querycloak verify` checks such a folder. What Spark itself says goes to the file that QUERYCLOAK_SPARK_LOG names.

    Example: `querycloak spark anonymize 'logs/*.tsv' -o release --method sweep --master 'local[4]'`
    """
    from querycloak.catalog import method as find_method
    from querycloak.cli.command_line import shown_command
    from querycloak.cli.early_checks import check_knowledge, check_method, columns_to_keep, refuse_missing_columns
    from querycloak.cli.people_checks import check_people_count, check_truth
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.spark_checks import check_apart, check_installed, check_method_on_spark, parse_conf
    from querycloak.releases.signing import read_signing_key
    from querycloak.spark.refusals import refuse_on_spark

    entry, settings = find_method(method), given_settings(context)
    check_installed(master)
    check_method_on_spark(entry.name)
    conf, checked = parse_conf(spark_conf or ()), check_method(entry, settings)
    refuse_on_spark(entry.name, checked)
    if truth is not None:
        check_truth(entry, checked)
        check_apart(output, truth)
    key = None if sign is None else read_signing_key(sign)
    check_knowledge(taxonomy, directory)

    from querycloak.spark.file_system import is_local, local_path
    from querycloak.spark.files import SparkJob, anonymize_files
    from querycloak.spark.session import running_session
    from querycloak.spark.truth_folder import check_truth_output
    from querycloak.spark.writer import check_folder_output

    output = local_path(output) if is_local(output) else output
    check_folder_output(output, overwrite=overwrite)
    if truth is not None:
        check_truth_output(truth)
    command = shown_command(effective_words(context))
    job = SparkJob(
        logs=log,
        output=output,
        method=method,
        settings=settings,
        options=options,
        taxonomy=taxonomy,
        directory=directory,
        mapping=mapping,
        seed=seed,
        truth=truth,
        sign=key,
        safe_csv=safe_csv,
        overwrite=overwrite,
        command=command,
    )
    with ShownProgress(quiet=quiet) as progress:

        def check(found: SparkInput) -> None:
            refuse_missing_columns(found.files.shown, columns_to_keep(checked), found.log.names)
            check_people_count(entry, settings, found.users, found.most_rows, progress)

        progress.start("starting Spark")
        with running_session(master, conf) as session:
            statement = anonymize_files(session, job, progress, check)
        if truth is not None:
            progress.note(f"{truth} tells who is who in the release: keep it, never share it.")
    signature = "unsigned" if key is None else f"Ed25519, key {key.public.fingerprint}"
    written = f"{output.rstrip('/')}.statement.json"
    if as_json:
        about = {"rows": statement.counts_out.get("rows", 0), "signature": signature, "command": command}
        files = {"release": output, "statement_file": written, "truth": truth}
        print_json({"method": statement.method, **files, **about, "statement": statement})
        return
    say_text(statement.short(signature))
    say(f"release:   {output}", f"statement: {written}")


ReleaseOption = Annotated[
    Path,
    typer.Option(
        "--release", "-r", help="A release of it: a folder or a file of this machine, with its statement next to it.",
        show_default=False,
    ),
]  # fmt: skip


@app.command("attack", cls=Command)
@reads_log
def attack(
    log: LogsArgument,
    release: ReleaseOption,
    truth: Annotated[
        Path, typer.Option(help="The release's truth, as `spark anonymize --truth` wrote it.", show_default=False)
    ],
    most_people: Annotated[
        int,
        typer.Option(help="Queries that more people asked are not used: the more, the stronger the attacker.", min=1),
    ] = 1000,
    master: MasterOption = None,
    spark_conf: ConfOption = None,
    as_json: JsonOption = False,
    *,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Count what a release exposes, and link its ids to people by the queries they have in common: a lower bound.

    Example: `querycloak spark attack 'logs/*.tsv' --release release --truth truth`
    """
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.spark_checks import check_installed, parse_conf
    from querycloak.cli.tables import print_attacks, print_exposure

    check_installed(master)
    from querycloak.spark import attack as attack_with_spark
    from querycloak.spark import exposure
    from querycloak.spark.reader import read_log_with_spark
    from querycloak.spark.release_folder import read_release_folder, read_truth_folder
    from querycloak.spark.session import running_session

    conf = parse_conf(spark_conf or ())
    with ShownProgress(quiet=quiet) as progress, running_session(master, conf) as session:
        released, statement = read_release_folder(session, release)
        who = read_truth_folder(session, truth)
        found = read_log_with_spark(session, log, options, progress=progress)
        progress.start("exposure")
        open_to_all = exposure(found.log, released, statement)
        progress.start("attack: record linkage")
        results = attack_with_spark(found.log, released, statement, who, most_people=most_people)
    if as_json:
        print_json({"exposure": open_to_all, "attacks": results, "not_run": {}, "nothing": {}})
        return
    print_exposure(open_to_all)
    print_attacks(results, {}, {})


@app.command("measure", cls=Command)
@reads_log
def measure(
    log: LogsArgument,
    release: ReleaseOption,
    truth: Annotated[
        Path | None, typer.Option(help="The release's truth, for what compares users.", show_default=False)
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(help="Names of measures, separated by commas: kept, top-queries, unchanged.", show_default=False),
    ] = None,
    master: MasterOption = None,
    spark_conf: ConfOption = None,
    as_json: JsonOption = False,
    *,
    options: ReadOptions,
    quiet: QuietOption = False,
) -> None:
    """Say what a release still holds of its log: the measures of the papers that are sums over rows."""
    from querycloak.cli.early_checks import split_names
    from querycloak.cli.progress import ShownProgress
    from querycloak.cli.spark_checks import check_installed, parse_conf
    from querycloak.cli.tables import print_measures

    check_installed(master)
    from querycloak.spark import measure as measure_with_spark
    from querycloak.spark.reader import read_log_with_spark
    from querycloak.spark.release_folder import read_release_folder, read_truth_folder
    from querycloak.spark.session import running_session

    conf = parse_conf(spark_conf or ())
    with ShownProgress(quiet=quiet) as progress, running_session(master, conf) as session:
        released, statement = read_release_folder(session, release)
        who = None if truth is None else read_truth_folder(session, truth)
        found = read_log_with_spark(session, log, options, progress=progress)
        progress.start("measures")
        scores = measure_with_spark(found.log, released, statement, who, split_names(only))
    if as_json:
        print_json({"measures": scores})
        return
    print_measures(scores)
