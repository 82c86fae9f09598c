"""The usual entry of a record, a roll and its steps in an order in which they can be made, in one call of the engine."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import ROLL
from bg_env.errors import NotationError
from bg_env.notation.moves import parse_moves
from bg_env.rules import OFF, Phase, Rules, States, apply, apply_roll, illegal_reason
from bg_env.rules.actions import step_number

__all__ = ["CANNOT_MOVE", "NOT_DUE", "PLAYED", "SEARCH", "STUCK", "as_steps", "play_written"]

NOT_DUE: Final = 0
"""No roll of this player is due; nothing has changed."""
PLAYED: Final = 1
"""The roll is played as it is written."""
CANNOT_MOVE: Final = 2
"""The roll cannot be played, and no play is written."""
STUCK: Final = 3
"""The roll cannot be played, but a play is written."""
SEARCH: Final = 4
"""The roll waits to be played; its play is not written step by step in a legal order."""


@kernel
def play_written(
    states: States,
    i: int,
    rules: Rules,
    player: int,
    d1: int,
    d2: int,
    steps: npt.NDArray[np.int64],
    made: npt.NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """Let `player` roll `d1`, `d2` and make `steps`, if that is due, legal and finishes the roll.

    Args:
        states: STATE records.
        i: the index of the state; it is changed as the result implies.
        rules: the RULES record.
        player: the player to roll.
        d1: one die.
        d2: the other.
        steps: int64 (n, 3), source, target and whether a `*` is written, n at most 4.
        made: int64 (4,), receives the action numbers of the steps.

    Returns:
        NOT_DUE, PLAYED, CANNOT_MOVE, STUCK or SEARCH.
    """
    phase = states[i]["phase"]
    if (phase != Phase.ROLL and phase != Phase.ROLL_OR_DOUBLE) or states[i]["turn"] != player:
        return NOT_DUE
    if phase == Phase.ROLL_OR_DOUBLE:
        apply(states, i, rules, ROLL)
    apply_roll(states, i, rules, d1, d2)
    n = steps.shape[0]
    if states[i]["phase"] != Phase.CHECKER or states[i]["turn"] != player:
        return STUCK if n else CANNOT_MOVE
    if n == 0:
        return SEARCH
    for k in range(n):
        target = steps[k, 1]
        if steps[k, 2] and (target == OFF or states[i]["points"][1 - player, 25 - target] != 1):
            return SEARCH
    before = states[i : i + 1].copy()
    for k in range(n):
        source = steps[k, 0]
        die = source - steps[k, 1]
        action = step_number(source, die)
        legal = die <= 6 and illegal_reason(states, i, rules, action) == 0
        while not legal and steps[k, 1] == OFF and die < 6:  # R7.2: a higher number bears off as well
            die += 1
            action = step_number(source, die)
            legal = illegal_reason(states, i, rules, action) == 0
        if not legal:
            states[i] = before[0]
            return SEARCH
        apply(states, i, rules, action)
        made[k] = action
    if states[i]["phase"] == Phase.CHECKER and states[i]["turn"] == player:
        states[i] = before[0]
        return SEARCH
    return PLAYED


_NO_STEPS: Final = np.zeros((0, 3), np.int64)


@functools.lru_cache(maxsize=16_384)
def as_steps(text: str) -> npt.NDArray[np.int64] | None:
    """The `steps` that `play_written` takes; None where the text is no play or names more or less than single steps."""
    try:
        moves = parse_moves(text)
    except NotationError:
        return None
    if any(len(move.places) != 2 for move in moves):
        return None
    if not moves:
        return _NO_STEPS
    steps = np.array([(*move.places, bool(move.hits)) for move in moves], np.int64)
    steps.flags.writeable = False
    return steps
