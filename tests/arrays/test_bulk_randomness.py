"""Bulk words: ChaCha20 as RFC 8439 has it, under a key that no other call has."""

from __future__ import annotations

import numpy as np
import pytest
from jit import JIT

from querycloak.arrays import _chacha_kernels as kernels
from querycloak.arrays import bulk_randomness
from querycloak.arrays.bulk_randomness import BulkRandomness

# RFC 8439: key, counter, nonce, block. Section 2.3.2, then test vectors 1, 2, 3 and 5 of appendix A.1.
VECTORS = [
    (
        bytes(range(32)),
        1,
        "000000090000004a00000000",
        (
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
        ),
    ),
    (
        bytes(32),
        0,
        "000000000000000000000000",
        (
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        ),
    ),
    (
        bytes(32),
        1,
        "000000000000000000000000",
        (
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
        ),
    ),
    (
        bytes(31) + b"\x01",
        1,
        "000000000000000000000000",
        (
            "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
            "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"
        ),
    ),
    (
        bytes(32),
        0,
        "000000000000000000000002",
        (
            "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
            "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d"
        ),
    ),
]


def state_of(key: bytes, counter: int, nonce: str) -> np.ndarray:
    text = b"expand 32-byte k" + key + counter.to_bytes(4, "little") + bytes.fromhex(nonce)
    return np.frombuffer(text, dtype="<u4").astype(np.uint32)


def blocks(out: np.ndarray) -> list[str]:
    """Return blocks in the order of the RFC."""
    return [part[:, i].astype("<u4").tobytes().hex() for part in out.reshape(-1, 16, 8) for i in range(8)]


@pytest.mark.parametrize(("key", "counter", "nonce", "block"), VECTORS)
def test_the_blocks_of_the_rfc(key, counter, nonce, block):
    out = np.empty(kernels.WORDS, dtype=np.uint32)
    kernels.fill_blocks(state_of(key, counter, nonce), out)
    assert blocks(out)[0] == block


def test_every_block_has_its_counter():
    out, alone = np.empty(3 * kernels.WORDS, dtype=np.uint32), np.empty(kernels.WORDS, dtype=np.uint32)
    state = state_of(bytes(range(32)), 5, "000000090000004a00000000")
    kernels.fill_blocks(state, out)
    assert state[kernels.COUNTER] == 5 + 24
    for i, block in enumerate(blocks(out)):
        kernels.fill_blocks(state_of(bytes(range(32)), 5 + i, "000000090000004a00000000"), alone)
        assert block == blocks(alone)[0]


def test_words_are_the_stream_of_a_key_that_is_used_once(monkeypatch):
    """Two calls, or two children, never share a key; what is returned is the stream of that key."""
    if not JIT:
        pytest.skip("without the compiler the operating system makes all words")
    keys = []

    def urandom(size: int) -> bytes:
        keys.append(bytes([len(keys) + 1]) * size)
        return keys[-1]

    monkeypatch.setattr(bulk_randomness.os, "urandom", urandom)
    random = BulkRandomness()
    found = [random.words(1000), random.words(1000), random.child("a").words(1000), random.child("a").words(1000)]
    assert [len(key) for key in keys] == [32] * 4
    for words, key in zip(found, keys, strict=True):
        expected = np.empty(16 * kernels.WORDS, dtype=np.uint32)
        kernels.fill_blocks(state_of(key, 0, "00" * 12), expected)
        np.testing.assert_array_equal(words, expected[:2000].view(np.uint64))


def test_a_stretch_beyond_one_key_takes_another(monkeypatch):
    if not JIT:
        pytest.skip("without the compiler the operating system makes all words")
    monkeypatch.setattr(bulk_randomness, "MOST", 600)
    assert len(set(BulkRandomness().words(2_000).tolist())) == 2_000


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 4096, 16_384])
def test_words_differ_and_are_spread(n):
    random = BulkRandomness()
    a, b = random.words(n), random.words(n)
    assert len(a) == len(b) == n
    assert len(set(a.tolist()) | set(b.tolist())) == 2 * n
    ones = int(np.unpackbits(a.view(np.uint8)).sum())
    assert abs(ones - 32 * n) <= 6 * 4 * max(n, 1) ** 0.5  # 64 n fair bits deviate by 4 sqrt(n); 6 of that: 2e-9


def test_it_is_of_the_operating_system_and_does_not_repeat():
    random = BulkRandomness().child("engine")
    assert isinstance(random, BulkRandomness)
    assert not random.repeats
    assert random.describe().startswith("the operating system's random generator")
