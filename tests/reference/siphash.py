"""SipHash-2-4, line by line after the paper: J.-P. Aumasson, D. J. Bernstein, SipHash (2012), section 2."""

from __future__ import annotations

MASK = (1 << 64) - 1


def siphash(key: bytes, text: bytes) -> int:
    """Return the hash of a text; the key has 16 bytes."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(i, bits):
        v[i] = (v[i] << bits | v[i] >> 64 - bits) & MASK

    def add(i, j):
        v[i] = (v[i] + v[j]) & MASK

    def rounds(n):
        for _ in range(n):
            add(0, 1), rotate(1, 13)
            v[1] ^= v[0]
            rotate(0, 32), add(2, 3), rotate(3, 16)
            v[3] ^= v[2]
            add(0, 3), rotate(3, 21)
            v[3] ^= v[0]
            add(2, 1), rotate(1, 17)
            v[1] ^= v[2]
            rotate(2, 32)

    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
