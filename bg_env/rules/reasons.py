"""Reasons why an action is illegal, clause by clause: the slow counterpart of the mask.

It loops over points and looks at every second step, and shares nothing with the bit sets of `moves`, so that each can be
tested against the other: `mask[a] == (illegal_reason(states, i, rules, a) == Reason.LEGAL)` for every action in every phase.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.rules.actions import ACTIONS, BEAVER, DOUBLE, FIRST_NAMED, ROLL, STEPS, TAKE, die_of, source_of
from bg_env.rules.settings import Rules
from bg_env.rules.state import Phase, States
from bg_env.rules.variant import BAR, OFF

__all__ = ["Reason", "illegal_reason"]


class Reason(enum.IntEnum):
    """A reason why an action is illegal; LEGAL, 0, for one that is legal."""

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


@kernel
def _count(states: States, i: int, side: int, moved_from: int, moved_by: int, k: int) -> Any:
    """The number of checkers of `side` on place `k` after the step of `moved_by` from `moved_from` (0: no step)."""
    n = np.int64(states[i]["points"][side, k])
    if moved_from and k == moved_from:
        n -= 1
    if moved_from and k == max(moved_from - moved_by, OFF):
        n += 1
    return n


@kernel
def _step_reason(states: States, i: int, side: int, moved_from: int, moved_by: int, p: int, die: int) -> Reason:
    """R4, R6 and R7 for a step of `die` from `p`, after the step of `moved_by` from `moved_from` (0: no step)."""
    on_bar = _count(states, i, side, moved_from, moved_by, BAR)
    if _count(states, i, side, moved_from, moved_by, p) == 0:
        return Reason.BAR_FIRST if on_bar > 0 else Reason.NO_CHECKER
    if p != BAR and on_bar > 0:
        return Reason.BAR_FIRST
    to = p - die
    if to >= 1:
        return Reason.BLOCKED if states[i]["points"][1 - side, 25 - to] >= 2 else Reason.LEGAL
    for k in range(7, 26):
        if _count(states, i, side, moved_from, moved_by, k) > 0:
            return Reason.NOT_ALL_HOME
    if to < 0:
        for k in range(p + 1, 7):
            if _count(states, i, side, moved_from, moved_by, k) > 0:
                return Reason.HIGHER_CHECKER
    return Reason.LEGAL


@kernel
def _completes(states: States, i: int, rules: Rules, side: int, p: int, die: int, other: int) -> bool:
    """Whether the die `other` can be played after the legal step of `die` from `p`, or nothing is left to play (R5.4)."""
    if p <= die and states[i]["points"][side, OFF] + 1 == rules[0]["checkers"]:
        return True
    for q in range(1, 26):
        if _step_reason(states, i, side, p, die, q, other) == Reason.LEGAL:
            return True
    return False


@kernel
def _duty_reason(states: States, i: int, rules: Rules, side: int, p: int, die: int, other: int) -> Reason:
    """R5.1 and R5.2 for a step that is legal otherwise, while both of two unequal dice are left."""
    if _completes(states, i, rules, side, p, die, other):
        return Reason.LEGAL
    other_playable = False
    for q in range(1, 26):
        if _step_reason(states, i, side, 0, 0, q, die) == Reason.LEGAL and _completes(states, i, rules, side, q, die, other):
            return Reason.BOTH_DICE
        if _step_reason(states, i, side, 0, 0, q, other) == Reason.LEGAL:
            other_playable = True
            if _completes(states, i, rules, side, q, other, die):
                return Reason.BOTH_DICE
    return Reason.LARGER_DIE if other_playable and other > die else Reason.LEGAL


@kernel
def _checker_reason(states: States, i: int, rules: Rules, action: int) -> Reason:
    """For a checker step in phase CHECKER (R3.2, R4 to R7)."""
    side = states[i]["turn"]
    p = source_of(action)
    die = die_of(action)
    high = states[i]["left"][0] > 0
    low = states[i]["left"][1] > 0
    if not (high and states[i]["dice"][0] == die) and not (low and states[i]["dice"][1] == die):
        return Reason.DIE_NOT_LEFT
    reason = _step_reason(states, i, side, 0, 0, p, die)
    if reason != Reason.LEGAL or not (high and low):
        return reason
    other = np.int64(states[i]["dice"][0]) + np.int64(states[i]["dice"][1]) - die
    return _duty_reason(states, i, rules, side, p, die, other)


@kernel
def _cube_reason(states: States, i: int, rules: Rules, action: int) -> Reason:
    """For TAKE, DROP and BEAVER while a turn of the cube waits for an answer (R8.3, R8.4, R8.6)."""
    if action < BEAVER:
        return Reason.LEGAL
    if rules[0]["beavers"] == 0:
        return Reason.NO_BEAVERS
    if states[i]["chain"] > rules[0]["beavers"]:
        return Reason.BEAVERS_SPENT
    if states[i]["cube"] + states[i]["chain"] + 1 > rules[0]["cube_cap"]:
        return Reason.CUBE_CAP
    return Reason.LEGAL


@kernel
def _reason(states: States, i: int, rules: Rules, action: int) -> Reason:
    """The reason, for any integer."""
    if action < 0 or action >= ACTIONS:
        return Reason.NO_ACTION
    phase = states[i]["phase"]
    if phase == Phase.OVER:
        return Reason.GAME_OVER
    if states[i]["decider"] < 0:
        return Reason.DICE_DUE
    step = action < STEPS
    before = action == ROLL or action == DOUBLE
    answer = action >= TAKE and action <= BEAVER
    if (action == DOUBLE or answer) and rules[0]["cube"] == 0:
        return Reason.NO_CUBE
    if action >= FIRST_NAMED and rules[0]["acey_deucey"] == 0:
        return Reason.NO_BONUS
    if phase == Phase.TAKE_OR_DROP:
        return _cube_reason(states, i, rules, action) if answer else Reason.ANSWER_FIRST
    if answer:
        return Reason.NOTHING_TO_ANSWER
    if phase == Phase.CHECKER:
        if step:
            return _checker_reason(states, i, rules, action)
        return Reason.ALREADY_ROLLED if before else Reason.NOTHING_TO_NAME
    if phase == Phase.CHOOSE_DOUBLE:
        if step:
            return Reason.NAME_FIRST
        return Reason.ALREADY_ROLLED if before else Reason.LEGAL
    if step:
        return Reason.ROLL_OR_DOUBLE_FIRST
    return Reason.LEGAL if before else Reason.NOTHING_TO_NAME


@kernel
def illegal_reason(states: States, i: int, rules: Rules, action: int) -> int:
    """The number of the `Reason` why `action` is illegal in state `i` for the player who decides; 0 if it is legal."""
    return _reason(states, i, rules, action).value
