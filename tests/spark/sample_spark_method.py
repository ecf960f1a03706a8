"""A small method for tests of what is around methods: queries that several people asked, under new ids, with times."""

from __future__ import annotations

from querycloak import __version__
from querycloak.releases.statement import PrivacyStatement


def several_people(log, settings, random, knowledge):
    del knowledge
    from pyspark.sql import functions as F  # noqa: N812

    from querycloak.spark.new_ids import NewIds, all_digits
    from querycloak.spark.spark_release import Draft

    people = log.frame.groupBy("query").agg(F.countDistinct("user").alias("people"))
    asked = people.where(F.col("people") >= settings.min_query_users).select("query")
    kept = log.frame.join(asked, "query", "left_semi")
    ids = NewIds.of(log.users, random, avoid=log.users, digits=all_digits(log.users))
    columns = [name for name in ("query", "time", "rank", "url") if name in kept.columns]
    frame = ids.put_on(kept).select(F.col("id").alias("user"), *columns)
    truth = ids.put_on(kept.select("user").distinct()).select("id", "user")
    statement = PrivacyStatement(
        method="sweep",
        settings=settings.to_json(),
        version=__version__,
        model="none",
        parameters={},
        unit="none",
        text_users=settings.min_query_users,
        covers=("nothing",),
        does_not_cover=("all",),
        randomness="of a test",
        new_ids=True,
        counts_in=log.counts_in,
        counts_out={},
        dropped=dict(log.dropped),
    )
    return Draft("log", frame, statement, truth)
