"""The quick look at the first rows of a stream never lets pass what the judge would stop at."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import InputError
from querycloak.live.first_rows import surely_sound
from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.sanity import check_columns

WORDS = [
    "tea",
    "green tea",
    "a1",
    "12",
    "12345",
    "ann@mail.com",
    "http://a.b/",
    "{x",
    "ann lee",
    "select x",
    " Ann ",
    "x_y",
    "4.5",
]
TEXT = st.sampled_from(WORDS) | st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=4)


def judged_sound(rows):
    log = QueryLog.of([user for user, _ in rows], [query for _, query in rows])
    try:
        check_columns(replace(log), "a stream", ReadOptions(), whole=False)
    except InputError:
        return False
    return True


@pytest.mark.slow
@given(
    st.lists(TEXT, min_size=1, max_size=30), st.lists(TEXT, min_size=1, max_size=60), st.randoms(use_true_random=False)
)
def test_what_looks_sound_is_judged_sound(users, queries, draw):
    rows = [(draw.choice(users), draw.choice(queries)) for _ in range(80)]
    rows = [(user, query) for user, query in rows if user.strip() and query.strip()]
    if surely_sound(rows):
        assert judged_sound(rows)


def test_an_ordinary_log_is_sound_at_a_look_and_one_of_ids_is_not():
    ordinary = [(str(i % 20), f"green tea {i}") for i in range(100)]
    assert surely_sound(ordinary)
    assert not surely_sound([(user, user * 5) for user, _ in ordinary])
    assert not surely_sound([(user, f"u{user}") for user, _ in ordinary])


def test_a_small_stream_as_in_the_paper_loads_neither_polars_nor_numba(tmp_path):
    lines = [f"{i % 13}\tgreen tea {i}\t2006-03-01 10:00:00\tTop/Food/Tea" for i in range(100)]
    (tmp_path / "log.tsv").write_text("\n".join(["user\tquery\ttime\tcategory", *lines]) + "\n")
    code = (
        "import sys; from querycloak.live.runner import Run, run_stream; from pathlib import Path;"
        "from querycloak.arrays.jit import expect_input;"
        "from querycloak.methods.stream.stream_statement import StreamSettings; expect_input(100);"
        "run_stream(Run('self-adjusting', StreamSettings(k=2, as_in_paper=True), Path('log.tsv'), Path('out.tsv')));"
        "print(sorted({'polars', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
