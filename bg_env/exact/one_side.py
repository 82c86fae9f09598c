"""The one-sided bear-off table: how many rolls one side needs, alone, to bear off from any home position."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import IllegalActionError, SettingsError
from bg_env.exact.numbering import HOME, MOST, ROLLS, WEIGHTS, followers, home_numbers, positions_of
from bg_env.exact.sides import Sides, Where, farthest, outside, refuse, sides_of
from bg_env.exact.storage import Arrays, kept
from bg_env.position import Play, Position

__all__ = ["OneSided", "one_sided"]

MOST_ROLLS: Final = 30
"""No position takes more rolls: 15 checkers on point 6 take 30 if every roll is a 2-1."""
PIPS_A_ROLL: Final = 49 / 6
"""The average number of pips that a roll shows, doubles counted four times."""


@kernel
def _fill(
    first: int,
    rolls: int,
    offsets: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    expected: npt.NDArray[np.float64],
    distributions: npt.NDArray[np.float64],
) -> None:
    """Complete the rows of the positions from `first` on, whose followers are given; those below are complete."""
    for k in range((offsets.shape[0] - 1) // rolls):
        i = first + k
        total = 1.0
        for r in range(rolls):
            start = offsets[k * rolls + r]
            best = found[start]
            for at in range(start + 1, offsets[k * rolls + r + 1]):
                if expected[found[at]] < expected[best]:
                    best = found[at]
            total += weights[r] * expected[best]
            for n in range(1, distributions.shape[1]):
                distributions[i, n] += weights[r] * distributions[best, n - 1]
        expected[i] = total


def build(checkers: int = MOST) -> Arrays:
    """The expected rolls, float64 (m,), and the distributions, float64 (m, 31), of all positions of up to `checkers`."""
    expected = np.zeros(positions_of(checkers))
    distributions = np.zeros((positions_of(checkers), MOST_ROLLS + 1))
    distributions[0, 0] = 1
    for first, offsets, found in followers(checkers):
        _fill(first, len(ROLLS), offsets, found, WEIGHTS, expected, distributions)
    return expected, distributions


class OneSided:
    """How many rolls a side needs to bear off, if it plays so as to need as few as possible on average; immutable.

    It covers a side whose checkers, up to 15, are all in its home board or borne off, with no contact left. `one_sided()`
    returns it.

    Attributes:
        expected: float64 (54264,), read only; the expected number of rolls by the number of the position
            (`bg_env.exact.numbering`).
        distributions: float64 (54264, 31), read only; column k is the probability to need exactly k rolls.
    """

    __slots__ = ("distributions", "expected")
    expected: npt.NDArray[np.float64]
    distributions: npt.NDArray[np.float64]

    def __init__(self, expected: npt.NDArray[np.float64], distributions: npt.NDArray[np.float64]) -> None:
        object.__setattr__(self, "expected", expected)
        object.__setattr__(self, "distributions", distributions)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a table is immutable: {name} cannot be set"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return one_sided, ()

    def __repr__(self) -> str:
        return f"<OneSided: {MOST} checkers on {HOME} points, {len(self.expected):,} positions>"

    def covers(self, where: Where, *, opponent: bool = False) -> Any:
        """Whether the table covers the side on roll, or with `opponent` the other one.

        Args:
            where: a Position, a Game, or STATE records (n,).
            opponent: whether to look at the side that is not on roll.

        Returns:
            A bool; of records, bool (n,).

        Raises:
            SettingsError: `where` is not one of these.
            PositionError: a record waits for the opening throw.
        """
        sides = sides_of(where)
        return sides.result(_home_alone(sides, opponent=opponent))

    def rolls(self, where: Where, *, opponent: bool = False) -> Any:
        """The expected number of rolls of the side on roll, or with `opponent` of the other one.

        Args:
            where: a Position, a Game, or STATE records (n,).
            opponent: whether to look at the side that is not on roll.

        Returns:
            A float of 0 or more; of records, float64 (n,).

        Raises:
            PositionError: a checker of the side is outside its home board, there is contact, or nobody is on roll.
            SettingsError: `where` is not one of these.
        """
        sides = sides_of(where)
        return sides.result(self.expected[_numbers(sides, opponent=opponent)])

    def epc(self, where: Where, *, opponent: bool = False) -> Any:
        """The effective pip count: the expected number of rolls times 49/6 pips. Arguments, results and errors as `rolls`."""
        sides = sides_of(where)
        return sides.result(self.expected[_numbers(sides, opponent=opponent)] * PIPS_A_ROLL)

    def distribution(self, where: Where, *, opponent: bool = False) -> npt.NDArray[np.float64]:
        """The distribution of the number of rolls of the side on roll, or with `opponent` of the other one.

        Returns:
            float64 (31,): the probability to need exactly k rolls at index k; of records, float64 (n, 31). A copy.

        Arguments and errors as `rolls`.
        """
        sides = sides_of(where)
        found: npt.NDArray[np.float64] = self.distributions[_numbers(sides, opponent=opponent)]
        return found[0] if sides.single else found

    def win_probability(self, where: Where) -> Any:
        """The chance of the player on roll to bear off first, if both sides play so as to need few rolls on average.

        In races this is close to the chance under best play, which also looks at the other side; `two_sided` has that.

        Args:
            where: a Position, a Game, or STATE records (n,), with the player on roll before its roll.

        Returns:
            0 to 1; of records, float64 (n,).

        Raises:
            PositionError: the table does not cover a side, or nobody is on roll.
            SettingsError: `where` is not one of these.
        """
        sides = sides_of(where)
        own = self.distributions[_numbers(sides, opponent=False)]
        other = self.distributions[_numbers(sides, opponent=True)]
        not_before = np.cumsum(other[:, ::-1], axis=1)[:, ::-1]  # the chance that the other needs k rolls or more
        chances = np.minimum((own * not_before).sum(axis=1), 1)
        return sides.result(np.where((other[:, 0] == 1) & (own[:, 0] < 1), 0.0, chances))

    def plays(self, position: Position, *dice: int) -> tuple[tuple[Play, float], ...]:
        """The plays of a roll with the expected number of rolls after each, the fewest first.

        Args:
            position: with all checkers of the player on roll in its home board.
            *dice: the roll, as `Position.legal_plays` takes it.

        Raises:
            PositionError: the table does not cover the player on roll.
            IllegalActionError: these are no dice, or the player has borne off all its checkers.
            SettingsError: this is not a Position.
        """
        if not isinstance(position, Position):
            msg = f"plays are ranked of a Position, not of {type(position).__name__}: a Game has one in Game.position"
            raise SettingsError(msg)
        if not dice:
            msg = "give the dice of the roll: plays(position, 3, 1)"
            raise IllegalActionError(msg)
        _numbers(sides_of(position), opponent=False)
        found = position.legal_plays(*dice)
        after = home_numbers(np.array([play.result.opponent for play in found])[:, 1 : HOME + 1])
        pairs = zip(found, self.expected[after].tolist(), strict=True)
        return tuple(sorted(pairs, key=lambda pair: pair[1]))


def _home_alone(sides: Sides, *, opponent: bool) -> npt.NDArray[np.bool_]:
    """Whether all checkers of a side are home or off, and no checker of the other one is before them."""
    own = sides.opponent if opponent else sides.mover
    contact = farthest(sides.mover) + farthest(sides.opponent) > 25
    found: npt.NDArray[np.bool_] = (outside(own) == 0) & ~contact
    return found


def _numbers(sides: Sides, *, opponent: bool) -> npt.NDArray[np.int64]:
    """The numbers of the positions of one side.

    Raises:
        PositionError: a checker is outside the home board, or there is contact.
    """
    own, whose = (sides.opponent, "the opponent") if opponent else (sides.mover, "the player on roll")
    reason = f"the one-sided table covers sides with all checkers home or borne off: {whose} has checkers elsewhere"
    refuse(outside(own) > 0, single=sides.single, reason=reason)
    refuse(
        ~_home_alone(sides, opponent=opponent),
        single=sides.single,
        reason="the one-sided table covers positions without contact: here the opponent still has checkers to pass",
    )
    return home_numbers(own[:, 1 : HOME + 1])


@functools.lru_cache(maxsize=1)
def one_sided() -> OneSided:
    """The one-sided table of 15 checkers on 6 points, 14 MB in memory.

    The first call on a machine builds it in seconds and keeps it beside the compiled kernels; the first call of a process
    reads it from there.
    """
    rows = positions_of(MOST)
    expected, distributions = kept("one-sided-v1", {"expected": (rows,), "distributions": (rows, MOST_ROLLS + 1)}, build)
    return OneSided(expected, distributions)
