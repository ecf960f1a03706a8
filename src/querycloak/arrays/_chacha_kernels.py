"""The stream of ChaCha20 (Bernstein 2008; RFC 8439, section 2.3), eight blocks at a time.

.. code-block:: text

    state  uint32[16]   4 constants | 8 words of the key | counter of the block | 3 words of the nonce
    out    uint32[*]    128 words for eight blocks: word j of block i is word 8 j + i of them

The order of the words is not the RFC's, so that nothing is moved: no word is left out, none comes twice.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import instruction, lean_kernel

INTERPRET_SMALL = True  # the work grows with the words alone (arrays/jit.py)

UInt32s = npt.NDArray[np.uint32]

LANES, WORDS, COUNTER = 8, 128, 12
QUARTERS = np.array(
    [
        [0, 4, 8, 12],
        [1, 5, 9, 13],
        [2, 6, 10, 14],
        [3, 7, 11, 15],
        [0, 5, 10, 15],
        [1, 6, 11, 12],
        [2, 7, 8, 13],
        [3, 4, 9, 14],
    ]
)
STEPS = ((0, 1, 3, 16), (2, 3, 1, 12), (0, 1, 3, 8), (2, 3, 1, 7))  # x += y; z = (z ^ x) <<< bits


@instruction("chacha")
def _blocks(state: UInt32s, out: UInt32s, at: int) -> None:
    """Write eight blocks, from the counter of the state on, to `out` from word `at` on."""
    words = np.repeat(state[:, None], LANES, axis=1)
    words[COUNTER] += np.arange(LANES, dtype=np.uint32)
    now = words.copy()
    for _ in range(10):
        for quarter in QUARTERS:
            for x, y, z, bits in STEPS:
                now[quarter[x]] += now[quarter[y]]
                mixed = now[quarter[z]] ^ now[quarter[x]]
                now[quarter[z]] = mixed << np.uint32(bits) | mixed >> np.uint32(32 - bits)
    out[at : at + WORDS] = (now + words).ravel()


@lean_kernel
def fill_blocks(state: UInt32s, out: UInt32s) -> None:
    """Fill `out`, a multiple of 128 words, from the counter of the state on, which is moved to after them.

    The counter must not begin again with 0.
    """
    for at in range(0, len(out), WORDS):
        _blocks(state, out, at)
        state[COUNTER] += np.uint32(LANES)


@lean_kernel
def fill_streams(keys: UInt32s, nonce: UInt32s, state: UInt32s, out: UInt32s) -> None:
    """Fill `out`, which has as many words for each row of `keys`, a multiple of 128, from the beginnings of streams.

    keys: uint32[streams, 8]; nonce: uint32[streams], the first word of each nonce; state: uint32[16], of which the
    constants and the other words of the nonce are used.
    """
    each = len(out) // max(len(keys), 1)
    for i in range(len(keys)):
        for j in range(8):
            state[4 + j] = keys[i, j]
        state[COUNTER], state[COUNTER + 1] = np.uint32(0), nonce[i]
        for at in range(i * each, (i + 1) * each, WORDS):
            _blocks(state, out, at)
            state[COUNTER] += np.uint32(LANES)
