"""What a value learner chooses among: in every phase the states that a decision can lead to, before dice that fall due.

In phase CHECKER these are the distinct whole plays of `plays`; else the results of the legal actions (roll or double, take or
drop, the doubles to name), one action each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules.actions import FIRST_NAMED, ROLL, TAKE
from bg_env.rules.cube import may_turn_again
from bg_env.rules.game import apply
from bg_env.rules.plays import MAX_PLAYS, plays_into, plays_scratch
from bg_env.rules.state import STATE, Phase, States

__all__ = ["Room", "candidates", "candidates_into"]

_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)
_CHECKER = int(Phase.CHECKER)
_CHOOSE_DOUBLE = int(Phase.CHOOSE_DOUBLE)


@kernel
def candidates_into(
    states: Any, i: Any, rules: Any, work: Any, path: Any, sets: Any, pairs: Any, after: Any, actions: Any, n: Any
) -> Any:
    """Write the candidates of state `i` from index `n` on; returns the index after the last. Arguments as of `plays_into`."""
    phase = states[i]["phase"]
    if phase == _CHECKER:
        return plays_into(states, i, rules, work, path, sets, pairs, after, actions, n)
    first = 0
    count = 0
    if phase == _ROLL_OR_DOUBLE:
        first = ROLL
        count = 2
    elif phase == _TAKE_OR_DROP:
        first = TAKE
        count = 3 if may_turn_again(states, i, rules) else 2
    elif phase == _CHOOSE_DOUBLE:
        first = FIRST_NAMED
        count = 6
    for k in range(count):
        after[n] = states[i]
        apply(after, n, rules, first + k)
        actions[n, 0] = first + k
        for m in range(1, 4):
            actions[n, m] = -1
        n += 1
    return n


@kernel
def _fill(
    states: Any,
    which: Any,
    start: Any,
    stop: Any,
    rules: Any,
    counts: Any,
    work: Any,
    path: Any,
    sets: Any,
    pairs: Any,
    after: Any,
    actions: Any,
    n: Any,
) -> Any:
    """Candidates of the states from `start` to `stop` that `which` marks, while there is room.

    Returns the first state not done and the index after the last candidate.
    """
    for i in range(start, stop):
        counts[i] = 0
        if which[i]:
            if n + MAX_PLAYS > after.shape[0]:
                return i, n
            end = candidates_into(states, i, rules, work, path, sets, pairs, after, actions, n)
            counts[i] = end - n
            n = end
    return stop, n


class Room:
    """Arrays that candidates are written into, kept and grown from call to call: one for each thread.

    Attributes:
        after: STATE records, of which `fill` says how many are in use.
        actions: int16 (len(after), 4).
    """

    def __init__(self) -> None:
        self.after = np.empty(2 * MAX_PLAYS, STATE)
        self.actions = np.empty((2 * MAX_PLAYS, 4), np.int16)
        self._scratch = plays_scratch()

    def fill(self, states: States, which: npt.NDArray[np.bool_], lo: int, hi: int, rules: Any, counts: Any) -> int:
        """Write the candidates of the states from `lo` to `hi` that `which` marks, and their numbers into `counts`.

        Returns:
            How many there are.
        """
        i, n = lo, 0
        while True:
            i, n = _fill(states, which, i, hi, rules, counts, *self._scratch, self.after, self.actions, n)
            if i == hi:
                return int(n)
            room = 2 * len(self.after)
            self.after = np.concatenate([self.after[:n], np.empty(room - n, STATE)])
            self.actions = np.concatenate([self.actions[:n], np.empty((room - n, 4), np.int16)])


def candidates(states: States, rules: Any) -> tuple[Any, Any, Any]:
    """All that each state's player can choose among, cube decisions included.

    Args:
        states: 1-D array of n STATE records.
        rules: the RULES record, `settings.record()`.

    Returns:
        offsets: int64 (n + 1,); state i has the candidates offsets[i] to offsets[i + 1] - 1, none where nobody decides.
        actions: int16 (m, 4); the actions that lead there, in an order in which they are legal, then -1.
        after: STATE (m,); the state after them, before any dice that are due then.
    """
    room, counts = Room(), np.zeros(len(states), np.int64)
    m = room.fill(states, np.ones(len(states), np.bool_), 0, len(states), rules, counts)
    offsets = np.zeros(len(states) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets, room.actions[:m], room.after[:m]
