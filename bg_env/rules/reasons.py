"""Why an action is illegal, clause by clause: the slow twin of the mask.

Written with loops over points and a look at every second step, sharing nothing with the bit sets of `moves`, so that
each can be held to the other: `mask[a] == (illegal_reason(states, i, rules, a) == LEGAL)` for every action in every phase.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.rules.actions import ACTIONS, BEAVER, DOUBLE, FIRST_NAMED, ROLL, STEPS, TAKE, die_of, source_of
from bg_env.rules.state import Phase
from bg_env.rules.variant import BAR, OFF

__all__ = ["Reason", "illegal_reason"]


class Reason(enum.IntEnum):
    """What `illegal_reason` answers; 0 is legal."""

    LEGAL = 0
    NO_ACTION = 1
    GAME_OVER = 2
    DICE_DUE = 3
    NO_CUBE = 4
    NO_BEAVERS = 5
    NO_BONUS = 6
    ROLL_OR_DOUBLE_FIRST = 7
    ANSWER_FIRST = 8
    NAME_FIRST = 9
    ALREADY_ROLLED = 10
    NOTHING_TO_ANSWER = 11
    NOTHING_TO_NAME = 12
    CUBE_CAP = 13
    BEAVERS_SPENT = 14
    DIE_NOT_LEFT = 15
    BAR_FIRST = 16
    NO_CHECKER = 17
    BLOCKED = 18
    NOT_ALL_HOME = 19
    HIGHER_CHECKER = 20
    BOTH_DICE = 21
    LARGER_DIE = 22


_LEGAL = int(Reason.LEGAL)
_NO_ACTION = int(Reason.NO_ACTION)
_GAME_OVER = int(Reason.GAME_OVER)
_DICE_DUE = int(Reason.DICE_DUE)
_NO_CUBE = int(Reason.NO_CUBE)
_NO_BEAVERS = int(Reason.NO_BEAVERS)
_NO_BONUS = int(Reason.NO_BONUS)
_ROLL_OR_DOUBLE_FIRST = int(Reason.ROLL_OR_DOUBLE_FIRST)
_ANSWER_FIRST = int(Reason.ANSWER_FIRST)
_NAME_FIRST = int(Reason.NAME_FIRST)
_ALREADY_ROLLED = int(Reason.ALREADY_ROLLED)
_NOTHING_TO_ANSWER = int(Reason.NOTHING_TO_ANSWER)
_NOTHING_TO_NAME = int(Reason.NOTHING_TO_NAME)
_CUBE_CAP = int(Reason.CUBE_CAP)
_BEAVERS_SPENT = int(Reason.BEAVERS_SPENT)
_DIE_NOT_LEFT = int(Reason.DIE_NOT_LEFT)
_BAR_FIRST = int(Reason.BAR_FIRST)
_NO_CHECKER = int(Reason.NO_CHECKER)
_BLOCKED = int(Reason.BLOCKED)
_NOT_ALL_HOME = int(Reason.NOT_ALL_HOME)
_HIGHER_CHECKER = int(Reason.HIGHER_CHECKER)
_BOTH_DICE = int(Reason.BOTH_DICE)
_LARGER_DIE = int(Reason.LARGER_DIE)

_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)
_CHECKER = int(Phase.CHECKER)
_CHOOSE_DOUBLE = int(Phase.CHOOSE_DOUBLE)
_OVER = int(Phase.OVER)


@kernel
def _count(states: Any, i: Any, side: Any, moved_from: Any, moved_by: Any, k: Any) -> Any:
    """How many checkers `side` has on place `k` after the step of `moved_by` from `moved_from` (0: none)."""
    n = np.int64(states[i]["points"][side, k])
    if moved_from and k == moved_from:
        n -= 1
    if moved_from and k == max(moved_from - moved_by, OFF):
        n += 1
    return n


@kernel
def _step_reason(states: Any, i: Any, side: Any, moved_from: Any, moved_by: Any, p: Any, die: Any) -> Any:
    """R4, R6, R7 for one step, on the board after the step of `moved_by` from `moved_from` (0: none) has been made."""
    on_bar = _count(states, i, side, moved_from, moved_by, BAR)
    if _count(states, i, side, moved_from, moved_by, p) == 0:
        return _BAR_FIRST if on_bar > 0 else _NO_CHECKER
    if p != BAR and on_bar > 0:
        return _BAR_FIRST
    to = p - die
    if to >= 1:
        return _BLOCKED if states[i]["points"][1 - side, 25 - to] >= 2 else _LEGAL
    for k in range(7, 26):
        if _count(states, i, side, moved_from, moved_by, k) > 0:
            return _NOT_ALL_HOME
    if to < 0:
        for k in range(p + 1, 7):
            if _count(states, i, side, moved_from, moved_by, k) > 0:
                return _HIGHER_CHECKER
    return _LEGAL


@kernel
def _completes(states: Any, i: Any, rules: Any, side: Any, p: Any, die: Any, other: Any) -> Any:
    """Whether after the legal step of `die` from `p` die `other` can be played, or nothing is left (R5.4)."""
    if p <= die and states[i]["points"][side, OFF] + 1 == rules[0]["checkers"]:
        return True
    for q in range(1, 26):
        if _step_reason(states, i, side, p, die, q, other) == _LEGAL:
            return True
    return False


@kernel
def _duty_reason(states: Any, i: Any, rules: Any, side: Any, p: Any, die: Any, other: Any) -> Any:
    """R5.1, R5.2 for a step that is otherwise legal while both of two unequal dice are left."""
    if _completes(states, i, rules, side, p, die, other):
        return _LEGAL
    other_playable = False
    for q in range(1, 26):
        if _step_reason(states, i, side, 0, 0, q, die) == _LEGAL and _completes(states, i, rules, side, q, die, other):
            return _BOTH_DICE
        if _step_reason(states, i, side, 0, 0, q, other) == _LEGAL:
            other_playable = True
            if _completes(states, i, rules, side, q, other, die):
                return _BOTH_DICE
    return _LARGER_DIE if other_playable and other > die else _LEGAL


@kernel
def _checker_reason(states: Any, i: Any, rules: Any, action: Any) -> Any:
    side = states[i]["turn"]
    p = source_of(action)
    die = die_of(action)
    high = states[i]["left"][0] > 0
    low = states[i]["left"][1] > 0
    if not (high and states[i]["dice"][0] == die) and not (low and states[i]["dice"][1] == die):
        return _DIE_NOT_LEFT
    reason = _step_reason(states, i, side, 0, 0, p, die)
    if reason != _LEGAL or not (high and low):
        return reason
    other = np.int64(states[i]["dice"][0]) + np.int64(states[i]["dice"][1]) - die
    return _duty_reason(states, i, rules, side, p, die, other)


@kernel
def _cube_reason(states: Any, i: Any, rules: Any, action: Any) -> Any:
    """For take, drop and turning again (TAKE, DROP, BEAVER) while the cube waits for an answer."""
    if action < BEAVER:
        return _LEGAL
    if rules[0]["beavers"] == 0:
        return _NO_BEAVERS
    if states[i]["chain"] > rules[0]["beavers"]:
        return _BEAVERS_SPENT
    if states[i]["cube"] + states[i]["chain"] + 1 > rules[0]["cube_cap"]:
        return _CUBE_CAP
    return _LEGAL


@kernel
def illegal_reason(states: Any, i: Any, rules: Any, action: Any) -> Any:
    """0 if `action` is legal in state `i` for the player who decides, else the `Reason` why not (as an integer)."""
    if action < 0 or action >= ACTIONS:
        return _NO_ACTION
    phase = states[i]["phase"]
    if phase == _OVER:
        return _GAME_OVER
    if states[i]["decider"] < 0:
        return _DICE_DUE
    step = action < STEPS
    before = action == ROLL or action == DOUBLE
    answer = action >= TAKE and action <= BEAVER
    if (action == DOUBLE or answer) and rules[0]["cube"] == 0:
        return _NO_CUBE
    if action >= FIRST_NAMED and rules[0]["acey_deucey"] == 0:
        return _NO_BONUS
    if phase == _TAKE_OR_DROP:
        return _cube_reason(states, i, rules, action) if answer else _ANSWER_FIRST
    if answer:
        return _NOTHING_TO_ANSWER
    if phase == _CHECKER:
        if step:
            return _checker_reason(states, i, rules, action)
        return _ALREADY_ROLLED if before else _NOTHING_TO_NAME
    if phase == _CHOOSE_DOUBLE:
        if step:
            return _NAME_FIRST
        return _ALREADY_ROLLED if before else _LEGAL
    if step:
        return _ROLL_OR_DOUBLE_FIRST
    return _LEGAL if before else _NOTHING_TO_NAME
