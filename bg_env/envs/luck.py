"""Games of environments whose rewards have the luck of the dice subtracted.

The luck of a roll is subtracted from the reward of the step in which it falls: the rolls after the learner's action, the
opponent's and the learner's next one among them. See `bg_env.evaluation.luck`. Its expectation is 0 whatever is played, so
returns have the same expectation. Rolls of a reset or before the learner's first decision, and rolls that were given in
advance, count nowhere.

To see every roll, an opponent is asked from Python, also where a kernel would play for it; its decisions are the same.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.batch import kernels as batch
from bg_env.batch.batch import Games
from bg_env.batch.info import Info
from bg_env.batch.layout import OTHER_OPPONENT, RUNNING, SLOT, Report, Slots, View, copied
from bg_env.batch.one_game import FINISH, WAITING, step_once
from bg_env.batch.opponents import reply_once
from bg_env.batch.step import next_roll
from bg_env.envs.episode import Episode
from bg_env.errors import SettingsError
from bg_env.evaluation.luck import LuckMeter, luck_of, tools_of
from bg_env.options import EnvOptions
from bg_env.rewards import HIGHEST_LEVEL, MATCH, MWC, NORMALIZED, POINTS
from bg_env.rules import END_ILLEGAL, Phase, States, apply, apply_roll

__all__ = ["LuckyEpisode", "LuckyGames", "episode_of", "games_of"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FIRST: Final = np.int64(0)
_NO_CHOICES: Final = np.zeros((1, 0), np.int64)


@kernel
def _follow(
    states: States,
    slots: Slots,
    index: Integers,
    choices: Integers,
    dice: Integers,
    arrays: tuple[Any, ...],
    slot: Slots,
    luck: Floats,
) -> None:
    """Add to `luck` that of the rolls after the choice in each game of `index`, to player 0, but for rolls given in advance.

    Args:
        states: STATE (n,), before the choices.
        slots: SLOT (n,), likewise.
        index: int64 (m,), the games.
        choices: int64 (m, k), actions one after the other, -1 after the last.
        dice: of the `Batch`.
        arrays: the `Tools` of a measure by `plain`.
        slot: SLOT (1,), scratch.
        luck: float64 (n,).
    """
    tools = tools_of(arrays)
    work, rules = tools.work, tools.rules
    for m in range(index.shape[0]):
        i = index[m]
        work[0] = states[i]
        slot[0] = slots[i]
        for k in range(choices.shape[1]):
            if choices[m, k] < 0:
                break
            apply(work, _FIRST, rules, choices[m, k])
        while work[0]["phase"] == Phase.ROLL or work[0]["phase"] == Phase.OPENING:
            drawn = work[0]["rolls"]
            d1, d2 = next_roll(work, slot, _FIRST, rules, dice)
            if work[0]["rolls"] != drawn:
                luck[i] += luck_of(tools, d1, d2)
            apply_roll(work, _FIRST, rules, d1, d2)


def _scale(options: EnvOptions) -> float:
    """The reward of a unit of luck: of a point in money play, of a chance of 1 in a match.

    Raises:
        SettingsError: under this reward luck has no meaning.
    """
    settings, kind = options.settings, options.reward.kind
    if settings.money and kind == POINTS:
        return 1.0
    if settings.money and kind == NORMALIZED:
        return 1.0 / (HIGHEST_LEVEL << (settings.cap_log2 if settings.cube else 0))
    if not settings.money and kind in (MATCH, MWC):
        return 2.0 if kind == MATCH else 1.0
    played, known = ("money play", "'points' or 'normalized'") if settings.money else ("matches", "'match' or 'mwc'")
    msg = f"with luck the reward in {played} is {known}, not {options.reward.name!r}"
    raise SettingsError(msg)


class LuckyGames(Games):
    """`Games` with the luck of the dice subtracted from the rewards; `options.luck` is the evaluator.

    Raises:
        SettingsError: it measures no luck under these settings or for this reward.
    """

    def __init__(self, options: EnvOptions, n: int, **how: Any) -> None:
        self._unit = _scale(options)
        meter = LuckMeter(options.luck, options.settings)
        super().__init__(options, n, **how)
        self._meters = [copy(meter) for _ in self.ranges]
        self._luck = np.zeros(n)
        self._counts = False
        self._custom = True  # Python code runs between the parts of a step: an error in it undoes the step

    def set_opponent(self, opponent: Any) -> None:
        """Play against `opponent` from its next decision on."""
        super().set_opponent(opponent)
        if opponent is not None:
            self.plan["opponent"] = OTHER_OPPONENT

    def _add_luck(self, before: tuple[States, Slots], index: Integers, choices: Integers) -> None:
        """Add the luck of the rolls after the choices in the games of `index`, in ascending order."""

        def follow(lo: int, hi: int, *_: Any) -> None:
            first, end = np.searchsorted(index, (lo, hi))
            meter = self._meters[self.ranges.index((lo, hi))]
            _follow(*before, index[first:end], choices[first:end], self.dice, meter.arrays, np.zeros(1, SLOT), self._luck)

        if len(index):
            self.run(follow)

    def _ask_opponent(self, info: Info) -> None:
        if not self._counts or self.opponent is None:
            super()._ask_opponent(info)
            return
        while True:
            before = copied(self.states), copied(self.slots)
            decider, seat = self.states["decider"], self.slots["seat"]
            waiting = np.flatnonzero((self.slots["over"] == RUNNING) & (decider >= 0) & (decider != seat))
            choices = reply_once(self._batch, self.opponent, self.options, info, 0, self.n)
            if choices is None:
                return
            self._add_luck(before, waiting[choices.moving], choices.plays)
            self._add_luck(before, waiting[choices.acting], choices.actions.reshape(-1, 1))

    def _step_at_once(
        self,
        kind: int,  # noqa: ARG002 - the signature of `Games`
        whole: Any,  # noqa: ARG002
        in_turns: Any,  # noqa: ARG002
        first: Any,
        report: Report,
        view: View,
        chosen: tuple[Any, ...],
    ) -> None:
        self._step_by_parts(first, report, view, chosen)

    def _step_by_parts(self, first: Any, report: Report, view: View, chosen: tuple[Any, ...]) -> None:
        games, outcome, finals, info = self._batch, tuple(report), self._finals, report.info
        before = copied(self.states), copied(self.slots)
        self._luck[:] = 0
        self.run(lambda lo, hi, *_: first(games, *chosen, info, lo, hi))
        acted = (before[1]["over"] == RUNNING) & (self.states["ending"] != END_ILLEGAL)
        if len(chosen) == 2:  # candidates: the states after the decisions
            after, index = chosen
            before[0][acted] = after[index[acted]]
            choices = np.broadcast_to(_NO_CHOICES, (self.n, 0))
        else:
            choices = chosen[0].reshape(-1, 1)
        which = np.flatnonzero(acted)
        self._add_luck(before, which, np.ascontiguousarray(choices[which]))
        self._counts = True
        try:
            self._reply(info)
        finally:
            self._counts = False
        receiver = np.where(self.slots["seat"] >= 0, self.slots["seat"], self.slots["actor"])
        self.run(lambda lo, hi, *_: batch.report_games(games, outcome, finals, lo, hi))
        report.rewards[0] -= self._unit * np.where(receiver == 0, self._luck, -self._luck)
        self._reply(info)

        def close(lo: int, hi: int, *_: Any) -> None:
            batch.close_games(games, info, lo, hi)
            self._look(view, lo, hi)

        self.run(close)


class LuckyEpisode(Episode):
    """`Episode` with the luck of the dice subtracted from the rewards; see `LuckyGames`."""

    def __init__(self, options: EnvOptions, **how: Any) -> None:
        self._unit = _scale(options)
        self._meter = LuckMeter(options.luck, options.settings)
        self._luck = np.zeros(1)
        self._counts = False
        super().__init__(options, **how)

    def _find_way(self) -> None:
        super()._find_way()
        self._random, self._careful = False, True
        if self.opponent is not None:
            self.plan["opponent"], self._asks = OTHER_OPPONENT, True

    def _before(self) -> tuple[States, Slots]:
        return copied(np.ascontiguousarray(self.states)), copied(np.ascontiguousarray(self.slots))

    def _add_luck(self, before: tuple[States, Slots], actions: list[int]) -> None:
        choices = np.array([actions], np.int64)
        _follow(*before, np.zeros(1, np.int64), choices, self.dice, self._meter.arrays, np.zeros(1, SLOT), self._luck)

    def _turn(self, action: int) -> float:
        counts = bool(self.slots["over"][0] == RUNNING)
        before = self._before()
        self._luck[:] = 0
        reward, player = step_once(self._bytes, self.dice, action, self._mask)
        if counts and self.states["ending"][0] != END_ILLEGAL:
            self._add_luck(before, [action])
        if player == WAITING:
            self._counts = counts
            try:
                self._reply(self._info)
            finally:
                self._counts = False
            reward, player = step_once(self._bytes, self.dice, FINISH, self._mask)
        self.player = player
        return float(reward) - self._unit * float(self._luck[0])

    def _ask_opponent(self, info: Info) -> None:
        if not self._counts or self.opponent is None:
            super()._ask_opponent(info)
            return
        while True:
            before = self._before()
            choices = reply_once(self._batch, self.opponent, self.options, info, 0, 1)
            if choices is None:
                return
            if self._actions is not None:
                self._actions += choices.only()
            self._add_luck(before, choices.only())


def games_of(options: EnvOptions, n: int, **how: Any) -> Games:
    """The games of a vector environment, see `Games`, with luck subtracted where the options want it."""
    return Games(options, n, **how) if options.luck is None else LuckyGames(options, n, **how)


def episode_of(options: EnvOptions, **how: Any) -> Episode:
    """The game of an environment, see `Episode`, with luck subtracted where the options want it."""
    return Episode(options, **how) if options.luck is None else LuckyEpisode(options, **how)
