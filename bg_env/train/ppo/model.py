"""The model of MaskablePPO, and the batch of games that it learns in."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnvWrapper

from bg_env.adapters.sb3 import Sb3VecEnv, make_sb3
from bg_env.checks import is_number
from bg_env.train.ppo.opponent_pool import OpponentPool
from bg_env.train.ppo.options import SELF, PpoOptions, settings_of

__all__ = ["ROLLOUT", "ScaledRewards", "batch_of", "make_environment", "make_model", "warm_up"]

ROLLOUT: Final = 64
"""Steps of each game between two updates."""
_HIGHEST: Final = 3
"""Points of a backgammon without cube, by which rewards are divided."""
_AGAINST_PLAYER: Final[dict[str, Any]] = {
    "batch_size": 2048,
    "n_epochs": 4,
    "learning_rate": 6e-4,
    "ent_coef": 0.01,
    "gae_lambda": 0.95,
}
"""Hyperparameters against an opponent that does not change."""
_SELF_PLAY: Final[dict[str, Any]] = {
    "batch_size": 512,
    "n_epochs": 2,
    "learning_rate": 5e-4,
    "ent_coef": 0.01,
    "gae_lambda": 0.8,
}
"""Hyperparameters in self-play."""


class ScaledRewards(VecEnvWrapper):
    """Rewards divided by 3; the infos keep points."""

    def reset(self) -> Any:
        """Reset all games; see `VecEnv.reset`."""
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, Any, Any, Any]:
        """Make the step; see `VecEnv.step_wait`."""
        observation, rewards, dones, infos = self.venv.step_wait()
        return observation, rewards / _HIGHEST, dones, infos


def make_environment(options: PpoOptions, num_envs: int) -> ScaledRewards | Sb3VecEnv:
    """The batch to learn in; game i has the seed `options.seed + i`. In self-play its opponent is to be set to a pool."""
    match = settings_of(options.id).match_length > 0
    env = make_sb3(
        options.id,
        num_envs,
        seed=options.seed,
        opponent="random" if options.opponent == SELF else options.opponent,
        reward="match" if match else "points",
        num_threads=options.threads,
    )
    return env if match else ScaledRewards(env)


def make_model(options: PpoOptions, num_envs: int | None = None, kept: Mapping[str, Any] = MappingProxyType({})) -> MaskablePPO:
    """An untrained model over a batch of games, as `train` makes it; the same seed gives the same model.

    Args:
        options: of the training.
        num_envs: games played at once; None for those of the options.
        kept: hyperparameters of the run that is resumed, by name, among other facts.
    """
    env = make_environment(options, num_envs or options.num_envs)
    hyperparameters = dict(_SELF_PLAY if options.opponent == SELF else _AGAINST_PLAYER)
    hyperparameters["batch_size"] = min(hyperparameters["batch_size"], ROLLOUT * env.num_envs)
    hyperparameters |= {name: kept[name] for name in hyperparameters if is_number(kept.get(name), 0)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="You have specified a mini-batch size")  # a smaller last one is harmless
        return MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=ROLLOUT,
            gamma=1.0,
            policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
            seed=options.seed,
            device="cpu",
            **hyperparameters,
        )


def warm_up(options: PpoOptions, pool: OpponentPool | None) -> None:
    """Compile the kernels that are not compiled yet, before the clock runs."""
    env = make_environment(options, 1)
    batch = batch_of(env)
    if pool is not None:
        pool.draw(0)
        batch.env.set_opponent(pool)
    env.reset()
    for _ in range(1 if pool is None else 8):  # within eight steps the pool has a turn
        env.step(np.flatnonzero(batch.action_masks()[0])[:1])
    env.close()


def batch_of(env: Any) -> Sb3VecEnv:
    """The batch of games inside an environment that a model has."""
    batch: Sb3VecEnv = env.unwrapped
    return batch
