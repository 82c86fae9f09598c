"""`Solution`: the exact values of all positions of a game with few checkers, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.errors import PositionError, SettingsError, printable
from bg_env.exact.boards import Boards, board_numbers, boards_of
from bg_env.exact.phases import CUBELESS, CUBES, PhaseValues
from bg_env.exact.player import ExactPlayer
from bg_env.exact.sides import Sides, Where, sides_of
from bg_env.exact.sweep_file import read_contents
from bg_env.files import checked_path
from bg_env.rules import Settings, States, Variant, apply_roll

__all__ = ["Solution"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Solution(PhaseValues):
    """The exact values of money play of a game with up to three checkers a side; immutable.

    `solve` makes it, and `Solution.load` reads the file of one. It has the values of all positions with as many checkers a
    side, whatever the start of the variant is. Jacoby, beavers and automatic doubles are refused, and the cube where the
    solution is without it; a cube below the cap counts as without limit.

    Attributes:
        variant: the variant, from whose start figures of whole games are.
        cube: whether there are values with the cube.
        values: float64 (m, m), with the cube (m, m, 4), read only; by the numbers of the boards on roll and not on roll
            (`bg_env.exact.boards`), the values before a roll without a double: cubeless, cube owned, centred, the opponent's.
        sweeps: sweeps of value iteration that it took.
        residual: the largest difference between a value and what follows from those after one roll, in points.
        path: of its file; None without one.
    """

    __slots__ = ("_cached", "cube", "path", "residual", "sweeps", "values", "variant")
    _table = "the solution"
    _opens = True
    variant: Variant
    cube: bool
    values: Floats
    sweeps: int
    residual: float
    path: Path | None

    def __init__(
        self, variant: Variant, cube: bool, values: Floats, sweeps: int, residual: float, path: Path | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "variant", variant)
        put(self, "cube", cube)
        put(self, "values", values)
        put(self, "sweeps", sweeps)
        put(self, "residual", residual)
        put(self, "path", path)
        put(self, "_cached", {})
        values.flags.writeable = False

    @classmethod
    def load(cls, path: str | Path) -> Solution:
        """The solution in a file that `solve` wrote, mapped into memory.

        Raises:
            SettingsError: it is not such a file, is damaged, or is not finished.
            OSError: it cannot be read.
        """
        file = checked_path(path)
        kind, saved, values = read_contents(file)
        if saved is None or saved.residual is None or values is None:
            done = 0 if saved is None else saved.sweeps
            msg = f"{printable(str(file))} is not finished ({done} sweeps): go on with exact.solve or bg-env solve"
            raise SettingsError(msg)
        return cls(kind.variant, kind.cube, values, saved.sweeps, saved.residual, file)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a solution is immutable: {name} cannot be set"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return Solution.load, (self.path.resolve(),)
        return Solution, (self.variant, self.cube, self.values, self.sweeps, self.residual)

    def __repr__(self) -> str:
        kind = "with the cube" if self.cube else "cubeless"
        return f"<Solution of {self.variant.name}, {kind}: {len(self.values) ** 2:,} positions, residual {self.residual:.1e}>"

    def covers(self, where: Where) -> Any:
        """Whether the solution has the board of a position: whether it has as many checkers a side.

        Args:
            where: a Position, a Game, or STATE records (n,).

        Returns:
            A bool; of records, bool (n,).

        Raises:
            SettingsError: `where` is not one of these.
            PositionError: a record waits for the opening throw.
        """
        sides = sides_of(where)
        return sides.result(sides.mover.sum(axis=1, dtype=np.int64) == self.variant.checkers)

    def player(self) -> ExactPlayer:
        """Perfect play, for every environment and the arena; among equal plays the first is chosen."""
        return ExactPlayer(self, f"exact:{self.variant.name}")

    @property
    def boards(self) -> Boards:
        """The boards by their numbers."""
        return boards_of(self.variant.checkers)

    def _cubes(self) -> tuple[str, ...]:
        return CUBES if self.cube else CUBES[:1]

    def _check_settings(self, settings: Settings) -> None:
        super()._check_settings(settings)
        if settings.variant.checkers != self.variant.checkers:
            few, many = self.variant.checkers, settings.variant.checkers
            msg = f"the solution is for {few} checkers a side, not for the {many} of {settings.variant.name}"
            raise SettingsError(msg)
        if settings.cube and not self.cube:
            msg = "the solution is without the cube: play with cube=False, or solve the game with cube=True"
            raise SettingsError(msg)
        for name in ("jacoby", "beavers", "auto_doubles"):
            if settings.cube and getattr(settings, name):
                msg = f"the solution does not hold with {name}={getattr(settings, name)}: leave it out"
                raise SettingsError(msg)

    def _check_covered(self, sides: Sides) -> None:
        n = self.variant.checkers
        for side in (sides.mover, sides.opponent):
            if (side.sum(axis=1, dtype=np.int64) != n).any():
                msg = f"the solution is for {n} checkers a side, those borne off included"
                raise PositionError(msg)

    def _look_up(self, sides: Sides, columns: Integers) -> Floats:
        own, other = board_numbers(sides.mover), board_numbers(sides.opponent)
        found: Floats = self.values[own, other, columns] if self.cube else self.values[own, other]
        if not self.cube and (columns != CUBELESS).any():
            msg = "the solution is without the cube: solve the game with cube=True"
            raise SettingsError(msg)
        return found

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
