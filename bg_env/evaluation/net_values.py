"""Values of the candidates of decisions by a value net, and of the cube by Janowski's model, as kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.players.janowski import CubeLines, cube_values, gains_by_turn, value_of_points
from bg_env.players.valuenet.evaluate import (
    NEVER,
    answers_to_double,
    evaluate_as,
    evaluate_plays,
    evaluator_of,
    scratch_of,
    values_of_doubling,
    write_result,
)
from bg_env.players.valuenet.net import OUTCOMES
from bg_env.players.valuenet.search import value_ahead
from bg_env.rules import Phase, Rules, States

__all__ = ["write_cube", "write_cubeful", "write_plays", "write_stakes"]

Arrays = tuple[Any, ...]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@kernel
def write_stakes(states: States, rules: Rules, out: Floats) -> None:
    """The values of winning and of losing a single game at the present cube to either seat, into `out`, float64 (n, 2, 2)."""
    for i in range(states.shape[0]):
        stake = np.int64(1) << np.int64(states[i]["cube"])
        for seat in range(2):
            out[i, seat, 0] = value_of_points(states, i, rules, seat, stake)
            out[i, seat, 1] = value_of_points(states, i, rules, seat, -stake)


@kernel
def write_cube(states: States, rules: Rules, probabilities: Floats, life: float, arrays: Arrays, out: Floats) -> None:
    """The values of the cube decision of every state into `out`, float64 (n, 4), and whether a turn of the cube can gain."""
    lines = CubeLines(*arrays)
    for i in range(states.shape[0]):
        live = rules[0]["cube"] != 0 and states[i]["crawford"] == 0
        values = cube_values(states, i, rules, probabilities, i, life if live else 0.0, lines)
        out[i, 0] = values.stands
        out[i, 1] = values.taken
        out[i, 2] = values.dropped
        turn = np.int64(states[i]["turn"])
        out[i, 3] = 1.0 if gains_by_turn(states, i, rules, turn, np.int64(states[i]["cube"])) else 0.0


@kernel
def write_plays(
    states: States,
    offsets: Integers,
    net: Arrays,
    outer: Arrays,
    inner: Arrays,
    plies: int,
    number: int,
    margin: float,
    equities: Floats,
    probabilities: Floats,
    depth: npt.NDArray[np.int8],
) -> None:
    """The values of all plays of every state (phase CHECKER), and the probabilities after them as the mover sees them.

    They are those by which `search.best_ahead` and `evaluate_plays` choose. A play that is not looked ahead from has the value
    without look-ahead, but no more than the best one with it.
    """
    evaluator, scratch, ahead = evaluator_of(net), scratch_of(outer), scratch_of(inner)
    after, values, outputs = scratch.plays.after, scratch.values, scratch.layers.outputs
    size = probabilities.shape[1]
    for i in range(states.shape[0]):
        first = offsets[i]
        mover = np.int64(states[i]["turn"])
        best, end = evaluate_plays(states, i, evaluator, i, scratch)
        for n in range(end):
            equities[first + n] = values[n]
            depth[first + n] = 0
        top = NEVER
        least = values[best] - margin
        for _ in range(min(end, number) if plies > 0 else 0):
            for n in range(end):
                if values[n] > values[best]:
                    best = n
            if values[best] < least:
                break
            value = value_ahead(after, best, mover, evaluator, i, ahead)
            equities[first + best] = value
            depth[first + best] = 1
            top = max(top, value)
            values[best] = NEVER
            shift = 0 if after[best]["turn"] == mover else 3
            for o in range(size):
                probabilities[first + best, o] = ahead.mean[(o + shift) % OUTCOMES]
        for n in range(end):
            if depth[first + n] == 1 and after[n]["winner"] < 0 and after[n]["phase"] != Phase.CHOOSE_DOUBLE:
                continue
            if depth[first + n] == 0 and top > NEVER:
                equities[first + n] = min(equities[first + n], top)
            if after[n]["winner"] >= 0:
                write_result(after, n, mover, evaluator, outputs)
                depth[first + n] = -1
            else:
                evaluate_as(after, n, mover, evaluator, scratch.layers)
            for o in range(size):
                probabilities[first + n, o] = outputs[o]


@kernel
def write_cubeful(states: States, net: Arrays, arrays: Arrays, out: Floats) -> None:
    """The values of the actions about the cube by a net that knows it, into `out`, float64 (n, 3), to the player who decides.

    To roll and to double in ROLL_OR_DOUBLE; to take, to drop and to beaver in TAKE_OR_DROP.
    """
    evaluator, scratch = evaluator_of(net), scratch_of(arrays)
    for i in range(states.shape[0]):
        if states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
            out[i, 0], out[i, 1] = values_of_doubling(states, i, evaluator, scratch)
        else:
            out[i, 0], out[i, 1], out[i, 2] = answers_to_double(states, i, evaluator, scratch)
