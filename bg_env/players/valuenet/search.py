"""Decisions by a value net, as kernels: by the net alone, and with one roll of look-ahead.

Nets of kind "odds" evaluate copies of the states that are played on by plain rules (no cube, no match: `plain_rules`), so that
a play is followed by the next roll, the naming of a double (R10.6) or the end of the game. Nets that know the cube and the
match evaluate under the rules in force.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import FIRST_NAMED
from bg_env.players.valuenet.evaluate import (
    Evaluator,
    Scratch,
    answer_double,
    evaluate_as,
    evaluate_best,
    evaluate_plays,
    evaluator_of,
    flip,
    new_scratch,
    roll_or_double,
    scratch_of,
    value_of,
)
from bg_env.players.valuenet.net import OUTCOMES, Net
from bg_env.rules import Phase, Rules, Settings, States, Variant, apply, apply_roll

__all__ = [
    "Search",
    "best_ahead",
    "best_name",
    "choose_cubeful",
    "choose_names",
    "choose_plays",
    "choose_plays_ahead",
    "new_search",
    "plain_rules",
    "probabilities_ahead",
    "value_ahead",
    "write_probabilities",
]

Arrays = tuple[Any, ...]
Integers = npt.NDArray[np.int64]

_DONE = np.float32(-1e30)
# An index handed to other kernels: a plain number would have them compiled for that number as well.
_FIRST = np.int64(0)


class Search(NamedTuple):
    """Scratch for a look-ahead: one set for each thread.

    Attributes:
        outer: for the plays of the roll to be played.
        inner: for the plays of the roll after it.
    """

    outer: Scratch
    inner: Scratch


def plain_rules(variant: Variant) -> Rules:
    """The RULES record of a look-ahead by cubeless nets: the variant's moves, one game, no cube, no limit of turns."""
    return Settings(variant, cube=False).record()


def new_search(net: Net) -> Search:
    """Scratch for a look-ahead by this net."""
    return Search(new_scratch(net), new_scratch(net))


@kernel
def _evaluate_step(seat: int, evaluator: Evaluator, row: int, scratch: Scratch) -> None:
    """Outputs at `scratch.step[0]`, where a roll is to be played or due, as `seat` sees it, into `layers.outputs`.

    A roll is played as the net evaluates its plays, of a net with a sorter those that it leaves.
    """
    step, layers = scratch.step, scratch.layers
    if step[0]["phase"] != Phase.CHECKER:
        evaluate_as(step, _FIRST, seat, evaluator, layers)
        return
    evaluate_best(step, _FIRST, evaluator, row, scratch)
    for o in range(OUTCOMES):
        layers.outputs[o] = layers.best[o]
    if step[0]["turn"] != seat:
        flip(evaluator.net, layers.outputs)


@kernel
def probabilities_ahead(states: States, i: int, evaluator: Evaluator, row: int, scratch: Scratch) -> None:
    """Mean outputs over the 21 rolls of the player on roll in state `i`, as it sees them, into `scratch.mean`."""
    turn = np.int64(states[i]["turn"])
    step, outputs, mean = scratch.step, scratch.layers.outputs, scratch.mean
    for o in range(OUTCOMES):
        mean[o] = 0.0
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            step[0] = states[i]
            step[0]["phase"] = Phase.ROLL
            apply_roll(step, _FIRST, evaluator.rules, d1, d2)
            _evaluate_step(turn, evaluator, row, scratch)
            weight = 1.0 if d1 == d2 else 2.0
            for o in range(OUTCOMES):
                mean[o] += weight / 36.0 * outputs[o]


@kernel
def best_name(states: States, i: int, evaluator: Evaluator, row: int, scratch: Scratch) -> tuple[int, float]:
    """The double to name in state `i` (phase CHOOSE_DOUBLE), 1 to 6, and its value: that of its best play."""
    turn = np.int64(states[i]["turn"])
    step = scratch.step
    best = 1
    top = _DONE
    for d in range(1, 7):
        step[0] = states[i]
        apply(step, _FIRST, evaluator.rules, FIRST_NAMED + d - 1)
        _evaluate_step(turn, evaluator, row, scratch)
        value = value_of(scratch.layers.outputs, evaluator, row, turn)
        if value > top:
            top = value
            best = d
    return best, top


@kernel
def value_ahead(after: States, n: int, mover: int, evaluator: Evaluator, row: int, inner: Scratch) -> float:
    """The value of state `after[n]` to `mover`, one roll looked ahead; where a double is to be named, by the best one."""
    payoffs = evaluator.payoffs
    if after[n]["winner"] >= 0:
        return float(payoffs[row, mover, np.int64(after[n]["level"]) - 1])
    if after[n]["phase"] == Phase.CHOOSE_DOUBLE:
        return float(best_name(after, n, evaluator, row, inner)[1])
    probabilities_ahead(after, n, evaluator, row, inner)
    shift = 0 if after[n]["turn"] == mover else 3
    value = 0.0
    for o in range(OUTCOMES):
        value += inner.mean[o] * payoffs[row, mover, (o + shift) % OUTCOMES]
    return value


@kernel
def best_ahead(states: States, i: int, evaluator: Evaluator, row: int, search: Search, number: int, margin: float) -> int:
    """The best play of state `i` (phase CHECKER) with one roll of look-ahead: its index in `search.outer.plays`.

    Only plays whose value without look-ahead is within `margin` of the best are looked ahead from, at most `number` of them,
    the best first.
    """
    best, end = evaluate_plays(states, i, evaluator, row, search.outer)
    after, values = search.outer.plays.after, search.outer.values
    mover = np.int64(states[i]["turn"])
    least = values[best] - margin
    chosen = best
    top = 0.0
    for k in range(min(end, number)):
        for n in range(end):
            if values[n] > values[best]:
                best = n
        if end == 1 or values[best] < least:
            break
        value = value_ahead(after, best, mover, evaluator, row, search.inner)
        if k == 0 or value > top:
            top = value
            chosen = best
        values[best] = _DONE
    return chosen


@kernel
def choose_plays(states: States, net: Arrays, arrays: Arrays, steps: Integers) -> None:
    """The steps of the best play of every state (phase CHECKER) into `steps`, int64 (n, 4), -1 after the last step.

    Here and in the kernels below, `net` and `arrays` are an `Evaluator` and a `Scratch` by `plain`, and row i of the payoffs
    belongs to state i.
    """
    evaluator, scratch = evaluator_of(net), scratch_of(arrays)
    for i in range(states.shape[0]):
        best = evaluate_plays(states, i, evaluator, i, scratch)[0]
        for k in range(4):
            steps[i, k] = scratch.plays.actions[best, k]


@kernel
def choose_plays_ahead(
    states: States, net: Arrays, outer: Arrays, inner: Arrays, number: int, margin: float, steps: Integers
) -> None:
    """As `choose_plays`, with one roll of look-ahead: see `best_ahead`."""
    evaluator, search = evaluator_of(net), Search(scratch_of(outer), scratch_of(inner))
    for i in range(states.shape[0]):
        best = best_ahead(states, i, evaluator, i, search, number, margin)
        for k in range(4):
            steps[i, k] = search.outer.plays.actions[best, k]


@kernel
def choose_names(states: States, net: Arrays, arrays: Arrays, actions: Integers) -> None:
    """The action that names the best double in every state (phase CHOOSE_DOUBLE), into `actions`."""
    evaluator, scratch = evaluator_of(net), scratch_of(arrays)
    for i in range(states.shape[0]):
        actions[i] = FIRST_NAMED - 1 + best_name(states, i, evaluator, i, scratch)[0]


@kernel
def write_probabilities(states: States, net: Arrays, arrays: Arrays, plies: int, out: npt.NDArray[np.float64]) -> None:
    """The outputs of the net at every state before a roll, as the player on roll sees them, into `out`, float64 (n, 6).

    With `plies` 0 by the net alone, with 1 the mean over the 21 rolls.
    """
    evaluator, scratch = evaluator_of(net), scratch_of(arrays)
    for i in range(states.shape[0]):
        if plies > 0:
            probabilities_ahead(states, i, evaluator, i, scratch)
            for o in range(OUTCOMES):
                out[i, o] = scratch.mean[o]
        else:
            evaluate_as(states, i, np.int64(states[i]["turn"]), evaluator, scratch.layers)
            for o in range(OUTCOMES):
                out[i, o] = scratch.layers.outputs[o]


@kernel
def choose_cubeful(states: States, net: Arrays, arrays: Arrays, actions: Integers) -> None:
    """The action in every state of phase ROLL_OR_DOUBLE or TAKE_OR_DROP by a net that knows the cube, into `actions`."""
    evaluator, scratch = evaluator_of(net), scratch_of(arrays)
    for i in range(states.shape[0]):
        if states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
            actions[i] = roll_or_double(states, i, evaluator, scratch)
        else:
            actions[i] = answer_double(states, i, evaluator, scratch)
