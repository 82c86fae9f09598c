"""Thousands of games in one call: the native Gymnasium vector environment.

Random streams, so that game i is the same alone, in any batch and with any number of threads: game i of `reset(seed=s)` has
the seed `s + i` (or the i-th of a list); episode k since then has the key `episode_key(seed_i, k)`, k from 0. With that key,
in domain DICE roll number r is `draw(key, r, ...)`; in domain SEAT word 0 gives the learner's seat by its lowest bit, unless
one was asked for; in domain CHOICE the opponent's decisions take one word each in order, a whole play counting as one. Within
an episode the order is: opening throw; then, until the learner must decide, the opponent's decisions and the dice they make
due; then the learner's action, the dice it makes due, the opponent again, and so on. Dice given as a reset option are used
before the stream's and take no word of it. An episode that ends before the learner could act is reported by its next step.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from bg_env.batch.afterstates import Afterstates, checked_index, find_afterstates
from bg_env.batch.checks import read_mode, read_reset_mask
from bg_env.batch.copies import OwnGames
from bg_env.batch.info import INFO, INFO_KEYS
from bg_env.batch.layout import ENDED, Report, View
from bg_env.batch.restore import read_saved
from bg_env.checks import checked_flag, checked_whole, is_whole
from bg_env.envs.luck import games_of
from bg_env.errors import OrderError, SettingsError
from bg_env.observations import Encoder
from bg_env.options import EnvKeywords, JsonSpec, read_options, read_seat, takes_options
from bg_env.render.text import board_text
from bg_env.reset_options import read_reset_options
from bg_env.rewards import CUSTOM
from bg_env.rules import Settings, States, VariantLike
from bg_env.rules.candidates import Room

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["VectorEnv"]

_ONE = np.ones((), np.int8)


@takes_options
class VectorEnv(OwnGames, JsonSpec, gymnasium.vector.VectorEnv[Any, Any, Any]):
    """`num_envs` games of backgammon, stepped by compiled code in one call.

    Args:
        num_envs: number of games.
        variant: a name (`bg_env.VARIANTS`) or a `bg_env.Variant`; None: the variant of `settings`, or backgammon.
        **options: see `bg_env.options.EnvOptions`.
        opponent: as of `bg_env.envs.single.SingleEnv`: a name, a player, a callable, or None for self-play, where reward[i]
            belongs to the player who just acted, and the observation and info["player"] to who acts next.
        seat: the learner's seat in all games, 0 or 1; None draws it anew for each episode, from the episode's own stream.
        autoreset_mode: "next_step", "same_step" or "disabled", or a `gymnasium.vector.AutoresetMode`.
        num_threads: threads that share the games, at most one for each 1,024 of them; the games are the same whatever their
            number.
        copy: with False, `reset` and `step` reuse their arrays: what they return is overwritten by the next call.
        statistics: whether infos have `episode`: return (`r`) and length (`l`) of the episodes that the step ended, with the
            mask `_episode`; returns are the learner's, in self-play player_0's. Gymnasium's RecordEpisodeStatistics, which adds
            the same key, takes their place.
        max_episode_steps: steps of the learner after which an episode is truncated, also where its game ends in the last of
            them (as under Gymnasium's TimeLimit, both flags are then True); None for no limit.

    Attributes:
        autoreset_mode: the mode, also in `metadata["autoreset_mode"]`.
        games: the batch (`bg_env.batch.batch.Games`).

    Raises:
        SettingsError: an argument is unknown, out of range, or contradicts another.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        num_envs: int = 1,
        variant: VariantLike | None = None,
        *,
        opponent: Any = "random",
        seat: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
        statistics: bool = True,
        max_episode_steps: int | None = None,
        **options: Unpack[EnvKeywords],
    ) -> None:
        super().__init__()
        self._options = read_options(variant, options, self.metadata["render_modes"])
        self.num_envs = checked_whole("num_envs", num_envs, 1, 2**48 - 1)
        self.render_mode = self._options.render_mode
        self.autoreset_mode = read_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._options.observation_space()
        self.single_action_space = self._options.action_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.copy = checked_flag("copy", copy)
        self.statistics = checked_flag("statistics", statistics)
        self.games = games_of(
            self._options,
            self.num_envs,
            opponent=opponent,
            seat=read_seat(seat, opponent),
            same_step=self.autoreset_mode == AutoresetMode.SAME_STEP,
            limit=0 if max_episode_steps is None else checked_whole("max_episode_steps", max_episode_steps, 1, 2**31 - 1),
            threads=checked_whole("num_threads", num_threads, 1, 2**31 - 1),
        )
        self._adds_episode = self.statistics
        self._kept: dict[str, Any] = {}
        self._rooms = [Room() for _ in self.games.ranges]

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of the batch's observations, made when it is first asked for (it is larger than the batch)."""
        single = self.single_observation_space
        if isinstance(single, spaces.Dict):
            parts: dict[str, Any] = {name: batch_space(space, self.num_envs) for name, space in single.items()}
            return spaces.Dict(**parts)
        return batch_space(single, self.num_envs)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._options.settings

    @property
    def opponent(self) -> Any:
        """The opponent in force, a player bound to the settings; None in self-play."""
        return self.games.opponent

    @property
    def states(self) -> States:
        """The games' STATE records (num_envs,), a read-only view: it shows what later steps make of them.

        For kernels, searches and players use `states.copy()`; to continue from here later, use `save()`.
        """
        self._need_whole("states")
        view: States = self.games.states.view()
        view.flags.writeable = False
        return view

    @property
    def seats(self) -> npt.NDArray[np.int8]:
        """The learner's seat in each game, int8 (num_envs,); -1 in self-play."""
        self._need_whole("seats")
        return np.array(self.games.slots["seat"], np.int8)

    def set_opponent(self, opponent: Any) -> None:
        """Change the opponent; it acts from its next decision on. `opponent` as in the constructor.

        Raises:
            SettingsError: it is not an opponent, or the environment is made for self-play (or the other way round).
        """
        if (opponent is None) != (self.opponent is None):
            msg = "an environment is made either for self-play or for an opponent: make another one to change that"
            raise SettingsError(msg)
        self.games.set_opponent(opponent)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions now: bool (num_envs, actions), a new array; all True where an episode is over."""
        self._need_reset("action_masks()")
        mask = np.empty((self.num_envs, self.settings.actions), np.int8)
        self.games.look(View(mask, None))
        return mask.view(np.bool_)

    def sample(self, rng: np.random.Generator | None = None) -> npt.NDArray[np.int64]:
        """A random legal action for every game, each legal action with the same probability; 0 where an episode is over.

        Args:
            rng: the source of randomness; None: `np_random`, which `reset(seed=...)` seeds.

        Returns:
            int64 (num_envs,).
        """
        self._need_reset("sample()")
        return self.games.pick(np.uint64((rng or self.np_random).bit_generator.random_raw()))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every game, or in those that `options["reset_mask"]` marks.

        Args:
            seed: game i gets the seed `seed + i`, at most 2**64 - 1, or the i-th of a list; None, also in a list: the
                next episode since the game's last seed (a random one if there was none).
            options: those of `bg_env.envs.single.SingleEnv.reset`, the same for all games, and `reset_mask`: a bool array
                (num_envs,) with at least one True.

        Returns:
            The observations and the infos of all games.

        Raises:
            BgEnvError: the seed or an option is refused; the games are as they were.
        """
        given = read_reset_options(options)
        which = read_reset_mask(given.pop("reset_mask", None), self.num_envs)
        report, view = self._new_report(), self._new_view()
        self.games.begin(which, seed, given, report, view)
        self._adds_episode = self.statistics and not _is_counted()
        if is_whole(seed):
            super().reset(seed=int(seed))
        return self._reported(report.info, view)

    def _reported(self, info: npt.NDArray[np.int32], view: View) -> tuple[Any, dict[str, Any]]:
        """The results of `reset` and `restore`."""
        observation, infos = self._shown(info, view)
        if self._adds_episode:
            infos["episode"] = {"r": np.zeros(self.num_envs), "l": np.zeros(self.num_envs, np.int32)}
            infos["_episode"] = np.zeros(self.num_envs, np.bool_)
        return observation, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one action in every game.

        Args:
            actions: integers (num_envs,); ignored for a game that begins anew in this step.

        Returns:
            observations; rewards float64 (num_envs,); terminated and truncated, bool (num_envs,); infos: INFO_KEYS as int32
            arrays, `action_mask` unless `mask="observation"`, `episode`, and in mode "same_step" after the end of an episode
            `final_obs` and `final_info` as Gymnasium has them.

        Raises:
            OrderError: before `reset`, or, in mode "disabled", a game is over and was not reset.
            IllegalActionError: `actions` has another shape or dtype or one out of range or, under `illegal="raise"`, one that
                is not legal, or the opponent gave an illegal one; all games are as they were.
        """
        self._need_step("step()")
        chosen = self.games.check(actions)
        report, view = self._new_report(), self._new_view()
        return self._result(report, view, self.games.step(chosen, report, view))

    def afterstates(
        self, *, observation: str | Encoder | None = None, out: npt.NDArray[np.float32] | None = None
    ) -> Afterstates:
        """Every game's distinct whole plays in one flat batch, to be evaluated and chosen from with `step_plays`.

        In phases other than CHECKER the candidates are the legal actions: roll or double, take or drop, the doubles to name.

        Args:
            observation: the encoder of the candidates' `observations`, by name or a `bg_env.Encoder`, as seen by the player who
                chooses; None for no observations.
            out: float32 (room, ...), C-contiguous, with room for all candidates: `observations` are its first rows.

        Returns:
            New arrays (but for `out`).

        Raises:
            OrderError: before `reset`.
            SettingsError: no such encoder, or `out` does not fit.
        """
        self._need_reset("afterstates()")
        found = find_afterstates(self.games, self._rooms, observation, out)
        self.games.candidates = found.offsets.copy(), found.states.copy()
        return found

    def step_plays(self, index: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Continue every game with a candidate of the last `afterstates()`; a whole play counts as one step.

        Args:
            index: integers (num_envs,): places in the flat batch, so offsets[i] <= index[i] < offsets[i + 1]; ignored for a
                game that begins anew in this step. (`bg_env.batch.afterstates.best` finds the highest values.)

        Returns:
            As `step`.

        Raises:
            OrderError: `afterstates()` has not been called since the last step or reset; or as for `step`.
            IllegalActionError: `index` has another shape or dtype or names another game's candidate; or as for `step`.
        """
        self._need_step("step_plays()")
        if self.games.candidates is None:
            msg = "step_plays() chooses among the candidates of the last afterstates(): call that first"
            raise OrderError(msg)
        offsets, after = self.games.candidates
        chosen = checked_index(index, offsets, self.games.slots["over"])
        report, view = self._new_report(), self._new_view()
        return self._result(report, view, self.games.step_plays(after, chosen, report, view))

    def _new_report(self) -> Report:
        n = self.num_envs
        return Report(
            self._new("info", (INFO, n), np.int32),
            self._new("rewards", (2, n), np.float64),
            self._new("lengths", (n,), np.int32),
            self._new("ends", (2, n), np.bool_),
        )

    def _new_view(self) -> View:
        n, encoder = self.num_envs, self._options.encoder
        return View(
            self._new("mask", (n, self.settings.actions), np.int8), self._new("observation", (n, encoder.size), np.float32)
        )

    def _result(self, report: Report, view: View, done: npt.NDArray[np.bool_]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """The return value of `step`."""
        observation, infos = self._shown(report.info, view)
        if self._adds_episode:
            infos["episode"] = {"r": report.rewards[1], "l": report.lengths}
            infos["_episode"] = done
        if self.games.some_over and self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos.update(self._finals(done, infos.get("episode")))
        return observation, report.rewards[0], report.ends[0], report.ends[1], infos

    def _finals(self, done: npt.NDArray[np.bool_], episode: dict[str, Any] | None) -> dict[str, Any]:
        """`final_obs` and `final_info` with their masks, as Gymnasium's SyncVectorEnv has them in mode "same_step".

        Args:
            done: the games that ended in this step, bool (num_envs,).
            episode: the `episode` of the infos, if there is one.

        Returns:
            final_obs: an object array (num_envs,) of one game's observations, None where no episode ended; final_info: arrays
            (num_envs,), 0 where no episode ended (its action masks, which are ones, are read-only); `_final_obs`,
            `_final_info` and the masks in final_info: `done`.
        """
        games, n, index = self.games, self.num_envs, np.flatnonzero(done)
        options, rows = games.options, games.final_info[:, index]
        views = games.final_observations(done).reshape(-1, *options.encoder.shape)
        masks = np.ones((len(index), self.settings.actions), np.int8)
        final_obs = np.full(n, None, object)
        for i, view, mask in zip(index.tolist(), views, masks, strict=True):
            final_obs[i] = {"observation": view, "action_mask": mask} if options.in_observation else view
        final_info: dict[str, Any] = {}
        for name, values in zip(INFO_KEYS, rows[:INFO], strict=True):
            final_info[name], final_info[f"_{name}"] = np.zeros(n, np.int32), done
            final_info[name][index] = values
        if options.in_info:
            final_info["action_mask"] = np.broadcast_to(_ONE, (n, masks.shape[1]))
            final_info["_action_mask"] = done
        if episode is not None:
            final_info["episode"], final_info["_episode"] = episode, done
        return {"final_obs": final_obs, "_final_obs": done, "final_info": final_info, "_final_info": done}

    def _new(self, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
        """An array to return: a new one, or with `copy=False` the same as last time."""
        if self.copy:
            return np.empty(shape, dtype)
        if name not in self._kept:
            self._kept[name] = np.empty(shape, dtype)
        kept: npt.NDArray[Any] = self._kept[name]
        return kept

    def _shown(self, info: npt.NDArray[np.int32], view: View) -> tuple[Any, dict[str, Any]]:
        """The observations and infos, of what is written already."""
        infos: dict[str, Any] = dict(zip(INFO_KEYS, info, strict=True))
        if self._options.in_info:
            infos["action_mask"] = view.mask
        observation: Any = view.flat
        if len(self._options.encoder.shape) > 1:
            observation = observation.reshape(self.num_envs, *self._options.encoder.shape)
        return {"observation": observation, "action_mask": view.mask} if self._options.in_observation else observation, infos

    def save(self) -> dict[str, Any]:
        """Everything that is needed to continue from here: arrays, and the settings as text; it can be pickled."""
        self._need_reset("save()")
        states, slots, (dice, *_) = self.games.save()
        plan = self.games.plan.copy()
        reward = self._options.reward
        own = {"reward": reward.name} if reward.kind == CUSTOM else {}
        own["autoreset_mode"] = np.str_(self.autoreset_mode.name.lower())
        return {"settings": str(self.settings), **own, "plan": plan, "states": states, "slots": slots, "dice": dice.copy()}

    def restore(self, saved: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return to the moment when `saved` was saved: the same games, dice and opponent's words follow, bit for bit.

        The opponent is that of this environment, which may differ from the one at that moment.

        Returns:
            The observations and the infos, as for `reset`; they do not report the games that ended in the last step.

        Raises:
            SettingsError: it is not what `save` returns, or of a batch of another size, variant, settings, seat, reward, limit
                of steps or autoreset mode, or of impossible games; or a user's encoder is refused. All games are as they were.
        """
        states, slots, dice = read_saved(saved, self.games.plan, self._options, self.autoreset_mode.name.lower(), self.num_envs)
        before = self.games.save()
        try:
            self.games.restore((states, slots, (dice, True, None, True, False)))
            info, view = self._new("info", (INFO, self.num_envs), np.int32), self._new_view()
            self.games.tell(info)
            self.games.look(view)
            return self._reported(info, view)
        except BaseException:
            self.games.torn, self.games.begun = True, False
            self.games.restore(before)
            raise

    def _need_step(self, what: str) -> None:
        self._need_reset(what)
        if self.games.some_over and self.autoreset_mode == AutoresetMode.DISABLED:
            i = int(np.argmax(self.games.slots["over"] == ENDED))
            if self.games.slots["over"][i] != ENDED:
                return
            msg = f'game {i} is over: begin it anew with reset(options={{"reset_mask": mask}}) before the next step'
            raise OrderError(msg)

    def _need_whole(self, what: str) -> None:
        if self.games.torn:
            self.games.refuse(what)

    def _need_reset(self, what: str) -> None:
        if not self.games.begun:
            self.games.refuse(what, "episodes")

    def render(self) -> tuple[Any, ...] | None:
        """The boards of all games: text under `render_mode="ansi"`, uint8 pixels under "rgb_array"; None without a mode."""
        self._need_reset("render()")
        if self.render_mode is None:
            return None
        draw: Any = board_text
        if self.render_mode == "rgb_array":
            from bg_env.render.raster import board_rgb as draw
        return tuple(draw(self.games.states, i, self.settings) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002 - Gymnasium's signature
        """End the threads."""
        self.games.close()

    def __getstate__(self) -> dict[str, Any]:
        made = ("_rooms", "observation_space")  # anew where they are needed: they are larger than the games
        return {name: value for name, value in self.__dict__.items() if name not in made} | {"_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rooms = [Room() for _ in self.games.ranges]


def _is_counted() -> bool:
    """Whether the calling `reset` is called by a RecordEpisodeStatistics, which adds `episode` and refuses one that is there.

    An environment does not know its wrappers, so this looks at the caller.
    """
    frame = inspect.currentframe()
    frame = frame.f_back and frame.f_back.f_back if frame else None
    while frame and isinstance(caller := frame.f_locals.get("self"), gymnasium.vector.VectorWrapper):
        from gymnasium.wrappers.vector import RecordEpisodeStatistics

        if isinstance(caller, RecordEpisodeStatistics) and getattr(caller, "_stats_key", "episode") == "episode":
            return True
        frame = frame.f_back
    return False
