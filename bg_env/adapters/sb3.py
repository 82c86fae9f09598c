"""Stable-Baselines3: the native batch as its `VecEnv`, for MaskablePPO of sb3-contrib.

    from sb3_contrib import MaskablePPO
    from bg_env.adapters.sb3 import make_sb3

    model = MaskablePPO("MlpPolicy", make_sb3("bg_env/BackgammonCubeless-v0", 256, reward="normalized"))
    model.learn(100_000)

No Python work is done for a game that goes on: masks are handed over as one array, infos of running games are one empty dict.
Arrays are never reused between steps, since SB3 keeps the last observation while it asks for the next.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from bg_env.envs.vector import VectorEnv
from bg_env.errors import MissingDependencyError, SettingsError
from bg_env.options import INFO_KEYS

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    msg = 'bg_env.adapters.sb3 needs Stable-Baselines3: pip install "bg_env[sb3]"'
    raise MissingDependencyError(msg) from error

__all__ = ["Sb3VecEnv", "make_sb3"]

Indices = int | Iterable[int] | None


def make_sb3(id: str = "bg_env/Backgammon-v0", num_envs: int = 256, *, seed: int | None = None, **options: Any) -> Sb3VecEnv:  # noqa: A002
    """The batch of a registered id as a `VecEnv`.

    Args:
        id: a Gymnasium id of bg_env.
        num_envs: number of games.
        seed: of the first reset; None for a random one.
        **options: as of `bg_env.envs.vector.VectorEnv`; `mask="info"` unless given, so that the observation is a flat Box for
            MlpPolicy. With another mask it is a Dict, for MultiInputPolicy.

    Raises:
        SettingsError: an option is refused.
    """
    given = {"mask": "info", **options, "autoreset_mode": AutoresetMode.SAME_STEP}
    env = Sb3VecEnv(gymnasium.make_vec(id, num_envs, **given))  # type: ignore[arg-type]
    if seed is not None:
        env.seed(seed)
    return env


class Sb3VecEnv(VecEnv):
    """A `bg_env.envs.vector.VectorEnv` as Stable-Baselines3 wants it.

    At the end of an episode its info has `terminal_observation`, `TimeLimit.truncated`, `episode` (r, l, t as Monitor has
    them) and the numbers of INFO_KEYS; while it goes on the info is empty.

    Args:
        env: made with `autoreset_mode="same_step"` and an opponent: SB3 knows no second player, so in self-play its returns
            would have the wrong sign.

    Raises:
        SettingsError: the environment is of another kind.
    """

    def __init__(self, env: VectorEnv) -> None:
        if not isinstance(env, VectorEnv):
            msg = f"Sb3VecEnv takes a bg_env.envs.vector.VectorEnv, not {type(env).__name__}"
            raise SettingsError(msg)
        if env.autoreset_mode != AutoresetMode.SAME_STEP or not env.copy or not env.statistics:
            msg = 'Stable-Baselines3 needs a VectorEnv with autoreset_mode="same_step", copy=True and statistics=True'
            raise SettingsError(msg)
        if env.opponent is None:
            msg = "Stable-Baselines3 knows one learner: give the VectorEnv an opponent (set_opponent changes it while training)"
            raise SettingsError(msg)
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions: Any = None
        self._masks = np.ones((env.num_envs, env.settings.actions), np.bool_)
        self._started = np.zeros(env.num_envs)

    def reset(self) -> Any:
        """Begin an episode in every game, with the seeds and options that were set; the observations."""
        groups: list[tuple[dict[str, Any], npt.NDArray[np.bool_]]] = []
        for i, options in enumerate(self._options):
            for known, which in groups:
                if known is options or known == options:
                    which[i] = True
                    break
            else:
                groups.append((options, np.arange(self.num_envs) == i))
        if len(groups) == 1:
            observation, infos = self.env.reset(seed=self._seeds, options=groups[0][0])
        else:
            self.env.reset(seed=self._seeds)
            for options, which in groups:
                observation, infos = self.env.reset(seed=self._seeds, options={**options, "reset_mask": which})
        self._reset_seeds()
        self._reset_options()
        self._started[:] = time.time()
        self._keep_masks(observation, infos)
        columns = [infos[name].tolist() for name in INFO_KEYS]
        self.reset_infos = [dict(zip(INFO_KEYS, values, strict=True)) for values in zip(*columns, strict=True)]
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Do them: observations (new arrays), rewards float32 (writable), dones and infos."""
        observation, rewards, _, truncated, infos = self.env.step(self._actions)
        self._keep_masks(observation, infos)
        empty: dict[str, Any] = {}
        told = [empty] * self.num_envs
        dones: npt.NDArray[np.bool_] = infos["_episode"]
        if dones.any():
            now, finals, lasts, episodes = time.time(), infos["final_obs"], infos["final_info"], infos["episode"]
            for i in np.flatnonzero(dones).tolist():
                info: dict[str, Any] = {name: int(lasts[name][i]) for name in INFO_KEYS}
                taken = round(now - self._started[i], 6)
                info["episode"] = {"r": float(episodes["r"][i]), "l": int(episodes["l"][i]), "t": taken}
                info["terminal_observation"] = finals[i]
                info["TimeLimit.truncated"] = bool(truncated[i])
                told[i] = info
                self._started[i] = now
        return observation, rewards.astype(np.float32), dones, told

    def restore(self, saved: dict[str, Any]) -> Any:
        """Continue the games that `VectorEnv.save` saved; the observations."""
        observation, infos = self.env.restore(saved)
        self._keep_masks(observation, infos)
        return observation

    def _keep_masks(self, observation: Any, infos: dict[str, Any]) -> None:
        mask = infos["action_mask"] if "action_mask" in infos else observation["action_mask"]
        self._masks = mask.view(np.bool_)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions: bool (num_envs, actions)."""
        return self._masks

    def close(self) -> None:
        """Close the batch."""
        self.env.close()

    def _chosen(self, indices: Indices) -> list[int]:
        return [int(i) for i in self._get_indices(indices)]

    def _need_all(self, what: str, indices: Indices) -> None:
        if indices is not None and sorted(set(self._chosen(indices))) != list(range(self.num_envs)):
            msg = f"{what} is one for all games of the batch: indices cannot choose some of them"
            raise SettingsError(msg)

    def has_attr(self, attr_name: str) -> bool:
        """Whether the batch has such an attribute."""
        return hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute for each game: its own part of an array over games, else what all share."""
        value = getattr(self.env, attr_name)
        if isinstance(value, np.ndarray) and value.shape[:1] == (self.num_envs,):
            return [value[i] for i in self._chosen(indices)]
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the batch; `opponent` changes the opponent.

        Raises:
            SettingsError: `indices` chooses some of the games only.
        """
        self._need_all(f"attribute {attr_name}", indices)
        if attr_name == "opponent":
            self.env.set_opponent(value)
        else:
            setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of the batch.

        Returns:
            For `action_masks` of all games `[masks]`, one array (num_envs, actions), which sb3-contrib stacks; of some games a
            row for each. For another method that answers with an array or tuple over games, the parts asked for; else its
            answer for each game.

        Raises:
            SettingsError: the method is one for all games, and `indices` chooses some of them.
        """
        if method_name == "action_masks":
            return [self._masks] if indices is None else [self._masks[i] for i in self._chosen(indices)]
        if method_name not in ("render", "sample"):
            self._need_all(f"method {method_name}", indices)
        answer = getattr(self.env, method_name)(*method_args, **method_kwargs)
        each = isinstance(answer, (np.ndarray, tuple)) and len(answer) == self.num_envs
        return [answer[i] if each else answer for i in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Whether the infos are those of such a wrapper: True of SB3's Monitor, whose `episode` they have."""
        return [issubclass(wrapper_class, Monitor) for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[Any]:
        """The rendered frames, one a game."""
        return self.env.render() or [None] * self.num_envs
