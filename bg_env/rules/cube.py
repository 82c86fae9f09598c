"""The doubling cube: the right to turn it (R8, R9.2, R9.3) and the stake."""

from __future__ import annotations

import numpy as np

from bg_env._jit import inlined
from bg_env.rules.settings import Rules
from bg_env.rules.state import States

__all__ = ["at_stake", "may_double", "may_turn_again"]


@inlined
def may_double(states: States, i: int, rules: Rules, player: int) -> bool:
    """Whether `player` may double, before the first roll of its turn (R8.2), which the caller has to know."""
    state = states[i]
    if rules[0]["cube"] == 0 or state["crawford"]:
        return False
    owner = state["owner"]
    if owner != -1 and owner != player:
        return False  # R8.1
    if state["cube"] >= rules[0]["cube_cap"]:
        return False  # R8.4
    if rules[0]["match_length"] and not rules[0]["allow_dead_cube"]:  # R9.3
        return bool(state["score"][player] + (np.int64(1) << state["cube"]) < rules[0]["match_length"])
    return True


@inlined
def may_turn_again(states: States, i: int, rules: Rules) -> bool:
    """Whether the player who must take or drop may turn the cube again instead: a beaver, a raccoon ... (R8.6, R8.4)."""
    state = states[i]
    chain = state["chain"]
    return bool(chain <= rules[0]["beavers"] and state["cube"] + chain < rules[0]["cube_cap"])


@inlined
def at_stake(states: States, i: int) -> int:
    """Log2 of the points of a single game won now: of the cube's value, before a last turn that waits for an answer (R7.5)."""
    state = states[i]
    chain = np.int64(state["chain"])
    stake: int = np.int64(state["cube"]) + max(chain - 1, 0)
    return stake
