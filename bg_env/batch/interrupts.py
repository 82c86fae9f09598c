"""Flags of a batch that an interrupt may find half done, and the refusal to go on with such games.

An interrupt (Ctrl-C, or whatever else a handler of signals raises) can come after any call from Python, and twice. A step or
reset with Python code between its kernels therefore begins with a copy of the games, which is put back; a single kernel is done
or not begun; all else leaves torn games, which must be reset. Handlers set the flags before they call anything, because only
a call lets a second interrupt in.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bg_env.batch.copies import OwnGames
from bg_env.batch.given_dice import NO_DICE
from bg_env.errors import OrderError
from bg_env.rules import States

__all__ = ["Interruptible"]


class Interruptible(OwnGames):
    """The state of a batch beside the records of its games.

    Attributes:
        begun: whether there are games to go on with.
        torn: whether there are none because a step or a reset was interrupted when it was half done.
        undone: what the last step or reset raised, if `begun` and `torn` are right after it. An environment of one game takes
            its game for torn after anything else but a BgEnvError, and sets this to None.
        some_over: whether an episode may be over.
        dice: int64 (m, 2), the rolls given in advance.
        candidates: offsets and states for `step_plays`, until the games change; None if there are none.
    """

    def __init__(self) -> None:
        self.begun = self.torn = False
        self.undone: BaseException | None = None
        self.some_over = True
        self.dice = NO_DICE
        self.candidates: tuple[npt.NDArray[np.int64], States] | None = None

    def _flags(self) -> tuple[Any, ...]:
        """The values that `_put_back` puts back."""
        return self.dice, self.some_over, self.candidates, self.begun, self.torn

    def _put_back(self, flags: tuple[Any, ...]) -> None:
        self.dice, self.some_over, self.candidates, self.begun, self.torn = flags

    def check_reset(self, which: npt.NDArray[np.bool_]) -> None:
        """Refuse to begin the games marked in `which`, bool (n,), while the others cannot go on.

        Raises:
            OrderError: there are others, and no games to go on with.
        """
        if self.begun or which.all():
            return
        msg = f"game {int(np.argmin(which))} has never been reset: the first reset must begin all games"
        if self.torn:
            msg = "a step or reset was interrupted when it was half done: the next reset must begin all games"
        raise OrderError(msg)

    def refuse(self, what: str, episode: str = "an episode") -> NoReturn:
        """Refuse a call, because there are no games to go on with.

        Raises:
            OrderError: always.
        """
        msg = f"{what} needs {episode}: call reset() first"
        if self.torn:
            msg = f"{what} cannot go on, because a step or reset was interrupted when it was half done: call reset() first"
        raise OrderError(msg)
