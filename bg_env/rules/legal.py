"""Legal actions: the mask, the legality of one action, a choice at random.

`legal_sets` looks at the board; everything else here works from the sets that it returns, so that a batch looks at each board
once a step.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.rules.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, STEPS, TAKE, die_of, source_of, step_number
from bg_env.rules.bits import lowest, size
from bg_env.rules.cube import may_turn_again
from bg_env.rules.dice import below
from bg_env.rules.moves import step_sets
from bg_env.rules.settings import Rules
from bg_env.rules.state import Phase, States

__all__ = [
    "MOST_ACTIONS",
    "is_legal",
    "legal_mask",
    "legal_sets",
    "list_actions",
    "pick_action",
    "pick_legal",
    "pick_random",
    "write_mask",
]

MOST_ACTIONS: Final = 50
"""No state has more legal actions: two dice, each from any of 25 points."""


@inlined
def legal_sets(states: States, i: int) -> tuple[int, int]:
    """The legal sources (sets) of the first and of the second of `dice`; empty outside phase CHECKER."""
    if states[i]["phase"] == Phase.CHECKER:
        return step_sets(states, i)
    return np.int64(0), np.int64(0)


@inlined
def write_mask(states: States, i: int, rules: Rules, high: int, low: int, out: npt.NDArray[np.int8], row: int) -> None:
    """Write the mask of the player who decides into `out[row]`, given `legal_sets(states, i)`."""
    state = states[i]
    for a in range(out.shape[1]):
        out[row, a] = 0
    phase = state["phase"]
    if phase == Phase.CHECKER:
        die = np.int64(state["dice"][0])
        while high:
            out[row, step_number(lowest(high), die)] = 1
            high &= high - 1
        die = np.int64(state["dice"][1])
        while low:
            out[row, step_number(lowest(low), die)] = 1
            low &= low - 1
    elif phase == Phase.ROLL_OR_DOUBLE:
        out[row, ROLL] = 1
        out[row, DOUBLE] = 1
    elif phase == Phase.TAKE_OR_DROP:
        out[row, TAKE] = 1
        out[row, DROP] = 1
        if may_turn_again(states, i, rules):
            out[row, BEAVER] = 1
    elif phase == Phase.CHOOSE_DOUBLE:
        for d in range(6):
            out[row, FIRST_NAMED + d] = 1


@inlined
def list_actions(states: States, i: int, rules: Rules, out: npt.NDArray[np.int64]) -> int:
    """Write the numbers of the legal actions, ascending, into `out` (MOST_ACTIONS,); returns how many there are."""
    state = states[i]
    n = 0
    phase = state["phase"]
    if phase == Phase.CHECKER:
        high, low = step_sets(states, i)
        both = high | low
        while both:
            source = lowest(both)
            both &= both - 1
            if (low >> source) & 1:  # the lower die
                out[n] = step_number(source, np.int64(state["dice"][1]))
                n += 1
            if (high >> source) & 1:
                out[n] = step_number(source, np.int64(state["dice"][0]))
                n += 1
        return n
    first, count = 0, 0
    if phase == Phase.ROLL_OR_DOUBLE:
        first, count = ROLL, 2
    elif phase == Phase.TAKE_OR_DROP:
        first, count = TAKE, 3 if may_turn_again(states, i, rules) else 2
    elif phase == Phase.CHOOSE_DOUBLE:
        first, count = FIRST_NAMED, 6
    for k in range(count):
        out[k] = first + k
    return count


@inlined
def is_legal(states: States, i: int, rules: Rules, high: int, low: int, action: int) -> bool:
    """Whether `action`, one of the action space, is legal, given `legal_sets(states, i)`."""
    state = states[i]
    phase = state["phase"]
    if phase == Phase.CHECKER:
        if action >= STEPS:
            return False
        p = source_of(action)
        die = die_of(action)
        if die == state["dice"][0] and (high >> p) & 1:
            return True
        return bool(die == state["dice"][1] and (low >> p) & 1 == 1)
    if phase == Phase.ROLL_OR_DOUBLE:
        return action == ROLL or action == DOUBLE
    if phase == Phase.TAKE_OR_DROP:
        return action == TAKE or action == DROP or (action == BEAVER and may_turn_again(states, i, rules))
    if phase == Phase.CHOOSE_DOUBLE:
        return action >= FIRST_NAMED
    return False


@inlined
def _nth(found: int, k: int) -> int:
    """The k-th point of a set, from the lowest, k from 0."""
    for _ in range(k):
        found &= found - 1
    return lowest(found)


@inlined
def _pick_step(states: States, i: int, high: int, low: int, bits: np.uint64) -> int:
    """A legal checker step by 64 random bits, each (source, die) as likely as another."""
    state = states[i]
    n = size(high)
    k = below(bits, n + size(low))
    if k < n:
        return step_number(_nth(high, k), np.int64(state["dice"][0]))
    return step_number(_nth(low, k - n), np.int64(state["dice"][1]))


@inlined
def pick_legal(states: States, i: int, rules: Rules, high: int, low: int, bits: np.uint64) -> int:
    """A legal action by 64 random bits, each as likely as another, given `legal_sets(states, i)`."""
    phase = states[i]["phase"]
    if phase == Phase.ROLL_OR_DOUBLE:
        return ROLL + below(bits, 2)
    if phase == Phase.TAKE_OR_DROP:
        return TAKE + below(bits, 3 if may_turn_again(states, i, rules) else 2)
    if phase == Phase.CHOOSE_DOUBLE:
        return FIRST_NAMED + below(bits, 6)
    return _pick_step(states, i, high, low, bits)


@kernel
def legal_mask(states: States, i: int, rules: Rules, out: npt.NDArray[np.int8], row: int) -> None:
    """Write the mask of the player who decides into `out[row]`: 1 for a legal action, else 0; all zeros if nobody decides."""
    high, low = legal_sets(states, i)
    write_mask(states, i, rules, high, low, out, row)


@inlined
def pick_random(states: States, i: int, high: int, low: int, bits: np.uint64) -> int:
    """The random player's action, given `legal_sets(states, i)`: it rolls and takes, and else chooses at random."""
    phase = states[i]["phase"]
    if phase == Phase.ROLL_OR_DOUBLE:
        return ROLL
    if phase == Phase.TAKE_OR_DROP:
        return TAKE
    if phase == Phase.CHOOSE_DOUBLE:
        return FIRST_NAMED + below(bits, 6)
    return _pick_step(states, i, high, low, bits)


@kernel
def pick_action(states: States, i: int, bits: np.uint64) -> int:
    """The random player's action by 64 random bits; see `pick_random`."""
    high, low = legal_sets(states, i)
    return pick_random(states, i, high, low, bits)
