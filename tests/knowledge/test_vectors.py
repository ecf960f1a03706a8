"""Files of word vectors: ours, one's own, and damaged ones."""

import json
import os

import numpy as np
import pytest

from querycloak.errors import InputError
from querycloak.knowledge.vectors import FILE, MAGIC, load_vectors, quantised

ROWS = np.array([[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]])


def write(path, rows=ROWS, text="tea\ncake\nxyz\n", kind="float16", **header):
    matrix = quantised(rows) if kind == "int8" else rows.astype(np.float16)
    header = {"words": 3, "dimensions": 2, "type": kind, "bytes": len(text)} | header
    path.write_bytes(MAGIC + json.dumps(header).encode() + b"\n" + text.encode() + matrix.tobytes())
    return path


def test_ours_has_the_words_people_type_and_unit_rows():
    vectors = load_vectors()
    assert len(vectors.words) == 100_000
    assert {"yahoo", "nike", "lyrics", "mp3"} <= vectors.words.keys()
    assert list(vectors.words.values()) == list(range(100_000))
    length = np.sqrt((vectors.matrix.astype(np.int64) ** 2).sum(axis=1))
    assert np.abs(length - 127).max() < 4.1  # rounding of 64 numbers by at most a half each


def test_similar_words_are_near():
    vectors = load_vectors()
    assert vectors.similarity("nike", "adidas") > 0.7
    assert vectors.similarity("nike", "goddess") < 0.3
    assert vectors.similarity("nike", "no such word") == 0


def test_the_embedded_file_is_small_and_has_its_notice():
    from importlib.resources import files

    folder = files("querycloak.knowledge")
    assert len((folder / FILE).read_bytes()) <= 8_000_000
    notice = (folder / "vectors-NOTICE.txt").read_text()
    assert "GloVe" in notice
    assert "MIT License" in notice


@pytest.mark.parametrize("kind", ["int8", "float16"])
def test_a_file_of_ones_own(tmp_path, kind):
    vectors = load_vectors(write(tmp_path / "v.bin", kind=kind))
    assert vectors.words == {"tea": 0, "cake": 1, "xyz": 2}
    assert vectors.matrix.tolist() == [[76, 102], [0, -127], [0, 0]]
    assert len(vectors.digest) == 64


def test_products_in_single_precision_are_exact():
    floats = load_vectors().floats[:2_000]
    exact = load_vectors().matrix[:2_000].astype(np.int64)
    assert ((floats @ floats.T) == exact @ exact.T).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"dimensions": 3}, "wrong shape"),
        ({"words": 2}, "wrong shape"),
        ({"words": 0}, "whole numbers from 1"),
        ({"type": "float64"}, "int8 or float16"),
        ({"type": ["int8"]}, "int8 or float16"),
        ({"bytes": "12"}, "whole numbers from 1"),
        ({"bytes": 10**12}, "cut short"),
        ({"dimensions": 2_000}, "1,024"),
        ({"rows": np.array([[np.nan, 1], [1, 1], [1, 1]])}, "not a number"),
        ({"words": 3, "rows": ROWS, "kind": "int8", "dimensions": 1}, "wrong shape"),
    ],
)
def test_a_file_of_the_wrong_shape_is_refused(tmp_path, wrong, says):
    with pytest.raises(InputError, match=says):
        load_vectors(write(tmp_path / "v.bin", **wrong))


@pytest.mark.parametrize("words", ["tea\ntea\nxyz\n", "tea\n\nxyz\n", "tea\ncake\n"])
def test_words_must_be_different(tmp_path, words):
    with pytest.raises(InputError, match="different words"):
        load_vectors(write(tmp_path / "v.bin", text=words))


def test_files_that_are_something_else_are_refused(tmp_path):
    path = write(tmp_path / "v.bin")
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            load_vectors(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match="wrong shape"):
        load_vectors(path)
    path.write_bytes(MAGIC + b"[" * 4_000 + b"\n")
    with pytest.raises(InputError, match="must be JSON"):
        load_vectors(path)
    path.write_text("the 0.1 0.2\n")
    with pytest.raises(InputError, match="tools/build_vectors"):
        load_vectors(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_vectors(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no plain file"):  # it would wait for a writer
        load_vectors(tmp_path / "pipe")
