"""Sweeps of value iteration over all pairs of boards.

`values[i, j]` is the value to the player on roll, with board i against board j, before its roll. A play without a hit leads to
a pair with fewer pips, so a sweep goes through the pairs in the order of the sum of their pips, and only hits and rolls that
cannot be played lead to values of the sweep before. Which of both a value is depends on nothing else, so that sweeps give the
same numbers on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.exact.boards import TOUCHED, Boards, Plays, result_of, touchable_of
from bg_env.exact.numbering import WEIGHTS
from bg_env.exact.policy_sweeps import follow

__all__ = ["CUBES", "Sweeper", "ended"]

CUBES: Final = 4
"""Values of a pair with the cube: cubeless, owned, centred, the opponent's."""

Floats = npt.NDArray[np.float64]

_WORST: Final = 9.0


@kernel
def _best(
    boards: Boards,
    plays: Plays,
    weights: Floats,
    stage: tuple[int, int, int, bool],
    old: Floats,
    new: Floats,
    out: Floats,
    before: Floats,
) -> float:
    """The values of best play of the pairs with one sum of pips into `out`.

    Args:
        boards: all boards.
        plays: their plays.
        weights: the probabilities of the rolls.
        stage: the sum of pips; the thread and the number of threads, which share the boards of the other side; whether pairs
            without contact are left out, since they have their values.
        old: float64 (m, m), values of the other side on roll, for sums of pips from that of the stage on.
        new: likewise, for lower sums.
        out: float64 (m, m), to write to.
        before: float64 (m, m), values to compare with.

    Returns:
        The largest difference from `before`.
    """
    total, thread, threads, leave = stage
    rolls = weights.shape[0]
    most = np.int64(boards.first.shape[0] - 2)
    change = 0.0
    for at in range(thread, boards.order.shape[0], threads):
        j = boards.order[at]
        pips = total - boards.pips[j]
        if pips < 1 or pips > most:
            continue
        touchable = touchable_of(j, boards)
        blocked = boards.blocked[j]
        for i in range(boards.first[pips], boards.first[pips + 1]):
            if boards.held[i] & boards.turned[j] or (leave and boards.farthest[i] + boards.farthest[j] <= 25):
                continue
            value = 0.0
            for r in range(rolls):
                least = _WORST
                start = np.uint64(plays.offsets[blocked, i * rolls + r])
                for e in range(start, np.uint64(plays.offsets[blocked, i * rolls + r + 1])):
                    entry = plays.entries[e]
                    k = np.uint64(entry >> TOUCHED)
                    o = np.uint64(result_of(entry, j, touchable, boards))
                    least = min(least, new[o, k] if boards.pips[k] + boards.pips[o] < total else old[o, k])
                value -= weights[r] * least
            change = max(change, abs(value - before[i, j]))
            out[i, j] = value
    return change


@kernel
def _best_cube(
    boards: Boards,
    plays: Plays,
    weights: Floats,
    stage: tuple[int, int, int, bool],
    old: Floats,
    new: Floats,
    out: Floats,
    before: Floats,
) -> float:
    """As `_best`, with the cube: float64 (m, m, 4), see `CUBES`, each the value of a roll without a double."""
    total, thread, threads, leave = stage
    rolls = weights.shape[0]
    most = np.int64(boards.first.shape[0] - 2)
    change = 0.0
    for at in range(thread, boards.order.shape[0], threads):
        j = boards.order[at]
        pips = total - boards.pips[j]
        if pips < 1 or pips > most:
            continue
        touchable = touchable_of(j, boards)
        blocked = boards.blocked[j]
        for i in range(boards.first[pips], boards.first[pips + 1]):
            if boards.held[i] & boards.turned[j] or (leave and boards.farthest[i] + boards.farthest[j] <= 25):
                continue
            sums = (0.0, 0.0, 0.0, 0.0)
            for r in range(rolls):
                alone, owned, centred, other = _WORST, _WORST, _WORST, _WORST
                start = np.uint64(plays.offsets[blocked, i * rolls + r])
                for e in range(start, np.uint64(plays.offsets[blocked, i * rolls + r + 1])):
                    entry = plays.entries[e]
                    k = np.uint64(entry >> TOUCHED)
                    o = np.uint64(result_of(entry, j, touchable, boards))
                    source = new if boards.pips[k] + boards.pips[o] < total else old
                    doubled = min(2.0 * source[o, k, 3], 1.0)
                    alone = min(alone, source[o, k, 0])
                    owned = min(owned, source[o, k, 3])
                    centred = min(centred, max(source[o, k, 2], doubled))
                    other = min(other, max(source[o, k, 1], doubled))
                w = weights[r]
                sums = (sums[0] - w * alone, sums[1] - w * owned, sums[2] - w * centred, sums[3] - w * other)
            for cube in range(4):
                change = max(change, abs(sums[cube] - before[i, j, cube]))
                out[i, j, cube] = sums[cube]
    return change


def ended(boards: Boards, cube: bool) -> Floats:
    """Values of zero, but for the pairs in which a side has borne off its last checker: (m, m), with the cube (m, m, 4)."""
    m = len(boards.counts)
    values = np.zeros((m, m, CUBES) if cube else (m, m))
    values[:, 0] = -(boards.lost[:, None] if cube else boards.lost)
    values[0] = boards.lost[:, None] if cube else boards.lost
    values[0, 0] = 0
    return values


class Sweeper(AbstractContextManager["Sweeper"]):
    """Sweeps over all pairs of boards, on a number of threads, which end with the context.

    Args:
        boards: all boards.
        plays: their plays.
        threads: the number of threads.
    """

    def __init__(self, boards: Boards, plays: Plays, threads: int) -> None:
        self.boards, self.plays, self.threads = boards, plays, threads
        self._pool = ThreadPoolExecutor(threads, "bg_env")

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def best(self, old: Floats, new: Floats, out: Floats, before: Floats, *, leave: bool = False) -> float:
        """A sweep of best play, with the arguments of `_best`; returns the largest difference from `before`."""
        work = _best if out.ndim == 2 else _best_cube
        return self.stages(lambda *stage: work(self.boards, self.plays, WEIGHTS, (*stage, leave), old, new, out, before))

    def stages(self, work: Callable[[int, int, int], float], *, descending: bool = False) -> float:
        """Call `work(sum of pips, thread, threads)` for all sums, one after the other, on all threads; the largest result."""
        most = 2 * int(self.boards.pips[-1])
        largest = 0.0
        totals: Any = range(2, most + 1)
        for total in reversed(totals) if descending else totals:
            found = [self._pool.submit(work, total, thread, self.threads) for thread in range(self.threads)]
            largest = max(largest, *(future.result() for future in found))
        return largest

    def parts(self, work: Callable[[int, int], object]) -> None:
        """Call `work(thread, threads)` on all threads."""
        for future in [self._pool.submit(work, thread, self.threads) for thread in range(self.threads)]:
            future.result()

    def respond(self, choices: Any, best: Floats, fixed: Floats, *, leave: bool) -> tuple[Floats, Floats, float]:
        """A sweep of best play of one side against a policy of the other.

        Args:
            choices: the policy's, see `bg_env.exact.policy_sweeps`.
            best: float64 (m, m), to the side that plays best when it is on roll.
            fixed: float64 (m, m), to the policy when it is on roll.
            leave: as of `best`.

        Returns:
            Both values after the sweep, and the largest change.
        """
        boards, plays = self.boards, self.plays
        new_best, new_fixed = best.copy(), fixed.copy()

        def work(total: int, thread: int, threads: int) -> float:
            here = (total, thread, threads, leave)
            change = _best(boards, plays, WEIGHTS, here, fixed, new_fixed, new_best, best)
            return max(change, follow(boards, plays, WEIGHTS, here, choices, best, new_best, new_fixed))

        return new_best, new_fixed, self.stages(work)
