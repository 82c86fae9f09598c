"""Evaluation of the candidates of a decision by a value net, as kernels.

A value is that of the mover. With a net of kind "odds" it is the mean of the payoffs over the six outcomes, see
`bg_env.players.janowski.write_payoffs`; nets of the other kinds know no payoffs, and their value is the output itself: points a
game at a cube of 1 in money play, in a match twice the chance to win it, less 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.players.valuenet.boards import sum_board, sum_change
from bg_env.players.valuenet.net import (
    BLOCK,
    OUTCOMES,
    Layers,
    Net,
    add_cube,
    add_tactics,
    evaluate,
    knows_cube,
    new_layers,
    write_outputs,
)
from bg_env.players.valuenet.sorting import least_value, sort_plays
from bg_env.rewards import match_chance
from bg_env.rules import MAX_PLAYS, STATE, PlayBuffer, Rules, States, apply, list_plays, may_turn_again, play_buffer

__all__ = [
    "NEVER",
    "Evaluator",
    "Scratch",
    "answer_double",
    "answers_to_double",
    "evaluate_as",
    "evaluate_best",
    "evaluate_plays",
    "evaluator_of",
    "flip",
    "new_scratch",
    "note",
    "note_block",
    "plain",
    "roll_or_double",
    "scratch_of",
    "value_of",
    "values_of_doubling",
    "write_result",
]

_FIRST = np.int64(0)
_THIRD = np.int64(2)
_FOURTH = np.int64(3)

NEVER = -1e30
"""A value below all others."""

Floats = npt.NDArray[np.float32]


class Evaluator(NamedTuple):
    """A net and what it evaluates by.

    Attributes:
        net: the weights.
        rules: the RULES record that states are played on by.
        payoffs: float32 (n, 2, 6), the values of the six outcomes in each state, for either seat; not used by nets that know
            the cube.
    """

    net: Net
    rules: Rules
    payoffs: Floats


class Scratch(NamedTuple):
    """Scratch for the evaluation of all plays of a roll: one set for each thread.

    Attributes:
        plays: the plays.
        values: float32 (MAX_PLAYS,), the values of the plays.
        layers: of the net.
        step: STATE (1,), a state one roll or one action ahead.
        cube: STATE (4,), states after turns of the cube.
        mean: float64 (6,), mean probabilities over rolls.
        sorted: float32 (MAX_PLAYS,), the values of the plays by a sorter.
    """

    plays: PlayBuffer
    values: Floats
    layers: Layers
    step: States
    cube: States
    mean: npt.NDArray[np.float64]
    sorted: Floats


def new_scratch(net: Net) -> Scratch:
    """Scratch for evaluations by this net."""
    return Scratch(
        plays=play_buffer(),
        values=np.empty(MAX_PLAYS, np.float32),
        layers=new_layers(net),
        step=np.empty(1, STATE),
        cube=np.zeros(4, STATE),
        mean=np.empty(OUTCOMES, np.float64),
        sorted=np.empty(MAX_PLAYS, np.float32),
    )


def plain(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """Nested named tuples as nested plain tuples, which numba takes from Python in a fraction of the time."""
    return tuple([plain(item) if isinstance(item, tuple) else item for item in value])


@inlined
def evaluator_of(arrays: tuple[Any, ...]) -> Evaluator:
    """The `Evaluator` that `plain` made a tuple of."""
    net, rules, payoffs = arrays
    return Evaluator(Net(*net), rules, payoffs)


@inlined
def scratch_of(arrays: tuple[Any, ...]) -> Scratch:
    """The `Scratch` that `plain` made a tuple of."""
    plays, values, layers, step, cube, mean, by_sorter = arrays
    return Scratch(PlayBuffer(*plays), values, Layers(*layers), step, cube, mean, by_sorter)


@kernel
def flip(net: Net, outputs: Floats) -> None:
    """Turn outputs of the net to the view of the other seat."""
    if knows_cube(net):
        outputs[0] = -outputs[0]
        return
    for o in range(3):
        outputs[o], outputs[o + 3] = outputs[o + 3], outputs[o]


@kernel
def evaluate_as(states: States, i: int, seat: int, evaluator: Evaluator, layers: Layers) -> None:
    """Outputs of the net at state `i`, where a roll of either player is due, as `seat` sees it, into `layers.outputs`."""
    turn = np.int64(states[i]["turn"])
    evaluate(states, i, turn, evaluator.rules, evaluator.net, layers)
    if turn != seat:
        flip(evaluator.net, layers.outputs)


@kernel
def value_of(outputs: Floats, evaluator: Evaluator, row: int, seat: int) -> float:
    """The value of outputs, as `seat` sees them, to `seat`, by the payoffs of row `row`."""
    value: float = outputs[0]
    if not knows_cube(evaluator.net):
        value = np.float32(0)
        for o in range(OUTCOMES):
            value += outputs[o] * evaluator.payoffs[row, seat, o]
    return value


@kernel
def write_result(states: States, i: int, seat: int, evaluator: Evaluator, outputs: Floats) -> None:
    """The result of the game that has just ended in state `i`, as `seat` sees it, in the form of the net's outputs."""
    for o in range(OUTCOMES):
        outputs[o] = np.float32(0)
    rules = evaluator.rules
    winner = np.int64(states[i]["winner"])
    if not knows_cube(evaluator.net):
        outputs[states[i]["level"] - 1 + (0 if winner == seat else 3)] = np.float32(1)
        return
    if rules[0]["match_length"] == 0:
        value = float(states[i]["level"])
    else:
        own = np.int64(states[i]["score"][winner])
        other = np.int64(states[i]["score"][1 - winner])
        value = 2.0 * match_chance(rules, own, other, states[i]["crawford"]) - 1.0
    outputs[0] = np.float32(value if winner == seat else -value)


@kernel
def note(n: int, best: int, evaluator: Evaluator, row: int, mover: int, scratch: Scratch) -> int:
    """Note the value of play `n` by `layers.outputs`; the better of it and play `best` (-1: none yet), the first of equals."""
    values, layers = scratch.values, scratch.layers
    values[n] = value_of(layers.outputs, evaluator, row, mover)
    if best >= 0 and not (values[n] > values[best] or (values[n] == values[best] and n < best)):
        return best
    for o in range(OUTCOMES):
        layers.best[o] = layers.outputs[o]
    return n


@kernel
def note_block(rows: int, best: int, evaluator: Evaluator, row: int, mover: int, scratch: Scratch) -> int:
    """Evaluate the positions of the first rows, and `note` them."""
    layers = scratch.layers
    write_outputs(evaluator.net, layers, rows)
    for r in range(rows):
        for o in range(OUTCOMES):
            layers.outputs[o] = layers.units[layers.units.shape[0] - 1, r, o]
        flip(evaluator.net, layers.outputs)
        best = note(layers.plays[r], best, evaluator, row, mover, scratch)
    return best


@kernel
def _evaluate_listed(states: States, i: int, end: int, least: float, evaluator: Evaluator, row: int, scratch: Scratch) -> int:
    """Evaluate those of the first `end` plays of state `i` whose `scratch.sorted` is at least `least`; returns the best."""
    net, layers, after, kept = evaluator.net, scratch.layers, scratch.plays.after, scratch.sorted
    mover = np.int64(states[i]["turn"])
    other = 1 - mover
    started = False
    best: int = np.int64(-1)
    rows = np.int64(0)
    for n in range(end):
        if kept[n] >= least and after[n]["winner"] < 0 and after[n]["turn"] == other:
            if not started:
                sum_board(states, i, other, net.board, layers.base)
                add_cube(after, n, other, evaluator.rules, net, layers, layers.base)  # the same after every play
                started = True
            sum_change(states, i, after, n, other, net.board, layers.base, layers.units[0, rows])
            add_tactics(after, n, other, net, layers, rows)
            layers.plays[rows] = n
            rows += 1
        if rows == BLOCK or (rows > 0 and n + 1 == end):
            best = note_block(rows, best, evaluator, row, mover, scratch)
            rows = np.int64(0)
    for n in range(end):
        if after[n]["winner"] >= 0:
            write_result(after, n, mover, evaluator, layers.outputs)
            best = note(n, best, evaluator, row, mover, scratch)
        elif after[n]["turn"] == mover:  # the 1-2 bonus: the mover goes on
            evaluate_as(after, n, mover, evaluator, layers)
            best = note(n, best, evaluator, row, mover, scratch)
    return best


@kernel
def evaluate_plays(states: States, i: int, evaluator: Evaluator, row: int, scratch: Scratch) -> tuple[int, int]:
    """Evaluate all plays of state `i` (phase CHECKER), by the payoffs of row `row`.

    Afterwards the scratch holds the plays, in the order of `rules.plays`, their values to the mover, and in `layers.best` the
    outputs at the best play, as the mover sees it.

    Returns:
        The best play, the first of equals, and the number of plays.
    """
    end = list_plays(states, i, evaluator.rules, scratch.plays, 0)
    for n in range(end):
        scratch.sorted[n] = np.float32(0)
    return _evaluate_listed(states, i, end, 0.0, evaluator, row, scratch), end


@kernel
def evaluate_best(states: States, i: int, evaluator: Evaluator, row: int, scratch: Scratch) -> int:
    """The best play of state `i` (phase CHECKER), as of `evaluate_plays`; of a net with a sorter, among the plays it leaves.

    Afterwards the scratch holds the plays, and in `layers.best` the outputs at the best one, as the mover sees it.
    """
    end = list_plays(states, i, evaluator.rules, scratch.plays, 0)
    net, layers = evaluator.net, scratch.layers
    least = 0.0
    if end > 2 and net.sort_weights.shape[0] > 0:
        after = scratch.plays.after
        sort_plays(states, i, after, end, net.sort_board, net.sort_weights, layers.sort_base, layers.sort_sums, scratch.sorted)
        least = least_value(scratch.sorted, end)
    else:
        for n in range(end):
            scratch.sorted[n] = np.float32(0)
    return _evaluate_listed(states, i, end, least, evaluator, row, scratch)


@kernel
def _value_at_stake(states: States, i: int, seat: int, evaluator: Evaluator, layers: Layers) -> float:
    """The value of state `i`, ended or with a roll due, to `seat`: in money play points at the cube as it is then."""
    if states[i]["winner"] >= 0:
        write_result(states, i, seat, evaluator, layers.outputs)
    else:
        evaluate_as(states, i, seat, evaluator, layers)
    value = float(layers.outputs[0])
    if evaluator.rules[0]["match_length"] == 0:
        value *= np.int64(1) << np.int64(states[i]["cube"])
    return value


@kernel
def _take_and_drop(i: int, evaluator: Evaluator, scratch: Scratch, k: int) -> tuple[float, float]:
    """The values to the decider of taking and of dropping in state `scratch.cube[i]`; works in `scratch.cube[k]`."""
    cube = scratch.cube
    seat = np.int64(cube[i]["decider"])
    cube[k] = cube[i]
    apply(cube, k, evaluator.rules, TAKE)
    taken = _value_at_stake(cube, k, seat, evaluator, scratch.layers)
    cube[k] = cube[i]
    apply(cube, k, evaluator.rules, DROP)
    return taken, _value_at_stake(cube, k, seat, evaluator, scratch.layers)


@kernel
def _answers(evaluator: Evaluator, scratch: Scratch) -> tuple[float, float, float]:
    """`answers_to_double` of the double offered in `scratch.cube[0]`; works in the other states."""
    taken, dropped = _take_and_drop(_FIRST, evaluator, scratch, _FIRST + 1)
    again = NEVER
    if may_turn_again(scratch.cube, _FIRST, evaluator.rules):
        scratch.cube[_THIRD] = scratch.cube[_FIRST]
        apply(scratch.cube, _THIRD, evaluator.rules, BEAVER)
        again = -max(*_take_and_drop(_THIRD, evaluator, scratch, _FOURTH))
    return taken, dropped, again


@kernel
def answers_to_double(states: States, i: int, evaluator: Evaluator, scratch: Scratch) -> tuple[float, float, float]:
    """The values to the decider of TAKE, DROP and BEAVER in state `i` (phase TAKE_OR_DROP) by a net that knows the cube.

    They are points, in a match 2 x chance to win it - 1. `NEVER` is the value of a beaver that is not allowed.
    """
    scratch.cube[_FIRST] = states[i]
    return _answers(evaluator, scratch)


@kernel
def answer_double(states: States, i: int, evaluator: Evaluator, scratch: Scratch) -> int:
    """TAKE, DROP or BEAVER in state `i` (phase TAKE_OR_DROP), whichever has the highest value by a net that knows the cube."""
    taken, dropped, again = answers_to_double(states, i, evaluator, scratch)
    if again > max(taken, dropped):
        return BEAVER
    return TAKE if taken >= dropped else DROP


@kernel
def values_of_doubling(states: States, i: int, evaluator: Evaluator, scratch: Scratch) -> tuple[float, float]:
    """The values of ROLL and DOUBLE in state `i` (phase ROLL_OR_DOUBLE), as those of `answers_to_double`."""
    seat = np.int64(states[i]["turn"])
    cube = scratch.cube
    cube[_FIRST] = states[i]
    apply(cube, _FIRST, evaluator.rules, ROLL)
    rolled = _value_at_stake(cube, _FIRST, seat, evaluator, scratch.layers)
    cube[_FIRST] = states[i]
    apply(cube, _FIRST, evaluator.rules, DOUBLE)
    return rolled, -max(*_answers(evaluator, scratch))


@kernel
def roll_or_double(states: States, i: int, evaluator: Evaluator, scratch: Scratch) -> int:
    """ROLL or DOUBLE in state `i` (phase ROLL_OR_DOUBLE), whichever has the higher value by a net that knows the cube."""
    rolled, doubled = values_of_doubling(states, i, evaluator, scratch)
    return DOUBLE if doubled > rolled else ROLL
