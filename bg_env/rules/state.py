"""The STATE record, one for each game (or match), with all that the rules need to go on with it; and its checks.

A batch is a 1-D array of records; copying, saving, comparing and pickling are numpy's.

| field | meaning |
|---|---|
| points[2, 26] | checkers of player 0 and 1, each on its own numbering: 0 borne off, 1-24, 25 the bar |
| dice[2] | the roll being played, higher number first; 0, 0 without one |
| left[2] | steps left to play with each of `dice` (a double: 4 with the first) |
| turn | the player whose turn it is, -1 before the opening throw |
| decider | the player who decides now, -1 in chance phases and at the end |
| phase | a `Phase` |
| stage | a stage of the 1-2 bonus (R10.6): STAGE_* |
| cube, owner | log2 of the accepted value; the owner, -1 centred |
| chain | turns of the cube that wait for an answer: 1 a double, 2 a beaver, 3 a raccoon ...; else 0 |
| ties | opening ties that doubled the cube in this game (R2.2) |
| crawford | 1 in the Crawford game |
| winner, level, won | of the game that the last action or roll ended: winner, 1-3, points; else -1, 0, 0 |
| was_crawford | 1 if the game that the last action or roll ended was the Crawford game, else 0 |
| filler | zeros, so that records have no padding and equal states have equal bytes |
| ending | why the episode is over: END_* (0 while it goes on) |
| score[2] | points of the match so far |
| turns | turns begun in the episode, this one included |
| games | games begun in the episode |
| key, rolls, choices | the random stream: its key, rolls drawn, choices drawn |
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env.checks import is_whole
from bg_env.errors import PositionError, quoted
from bg_env.rules.settings import Settings
from bg_env.rules.variant import BAR, OFF

__all__ = [
    "END_FINISHED",
    "END_ILLEGAL",
    "END_NONE",
    "END_TRUNCATED",
    "STAGE_BONUS",
    "STAGE_DOUBLE",
    "STAGE_EXTRA",
    "STAGE_NONE",
    "STATE",
    "Phase",
    "States",
    "check_board",
    "check_state",
]

STATE: Final = np.dtype(
    [
        ("points", np.int8, (2, 26)),
        ("dice", np.int8, (2,)),
        ("left", np.int8, (2,)),
        ("turn", np.int8),
        ("decider", np.int8),
        ("phase", np.int8),
        ("stage", np.int8),
        ("cube", np.int8),
        ("owner", np.int8),
        ("chain", np.int8),
        ("ties", np.int8),
        ("crawford", np.int8),
        ("winner", np.int8),
        ("level", np.int8),
        ("ending", np.int8),
        ("was_crawford", np.int8),
        ("filler", np.int8, (7,)),
        ("score", np.int32, (2,)),
        ("won", np.int32),
        ("turns", np.int32),
        ("games", np.int32),
        ("key", np.uint64),
        ("rolls", np.uint32),
        ("choices", np.uint32),
    ],
    align=True,
)
States: TypeAlias = npt.NDArray[np.void]
"""A 1-D array of STATE records."""


class Phase(enum.IntEnum):
    """The decision or the dice that a state waits for; prints as its name."""

    OPENING = 0
    """Chance: the opening throw (R2.1)."""
    ROLL = 1
    """Chance: the mover's roll."""
    ROLL_OR_DOUBLE = 2
    """The mover rolls or doubles; entered only when it may double (R8.2)."""
    TAKE_OR_DROP = 3
    """The player who was doubled takes, drops or turns the cube again (R8.3, R8.6)."""
    CHECKER = 4
    """The mover plays one step of its roll."""
    CHOOSE_DOUBLE = 5
    """The mover names a double after a 1-2 (R10.6)."""
    OVER = 6
    """The game is over; of a match: the match."""

    def __str__(self) -> str:
        return self.name


STAGE_NONE: Final = 0
"""An ordinary roll."""
STAGE_BONUS: Final = 1
"""A 1-2 is being played, or its double is being named (phase CHOOSE_DOUBLE)."""
STAGE_DOUBLE: Final = 2
"""The named double is being played."""
STAGE_EXTRA: Final = 3
"""The extra roll is due (phase ROLL) or, if it is no 1-2, being played."""

END_NONE: Final = 0
END_FINISHED: Final = 1
"""By the rules: borne off, dropped or resigned."""
END_ILLEGAL: Final = 2
"""By an illegal action under `illegal="terminate"`."""
END_TRUNCATED: Final = 3
"""By the cap on turns (R11.1)."""


def check_board(mover: Sequence[int], opponent: Sequence[int], checkers: int) -> None:
    """Check a placement of checkers; both sides as 26 counts on their own numbering.

    Raises:
        PositionError: a length or a count is wrong, both sides hold a point, or neither could ever step (R3.5).
    """
    for name, side in (("mover", mover), ("opponent", opponent)):
        flat = side.ndim == 1 if isinstance(side, np.ndarray) else isinstance(side, Sequence)
        if not flat or isinstance(side, (str, bytes)):
            msg = f"the {name} is 26 counts (index 0 off, 1-24 the points, 25 the bar), not {quoted(side)}"
            raise PositionError(msg)
        if len(side) != 26:
            msg = f"the {name} has {len(side)} entries: give 26 (index 0 off, 1-24 the points, 25 the bar)"
            raise PositionError(msg)
        for point, n in enumerate(side):
            if not is_whole(n, 0):
                msg = f"the {name} has {quoted(n)} checkers on point {point}: counts are integers from 0 to {checkers}"
                raise PositionError(msg)
        if sum(int(n) for n in side) != checkers:
            msg = f"the {name} has {quoted(sum(int(n) for n in side))} checkers, borne off included, not {checkers}"
            raise PositionError(msg)
    for point in range(1, 25):
        if mover[point] and opponent[25 - point]:
            msg = f"both players hold the mover's point {point} (the opponent's {25 - point}): only one can"
            raise PositionError(msg)
    if mover[OFF] == checkers and opponent[OFF] == checkers:
        msg = "both players have borne off all their checkers: only one can win"
        raise PositionError(msg)
    shut = [side[BAR] > 0 and all(n >= 2 for n in other[1:7]) for side, other in ((mover, opponent), (opponent, mover))]
    if all(shut):
        msg = "both players are on the bar before closed boards: nobody could ever step (R3.5)"
        raise PositionError(msg)


def check_state(states: States, i: int, settings: Settings) -> None:
    """Check a state set up by hand against the settings; see `check_board` for the checkers.

    Raises:
        PositionError: a field is wrong; the message names it.
    """
    s = states[i]
    check_board(s["points"][0].tolist(), s["points"][1].tolist(), settings.variant.checkers)

    def need(ok: bool, message: str) -> None:
        if not ok:
            raise PositionError(message)

    need(0 <= s["phase"] <= Phase.OVER, f"the phase is from 0 to {int(Phase.OVER)}, not {s['phase']}")
    cap = settings.cap_log2 if settings.cube else 0
    need(0 <= s["cube"] <= cap, f"a cube at {1 << max(int(s['cube']), 0)} is past the highest value, {1 << cap}")
    need(s["owner"] in (-1, 0, 1), f"the cube's owner is -1, 0 or 1, not {s['owner']}")
    need(settings.cube or s["owner"] == -1, "the cube has an owner but is not in play: give cube=True")
    need(min(s["score"]) >= 0, "scores are not negative")
    if settings.match_length:
        over = max(s["score"]) >= settings.match_length
        need(not over or s["phase"] == Phase.OVER, f"a score of {max(s['score'])} ends a match to {settings.match_length}")
        if s["crawford"]:
            near = [int(n) == settings.match_length - 1 for n in s["score"]]
            possible = settings.crawford and settings.cube and settings.match_length > 1
            need(possible, "no game is Crawford under these settings (R9.2)")
            need(sum(near) == 1, f"the Crawford game has exactly one player at {settings.match_length - 1} (R9.2)")
            untouched = s["owner"] == -1 and s["cube"] == 0 and s["chain"] == 0
            need(untouched, "the cube cannot have been turned in the Crawford game")
    else:
        need(not s["crawford"], "money play has no Crawford game")
