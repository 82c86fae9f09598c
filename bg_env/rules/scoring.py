"""What a game is worth (R7.4, R7.5, R8.5)."""

from __future__ import annotations

from typing import Any

from bg_env._jit import kernel
from bg_env.rules.variant import BAR, OFF

__all__ = ["BACKGAMMON", "GAMMON", "SINGLE", "board_level", "counted_level"]

SINGLE = 1
GAMMON = 2
BACKGAMMON = 3


@kernel
def board_level(states: Any, i: Any, loser: Any) -> Any:
    """1, 2 or 3: what the board says of a player who has lost (R7.4)."""
    if states[i]["points"][loser, OFF] > 0:
        return SINGLE
    for p in range(19, BAR + 1):
        if states[i]["points"][loser, p] > 0:
            return BACKGAMMON
    return GAMMON


@kernel
def counted_level(states: Any, i: Any, rules: Any, level: Any) -> Any:
    """The level that counts: 1 under Jacoby while the cube is centred (R8.5)."""
    if rules[0]["jacoby"] and rules[0]["cube"] and states[i]["owner"] == -1:
        return SINGLE
    return level
