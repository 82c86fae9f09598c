"""`solve`: the exact values of games with few checkers, by value iteration over all positions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_flag, checked_whole
from bg_env.errors import SettingsError
from bg_env.exact.boards import MOST_CHECKERS, boards_of, plays_of, standing
from bg_env.exact.phases import CUBES
from bg_env.exact.solution import Solution
from bg_env.exact.sweep_file import Kind, SweepFile
from bg_env.exact.sweeps import Sweeper, ended
from bg_env.rules import BAR, Settings, Variant, VariantLike, variant_of

__all__ = ["Size", "Sweep", "size_of", "solve"]

MOST_POSITIONS: Final = comb(MOST_CHECKERS + BAR, BAR) ** 2
"""The most positions that are solved: 10,732,176, those of three checkers a side."""
RESIDUAL: Final = 1e-6
"""The largest residual of a solution, in points."""
_STILL: Final = 1e-9
"""Sweeps end when no value changes by more."""
_OVERHEAD: Final = 400 << 20
_MOST_THREADS: Final = 256

Floats = npt.NDArray[np.float64]


class Size(NamedTuple):
    """The size of a solution.

    Attributes:
        positions: pairs of boards, the one on roll and the other.
        standing: those of them that can stand on a board, with checkers left on both sides.
        memory: bytes of memory that `solve` takes, about.
        file: bytes of the finished file; `solve` takes twice as much on the disk.
    """

    positions: int
    standing: int
    memory: int
    file: int

    def __str__(self) -> str:
        memory, disk = (f"{max(size / 1e6, 1):,.0f} MB" for size in (self.memory, 2 * self.file))
        return f"{self.positions:,} positions ({self.standing:,} can stand): about {memory} of memory, {disk} on the disk"


class Sweep(NamedTuple):
    """The state of a computation after a sweep.

    Attributes:
        number: of the sweep, from 1; 0 before the first.
        change: the largest change of a value in it, in points; infinite before the first.
        seconds: since the call of `solve`.
        done: the share of the work that is done, 0 to 1, estimated from the changes.
    """

    number: int
    change: float
    seconds: float
    done: float


def size_of(variant: VariantLike | Settings, cube: bool = False) -> Size:
    """The size of the solution of a game; arguments and errors as those of `solve`."""
    kind = _kind(variant, cube)
    pairs = kind.shape[0] ** 2
    return Size(pairs, standing(boards_of(kind.variant.checkers)), _OVERHEAD * (pairs > 1 << 20) + 2 * kind.size, kind.size)


def solve(
    variant: VariantLike | Settings,
    cube: bool = False,
    *,
    num_threads: int = 2,
    path: str | Path | None = None,
    progress: Callable[[Sweep], object] | None = None,
) -> Solution:
    """The exact values of money play of a variant with up to three checkers a side.

    They are found by value iteration: sweeps over all positions until no value changes by more than 1e-9 points, and a last one
    that measures the residual, at most 1e-6. Three checkers a side are 10,732,176 positions; `size_of` says what that takes.
    The numbers do not depend on the number of threads.

    Args:
        variant: a variant, its name, or settings of money play, which also say whether there is a cube.
        cube: whether to find the values with the cube as well, centred and on either side; it has no limit.
        num_threads: threads that work, 1 to 256.
        path: of a file that keeps each finished sweep, and the solution at the end, which is then mapped into memory. If it is
            there, the computation goes on from it; a solution is returned at once. None: nothing is kept.
        progress: called before the first sweep and after each. What it raises ends the computation.

    Raises:
        SettingsError: there are too many positions, the game is a match, has the Jacoby rule, beavers or the 1-2 bonus, an
            argument is out of range, or the file is for another game, was not written by `solve`, or is damaged.
        OSError: the file cannot be written, or there is no space for it; finished sweeps are kept.
    """
    begun = time.monotonic()
    kind = _kind(variant, cube)
    threads = checked_whole("num_threads", num_threads, 1, _MOST_THREADS)
    if progress is not None and not callable(progress):
        msg = "progress is a function of a Sweep, or None"
        raise SettingsError(msg)
    file = None if path is None else SweepFile(path, kind)
    saved, values = (None, None) if file is None else file.contents[1:]
    if saved is not None and saved.residual is not None and file is not None:
        return Solution.load(file.path)
    boards = boards_of(kind.variant.checkers)
    old = ended(boards, kind.cube) if values is None else np.array(values)
    number, change = (0, math.inf) if saved is None else saved[:2]
    tell = progress or (lambda _: None)
    first = 3.0

    def state() -> Sweep:
        done = 0.0 if number == 0 else max(0.0, min(1.0, math.log(first / max(change, _STILL)) / math.log(first / _STILL)))
        return Sweep(number, change, time.monotonic() - begun, done)

    tell(state())
    new = np.empty_like(old)
    with Sweeper(boards, plays_of(kind.variant.checkers), threads) as sweeper:
        while True:
            while change > _STILL:
                np.copyto(new, old)
                change = sweeper.best(old, new, new, old, leave=number > 0)
                old, new, number = new, old, number + 1
                if file is not None:
                    file.save(old, number, change)
                tell(state())
            np.copyto(new, old)
            residual = sweeper.best(old, old, new, old)
            if residual <= RESIDUAL:
                break
            change = residual
    if file is None:
        return Solution(kind.variant, kind.cube, old, number, residual)
    file.save(old, number, change, residual)
    return Solution.load(file.path)


def _kind(variant: Any, cube: Any) -> Kind:
    """The game to solve.

    Raises:
        SettingsError: it cannot be solved.
    """
    with_cube = checked_flag("cube", cube)
    if isinstance(variant, Settings):
        settings = variant
        if not settings.money:
            msg = f"solved is money play, not a match to {settings.match_length}: leave match_length out"
            raise SettingsError(msg)
        if settings.jacoby and settings.cube:
            msg = "the Jacoby rule is not supported by exact.solve: solved is money play in which all gammons count"
            raise SettingsError(msg)
        if settings.beavers or settings.auto_doubles:
            name = "beavers" if settings.beavers else "auto_doubles"
            msg = f"{name} is not supported by exact.solve: solved is a cube that is doubled, taken or dropped"
            raise SettingsError(msg)
        with_cube = with_cube or settings.cube
    found: Variant = variant.variant if isinstance(variant, Settings) else variant_of(variant)
    if found.acey_deucey:
        msg = f"{found.name} is not supported by exact.solve: a roll of 1-2 earns more rolls in it (R10.6)"
        raise SettingsError(msg)
    boards = comb(found.checkers + BAR, BAR)
    if boards**2 > MOST_POSITIONS:
        msg = (
            f"{found.name} has {boards**2:,} positions ({found.checkers} checkers a side): at most {MOST_POSITIONS:,}, those "
            f"of {MOST_CHECKERS} checkers a side, can be solved"
        )
        raise SettingsError(msg)
    return Kind(found, with_cube, (boards, boards, len(CUBES)) if with_cube else (boards, boards))
