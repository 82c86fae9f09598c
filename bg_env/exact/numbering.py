"""Numbers of home positions: one side's checkers on its points 1 to 6, counted so that every play leads to a lower number.

With s_p the checkers on point p and above, the number of a position is the sum over p of C(s_p + 6 - p, 7 - p). A step lowers
some s_p and raises none. The positions of up to n checkers are the numbers below C(n + 6, 6), and 0 is the empty home board.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.rules import OFF, STATE, Settings, States, new_episode, plays, set_up

__all__ = ["HOME", "MOST", "ROLLS", "TERMS", "WEIGHTS", "followers", "home_numbers", "home_positions", "positions_of"]

HOME: Final = 6
"""Points of a home board."""
MOST: Final = 15
"""The most checkers of a side."""
ROLLS: Final = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 rolls, the higher die first."""
WEIGHTS: Final[npt.NDArray[np.float64]] = np.array([(1 if high == low else 2) / 36 for high, low in ROLLS])
"""Their probabilities."""

TERMS: Final = np.array([[comb(s + HOME - p, HOME + 1 - p) for s in range(MOST + 1)] for p in range(1, HOME + 1)])
"""TERMS[p - 1, s] is what s checkers on point p and above add to the number of a position: int64 (6, 16)."""
_CHUNK: Final = 250
"""Positions whose plays are listed at once."""


def positions_of(checkers: int) -> int:
    """The number of positions of up to so many checkers."""
    return comb(checkers + HOME, HOME)


def home_numbers(home: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The numbers of home positions.

    Args:
        home: integers (n, 6), the checkers on points 1 to 6, at most 15 a row.

    Returns:
        int64 (n,), from 0 to 54263.
    """
    found: npt.NDArray[np.int64] = np.zeros(len(home), np.int64)
    above = np.zeros(len(home), np.int64)
    for p in range(HOME, 0, -1):
        above += home[:, p - 1]
        found += TERMS[p - 1][above]
    return found


def home_positions(first: int, last: int) -> npt.NDArray[np.int8]:
    """The positions with numbers from `first` to `last` - 1, as the checkers on points 1 to 6: int8 (last - first, 6)."""
    rest = np.arange(first, last)
    above = np.zeros((last - first, HOME + 1), np.int64)
    for p in range(1, HOME + 1):
        above[:, p - 1] = np.searchsorted(TERMS[p - 1], rest, side="right") - 1
        rest = rest - TERMS[p - 1][above[:, p - 1]]
    return (above[:, :-1] - above[:, 1:]).astype(np.int8)


def _rolled() -> States:
    """A state for each of `ROLLS`, in which player 0 has rolled it with all 15 checkers on its point 6."""
    rules = Settings("backgammon", cube=False).record()
    states = np.zeros(len(ROLLS), STATE)
    for i, (high, low) in enumerate(ROLLS):
        new_episode(states, i, rules, np.uint64(0))
        states[i]["points"] = 0
        states[i]["points"][0, HOME] = states[i]["points"][1, 1] = MOST
        states[i]["turn"] = 0
        set_up(states, i, rules, high, low)
    return states


def followers(checkers: int) -> Iterator[tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """What each roll can lead to, of all positions of 1 to `checkers` checkers in the order of their numbers, a part at a time.

    The plays are those that the rules list. No home position without contact is one in which a roll cannot be played.

    Yields:
        first: the number of the part's first position.
        offsets: int64 (21 m + 1,) for the m positions of the part.
        found: int64; roll r of position first + k leads to the positions found[offsets[21 k + r] : offsets[21 k + r + 1]].
    """
    rules = Settings("backgammon", cube=False).record()
    rolled = _rolled()
    end = positions_of(checkers)
    for first in range(1, end, _CHUNK):
        homes = home_positions(first, min(first + _CHUNK, end))
        states = np.tile(rolled, len(homes))
        states["points"][:, 0, 1 : HOME + 1] = np.repeat(homes, len(ROLLS), axis=0)
        states["points"][:, 0, OFF] = MOST - states["points"][:, 0, 1 : HOME + 1].sum(axis=1)
        offsets, _, after = plays(states, rules)
        yield first, offsets, home_numbers(after["points"][:, 0, 1 : HOME + 1])
