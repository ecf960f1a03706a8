"""Exact whole-numbered noise from words by name: discrete Gaussian and discrete Laplace.

OpenDP draws from the operating system alone. On a cluster a task may run twice, and the noise of an item must then be
the same (ADR 160); so here it is a function of a secret and of the item's name.

**How.** P(x) ∝ f(|x|), with f(x) = exp(-x² / 2 scale²) or exp(-x / scale). An attempt takes three words of a stream:

1. a sign; and a block k, with chance 2^-(k+1): how many ones there are before the first zero
2. an offset below `width`, all equally likely; |x| = k · width + offset
3. x is kept where a uniform number u is below 2^k · f(|x|); else, and for -0, there is another attempt

so x is kept with a chance of f(|x|) / (4 width), which is what is wanted. Chances are at most 1, since `width` is at
least scale · √(2 ln 2), or scale · ln 2: then 2^k f(k · width) <= 1 for all k. About half of all attempts are kept, for
Laplace noise seven of ten, whatever the scale. (Canonne, Kamath and Steinke 2020 draw the same numbers in another way.)

**Why it is exact.** Block and offset are whole numbers without bias. Only u < 2^k f(|x|) is about numbers that are not
whole: the kernel decides it where 64 bits of u and floating point leave no doubt, and leaves it to `_attempt` else, one
time in 2^34. That one takes as many digits, and as many further words of u, as the answer needs: so the outcome is that
of a comparison with infinitely many digits of both. The scale is the fraction that its floating point number is.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.methods.dp._exact_noise_kernels import draw_numbers
from querycloak.methods.dp._noise import scale_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from querycloak.arrays.keyed_streams import Streams

__all__ = ["NOISE_BY_NAME", "add_noise_by_name", "exact_gaussian", "exact_laplace"]

Int64s = npt.NDArray[np.int64]

NOISE_BY_NAME: Final = "noise by an exact sampler of QueryCloak"
_AT_A_TIME: Final = 1 << 21
"""Words in memory."""
_KEPT: Final = {True: 0.7, False: 0.5}
"""Less than the part of attempts that are kept, of Laplace and of Gaussian noise."""


def exact_gaussian(streams: Streams, scale: float, each: int = 1) -> Int64s:
    """Draw discrete Gaussian numbers, P(x) ∝ exp(-x² / 2 scale²): int64[streams, each]."""
    return _draw(streams, each, scale, laplace=False)


def exact_laplace(streams: Streams, scale: float, each: int = 1) -> Int64s:
    """Draw discrete Laplace numbers, P(x) ∝ exp(-|x| / scale): int64[streams, each]."""
    return _draw(streams, each, scale, laplace=True)


def add_noise_by_name(counts: Int64s, streams: Streams, *, sensitivity: int, epsilon: float) -> Int64s:
    """Add discrete Laplace noise to counts, int64[streams · each]: as `add_noise`, with the noise of each stream."""
    scale = scale_for(sensitivity, epsilon)
    return counts + exact_laplace(streams, scale, len(counts) // max(len(streams.key), 1)).reshape(-1)


def width_of(scale: float, *, laplace: bool) -> int:
    """Return a width of blocks: more than scale · ln 2, or scale · √(2 ln 2)."""
    return math.floor(scale * (0.6932 if laplace else 1.1775)) + 1


def _draw(streams: Streams, each: int, scale: float, *, laplace: bool) -> Int64s:
    width = width_of(scale, laplace=laplace)
    enough = int(3 * (each / _KEPT[laplace] + 8 * math.sqrt(each))) + 24
    step = max(1, _AT_A_TIME // enough)
    out = np.zeros((len(streams.key), each), dtype=np.int64)
    for begin in range(0, len(out), step):
        some, part = streams.take(slice(begin, begin + step)), out[begin : begin + step]
        done, used = np.zeros(len(part), dtype=np.int64), np.zeros(len(part), dtype=np.int64)
        draw_numbers(some.words(enough), laplace, scale, width, part, done, used)
        for i in np.flatnonzero(done < each).tolist():
            _finish(some.take(slice(i, i + 1)), part[i : i + 1], done[i : i + 1], used[i : i + 1], scale, laplace)
    return out


def _finish(stream: Streams, out: Int64s, done: Int64s, used: Int64s, scale: float, laplace: bool) -> None:
    """Draw what one stream lacks, with more words, and with as many digits as an attempt needs."""
    width, n = width_of(scale, laplace=laplace), 64
    while done[0] < out.shape[1]:
        n = max(2 * n, 2 * int(used[0]) + 24)
        words = stream.words(n)
        draw_numbers(words, laplace, scale, width, out, done, used)
        while done[0] < out.shape[1] and used[0] + 24 <= n:  # an attempt that was left alone
            found, taken = _attempt(iter(words[0, used[0] :].tolist()), width, Fraction(scale), laplace=laplace)
            used[0] += taken
            if found is not None:
                out[0, done[0]] = found
                done[0] += 1
            draw_numbers(words, laplace, scale, width, out, done, used)


def _attempt(words: Iterator[int], width: int, scale: Fraction, *, laplace: bool) -> tuple[int | None, int]:
    """Make one attempt with whole numbers alone: its number, None = not kept; and how many words it took."""
    first, taken = next(words), 3
    negative, bits, left = first & 1, first >> 1, 63
    block = 0
    while bits & 1:
        block, bits, left = block + 1, bits >> 1, left - 1
        if not left:
            bits, left, taken = next(words), 64, taken + 1
    second, uniform = next(words), next(words)
    if second >= (1 << 64) // width * width:
        return None, taken
    x = block * width + second % width
    if not x:
        return (None if negative else 0), taken
    exponent = x / scale if laplace else (x / scale) ** 2 / 2
    digits, bits_of_u = 40, 64
    while True:
        low, high = _chance(exponent, block, digits)
        if Fraction(uniform + 1, 1 << bits_of_u) <= low:
            return (-x if negative else x), taken
        if Fraction(uniform, 1 << bits_of_u) >= high:
            return None, taken
        uniform, bits_of_u, taken, digits = uniform << 64 | next(words), bits_of_u + 64, taken + 1, digits + 20


def _chance(exponent: Fraction, block: int, digits: int) -> tuple[Fraction, Fraction]:
    """Return bounds of 2^block · exp(-exponent), some digits apart."""
    with decimal.localcontext() as context:
        context.prec, context.Emin, context.Emax = digits, decimal.MIN_EMIN, decimal.MAX_EMAX
        found = (-decimal.Decimal(exponent.numerator) / exponent.denominator).exp()  # exp is rounded correctly
    near = Fraction(found) * 2**block if found > decimal.Decimal("1e-10000") else Fraction(0)
    off = Fraction(2 + math.ceil(exponent), 10 ** (digits - 2))
    return near * (1 - off), near * (1 + off) + Fraction(1, 10**9000)
