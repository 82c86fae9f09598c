"""One game's state as the bytes of its STATE record, with a compiled call for each change of it.

A call from Python costs more for an array of records than for an array of bytes, and copying a record takes NumPy 50 times
as long as copying its bytes. The kernels here see the bytes as records again, which costs nothing.

No kernel writes to a state that it reads: a `Game` never changes the bytes that it holds, so that copies can share them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules import (
    COPY,
    END_TRUNCATED,
    RULES,
    STATE,
    Phase,
    States,
    apply,
    apply_roll,
    is_legal,
    legal_sets,
    list_actions,
    settle,
    ties_double,
    word,
)

__all__ = [
    "DONE",
    "ILLEGAL",
    "ROLL_GOES_ON",
    "SIZE",
    "Bytes",
    "advance",
    "as_states",
    "deciding",
    "legal_numbers",
    "offset_of",
    "roll_on",
    "with_key_of",
    "with_other_stream",
]

Bytes = npt.NDArray[np.int8]
"""The bytes of one record, int8 (itemsize,)."""

SIZE: Final = STATE.itemsize
ILLEGAL: Final = 0
DONE: Final = 1
ROLL_GOES_ON: Final = 2


def offset_of(name: str) -> int:
    """The index of a field's first byte."""
    return int(STATE.fields[name][1])  # type: ignore[index] # STATE has fields


_KEY: Final = slice(offset_of("key"), offset_of("key") + 8)


def as_states(state: Bytes) -> States:
    """The same memory as an array of one STATE record."""
    return state.view(STATE)


@kernel
def legal_numbers(state: Bytes, rules: Bytes, out: npt.NDArray[np.int64]) -> int:
    """Write the legal actions, ascending, into `out` (MOST_ACTIONS,); returns how many there are."""
    return int(list_actions(state.view(STATE), 0, rules.view(RULES), out))


@kernel
def advance(before: Bytes, after: Bytes, rules: Bytes, action: int, throw: bool) -> int:
    """Write into `after` the state that follows `before` by `action` (0 to 160); with `throw` the dice due then are thrown.

    Returns:
        ILLEGAL if the action is not legal (then `after` is `before`), ROLL_GOES_ON if the mover must play more of its roll,
        else DONE.
    """
    states = after.view(STATE)
    records = rules.view(RULES)
    states[0] = before.view(STATE)[0]
    high, low = legal_sets(states, 0)
    if not is_legal(states, 0, records, high, low, action):
        return ILLEGAL
    apply(states, 0, records, action)
    if states[0]["phase"] == Phase.CHECKER:
        return ROLL_GOES_ON
    if throw:
        settle(states, 0, records)
    return DONE


@kernel
def roll_on(before: Bytes, after: Bytes, rules: Bytes, d1: int, d2: int) -> bool:
    """Write into `after` the state that follows `before`, a chance phase, with these dice.

    Returns:
        False if the dice are a tie that is thrown again (R2.1); then `after` is `before`.
    """
    states = after.view(STATE)
    records = rules.view(RULES)
    states[0] = before.view(STATE)[0]
    if d1 == d2 and states[0]["phase"] == Phase.OPENING and not ties_double(states, 0, records):
        return False
    apply_roll(states, 0, records, d1, d2)
    return True


@kernel
def with_other_stream(state: Bytes, out: Bytes, number: int) -> None:
    """Write into `out` the state with the random stream of its copy number `number`."""
    states = out.view(STATE)
    states[0] = state.view(STATE)[0]
    states[0]["key"] = word(states[0]["key"], np.uint64(COPY), np.uint64(number))


def with_key_of(state: Bytes, other: Bytes) -> Bytes:
    """A state equal to `state` but with the random stream of `other`."""
    out: Bytes = state.copy()
    out[_KEY] = other[_KEY]
    return out


@kernel
def deciding(state: Bytes, rules: Bytes, out: Bytes) -> None:
    """Write into `out` the state with zeros in place of all that cannot decide how the game goes on.

    Dice that have been played are left out; turns count only where they are capped, ties only while they may double the
    cube, and the result of a game only at the end.
    """
    states = out.view(STATE)
    records = rules.view(RULES)
    states[0] = state.view(STATE)[0]
    if states[0]["left"][0] == 0:
        states[0]["dice"][0] = states[0]["dice"][1]
        states[0]["left"][0] = states[0]["left"][1]
        states[0]["left"][1] = 0
    if states[0]["left"][1] == 0:
        states[0]["dice"][1] = 0
    if states[0]["left"][0] == 0:
        states[0]["dice"][0] = 0
    if states[0]["phase"] != Phase.OPENING:
        states[0]["ties"] = 0
    if states[0]["phase"] != Phase.OVER or states[0]["ending"] == END_TRUNCATED:
        states[0]["winner"] = -1
        states[0]["level"] = 0
        states[0]["won"] = 0
    if records[0]["max_turns"] == 0 or states[0]["phase"] == Phase.OVER:
        states[0]["turns"] = 0
    states[0]["was_crawford"] = 0
    states[0]["games"] = 0
    states[0]["key"] = 0
    states[0]["rolls"] = 0
    states[0]["choices"] = 0
