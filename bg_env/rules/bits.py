"""Sets of points as bits of an int64, with machine instructions that Numba does not offer.

Bit p stands for point p (25 the bar). Without compilation (NUMBA_DISABLE_JIT=1) each function here is plain Python; compiled,
it is a few instructions, which compare all points of a side at once: a loop over points takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bg_env.rules.state import States
from bg_env.rules.variant import BAR

__all__ = ["highest", "lowest", "opposed_points", "own_points", "size"]

_ON_BOARD = (1 << (BAR + 1)) - 2
"""Points 1 to 24 and the bar."""
_TO_LAND = (1 << BAR) - 2
"""Points 1 to 24."""

_BIT = ir.IntType(1)
_INT8 = ir.IntType(8)
_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_LANES = 32
"""Bytes read at once: 26 of one side, and 6 after them, which are in the record for either side."""
_BYTES = ir.VectorType(_INT8, _LANES)
_ORDER = ir.VectorType(_INT32, _LANES)

F = TypeVar("F", bound=Callable[..., Any])


def _of_set(build: Callable[[Any, Any], Any]) -> Callable[[F], F]:
    """Replace a function of one set, when compiled, by the instructions of `build(builder, set)`."""

    def replace(plain: F) -> F:
        def typed(typing_context: Any, found: Any) -> Any:  # noqa: ARG001 - their names are what Numba calls them by
            def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
                return build(builder, arguments[0])

            return types.int64(types.int64), generate

        compiled: F = plain if config.DISABLE_JIT else intrinsic(typed)
        return compiled

    return replace


def _address(context: Any, builder: Any, states: Any, array: Any, i: Any, side: Any) -> Any:
    """The address of the counts of `side` in `states[i]`; `states` is the Numba type of `array`."""
    fields = context.make_array(states)(context, builder, array)
    stride = _INT64(states.dtype.size) if states.layout == "C" else builder.extract_value(fields.strides, 0)
    within = builder.add(builder.mul(side, _INT64(BAR + 1)), _INT64(states.dtype.offset("points")))
    start = builder.bitcast(fields.data, _INT8.as_pointer())
    return builder.gep(start, [builder.add(builder.mul(i, stride), within)])


def _of_board(build: Callable[[Any, Any], Any], within: int) -> Callable[[F], F]:
    """Replace `plain(states, i, side, n)`, when compiled, by the set of places with at least n checkers of `side`.

    `build(builder, counts)` may put the counts in another order; the set has places of `within` only.
    """

    def replace(plain: F) -> F:
        def typed(typing_context: Any, states: Any, i: Any, side: Any, n: Any) -> Any:  # noqa: ARG001
            def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
                array, i, side, n = arguments
                start = _address(context, builder, states, array, i, side)
                counts = build(builder, builder.load(builder.bitcast(start, _BYTES.as_pointer()), align=1))
                least = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), builder.trunc(n, _INT8), _INT32(0))
                least = builder.shuffle_vector(least, least, ir.Constant(_ORDER, [0] * _LANES))
                found = builder.bitcast(builder.icmp_signed(">=", counts, least), _INT32)
                return builder.and_(builder.zext(found, _INT64), _INT64(within))

            return types.int64(states, types.int64, types.int64, types.int64), generate

        compiled: F = plain if config.DISABLE_JIT else intrinsic(typed)
        return compiled

    return replace


def _turned(builder: Any, counts: Any) -> Any:
    """Count 25 - p in place p."""
    order = [max(BAR - k, 0) for k in range(_LANES)]
    return builder.shuffle_vector(counts, counts, ir.Constant(_ORDER, order))


@_of_set(lambda builder, found: builder.cttz(found, _BIT(1)))
def lowest(found: int) -> int:
    """The lowest point of a set that is not empty."""
    return int(found & -found).bit_length() - 1


@_of_set(lambda builder, found: builder.sub(_INT64(63), builder.ctlz(found, _BIT(1))))
def highest(found: int) -> int:
    """The highest point of a set that is not empty."""
    return int(found).bit_length() - 1


@_of_set(lambda builder, found: builder.ctpop(found))
def size(found: int) -> int:
    """The number of points of a set."""
    return int(found).bit_count()


@_of_board(lambda builder, counts: counts, _ON_BOARD)  # noqa: ARG005
def own_points(states: States, i: int, side: int, n: int) -> int:
    """The set of points, bar included, where `side` has at least n checkers, n from 1, on its own numbering."""
    counts = states[i]["points"][side].tolist()
    found: int = np.int64(sum(1 << p for p in range(1, BAR + 1) if counts[p] >= n))
    return found


@_of_board(_turned, _TO_LAND)
def opposed_points(states: States, i: int, side: int, n: int) -> int:
    """The set of points where `side` has at least n checkers, n from 1, on the other's numbering."""
    counts = states[i]["points"][side].tolist()
    found: int = np.int64(sum(1 << (BAR - p) for p in range(1, BAR) if counts[p] >= n))
    return found
