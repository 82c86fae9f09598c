"""Every candidate of a decision weighed by a value net, compiled.

`net` is `ValueNet.kernel_arrays`; `room` is what `weigh_room` makes, one set for each thread. What the six outcomes are worth
to a net of kind "odds" is in `values`, float32 (n, 2, 6): for each state as each seat sees it, see `cube.outcome_values`;
nets of the other kinds answer with a worth and do not ask.

Worth is that of the mover: in money play points a game at a cube of 1, in a match twice the chance to win it less 1, by a net
of kind "odds" as `values` has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.players.valuenet.net import add_extra, add_tactics, change, first_layer, further_layers, layer_room, look
from bg_env.rewards import match_chance
from bg_env.rules import MAX_PLAYS, STATE, Phase, apply, may_turn_again, plays_into, plays_scratch

__all__ = ["answer_turn", "flip", "look_as", "turn_cube", "turn_room", "weigh_plays", "weigh_room", "worth_of_row"]

_FIRST = np.int64(0)
_SECOND = np.int64(1)
_THIRD = np.int64(2)
_FOURTH = np.int64(3)
_CHECKER = int(Phase.CHECKER)


def weigh_room(net: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays that `weigh_plays` works in: (..., after, actions, worth, layers), `layers` of `layer_room`."""
    return (
        *plays_scratch(),
        np.empty(MAX_PLAYS, STATE),
        np.empty((MAX_PLAYS, 4), np.int16),
        np.empty(MAX_PLAYS, np.float32),
        layer_room(net),
    )


def turn_room() -> Any:
    """The states that `turn_cube` and `answer_turn` work with."""
    return np.zeros(4, STATE)


@kernel
def flip(out: Any, row: Any, net: Any) -> None:
    """Turn the answer `out[row]` to the other seat's view."""
    if net[2].shape[0] > 0:
        out[row, 0] = -out[row, 0]
        return
    for o in range(3):
        out[row, o], out[row, o + 3] = out[row, o + 3], out[row, o]


@kernel
def look_as(states: Any, i: Any, seat: Any, rules: Any, net: Any, layers: Any) -> None:
    """The net's answer to state `i`, where a roll is due, as `seat` sees it, into `out[1]`; who is on roll is asked."""
    turn = np.int64(states[i]["turn"])
    look(states, i, turn, rules, net, layers, _SECOND)
    if turn != seat:
        flip(layers[2], _SECOND, net)


@kernel
def worth_of_row(out: Any, row: Any, values: Any, v: Any, seat: Any, net: Any) -> Any:
    """What the answer `out[row]`, as `seat` sees it, is worth to it."""
    if net[2].shape[0] > 0:
        return out[row, 0]
    worth = np.float32(0)
    for o in range(6):
        worth += out[row, o] * values[v, seat, o]
    return worth


@kernel
def ended(states: Any, i: Any, seat: Any, rules: Any, net: Any, out: Any, row: Any) -> None:
    """What the game that state `i` has just ended came to, as `seat` sees it, into `out[row]`, as a net would answer."""
    for o in range(6):
        out[row, o] = np.float32(0)
    winner = np.int64(states[i]["winner"])
    if net[2].shape[0] == 0:
        out[row, states[i]["level"] - 1 + (0 if winner == seat else 3)] = np.float32(1)
        return
    if rules[0]["match_length"] == 0:
        worth = float(states[i]["level"])
    else:
        own = np.int64(states[i]["score"][winner])
        other = np.int64(states[i]["score"][1 - winner])
        worth = 2.0 * match_chance(rules, own, other, states[i]["crawford"]) - 1.0
    out[row, 0] = np.float32(worth if winner == seat else -worth)


@kernel
def weigh_plays(states: Any, i: Any, rules: Any, values: Any, v: Any, net: Any, room: Any) -> Any:
    """Weigh all plays of state `i` (phase CHECKER), with the values `values[v]`.

    The room's `after[n]` and `actions[n]` are then the plays in the order of `rules.plays`, `worth[n]` what each is worth to
    the mover, `out[0]` the answer to the best as it sees it. Returns the best, the first of equals, and how many there are.
    """
    work, path, hits, keys, after, actions, worth, layers = room
    hidden, second, out, on, seen = layers
    end = plays_into(states, i, rules, work, path, hits, keys, after, actions, 0)
    mover = np.int64(states[i]["turn"])
    other = 1 - mover
    started = False
    best = 0
    for n in range(end):
        if after[n]["winner"] >= 0:
            ended(after, n, mover, rules, net, out, _SECOND)
        elif after[n]["turn"] == other:
            if not started:
                first_layer(states, i, other, net[0], hidden, _FIRST)
                add_extra(after, n, other, rules, net[2], hidden, _FIRST, on)  # the same after every play
                started = True
            change(states, i, after, n, other, net[0], hidden)
            add_tactics(after, n, other, net[1], hidden, _SECOND, seen)
            further_layers(hidden, _SECOND, net, second, out, _SECOND)
            flip(out, _SECOND, net)
        else:  # the 1-2 bonus: the mover goes on
            look_as(after, n, mover, rules, net, layers)
        worth[n] = worth_of_row(out, _SECOND, values, v, mover, net)
        if n == 0 or worth[n] > worth[best]:
            best = n
            for o in range(6):
                out[0, o] = out[1, o]
    return best, end


@kernel
def _stands(states: Any, i: Any, seat: Any, rules: Any, net: Any, layers: Any) -> Any:
    """What state `i`, ended or with a roll due, is worth to `seat`: points in money play at the cube as it is then."""
    if states[i]["winner"] >= 0:
        ended(states, i, seat, rules, net, layers[2], _SECOND)
    else:
        look_as(states, i, seat, rules, net, layers)
    worth = float(layers[2][1, 0])
    if rules[0]["match_length"] == 0:
        worth *= np.int64(1) << np.int64(states[i]["cube"])
    return worth


@kernel
def _take_or_drop(turned: Any, i: Any, rules: Any, net: Any, layers: Any, k: Any) -> Any:
    """The better of take and drop for who is asked in state `turned[i]`, and its worth; works in `turned[k]`."""
    seat = np.int64(turned[i]["decider"])
    turned[k] = turned[i]
    apply(turned, k, rules, TAKE)
    taken = _stands(turned, k, seat, rules, net, layers)
    turned[k] = turned[i]
    apply(turned, k, rules, DROP)
    dropped = _stands(turned, k, seat, rules, net, layers)
    if taken >= dropped:
        return TAKE, taken
    return DROP, dropped


@kernel
def _answer(turned: Any, i: Any, rules: Any, net: Any, layers: Any) -> Any:
    """The best answer to the turned cube of state `turned[i]`, and its worth to who gives it; works in the states behind."""
    action, worth = _take_or_drop(turned, i, rules, net, layers, i + 1)
    if may_turn_again(turned, i, rules):
        turned[_THIRD] = turned[i]
        apply(turned, _THIRD, rules, BEAVER)
        again = -_take_or_drop(turned, _THIRD, rules, net, layers, _FOURTH)[1]
        if again > worth:
            return BEAVER, again
    return action, worth


@kernel
def answer_turn(states: Any, i: Any, rules: Any, net: Any, layers: Any, turned: Any) -> Any:
    """The answer to the turned cube of state `i` (phase TAKE_OR_DROP) by a net that knows the cube: the action."""
    turned[_FIRST] = states[i]
    return _answer(turned, _FIRST, rules, net, layers)[0]


@kernel
def turn_cube(states: Any, i: Any, rules: Any, net: Any, layers: Any, turned: Any) -> Any:
    """ROLL or DOUBLE in state `i` (phase ROLL_OR_DOUBLE) by a net that knows the cube: whichever it holds worth more."""
    seat = np.int64(states[i]["turn"])
    turned[_FIRST] = states[i]
    apply(turned, _FIRST, rules, ROLL)
    stands = _stands(turned, _FIRST, seat, rules, net, layers)
    turned[_FIRST] = states[i]
    apply(turned, _FIRST, rules, DOUBLE)
    if -_answer(turned, _FIRST, rules, net, layers)[1] > stands:
        return DOUBLE
    return ROLL
