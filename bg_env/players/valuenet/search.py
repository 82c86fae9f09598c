"""Choosing by a value net, compiled: every play weighed at once, and one roll of look-ahead.

Nets of kind "odds" look at copies of the states that are played on under plain rules (no cube, no match: `plain_rules`), so
that the phases that follow a play are the next roll, the naming of a double (R10.6) or the end of the game; nets that know
the cube and the match look under the rules in force.

`net`, `values`: as of `weigh`; `room` is `weigh_room`'s; `space` is what `search_room` makes, one set for each thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import FIRST_NAMED
from bg_env.players.valuenet.evaluate import answer_turn, flip, look_as, turn_cube, weigh_plays, weigh_room, worth_of_row
from bg_env.rules import STATE, Phase, Settings, Variant, apply, apply_roll

__all__ = [
    "best_deep",
    "best_name",
    "choose_names",
    "choose_plays",
    "choose_turns",
    "cube_odds",
    "odds_before_roll",
    "plain_rules",
    "search_room",
]

_ROLL = int(Phase.ROLL)
_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_CHECKER = int(Phase.CHECKER)
_CHOOSE_DOUBLE = int(Phase.CHOOSE_DOUBLE)
_DONE = np.float32(-1e30)
# Rows handed to other kernels: a plain number would have them compiled for that number as well.
_FIRST = np.int64(0)
_SECOND = np.int64(1)


def plain_rules(variant: Variant) -> Any:
    """The RULES record that states are looked ahead under: the variant's moves, one game, no cube, no limit of turns."""
    return Settings(variant, cube=False).record()


def search_room(net: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays that the kernels of this module work in: (outer, inner, step, mean)."""
    return weigh_room(net), weigh_room(net), np.empty(1, STATE), np.empty((1, 6), np.float64)


@kernel
def _odds_of(states: Any, i: Any, seat: Any, rules: Any, values: Any, v: Any, net: Any, room: Any) -> None:
    """The odds of a state where a roll is to be played or due, as `seat` sees them, into the room's `out[1]`.

    A roll is played as the net likes it best.
    """
    layers = room[7]
    out = layers[2]
    if states[i]["phase"] != _CHECKER:
        look_as(states, i, seat, rules, net, layers)
        return
    weigh_plays(states, i, rules, values, v, net, room)
    for o in range(6):
        out[1, o] = out[0, o]
    if states[i]["turn"] != seat:
        flip(out, _SECOND, net)


@kernel
def odds_before_roll(
    states: Any, i: Any, rules: Any, values: Any, v: Any, net: Any, room: Any, step: Any, mean: Any, row: Any
) -> None:
    """The mean odds over the 21 rolls of who is on roll in state `i`, each played as the net likes best, into `mean[row]`."""
    turn = np.int64(states[i]["turn"])
    out = room[7][2]
    for o in range(6):
        mean[row, o] = 0.0
    for d1 in range(1, 7):
        for d2 in range(1, d1 + 1):
            step[0] = states[i]
            step[0]["phase"] = _ROLL
            apply_roll(step, _FIRST, rules, d1, d2)
            _odds_of(step, _FIRST, turn, rules, values, v, net, room)
            weight = 1.0 if d1 == d2 else 2.0
            for o in range(6):
                mean[row, o] += weight / 36.0 * out[1, o]


@kernel
def best_name(states: Any, i: Any, rules: Any, values: Any, v: Any, net: Any, room: Any, step: Any) -> Any:
    """The double to name in state `i` (phase CHOOSE_DOUBLE), 1 to 6, and its worth: that of the best play of it."""
    turn = np.int64(states[i]["turn"])
    best = 1
    top = _DONE
    for d in range(1, 7):
        step[0] = states[i]
        apply(step, _FIRST, rules, FIRST_NAMED + d - 1)
        _odds_of(step, _FIRST, turn, rules, values, v, net, room)
        worth = worth_of_row(room[7][2], _SECOND, values, v, turn, net)
        if worth > top:
            top = worth
            best = d
    return best, top


@kernel
def _deep_worth(
    after: Any, n: Any, mover: Any, rules: Any, values: Any, v: Any, net: Any, room: Any, step: Any, mean: Any
) -> Any:
    """What state `after[n]` is worth to `mover` with the next roll looked ahead (a double to be named: the best one)."""
    if after[n]["winner"] >= 0:
        return float(values[v, mover, np.int64(after[n]["level"]) - 1])
    if after[n]["phase"] == _CHOOSE_DOUBLE:
        return float(best_name(after, n, rules, values, v, net, room, step)[1])
    odds_before_roll(after, n, rules, values, v, net, room, step, mean, _FIRST)
    shift = 0 if after[n]["turn"] == mover else 3
    worth = 0.0
    for o in range(6):
        worth += mean[0, o] * values[v, mover, (o + shift) % 6]
    return worth


@kernel
def best_deep(states: Any, i: Any, rules: Any, values: Any, v: Any, net: Any, space: Any, number: Any, margin: Any) -> Any:
    """The best play of state `i` (phase CHECKER) with one roll looked ahead: its index in the outer room's `actions`.

    Only plays whose worth without looking ahead is within `margin` of the best are looked at, `number` at most, best first.
    """
    outer, inner, step, mean = space
    best, end = weigh_plays(states, i, rules, values, v, net, outer)
    after, worth = outer[4], outer[6]
    mover = np.int64(states[i]["turn"])
    least = worth[best] - margin
    chosen = best
    top = 0.0
    for k in range(min(end, number)):
        for n in range(end):
            if worth[n] > worth[best]:
                best = n
        if end == 1 or worth[best] < least:
            break
        deep = _deep_worth(after, best, mover, rules, values, v, net, inner, step, mean)
        if k == 0 or deep > top:
            top = deep
            chosen = best
        worth[best] = _DONE
    return chosen


@kernel
def choose_plays(
    states: Any, rules: Any, values: Any, net: Any, space: Any, plies: Any, number: Any, margin: Any, steps: Any
) -> None:
    """The steps of the best play of every state (phase CHECKER) into `steps`, int64 (n, 4), -1 behind the last.

    With `plies` 0 by the net alone, with 1 by `best_deep`.
    """
    outer = space[0]
    actions = outer[5]
    for i in range(states.shape[0]):
        if plies > 0:
            best = best_deep(states, i, rules, values, i, net, space, number, margin)
        else:
            best = weigh_plays(states, i, rules, values, i, net, outer)[0]
        for k in range(4):
            steps[i, k] = actions[best, k]


@kernel
def choose_names(states: Any, rules: Any, values: Any, net: Any, space: Any, actions: Any) -> None:
    """The action that names the best double in every state (phase CHOOSE_DOUBLE), into `actions`."""
    _, inner, step, _ = space
    for i in range(states.shape[0]):
        actions[i] = FIRST_NAMED - 1 + best_name(states, i, rules, values, i, net, inner, step)[0]


@kernel
def cube_odds(states: Any, rules: Any, values: Any, net: Any, space: Any, plies: Any, odds: Any) -> None:
    """The odds of every state before a roll, as the player on roll sees them, into `odds`, float64 (n, 6)."""
    _, inner, step, _ = space
    layers = inner[7]
    for i in range(states.shape[0]):
        if plies > 0:
            odds_before_roll(states, i, rules, values, i, net, inner, step, odds, i)
        else:
            look_as(states, i, np.int64(states[i]["turn"]), rules, net, layers)
            for o in range(6):
                odds[i, o] = layers[2][1, o]


@kernel
def choose_turns(states: Any, rules: Any, net: Any, space: Any, turned: Any, actions: Any) -> None:
    """The action in every state of phase ROLL_OR_DOUBLE or TAKE_OR_DROP by a net that knows the cube, into `actions`."""
    layers = space[0][7]
    for i in range(states.shape[0]):
        if states[i]["phase"] == _ROLL_OR_DOUBLE:
            actions[i] = turn_cube(states, i, rules, net, layers, turned)
        else:
            actions[i] = answer_turn(states, i, rules, net, layers, turned)
