"""Checks of the contract of the PettingZoo environment."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from bg_env.envs.aec import AGENTS
from bg_env.testing.basics import GAMES, Choose, check_info, check_view, chooser, mask_of, need, same

__all__ = ["check_aec", "play_aec"]


def play_aec(env: AECEnv[Any, Any, Any], choose: Choose) -> list[Any]:
    """Play the episode to its end: the agent, the values of `last` and the action of every turn."""
    seen = []
    for agent in env.agent_iter():
        last = env.last()
        action = None if last[2] or last[3] else choose(mask_of(last[0], last[4]))
        seen.append((agent, *copy.deepcopy(last), action))
        env.step(action)
    return seen


def _check_aec_turn(env: AECEnv[Any, Any, Any], agent: str, turns: int) -> tuple[bool, int]:
    inner: Any = env.unwrapped
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    need(type(terminated) is bool and type(truncated) is bool, "terminations and truncations must be Python bools")
    need(isinstance(reward, float), f"a reward must be a float, not {type(reward).__name__}")
    need(abs(sum(env.rewards.values())) < 1e-9, f"rewards do not sum to zero: {env.rewards}")
    for name in ("rewards", "terminations", "truncations", "infos"):
        need(set(getattr(env, name)) == set(env.agents), f"the keys of {name} must be the agents")
    for name in ("terminations", "truncations"):
        need(len(set(getattr(env, name).values())) == 1, f"the agents do not end together: {getattr(env, name)}")
    check_info(info, turns)
    need(info["player"] == (-1 if over else AGENTS.index(agent)), "info['player'] is not the player who acts next")
    for seat in AGENTS:
        view: Any = env.observe(seat)
        again: Any = env.observe(seat)
        check_view(view, env.observation_space(seat), seat)
        need(same(view, again), "two calls of observe() return different observations")
        parts = [(view, again)] if isinstance(view, np.ndarray) else list(zip(view.values(), again.values(), strict=True))
        need(not any(np.shares_memory(a, b) for a, b in parts), "two calls of observe() return the same array")
        mask = view["action_mask"] if isinstance(view, dict) else env.infos.get(seat, {}).get("action_mask")
        if mask is not None:
            waits = not over and seat != agent
            need(mask.all() if over else mask.any() != waits, f"the mask of {seat} is wrong while {agent} is to act")
    if not over and isinstance(observation, dict):
        legal = np.flatnonzero(observation["action_mask"]).tolist()
        need(legal == inner.game.legal_actions(), "the mask is not that of the game")
    return over, int(info["turns"])


def check_aec(env: AECEnv[Any, Any, Any], *, episodes: int = GAMES, seed: int = 0) -> None:
    """Play episodes of a PettingZoo environment of bg_env and check every step against the contract.

    The checks cover spaces and their objects, masks, fresh arrays, zero-sum rewards, the common end of both agents, infos,
    the same games for the same seed, and copies and pickles, which must continue identically.

    Raises:
        AssertionError: a part of the contract does not hold; the message names it.
    """
    need(list(env.possible_agents) == list(AGENTS), f"the agents are {env.possible_agents}")
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in AGENTS]
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        choose, turns = chooser(seed + episode), 0
        for agent in env.agent_iter():
            over, turns = _check_aec_turn(env, agent, turns)
            observation, _, _, _, info = env.last()
            env.step(None if over else choose(mask_of(observation, info)))
        for agent, (view, action) in zip(AGENTS, spaces, strict=True):
            need(env.observation_space(agent) is view, "observation_space() gives another object")
            need(env.action_space(agent) is action, "action_space() gives another object")
            check_view(env.observe(agent), view, f"{agent} after the end")
    _check_aec_copies(env, seed)


def _check_aec_copies(env: AECEnv[Any, Any, Any], seed: int) -> None:
    games = []
    for _ in range(2):
        env.reset(seed=seed)
        games.append(play_aec(env, chooser(seed)))
    need(same(*games), "the same seed gave different games")
    env.reset(seed=seed)
    choose = chooser(seed)
    for _ in range(len(games[0]) // 3):
        observation, _, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else choose(mask_of(observation, info)))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env]  # noqa: S301 - made here
    ends = [play_aec(each, chooser(seed + 1)) for each in twins]
    need(same(ends[0], ends[2]), "a deep copy continues differently")
    need(same(ends[1], ends[2]), "an unpickled copy continues differently")
