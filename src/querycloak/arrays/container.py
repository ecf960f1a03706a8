r"""A file of arrays and JSON, for state that is saved and read again. Nothing in it is ever evaluated.

    8 bytes    b"QCSTATE\n"
    4 bytes    version of this layout: 1        (numbers are little-endian)
    8 bytes    length of the header
    header     JSON in UTF-8: {"arrays": [[name, type, length], …], "values": {…}}
    arrays     one after the other, in the order of the header, without gaps
    32 bytes   SHA-256 of all before

The digest finds damage. It is no signature: whoever writes a state by hand can write the digest too, so whoever reads
one must check what the values mean (`arrays.checks`). The file holds no offsets and no shapes that could lie: sizes
follow from the header, and must add up to the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from querycloak.arrays.checks import Arrays, BadStateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["OlderStateError", "read_container", "write_container"]

MAGIC: Final = b"QCSTATE\n"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sIQ")
DIGEST: Final = 32
TYPES: Final = {name: np.dtype(name) for name in ("|u1", "<i4", "<i8", "<u8")}
PICKLES: Final = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
LONGEST_HEADER: Final = 1 << 24


class OlderStateError(ValueError):
    """A state in the form that earlier versions wrote, which is not read."""


def write_container(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
    """Write arrays of one dimension, and values that JSON can hold."""
    listed, parts = [], []
    for name, array in arrays.items():
        dtype = np.dtype(array.dtype).newbyteorder("<").str
        if dtype not in TYPES or array.ndim != 1:
            raise TypeError(f"{name}: cannot save an array of {array.dtype} with {array.ndim} dimensions")
        listed.append([name, dtype, len(array)])
        parts.append(np.ascontiguousarray(array, dtype=TYPES[dtype]))
    header = json.dumps({"arrays": listed, "values": values}).encode()
    if len(header) > LONGEST_HEADER:
        raise ValueError("the values are too many for the header of a state")
    digest = hashlib.sha256()
    for block in (
        HEAD.pack(MAGIC, VERSION, len(header)),
        header,
        *(part.tobytes() for part in parts),
    ):
        digest.update(block)
        file.write(block)
    file.write(digest.digest())


def read_container(file: IO[bytes], size: int) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_container` wrote; `size` = bytes of the file. BadStateError where it is anything else."""
    digest = hashlib.sha256()

    def read(n: int) -> bytes:
        data = file.read(n)
        if len(data) != n:
            raise BadStateError("it is cut short")
        digest.update(data)
        return data

    start = file.read(HEAD.size)
    if start.startswith(PICKLES):
        raise OlderStateError
    if len(start) < HEAD.size or size < HEAD.size + DIGEST:
        raise BadStateError("it is cut short")
    magic, version, length = HEAD.unpack(start)
    if magic != MAGIC or version != VERSION:
        raise BadStateError("it is not a state of this version")
    digest.update(start)
    left = size - HEAD.size - DIGEST
    if length > min(left, LONGEST_HEADER):
        raise BadStateError("its header is longer than the file")
    listed, values = _parse_header(read(length))
    left -= length
    arrays: Arrays = {}
    for name, dtype, count in listed:
        bytes_needed = count * dtype.itemsize
        if bytes_needed > left:  # before anything of that size is made
            raise BadStateError("its arrays are longer than the file")
        left -= bytes_needed
        arrays[name] = np.frombuffer(read(bytes_needed), dtype=dtype)
    if left:
        raise BadStateError("it is longer than its arrays")
    if file.read(DIGEST + 1) != digest.digest():
        raise BadStateError("it was damaged")
    return arrays, values


def _refuse_constant(_: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def _parse_header(text: bytes) -> tuple[list[tuple[str, np.dtype[Any], int]], dict[str, Any]]:
    try:
        header = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadStateError("its header is not JSON") from None
    if not isinstance(header, dict) or header.keys() != {"arrays", "values"}:
        raise BadStateError("its header is not that of a state")
    listed, values = header["arrays"], header["values"]
    if not isinstance(listed, list) or not isinstance(values, dict):
        raise BadStateError("its header is not that of a state")
    out: dict[str, tuple[str, np.dtype[Any], int]] = {}
    for entry in listed:
        match entry:
            case [str(name), str(dtype), int(count)] if dtype in TYPES and count >= 0 and name not in out:
                out[name] = (name, TYPES[dtype], int(count))
            case _:
                raise BadStateError("its header lists what is not an array")
    return list(out.values()), values
