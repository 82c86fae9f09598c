"""Trials of a rollout: games played on from given states on stratified dice, to their end or to a number of rolls.

Trial t of every state has the same dice. The first roll of 36 trials in a row is each of the 36 rolls once, and so is the
second; 1,296 trials have each pair of them once. The order is drawn from the seed, and later rolls are independent. An opening
throw without ties has 30 rolls in the place of the first 36. The dice are those of a key for which the generator gives the two
rolls, found by trying keys, so that they are a function of the key as in any other game.

A trial ends with the game; where the exact two-sided bear-off table covers the board, in money play and where no cube is in
play in a match; or before a roll, once enough rolls have been made. Values are those of seat 0: points in money play, chances
to win the match in a match, and where the match equity table does not cover the score as `bg_env.evaluation.luck` has it.
"""

from __future__ import annotations

import itertools
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env import exact
from bg_env._jit import CACHE_DIR, kernel
from bg_env.actions import why_illegal_text
from bg_env.equity import LONGEST
from bg_env.errors import IllegalActionError
from bg_env.evaluation.luck import ROLLERS, LuckMeter
from bg_env.players import Player, PlayPlayer, ValuePlayer, ask
from bg_env.players.janowski import CubeLines, cube_lines, cube_values, value_of_points
from bg_env.players.protocol import name_of
from bg_env.rules import (
    CHOICE,
    COPY,
    OFF,
    STEPS,
    Phase,
    Rules,
    Settings,
    States,
    apply,
    draw,
    episode_key,
    settle,
    word,
)
from bg_env.rules.legal import is_legal, legal_sets

__all__ = ["STRATA", "Ends", "Stopped", "Trials", "strata_of"]

STRATA: Final = 36
"""Rolls of a stratum of trials; of an opening throw without ties 30."""
_UNEQUAL: Final = 30
_OUTCOMES: Final = 6
_FIRST = np.int64(0)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Stopped(Exception):  # noqa: N818 - no error: another thread asked for it
    """The trials are to be given up."""


class Ends(NamedTuple):
    """The ends of n trials.

    Attributes:
        values: float64 (n,), to seat 0.
        luck: float64 (n,), of the rolls, to seat 0; zeros where it is not measured.
        shares: float64 (n, 6): seat 0 wins 1, 2, 3 times the stake, and loses them; where the game was not played to its end,
            the probabilities.
        rolls: int64 (n,), rolls made.
    """

    values: Floats
    luck: Floats
    shares: Floats
    rolls: Integers

    def part(self, lo: int, hi: int) -> Ends:
        """Those of the trials `lo` to `hi` - 1, views."""
        return Ends(self.values[lo:hi], self.luck[lo:hi], self.shares[lo:hi], self.rolls[lo:hi])

    @classmethod
    def empty(cls, n: int) -> Ends:
        """Ends to be written."""
        return cls(np.zeros(n), np.zeros(n), np.zeros((n, _OUTCOMES)), np.zeros(n, np.int64))


def strata_of(states: States, settings: Settings) -> Integers:
    """The number of different first rolls of trials from each state, int64 (n,)."""
    opening = states["phase"] == Phase.OPENING
    ties = (states["ties"] < settings.auto_doubles) & (states["cube"] < (settings.cap_log2 if settings.cube else 0))
    return np.where(opening & ~ties, _UNEQUAL, STRATA).astype(np.int64)


@kernel
def _find_keys(seed: np.uint64, first: int, orders: Integers, keys: npt.NDArray[np.uint64]) -> None:
    """The keys of the trials from number `first` on, whose first two rolls are the ones that are due.

    Args:
        seed: of the rollout.
        first: number of the first trial.
        orders: int64 (2, 36), the orders of the first and of the second rolls, each as 6 times the first die, and the second,
            less 7; only the first 30 of the first row count where its last number is negative: unequal dice.
        keys: uint64 (n,), written.
    """
    unequal = orders[0, 35] < 0
    rolls = _UNEQUAL if unequal else STRATA
    for k in range(keys.shape[0]):
        t = first + k
        one = orders[0, t % rolls]
        two = orders[1, (t // rolls + t % rolls) % STRATA]
        base = episode_key(seed, t)
        tried = np.int64(0)
        while True:
            key = word(base, COPY, tried)
            tried += 1
            d1, d2 = draw(key, 0, unequal)
            if 6 * d1 + d2 - 7 == one:
                d1, d2 = draw(key, 1, False)
                if 6 * d1 + d2 - 7 == two:
                    break
        keys[k] = key


@kernel
def _draw_words(states: States, words: npt.NDArray[np.uint64]) -> None:
    """A random word of its own for each decision."""
    for i in range(states.shape[0]):
        words[i] = word(states[i]["key"], CHOICE, states[i]["choices"])
        states[i]["choices"] += 1


@kernel
def _gain(states: States, i: int, rules: Rules, points: int) -> float:
    """The value to seat 0 of the end of the game in state `i`, not yet counted in the score, with its points."""
    value: float = value_of_points(states, i, rules, _FIRST, points)
    length = np.int64(rules[0]["match_length"])
    need = length - min(np.int64(states[i]["score"][0]), np.int64(states[i]["score"][1]))
    if length and need > LONGEST:
        value *= 0.85 / (need + 6)
    return value


@kernel
def _make(before: States, after: States, choices: Integers, whole: npt.NDArray[np.bool_], rules: Rules, values: Floats) -> int:
    """Make the choices, without dice that fall due.

    Args:
        before: STATE (n,).
        after: STATE (n,), equal; afterwards the states after the choices.
        choices: int64 (n, 4), actions, -1 after the last one.
        whole: bool (n,), whether these are to be all of a roll.
        rules: the RULES record.
        values: float64 (n,), written where the game has ended: to seat 0.

    Returns:
        The first choice that is not legal, or -1.
    """
    for i in range(before.shape[0]):
        for m in range(choices.shape[1]):
            action = choices[i, m]
            if action < 0 and m > 0:
                break
            high, low = legal_sets(after, i)
            playing = after[i]["phase"] == Phase.CHECKER and after[i]["turn"] == before[i]["turn"]
            if action < 0 or action >= rules[0]["actions"] or (whole[i] and (action >= STEPS or not playing)):
                return i
            if not is_legal(after, i, rules, high, low, action):
                return i
            apply(after, i, rules, action)
            if after[i]["winner"] >= 0:
                points = np.int64(after[i]["won"])
                values[i] = _gain(before, i, rules, points if after[i]["winner"] == 0 else -points)
                if m + 1 < choices.shape[1] and choices[i, m + 1] >= 0:
                    return i
                break
        if whole[i] and after[i]["winner"] < 0 and after[i]["phase"] == Phase.CHECKER:
            return i
    return -1


@kernel
def _roll(states: States, rules: Rules) -> None:
    """Throw the dice that are due."""
    for i in range(states.shape[0]):
        settle(states, i, rules)


@kernel
def _value(states: States, rules: Rules, probabilities: Floats, life: float, arrays: tuple[Any, ...], values: Floats) -> None:
    """The values to seat 0 of states before a roll, by Janowski's model from the probabilities of the player on roll."""
    lines = CubeLines(*arrays)
    for i in range(states.shape[0]):
        live = rules[0]["cube"] != 0 and states[i]["crawford"] == 0
        found = cube_values(states, i, rules, probabilities, i, life if live else 0.0, lines)
        value = found.stands
        if live and states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
            value = max(value, min(found.taken, found.dropped))
        length = np.int64(rules[0]["match_length"])
        need = length - min(np.int64(states[i]["score"][0]), np.int64(states[i]["score"][1]))
        if states[i]["turn"] == 0:
            values[i] = value
        elif length and need <= LONGEST:
            values[i] = 1.0 - value
        else:
            values[i] = -value
        if length and need > LONGEST:
            values[i] *= 0.85 / (need + 6)


@kernel
def _scale(states: States, rules: Rules, scales: Floats) -> None:
    """The values to seat 0 of a single game won and lost now at the cube of each state, into `scales`, float64 (n, 2)."""
    for i in range(states.shape[0]):
        stake = np.int64(1) << np.int64(states[i]["cube"])
        scales[i, 0] = _gain(states, i, rules, stake)
        scales[i, 1] = _gain(states, i, rules, -stake)


@kernel
def _gains(states: States, rules: Rules, points: Integers, values: Floats) -> None:
    """The values to seat 0 of ends of games with these points, from states with the score before them."""
    for i in range(states.shape[0]):
        values[i] = _gain(states, i, rules, points[i])


class Trials:
    """The trials of a rollout.

    Args:
        player: who plays both sides, bound to `settings`.
        settings: the settings in force, without a limit of turns.
        evaluator: whose probabilities are the values where a trial is cut short, bound to `settings`; None if none is.
        luck: the player whose net measures the luck of the rolls; None not to measure it.
        truncate: rolls after which a trial is cut short; None to play every game to its end.
        seed: of the dice.
        threads: that work.
    """

    def __init__(
        self,
        player: Player | PlayPlayer,
        settings: Settings,
        *,
        evaluator: ValuePlayer | None,
        luck: Any,
        truncate: int | None,
        seed: int,
        threads: int,
    ) -> None:
        self._player, self._settings, self._evaluator = player, settings, evaluator
        self._truncate = math.inf if truncate is None else truncate
        self._meters = [None if luck is None else LuckMeter(luck, settings) for _ in range(threads)]
        self._rules, self._seed = settings.record(), np.uint64(seed)
        self._life = 0.0 if evaluator is None else evaluator.cube_life
        self._lock = None if isinstance(player, ValuePlayer) else threading.Lock()
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        has_table = bool(CACHE_DIR) and not settings.variant.acey_deucey
        self._table = exact.two_sided() if has_table else None
        shuffled = np.random.default_rng([0x726F6C6C, seed])
        self._orders = {rolls: np.full((2, STRATA), -1, np.int64) for rolls in (_UNEQUAL, STRATA)}
        every = np.arange(STRATA)
        for rolls, orders in self._orders.items():
            firsts = every if rolls == STRATA else every[every // 6 != every % 6]
            orders[0, :rolls], orders[1] = shuffled.permutation(firsts), shuffled.permutation(every)

    def close(self) -> None:
        """End the threads."""
        self._stop.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def scales(self, states: States) -> Floats:
        """The values to seat 0 of a single game won and lost now at the cube of each state: float64 (n, 2)."""
        found = np.empty((len(states), 2))
        _scale(states, self._rules, found)
        return found

    def ended(self, states: States) -> Ends:
        """The ends of games that are over, from states with the score before them."""
        found, won = Ends.empty(len(states)), np.where(states["winner"] == 0, states["won"], -states["won"])
        at = np.flatnonzero(states["winner"] >= 0)
        _gains(states, self._rules, won.astype(np.int64), found.values)
        found.shares[at, states["level"][at] - 1 + np.where(states["winner"][at] == 0, 0, 3)] = 1
        unfinished = states["winner"] < 0
        found.values[unfinished] = self.scales(states[unfinished]).mean(axis=1)
        return found

    def run(self, starts: States, first: int, count: int) -> Ends:
        """Trials `first` to `first + count - 1` from each of the states.

        Returns:
            The outcomes, (len(starts) * count) of them: all of the first state, then all of the second, and so on.
        """
        states = np.repeat(starts, count)
        strata = strata_of(starts, self._settings)
        keys = {int(rolls): np.empty(count, np.uint64) for rolls in np.unique(strata)}
        for rolls, found in keys.items():
            _find_keys(self._seed, first, self._orders[rolls], found)
        states["key"] = np.concatenate([keys[int(rolls)] for rolls in strata]) if len(starts) else 0
        states["rolls"] = states["choices"] = 0
        outcomes, threads = Ends.empty(len(states)), len(self._meters)
        bounds = [len(states) * k // threads for k in range(threads + 1)]
        parts = [(states[a:b], outcomes.part(a, b), k) for k, (a, b) in enumerate(itertools.pairwise(bounds))]
        if self._pool is None:
            self._play(*parts[0])
            return outcomes
        jobs = [self._pool.submit(self._play, *part) for part in parts]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            self._stop.set()
            raise
        return outcomes

    def _play(self, states: States, outcomes: Ends, thread: int) -> None:
        """Play the trials of one thread."""
        meter, luck = self._meters[thread], np.zeros((2 * len(states), ROLLERS))
        alive = np.flatnonzero(states["phase"] != Phase.OVER)
        alive = alive[~self._close(states[alive], alive, outcomes, states[alive]["rolls"] < 0)]
        due = alive[np.isin(states["phase"][alive], (Phase.OPENING, Phase.ROLL))]
        if len(due):
            states[due] = self._thrown(states[due], states[due], due, np.empty((len(due), 0), np.int64), meter, luck)
        while len(alive):
            if self._stop.is_set():
                raise Stopped
            before = states[alive]
            words = np.empty(len(alive), np.uint64)
            _draw_words(before, words)
            choices, whole = self._ask(before, words)
            after, values = before.copy(), np.zeros(len(alive))
            bad = _make(before, after, choices, whole, self._rules, values)
            if bad >= 0:
                self._refuse(before, bad, choices[bad], bool(whole[bad]))
            over = after["winner"] >= 0
            self._end(alive[over], before[over], after[over], values[over], outcomes)
            going = np.flatnonzero(~over)
            cut = after["rolls"][going] >= self._truncate
            going = going[~self._close(after[going], alive[going], outcomes, cut)]
            alive = alive[going]
            states[alive] = self._thrown(before[going], after[going], alive, choices[going], meter, luck)
        outcomes.luck[:] = luck[::2].sum(axis=1)

    def _ask(self, states: States, words: npt.NDArray[np.uint64]) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """The player's choices (n, 4), and which of them are whole plays."""
        if self._lock is None:
            chosen = ask(self._player, states.copy(), words)
        else:
            with self._lock:
                chosen = ask(self._player, states.copy(), words)
        choices, whole = np.full((len(states), 4), -1, np.int64), np.zeros(len(states), np.bool_)
        choices[chosen.moving], whole[chosen.moving] = chosen.plays, True
        choices[chosen.acting, 0] = chosen.actions
        return choices, whole

    def _refuse(self, states: States, i: int, choice: Integers, whole: bool) -> None:
        """Report a choice that is not legal.

        Raises:
            IllegalActionError: always.
        """
        name = name_of(self._player)
        if whole:
            msg = f"{name} gave the play {choice.tolist()}, not a legal one, in a rollout"
        else:
            reason = why_illegal_text(states, i, self._settings, int(choice[0]), self._rules)
            msg = f"{name} chose an illegal action in a rollout: {reason}"
        raise IllegalActionError(msg)

    def _thrown(
        self, before: States, after: States, rows: Integers, choices: Integers, meter: LuckMeter | None, luck: Floats
    ) -> States:
        """The states after the choices in `before`, and after the dice that are due then; their luck is added."""
        if not len(rows):
            return after
        if meter is None:
            _roll(after, self._rules)
            return after
        meter.follow(before, 2 * rows, choices, luck)
        return before

    @staticmethod
    def _end(rows: Integers, before: States, after: States, values: Floats, outcomes: Ends) -> None:
        """Note the outcomes of games that have ended."""
        outcomes.values[rows], outcomes.rolls[rows] = values, before["rolls"]
        outcomes.shares[rows, after["level"] - 1 + np.where(after["winner"] == 0, 0, 3)] = 1

    def _close(self, states: States, rows: Integers, outcomes: Ends, cut: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Note the outcomes of states before a roll that are known exactly, and of those to be cut short; which these are."""
        ready = np.isin(states["phase"], (Phase.ROLL, Phase.ROLL_OR_DOUBLE))
        known = ready & self._covered(states)
        cut = cut & ready & ~known
        for which, value in ((known, self._known), (cut, self._guessed)):
            if not which.any():
                continue
            some, at = states[which], rows[which]
            values, shares = value(some)
            outcomes.values[at], outcomes.rolls[at] = values, some["rolls"]
            turned = some["turn"] == 1
            shares[turned] = np.roll(shares[turned], 3, axis=1)
            outcomes.shares[at] = shares
        found: npt.NDArray[np.bool_] = known | cut
        return found

    def _covered(self, states: States) -> npt.NDArray[np.bool_]:
        """Which states the two-sided table has values of."""
        if self._table is None or not len(states):
            return np.zeros(len(states), np.bool_)
        points = states["points"]
        found: npt.NDArray[np.bool_] = np.logical_not(points[:, :, 7:].any(axis=(1, 2)))
        found &= (points[:, :, OFF] > 0).all(axis=1)
        if found.any():
            found &= points[:, :, 1:7].sum(axis=2, dtype=np.int64).max(axis=1) <= self._table.checkers
        if self._settings.match_length and self._settings.cube:
            found &= states["crawford"] == 1
        return found

    def _known(self, states: States) -> tuple[Floats, Floats]:
        """The values to seat 0 of states that the table covers, and the probabilities as the player on roll sees them."""
        if self._table is None:
            return np.zeros(len(states)), np.zeros((len(states), _OUTCOMES))
        equities = self._table.equity(states)
        shares = np.zeros((len(states), _OUTCOMES))
        shares[:, 0], shares[:, 3] = (1 + equities) / 2, (1 - equities) / 2
        sign = np.where(states["turn"] == 0, 1, -1)
        if self._settings.money:
            return sign * self._table.value(states, self._settings), shares
        won, lost = self.scales(states).T
        return (won + lost) / 2 + sign * equities * (won - lost) / 2, shares

    def _guessed(self, states: States) -> tuple[Floats, Floats]:
        """As `_known`, by the evaluator."""
        values = np.zeros(len(states))
        if self._evaluator is None:
            return values, np.zeros((len(states), _OUTCOMES))
        found = self._evaluator.probabilities(states)
        _value(states, self._rules, found, self._life, tuple(cube_lines()), values)
        return values, found
