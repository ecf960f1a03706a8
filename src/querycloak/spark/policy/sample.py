"""Rule `sample` on a cluster: a share of the people, or of the query events, exactly, by the words of one machine.

Each person, or event, has a random word by its name. Those with the least words are drawn, and the largest of these is
found digit by digit: of each digit a histogram of fixed size comes to the driver, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql.window import Window

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.policy.rule_sample import NOT_DRAWN, event_words
from querycloak.spark.kept import kept
from querycloak.spark.text_functions import on_texts

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from querycloak.methods.policy.rule_sample import Sample
    from querycloak.randomness import Randomness
    from querycloak.spark.policy.rows import PolicyRows

__all__ = ["draw_sample", "largest_drawn"]

DIGIT: Final = 16
"""bits"""
SIGN: Final = np.uint64(1 << 63)


def draw_sample(rows: PolicyRows, rule: Sample, random: Randomness) -> PolicyRows:
    """Keep the rows of a random share of the people, or of the events, rounded to a whole number of them."""
    keyed = KeyedRandomness(random.child("sample"))
    frame = rows.frame
    if rule.of == "people":
        word = _words_of_people(keyed)
        words = frame.select("user").distinct().select(word.alias("word"))
    else:
        frame = kept(frame.withColumn("copy", _copy(rows)).withColumn("word", _words_of_events(keyed)))
        word = F.col("word")
        words = frame.select("word").distinct()
    last = largest_drawn(words, rule.share)
    drawn = frame.where(word <= last) if last is not None else frame.where(F.lit(False))
    drawn = kept(drawn.drop("copy", "word"))
    return replace(rows, frame=drawn).note(NOT_DRAWN, rows.left - drawn.count())


def largest_drawn(words: DataFrame, share: float) -> int | None:
    """Return the largest word of a share of all of them, or one between it and the next; None = none is drawn.

    words: `word` bigint, which has the order of the words without a sign.
    """
    words = kept(words)
    most, low = -1, -(1 << 63)
    before = 0  # words below `low`
    for shift in range(64 - DIGIT, -1, -DIGIT):
        inside = words.where((F.col("word") >= low) & (F.col("word") <= low + (1 << (shift + DIGIT)) - 1))
        digit = F.shiftright(F.col("word"), shift).bitwiseAND((1 << DIGIT) - 1)
        digit = digit.bitwiseXOR(1 << (DIGIT - 1)) if shift == 64 - DIGIT else digit
        found: dict[int, int] = dict(inside.groupBy(digit.alias("digit")).count().collect())
        if most < 0:
            most = round(share * sum(found.values()))
        if not most:
            return None
        for value in sorted(found):
            if before + found[value] >= most:
                low += value << shift
                break
            before += found[value]
        if before + found[value] == most:
            return low + (1 << shift) - 1
    return low


def _signed(words: npt.NDArray[np.uint64]) -> pa.Array:
    """Return words as numbers with a sign, in the same order."""
    return pa.array((words ^ SIGN).view(np.int64))


def _words_of_people(keyed: KeyedRandomness) -> Column:
    def draw(users: pa.Array) -> pa.Array:
        coded = users.dictionary_encode()
        return _signed(keyed.words(coded.dictionary.to_pylist())[:, 0]).take(coded.indices)

    return on_texts(draw, "bigint", F.col("user"))


def _words_of_events(keyed: KeyedRandomness) -> Column:
    def draw(users: pa.Array, queries: pa.Array, times: pa.Array, copies: pa.Array) -> pa.Array:
        user, query = users.dictionary_encode(), queries.dictionary_encode()
        of_user = keyed.words(user.dictionary.to_pylist())[:, 0][user.indices.to_numpy()]
        of_query = keyed.words(query.dictionary.to_pylist(), turn=1)[:, 0][query.indices.to_numpy()]
        time = times.fill_null(0).to_numpy(zero_copy_only=False)
        return _signed(event_words(of_user, of_query, time, copies.to_numpy(zero_copy_only=False)))

    time, copy = F.col("asked at"), F.col("copy").cast("bigint")
    return on_texts(draw, "bigint", F.col("user"), F.col("asked query"), time, copy)


def _copy(rows: PolicyRows) -> Column:
    """Return which one of several events of one person, query and time each row is of, from 0; clicks come last."""
    clicks = [name for name in ("url", "rank") if name in rows.columns]
    others = [name for name in rows.columns if name not in clicks]
    same = Window.partitionBy("user", "asked query", "asked at").orderBy("of click", *clicks, *others, "text")
    unclicked = F.count_if(~F.col("of click")).over(same.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    return F.when(F.col("of click"), unclicked).otherwise(F.row_number().over(same) - 1)
