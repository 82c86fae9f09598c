"""Two-sided bear-off tables: the exact equity of races with few checkers in both home boards, without and with the cube.

Money play, with no limit to the cube's value: the player on roll doubles where that gains, and the opponent drops where that
loses less. Let X be the equity of the player on roll if the opponent owns the cube, N that of a roll without a double. Then the
equity is max(N, min(2 X, 1)), and N is the mean over the rolls of the best play's. A play leads to lower numbers of the
position, so the pairs are computed in one pass.
"""

from __future__ import annotations

import functools
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.checks import checked_whole
from bg_env.errors import IllegalActionError, PositionError, SettingsError, quoted
from bg_env.exact.numbering import HOME, ROLLS, WEIGHTS, followers, home_numbers, positions_of
from bg_env.exact.sides import Sides, Where, outside, refuse, sides_of
from bg_env.exact.storage import Arrays, kept
from bg_env.game_view import GameView
from bg_env.position import Play
from bg_env.rules import OFF, Phase, Settings, States, plays
from bg_env.rules.sound import check_sound

__all__ = ["CENTRED", "CUBELESS", "OPPONENT", "OWNED", "CubeEquities", "TwoSided", "two_sided"]

MOST: Final = 6
"""The most checkers a side that a table is for."""

Cube = Literal["cubeless", "owned", "centred", "opponent"]
"""Where the cube is: not in play, with the player on roll, in the middle, with its opponent."""
_CUBES: Final[tuple[str, ...]] = get_args(Cube)
CUBELESS: Final = 0
OWNED: Final = 1
CENTRED: Final = 2
OPPONENT: Final = 3


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
    values = np.zeros((n, n, len(_CUBES)))
    values[0] = 1
    values[:, 0] = -1
    parts = list(followers(checkers))
    starts = np.cumsum([0, *(offsets[-1] for _, offsets, _ in parts)])
    none = np.zeros(len(ROLLS), np.int64)  # the empty position has no plays
    joined = [none, *(offsets[:-1] + start for (_, offsets, _), start in zip(parts, starts[:-1], strict=True)), starts[-1:]]
    _fill(np.concatenate(joined), np.concatenate([found for _, _, found in parts]), WEIGHTS, values)
    return (values,)


class CubeEquities(NamedTuple):
    """The equities of a cube decision to the player on roll, in units of the cube's value before it.

    Attributes:
        no_double: if it rolls without doubling.
        double_take: if it doubles and the opponent takes.
        double_drop: if it doubles and the opponent drops: 1.
    """

    no_double: float
    double_take: float
    double_drop: float

    @property
    def equity(self) -> float:
        """The equity if both sides decide rightly."""
        return max(self.no_double, min(self.double_take, self.double_drop))

    @property
    def double(self) -> bool:
        """Whether to double; not where it gains nothing."""
        return min(self.double_take, self.double_drop) > self.no_double

    @property
    def take(self) -> bool:
        """Whether a double is to be taken, as where taking and dropping are equal."""
        return self.double_take <= self.double_drop


class TwoSided:
    """Exact equities of races in which both sides have few checkers left, all in their home boards; immutable.

    A position is covered if each side has at most `checkers` checkers on its points 1 to 6, none elsewhere on the board, and at
    least one borne off, so that nobody can win a gammon. `two_sided(checkers)` has the table.

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

    def equity(self, where: Where, cube: Cube = "cubeless") -> Any:
        """The equity of the player on roll before its roll, at a cube of 1. A player who may double does so where it gains.

        Args:
            where: a Position, a Game of which only the board counts, or STATE records (n,).
            cube: "cubeless"; or who owns a cube without limit, seen by the player on roll: "owned", "centred", "opponent".

        Returns:
            Points from -1 to 1 as a float; of records, float64 (n,).

        Raises:
            PositionError: the table does not cover the board, or nobody is on roll.
            SettingsError: `where` or `cube` is not one of these.
        """
        column = _column(cube, _CUBES)
        sides = sides_of(where)
        return sides.result(self._before_roll(sides, np.full(len(sides.mover), column), doubling=True))

    def cube_equities(self, where: Where, cube: Cube = "centred") -> CubeEquities:
        """The equities of the decision whether to double, and whether to take.

        Args:
            where: a Position, or a Game of which only the board counts.
            cube: "centred", or "owned" by the player on roll: a redouble.

        Raises:
            PositionError: the table does not cover the board.
            SettingsError: `where` or `cube` is not one of these.
        """
        column = _column(cube, ("centred", "owned"))
        sides = sides_of(where)
        if not sides.single:
            msg = "a cube decision is that of one Position or Game: for many records look up equity(states, ...)"
            raise SettingsError(msg)
        own, other = self._numbers(sides)
        if 0 in (own[0], other[0]):
            msg = "there is no cube decision: a side has borne off all its checkers"
            raise PositionError(msg)
        row = self.values[own[0], other[0]]
        return CubeEquities(float(row[column]), float(2 * row[OPPONENT]), 1.0)

    def value(self, where: GameView | States, settings: Settings | None = None) -> Any:
        """The exact value of a game of money play as it stands: with its phase, its dice, its cube and the cube's owner.

        In phase CHECKER it is that of the best play of what is left of the roll, in ROLL_OR_DOUBLE and TAKE_OR_DROP that of the
        best decision. A cube at the cap (R8.4) is dead; below the cap it counts as without limit. The cap on turns (R11.1) is
        not counted. No double that would be beavered is right, so beavers change nothing before a double.

        Args:
            where: a Game, or STATE records (n,).
            settings: the settings of the records; of a Game they are known.

        Returns:
            Points to the player on roll as a float; of records, float64 (n,). Where a game is over, the points won by the
            player whose turn it was, negative if the other has won.

        Raises:
            PositionError: the table does not cover a board, a game waits for the opening throw or for a beaver, or the rules
                cannot have made a record.
            SettingsError: `where` is not one of these, the settings are missing or given for a Game, they are those of a match,
                or of a game with other rules for dice (R10.6).
        """
        states, chosen, single = _game_states(where, settings)
        sides = sides_of(states)._replace(single=single)
        self._numbers(sides)
        phases = states["phase"]
        waiting = (phases == Phase.TAKE_OR_DROP) & ((states["chain"] > 1) | (chosen.beavers > 0))
        refuse(waiting, single=single, reason="the table has no value for a double that may be beavered (R8.6)")
        values = self._settled(states, sides, chosen)
        rolled = np.flatnonzero(phases == Phase.CHECKER)
        if len(rolled):
            offsets, after = self._after(states[rolled], chosen)
            values[rolled] = np.maximum.reduceat(after, offsets[:-1])
        return sides.result(values)

    def plays(self, game: GameView) -> tuple[tuple[Play, float], ...]:
        """The plays of a game that has rolled, with the exact value after each to the player who plays it, the best first.

        Args:
            game: in phase CHECKER, of money play; the cube and its owner count.

        Raises:
            PositionError: the table does not cover the board.
            IllegalActionError: the game does not wait for a checker play.
            SettingsError: this is not a Game, or its settings are those of a match or have other rules for dice.
        """
        if not isinstance(game, GameView):
            msg = f"plays are ranked of a Game that has rolled, not of {type(game).__name__}"
            raise SettingsError(msg)
        states, settings, _ = _game_states(game, None)
        found = game.legal_plays()
        if not found:
            msg = f"plays are ranked of a Game that has rolled: this one is in phase {game.phase}"
            raise IllegalActionError(msg)
        self._numbers(sides_of(game))
        _, after = self._after(states, settings)
        return tuple(sorted(zip(found, after.tolist(), strict=True), key=lambda pair: -pair[1]))

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

    def _before_roll(
        self, sides: Sides, columns: npt.NDArray[np.int64], *, doubling: bool | npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """The equities before the roll, in units of the cube; where `doubling`, a player with the right to double may do so."""
        own, other = self._numbers(sides)
        values = self.values[own, other, columns]
        doubled = np.minimum(2 * self.values[own, other, OPPONENT], 1)
        may = ((columns == OWNED) | (columns == CENTRED)) & doubling
        found: npt.NDArray[np.float64] = np.where(may, np.maximum(values, doubled), values)
        return found

    def _settled(self, states: States, sides: Sides, settings: Settings) -> npt.NDArray[np.float64]:
        """The values in all phases but CHECKER, in points to the player whose turn it is."""
        turn, phases = states["turn"], states["phase"]
        columns = np.where(states["owner"] == -1, CENTRED, np.where(states["owner"] == turn, OWNED, OPPONENT))
        if settings.cube:
            columns[states["cube"] >= settings.cap_log2] = CUBELESS
        else:
            columns[:] = CUBELESS
        points = np.left_shift(1, states["cube"].astype(np.int64))
        values = points * self._before_roll(sides, columns, doubling=phases == Phase.ROLL_OR_DOUBLE)
        offered = phases == Phase.TAKE_OR_DROP
        if offered.any():
            dead = states["cube"] + 1 >= settings.cap_log2
            taken = self._before_roll(sides, np.where(dead, CUBELESS, OPPONENT), doubling=False)
            values = np.where(offered, points * np.minimum(2 * taken, 1), values)
        over = phases == Phase.OVER
        won = np.where(states["winner"] < 0, 0, np.where(states["winner"] == turn, 1, -1)) * states["won"]
        return np.where(over, won, values)

    def _after(self, states: States, settings: Settings) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The plays of states in phase CHECKER: their offsets, and the values after them to the players who play."""
        offsets, _, after = plays(states, settings.record())
        movers = np.repeat(states["turn"], np.diff(offsets))
        values = self._settled(after, sides_of(after), settings)
        return offsets, np.where(after["turn"] == movers, values, -values)


def _column(cube: Any, allowed: tuple[str, ...]) -> int:
    """The column of the values that `cube` names.

    Raises:
        SettingsError: it is not one of `allowed`.
    """
    if not isinstance(cube, str) or cube not in allowed:
        msg = f"cube is {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}, not {quoted(cube)}"
        raise SettingsError(msg)
    return _CUBES.index(cube)


def _game_states(where: Any, settings: Any) -> tuple[States, Settings, bool]:
    """The records, their settings, and whether they are those of a single game.

    Raises:
        SettingsError: settings are missing, not wanted, of a match, or of a game with other rules for dice.
    """
    single = isinstance(where, GameView)
    if single and settings is not None:
        msg = "the settings of a Game are known: give none beside it"
        raise SettingsError(msg)
    chosen = where.settings if isinstance(where, GameView) else settings
    if not isinstance(chosen, Settings):
        msg = f"records are valued under a bg_env.Settings, not under {quoted(chosen)}: give settings=, or a Game"
        raise SettingsError(msg)
    if not chosen.money:
        msg = f"the table is for money play, not for a match to {chosen.match_length}"
        raise SettingsError(msg)
    if chosen.variant.acey_deucey:
        msg = f"the table is for dice without a bonus (R10.6), not for {chosen.variant.name}"
        raise SettingsError(msg)
    if isinstance(where, GameView):
        return where.states, chosen, True
    check_sound(where, chosen.record())
    return where, chosen, False


@functools.lru_cache(maxsize=MOST)
def _table(checkers: int) -> TwoSided:
    n = positions_of(checkers)
    (values,) = kept(f"two-sided-{checkers}-v1", {"values": (n, n, len(_CUBES))}, lambda: build(checkers))
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
