"""Values straight from the bytes, against the standard library."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from querycloak.arrays import vocabulary
from querycloak.arrays.vocabulary import ByteCodes, sliced_texts
from querycloak.logs._values_kernels import find_odd, parse_common_times, parse_numbers
from querycloak.logs.user_ids import normal_user

MISSING = -(1 << 40)


def spans_of(texts: list[bytes]):
    ends = np.cumsum([len(t) for t in texts], dtype=np.int64)
    begins = ends - [len(t) for t in texts]
    data = np.frombuffer(b"".join(texts) or b"\0", dtype=np.uint8)
    return data, np.stack([begins, ends], axis=1).astype(np.int32).reshape(-1, 2)


def reference_time(text: str) -> int:
    if len(text) != 19 or not text.isascii() or any(c in text for c in "+_") or " " in text[:10] + text[11:]:
        return MISSING
    try:
        return int(datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return MISSING


digits = st.integers(0, 99).map(lambda n: f"{n:02d}")
times = st.builds(
    lambda year, *rest: f"{year:04d}-{rest[0]}-{rest[1]} {rest[2]}:{rest[3]}:{rest[4]}",
    st.integers(1, 9999),
    *[digits] * 5,
)
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(  # noqa: DTZ001
    lambda t: t.replace(microsecond=0).isoformat(" ")
)


@given(st.lists(times | moments | st.text("0123456789-: ", min_size=19, max_size=19) | st.text(max_size=3)))
@example(["2000-02-29 00:00:00", "1900-02-29 00:00:00", "2004-12-31 23:59:59", "2006-04-31 00:00:00"])
def test_common_times(texts):
    data, spans = spans_of([text.encode() for text in texts])
    found = np.empty(len(texts), dtype=np.int64)
    bad = parse_common_times(data, spans, 0, MISSING, found)
    expected = [reference_time(text) for text in texts]
    assert found.tolist() == expected
    assert bad == sum(time == MISSING and text != "" for time, text in zip(expected, texts, strict=True))


@given(st.lists(st.integers(-5, 10**12).map(str) | st.text("+-0123456789 .e", max_size=5)), st.integers(0, 10**11))
def test_numbers(texts, highest):
    data, spans = spans_of([text.encode() for text in texts])
    found = np.empty(len(texts), dtype=np.int64)
    bad = parse_numbers(data, spans, 0, highest, MISSING, found)
    digits_of = [text.removeprefix("+") for text in texts]
    expected = [int(d) if d.isdigit() and int(d) <= highest else MISSING for d in digits_of]
    assert found.tolist() == expected
    assert bad == sum(n == MISSING and text != "" for n, text in zip(expected, texts, strict=True))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6)))
def test_whatever_is_not_odd_is_in_its_normal_form(texts):
    data, spans = spans_of([text.encode() for text in texts])
    rows = np.arange(len(texts), dtype=np.int32)
    odd = np.zeros(len(texts), dtype=np.bool_)
    find_odd(data, spans, 0, rows, False, odd)
    assert all(is_odd or normal_user(text) == text for text, is_odd in zip(texts, odd.tolist(), strict=True))
    if all(text.isascii() for text in texts):
        again = np.zeros(len(texts), dtype=np.bool_)
        find_odd(data, spans, 0, rows, True, again)
        assert (odd == again).all()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.sampled_from([1, 7, 1 << 30]))
def test_texts_become_a_column_exactly(texts, longest):
    coded = [text.encode() for text in texts]
    ends = np.cumsum([len(t) for t in coded], dtype=np.int64)
    lengths = np.array([len(t) for t in coded], dtype=np.int64)
    before, vocabulary.LONGEST_SLICE = vocabulary.LONGEST_SLICE, longest
    try:
        assert sliced_texts(b"".join(coded), ends - lengths, lengths).to_list() == texts
    finally:
        vocabulary.LONGEST_SLICE = before
    codes = ByteCodes()
    for text in coded:
        codes.add(text)
    assert codes.to_series().to_list() == list(dict.fromkeys(text for text in texts if text))
