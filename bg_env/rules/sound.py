"""Checks that states of unknown origin are fit for kernels, which trust every number in them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.errors import PositionError
from bg_env.rules.legal import legal_sets
from bg_env.rules.settings import Rules
from bg_env.rules.state import STATE, Phase, States

__all__ = ["check_sound"]

_FAULTS: Final = (
    "points",
    "number of checkers",
    "point, held by both players,",
    "phase",
    "turn",
    "decider",
    "dice",
    "cube",
    "result",
    "score",
    "roll, of which nothing can be played,",
)
_MOST_CHECKERS: Final = 15


@kernel
def _out_of_range(states: States, i: int) -> int:
    """The index in `_FAULTS` of a field of state `i` that has a value no such field has, or -1."""
    s = states[i]
    for side in range(2):
        for p in range(26):
            if s["points"][side, p] < 0 or s["points"][side, p] > _MOST_CHECKERS:
                return 0
    if s["phase"] < 0 or s["phase"] > Phase.OVER:
        return 3
    if s["turn"] < -1 or s["turn"] > 1:
        return 4
    if s["decider"] < -1 or s["decider"] > 1:
        return 5
    for k in range(2):
        if s["dice"][k] < 0 or s["dice"][k] > 6 or s["left"][k] < 0 or s["left"][k] > 4 or s["score"][k] < 0:
            return 9 if s["score"][k] < 0 else 6
    if s["stage"] < 0 or s["stage"] > 3:
        return 6
    if s["cube"] < 0 or s["cube"] > 15 or s["chain"] < 0 or s["chain"] > 16 or s["owner"] < -1 or s["owner"] > 1:
        return 7
    if s["winner"] < -1 or s["winner"] > 1 or s["level"] < 0 or s["level"] > 3:
        return 8
    return -1


@kernel
def _unplayable(states: States, i: int, checkers: int, playing: bool) -> int:
    """The index in `_FAULTS` of why nobody can decide in state `i`, whose fields are in their ranges, or -1."""
    s = states[i]
    total = 0
    for side in range(2):
        n = 0
        for p in range(26):
            n += np.int64(s["points"][side, p])
        if (checkers and n != checkers) or n < 1 or n > _MOST_CHECKERS or (side == 1 and n != total):
            return 1
        total = n
    for p in range(1, 25):
        if s["points"][0, p] and s["points"][1, 25 - p]:
            return 2
    phase = s["phase"]
    if playing and phase != Phase.CHECKER:
        return 3
    if s["turn"] < 0 and phase != Phase.OPENING and phase != Phase.OVER:
        return 4
    if s["decider"] < 0 and phase >= Phase.ROLL_OR_DOUBLE and phase <= Phase.CHOOSE_DOUBLE:
        return 5
    if phase == Phase.CHECKER:
        left = np.int64(s["left"][0]) + np.int64(s["left"][1])
        if s["dice"][0] < s["dice"][1] or s["dice"][1] < 1 or left == 0 or left > 4:
            return 6
        high, low = legal_sets(states, i)
        if (high | low) == 0:
            return 10
    return -1


@kernel
def _first_fault(states: States, checkers: int, made: bool, playing: bool) -> tuple[int, int]:
    """The first state with a fault and its index in `_FAULTS`; -1 if all are sound."""
    for i in range(states.shape[0]):
        fault = _out_of_range(states, i)
        if fault < 0 and made:
            fault = _unplayable(states, i, checkers, playing)
        if fault >= 0:
            return i, fault
    return np.int64(-1), np.int64(-1)


def check_sound(states: Any, rules: Rules | None = None, *, made: bool = True, playing: bool = False) -> None:
    """Refuse states that kernels cannot be given.

    Args:
        states: STATE records (n,).
        rules: the RULES record that they are played by; None if it is not known.
        made: whether the rules must have made them; if not, each field must be in its range, but boards may be any.
        playing: whether all of them must be of phase CHECKER.

    Raises:
        PositionError: it is something else, or a state has a field out of its range, another number of checkers than the rules
            say, or a roll without a legal step.
    """
    if not isinstance(states, np.ndarray) or states.dtype != STATE or states.ndim != 1:
        msg = "states must be a 1-D array of STATE records; one game is a batch of one"
        raise PositionError(msg)
    i, fault = _first_fault(states, 0 if rules is None else int(rules["checkers"][0]), made, playing)
    if i >= 0:
        msg = f"state {i} has a wrong {_FAULTS[fault]}: give states that the rules have made"
        raise PositionError(msg)
