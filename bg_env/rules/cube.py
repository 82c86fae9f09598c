"""The doubling cube: who may turn it (R8, R9.2, R9.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import inlined

__all__ = ["at_stake", "may_double", "may_turn_again"]


@inlined
def may_double(states: Any, i: Any, rules: Any, player: Any) -> Any:
    """Whether `player` may double, if it stands before the first roll of its turn (which the phase tells)."""
    if rules[0]["cube"] == 0 or states[i]["crawford"]:
        return False
    owner = states[i]["owner"]
    if owner != -1 and owner != player:
        return False  # R8.1
    if states[i]["cube"] >= rules[0]["cube_cap"]:
        return False  # R8.4
    if rules[0]["match_length"] and not rules[0]["allow_dead_cube"]:  # R9.3
        return states[i]["score"][player] + (np.int64(1) << states[i]["cube"]) < rules[0]["match_length"]
    return True


@inlined
def may_turn_again(states: Any, i: Any, rules: Any) -> Any:
    """Whether the player who is asked to take or drop may beaver, raccoon ... instead (R8.6)."""
    chain = states[i]["chain"]
    return chain <= rules[0]["beavers"] and states[i]["cube"] + chain < rules[0]["cube_cap"]


@inlined
def at_stake(states: Any, i: Any) -> Any:
    """Log2 of what a single game is worth now: the cube's value, before its last turn while that waits for an answer."""
    chain = states[i]["chain"]
    return np.int64(states[i]["cube"]) + (chain - 1 if chain > 0 else 0)
