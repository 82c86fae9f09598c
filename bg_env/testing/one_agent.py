"""Checks of the contract of the Gymnasium environments, of one game and of many."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np

from bg_env.batch.info import INFO_KEYS
from bg_env.testing.basics import GAMES, Choose, check_info, check_view, chooser, mask_of, need, same

__all__ = ["check_single", "check_vector"]


def play_single(env: gymnasium.Env[Any, Any], choose: Choose, observation: Any, info: Mapping[str, Any]) -> list[Any]:
    """Play the episode to its end: the returned values of every step, and its action."""
    seen: list[Any] = []
    over = False
    while not over:
        action = choose(mask_of(observation, info))
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        seen.append((observation, reward, terminated, truncated, info, action))
    return seen


def check_single(env: gymnasium.Env[Any, Any], *, episodes: int = GAMES, seed: int = 0) -> None:
    """Play episodes of a single-agent environment of bg_env and check every step against the contract.

    Raises:
        AssertionError: a part of the contract does not hold; the message names it.
    """
    inner: Any = env.unwrapped
    for episode in range(episodes):
        observation, info = env.reset(seed=seed if episode == 0 else None)
        choose, turns, over = chooser(seed + episode), 0, False
        while not over:
            check_view(observation, env.observation_space, "the learner")
            check_info(info, turns)
            mask = inner.action_masks()
            need(mask.dtype == np.bool_, f"action_masks() returns {mask.dtype}, not bool")
            need((mask == mask_of(observation, info)).all(), "action_masks() differs from the mask in the observation or info")
            need(info["player"] >= 0 or mask.all(), "after the end the mask is not all ones")
            need(inner.seat is None or info["player"] in (inner.seat, -1), "it is not the learner's turn")
            turns, actor = info["turns"], inner.seat if inner.seat is not None else info["player"]
            observation, reward, terminated, truncated, info = env.step(choose(mask))
            over = terminated or truncated
            need(type(terminated) is bool and type(truncated) is bool, "terminated and truncated must be Python bools")
            need(isinstance(reward, float), f"a reward must be a float, not {type(reward).__name__}")
            if info["winner"] >= 0 and inner.settings.money:
                won = info["winner"] == actor
                need(
                    float(reward) > 0 if won else float(reward) < 0,
                    f"the player who has {'won' if won else 'lost'} receives {reward}",
                )
        need(info["player"] == -1, "an episode is over, but a player is to act")
    games = []
    for _ in range(2):
        first = env.reset(seed=seed)
        games.append([first, play_single(env, chooser(seed), *first)])
    need(same(*games), "the same seed gave different games")
    first = env.reset(seed=seed)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env]  # noqa: S301 - made here
    ends = [play_single(each, chooser(seed + 1), *first) for each in twins]
    need(same(ends[0], ends[2]), "a deep copy continues differently")
    need(same(ends[1], ends[2]), "an unpickled copy continues differently")


def check_vector(
    env: gymnasium.vector.VectorEnv[Any, Any, Any],
    single: Callable[[], gymnasium.Env[Any, Any]],
    *,
    steps: int = 100,
    seed: int = 0,
) -> None:
    """Check game i of a batch against the single environment with the seed `seed + i`, step by step.

    Args:
        env: a `bg_env.envs.vector.VectorEnv`.
        single: a function that makes a single environment with the same arguments.
        steps: steps of the batch.
        seed: the seed of game 0.

    Raises:
        AssertionError: a game differs; the message names it and the step.
    """
    alone = [single() for _ in range(env.num_envs)]
    observations, infos = env.reset(seed=seed)
    now = [game.reset(seed=seed + i) for i, game in enumerate(alone)]
    over, choose = np.zeros(env.num_envs, np.bool_), chooser(seed)
    for step in range(steps):
        for i, (view, info) in enumerate(now):
            row = {key: part[i] for key, part in observations.items()} if isinstance(observations, dict) else observations[i]
            need(same(view, row), f"game {i} has another observation alone at step {step}")
            for key in INFO_KEYS:
                need(info[key] == infos[key][i], f"game {i} has another {key} alone at step {step}")
        actions = np.array([choose(mask_of(view, info)) for view, info in now], np.int64)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        for i, game in enumerate(alone):
            if over[i]:  # next_step: the game begins anew in this step
                now[i] = game.reset()
                continue
            view, reward, ended, cut, info = game.step(int(actions[i]))
            now[i] = view, info
            need(
                (reward, ended, cut) == (rewards[i], terminated[i], truncated[i]),
                f"game {i} has another reward or end alone at step {step}",
            )
        over = terminated | truncated
