"""Two-sided bear-off tables: the exact equity of races with few checkers in both home boards, without and with the cube.

Money play, with no limit to the cube's value: the player on roll doubles where that gains, and the opponent drops where that
loses less. Let X be the equity of the player on roll if the opponent owns the cube, N that of a roll without a double. Then the
equity is max(N, min(2 X, 1)), and N is the mean over the rolls of the best play's. A play leads to lower numbers of the
position, so the pairs are computed in one pass.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.checks import checked_whole
from bg_env.exact.numbering import HOME, ROLLS, WEIGHTS, followers, home_numbers, positions_of
from bg_env.exact.phases import CUBES, PhaseValues
from bg_env.exact.sides import Sides, Where, outside, refuse, sides_of
from bg_env.exact.storage import Arrays, kept
from bg_env.rules import OFF

__all__ = ["TwoSided", "two_sided"]

MOST: Final = 6
"""The most checkers a side that a table is for."""


@inlined
def _fill_pair(
    i: int,
    j: int,
    offsets: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
) -> None:
    """Complete the values of position `i` on roll against position `j`; those of all that a roll leads to are complete."""
    rolls = weights.shape[0]
    for cube in range(4):
        values[i, j, cube] = 0.0
    for r in range(rolls):
        alone, owned, centred, other = 9.0, 9.0, 9.0, 9.0
        for at in range(offsets[i * rolls + r], offsets[i * rolls + r + 1]):
            k = found[at]
            doubled = min(2.0 * values[j, k, 3], 1.0)
            alone = min(alone, values[j, k, 0])
            owned = min(owned, values[j, k, 3])
            centred = min(centred, max(values[j, k, 2], doubled))
            other = min(other, max(values[j, k, 1], doubled))
        values[i, j, 0] -= weights[r] * alone
        values[i, j, 1] -= weights[r] * owned
        values[i, j, 2] -= weights[r] * centred
        values[i, j, 3] -= weights[r] * other


@kernel
def _fill(
    offsets: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
) -> None:
    """Fill `values[i, j]` for all positions i and j that are not empty.

    A roll leads from (i, j) to (j, k) with k < i. So (m, j) needs pairs of numbers below m only, and (j, m) also (m, k).
    """
    for m in range(1, values.shape[0]):
        for step in range(1, 2 * m):
            if step < m:
                _fill_pair(m, step, offsets, found, weights, values)
            else:
                _fill_pair(step - m + 1, m, offsets, found, weights, values)


def build(checkers: int) -> Arrays:
    """The values of all pairs of positions of up to `checkers` checkers: float64 (m, m, 4).

    Entry [i, j] is the equity of position i on roll against j before its roll: cubeless, and if the player on roll owns the
    cube, it is centred, or the opponent owns it, each without a double this turn.
    """
    n = positions_of(checkers)
    values = np.zeros((n, n, len(CUBES)))
    values[0] = 1
    values[:, 0] = -1
    parts = list(followers(checkers))
    starts = np.cumsum([0, *(offsets[-1] for _, offsets, _ in parts)])
    none = np.zeros(len(ROLLS), np.int64)  # the empty position has no plays
    joined = [none, *(offsets[:-1] + start for (_, offsets, _), start in zip(parts, starts[:-1], strict=True)), starts[-1:]]
    _fill(np.concatenate(joined), np.concatenate([found for _, _, found in parts]), WEIGHTS, values)
    return (values,)


class TwoSided(PhaseValues):
    """Exact equities of races in which both sides have few checkers left, all in their home boards; immutable.

    A position is covered if each side has at most `checkers` checkers on its points 1 to 6, none elsewhere on the board, and at
    least one borne off, so that nobody can win a gammon. Jacoby and beavers change nothing in these positions. No double that
    would be beavered is right. `two_sided(checkers)` has the table.

    Attributes:
        checkers: the most checkers a side, 1 to 6.
        values: float64 (m, m, 4), read only; by the numbers of the positions on roll and not on roll
            (`bg_env.exact.numbering`), the equities before a roll without a double: cubeless, cube owned, centred, the
            opponent's.
    """

    __slots__ = ("checkers", "values")
    checkers: int
    values: npt.NDArray[np.float64]

    def __init__(self, checkers: int, values: npt.NDArray[np.float64]) -> None:
        object.__setattr__(self, "checkers", checkers)
        object.__setattr__(self, "values", values)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a table is immutable: {name} cannot be set"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return two_sided, (self.checkers,)

    def __repr__(self) -> str:
        return f"<TwoSided: up to {self.checkers} checkers a side, {(len(self.values) - 1) ** 2:,} pairs of positions>"

    def covers(self, where: Where) -> Any:
        """Whether the table covers the board of a position.

        Args:
            where: a Position, a Game, or STATE records (n,).

        Returns:
            A bool; of records, bool (n,).

        Raises:
            SettingsError: `where` is not one of these.
            PositionError: a record waits for the opening throw.
        """
        sides = sides_of(where)
        found = np.ones(len(sides.mover), np.bool_)
        for wrong in self._faults(sides).values():
            found &= ~wrong
        return sides.result(found)

    def _faults(self, sides: Sides) -> dict[str, npt.NDArray[np.bool_]]:
        """Why a board is not covered: the reasons, and of which of the positions they hold."""
        both = (sides.mover, sides.opponent)
        most = max(int((side.sum(axis=1, dtype=np.int64) - side[:, OFF]).max(initial=0)) for side in both)
        more = f": exact.two_sided({most}) does" if self.checkers < most <= MOST else ""
        elsewhere = "the two-sided table covers boards with all checkers home or borne off: here some are elsewhere"
        many = f"the two-sided table covers up to {self.checkers} checkers a side on the board, not {most}{more}"
        gammon = "the two-sided table covers boards without gammons: here a side has borne off no checker yet"
        return {
            elsewhere: np.logical_or(*(outside(side) > 0 for side in both)),
            many: np.logical_or(*(side[:, 1:].sum(axis=1, dtype=np.int64) > self.checkers for side in both)),
            gammon: np.logical_or(*(side[:, OFF] == 0 for side in both)),
        }

    def _numbers(self, sides: Sides) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the positions of both sides.

        Raises:
            PositionError: a board is not covered.
        """
        for reason, wrong in self._faults(sides).items():
            refuse(wrong, single=sides.single, reason=reason)
        return home_numbers(sides.mover[:, 1 : HOME + 1]), home_numbers(sides.opponent[:, 1 : HOME + 1])

    def _check_covered(self, sides: Sides) -> None:
        self._numbers(sides)

    def _look_up(self, sides: Sides, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        own, other = self._numbers(sides)
        found: npt.NDArray[np.float64] = self.values[own, other, columns]
        return found


@functools.lru_cache(maxsize=MOST)
def _table(checkers: int) -> TwoSided:
    n = positions_of(checkers)
    (values,) = kept(f"two-sided-{checkers}-v1", {"values": (n, n, len(CUBES))}, lambda: build(checkers))
    return TwoSided(checkers, values)


def two_sided(checkers: int = MOST) -> TwoSided:
    """The two-sided table of up to so many checkers a side: 27 MB for 6, 7 MB for 5.

    The first call on a machine builds it in a second or two and keeps it beside the compiled kernels; the first call of a
    process reads it from there.

    Args:
        checkers: the most checkers a side, 1 to 6.

    Raises:
        SettingsError: `checkers` is no such number.
    """
    return _table(checked_whole("checkers", checkers, 1, MOST))
