"""Ids of a run that several processes agree on: SipHash-2-4 of the user, under a secret key.

SipHash is a pseudorandom function for short texts: without its key of 128 bits nobody can tell ids from random ones. A
stream has an id for each of its users, so it is the quick one of the kernels; ids of a period, of which there are few
at a time, are `keyed_ids`. With 16 hexadecimal digits two of a million ids are the same once in tens of millions of
runs; with 16 decimal ones, where users are numbers, once in sixteen thousand. Then the run ends with an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.arrays._vocabulary_kernels import write_digits
from querycloak.methods.stream._run_ids_kernels import siphash_texts
from querycloak.methods.stream.keyed_ids import DIGITS, HEX, LEAST, ROOM

if TYPE_CHECKING:
    from querycloak.arrays.vocabulary import ByteCodes

__all__ = ["run_id_width", "run_ids", "text_hashes"]


def run_id_width(*, digits: bool) -> int:
    """Return the length of each id."""
    return DIGITS if digits else HEX


def run_ids(key: bytes, users: ByteCodes, first: int, *, digits: bool) -> npt.NDArray[np.uint8]:
    """uint8[n, width]: the ids of all users from a code on; `key` has 16 bytes."""
    out = np.empty(len(users) - first, dtype=np.uint64)
    siphash_texts(np.frombuffer(key, dtype="<u8").astype(np.uint64), users.texts, users.ends, first, out)
    if digits:  # some ids have one more of about 2,300 values than others, which tells nothing of the user
        out = out % np.uint64(ROOM) + np.uint64(LEAST)
    texts = np.empty((len(out), run_id_width(digits=digits)), dtype=np.uint8)
    write_digits(out, 10 if digits else 16, texts)
    return texts


def text_hashes(key: bytes, texts: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """uint64[n]: keyed hashes of texts after each other; text i is from ends[i] to ends[i + 1], and ends[0] is 0."""
    out = np.empty(len(ends) - 1, dtype=np.uint64)
    siphash_texts(np.frombuffer(key, dtype="<u8").astype(np.uint64), texts, ends, 0, out)
    return out
