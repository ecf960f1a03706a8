"""Single instructions of the processor that Numba has no name for, as LLVM sees them: see `jit.instruction`.

A cached kernel does not notice edits here. Whoever changes an instruction gives it another name.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["INSTRUCTIONS"]

BYTE, INT, WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
BLOCK = 64
BYTES = ir.VectorType(BYTE, BLOCK)


def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """Return the address of a row of an array, as a number."""
    made = context.make_array(kind)(context, builder, array)
    step = cgutils.unpack_tuple(builder, made.strides)[0]  # type: ignore[no-untyped-call]
    return builder.add(builder.ptrtoint(made.data, WORD), builder.mul(row, step))


def _fetch(_typing: Any, array: Any, row: Any) -> Any:
    """Ask the memory for the first bytes of a row, and do not wait for them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        pointer = builder.inttoptr(_address(context, builder, signature.args[0], args[0], at), BYTE.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), INT, INT, INT])
        call = builder.module.declare_intrinsic("llvm.prefetch", (BYTE.as_pointer(),), kind)
        builder.call(call, [pointer, INT(0), INT(3), INT(1)])  # to read, to be kept, data
        return context.get_dummy_value()

    return types.void(array, row), generate


def _marks(_typing: Any, data: Any, at: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return 64 bits: which of the 64 bytes from `at` on are one of four."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        begin = context.cast(builder, args[1], signature.args[1], types.intp)
        address = _address(context, builder, signature.args[0], args[0], begin)
        block = builder.load(builder.inttoptr(address, BYTES.as_pointer()), align=1)
        undefined, zeros = ir.Constant(BYTES, ir.Undefined), ir.Constant(ir.VectorType(INT, BLOCK), [0] * BLOCK)
        found = None
        for value, kind in zip(args[2:], signature.args[2:], strict=True):
            byte = context.cast(builder, value, kind, types.uint8)
            all_of_it = builder.shuffle_vector(builder.insert_element(undefined, byte, INT(0)), undefined, zeros)
            equal = builder.icmp_unsigned("==", block, all_of_it)
            found = equal if found is None else builder.or_(found, equal)
        return builder.bitcast(found, WORD)

    return types.uint64(data, at, a, b, c, d), generate


def _lowest(_typing: Any, word: Any) -> Any:  # noqa: ARG001
    """Return the number of the lowest bit that is set; there must be one."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD, ir.IntType(1)])
        return builder.call(builder.module.declare_intrinsic("llvm.cttz", (WORD,), kind), [args[0], ir.IntType(1)(1)])

    return types.int64(types.uint64), generate


def _ones(_typing: Any, word: Any) -> Any:  # noqa: ARG001
    """Return how many bits are set."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD])
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", (WORD,), kind), [args[0]])

    return types.int64(types.uint64), generate


def _move(_typing: Any, source: Any, begin: Any, out: Any, at: Any) -> Any:
    """Copy 32 bytes of an array to another."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        half = ir.VectorType(BYTE, 32).as_pointer()
        places = []
        for array, position in ((0, 1), (2, 3)):
            row = context.cast(builder, args[position], signature.args[position], types.intp)
            places.append(builder.inttoptr(_address(context, builder, signature.args[array], args[array], row), half))
        builder.store(builder.load(places[0], align=1), places[1], align=1)
        return context.get_dummy_value()

    return types.void(source, begin, out, at), generate


LANES = 8
QUARTERS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)
"""The words of each quarter round of a double round (RFC 8439, section 2.3)."""


def _chacha(_typing: Any, state: Any, out: Any, at: Any) -> Any:
    """Write eight blocks of ChaCha20 side by side: word j of the block of counter + i is out[at + 8 j + i]."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(INT, LANES)
        undefined, zeros = ir.Constant(vector, ir.Undefined), ir.Constant(vector, [0] * LANES)
        source = _address(context, builder, signature.args[0], args[0], WORD(0))
        words = []
        for j in range(16):
            word = builder.load(builder.inttoptr(builder.add(source, WORD(4 * j)), INT.as_pointer()))
            words.append(builder.shuffle_vector(builder.insert_element(undefined, word, INT(0)), undefined, zeros))
        words[12] = builder.add(words[12], ir.Constant(vector, list(range(LANES))))  # the counter, one per block
        now = list(words)
        for _ in range(10):
            for a, b, c, d in QUARTERS:
                for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                    now[x] = builder.add(now[x], now[y])
                    mixed = builder.xor(now[z], now[x])
                    high = builder.shl(mixed, ir.Constant(vector, [bits] * LANES))
                    low = builder.lshr(mixed, ir.Constant(vector, [32 - bits] * LANES))
                    now[z] = builder.or_(high, low)  # together one instruction: a rotation
        begin = context.cast(builder, args[2], signature.args[2], types.intp)
        target = _address(context, builder, signature.args[1], args[1], begin)
        for j in range(16):
            pointer = builder.inttoptr(builder.add(target, WORD(4 * LANES * j)), vector.as_pointer())
            builder.store(builder.add(now[j], words[j]), pointer, align=4)
        return context.get_dummy_value()

    return types.void(state, out, at), generate


INSTRUCTIONS = {
    "fetch": intrinsic(_fetch),
    "marks": intrinsic(_marks),
    "lowest": intrinsic(_lowest),
    "ones": intrinsic(_ones),
    "move": intrinsic(_move),
    "chacha": intrinsic(_chacha),
}
