"""Work of a rollout: blocks of trials until there are enough, and the figures of each state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_seed, checked_whole, is_flag, is_number
from bg_env.equity import LONGEST
from bg_env.errors import SettingsError, quoted
from bg_env.evaluation.trials import STRATA, Ends, Trials, strata_of
from bg_env.players import ValuePlayer, player_for
from bg_env.players.protocol import name_of
from bg_env.rules import Phase, Settings, States

__all__ = ["Options", "Progress", "Row", "Work", "without_limit"]

MOST_GAMES: Final = 10_000_000
MOST_THREADS: Final = 1024
_WON: Final = slice(0, 3)
_LOST: Final = slice(3, 6)
_PLAIN: Final = 4 * STRATA
"""Trials between two looks at the standard error where luck is not measured and few states are rolled out."""

Floats = npt.NDArray[np.float64]
Progress = Callable[[int], object]


def without_limit(settings: Settings) -> Settings:
    """The settings without a limit of turns."""
    return settings.but(max_turns=None) if settings.max_turns else settings


class Options(NamedTuple):
    """The options of a rollout, as of `bg_env.rollout`."""

    games: int
    truncate: int | None
    luck: Any
    standard_error: float | None
    seed: int
    num_threads: int
    progress: Progress | None


class Row(NamedTuple):
    """The trials of one state, on the scale of its equity to seat 0."""

    values: Floats
    plain: Floats
    shares: Floats
    strata: int
    exact: bool

    def mean(self, values: Floats) -> tuple[float, float]:
        """The mean of a value for each trial, and its standard error, without the spread between the first rolls."""
        mean = float(values.mean())
        n = len(values)
        if self.exact:
            return mean, 0.0
        if n < 2:
            return mean, math.inf
        if n < 2 * self.strata:
            return mean, float(values.std(ddof=1)) / math.sqrt(n)
        place = np.arange(n) % self.strata
        counts = np.bincount(place)
        middle = np.bincount(place, values) / counts
        squares = float(np.sum((values - middle[place]) ** 2))
        return mean, math.sqrt(squares / (n - self.strata) / n)

    def probabilities(self, seat: int = 0) -> tuple[Floats, Floats]:
        """The probabilities of results, less what the luck explains of them, and their standard errors.

        Returns:
            float64 (6,): that `seat` wins, wins at least a gammon, wins a backgammon, and the same of losing.
        """
        luck = self.plain - self.values
        shares, centred = np.roll(self.shares, 3, axis=1) if seat else self.shares, luck - luck.mean()
        shares = np.concatenate([np.cumsum(shares[:, half][:, ::-1], axis=1)[:, ::-1] for half in (_WON, _LOST)], axis=1)
        square = float(centred @ centred)
        if square > 0 and len(luck) >= STRATA:
            shares = shares - np.outer(luck, (centred @ (shares - shares.mean(axis=0))) / square)
        means, errors = np.array([self.mean(np.ascontiguousarray(column)) for column in shares.T]).T
        means = np.clip(means, 0, 1)
        for half in (_WON, _LOST):
            means[half] = np.minimum.accumulate(means[half])
        return means, errors


class Work:
    """The checked options of a rollout, and its work."""

    def __init__(self, settings: Settings, player: Any, options: Options) -> None:
        if not isinstance(settings, Settings):
            msg = f"states are rolled out under a bg_env.Settings, not under {quoted(settings)}"
            raise SettingsError(msg)
        self.games = checked_whole("games", options.games, 1, MOST_GAMES)
        self.truncate = None if options.truncate is None else checked_whole("truncate", options.truncate, 1)
        self.target = options.standard_error
        if self.target is not None and not is_number(self.target, 1e-9, 10):
            msg = f"standard_error is a number of points above 0, or None for all games, not {quoted(self.target)}"
            raise SettingsError(msg)
        self.seed = checked_seed(options.seed, 2**63 - 1)
        self._threads = checked_whole("num_threads", options.num_threads, 1, MOST_THREADS)
        self._settings = without_limit(settings)
        self._player = player_for(player, self._settings)
        self.name = name_of(self._player)
        own = isinstance(self._player, ValuePlayer) and self._player.net.kind == "odds"
        luck = options.luck
        if luck is None or (is_flag(luck) and not luck):
            self._luck: Any = None
        elif is_flag(luck):
            self._luck = self._player if own else player_for("td", self._settings)
        elif isinstance(luck, str) and luck != "fast":
            self._luck = player_for(luck, self._settings)
        else:
            self._luck = luck
        named = isinstance(self._luck, str)
        self.luck_name = None if self._luck is None else str(self._luck) if named else name_of(self._luck)
        cutting = next((one for one in (self._player, self._luck) if _has_values(one)), None)
        self._evaluator = (cutting or player_for("td", self._settings)) if self.truncate is not None else None
        self._progress = options.progress
        self._trials()  # raises before anything is played

    def _trials(self) -> Trials:
        return Trials(
            self._player,
            self._settings,
            evaluator=self._evaluator,  # type: ignore[arg-type] # a ValuePlayer
            luck=self._luck,
            truncate=self.truncate,
            seed=self.seed,
            threads=self._threads,
        )

    def match_scale(self, before: States, seat: int) -> tuple[float, float] | None:
        """See `Rollout.scale`; None also where the match equity table does not cover the score."""
        need = self._settings.match_length - int(_before_end(before)[0]["score"].min())
        if self._settings.money or need > LONGEST:
            return None
        won, lost = self._trials().scales(_before_end(before))[0].tolist()
        return (won, lost) if seat == 0 else (1 - lost, 1 - won)

    def results(self, starts: States, decision: States | None = None) -> tuple[list[Row], bool]:
        """The trials from each state, and whether they are complete.

        Args:
            starts: STATE (n,).
            decision: STATE (1,), the decision whose candidates the states are, which gives the scale of the equities; None if
                each state has its own.

        Raises:
            KeyboardInterrupt: before a block of trials was finished.
        """
        trials = self._trials()
        try:
            blocks, complete = self._blocks(trials, starts, decision)
        finally:
            trials.close()
        strata = strata_of(starts, self._settings)
        rows = []
        for k, parts in enumerate(blocks):
            values, luck, shares, rolls = (np.concatenate(some) for some in zip(*parts, strict=True))
            rows.append(Row(values - luck, values, shares, int(strata[k]), bool((rolls == 0).all())))
        return rows, complete

    def _blocks(self, trials: Trials, starts: States, decision: States | None) -> tuple[list[list[Ends]], bool]:
        """The trials of each state in blocks, on the scale of its equity, and whether they are complete."""
        n = len(starts)
        over = (starts["winner"] >= 0) | (starts["phase"] == Phase.OVER)
        ended = _before_end(starts)
        scales = np.broadcast_to(trials.scales(ended if decision is None else decision), (n, 2))
        blocks = [[_scaled(trials.ended(ended[k : k + 1]), scales[k])] if over[k] else [] for k in range(n)]
        strata = strata_of(starts, self._settings)
        size = STRATA if self._luck is not None else max(STRATA, _PLAIN // max(n, 1) // STRATA * STRATA)
        going, done = np.flatnonzero(~over), 0
        try:
            while done < self.games and len(going):
                count = min(size, self.games - done)
                found = trials.run(starts[going], done, count)
                for m, k in enumerate(going.tolist()):
                    blocks[k].append(_scaled(found.part(m * count, (m + 1) * count), scales[k]))
                done += count
                if self._progress is not None:
                    self._progress(count * len(going))
                left = np.array([k for k in going.tolist() if not self._enough(blocks[k], int(strata[k]))], np.int64)
                together = decision is not None and self.target is not None and len(left)
                going = going if together else left
        except KeyboardInterrupt:
            if not all(blocks):
                raise
            return blocks, False
        return blocks, True

    def _enough(self, parts: list[Ends], strata: int) -> bool:
        """Whether a state needs no more trials: its value is exact, or the standard error is small enough."""
        if all((part.rolls == 0).all() for part in parts) and np.ptp(np.concatenate([part.values for part in parts])) == 0:
            return True
        if self.target is None:
            return False
        values = np.concatenate([part.values - part.luck for part in parts])
        return len(values) >= 2 * strata and Row(values, values, parts[0].shares, strata, False).mean(values)[1] <= self.target


def _has_values(player: Any) -> bool:
    return isinstance(player, ValuePlayer) and player.net.kind == "odds"


def _scaled(ends: Ends, scale: Floats) -> Ends:
    """Trials on the scale on which a single game won is 1 and one lost is -1; their values are given in `scale`."""
    won, lost = scale
    return ends._replace(values=(2 * ends.values - won - lost) / (won - lost), luck=2 * ends.luck / (won - lost))


def _before_end(states: States) -> States:
    """The states, those in which a game has just ended with the score and the cube that it was played at."""
    found: States = states.copy()
    at = np.flatnonzero(found["winner"] >= 0)
    won = found["won"][at]
    found["cube"][at] = np.log2(won // np.maximum(found["level"][at], 1)).astype(np.int8)
    found["crawford"][at] = found["was_crawford"][at]
    found["score"][at, found["winner"][at]] -= won
    return found
