"""The environments under test: every PettingZoo module and Gymnasium id, their options, and ways to play them."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from bg_env import acey_deucey_v0, backgammon_v0, hypergammon_v0, longgammon_v0, nackgammon_v0
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.envs.aec import BackgammonEnv
from bg_env.registration import IDS

with warnings.catch_warnings():  # pettingzoo.test and its example environments warn when they are imported
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test, render_test, seed_test

__all__ = [
    "AGENTS",
    "IDS",
    "INFO_KEYS",
    "MODULES",
    "OPTIONS",
    "api_test",
    "first_legal",
    "make",
    "mask_of",
    "play",
    "play_single",
    "render_test",
    "same",
    "seed_test",
    "seldom_cube",
    "twin",
    "uniform",
]

AGENTS = ("player_0", "player_1")
INFO_KEYS = ("player", "points", "level", "cube", "winner", "illegal", "turns")

MODULES = {
    "backgammon_v0": backgammon_v0,
    "nackgammon_v0": nackgammon_v0,
    "acey_deucey_v0": acey_deucey_v0,
    "hypergammon_v0": hypergammon_v0,
    "longgammon_v0": longgammon_v0,
}

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "cubeless": {"cube": False},
    "cube": {"cube": True},
    "money": {"cube": True, "jacoby": True, "beavers": 2, "auto_doubles": 2},
    "match": {"match_length": 3},
    "match with a cube": {"match_length": 5, "cube": True, "reward": "match"},
    "mask in the observation": {"mask": "observation"},
    "mask in the info": {"mask": "info"},
    "planes": {"observation": "planes"},
    "turns": {"max_turns": 12, "reward": "win"},
}
"""Arguments of the constructors, by a name that tests print."""

Choice = Callable[[np.ndarray], int]


def make(name: str, **options: Any) -> Any:
    """The environment of a Gymnasium id, without its wrappers."""
    return gymnasium.make(name, **options).unwrapped


def uniform(seed: int) -> Choice:
    """Choose uniformly from the legal actions."""
    rng = np.random.default_rng(seed)
    return lambda mask: int(rng.choice(np.flatnonzero(mask)))


def seldom_cube(seed: int, share: float = 0.05) -> Choice:
    """Turn the cube once in twenty and drop one double in four, so that games get long; else uniform."""
    rng = random.Random(seed)

    def choose(mask: np.ndarray) -> int:
        if len(mask) > ROLL and mask[ROLL]:
            return DOUBLE if rng.random() < share else ROLL
        if len(mask) > ROLL and mask[TAKE]:
            if len(mask) > BEAVER and mask[BEAVER] and rng.random() < 0.5:
                return BEAVER
            return DROP if rng.random() < 0.25 else TAKE
        legal = np.flatnonzero(mask)
        return int(legal[int(rng.random() * len(legal))])

    return choose


def first_legal(mask: np.ndarray) -> int:
    """The legal action with the lowest number: rolls, takes, never doubles."""
    return int(np.flatnonzero(mask)[0])


def mask_of(observation: Any, info: dict[str, Any]) -> np.ndarray:
    """The action mask, wherever it is."""
    return observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]


def play(env: BackgammonEnv, choose: Choice, *, most: int = 100_000) -> list[tuple[Any, ...]]:
    """Play an AEC environment's episode to its end: agent, what `last` returned, and the action, for every turn."""
    seen = []
    for agent in env.agent_iter(most):
        observation, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else choose(mask_of(observation, info))
        seen.append((agent, observation, reward, terminated, truncated, info, action))
        env.step(action)
    return seen


def play_single(
    env: Any, choose: Choice, observation: Any, info: dict[str, Any], *, most: int = 100_000
) -> list[tuple[Any, ...]]:
    """Play an episode that has begun to its end: what each step returned, with the action that it took."""
    seen: list[tuple[Any, ...]] = []
    for _ in range(most):
        action = choose(mask_of(observation, info))
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((observation, reward, terminated, truncated, info, action))
        if terminated or truncated:
            return seen
    msg = f"no end after {most} steps"
    raise AssertionError(msg)


def same(one: Any, other: Any) -> bool:
    """Whether two things an environment returned are equal, arrays and their dtypes included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def twin(thing: Any, way: str) -> Any:
    """A copy by "pickle", "deepcopy" or "copy"."""
    if way == "pickle":
        return pickle.loads(pickle.dumps(thing))  # noqa: S301 - made just before
    return {"deepcopy": copy.deepcopy, "copy": copy.copy}[way](thing)
