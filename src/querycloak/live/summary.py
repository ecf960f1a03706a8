"""The end of a run over a stream: its figures and its statement, summed up and written."""

from __future__ import annotations

import json
import resource
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from querycloak.live.run import Run, Summary
from querycloak.logs.atomic import write_text
from querycloak.mapping.modes import stated_mapping
from querycloak.methods.stream.stream_release import flow_figures
from querycloak.methods.stream.stream_statement import TOO_LONG, stream_statement
from querycloak.methods.stream.stream_texts import changes_texts, published_kinds
from querycloak.releases.statement_file import sealed_statement

if TYPE_CHECKING:
    from querycloak.live.converter import Converter
    from querycloak.live.shards import Shard
    from querycloak.randomness import Randomness
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["sum_up", "write_statement", "write_stats"]

NO_COMMITMENT: Final = "no commitment: the records of a stream are not kept"


def sum_up(run: Run, converter: Converter, random: Randomness, seconds: float, *, finished: bool) -> Summary:
    """Return the statement and the figures of what a run has done so far."""
    engine, reader = converter.engine, converter.reader
    left_out = {"unclassified": reader.unclassified if run.settings.unclassified == "drop" else 0, **reader.left_out}
    entered = engine.entered - converter.before + sum(left_out.values())
    figures = flow_figures(engine, converter.delays, converter.fewest if converter.left else 0)
    texts = reader.texts
    told: dict[str, int] = {}
    of_clock = converter.publisher.clock.figures if run.settings.epoch_seconds is not None else {}
    if texts is not None:
        told = published_kinds(converter.kinds)
        told |= {"phrases counted": texts.people.phrases, "phrases full": int(texts.is_full)}
    statement = stream_statement(
        run.method,
        run.settings,
        random,
        counts_in={"rows": entered, "users": reader.known_users},
        counts_out={"rows": converter.left, "users": converter.published_ids},
        dropped={
            "still waiting at the end": engine.waiting + converter.kept,
            TOO_LONG: converter.dropped,
            **left_out,
            **reader.problems.counts,
        },
        figures=figures | {"unclassified": reader.unclassified, "input ended": int(finished), **told, **of_clock},
        columns=tuple(c.name for c in reader.layout.form.columns),
        timed=converter.publisher.has_time,
    )
    if run.shard is not None:
        statement = _of_shard(statement, run, run.shard)
    if run.seed is not None:
        statement = statement.seeded()
    if reader.classifier is not None:
        used = stated_mapping(reader.classifier.mapping)  # nothing is learned from the stream
        statement = replace(statement, mapping=used)
    stats = {
        "method": run.method,
        **({} if run.shard is None else {"shard": str(run.shard)}),
        **run.settings.to_json(),
        "records in": entered,
        "records out": converter.left,
        "records waiting": engine.waiting,
        "records in the open epoch": converter.kept,
        "records dropped": converter.dropped,
        "records unclassified": reader.unclassified,
        "records not published": dict(reader.left_out),
        **told,
        **of_clock,
        "phrase bytes": 0 if texts is None else texts.memory,
        "lines skipped": dict(reader.problems.counts),
        **converter.delays.figures(),
        "seconds": seconds,
        "records per second": entered / max(seconds, 1e-9),
        "waiting users per level": engine.waiting_per_level(),
        "mean size of the query bags": figures["mean bag size"],
        "fewest candidates": figures["fewest candidates"],
        "categories": len(engine.tree) - (reader.unclassified == 0),
        "users": reader.known_users,
        "engine bytes": engine.memory,
        "peak memory bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "finished": finished,
    }
    return Summary(statement, stats, finished)


def _of_shard(statement: PrivacyStatement, run: Run, shard: Shard) -> PrivacyStatement:
    """Say that a statement is of a part of a stream, and what that changes."""
    whole = f"this is shard {shard.index} of {shard.count}: all shards together are one release"
    others = [f"{whole}, and the numbers here are of this one"]
    if changes_texts(run.settings.rule):
        others.append("people who share a text are counted within the shard: fewer texts are published than of one run")
    if run.secret is not None:
        others.append("whoever has the secret of the shards can tell whose an id is; it is kept until it is removed")
        others.append("another run with the same secret publishes people under the same ids")
    return replace(statement, does_not_cover=(*statement.does_not_cover, *others))


def write_stats(run: Run, summary: Summary) -> None:
    """Write the figures, where that is asked for."""
    if run.stats is not None:
        write_text(run.stats, json.dumps(summary.stats, indent=2) + "\n")


def write_statement(run: Run, converter: Converter, statement: PrivacyStatement, digest: str) -> None:
    """Write the statement of an output with this digest, where it has a path."""
    if run.statement_path is not None:
        said = replace(statement, command=run.command, input_commitment=NO_COMMITMENT)
        sealed = sealed_statement("stream", said, converter.reader.published_form, digest, run.key)
        write_text(run.statement_path, sealed.decode())
