"""Sums of a first layer over the places of the checkers: one vector for each place and number of checkers, as kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations import encoder
from bg_env.rules import STATE, Phase, Rules, States

__all__ = ["board_table", "sum_board", "sum_change"]

Floats = npt.NDArray[np.float32]


@kernel
def _add_weighted(inputs: Floats, weights: Floats, sums: Floats) -> None:
    """`sums` += `inputs` @ `weights`, for inputs that are mostly 0; a BLAS would keep threads spinning beside the kernels."""
    for r in range(inputs.shape[0]):
        for k in range(inputs.shape[1]):
            x = inputs[r, k]
            if x != 0:
                for j in range(weights.shape[1]):
                    sums[r, j] += x * weights[k, j]


def board_table(weights: Floats, constants: Floats, rules: Rules) -> Floats:
    """The vectors that the sums are made of.

    Args:
        weights: float32 (198, h), a row for each input of `tesauro198`.
        constants: float32 (h,).
        rules: the RULES record in force.

    Returns:
        float32 (2, 26, checkers + 1, h). `[0, p, n]` is what n own checkers on place p (0 off, 25 the bar) add, `[1, p, n]`
        the same for opposing checkers on their own numbering; `[0, 0]` includes the constant part.
    """
    checkers = int(rules[0]["checkers"])
    probes = np.zeros(2 * 26 * (checkers + 1) + 1, STATE)
    probes["phase"] = Phase.ROLL
    k = 0
    for side in range(2):
        for place in range(26):
            for n in range(checkers + 1):
                probes[k]["points"][side, place] = n
                k += 1
    sums, inputs = np.zeros((len(probes), len(constants)), np.float32), np.zeros((len(probes), len(weights)), np.float32)
    encoder("tesauro198").kernel(probes, rules, np.zeros(len(probes), np.int8), inputs)
    _add_weighted(inputs, weights, sums)
    table: Floats = (sums[:-1] - sums[-1]).reshape(2, 26, checkers + 1, -1)
    table[0, 0] += sums[-1] + constants
    return table


@kernel
def sum_board(states: States, i: int, seat: int, table: Floats, sums: Floats) -> None:
    """Write into `sums` the part of the first layer that the checkers of state `i` contribute, as `seat` sees it."""
    for k in range(sums.shape[0]):
        sums[k] = np.float32(0)
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        for p in range(26):
            n = states[i]["points"][player, p]
            if n > 0 or (side == 0 and p == 0):
                for k in range(sums.shape[0]):
                    sums[k] += table[side, p, n, k]


@kernel
def sum_change(before: States, i: int, after: States, j: int, seat: int, table: Floats, base: Floats, sums: Floats) -> None:
    """The sums of state `after[j]`, from `base`, those of `before[i]`, by the checkers that moved."""
    for k in range(base.shape[0]):
        sums[k] = base[k]
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        for p in range(26):
            n = before[i]["points"][player, p]
            m = after[j]["points"][player, p]
            if n != m:
                for k in range(base.shape[0]):
                    sums[k] += table[side, p, m, k] - table[side, p, n, k]
