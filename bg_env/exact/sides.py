"""Checkers of both sides, taken from positions, games and arrays of STATE records, for look-ups in tables."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env.errors import PositionError, SettingsError, quoted
from bg_env.exact.numbering import HOME
from bg_env.game_view import GameView
from bg_env.position import Position
from bg_env.rules import BAR, OFF, STATE, States
from bg_env.rules.sound import check_sound

__all__ = ["Sides", "Where", "farthest", "outside", "refuse", "sides_of"]

Where: TypeAlias = Position | GameView | States
"""A position, a game, or STATE records (n,)."""


class Sides(NamedTuple):
    """The checkers of n positions, each side on its own numbering.

    Attributes:
        mover: integers (n, 26), those of the player on roll.
        opponent: integers (n, 26), those of the other.
        single: whether they are those of one position or game, whose value is a number and not an array.
    """

    mover: npt.NDArray[Any]
    opponent: npt.NDArray[Any]
    single: bool

    def result(self, values: npt.NDArray[Any]) -> Any:
        """The value of a single position as a Python number, those of records as the array."""
        return values[0].item() if self.single else values


def sides_of(where: Where) -> Sides:
    """The checkers of a position, a game or STATE records.

    Raises:
        SettingsError: `where` is not one of these.
        PositionError: a record waits for the opening throw, so that nobody is on roll, or the rules cannot have made it.
    """
    if isinstance(where, GameView):
        where = where.position
    if isinstance(where, Position):
        return Sides(np.array([where.mover]), np.array([where.opponent]), True)
    if not isinstance(where, np.ndarray) or where.dtype != STATE or where.ndim != 1:
        msg = f"a table is asked by a Position, a Game or an array of STATE records (n,), not by {quoted(where)}"
        raise SettingsError(msg)
    check_sound(where)
    turns = where["turn"].astype(np.int64)
    refuse(turns < 0, single=False, reason="nobody is on roll before the opening throw")
    rows = np.arange(len(where))
    points = where["points"]
    return Sides(points[rows, turns], points[rows, 1 - turns], False)


def refuse(wrong: npt.NDArray[np.bool_], *, single: bool, reason: str) -> None:
    """Raise a PositionError with the reason if anything is wrong; of records, with the index of the first one that is."""
    if wrong.any():
        raise PositionError(reason if single else f"record {int(np.argmax(wrong))}: {reason}")


def outside(side: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The number of checkers outside the home board, bar included, in each row of (n, 26) counts."""
    found: npt.NDArray[np.int64] = side[:, HOME + 1 :].sum(axis=1, dtype=np.int64)
    return found


def farthest(side: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The highest point, 25 the bar, with a checker in each row of (n, 26) counts; 0 where all are borne off."""
    found: npt.NDArray[np.int64] = np.where(side[:, OFF + 1 :].any(axis=1), BAR - np.argmax(side[:, :OFF:-1] > 0, axis=1), 0)
    return found
