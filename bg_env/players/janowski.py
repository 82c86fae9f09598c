"""Cube decisions from cubeless probabilities: Janowski's interpolation between a dead and a live cube.

The six probabilities of a position give its value if the cube is never turned again: a dead cube. With a fully live cube the
opponent drops exactly at the point where dropping and taking have the same value, so that the value of a position lies on
straight lines between the points where either side cashes. The truth lies between the two:

    value = life * live + (1 - life) * dead

with a cube-life index `life` of about two thirds (Rick Janowski, "Take-Points in Money Games", 1993). In money play without
Jacoby and caps this gives Janowski's formulas. The cash points are found by going down from the last value of the cube, so the
model also holds near the cap and, with match winning chances from the match equity table instead of points, in matches.
Where a player needs more points than the table covers, a match is treated as money play.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.equity import LONGEST
from bg_env.rewards import match_chance
from bg_env.rules import Phase, Rules, States, at_stake, may_turn_again

__all__ = [
    "CUBE_LIFE",
    "CubeLines",
    "CubeValues",
    "choose_cube",
    "cube_lines",
    "cube_values",
    "gains_by_turn",
    "value_of_points",
    "write_payoffs",
]

CUBE_LIFE: Final = 2 / 3
"""The cube-life index where none is given."""

_LEVELS = 18
"""Values of the cube, as powers of two: up to a lifted cap, and one beyond."""
_SLACK = 1e-9
"""Differences of value below this are rounding."""

Probabilities = npt.NDArray[np.float64]


class CubeLines(NamedTuple):
    """Points that the lines of a live cube go through, as the player on roll sees them: scratch, one set for each thread.

    All are float64 (18,), indexed by the cube as a power of two, and values are those of `value_of_points`.

    Attributes:
        win: value of a game won, gammons counted.
        loss: value of a game lost, gammons counted.
        cash: value of a game won by a drop.
        dropped: value of a game lost by a drop.
        own_cash: the chance to win from which the player on roll cashes; 1 where it cannot.
        other_cash: the chance to win down to which the other player cashes; 0 where it cannot.
        levels: float64 (2, 3), the shares of single games, gammons and backgammons in games won and lost.
    """

    win: Probabilities
    loss: Probabilities
    cash: Probabilities
    dropped: Probabilities
    own_cash: Probabilities
    other_cash: Probabilities
    levels: Probabilities


class CubeValues(NamedTuple):
    """The values of a cube decision to the player on roll: points in money play, match winning chances in a match.

    Attributes:
        stands: with the cube as it stands.
        taken: after a turn of the cube and a take.
        dropped: after a turn of the cube and a drop.
    """

    stands: float
    taken: float
    dropped: float


def cube_lines() -> CubeLines:
    """Scratch for `cube_values` and `choose_cube`."""
    win, loss, cash, dropped, own_cash, other_cash = (np.empty(_LEVELS, np.float64) for _ in range(6))
    return CubeLines(win, loss, cash, dropped, own_cash, other_cash, levels=np.empty((2, 3), np.float64))


@kernel
def value_of_points(states: States, i: int, rules: Rules, seat: int, points: int) -> float:
    """The value to `seat` of winning `points` with the game under way, or of losing them, if negative.

    Points in money play; the match winning chance in a match.
    """
    length = np.int64(rules[0]["match_length"])
    own = np.int64(states[i]["score"][seat])
    other = np.int64(states[i]["score"][1 - seat])
    if length == 0 or length - min(own, other) > LONGEST:
        return float(points)
    crawford_to_come = rules[0]["crawford"] and length - max(own, other) > 1
    return float(match_chance(rules, own + max(points, 0), other + max(-points, 0), crawford_to_come))


@kernel
def _gammons_count(states: States, i: int, rules: Rules) -> bool:
    """Whether gammons count while the cube stays as it is (R8.5)."""
    return bool(rules[0]["jacoby"] == 0 or rules[0]["cube"] == 0 or states[i]["owner"] != -1)


@kernel
def write_payoffs(states: States, rules: Rules, payoffs: npt.NDArray[np.float32]) -> None:
    """The values of the six outcomes at the present cube to each seat of each state, into `payoffs`, float32 (n, 2, 6).

    They are scaled so that a single game won is 1 and one lost -1; in money play the others are then 2 and 3, -2 and -3.
    """
    for i in range(states.shape[0]):
        stake = np.int64(1) << np.int64(states[i]["cube"])
        full = _gammons_count(states, i, rules)
        for seat in range(2):
            won = value_of_points(states, i, rules, seat, stake)
            lost = value_of_points(states, i, rules, seat, -stake)
            for level in range(1, 4):
                points = level * stake if full else stake
                for o, sign in ((level - 1, 1), (level + 2, -1)):
                    value = value_of_points(states, i, rules, seat, sign * points)
                    payoffs[i, seat, o] = (2 * value - won - lost) / (won - lost)


@kernel
def _share_levels(probabilities: Probabilities, j: int, first: int, levels: Probabilities, row: int) -> float:
    """The shares of the three outcomes from `first` on among themselves, into `levels[row]`; returns their sum."""
    total = 0.0
    for k in range(3):
        total += probabilities[j, first + k]
    for k in range(3):
        levels[row, k] = probabilities[j, first + k] / total if total > 0 else (1.0 if k == 0 else 0.0)
    return total


@kernel
def gains_by_turn(states: States, i: int, rules: Rules, player: int, k: int) -> bool:
    """Whether `player` can gain by turning a cube of 2**k to which it has access: not past the cap, and not a dead cube."""
    if k >= rules[0]["cube_cap"]:
        return False
    length = np.int64(rules[0]["match_length"])
    return bool(length == 0 or np.int64(states[i]["score"][player]) + (np.int64(1) << k) < length)


@kernel
def _on_line(p: float, p0: float, y0: float, p1: float, y1: float) -> float:
    """The height at `p` of the line through (p0, y0) and (p1, y1)."""
    if p1 <= p0:
        return y1
    return y0 + (y1 - y0) * (p - p0) / (p1 - p0)


@kernel
def _meets(y: float, p0: float, y0: float, p1: float, y1: float) -> float:
    """The place at which the line from (p0, y0) up to (p1, y1) has height `y`, not beyond its ends."""
    if y >= y1:
        return p1
    if y <= y0:
        return p0
    return p0 + (p1 - p0) * (y - y0) / (y1 - y0)


@kernel
def _write_lines(states: States, i: int, rules: Rules, probabilities: Probabilities, j: int, lines: CubeLines) -> float:
    """The lines of a live cube from the one at stake to the cap, as the player on roll sees them; returns its chance to win."""
    seat = np.int64(states[i]["turn"])
    p = _share_levels(probabilities, j, 0, lines.levels, 0)
    q = _share_levels(probabilities, j, 3, lines.levels, 1)
    low = np.int64(at_stake(states, i))
    last = max(np.int64(rules[0]["cube_cap"]), low) + 1
    for k in range(low, last + 1):
        stake = np.int64(1) << k
        lines.win[k] = lines.loss[k] = 0.0
        for level in range(1, 4):
            lines.win[k] += lines.levels[0, level - 1] * value_of_points(states, i, rules, seat, level * stake)
            lines.loss[k] += lines.levels[1, level - 1] * value_of_points(states, i, rules, seat, -level * stake)
        lines.cash[k] = value_of_points(states, i, rules, seat, stake)
        lines.dropped[k] = value_of_points(states, i, rules, seat, -stake)
    for k in range(last, low - 1, -1):
        lines.own_cash[k] = 1.0
        lines.other_cash[k] = 0.0
        if gains_by_turn(states, i, rules, seat, k):  # the other would own it at twice the value
            low_p = lines.other_cash[k + 1]
            low_y = lines.dropped[k + 1] if low_p > 0 else lines.loss[k + 1]
            lines.own_cash[k] = _meets(lines.cash[k], low_p, low_y, 1.0, lines.win[k + 1])
        if gains_by_turn(states, i, rules, 1 - seat, k):
            high_p = lines.own_cash[k + 1]
            high_y = lines.cash[k + 1] if high_p < 1 else lines.win[k + 1]
            lines.other_cash[k] = _meets(lines.dropped[k], 0.0, lines.loss[k + 1], high_p, high_y)
    return p / (p + q)


@kernel
def _live(p: float, lines: CubeLines, k: int, win: float, loss: float, own: bool, other: bool) -> float:
    """The value at `p` of a live cube at 2**k to which the player on roll (`own`), the `other` player have access.

    `win` and `loss` are the values at the ends of the line.
    """
    low_p = 0.0
    low_y = loss
    if other and lines.other_cash[k] > 0:
        if p <= lines.other_cash[k]:
            return _on_line(p, 0.0, loss, lines.other_cash[k], lines.dropped[k])
        low_p = lines.other_cash[k]
        low_y = lines.dropped[k]
    if own and lines.own_cash[k] < 1:
        if p >= lines.own_cash[k]:
            return _on_line(p, lines.own_cash[k], lines.cash[k], 1.0, win)
        return _on_line(p, low_p, low_y, lines.own_cash[k], lines.cash[k])
    return _on_line(p, low_p, low_y, 1.0, win)


@kernel
def cube_values(
    states: States, i: int, rules: Rules, probabilities: Probabilities, j: int, life: float, lines: CubeLines
) -> CubeValues:
    """The values of the cube decision in state `i` to the player on roll, `turn`.

    Args:
        states: STATE records.
        i: the state's index: phase ROLL_OR_DOUBLE or TAKE_OR_DROP.
        rules: the RULES record in force.
        probabilities: floats (m, 6), of winning 1, 2, 3 and losing 1, 2, 3 as the player on roll sees them, before the roll.
        j: the state's row in `probabilities`.
        life: the cube-life index, 0 to 1.
        lines: scratch, see `cube_lines`.

    Returns:
        The values. The turn of the cube is the one that is possible now or, in TAKE_OR_DROP, the one that was offered.
    """
    k = np.int64(at_stake(states, i))
    p = _write_lines(states, i, rules, probabilities, j, lines)
    owner = states[i]["owner"]
    turn = states[i]["turn"]
    win = lines.win[k]
    loss = lines.loss[k]
    if not _gammons_count(states, i, rules):
        win = lines.cash[k]
        loss = lines.dropped[k]
    live = _live(p, lines, k, win, loss, owner != 1 - turn, owner != turn)
    stands = life * live + (1 - life) * _on_line(p, 0.0, loss, 1.0, win)
    win = lines.win[k + 1]
    loss = lines.loss[k + 1]
    live = _live(p, lines, k + 1, win, loss, False, True)
    taken = life * live + (1 - life) * _on_line(p, 0.0, loss, 1.0, win)
    return CubeValues(stands, taken, lines.cash[k])


@kernel
def choose_cube(
    states: States,
    rules: Rules,
    probabilities: Probabilities,
    life: float,
    lines: CubeLines,
    actions: npt.NDArray[np.int64],
) -> None:
    """The action in every state of phase ROLL_OR_DOUBLE or TAKE_OR_DROP, into `actions`; row i of the probabilities is its own.

    The player on roll doubles when that has a higher value than rolling whatever the answer is (too good to double: it rolls).
    A double is taken unless dropping has a higher value, and turned again (R8.6) when a higher stake favours the player.
    """
    for i in range(states.shape[0]):
        phase = states[i]["phase"]
        if phase != Phase.ROLL_OR_DOUBLE and phase != Phase.TAKE_OR_DROP:
            continue
        values = cube_values(states, i, rules, probabilities, i, life, lines)
        turn = states[i]["turn"]
        if phase == Phase.ROLL_OR_DOUBLE:
            good = gains_by_turn(states, i, rules, turn, np.int64(states[i]["cube"]))
            good = good and values.taken > values.stands + _SLACK and values.dropped >= values.stands - _SLACK
            actions[i] = DOUBLE if good else ROLL
        elif states[i]["decider"] == turn:  # a beaver or a later turn of it: money play
            worst = lines.dropped[np.int64(at_stake(states, i))]
            actions[i] = TAKE if values.taken >= worst else DROP
            if values.taken > _SLACK and may_turn_again(states, i, rules):
                actions[i] = BEAVER
        else:
            actions[i] = TAKE if values.taken <= values.dropped + _SLACK else DROP
            if rules[0]["match_length"] == 0 and values.taken < -_SLACK and may_turn_again(states, i, rules):
                actions[i] = BEAVER
