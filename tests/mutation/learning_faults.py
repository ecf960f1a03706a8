"""Faults of what is kept of directories, and of categories learned from clicks."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["LEARNING"]

CACHE = "knowledge/cache.py"
CACHE_TESTS = "knowledge/test_cache.py"
CLICKS = "mapping/click_categories.py"
CLICK_TESTS = "mapping/test_click_categories.py"
USE_TESTS = "evaluation/test_learning.py"

LEARNING: list[Fault] = [
    fault(
        "cache: found by size and time",
        CACHE,
        "hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).digest()",
        "_digest(str(path.stat().st_mtime_ns).encode())",
        f"{CACHE_TESTS}::test_another_content_is_read_though_size_and_time_are_the_same",
    ),
    fault(
        "cache: a damaged file is believed",
        CACHE,
        "_digest(data[_DIGEST_BYTES:]) != data[:_DIGEST_BYTES]",
        "len(data) < 0",
        f"{CACHE_TESTS}::test_a_damaged_file_is_read_again_and_written_again",
    ),
    fault(
        "learning: a user votes as often as he asked",
        CLICKS,
        '        .unique(["user", "query"], keep="first")\n',
        "",
        f"{CLICK_TESTS}::test_one_vote_per_person_and_query_like_the_reference",
    ),
    fault(
        "learning: differential privacy may learn",
        "evaluation/learning.py",
        "    if private:",
        "    if private is None:",
        f"{USE_TESTS}::test_differential_privacy_learns_nothing_from_the_log",
    ),
    fault(
        "learning: the statement calls it public",
        "mapping/learned_sites.py",
        "        learned=True,\n",
        "",
        f"{USE_TESTS}::test_queries_without_a_click_get_a_category_and_the_statement_says_so",
    ),
    fault(
        "learning: one person teaches the name of a site",
        "mapping/learned_sites.py",
        '(pl.col("people") >= LEAST_PEOPLE) & ',
        "",
        f"{USE_TESTS}::test_two_people_teach_nothing",
    ),
    fault(
        "learning: a site that is clicked now and then",
        "mapping/learned_sites.py",
        ' & (pl.col("clicks") > MOST * pl.col("all"))',
        "",
        f"{USE_TESTS}::test_two_people_teach_nothing",
    ),
    fault(
        "vectors: the statement tells the path of a file",
        "mapping/modes.py",
        "{load_vectors(vectors).digest[:_DIGITS]}",
        "{vectors}",
        "mapping/test_own_vectors.py",
    ),
]
