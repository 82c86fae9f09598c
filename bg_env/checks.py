"""Checks of arguments: whole numbers, shares, flags, dice, seeds and players.

NumPy's integers, floats and bools count as Python's; a bool is not a number.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, Final, TypeGuard

import numpy as np

from bg_env.errors import BgEnvError, IllegalActionError, SettingsError, quoted

__all__ = [
    "MAX_SEED",
    "checked_die",
    "checked_even",
    "checked_flag",
    "checked_name",
    "checked_number",
    "checked_seed",
    "checked_whole",
    "is_flag",
    "is_number",
    "is_player",
    "is_whole",
    "takes",
]

MAX_SEED: Final = 2**64 - 1
"""The highest seed of games."""
_LONGEST_NAME: Final = 80


def is_whole(value: Any, low: float = -math.inf, high: float = math.inf) -> TypeGuard[int]:
    """Whether `value` is an integer from `low` to `high`, both included."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(low <= value <= high)


def is_flag(value: Any) -> TypeGuard[bool]:
    """Whether `value` is True or False."""
    return isinstance(value, (bool, np.bool_))


def is_player(value: Any) -> TypeGuard[int]:
    """Whether `value` is the integer 0 or 1."""
    return is_whole(value, 0, 1)


def is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> TypeGuard[float]:
    """Whether `value` is a number from `low` to `high`, both included; NaN is not."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and bool(low <= value <= high)


def checked_whole(name: str, value: Any, low: int, high: int | None = None, *, error: type[BgEnvError] = SettingsError) -> int:
    """The argument called `name` as an int from `low` to `high`, both included; a `high` of None sets no limit.

    Raises:
        SettingsError: `value` is not such an integer; `error` names another class.
    """
    if is_whole(value, low, math.inf if high is None else high):
        return int(value)
    allowed = f"of at least {low}" if high is None else f"from {low} to {_bound(high)}"
    msg = f"{name} is a whole number {allowed}, not {quoted(value)}"
    raise error(msg)


def checked_even(name: str, value: Any, low: int, high: int | None = None) -> int:
    """The number of games, or of a game, called `name` as an int: the one rule of all games that are played from both seats.

    Raises:
        SettingsError: it is odd, or not a whole number from `low` to `high`; odd numbers are never rounded.
    """
    number = checked_whole(name, value, low, high)
    if number % 2:
        msg = f"{name} must be even, because each dice stream is played twice with seats swapped: {number - 1} or {number + 1}"
        raise SettingsError(msg)
    return number


def checked_number(name: str, value: Any, low: float = 0, high: float = 1) -> float:
    """The argument called `name` as a float from `low` to `high`, both included: a share, unless other bounds are given.

    Raises:
        SettingsError: `value` is not such a number.
    """
    if is_number(value, low, high):
        try:
            return float(value)
        except OverflowError:  # beyond what a float can be
            pass
    msg = f"{name} is a number from {low:g} to {high:g}, not {quoted(value)}"
    raise SettingsError(msg)


def checked_name(whose: str, name: Any) -> str:
    """The name of a user's own value, of which messages are made.

    Raises:
        SettingsError: `name` is not a line of text.
    """
    if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME:
        return name
    more = f", one line of at most {_LONGEST_NAME} characters" if isinstance(name, str) and name else ""
    msg = f"{whose} name is text{more}, not {quoted(name)}"
    raise SettingsError(msg)


def takes(function: Any, count: int) -> bool:
    """Whether `function` can be called with `count` arguments by position, as far as Python can say."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a callable without a signature
        pass
    return True


def checked_flag(name: str, value: Any) -> bool:
    """The argument called `name` as a bool.

    Raises:
        SettingsError: `value` is neither True nor False.
    """
    if not is_flag(value):
        msg = f"{name} is True or False, not {quoted(value)}"
        raise SettingsError(msg)
    return bool(value)


def checked_die(die: Any) -> int:
    """A die as an int.

    Raises:
        IllegalActionError: `die` is not an integer from 1 to 6.
    """
    if not is_whole(die, 1, 6):
        msg = f"a die shows a number from 1 to 6, not {quoted(die)}"
        raise IllegalActionError(msg)
    return int(die)


def checked_seed(seed: Any, high: int = MAX_SEED) -> int:
    """A seed as an int from 0 to `high`.

    Raises:
        SettingsError: `seed` is not such an integer.
    """
    return checked_whole("seed", seed, 0, high)


def _bound(high: int) -> str:
    """A bound as messages write it: 2**32 - 1, and not 4294967295."""
    bits = high.bit_length()
    return f"2**{bits} - 1" if bits > 30 and high == 2**bits - 1 else str(high)
