"""RLlib's new API stack: self-play of two agents, and the native batch for one learner.

    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env
    from bg_env.adapters.rllib import SelfPlayEnv, native

    config = PPOConfig().environment(SelfPlayEnv, env_config={"cube": False})
    # or, with an opponent inside the step, thousands of games in one call:
    register_env("backgammon", native)
    config = PPOConfig().environment("backgammon", env_config={"cube": False, "opponent": "random"})
    config = config.env_runners(num_envs_per_env_runner=256, gym_env_vectorize_mode="vector_entry_point")

    # change the opponent during training, in all env runners, also in those that are restarted:
    config = config.callbacks(on_env_runners_recreated=give_opponent_again)
    algorithm = config.build_algo()
    set_opponent(algorithm, "pubeval")

Observations have the form of RLlib's action-masking modules: a Dict of `action_mask` and `observations`, float32 and flat.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bg_env.batch.copies import OwnGames
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import SettingsError, needs

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    msg = "bg_env.adapters.rllib needs RLlib"
    raise needs(msg, "rllib") from error

__all__ = [
    "Greedy",
    "NativeEnv",
    "NativeVectorEnv",
    "SelfPlayEnv",
    "actor_of",
    "give_opponent_again",
    "native",
    "set_opponent",
]

Seen = dict[str, npt.NDArray[np.float32]]


def _space(seen: Any) -> spaces.Space[Any]:
    """The space of the renamed observations."""
    box, masks = seen["observation"], seen["action_mask"]
    bounds = box.low.ravel(), box.high.ravel()
    return spaces.Dict(action_mask=spaces.Box(0.0, 1.0, masks.shape, np.float32), observations=spaces.Box(*bounds))


def _renamed(seen: Mapping[str, Any], *, games: int | None = None) -> Seen:
    """An observation, or those of a batch of `games`, with RLlib's names, flat and float32."""
    flat = seen["observation"].reshape(-1 if games is None else (games, -1))
    return {"action_mask": seen["action_mask"].astype(np.float32), "observations": flat}


def _options(config: Mapping[str, Any] | None) -> dict[str, Any]:
    options = dict(config or {})
    if options.setdefault("mask", "observation") != "observation":
        msg = f'RLlib takes the mask from the observation: leave mask at "observation", not {options["mask"]!r}'
        raise SettingsError(msg)
    return options


class SelfPlayEnv(OwnGames, MultiAgentEnv):  # type: ignore[misc] # RLlib is not followed
    """The two-agent environment of `player_0` and `player_1`; only the agent to act gets an observation.

    Each agent has a trajectory of its own, from one of its decisions to the next, so that values keep their sign however many
    steps a turn has. Both trajectories end together.

    Args:
        config: arguments of `bg_env.backgammon_v0.env` by name.

    Raises:
        SettingsError: an argument is refused.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.env = BackgammonEnv(**_options(config))
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)  # always both: RLlib's check looks there for the agents of the last step
        self.observation_spaces = {agent: _space(self.env.observation_space(agent)) for agent in self.agents}
        self.action_spaces = dict(self.env.action_spaces)
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Seen], dict[str, Any]]:
        """Start an episode; the observation and info of the agent to act."""
        self.env.reset(seed=seed, options=options)
        agent = self.env.agent_selection
        return {agent: _renamed(self.env.observe(agent))}, {agent: self.env.infos[agent]}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Take the action of the agent to act; at the end both agents get observations and rewards."""
        env = self.env
        env.step(int(action_dict[env.agent_selection]))
        over = any(env.terminations.values()) or any(env.truncations.values())
        agents = list(self.possible_agents) if over else [env.agent_selection]
        rewards = dict(env.rewards) if any(env.rewards.values()) else dict.fromkeys(agents, 0.0)
        terminated, truncated = dict(env.terminations), dict(env.truncations)
        terminated["__all__"], truncated["__all__"] = all(terminated.values()), all(truncated.values())
        seen = {agent: _renamed(env.observe(agent)) for agent in agents}
        infos = {agent: env.infos[agent] for agent in agents}
        return seen, rewards, terminated, truncated, infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class NativeEnv(OwnGames, gymnasium.Wrapper[Any, Any, Any, Any]):
    """One game with RLlib's names; takes the arguments of `bg_env.envs.single.SingleEnv` by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SingleEnv(**_options(options)))
        self.observation_space = _space(self.env.observation_space)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """See `gymnasium.Env`."""
        seen, info = self.env.reset(seed=seed, options=options)
        return _renamed(seen), info

    def step(self, action: Any) -> tuple[Seen, Any, bool, bool, dict[str, Any]]:
        """See `gymnasium.Env`."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        return _renamed(seen), reward, terminated, truncated, info


class NativeVectorEnv(OwnGames, gymnasium.vector.VectorWrapper):
    """The native batch with RLlib's names; takes the arguments of `bg_env.envs.vector.VectorEnv` by name.

    RLlib resets a game in the step after its end. Infos are empty: RLlib makes a Python object of each and uses none.

    Raises:
        SettingsError: an argument is refused; so is any autoreset mode but "next_step", with which RLlib would mix episodes.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        if options.setdefault("autoreset_mode", "next_step") not in ("next_step", gymnasium.vector.AutoresetMode.NEXT_STEP):
            msg = f'RLlib needs autoreset_mode="next_step", not {options["autoreset_mode"]!r}'
            raise SettingsError(msg)
        super().__init__(VectorEnv(num_envs, **{"statistics": False, **_options(options)}))
        self.single_observation_space = _space(self.env.single_observation_space)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """See `gymnasium.vector.VectorEnv`."""
        seen, _ = self.env.reset(seed=seed, options=options)
        return _renamed(seen, games=self.num_envs), {}

    def step(self, actions: Any) -> tuple[Seen, Any, Any, Any, dict[str, Any]]:
        """See `gymnasium.vector.VectorEnv`; the actions can be a list."""
        seen, rewards, terminated, truncated, _ = self.env.step(np.asarray(actions))
        return _renamed(seen, games=self.num_envs), rewards, terminated, truncated, {}


def native(config: Mapping[str, Any] | None = None) -> NativeEnv | NativeVectorEnv:
    """Make the native batch where RLlib asks for several games, else one game; for `ray.tune.registry.register_env`.

    Args:
        config: arguments of `bg_env.envs.vector.VectorEnv` or, for one game, of `bg_env.envs.single.SingleEnv`; RLlib adds
            `num_envs` for a batch.
    """
    options = dict(config or {})
    games = options.pop("num_envs", None)
    return NativeEnv(**options) if games is None else NativeVectorEnv(games, **options)


def set_opponent(algorithm: Any, opponent: Any) -> None:
    """Set the opponent in all env runners of an algorithm over the native batch.

    Args:
        algorithm: an algorithm with `callbacks(on_env_runners_recreated=give_opponent_again)`, unless only this process plays.
        opponent: a name, a player or a callable, which is sent to every env runner.
    """
    algorithm.bg_env_opponent = opponent
    algorithm.env_runner_group.foreach_env_runner(_giving(opponent))


def give_opponent_again(*, algorithm: Any, env_runner_group: Any, env_runner_indices: list[int], **_: Any) -> None:
    """Give restarted env runners the opponent of `set_opponent`, as the callback `on_env_runners_recreated`."""
    opponent = getattr(algorithm, "bg_env_opponent", None)
    if opponent is not None:
        env_runner_group.foreach_env_runner(
            _giving(opponent), local_env_runner=False, remote_worker_ids=list(env_runner_indices)
        )


def _giving(opponent: Any) -> Any:
    def give(runner: Any) -> None:
        if runner.env is not None:  # None in the local one where others play
            runner.env.unwrapped.set_opponent(opponent)

    return give


def actor_of(module: Any) -> Any:
    """A copy of the actor of PPO's module: a torch module from flat observations to the unmasked logits of the actions."""
    from torch import nn

    layers = [module.encoder.actor_encoder.net, module.pi.net]
    return nn.Sequential(*(copy.deepcopy(layer) for layer in layers)).requires_grad_(requires_grad=False)


class Greedy:
    """A net as a player for the arena, which takes the legal action with the highest logit.

    Args:
        net: a torch module from flat observations to the logits of the actions; see `actor_of`.
        name: name of the player.
    """

    def __init__(self, net: Any, name: str = "ppo") -> None:
        self.net, self.name = net, name

    def __call__(self, seen: Mapping[str, Any]) -> npt.NDArray[np.int64]:
        """An action for each row of `observation` and `action_mask`, int64 (n,)."""
        import torch

        view = seen["observation"].reshape(len(seen["observation"]), -1)
        with torch.inference_mode():
            logits = self.net(torch.from_numpy(view)).numpy()
        actions: npt.NDArray[np.int64] = np.where(seen["action_mask"], logits, -np.inf).argmax(axis=1)
        return actions
