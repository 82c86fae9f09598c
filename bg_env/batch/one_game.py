"""A step of a batch of one game, with its mask, in one call: the kernels under the environments of one game.

The parts of the step are those of `bg_env.batch.step`; no episode begins in it. A call from Python costs a tenth of a
microsecond more for each array of records than for its bytes, so the kernels are given bytes, see `as_bytes`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.batch.layout import ENDED, PLAN, SLOT, Arrays, Batch, Info
from bg_env.batch.step import close_step, next_roll, open_step, opponent_decides, random_replies, reward_is_due
from bg_env.rules import RULES, STATE, Phase, apply_roll
from bg_env.rules.legal import write_mask

__all__ = ["WAITING", "Mask", "as_bytes", "end_step", "random_step", "roll_once", "step_once"]

Mask: TypeAlias = npt.NDArray[np.int8]
"""int8 (1, actions)."""
WAITING: Final = -2
"""Instead of a player: the opponent must decide, or a user's reward be added, and then `end_step` be called."""


def as_bytes(batch: Arrays) -> Arrays:
    """The fields of a `Batch`, with arrays of bytes, of the same memory, in place of arrays of records."""
    return tuple(array.view(np.int8) if array.dtype.names else array for array in batch)


@inlined
def _as_batch(batch: Arrays) -> Batch:
    states, slots, rules, plan, dice, sets, ended = batch
    return Batch(states.view(STATE), slots.view(SLOT), rules.view(RULES), plan.view(PLAN), dice, sets, ended.view(STATE))


@inlined
def _end(games: Batch, info: Info, mask: Mask) -> tuple[float, int]:
    """Parts 3 and 5, and the mask; player 0's reward and who acts next, -1 if the episode is over."""
    states, slots = games.states, games.slots
    gain = 0.0
    if not slots[0]["fresh"]:
        gain = slots[0]["gain"]
        slots[0]["gain"] = 0.0
        if states[0]["phase"] == Phase.OVER:
            slots[0]["over"] = ENDED
    close_step(games, 0, info)
    write_mask(states, 0, games.rules, np.int64(games.sets[0, 0]), np.int64(games.sets[0, 1]), mask, 0)
    return float(gain), int(info[0, 0])


@kernel
def step_once(batch: Arrays, action: int, info: Info, mask: Mask) -> tuple[float, int]:
    """The player who decides does `action`.

    Args:
        batch: see `as_bytes`.
        action: an action number; one that is not legal loses the game.
        info: the info array (INFO, 1), written.
        mask: the legal actions of who acts next, written; zeros if the episode is over.

    Returns:
        Player 0's reward, and who acts next: 0, 1, -1 if the episode is over, or WAITING (then the rest of the step is left
        to `end_step` or `random_step`, the mask too).
    """
    games = _as_batch(batch)
    open_step(games, 0, action, info)
    if opponent_decides(games, 0) or reward_is_due(games, 0):
        return 0.0, WAITING
    return _end(games, info, mask)


@kernel
def random_step(batch: Arrays, info: Info, mask: Mask) -> tuple[float, int]:
    """The random opponent's decisions, then `end_step`."""
    games = _as_batch(batch)
    random_replies(games, 0, info)
    return _end(games, info, mask)


@kernel
def end_step(batch: Arrays, info: Info, mask: Mask) -> tuple[float, int]:
    """The rest of a step, or of a reset, after the opponent's decisions; see `step_once`."""
    return _end(_as_batch(batch), info, mask)


@kernel
def roll_once(batch: Arrays) -> tuple[int, int]:
    """Throw the dice of a chance phase, once; the dice, in the opening player 0's first."""
    games = _as_batch(batch)
    d1, d2 = next_roll(games.states, games.slots, 0, games.rules, games.dice)
    apply_roll(games.states, 0, games.rules, d1, d2)
    return int(d1), int(d2)
