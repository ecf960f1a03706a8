"""The gate on a cluster refuses what too few people share, identifiers, names, and columns that were not asked for."""

import pytest

from querycloak.errors import GateError
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.releases.statement import PrivacyStatement

pytestmark = pytest.mark.slow

PARENTS = [-1, 0, 1, 2, 3, 4, 5, 5]
LABELS = [["thing"], ["life"], ["animal"], ["beast"], ["mammal"], ["cat"], ["tabby"], ["siamese"]]
ROWS = [
    *((f"u{i}", "green tea shop", 3_600 * i, 1, "http://tea.example") for i in range(3)),
    *((f"v{i}", "Green tea", 3_600 * i, 2, "http://tea.example") for i in range(3)),
    *((f"v{i}", "Green tea", 9, None, "http://two.example") for i in range(2)),
    *((f"t{i}", "tabby", 7, None, None) for i in range(2)),
    *((f"s{i}", "siamese", 7, None, None) for i in range(2)),
    *((f"k{i}", "karen hartwell boston", 7, None, None) for i in range(4)),
    *((f"m{i}", "mail a@b.example", 7, None, None) for i in range(4)),
    ("alone", "日本茶", 7, 1, "http://b.example/?sid=77"),
    *(("machine", f"tea shop {i}", 7, None, None) for i in range(6)),
]


@pytest.fixture(scope="module")
def world(spark):
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

    frame = spark.createDataFrame(ROWS, "user string, query string, time bigint, rank int, url string")
    taxonomy = Taxonomy.from_parents(PARENTS, LABELS)
    return SparkLog.of(frame), Knowledge.of(spark, taxonomy)


def statement(people=6, **changes):
    usual = {
        "method": "sweep",
        "settings": {"min_query_users": people, "rare": "phrase", "famous": 5, "max_rows_per_user": 5},
        "version": "0",
        "model": "none",
        "parameters": {},
        "unit": "none",
        "text_users": people,
        "parts": True,
        "identifiers_dropped": False,
        "covers": (),
        "does_not_cover": (),
        "randomness": "",
        "new_ids": True,
        "counts_in": {},
        "counts_out": {},
        "dropped": {},
    }
    return PrivacyStatement(**{**usual, **changes})


def refusal(world, rows, stated, schema="query string", readings=None, public=None):
    """What the gate says of a table with these rows; "" = nothing."""
    from querycloak.spark.gate_columns import check_columns
    from querycloak.spark.gate_people import Asked
    from querycloak.spark.gate_texts import check_identifiers, check_texts, published_readings
    from querycloak.spark.spark_release import Draft

    log, knowledge = world
    spark = log.frame.sparkSession
    frame = spark.createDataFrame([row if isinstance(row, tuple) else (row,) for row in rows], schema)
    readings = None if readings is None else spark.createDataFrame(readings, "text string, reading string")
    public = None if public is None else spark.createDataFrame([(text,) for text in public], "text string")
    draft = Draft("log", frame, stated, readings=readings, public=public)
    try:
        found = published_readings(draft)
        asked = Asked.of(log, stated)
        check_texts(draft, knowledge, found, asked)
        check_identifiers(draft, knowledge, found, asked)
        check_columns(draft, found, asked)
    except GateError as error:
        return str(error)
    return ""


RIGHT = ["green tea", "tea", "[cat]", "[public]"]
WRONG = {
    "Green tea": "three people typed it so, with a capital",
    "tea shop": "three people, and a machine",
    "een tea": "no words of a query",
    "[tabby]": "two people mean it",
    "日本": "one person",
}


def test_texts_of_one_person_too_few_are_refused(world):
    assert refusal(world, RIGHT, statement(4), public=["[public]"]) == ""
    said = refusal(world, [*RIGHT, *WRONG], statement(4), public=["[public]", "日本"])
    assert f": {len(WRONG) - 1} published texts were asked by fewer than 4 people" in said
    said = refusal(world, ["日本茶"], statement(2), public=["日本茶"])
    assert "1 published texts" in said, "what one person typed is not public"


def test_parts_are_shared_only_where_they_are_promised(world):
    said = refusal(world, ["green tea shop", "green tea", "tea", "[cat]"], statement(3, parts=False))
    assert said.startswith("sweep: 2 published texts were asked by fewer than 3")


def test_hashed_texts_have_readings_that_enough_people_share(world):
    assert refusal(world, ["aa bb"], statement(6), readings=[("aa bb", "green tea")]) == ""
    said = refusal(world, ["aa bb", "cc"], statement(6), readings=[("aa bb", "green tea")])
    assert "not every published text has its reading" in said
    assert "fewer than 6" in refusal(world, ["日本茶"], statement(6), readings=[("日本茶", "green tea")])


def test_identifiers_and_names_are_refused(world):
    stated = statement(4, identifiers_dropped=True)
    assert "1 published texts hold a personal identifier" in refusal(world, ["mail a@b.example", "[cat]"], stated)
    assert "1 published texts hold a name that fewer than 5" in refusal(world, ["karen hartwell", "green tea"], stated)
    settings = stated.settings | {"famous": 4}
    assert refusal(world, ["karen hartwell boston"], statement(4, identifiers_dropped=True, settings=settings)) == ""


CLICKS = "query string, time bigint, rank int, url string"


def test_times_and_clicks(world):
    settings = {"min_query_users": 3, "keep": "time,clicks", "time_grain": "hour"}
    stated = statement(3, settings=settings, time_grain="hour", click_users=3)
    right = [("green tea", 3_600, None, "http://tea.example"), ("green tea shop", None, 1, "http://tea.example")]
    assert refusal(world, right, stated, CLICKS) == ""
    wrong = {
        "others are published": ("green tea", 3_601, None, None),
        "1 clicks are of fewer than 3": ("green tea", 0, None, "http://two.example"),
        "1 clicks with their ranks": ("green tea shop", 0, 2, "http://tea.example"),
        "ranks are published without": ("green tea", 0, 1, None),
    }
    for said, row in wrong.items():
        assert said in refusal(world, [*right, row], stated, CLICKS)
    one = statement(
        1, settings=settings | {"min_query_users": 1}, time_grain="hour", click_users=1, identifiers_dropped=True
    )
    hidden = [("日本茶", 0, None, "http://b.example/?sid=77")]
    assert "URLs hold an identifier" in refusal(world, hidden, one, CLICKS)


def test_columns_that_were_not_asked_for(world):
    stated = statement(1, settings={"keep": "none", "kinds": "column", "time_grain": "day"})
    for column, value in {"time": 0, "url": "x", "category": "x", "kind": "x"}.items():
        kind = "bigint" if column == "time" else "string"
        assert refusal(world, [("tea", value)], stated, f"query string, {column} {kind}") != "", column
    assert refusal(world, [("tea", "phrase")], stated, "query string, kind string") == ""
