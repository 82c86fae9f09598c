"""Inputs of a value net for the doubling cube and the score of a match, as kernels."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules import Phase, Rules, States

__all__ = ["CUBE_INPUTS", "MATCH_INPUTS", "NEEDS", "cube_inputs", "encode_cube"]

NEEDS: Final = 15
"""The most points needed that nets of kind "match" distinguish; more count as this many."""
CUBE_INPUTS: Final = 3
"""Inputs of the cube, of nets of kind "cube"."""
MATCH_INPUTS: Final = CUBE_INPUTS + 2 * NEEDS + 2 + 5
"""Inputs of cube and match, of nets of kind "match"."""

_CRAWFORD = CUBE_INPUTS + 2 * NEEDS
_CUBES = _CRAWFORD + 2

Floats = npt.NDArray[np.float32]
Seats = npt.NDArray[np.integer[Any]]


@kernel
def cube_inputs(states: States, i: int, seat: int, rules: Rules, n: int, ones: npt.NDArray[np.int64]) -> int:
    """Write the numbers of those of the `n` inputs of cube and match that are 1 as `seat` sees state `i`; returns how many."""
    m = 0
    if n == 0:
        return m
    owner = states[i]["owner"]
    if owner >= 0:
        ones[m] = 0 if owner == seat else 1
        m += 1
    if states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
        ones[m] = 2
        m += 1
    if n == CUBE_INPUTS:
        return m
    length = np.int64(rules[0]["match_length"])
    least = NEEDS
    for side in range(2):
        need = NEEDS
        if length > 0:
            need = min(max(length - np.int64(states[i]["score"][seat if side == 0 else 1 - seat]), 1), NEEDS)
        least = min(least, need)
        ones[m] = CUBE_INPUTS + side * NEEDS + need - 1
        m += 1
    if states[i]["crawford"]:
        ones[m] = _CRAWFORD
        m += 1
    elif least == 1:
        ones[m] = _CRAWFORD + 1
        m += 1
    ones[m] = _CUBES + min(np.int64(states[i]["cube"]), 4)
    return m + 1


@kernel
def _write_cube_inputs(states: States, seats: Seats, rules: Rules, ones: npt.NDArray[np.int64], out: Floats) -> None:
    for i in range(states.shape[0]):
        for m in range(cube_inputs(states, i, np.int64(seats[i]), rules, out.shape[1], ones)):
            out[i, ones[m]] = np.float32(1)


def encode_cube(states: States, seats: Seats, rules: Rules, n: int) -> Floats:
    """The `n` inputs of cube and match of every state, as player `seats[i]` sees it.

    Args:
        states: STATE records (m,).
        seats: integers (m,), 0 or 1.
        rules: the RULES record in force.
        n: CUBE_INPUTS or MATCH_INPUTS.

    Returns:
        float32 (m, n), ones and zeros.
    """
    out = np.zeros((len(states), n), np.float32)
    _write_cube_inputs(states, seats, rules, np.empty(8, np.int64), out)
    return out
