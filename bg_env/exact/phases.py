"""Exact values of games in every phase, from a table of the values before a roll."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bg_env.errors import IllegalActionError, PositionError, SettingsError, quoted
from bg_env.exact.sides import Sides, Where, refuse, sides_of
from bg_env.game_view import GameView
from bg_env.position import Play
from bg_env.rules import OFF, Phase, Settings, States, apply_roll, plays
from bg_env.rules.sound import check_sound

__all__ = ["CENTRED", "CUBELESS", "CUBES", "OPPONENT", "OWNED", "Cube", "CubeEquities", "PhaseValues", "cube_columns"]

Cube = Literal["cubeless", "owned", "centred", "opponent"]
"""Where the cube is: not in play, with the player on roll, in the middle, with its opponent."""
CUBES: Final[tuple[str, ...]] = get_args(Cube)
CUBELESS: Final = 0
OWNED: Final = 1
CENTRED: Final = 2
OPPONENT: Final = 3

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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


class PhaseValues(ABC):
    """Base of the tables of values: the value of a game in any phase, and of each play of a roll.

    A table says what it covers, and has the values before a roll by the place of the cube: cubeless, owned, centred, the
    opponent's (the numbers 0 to 3).
    """

    __slots__ = ()
    _table = "the table"
    """The table, as messages call it."""
    _opens = False
    """Whether it has values before the opening throw."""

    def _cubes(self) -> tuple[str, ...]:
        """The places of the cube of which there are values."""
        return CUBES

    def _check_settings(self, settings: Settings) -> None:
        """Refuse settings that the values do not hold for.

        Raises:
            SettingsError: they are those of a match, or of a game with other rules for dice.
        """
        if not settings.money:
            msg = f"{self._table} is for money play, not for a match to {settings.match_length}"
            raise SettingsError(msg)
        if settings.variant.acey_deucey:
            msg = f"{self._table} is for dice without a bonus (R10.6), not for {settings.variant.name}"
            raise SettingsError(msg)

    @abstractmethod
    def _check_covered(self, sides: Sides) -> None:
        """Refuse boards that the table has not.

        Raises:
            PositionError: a board is not covered.
        """

    @abstractmethod
    def _look_up(self, sides: Sides, columns: Integers) -> Floats:
        """The values of rolls without a double at a cube of 1, of covered boards, with the cube where `columns` says."""

    def _opening(self, states: States, settings: Settings) -> Floats:
        """The values before the opening throw, to the player who will win it: the mean over the 30 rolls without a tie."""
        rules = settings.record()
        found = np.empty(len(states))
        known: dict[bytes, float] = {}
        for k in range(len(states)):
            key = states[k]["points"].tobytes() + bytes([states[k]["cube"]])
            if key not in known:
                after = np.repeat(states[k : k + 1], 30)
                throws = [(a, b) for a in range(1, 7) for b in range(1, 7) if a != b]
                for i, (a, b) in enumerate(throws):
                    apply_roll(after, i, rules, a, b)
                winners = np.array([0 if a > b else 1 for a, b in throws])
                values = self._values(after, settings, single=True)
                known[key] = float(np.where(after["turn"] == winners, values, -values).mean())
            found[k] = known[key]
        return found

    def equity(self, where: Where, cube: Cube = "cubeless") -> Any:
        """The equity of the player on roll before its roll, at a cube of 1. A player who may double does so where it gains.

        Args:
            where: a Position, a Game of which only the board counts, or STATE records (n,).
            cube: "cubeless"; or who owns a cube without limit, seen by the player on roll: "owned", "centred", "opponent".

        Returns:
            Points, at most those of the highest win, as a float; of records, float64 (n,).

        Raises:
            PositionError: the board is not covered, or nobody is on roll.
            SettingsError: `where` or `cube` is not one of these, or there are no values for this cube.
        """
        column = _column(cube, self._cubes())
        sides = sides_of(where)
        self._check_covered(sides)
        return sides.result(self._before_roll(sides, np.full(len(sides.mover), column), doubling=True))

    def cube_equities(self, where: Where, cube: Cube = "centred") -> CubeEquities:
        """The equities of the decision whether to double, and whether to take.

        Args:
            where: a Position, or a Game of which only the board counts.
            cube: "centred", or "owned" by the player on roll: a redouble.

        Raises:
            PositionError: the board is not covered.
            SettingsError: `where` or `cube` is not one of these, or there are no values with the cube.
        """
        column = _column(cube, tuple(place for place in ("centred", "owned") if place in self._cubes()))
        sides = sides_of(where)
        if not sides.single:
            msg = "a cube decision is that of one Position or Game: for many records look up equity(states, ...)"
            raise SettingsError(msg)
        self._check_covered(sides)
        if not sides.mover[0, OFF + 1 :].any() or not sides.opponent[0, OFF + 1 :].any():
            msg = "there is no cube decision: a side has borne off all its checkers"
            raise PositionError(msg)
        stays, turned = (float(self._look_up(sides, np.array([place]))[0]) for place in (column, OPPONENT))
        return CubeEquities(stays, 2 * turned, 1.0)

    def value(self, where: GameView | States, settings: Settings | None = None) -> Any:
        """The exact value of a game of money play as it stands: with its phase, its dice, its cube and the cube's owner.

        In phase CHECKER it is that of the best play of what is left of the roll, in ROLL_OR_DOUBLE and TAKE_OR_DROP that of the
        best decision. A cube at the cap (R8.4) is dead; below the cap it counts as without limit. The cap on turns (R11.1) is
        not counted.

        Args:
            where: a Game, or STATE records (n,).
            settings: the settings of the records; of a Game they are known.

        Returns:
            Points to the player on roll as a float; of records, float64 (n,). Where a game is over, the points won by the
            player whose turn it was, negative if the other has won.

        Raises:
            PositionError: a board is not covered, a game waits for the opening throw, if these are not covered, or for a
                beaver, or the rules cannot have made a record.
            SettingsError: `where` is not one of these, the settings are missing or given for a Game, or the values do not hold
                for them: no matches, no other rules for dice (R10.6).
        """
        states, chosen, single = self._game_states(where, settings)
        opening = (states["phase"] == Phase.OPENING) & self._opens
        if not opening.any():
            values = self._values(states, chosen, single=single)
        else:
            values = np.empty(len(states))
            values[opening] = self._opening(states[opening], chosen)
            values[~opening] = self._values(states[~opening], chosen, single=single)
        return values[0].item() if single else values

    def _values(self, states: States, settings: Settings, *, single: bool) -> Floats:
        """`value` of states after the opening throw."""
        sides = sides_of(states)._replace(single=single)
        self._check_covered(sides)
        phases = states["phase"]
        waiting = (phases == Phase.TAKE_OR_DROP) & ((states["chain"] > 1) | (settings.beavers > 0))
        refuse(waiting, single=single, reason=f"{self._table} has no value for a double that may be beavered (R8.6)")
        values = self._settled(states, sides, settings)
        rolled = np.flatnonzero(phases == Phase.CHECKER)
        if len(rolled):
            offsets, _, after = self._after(states[rolled], settings)
            values[rolled] = np.maximum.reduceat(after, offsets[:-1])
        return values

    def plays(self, game: GameView) -> tuple[tuple[Play, float], ...]:
        """The plays of a game that has rolled, with the exact value after each to the player who plays it, the best first.

        Args:
            game: in phase CHECKER, of money play; the cube and its owner count.

        Raises:
            PositionError: the board is not covered.
            IllegalActionError: the game does not wait for a checker play.
            SettingsError: this is not a Game, or the values do not hold for its settings.
        """
        if not isinstance(game, GameView):
            msg = f"plays are ranked of a Game that has rolled, not of {type(game).__name__}"
            raise SettingsError(msg)
        states, settings, _ = self._game_states(game, None)
        found = game.legal_plays()
        if not found:
            msg = f"plays are ranked of a Game that has rolled: this one is in phase {game.phase}"
            raise IllegalActionError(msg)
        self._check_covered(sides_of(game))
        _, _, after = self._after(states, settings)
        return tuple(sorted(zip(found, after.tolist(), strict=True), key=lambda pair: -pair[1]))

    def _before_roll(self, sides: Sides, columns: Integers, *, doubling: bool | npt.NDArray[np.bool_]) -> Floats:
        """The equities before the roll, in units of the cube; where `doubling`, a player with the right to double may do so."""
        values = self._look_up(sides, columns)
        may = ((columns == OWNED) | (columns == CENTRED)) & doubling
        if not may.any():
            return values
        doubled = np.minimum(2 * self._look_up(sides, np.full(len(columns), OPPONENT)), 1)
        found: Floats = np.where(may, np.maximum(values, doubled), values)
        return found

    def _settled(self, states: States, sides: Sides, settings: Settings) -> Floats:
        """The values in all phases but CHECKER, in points to the player whose turn it is."""
        turn, phases = states["turn"], states["phase"]
        points = np.left_shift(1, states["cube"].astype(np.int64))
        columns = cube_columns(states, settings)
        values = points * self._before_roll(sides, columns, doubling=phases == Phase.ROLL_OR_DOUBLE)
        offered = phases == Phase.TAKE_OR_DROP
        if offered.any():
            values = np.where(offered, points * np.minimum(self._taken(states, sides, settings), 1), values)
        over = phases == Phase.OVER
        won = np.where(states["winner"] < 0, 0, np.where(states["winner"] == turn, 1, -1)) * states["won"]
        return np.where(over, won, values)

    def _taken(self, states: States, sides: Sides, settings: Settings) -> Floats:
        """The values of a double that is taken, in units of the cube before it, to the player on roll."""
        dead = states["cube"] + 1 >= settings.cap_log2
        return 2 * self._look_up(sides, np.where(dead, CUBELESS, OPPONENT) if settings.cube else np.zeros(len(dead), np.int64))

    def _after(self, states: States, settings: Settings) -> tuple[Integers, npt.NDArray[np.int16], Floats]:
        """The plays of states in phase CHECKER: their offsets and steps, and the values after them to the players who play."""
        offsets, steps, after = plays(states, settings.record())
        movers = np.repeat(states["turn"], np.diff(offsets))
        values = self._settled(after, sides_of(after), settings)
        return offsets, steps, np.where(after["turn"] == movers, values, -values)

    def _game_states(self, where: Any, settings: Any) -> tuple[States, Settings, bool]:
        """The records, their settings, and whether they are those of a single game.

        Raises:
            SettingsError: settings are missing, not wanted, or not those that the values hold for.
        """
        single = isinstance(where, GameView)
        if single and settings is not None:
            msg = "the settings of a Game are known: give none beside it"
            raise SettingsError(msg)
        chosen = where.settings if isinstance(where, GameView) else settings
        if not isinstance(chosen, Settings):
            msg = f"records are valued under a bg_env.Settings, not under {quoted(chosen)}: give settings=, or a Game"
            raise SettingsError(msg)
        self._check_settings(chosen)
        if isinstance(where, GameView):
            return where.states, chosen, True
        check_sound(where, chosen.record())
        return where, chosen, False


def _column(cube: Any, allowed: tuple[str, ...]) -> int:
    """The column of the values that `cube` names.

    Raises:
        SettingsError: it is not one of `allowed`.
    """
    if isinstance(cube, str) and cube in allowed:
        return CUBES.index(cube)
    if cube in CUBES and (not allowed or allowed == CUBES[:1]):
        msg = "these values are without the cube: solve the game with cube=True"
        raise SettingsError(msg)
    msg = f"cube is {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}, not {quoted(cube)}"
    raise SettingsError(msg)


def cube_columns(states: States, settings: Settings) -> Integers:
    """Where the cube is, seen by the player whose turn it is: int64 (n,); cubeless without one, and at the cap."""
    if not settings.cube:
        return np.zeros(len(states), np.int64)
    owner = states["owner"]
    columns = np.where(owner == -1, CENTRED, np.where(owner == states["turn"], OWNED, OPPONENT))
    return np.where(states["cube"] >= settings.cap_log2, CUBELESS, columns).astype(np.int64)
