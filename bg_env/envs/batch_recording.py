"""Records of the games of a batch: a wrapper that keeps what was done and plays finished episodes over, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorWrapper

from bg_env.envs.episode import OneGame
from bg_env.envs.opponent import opponent_moves
from bg_env.envs.recording import save_records
from bg_env.envs.vector import VectorEnv
from bg_env.errors import BgEnvError, OrderError, SettingsError
from bg_env.records.record import Record

__all__ = ["BatchRecorder"]


class BatchRecorder(VectorWrapper):
    """Wraps a `VectorEnv` and makes a record of each episode that begins with a `reset` or autoreset after it.

    A game of a batch is that of one game with its seed, so the learner's actions are all that must be kept; the opponent must
    choose the same again. An episode that does not come to the same end again, to the last byte of its state (the opponent
    drew from elsewhere than its words, or was changed), has no record and is counted in `missed`. It is for looking at games,
    not for speed: it works in Python for each game and step, and every finished episode is played a second time.

    Args:
        env: a `VectorEnv`, stepped by `step` (not by `step_plays`).

    Raises:
        SettingsError: it is another environment.
    """

    env: VectorEnv

    def __init__(self, env: VectorEnv) -> None:
        if not isinstance(env, VectorEnv):
            msg = f"BatchRecorder wraps a bg_env.envs.vector.VectorEnv, not {type(env).__name__}"
            raise SettingsError(msg)
        super().__init__(env)
        self._records: list[Record] = []
        self.missed = 0
        self._actions: list[list[int]] = [[] for _ in range(env.num_envs)]
        self._starts: list[tuple[int, int, dict[str, Any]] | None] = [None] * env.num_envs
        self._over = np.zeros(env.num_envs, np.bool_)

    @property
    def records(self) -> Sequence[Record]:
        """The records of the episodes that have ended, in the order in which they did."""
        return tuple(self._records)

    def save_records(self, path: Any, players: tuple[str, str] = ("player_0", "player_1")) -> None:
        """Write the records; see `bg_env.envs.recording.save_records`.

        Raises:
            OrderError: there are none, or some were missed (then `records` has the others).
        """
        if self.missed:
            msg = f"{self.missed} episodes could not be recorded: their opponent chose otherwise when it was asked again"
            raise OrderError(msg)
        save_records(path, self.records, players)

    def _begin(self, which: Any, options: dict[str, Any]) -> None:
        slots = self.env._games.slots
        for i in np.flatnonzero(which).tolist():
            self._actions[i] = []
            self._starts[i] = (int(slots["seed"][i]), int(slots["episode"][i]), options)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As `VectorEnv.reset`."""
        told = self.env.reset(seed=seed, options=options)
        given = dict(options or {})
        which = given.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        self._begin(which, given)
        self._over[which] = False
        return told

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """As `VectorEnv.step`."""
        told = self.env.step(actions)
        for i in np.flatnonzero(~self._over).tolist():
            self._actions[i].append(int(actions[i]))
        anew = self._over.copy()
        done = told[2] | told[3]
        for i in np.flatnonzero(done).tolist():
            record = self._played_over(i)
            if record is None:
                self.missed += 1
            else:
                self._records.append(record)
        if self.env.autoreset_mode == AutoresetMode.SAME_STEP:
            self._begin(done, {})
        else:
            self._begin(anew, {})
            self._over = np.asarray(done)
        return told

    def _played_over(self, i: int) -> Record | None:
        """The record of the episode of game `i` that has just ended; None if it does not come to the same end."""
        start, games = self._starts[i], self.env._games
        if start is None:
            return None
        seed, episode, options = start
        one = OneGame(self.env._options)
        one.record_from_now()
        one.begin_at(seed, episode, options)
        asked = games.plan[0]["seat"]
        seat = one.seat_bit if asked not in (0, 1) else int(asked)
        try:
            self._play(one, seat, self._actions[i])
        except BgEnvError:
            return None
        end = games.finals[i] if self.env.autoreset_mode == AutoresetMode.SAME_STEP else games.states[i]
        if end.tobytes() != one.states[0].tobytes():
            return None
        return one.records[0] if one.records else one.game().record()

    def _play(self, one: OneGame, seat: int, actions: Sequence[int]) -> None:
        """Play an episode over with the learner's actions."""
        opponent = self.env.opponent
        if opponent is not None:
            opponent_moves(one, seat, opponent)
        for action in actions:
            if one.over:
                return
            if one.mask[0, action]:
                one.act(action)
                if opponent is not None:
                    opponent_moves(one, seat, opponent)
            else:
                one.illegal(action)
