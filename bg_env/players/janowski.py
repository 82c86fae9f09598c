"""The cube for players that know cubeless probabilities only: Janowski's interpolation between a dead and a live cube.

The six probabilities of a position say what it is worth if the cube is never turned again: a dead cube. With a fully live
cube the opponent drops at the very moment when dropping and taking are worth the same, so that the worth of a position lies
on straight lines between the points where either side cashes. The truth lies between the two:

    worth = life * live + (1 - life) * dead

with a cube-life index `life` of about two thirds (Rick Janowski, "Take-Points in Money Games", 1993). In money play without
Jacoby and caps this gives Janowski's formulas; the cash points are found by going down from the cube's last value, so that
the same holds near the cap and, with chances from the match equity table in the place of points, in matches. Where a player
needs more points than the table knows, a match is treated as money play.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.equity import LONGEST
from bg_env.rewards import match_chance
from bg_env.rules import Phase, at_stake, may_turn_again

__all__ = ["CUBE_LIFE", "choose_cube", "cube_scratch", "outcome_values", "weigh_cube", "worth_of"]

CUBE_LIFE: Final = 2 / 3
"""The cube-life index where none is given."""

_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)
_LEVELS = 18
_SLACK = 1e-9


@kernel
def worth_of(states: Any, i: Any, rules: Any, seat: Any, points: Any) -> Any:
    """What it is worth to `seat` that it wins `points` with the game under way (negative: the other does).

    Points in money play; in a match the chance to win it.
    """
    length = np.int64(rules[0]["match_length"])
    own = np.int64(states[i]["score"][seat])
    other = np.int64(states[i]["score"][1 - seat])
    if length == 0 or length - min(own, other) > LONGEST:
        return float(points)
    crawford_to_come = rules[0]["crawford"] and length - max(own, other) > 1
    return float(match_chance(rules, own + max(points, 0), other + max(-points, 0), crawford_to_come))


@kernel
def _level_counts(states: Any, i: Any, rules: Any) -> Any:
    """Whether gammons count while the cube stays as it is (R8.5)."""
    return rules[0]["jacoby"] == 0 or rules[0]["cube"] == 0 or states[i]["owner"] != -1


@kernel
def outcome_values(states: Any, rules: Any, values: Any) -> None:
    """What the six outcomes are worth at the present cube to each seat of each state, into `values`, float32 (n, 2, 6).

    The scale is that a single game won is 1 and one lost -1; in money play the others are then 2 and 3 and their negatives.
    """
    for i in range(states.shape[0]):
        stake = np.int64(1) << np.int64(states[i]["cube"])
        full = _level_counts(states, i, rules)
        for seat in range(2):
            won = worth_of(states, i, rules, seat, stake)
            lost = worth_of(states, i, rules, seat, -stake)
            for level in range(1, 4):
                points = level * stake if full else stake
                for o, sign in ((level - 1, 1), (level + 2, -1)):
                    worth = worth_of(states, i, rules, seat, sign * points)
                    values[i, seat, o] = (2 * worth - won - lost) / (won - lost)


def cube_scratch() -> Any:
    """The array that `weigh_cube` works in: one for each thread."""
    return np.empty((6, _LEVELS), np.float64)


@kernel
def _shares(odds: Any, j: Any, first: Any, share: Any, row: Any) -> Any:
    """Write how the three outcomes from `first` on are shared among levels into `share[row]`; returns their sum."""
    total = 0.0
    for k in range(3):
        total += odds[j, first + k]
    for k in range(3):
        share[row, k] = odds[j, first + k] / total if total > 0 else (1.0 if k == 0 else 0.0)
    return total


@kernel
def _may_turn(states: Any, i: Any, rules: Any, player: Any, k: Any) -> Any:
    """Whether turning a cube at 2**k that it may turn does `player` any good: not past the cap, and not a dead cube."""
    if k >= rules[0]["cube_cap"]:
        return False
    length = np.int64(rules[0]["match_length"])
    return length == 0 or np.int64(states[i]["score"][player]) + (np.int64(1) << k) < length


@kernel
def _on_line(p: Any, p0: Any, y0: Any, p1: Any, y1: Any) -> Any:
    """The height at `p` of the line through (p0, y0) and (p1, y1)."""
    if p1 <= p0:
        return y1
    return y0 + (y1 - y0) * (p - p0) / (p1 - p0)


@kernel
def _meets(y: Any, p0: Any, y0: Any, p1: Any, y1: Any) -> Any:
    """Where the line from (p0, y0) up to (p1, y1) has height `y`, not beyond its ends."""
    if y >= y1:
        return p1
    if y <= y0:
        return p0
    return p0 + (p1 - p0) * (y - y0) / (y1 - y0)


@kernel
def _knots(states: Any, i: Any, rules: Any, odds: Any, j: Any, low: Any, knots: Any) -> Any:
    """What the live cube's lines go through, as the player on roll, `turn`, sees it, from cube 2**low to the cap.

    `knots[0, k]` and `[1, k]`: worth of winning and of losing with the cube at 2**k, gammons counted. `[2, k]`, `[3, k]`:
    of winning and losing by a drop. `[4, k]`: the chance from which the player cashes, 1 where it cannot; `[5, k]`: the
    chance down to which the other player does, 0 where it cannot. Returns the chance to win.
    """
    seat = np.int64(states[i]["turn"])
    share = np.empty((2, 3), np.float64)
    p = _shares(odds, j, 0, share, 0)
    q = _shares(odds, j, 3, share, 1)
    last = max(np.int64(rules[0]["cube_cap"]), low) + 1
    for k in range(low, last + 1):
        stake = np.int64(1) << k
        knots[0, k] = knots[1, k] = 0.0
        for level in range(1, 4):
            knots[0, k] += share[0, level - 1] * worth_of(states, i, rules, seat, level * stake)
            knots[1, k] += share[1, level - 1] * worth_of(states, i, rules, seat, -level * stake)
        knots[2, k] = worth_of(states, i, rules, seat, stake)
        knots[3, k] = worth_of(states, i, rules, seat, -stake)
    for k in range(last, low - 1, -1):
        knots[4, k] = 1.0
        knots[5, k] = 0.0
        if _may_turn(states, i, rules, seat, k):  # the other would own it at twice the value
            low_p = knots[5, k + 1]
            low_y = knots[3, k + 1] if low_p > 0 else knots[1, k + 1]
            knots[4, k] = _meets(knots[2, k], low_p, low_y, 1.0, knots[0, k + 1])
        if _may_turn(states, i, rules, 1 - seat, k):
            high_p = knots[4, k + 1]
            high_y = knots[2, k + 1] if high_p < 1 else knots[0, k + 1]
            knots[5, k] = _meets(knots[3, k], 0.0, knots[1, k + 1], high_p, high_y)
    return p / (p + q)


@kernel
def _live(p: Any, knots: Any, k: Any, won: Any, lost: Any, ours: Any, theirs: Any) -> Any:
    """The worth at `p` with a live cube at 2**k that we (`ours`), they (`theirs`) may turn; `won`, `lost` at the ends."""
    low_p = 0.0
    low_y = lost
    if theirs and knots[5, k] > 0:
        if p <= knots[5, k]:
            return _on_line(p, 0.0, lost, knots[5, k], knots[3, k])
        low_p = knots[5, k]
        low_y = knots[3, k]
    if ours and knots[4, k] < 1:
        if p >= knots[4, k]:
            return _on_line(p, knots[4, k], knots[2, k], 1.0, won)
        return _on_line(p, low_p, low_y, knots[4, k], knots[2, k])
    return _on_line(p, low_p, low_y, 1.0, won)


@kernel
def weigh_cube(states: Any, i: Any, rules: Any, odds: Any, j: Any, life: Any, knots: Any) -> Any:
    """What the cube's turns are worth to the player on roll, `turn`, in state `i`, a decision of the cube.

    Args:
        states: STATE records.
        i: the state's index: phase ROLL_OR_DOUBLE or TAKE_OR_DROP.
        rules: the RULES record in force.
        odds: floats (m, 6), probabilities of winning 1, 2, 3 and losing 1, 2, 3 as the player on roll sees them, before the
            roll.
        j: the state's row in `odds`.
        life: the cube-life index, 0 to 1.
        knots: `cube_scratch()`.

    Returns:
        (as it stands, turned and taken, turned and dropped): points in money play, chances of the match in a match. Turned is
        the turn that is offered or, in TAKE_OR_DROP, waits for its answer.
    """
    k = np.int64(at_stake(states, i))
    p = _knots(states, i, rules, odds, j, k, knots)
    owner = states[i]["owner"]
    turn = states[i]["turn"]
    won = knots[0, k]
    lost = knots[1, k]
    if not _level_counts(states, i, rules):
        won = knots[2, k]
        lost = knots[3, k]
    live = _live(p, knots, k, won, lost, owner != 1 - turn, owner != turn)
    stands = life * live + (1 - life) * _on_line(p, 0.0, lost, 1.0, won)
    won = knots[0, k + 1]
    lost = knots[1, k + 1]
    live = _live(p, knots, k + 1, won, lost, False, True)
    taken = life * live + (1 - life) * _on_line(p, 0.0, lost, 1.0, won)
    return stands, taken, knots[2, k]


@kernel
def choose_cube(states: Any, rules: Any, odds: Any, life: Any, knots: Any, actions: Any) -> None:
    """The action in every state of phase ROLL_OR_DOUBLE or TAKE_OR_DROP, into `actions`; arguments as of `weigh_cube`, j = i.

    The player on roll doubles when that is worth more than to roll whatever the answer is (too good to double: it rolls). A
    turned cube is taken unless dropping is worth more, and turned again (R8.6) when the stakes are higher in one's own favour.
    """
    for i in range(states.shape[0]):
        phase = states[i]["phase"]
        if phase != _ROLL_OR_DOUBLE and phase != _TAKE_OR_DROP:
            continue
        stands, taken, dropped = weigh_cube(states, i, rules, odds, i, life, knots)
        turn = states[i]["turn"]
        if phase == _ROLL_OR_DOUBLE:
            good = _may_turn(states, i, rules, turn, np.int64(states[i]["cube"]))
            good = good and taken > stands + _SLACK and dropped >= stands - _SLACK
            actions[i] = DOUBLE if good else ROLL
        elif states[i]["decider"] == turn:  # a beaver or a later turn of it: money play
            worst = knots[3, np.int64(at_stake(states, i))]
            actions[i] = TAKE if taken >= worst else DROP
            if taken > _SLACK and may_turn_again(states, i, rules):
                actions[i] = BEAVER
        else:
            actions[i] = TAKE if taken <= dropped + _SLACK else DROP
            if rules[0]["match_length"] == 0 and taken < -_SLACK and may_turn_again(states, i, rules):
                actions[i] = BEAVER
