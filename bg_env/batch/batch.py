"""A batch of games and what can be done with all of them at once; it knows no RL library.

`VectorEnv` is the Gymnasium form of it. All arrays are indexed by the game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import config

from bg_env.actions import why_illegal_text
from bg_env.batch import kernels as batch
from bg_env.batch.checks import checked_actions, read_seeds
from bg_env.batch.given_dice import with_dice
from bg_env.batch.interrupts import Interruptible
from bg_env.batch.layout import (
    DUE,
    ENDED_UNSEEN,
    INFO,
    OTHER_OPPONENT,
    PLAN,
    PUBEVAL_OPPONENT,
    RANDOM_OPPONENT,
    RUNNING,
    SEAT_BY_KEY,
    SLOT,
    START,
    STAY,
    Arrays,
    Info,
    Report,
    View,
    copied,
)
from bg_env.batch.opponents import batch_opponent, opponent_kind, pubeval_finish, pubeval_for, pubeval_replies, reply
from bg_env.batch.shared_step import NO_TURNS, NOTHING, NUMBERS, all_or_none, play_in_turns, step_in_turns, turns_of
from bg_env.batch.threads import Call, Slices
from bg_env.errors import IllegalActionError
from bg_env.observations import ENCODERS, Encoder, check_encoder, write_rows
from bg_env.options import EnvOptions
from bg_env.reset_options import start_from
from bg_env.rewards import CUSTOM
from bg_env.rules import STATE, States

__all__ = ["Games", "Report", "View"]

FEWEST = 1024
"""A thread has at least so many games: fewer are done sooner than it is called."""
_NEVER = -2
"""Episode number of a game that has never had a seed."""
_CHECKS = 2
"""The first so many calls of a user's encoder are checked, in the first reset and the first step; then resets, in 64 games."""


def _is_custom(encoder: Encoder) -> bool:
    """Whether the encoder is one that the kernels do not call, as a user's own."""
    return encoder.name not in NUMBERS or ENCODERS.get(encoder.name) is not encoder


class Games(Interruptible):
    """`n` games under the same options, with the learner's seat and an opponent.

    Args:
        options: the checked arguments of the environment.
        n: number of games.
        opponent: see `bg_env.batch.opponents.batch_opponent`.
        seat: the learner's: 0, 1, or None for a bit of each episode's key.
        same_step: whether an episode begins in the step that ends the one before; if not, in the next step.
        limit: steps after which an episode is truncated, 0 for no limit.
        threads: how many threads share the games, at most; see FEWEST.
    """

    def __init__(
        self, options: EnvOptions, n: int, *, opponent: Any, seat: int | None, same_step: bool, limit: int, threads: int
    ) -> None:
        super().__init__()
        self.options = options
        self.n = n
        self.rules = options.settings.record()
        self.states = np.zeros(n, STATE)
        self.slots = np.zeros(n, SLOT)
        self.slots["episode"] = _NEVER
        self.slots["over"] = ENDED_UNSEEN
        self.sets = np.zeros((n, 2), np.int32)
        self.viewers = np.zeros(n, np.int8)
        self.plan = np.zeros(1, PLAN)
        self.plan["reward"] = options.reward.kind
        self.plan["seat"] = -1 if opponent is None else SEAT_BY_KEY if seat is None else seat
        self.plan["same_step"] = same_step
        self.plan["limit"] = limit
        self.ended = np.zeros(n if options.reward.kind == CUSTOM else 0, STATE)
        self.ended["winner"] = -1
        self.start = np.zeros(1, START)
        self.finals = np.zeros(n if same_step else 0, STATE)
        self.final_info = np.zeros((INFO + 1, n if same_step else 0), np.int32)
        self.custom_view = _is_custom(options.encoder)
        self._custom = self.custom_view or options.reward.kind == CUSTOM
        self._checks: Counter[tuple[str, Encoder]] = Counter()
        self._final_views = np.zeros((0, options.encoder.size), np.float32)
        self._scratch: dict[int, Arrays] = {}
        self._slices = Slices(n, min(threads, max(1, n // FEWEST)))
        self.set_opponent(opponent)

    def set_opponent(self, opponent: Any) -> None:
        """Play against `opponent` from its next decision on."""
        player = batch_opponent(opponent, self.options)
        kind = opponent_kind(player)
        self.opponent, self.plan["opponent"] = player, kind

    @property
    def _batch(self) -> Arrays:
        """The fields of a `Batch`."""
        return self.states, self.slots, self.rules, self.plan, self.dice, self.sets, self.ended, self.start

    @property
    def _finals(self) -> Arrays:
        """The fields of a `Finals`."""
        return self.finals, self.final_info

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Each thread's range of games."""
        return self._slices.ranges

    def run(self, call: Call, *, signals: bool = False) -> None:
        """Call it for every thread's range of games, and wait for all; see `bg_env.batch.threads.Slices.run`."""
        self._slices.run(call, signals=signals)

    def close(self) -> None:
        """End the threads."""
        self._slices.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scratch": {}}

    def save(self) -> tuple[Any, ...]:
        """All that changes in a step or a reset, for `restore`."""
        return copied(self.states), copied(self.slots), self._flags()

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Be as when `saved` was saved."""
        self.torn, self.begun = True, False
        self.states[:], self.slots[:], flags = saved
        self.ended["winner"] = -1
        batch.find_sets(self.states, self.sets)
        self._put_back(flags)

    # Stepping ---

    def begin(
        self,
        which: npt.NDArray[np.bool_],
        seed: int | Sequence[int | None] | None,
        start: Mapping[str, Any],
        report: Report,
        view: View,
    ) -> None:
        """Begin an episode in the games marked in `which`, with the seeds and the options of `VectorEnv.reset`, and look.

        Raises:
            BgEnvError: refused; all games are as they were.
        """
        seeds, seeded = read_seeds(seed, self.slots["episode"] == _NEVER, which)
        begin = start_from(start, self.options.settings)
        self.check_reset(which)
        saved = self.save()
        try:
            self.candidates = None
            self.slots["seed"][seeded] = seeds[seeded]
            self.slots["episode"][seeded] = -1
            self.dice, first = with_dice(self.slots, self.dice, which, begin.dice)
            self.start["given"] = begin.changes
            if begin.changes:
                begin.make(self.start["state"], self.rules, self.options.settings, 0)
            self.start["first_roll"], self.start["starter"] = first, -1 if begin.starter is None else begin.starter
            self.slots["over"][which] = DUE
            self._begin_due(np.where(which, 0, STAY), report, view)
            self.torn, self.begun = False, True
        except BaseException as error:
            self.torn, self.begun = True, False
            self.restore(saved)
            self.undone = error
            raise

    def _begin_due(self, actions: npt.NDArray[np.int64], report: Report, view: View) -> None:
        """Begin the episodes that are due, where the actions are not STAY, and look."""
        kind = self.plan[0]["opponent"]
        if kind != OTHER_OPPONENT and not self._custom:
            self._step_at_once(kind, batch.step_games, step_in_turns, batch.open_games, report, view, (actions,))
        else:
            games, info = self._batch, report.info
            self.run(lambda lo, hi, *_: batch.open_games(games, actions, info, lo, hi))
            self._reply(info)
            self.run(lambda lo, hi, *_: batch.close_games(games, info, lo, hi))
            if self.custom_view:  # a trial: what is wrong with it is to be found while the games can be put back
                self._try_encoder()
            self.look(view)
        self.some_over = bool((self.slots["over"] != RUNNING).any())

    def check(self, actions: Any) -> npt.NDArray[np.int64]:
        """The actions of the next step as int64 (n,).

        Raises:
            IllegalActionError: they are not that, or one is out of range or, under `illegal="raise"`, not legal.
        """
        over = self.slots["over"] if self.some_over else None
        chosen = checked_actions(actions, self.options.settings.actions, over, self.n)
        if self.options.illegal == "raise":
            i = batch.first_illegal(self._batch, chosen)
            if i >= 0:
                reason = why_illegal_text(self.states, i, self.options.settings, int(chosen[i]), self.rules)
                msg = f"game {i}: {reason}"
                raise IllegalActionError(msg)
        return chosen

    def step(self, actions: npt.NDArray[np.int64], report: Report, view: View) -> npt.NDArray[np.bool_]:
        """Do checked actions, and look; the games that ended in this step, bool (n,).

        Raises:
            IllegalActionError: the opponent gave an illegal action or play; all games are as they were.
        """
        return self._step(batch.step_games, step_in_turns, batch.open_games, report, view, actions)

    def step_plays(self, after: States, index: npt.NDArray[np.int64], report: Report, view: View) -> npt.NDArray[np.bool_]:
        """Go to the candidates of `after` that `index` chooses, which are checked; as `step`."""
        return self._step(batch.step_plays, play_in_turns, batch.open_plays, report, view, after, index)

    def _step(self, whole: Any, in_turns: Any, first: Any, report: Report, view: View, *chosen: Any) -> npt.NDArray[np.bool_]:
        kind = self.plan[0]["opponent"]
        done: npt.NDArray[np.bool_]
        if kind == OTHER_OPPONENT or self._custom:  # a user's code may fail
            saved = self.save()
            try:
                self.candidates, self.some_over = None, True
                if kind == OTHER_OPPONENT or len(self.ended):
                    self._step_by_parts(first, report, view, chosen)
                else:
                    self._step_at_once(kind, whole, in_turns, first, report, view, chosen)
                done = report.ends[0] | report.ends[1]
                self._observe_step(view, done)
            except BaseException as error:
                self.torn, self.begun = True, False
                self.restore(saved)
                self.undone = error
                raise
        else:
            self.candidates, self.some_over = None, True
            self._step_at_once(kind, whole, in_turns, first, report, view, chosen)
            done = report.ends[0] | report.ends[1]
        self.some_over = bool(done.any())
        return done

    def _step_at_once(
        self, kind: int, whole: Any, in_turns: Any, first: Any, report: Report, view: View, chosen: tuple[Any, ...]
    ) -> None:
        """A step that kernels do by themselves, on all threads; if it is interrupted, the games may be torn."""
        games, outcome, finals, seen = self._batch, tuple(report), self._finals, (self.viewers, view.mask)
        several = len(self.ranges) > 1 and kind != PUBEVAL_OPPONENT
        turns = turns_of(self.ranges) if several else NO_TURNS

        def work(lo: int, hi: int, *_: Any) -> None:
            first(games, *chosen, report.info, lo, hi)
            pubeval_finish(games, outcome, finals, seen, self._pubeval(lo), lo, hi)
            self._encode(view, lo, hi)

        def turn(lo: int, _hi: int, started: npt.NDArray[np.int64], count: int) -> None:
            in_turns(games, *chosen, outcome, finals, shown, (*turns, started), lo, count)

        try:
            if kind == PUBEVAL_OPPONENT:
                self.run(work)
            elif several:
                shown = self._shown(view)
                self.run(turn, signals=True)
            else:
                whole(games, *chosen, outcome, finals, seen, 0, self.n)
                self._encode(view, 0, self.n)
        except BaseException:
            self.torn, self.begun = True, False
            if kind != PUBEVAL_OPPONENT and not config.DISABLE_JIT and all_or_none(*turns):
                self.torn, self.begun = False, True
            raise

    def _step_by_parts(self, first: Any, report: Report, view: View, chosen: tuple[Any, ...]) -> None:
        """A step with Python code between its parts: a player, asked for all games at once, or a user's reward."""
        games, outcome, finals, info = self._batch, tuple(report), self._finals, report.info
        self.run(lambda lo, hi, *_: first(games, *chosen, info, lo, hi))
        self._reply(info)
        self.run(lambda lo, hi, *_: batch.report_games(games, outcome, finals, lo, hi))
        self._reply(info)

        def close(lo: int, hi: int, *_: Any) -> None:
            batch.close_games(games, info, lo, hi)
            self._look(view, lo, hi)

        self.run(close)

    def _reply(self, info: Info) -> None:
        """Let an opponent decide that the kernels have not asked yet, and add the rewards of games that end."""
        self._ask_opponent(info)
        while self._add_rewards():
            self._ask_opponent(info)

    def _ask_opponent(self, info: Info) -> None:
        """Let the opponent decide until the learner or nobody does, or a user's reward is due."""
        kind = self.plan[0]["opponent"]
        if kind == OTHER_OPPONENT and self.opponent is not None:
            reply(self._batch, self.opponent, self.options, info, 0, self.n)
        elif kind == PUBEVAL_OPPONENT:
            games = self._batch
            self.run(lambda lo, hi, *_: pubeval_replies(games, info, self._pubeval(lo), lo, hi))
        elif kind == RANDOM_OPPONENT:
            games = self._batch
            self.run(lambda lo, hi, *_: batch.random_games(games, info, lo, hi))

    def _add_rewards(self) -> bool:
        """Add a user's rewards of the games that have just ended to what they gain; whether there were any."""
        index = np.flatnonzero(self.ended["winner"] >= 0)
        if not len(index):
            return False
        self.slots["gain"][index] += self.options.reward.of(self.ended[index], self.rules)
        self.ended["winner"][index] = -1
        return True

    def _pubeval(self, lo: int) -> Arrays:
        """The fields of a `Pubeval`, for the thread whose range begins at `lo`."""
        if lo not in self._scratch:
            self._scratch[lo] = tuple(pubeval_for(self.options.settings))
        return self._scratch[lo]

    # Looking ---

    def tell(self, info: Info) -> None:
        """Write the info of the games as they stand, as if no game had just ended."""
        batch.describe(self._batch, info)
        self.some_over = bool((self.slots["over"] != RUNNING).any())

    def look(self, view: View) -> None:
        """Write the masks and, if wanted, the observations.

        Raises:
            SettingsError: a user's encoder is refused, see `bg_env.observations.check_encoder`.
        """
        self.run(lambda lo, hi, *_: self._look(view, lo, hi))
        if self.custom_view:
            self._observe(view)

    def _look(self, view: View, lo: int, hi: int) -> None:
        """Write the masks and, if wanted, the observations, but those of a user's encoder."""
        batch.look(self._batch, (self.viewers, view.mask), lo, hi)
        self._encode(view, lo, hi)

    def _encode(self, view: View, lo: int, hi: int) -> None:
        """Write the observations of an encoder of bg_env, if they are wanted."""
        flat = view.flat
        if flat is not None and not self.custom_view:
            kernel = self.options.encoder.kernel
            if hi - lo == self.n:
                kernel(self.states, self.rules, self.viewers, flat)
            else:
                kernel(self.states[lo:hi], self.rules, self.viewers[lo:hi], flat[lo:hi])

    def _observe_step(self, view: View, done: npt.NDArray[np.bool_]) -> None:
        """Write the observations of a user's encoder after a step; `done` marks the games that ended in it."""
        if self.custom_view:
            self._observe(view)
            if len(self.finals):
                self._final_views = self._observe_finals(done)

    def _observe(self, view: View) -> None:
        """Write the observations of a user's encoder, if wanted."""
        if view.flat is not None:
            self.encode("games", self.options.encoder, self.states, self.viewers, view.flat)

    def encode(
        self, where: str, encoder: Encoder, states: States, seats: npt.NDArray[np.int8], out: npt.NDArray[np.float32]
    ) -> None:
        """Write observations of any states, on all threads; the first of a user's encoder, and those of resets, are checked.

        Args:
            where: the kind of states, each of which is checked for itself.
            encoder: the encoder.
            states: STATE records (m,).
            seats: int8 (m,), who looks.
            out: float32 (m, size), written.

        Raises:
            SettingsError: a user's encoder is refused, see `bg_env.observations.check_encoder`.
        """
        if not len(states):
            return  # a user's function need not expect that
        some = slice(None if (early := self._checks[where, encoder] < _CHECKS) else 64)
        if (custom := _is_custom(encoder)) and (early or where == "begun"):
            check_encoder(encoder, states[some], self.rules, seats[some])
            self._checks[where, encoder] += 1
        share, do = -(-len(states) // len(self.ranges)), partial(write_rows, encoder) if custom else encoder.kernel

        def write(lo: int, hi: int, *_: Any) -> None:
            k = self.ranges.index((lo, hi)) * share
            if k < len(states):
                do(states[k : k + share], self.rules, seats[k : k + share], out[k : k + share])

        self.run(write)

    def final_observations(self, done: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """The last observations of the episodes that ended in the last step (mode "same_step").

        Args:
            done: the games that ended in it, as `step` returned them.

        Returns:
            float32 (k, size): of the k games that `done` marks, in order.
        """
        return self._final_views if self.custom_view else self._observe_finals(done)

    def _observe_finals(self, done: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        index = np.flatnonzero(done)
        views = np.empty((len(index), self.options.encoder.size), np.float32)
        seats = self.final_info[INFO, index].astype(np.int8)
        if self.custom_view:
            self.encode("finals", self.options.encoder, self.finals[index], seats, views)
        else:
            self.options.encoder.kernel(self.finals[index], self.rules, seats, views)
        return views

    def _try_encoder(self) -> None:
        """Write the observations of a user's encoder where nobody sees them."""
        mask = np.empty((self.n, self.options.settings.actions), np.int8)
        self.run(lambda lo, hi, *_: self._look(View(mask, None), lo, hi))
        out = np.empty((self.n, self.options.encoder.size), np.float32)
        self.encode("begun", self.options.encoder, self.states, self.viewers, out)

    def _shown(self, view: View) -> Arrays:
        """The fields of a `Shown`."""
        if view.flat is None or self.custom_view:
            return self.viewers, view.mask, np.zeros((0, 0), np.float32), NOTHING
        return self.viewers, view.mask, view.flat, NUMBERS[self.options.encoder.name]

    def pick(self, key: np.uint64) -> npt.NDArray[np.int64]:
        """A legal action for each game by the random words of `key`; 0 where an episode is over."""
        actions = np.empty(self.n, np.int64)
        games = self._batch
        self.run(lambda *part: batch.pick_games(games, key, actions, *part), signals=True)
        return actions
