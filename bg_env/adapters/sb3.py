"""Stable-Baselines3: the native batch as its `VecEnv`, for MaskablePPO of sb3-contrib.

    from sb3_contrib import MaskablePPO
    from bg_env.adapters.sb3 import make_sb3

    model = MaskablePPO("MlpPolicy", make_sb3("bg_env/BackgammonCubeless-v0", 256, reward="normalized"))
    model.learn(100_000)

Games in progress cost no Python work: all masks are one array, and all running games share one empty info. Every step returns
new arrays, since SB3 keeps the last observation while it asks for the next.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from bg_env.batch.copies import OwnGames
from bg_env.batch.info import INFO_KEYS
from bg_env.envs.vector import VectorEnv
from bg_env.errors import SettingsError, needs, quoted

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    msg = "bg_env.adapters.sb3 needs Stable-Baselines3"
    raise needs(msg, "sb3") from error

__all__ = ["Sb3VecEnv", "make_sb3"]

Indices = int | Iterable[int] | None


def make_sb3(id: str = "bg_env/Backgammon-v0", num_envs: int = 256, *, seed: int | None = None, **options: Any) -> Sb3VecEnv:  # noqa: A002
    """Make the native batch of a registered id as a `VecEnv`.

    Args:
        id: a Gymnasium id of bg_env.
        num_envs: number of games.
        seed: seed of the first reset, 0 to 2**64 - 1; None for a random one.
        **options: options of `bg_env.envs.vector.VectorEnv`, `settings` among them. `mask` is "info" unless it is given, so
            that the observation is a flat Box for MlpPolicy; with another mask it is a Dict for MultiInputPolicy.

    Raises:
        SettingsError: an option is refused.
    """
    given = {"mask": "info", **options, "autoreset_mode": AutoresetMode.SAME_STEP}
    env = Sb3VecEnv(gymnasium.make_vec(id, num_envs, **given))
    if seed is not None:
        env.seed(seed)
    return env


class Sb3VecEnv(OwnGames, VecEnv):
    """A `bg_env.envs.vector.VectorEnv`, as it is or in wrappers of Gymnasium, as a `VecEnv` of Stable-Baselines3.

    At the end of an episode its info has `terminal_observation`, `TimeLimit.truncated`, `episode` (r, l, t as from Monitor) and
    the numbers of INFO_KEYS; during an episode the info is empty.

    Args:
        env: a batch with `autoreset_mode="same_step"` and an opponent: SB3 has no second player, so that returns of self-play
            would have the wrong sign. It may be in wrappers that leave the actions as they are (a
            `gymnasium.vector.VectorWrapper`); those that change observations must change infos["final_obs"] as well. `episode`
            of the infos has the rewards before the wrappers.

    Attributes:
        env: the `VectorEnv`.
        outer: the environment that was given: the `VectorEnv`, or the outermost of its wrappers.

    Raises:
        SettingsError: the environment is of another kind.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        batch = env.unwrapped if isinstance(env, gymnasium.vector.VectorEnv) else env
        if not isinstance(batch, VectorEnv):
            msg = f"Sb3VecEnv takes a bg_env.envs.vector.VectorEnv, or one in wrappers of Gymnasium, not {type(batch).__name__}"
            raise SettingsError(msg)
        if batch.autoreset_mode != AutoresetMode.SAME_STEP or not batch.copy or not batch.statistics:
            msg = 'Stable-Baselines3 needs a VectorEnv with autoreset_mode="same_step", copy=True and statistics=True'
            raise SettingsError(msg)
        if batch.opponent is None:
            msg = "Stable-Baselines3 has one learner: give the VectorEnv an opponent (set_opponent changes it during training)"
            raise SettingsError(msg)
        if env.single_action_space != batch.single_action_space:
            msg = f"Sb3VecEnv takes wrappers that leave the actions as they are, not {type(env).__name__}"
            raise SettingsError(msg)
        self.env = batch
        self.outer: Any = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions: Any = None
        self._masks = np.ones((env.num_envs, batch.settings.actions), np.bool_)
        self._started = np.zeros(env.num_envs)

    def reset(self) -> Any:
        """Start an episode in every game, with the seeds and options that were set, and return the observations."""
        groups: list[tuple[dict[str, Any], npt.NDArray[np.bool_]]] = []
        for i, options in enumerate(self._options):
            for known, which in groups:
                if known is options or known == options:
                    which[i] = True
                    break
            else:
                groups.append((options, np.arange(self.num_envs) == i))
        if len(groups) == 1:
            observation, infos = self.outer.reset(seed=self._seeds, options=groups[0][0])
        else:
            self.outer.reset(seed=self._seeds)
            for options, which in groups:
                observation, infos = self.outer.reset(seed=self._seeds, options={**options, "reset_mask": which})
        self._reset_seeds()
        self._reset_options()
        self._started[:] = time.time()
        self._keep_masks(observation, infos)
        columns = [infos[name].tolist() for name in INFO_KEYS]
        self.reset_infos = [dict(zip(INFO_KEYS, values, strict=True)) for values in zip(*columns, strict=True)]
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Store the actions, int (num_envs,), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the step: observations (new arrays), rewards float32 (num_envs,), dones bool (num_envs,), and infos."""
        observation, rewards, terminated, truncated, infos = self.outer.step(self._actions)
        self._keep_masks(observation, infos)
        empty: dict[str, Any] = {}
        shown = [empty] * self.num_envs
        dones: npt.NDArray[np.bool_] = terminated | truncated
        if dones.any():
            now, finals, lasts, episodes = time.time(), infos["final_obs"], infos["final_info"], infos["episode"]
            ended = np.flatnonzero(dones).tolist()
            self._check_final(finals[ended[0]])
            for i in ended:
                info: dict[str, Any] = {name: int(lasts[name][i]) for name in INFO_KEYS}
                taken = round(now - self._started[i], 6)
                info["episode"] = {"r": float(episodes["r"][i]), "l": int(episodes["l"][i]), "t": taken}
                info["terminal_observation"] = finals[i]
                info["TimeLimit.truncated"] = bool(truncated[i])
                shown[i] = info
                self._started[i] = now
        return observation, rewards.astype(np.float32), dones, shown

    def restore(self, saved: dict[str, Any]) -> Any:
        """Continue the games that `VectorEnv.save` saved, and return their observations.

        Raises:
            SettingsError: the batch is in a wrapper, which does not know of it.
        """
        if self.outer is not self.env:
            msg = f"restore() is for a batch without wrappers, and this one is in a {type(self.outer).__name__}"
            raise SettingsError(msg)
        observation, infos = self.env.restore(saved)
        self._keep_masks(observation, infos)
        return observation

    def _keep_masks(self, observation: Any, infos: Any) -> None:
        if self.outer is not self.env:
            if not isinstance(infos, dict):
                msg = f"Sb3VecEnv needs infos as the batch returns them, a dict, not the {type(infos).__name__} of a wrapper"
                raise SettingsError(msg)
            self._masks = self.env.action_masks()
            return
        mask = infos["action_mask"] if "action_mask" in infos else observation["action_mask"]
        self._masks = mask.view(np.bool_)

    def _check_final(self, final: Any) -> None:
        """Refuse a last observation in another form than the others have: SB3 values it as one of them."""
        space = self.observation_space
        boxes, parts = (space.spaces, final) if isinstance(space, spaces.Dict) else ({"": space}, {"": final})
        right = isinstance(parts, dict) and parts.keys() == boxes.keys()
        if not right or any(np.shape(parts[name]) != box.shape for name, box in boxes.items()):
            shown = f"shape {final.shape}" if isinstance(final, np.ndarray) else quoted(type(final).__name__)
            msg = f'a wrapper changes observations to {space} but leaves infos["final_obs"] at {shown}: it must change both'
            raise SettingsError(msg)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions: bool (num_envs, actions)."""
        return self._masks

    def close(self) -> None:
        """Close the batch."""
        self.outer.close()

    def _chosen(self, indices: Indices) -> list[int]:
        return [int(i) for i in self._get_indices(indices)]

    def _need_all(self, what: str, indices: Indices) -> None:
        if indices is not None and sorted(set(self._chosen(indices))) != list(range(self.num_envs)):
            msg = f"{what} is for all games of the batch: indices cannot choose some of them"
            raise SettingsError(msg)

    def has_attr(self, attr_name: str) -> bool:
        """Whether the batch has the attribute."""
        return hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute for each game: its row of an array over games, else the value that all games share."""
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
            row for each. For another method that returns an array or tuple over games, the rows of the games; else the value
            for each game.

        Raises:
            SettingsError: the method is for all games, and `indices` chooses some of them.
        """
        if method_name == "action_masks":
            return [self._masks] if indices is None else [self._masks[i] for i in self._chosen(indices)]
        if method_name not in ("render", "sample"):
            self._need_all(f"method {method_name}", indices)
        found = getattr(self.env, method_name)(*method_args, **method_kwargs)
        each = isinstance(found, (np.ndarray, tuple)) and len(found) == self.num_envs
        return [found[i] if each else found for i in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Whether the batch is in such a wrapper; also True for SB3's Monitor, whose `episode` the infos have."""
        env, found = self.outer, issubclass(wrapper_class, Monitor)
        while isinstance(env, gymnasium.vector.VectorWrapper):
            found |= isinstance(env, wrapper_class)
            env = env.env
        return [found for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[Any]:
        """The rendered frames, one per game."""
        return self.env.render() or [None] * self.num_envs
