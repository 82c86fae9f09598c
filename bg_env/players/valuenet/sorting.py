"""Sorters: small nets that leave few plays of a roll for the net itself to evaluate.

A look-ahead evaluates every play of every roll to find the best one, and most plays are nowhere near it. A sorter is a net with
the 198 inputs of `tesauro198`, one hidden layer of rectified units and one output, the equity of the player on roll. It is fit
to order the plays of a roll; the net evaluates only the plays that it puts first. The idea is that of the pruning nets of GNU
Backgammon.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.players.valuenet.boards import sum_board, sum_change
from bg_env.rules import States

__all__ = ["MOST", "NO_SORTER", "WITHIN", "Sorter", "checked_sorter", "least_value", "sort_plays"]

MOST: Final = 10
"""The most plays of a roll that are left."""
WITHIN: Final = 0.35
"""How far below the best of them the sorter may see a play, in points, for it to be left."""
_INPUTS: Final = 198
_STEP: Final = np.float32(1e-5)

Floats = npt.NDArray[np.float32]


class Sorter(NamedTuple):
    """The weights of a sorter, float32.

    Attributes:
        first: (198, h).
        constants: (h,).
        last: (h,).
    """

    first: Floats
    constants: Floats
    last: Floats


NO_SORTER: Final = Sorter(np.zeros((_INPUTS, 0), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))
"""Stands for a sorter that a net does not have, with a layer of no units."""


def checked_sorter(first: Any, constants: Any, last: Any) -> Sorter:
    """The sorter of these arrays.

    Raises:
        SettingsError: their shapes do not fit.
    """
    sorter = Sorter(*(np.ascontiguousarray(array, np.float32) for array in (first, constants, last)))
    h = sorter.last.size
    shapes = tuple(array.shape for array in sorter)
    if h == 0 or shapes != ((_INPUTS, h), (h,), (h,)):
        msg = f"value net: the arrays of a sorter have the shapes (198, h), (h,) and (h,), not {shapes}"
        raise SettingsError(msg)
    return sorter


@kernel
def sort_plays(
    states: States, i: int, after: States, end: int, table: Floats, last: Floats, base: Floats, sums: Floats, values: Floats
) -> None:
    """The values of the first `end` states of `after`, which the plays of state `i` lead to, to the mover, by a sorter.

    Args:
        states: with a roll to be played in state `i`.
        i: the state.
        after: the states after the plays; the value of one that ends the game is infinite.
        end: the number of plays.
        table: of the sorter, see `board_table`.
        last: float32 (h,), of its output.
        base: scratch, float32 (h,).
        sums: likewise.
        values: float32 (at least `end`,), written.
    """
    other = 1 - np.int64(states[i]["turn"])
    sum_board(states, i, other, table, base)
    for n in range(end):
        if after[n]["winner"] >= 0 or after[n]["turn"] != other:
            values[n] = np.inf
            continue
        sum_change(states, i, after, n, other, table, base, sums)
        value = np.float32(0)
        for k in range(sums.shape[0]):
            value -= max(sums[k], np.float32(0)) * last[k]
        values[n] = value


@kernel
def least_value(values: Floats, end: int) -> float:
    """The least value of a play that is left, of the first `end`: one of the `MOST` highest, within `WITHIN` of the highest.

    Infinite values do not count.
    """
    top = np.float32(-np.inf)
    for n in range(end):
        if values[n] < np.inf and values[n] > top:
            top = values[n]
    least: float = top - np.float32(WITHIN)
    while True:
        left = 0
        low = np.float32(np.inf)
        for n in range(end):
            if values[n] >= least and values[n] < np.inf:
                left += 1
                low = min(low, values[n])
        if left <= MOST or low >= top:
            return least
        least = low + _STEP
