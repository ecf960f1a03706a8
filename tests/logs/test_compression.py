from __future__ import annotations

import gzip

import pytest
import zstandard

from querycloak.errors import InputError
from querycloak.logs.compression import compression_of, open_binary

TEXT = b"".join(b"line %d\n" % i for i in range(200_000))
PACKED = {"": TEXT, "gz": gzip.compress(TEXT, 1), "zst": zstandard.compress(TEXT)}


@pytest.fixture(params=PACKED)
def packed(request, tmp_path):
    path = tmp_path / "data"  # no extension: the content decides
    path.write_bytes(PACKED[request.param])
    return request.param, path


def test_recognised_by_content(packed):
    name, path = packed
    assert compression_of(path) == name
    with open_binary(path) as file:
        assert file.read() == TEXT
    with open_binary(path) as file:
        assert sum(1 for _ in file) == 200_000


@pytest.mark.parametrize("name", ["gz", "zst"])
def test_several_frames(name, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(PACKED[name] * 2)
    with open_binary(path) as file:
        assert file.read() == TEXT * 2


@pytest.mark.parametrize("name", ["gz", "zst"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.999])
def test_cut_short(name, keep, tmp_path):
    path = tmp_path / "data"
    data = PACKED[name]
    path.write_bytes(data[: int(len(data) * keep)])
    with open_binary(path) as file, pytest.raises(InputError, match="cut short"):
        file.read()


@pytest.mark.parametrize("name", ["gz", "zst"])
def test_damaged(name, tmp_path):
    path = tmp_path / "data"
    data = bytearray(PACKED[name])
    data[30:400] = b"\xff" * 370
    path.write_bytes(data)
    with open_binary(path) as file, pytest.raises(InputError, match=r"damaged|cut short"):
        file.read()


def test_missing_and_directory(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_binary(tmp_path / "none")
    with pytest.raises(InputError, match="found a directory"):
        open_binary(tmp_path)


def test_empty(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"")
    with open_binary(path) as file:
        assert file.read() == b""
