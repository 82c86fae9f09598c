"""A batch of one game as one piece of memory, and its steps, each with its mask in one call.

The environments of one game run on this. The parts of a step are those of `bg_env.batch.step`. A call
from Python costs about 40 nanoseconds more for each array, and 130 for one of records: for all arrays of a batch as much as the
step itself. So the kernels are given a GAME record, as bytes, and see the arrays of a `Batch` in it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel, part_of
from bg_env.batch.info import INFO, Info
from bg_env.batch.layout import ENDED, PLAN, SLOT, START, Batch
from bg_env.batch.step import close_step, next_roll, open_step, opponent_decides, random_replies, reward_is_due
from bg_env.rewards import CUSTOM
from bg_env.rules import RULES, STATE, Phase, apply_roll
from bg_env.rules.legal import write_mask

__all__ = ["FINISH", "GAME", "WAITING", "Dice", "Mask", "Memory", "random_step", "roll_once", "step_once"]

GAME: Final = np.dtype(
    [
        ("states", STATE),
        ("slots", SLOT),
        ("rules", RULES),
        ("plan", PLAN),
        ("sets", np.int32, (2,)),
        ("ended", STATE),
        ("start", START),
        ("info", np.int32, (INFO, 1)),
    ],
    align=True,
)
"""The arrays of a `Batch` of one game, but for `dice`, and its info array. `ended` counts with a user's reward only."""

Memory: TypeAlias = npt.NDArray[np.int8]
"""The bytes of a GAME record."""
Dice: TypeAlias = npt.NDArray[np.int64]
"""(m, 2): see `Batch`."""
Mask: TypeAlias = npt.NDArray[np.int8]
"""(1, actions)."""
WAITING: Final = -2
"""Instead of a player: the opponent must decide, or a user's reward be added, and then the step be finished."""
FINISH: Final = -2
"""Instead of an action: the rest of a step that was WAITING."""

_STATES, _SLOTS, _RULES, _PLAN, _SETS, _ENDED, _START, _INFO = (at for _, at, *_ in (GAME.fields or {}).values())
_STATE_SIZE, _SLOT_SIZE, _RULES_SIZE, _PLAN_SIZE = STATE.itemsize, SLOT.itemsize, RULES.itemsize, PLAN.itemsize
_SETS_SIZE, _START_SIZE, _INFO_SIZE = 8, START.itemsize, 4 * INFO


@inlined
def _opened(memory: Memory, dice: Dice) -> tuple[Batch, Info]:
    """The arrays in a piece of memory."""
    plan = part_of(memory, _PLAN, _PLAN_SIZE, PLAN, (1,))
    ended = 1 if plan[0]["reward"] == CUSTOM else 0
    games = Batch(
        part_of(memory, _STATES, _STATE_SIZE, STATE, (1,)),
        part_of(memory, _SLOTS, _SLOT_SIZE, SLOT, (1,)),
        part_of(memory, _RULES, _RULES_SIZE, RULES, (1,)),
        plan,
        dice,
        part_of(memory, _SETS, _SETS_SIZE, np.int32, (1, 2)),
        part_of(memory, _ENDED, ended * _STATE_SIZE, STATE, (ended,)),
        part_of(memory, _START, _START_SIZE, START, (1,)),
    )
    return games, part_of(memory, _INFO, _INFO_SIZE, np.int32, (INFO, 1))


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
def step_once(memory: Memory, dice: Dice, action: int, mask: Mask) -> tuple[float, int]:
    """The player who decides does `action`, or an episode that is due begins.

    Args:
        memory: of the game, written.
        dice: the rolls given in advance.
        action: an action number, of which one that is not legal loses the game; or FINISH.
        mask: the legal actions of who acts next, written; zeros if the episode is over.

    Returns:
        Player 0's reward, and who acts next: 0, 1, -1 if the episode is over, or WAITING (then the rest of the step is left
        to a call with FINISH, the mask too).
    """
    games, info = _opened(memory, dice)
    if action != FINISH:
        open_step(games, 0, action, info)
        if opponent_decides(games, 0) or reward_is_due(games, 0):
            return 0.0, WAITING
    return _end(games, info, mask)


@kernel
def random_step(memory: Memory, dice: Dice, action: int, mask: Mask) -> tuple[float, int]:
    """`step_once` with the decisions of the random opponent; never WAITING."""
    games, info = _opened(memory, dice)
    open_step(games, 0, action, info)
    random_replies(games, 0, info)
    return _end(games, info, mask)


@kernel
def roll_once(memory: Memory, dice: Dice) -> tuple[int, int]:
    """Throw the dice of a chance phase, once; the dice, in the opening player 0's first."""
    games, _ = _opened(memory, dice)
    d1, d2 = next_roll(games.states, games.slots, 0, games.rules, games.dice)
    apply_roll(games.states, 0, games.rules, d1, d2)
    return int(d1), int(d2)
