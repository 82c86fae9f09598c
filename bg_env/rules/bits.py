"""Sets of points as int64: their lowest and highest point, and how many they hold, by one instruction each."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import config
from numba.extending import intrinsic

from bg_env._jit import inlined

__all__ = ["highest", "lowest", "size"]

if config.DISABLE_JIT:

    def _leading(found: Any) -> Any:
        return 64 - int(found).bit_length()

    def _trailing(found: Any) -> Any:
        return (int(found) & -int(found)).bit_length() - 1

    def _ones(found: Any) -> Any:
        return int(found).bit_count()

else:

    def _leading_zeros(_typing: Any, _found: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctlz(args[0], context.get_constant(types.boolean, True))

        return types.int64(types.int64), generate

    def _trailing_zeros(_typing: Any, _found: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], context.get_constant(types.boolean, True))

        return types.int64(types.int64), generate

    def _set_bits(_typing: Any, _found: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.int64), generate

    _leading, _trailing, _ones = intrinsic(_leading_zeros), intrinsic(_trailing_zeros), intrinsic(_set_bits)


@inlined
def highest(found: Any) -> Any:
    """The highest point of a set that is not empty."""
    return 63 - _leading(found)


@inlined
def lowest(found: Any) -> Any:
    """The lowest point of a set that is not empty."""
    return _trailing(found)


@inlined
def size(found: Any) -> Any:
    """How many points a set holds."""
    return _ones(found)
