"""Levels of a win: single game, gammon, backgammon (R7.4), and the one that counts (R8.5)."""

from __future__ import annotations

from typing import Final

from bg_env._jit import kernel
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, OFF

__all__ = ["BACKGAMMON", "GAMMON", "SINGLE", "board_level", "counted_level"]

SINGLE: Final = 1
GAMMON: Final = 2
BACKGAMMON: Final = 3


@kernel
def board_level(states: States, i: int, loser: int) -> int:
    """The level at which the board makes `loser` lose (R7.4): SINGLE, GAMMON or BACKGAMMON."""
    state = states[i]
    if state["points"][loser, OFF] > 0:
        return SINGLE
    for p in range(19, BAR + 1):
        if state["points"][loser, p] > 0:
            return BACKGAMMON
    return GAMMON


@kernel
def counted_level(states: States, i: int, rules: Rules, level: int) -> int:
    """The level that counts: SINGLE under the Jacoby rule while the cube is centred (R8.5), else `level`."""
    if rules[0]["jacoby"] and rules[0]["cube"] and states[i]["owner"] == -1:
        return SINGLE
    return level
