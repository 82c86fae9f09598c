"""Candidates of a decision: in every phase the states that it can lead to, before dice that fall due.

They are what a value learner chooses among. In phase CHECKER the candidates are the distinct whole plays of `plays`; elsewhere
the results of the legal actions (roll or double, take or drop, the doubles to name), one action each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules.actions import FIRST_NAMED, ROLL, TAKE
from bg_env.rules.cube import may_turn_again
from bg_env.rules.game import apply
from bg_env.rules.plays import MAX_PLAYS, PlayBuffer, grown, list_plays, play_buffer
from bg_env.rules.settings import Rules
from bg_env.rules.state import Phase, States

__all__ = ["Room", "candidates", "list_candidates"]


@kernel
def list_candidates(states: States, i: int, rules: Rules, buffer: PlayBuffer, n: int) -> int:
    """Write the candidates of state `i` into `buffer` from index `n` on; returns the index after the last.

    `buffer.after` and `buffer.actions` must have room for MAX_PLAYS more.
    """
    phase = states[i]["phase"]
    if phase == Phase.CHECKER:
        return list_plays(states, i, rules, buffer, n)
    first = 0
    count = 0
    if phase == Phase.ROLL_OR_DOUBLE:
        first = ROLL
        count = 2
    elif phase == Phase.TAKE_OR_DROP:
        first = TAKE
        count = 3 if may_turn_again(states, i, rules) else 2
    elif phase == Phase.CHOOSE_DOUBLE:
        first = FIRST_NAMED
        count = 6
    for k in range(count):
        buffer.after[n] = states[i]
        apply(buffer.after, n, rules, first + k)
        buffer.actions[n, 0] = first + k
        for m in range(1, 4):
            buffer.actions[n, m] = -1
        n += 1
    return n


@kernel
def _fill(
    states: States,
    rules: Rules,
    which: npt.NDArray[np.bool_],
    start: int,
    stop: int,
    counts: npt.NDArray[np.int64],
    arrays: tuple[Any, ...],
    n: int,
) -> tuple[int, int]:
    """List candidates of the states from `start` to `stop` that `which` marks, from index `n` on, while there is room.

    Returns the first state not done and the index after the last candidate.
    """
    buffer = PlayBuffer(*arrays)
    for i in range(start, stop):
        counts[i] = 0
        if which[i]:
            if n + MAX_PLAYS > buffer.after.shape[0]:
                return i, n
            end = list_candidates(states, i, rules, buffer, n)
            counts[i] = end - n
            n = end
    return stop, n


class Room:
    """A buffer that candidates are listed in, kept and grown from call to call: one for each thread."""

    def __init__(self) -> None:
        self._buffer = play_buffer(2 * MAX_PLAYS)

    @property
    def after(self) -> States:
        """The states after the candidates, of which `fill` returns how many are in use."""
        return self._buffer.after

    @property
    def actions(self) -> npt.NDArray[np.int16]:
        """The actions of the candidates (len(after), 4), -1 after the last."""
        return self._buffer.actions

    def fill(
        self,
        states: States,
        which: npt.NDArray[np.bool_],
        lo: int,
        hi: int,
        rules: Rules,
        counts: npt.NDArray[np.int64],
    ) -> int:
        """List the candidates of the states from `lo` to `hi` that `which` marks, and write their numbers into `counts`.

        Returns:
            The number of candidates.
        """
        i, n = lo, 0
        while True:
            i, n = _fill(states, rules, which, i, hi, counts, tuple(self._buffer), n)
            if i == hi:
                return int(n)
            self._buffer = grown(self._buffer, n)


def candidates(states: States, rules: Rules) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], States]:
    """All that each state's player can choose among, cube decisions included.

    Args:
        states: STATE records (n,).
        rules: the RULES record, `settings.record()`.

    Returns:
        offsets: int64 (n + 1,); state i has the candidates offsets[i] to offsets[i + 1] - 1, without a decision no candidate.
        actions: int16 (m, 4); the actions that lead there, in an order in which they are legal, then -1.
        after: STATE records (m,); the states after them, before any dice that are due then.
    """
    room, counts = Room(), np.zeros(len(states), np.int64)
    m = room.fill(states, np.ones(len(states), np.bool_), 0, len(states), rules, counts)
    offsets = np.zeros(len(states) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets, room.actions[:m], room.after[:m]
