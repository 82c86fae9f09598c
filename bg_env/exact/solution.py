"""`Solution`: the exact values of all positions of a game with few checkers, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_flag, checked_name, checked_seed, checked_whole
from bg_env.errors import PositionError, SettingsError, printable
from bg_env.exact.boards import TOUCHED, Boards, Plays, board_numbers, boards_of, in_hand, plays_of
from bg_env.exact.boards import rolled as rolled_states
from bg_env.exact.measures import (
    Errors,
    Opening,
    best_choices,
    draw_decisions,
    errors_of,
    expected_visits,
    responses,
    sampled_errors,
)
from bg_env.exact.numbering import ROLLS
from bg_env.exact.phases import CUBELESS, CUBES, PhaseValues
from bg_env.exact.player import ExactPlayer
from bg_env.exact.policy import Asking, Decisions, Policy, evaluated
from bg_env.exact.sides import Sides, Where, sides_of
from bg_env.exact.sweep_file import read_contents
from bg_env.exact.sweeps import Sweeper
from bg_env.files import checked_path
from bg_env.rules import Settings, States, Variant

__all__ = ["Solution"]

_MANY: Final = 1000
"""From so many boards on, the plays of a greedy value player are found by its values."""

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
    _cached: dict[str, Any]

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

    def policy(
        self,
        player: Any,
        *,
        sampled: bool = False,
        seed: int = 1,
        num_threads: int = 2,
        progress: Callable[[float], object] | None = None,
    ) -> Policy:
        """The player's plays in all positions, which `errors`, `exploitability` and `best_response` also accept as the player.

        The player is asked about every roll that can be played to two results or more, on seat 0, without the cube; in
        Hypergammon that is 137 million times. A greedy `ValuePlayer` is asked for its value of each position instead, since its
        plays follow from these, but for plays whose values differ by less than the accuracy of its numbers.

        Args:
            player: a player, or its name.
            sampled: whether to take one draw of the plays of a player that draws them.
            seed: of the random words that the player gets.
            num_threads: threads that evaluate positions, 1 to 256.
            progress: called with the share that is done, from 0 to 1.

        Raises:
            SettingsError: there is no such player, it does not play this variant without the cube, or it draws its plays and
                `sampled` is False.
            IllegalActionError: it chose what is not legal.
        """
        asking = Asking(player, self.variant, checked_seed(seed))
        if not checked_flag("sampled", sampled):
            asking.check_deterministic()
            evaluate = asking.evaluation()
            if evaluate is not None and len(self.values) > _MANY:
                known = asking.decided_by_table
                return self._greedy(evaluate, asking.name, num_threads, progress, exactly=known)
        return Policy(asking.name, sampled, asking.everywhere(progress))

    def greedy_policy(
        self,
        evaluate: Callable[[States], npt.NDArray[Any]],
        name: str = "greedy",
        *,
        num_threads: int = 2,
        progress: Callable[[float], object] | None = None,
    ) -> Policy:
        """The plays of a player that always chooses the play after which the other side has the least value.

        Args:
            evaluate: the values of STATE records (n,), before a roll, to the player on roll: numbers (n,), higher for better.
                Games that are over are not asked; they have their points. It is called by several threads.
            name: of the player.
            num_threads: threads that evaluate positions, 1 to 256.
            progress: called with the share that is done, from 0 to 1.

        Raises:
            SettingsError: `evaluate` returned something else.
        """
        return self._greedy(evaluate, checked_name("a player's", name), num_threads, progress)

    def errors(
        self,
        player: Any,
        *,
        sample: int | None = None,
        seed: int = 1,
        progress: Callable[[float], object] | None = None,
    ) -> Errors:
        """The mean loss a decision of a player, over what perfect play meets and over all positions; see `Errors`.

        Args:
            player: a player or its name, or what `policy` returned.
            sample: the number of decisions to draw for each mean; None for all decisions, exactly. A player that draws its
                plays is measured by one draw for each decision.
            seed: of the draws, and of the random words that the player gets.
            progress: as of `policy`.

        Raises:
            SettingsError: as `policy`, or `sample` is no number of decisions.
            IllegalActionError: as `policy`.
        """
        visits, opening = self._met()
        values = self._plain()
        boards, plays = self._lists()
        if sample is not None:
            count = checked_whole("sample", sample, 2)
            rng = np.random.default_rng(checked_seed(seed))
            if isinstance(player, Policy):
                choices = player.choices
                return sampled_errors(
                    lambda asked: choices[asked.other, asked.own, asked.rolls].astype(np.int64),
                    boards, plays, values, visits, opening, count, rng,
                )  # fmt: skip
            ask = Asking(player, self.variant, seed).choices
            return sampled_errors(ask, boards, plays, values, visits, opening, count, rng)
        policy = player if isinstance(player, Policy) else self.policy(player, sampled=True, seed=seed, progress=progress)
        with Sweeper(boards, plays, 2) as sweeper:
            return errors_of(sweeper, policy.choices, values, visits, opening)

    def exploitability(self, player: Any, *, sampled: bool = False, seed: int = 1, num_threads: int = 2) -> float:
        """The points a game that the best response wins against a player, on average over the seats, without the cube.

        It is exact: value iteration with the player's choices fixed, until no value changes by more than 1e-8. 0 for perfect
        play, whatever it plays where plays are equal.

        Args:
            player: a player or its name, or what `policy` returned.
            sampled: for a player that draws its plays: whether to measure the player that plays one draw of them, the same each
                time that a position and roll occur. That is not the exploitability of the player that draws anew.
            seed: of the random words that the player gets.
            num_threads: threads that work, 1 to 256.

        Raises:
            SettingsError: as `policy`.
            IllegalActionError: as `policy`.
        """
        return self._response(player, sampled, seed, num_threads)[0]

    def best_response(self, player: Any, *, sampled: bool = False, seed: int = 1, num_threads: int = 2) -> ExactPlayer:
        """The player that wins most against the given one, without the cube; arguments and errors as of `exploitability`."""
        _, name, fixed, change = self._response(player, sampled, seed, num_threads)
        return ExactPlayer(Solution(self.variant, False, fixed, 0, change), f"best response to {name}")

    def sample(self, count: int, *, seed: int = 1, rolled: bool = True) -> States:
        """Positions drawn as perfect play meets them, cubeless, each side on roll as often as it is.

        Args:
            count: how many.
            seed: of the draws.
            rolled: whether the player on roll, seat 0, has rolled (phase CHECKER), so that only rolls that can be played are
                drawn; else its roll is due (phase ROLL).

        Returns:
            STATE (count,).
        """
        n = checked_whole("count", count, 1)
        rng = np.random.default_rng(checked_seed(seed))
        visits, opening = self._met()
        boards, plays = self._lists()
        found, left = [], n
        while left:
            asked = draw_decisions(boards, visits, opening, n, rng)
            if rolled:
                at = plays.offsets[boards.blocked[asked.other], asked.own * len(ROLLS) + asked.rolls]
                asked = asked.part(np.flatnonzero(plays.entries[at] != asked.own << TOUCHED))
            found.append(asked.part(slice(left)))
            left -= len(found[-1].own)
        drawn = Decisions(*(np.concatenate(fields) for fields in zip(*found, strict=True)))
        return in_hand(rolled_states(self.variant, rolled=rolled), boards, *drawn)

    def _lists(self) -> tuple[Boards, Plays]:
        return boards_of(self.variant.checkers), plays_of(self.variant.checkers)

    def _plain(self) -> Floats:
        """The cubeless values."""
        return np.ascontiguousarray(self.values[..., CUBELESS]) if self.cube else self.values

    def _met(self) -> tuple[Floats, Opening]:
        """How often perfect play meets each pair, and the first roll."""
        if "met" not in self._cached:
            boards, plays = self._lists()
            board = int(board_numbers(np.array([self.variant.start]))[0])
            opening = Opening.of(board, fresh=self.variant.fresh_first_roll)
            with Sweeper(boards, plays, 2) as sweeper:
                choices = best_choices(sweeper, self._plain())
            self._cached["met"] = expected_visits(boards, plays, choices, opening), opening
        found: tuple[Floats, Opening] = self._cached["met"]
        return found

    def _greedy(self, evaluate: Any, name: str, num_threads: int, progress: Any, exactly: Any = None) -> Policy:
        boards, plays = self._lists()
        with Sweeper(boards, plays, checked_whole("num_threads", num_threads, 1, 256)) as sweeper:
            values = evaluated(sweeper, self.variant, evaluate, progress)
            choices = best_choices(sweeper, values)
            if exactly is not None:
                chosen = exactly(boards)
                best = best_choices(sweeper, self._plain())
                choices[chosen] = best[chosen]
        return Policy(name, False, choices)

    def _response(self, player: Any, sampled: bool, seed: int, num_threads: int) -> tuple[float, str, Floats, float]:
        """The exploitability, the player's name, its values against the best response, and how exact they are."""
        threads = checked_whole("num_threads", num_threads, 1, 256)
        policy = player if isinstance(player, Policy) else self.policy(player, sampled=sampled, seed=seed)
        boards, plays = self._lists()
        board = int(board_numbers(np.array([self.variant.start]))[0])
        opening = Opening.of(board, fresh=self.variant.fresh_first_roll)
        with Sweeper(boards, plays, threads) as sweeper:
            best, fixed, change = responses(sweeper, policy.choices, self._plain())
        answers = np.zeros(len(ROLLS), np.int64)
        for r in range(len(ROLLS)):
            at = plays.offsets[boards.blocked[board], board * len(ROLLS) + r : board * len(ROLLS) + r + 2]
            tried = [opening.results(boards, plays, np.where(np.arange(len(ROLLS)) == r, e, 0)) for e in range(at[1] - at[0])]
            answers[r] = int(np.argmin([fixed[other[r], own[r]] for other, own in tried]))
        first = -(opening.weights * fixed[opening.results(boards, plays, answers)]).sum()
        choices = policy.choices[board, board].astype(np.int64)
        second = (opening.weights * best[opening.results(boards, plays, choices)]).sum()
        return float(first + second) / 2, policy.name, fixed, change

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
