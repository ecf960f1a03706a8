"""Words of plain queries: what `words.clauses_with_sites` finds, for texts in ASCII without web addresses.

A full stop is plain after a word and before a blank; with others a piece may be an address, or a number.

.. code-block:: text

    data    B u y   S a m ' s   c h i p s ,   t e a
    words   b u y s a m c h i p s t e a              in lower case, one after the other
    spans   0..3, 3..6, 6..11, 11..14
    ends    0     0     1      1                     1 = the last word of its clause

What is not plain is left to the reference: its number of words is 0, and `odd` says so.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, lean_kernel

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

BLANK, LETTER, CAPITAL, MARK, AND, APOSTROPHE, MINUS, COMMA, DOT, ODD = range(10)
SENTENCE = 4  # letters of the shortest word after which a full stop ends a clause


def kinds() -> Bytes:
    """Return what each byte is in a query: uint8[256]."""
    out = np.full(256, ODD, np.uint8)
    out[:128] = BLANK
    for text, kind in (
        ("abcdefghijklmnopqrstuvwxyz0123456789", LETTER),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", CAPITAL),
        (';:!?()[]{}"|', MARK),
        ("&", AND),
        ("'", APOSTROPHE),
        ("-", MINUS),
        (",", COMMA),
        (".", DOT),
    ):
        out[list(text.encode())] = kind
    return out


@inlined_kernel
def _is_word(kind: int) -> bool:
    return kind in (LETTER, CAPITAL)


@inlined_kernel
def _plain_before(data: Bytes, kind: Bytes, begin: int, at: int) -> int:
    """Return how many letters and digits, and nothing else, stand between a blank and a place; -1 where others do."""
    i = at
    while i > begin and _is_word(kind[data[i - 1]]):
        i -= 1
    return at - i if i == begin or data[i - 1] == 32 else -1


@lean_kernel
def split_queries(
    data: Bytes,
    offset: Int64s,
    kind: Bytes,
    most: int,
    words: Bytes,
    spans: Int32s,
    ends: Bytes,
    start: Int64s,
    odd: Bytes,
) -> int:
    """Split queries into words, and return how many there are.

    data[offset[q] : offset[q + 1]] = a query, kind = `kinds()`; a query of more than `most` words is odd. To be filled:
    words uint8[bytes + 2 for each &], spans int32[bytes, 2], ends uint8[bytes], start int64[n + 1] = first word of each
    query, odd uint8[n].
    """
    count, size = 0, 0
    for q in range(len(offset) - 1):
        start[q] = count
        begin, end = offset[q], offset[q + 1]
        first_size, plain = size, True
        at = begin
        while at < end and plain:
            k = kind[data[at]]
            if _is_word(k):
                spans[count, 0] = size
                while True:
                    byte = data[at]
                    words[size] = byte + 32 if kind[byte] == CAPITAL else byte
                    size += 1
                    at += 1
                    if at == end:
                        break
                    if not _is_word(kind[data[at]]) and not (
                        kind[data[at]] == APOSTROPHE and at + 1 < end and _is_word(kind[data[at + 1]])
                    ):
                        break
                length = size - spans[count, 0]
                if length > 2 and words[size - 1] == 115 and words[size - 2] == 39:  # 's
                    size -= 2
                spans[count, 1] = size
                ends[count] = 0
                count += 1
                continue
            if k == AND:
                spans[count, 0] = size
                words[size], words[size + 1], words[size + 2] = 97, 110, 100
                size += 3
                spans[count, 1] = size
                ends[count] = 0
                count += 1
            elif k in (MARK, COMMA):
                if (
                    k == COMMA
                    and begin < at < end - 1
                    and 48 <= data[at - 1] <= 57
                    and 48 <= data[at + 1] <= 57  # 10,000
                ):
                    plain = False
                if count > start[q]:
                    ends[count - 1] = 1
            elif k == MINUS:
                if (at == begin or data[at - 1] <= 32) and at + 1 < end and _is_word(kind[data[at + 1]]):
                    plain = False  # a word that is left out
            elif k == DOT:
                length = _plain_before(data, kind, begin, at)
                plain = length >= 0 and (at + 1 == end or data[at + 1] == 32)
                if length >= SENTENCE:
                    ends[count - 1] = 1
            elif k == ODD:
                plain = False
            at += 1
        if not plain or count - start[q] > most:
            count, size = start[q], first_size
            odd[q] = 1
        else:
            odd[q] = 0
            if count > start[q]:
                ends[count - 1] = 1
    start[len(offset) - 1] = count
    return count
