"""Records of the episodes that environments play, for `.mat`, `.sgf` and JSON lines: of one game, and of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorWrapper

from bg_env.batch.copies import OwnGames
from bg_env.envs.episode import Episode
from bg_env.envs.vector import VectorEnv
from bg_env.errors import BgEnvError, OrderError, SettingsError
from bg_env.files import checked_path
from bg_env.records.files import FORMATS, write_records
from bg_env.records.record import Record
from bg_env.records.write import session

__all__ = ["BatchRecorder", "Recorder", "save_records"]


class Recorder(OwnGames):
    """The recording of an environment of one game; a batch is recorded by a `BatchRecorder`."""

    _episode: Episode

    def start_recording(self) -> None:
        """Make a record of each episode from the next `reset` on; steps then take longer."""
        self._episode.record_from_now()

    @property
    def records(self) -> Sequence[Record]:
        """The records of the episodes that have ended since `start_recording`."""
        return tuple(self._episode.records or ())

    def save_records(self, path: str | Path, players: tuple[str, str] = ("player_0", "player_1")) -> None:
        """Write the records: `.jsonl` takes any; `.mat` and `.sgf` take one match, or money games as one session.

        Args:
            path: a file that ends with .jsonl, .mat or .sgf; it is replaced.
            players: names of player_0 and player_1.

        Raises:
            OrderError: no episode has been recorded.
            NotationError: the format cannot hold the records (several matches, an illegal action, ...).
            OSError: the file cannot be written.
            SettingsError: `path` is not a path.
        """
        save_records(path, self.records, players)


def save_records(path: str | Path, records: Sequence[Record], players: tuple[str, str]) -> None:
    """Write records with the players' names; see `Recorder.save_records`."""
    named = [replace(record, players=players) for record in records]
    if not named:
        msg = "no episode has been recorded: begin with start_recording() or a BatchRecorder, then reset() and play to the end"
        raise OrderError(msg)
    kind = FORMATS.get(checked_path(path).suffix.lower())
    one = len(named) > 1 and not (kind and kind.several)
    write_records(path, [session(named)] if one else named)


class BatchRecorder(OwnGames, VectorWrapper):
    """Wraps a `VectorEnv` and makes a record of each episode that begins with a `reset` or autoreset after it.

    A game of a batch is that of one game with its seed, so only the learner's actions are kept; when an episode ends it is
    played a second time, and the opponent must make the same choices again. An episode that does not end in the same state,
    to the last byte (because the opponent used randomness other than its words, or was changed), has no record and is counted
    in `missed`. This is for looking at games, not for speed: it runs Python code for each game and step.

    Args:
        env: a `VectorEnv`, stepped by `step` (not by `step_plays`).

    Attributes:
        missed: how many episodes have no record.

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
        """The records of the episodes that have ended, in the order of their ends."""
        return tuple(self._records)

    def save_records(self, path: str | Path, players: tuple[str, str] = ("player_0", "player_1")) -> None:
        """Write the records; see `Recorder.save_records`.

        Raises:
            OrderError: there are none, or some were missed (then `records` has the others).
        """
        if self.missed:
            msg = f"{self.missed} episodes could not be recorded: their opponent chose differently when it was asked again"
            raise OrderError(msg)
        save_records(path, self.records, players)

    def _begin(self, which: npt.NDArray[np.bool_], options: dict[str, Any]) -> None:
        slots = self.env.games.slots
        for i in np.flatnonzero(which).tolist():
            self._actions[i] = []
            self._starts[i] = (int(slots["seed"][i]), int(slots["episode"][i]), options)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As `VectorEnv.reset`."""
        shown = self.env.reset(seed=seed, options=options)
        given = dict(options or {})
        which = given.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        self._begin(which, given)
        self._over[which] = False
        return shown

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """As `VectorEnv.step`."""
        result = self.env.step(actions)
        for i in np.flatnonzero(~self._over).tolist():
            self._actions[i].append(int(actions[i]))
        anew = self._over.copy()
        done = result[2] | result[3]
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
        return result

    def _played_over(self, i: int) -> Record | None:
        """The record of the episode of game `i` that has just ended; None if it does not come to the same end."""
        start, games = self._starts[i], self.env.games
        if start is None:
            return None
        seed, episode, options = start
        seat = int(games.plan["seat"][0])
        game = Episode(games.options, opponent=games.opponent, seat=seat if seat in (0, 1) else None)
        game.record_from_now()
        game.go_to(seed, episode)
        try:
            game.reset(options=options)
            for action in self._actions[i]:
                if not game.over:
                    game.act(action)
        except BgEnvError:
            return None
        last = games.finals if self.env.autoreset_mode == AutoresetMode.SAME_STEP else games.states
        if last[i].tobytes() != game.states.tobytes():
            return None
        return game.records[0] if game.records else game.game().record()
