"""Dice given in advance: the queue that the games of a batch take them from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env.batch.layout import Slots

__all__ = ["NO_DICE", "with_dice"]

Dice = npt.NDArray[np.int64]
"""(m, 2): the `dice` of a `Batch`."""

NO_DICE: Final[Dice] = np.zeros((0, 2), np.int64)


def with_dice(slots: Slots, dice: Dice, ending: npt.NDArray[np.bool_], given: Sequence[tuple[int, int]]) -> tuple[Dice, int]:
    """A new queue: the dice that games other than `ending` still wait for, then those `given` to the games that begin.

    Args:
        slots: of all games; written: they point into the new queue, those of `ending` to no dice.
        dice: the queue so far.
        ending: the games that begin anew, bool (n,).
        given: the next rolls of these.

    Returns:
        The queue, and the place in it of the first roll given.
    """
    kept = NO_DICE if ending.all() else _waiting(slots, dice, ending)
    new = np.array(given, np.int64).reshape(-1, 2) if given else NO_DICE
    return np.concatenate([kept, new]) if len(kept) else new, len(kept)


def _waiting(slots: Slots, dice: Dice, ending: npt.NDArray[np.bool_]) -> Dice:
    queued: npt.NDArray[np.int32] = slots["queued"]
    end: npt.NDArray[np.int32] = slots["queue_end"]
    waiting = (queued < end) & ~ending
    queued[~waiting] = end[~waiting] = 0
    kept, length = [dice[:0]], 0
    moved = np.zeros(len(slots), np.int32)
    for last in np.unique(end[waiting]).tolist():  # one for each reset that dice are left of
        sharing = waiting & (end == last)
        first = int(queued[sharing].min())
        kept.append(dice[first:last])
        moved[sharing] = first - length
        length += last - first
    queued -= moved
    end -= moved
    return np.concatenate(kept)
