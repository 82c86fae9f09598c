"""Loops over this engine as a user would write them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv

from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.observations import encoder
from bg_env.rules import Settings, States, plays
from bg_env.sampling import sample

__all__ = ["PARTS", "aec", "batch", "encode", "in_part", "random_states", "single", "whole_plays"]

Counted = dict[str, float]
_WARM = 256
"""Steps before the clock starts, after which games that began together are in different parts of a game."""
_ENVS: dict[Any, VectorEnv] = {}


def _for(seconds: float, work: Callable[[], None], clock: Callable[[], float] = time.process_time) -> float:
    began = clock()
    while clock() - began < seconds:
        work()
    return clock() - began


def _batch_env(n: int, threads: int, opponent: Any, mode: str) -> VectorEnv:
    key = n, threads, opponent, mode
    if key not in _ENVS:
        env = VectorEnv(n, cube=False, opponent=opponent, autoreset_mode=mode, num_threads=threads)
        env.reset(seed=1)
        for _ in range(_WARM):
            env.step(env.sample())
        _ENVS[key] = env
    return _ENVS[key]


def batch(
    seconds: float, *, n: int, threads: int = 1, opponent: Any = None, mode: str = "same_step", wall: bool = False
) -> Counted:
    """Random play of `n` cubeless games in a batch, with observations and masks."""
    env = _batch_env(n, threads, opponent, mode)
    counted = {"games": 0.0, "steps": 0.0}

    def step() -> None:
        _, _, terminated, _, _ = env.step(env.sample())
        counted["games"] += np.count_nonzero(terminated)
        counted["steps"] += n

    counted["seconds"] = _for(seconds, step, time.perf_counter if wall else time.process_time)
    return counted


def single(seconds: float, seed: int = 0, opponent: Any = "random") -> Counted:
    """Random games of the Gymnasium environment of one game against an opponent."""
    env, rng = SingleEnv(cube=False, opponent=opponent), np.random.default_rng(seed)
    counted = {"games": 0.0, "steps": 0.0}

    def game() -> None:
        observation, _ = env.reset(seed=seed + int(counted["games"]))
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(sample(observation["action_mask"], rng))
            over = terminated or truncated
            counted["steps"] += 1
        counted["games"] += 1

    counted["seconds"] = _for(seconds, game)
    return counted


def random_states(n: int, seed: int = 0) -> States:
    """`n` states of random cubeless games with a whole roll to play, from every part of a game."""
    env, rng = VectorEnv(1024, cube=False, opponent=None, autoreset_mode="same_step"), np.random.default_rng(seed)
    env.reset(seed=seed)
    parts: list[States] = []
    for k in range(100_000):
        if k >= _WARM and k % 8 == 0:
            states = env.states.copy()
            doubles = states["dice"][:, 0] == states["dice"][:, 1]
            parts.append(states[states["left"].sum(1) == np.where(doubles, 4, 2)])
            if sum(map(len, parts)) >= n:
                break
        env.step(env.sample(rng))
    return np.concatenate(parts)[:n]


def whole_plays(seconds: float, states: States) -> Counted:
    """The distinct whole plays of all states, repeatedly, without observations."""
    rules = Settings(cube=False).record()
    counted = {"rolls": 0.0, "plays": 0.0}

    def once() -> None:
        _, _, after = plays(states, rules)
        counted["rolls"] += len(states)
        counted["plays"] += len(after)

    once()
    counted.update(rolls=0.0, plays=0.0)
    counted["seconds"] = _for(seconds, once)
    return counted


def encode(seconds: float, states: States, name: str) -> Counted:
    """Observations of one encoder."""
    view, rules = encoder(name), Settings(cube=False).record()
    seats = np.zeros(len(states), np.int8)
    out: npt.NDArray[np.float32] = np.empty((len(states), view.size), np.float32)
    view.kernel(states, rules, seats, out)
    counted = {"observations": 0.0}

    def once() -> None:
        view.kernel(states, rules, seats, out)
        counted["observations"] += len(states)

    counted["seconds"] = _for(seconds, once)
    return counted


def _part(states: States) -> npt.NDArray[np.int64]:
    """The part of the game of each state, as an index into PARTS."""
    points = np.arange(26)
    held = states["points"] > 0
    rear = (held * points).max(2).sum(1)
    return np.where(states["turns"] <= 10, 0, np.where(rear >= 25, 1, 2))


PARTS = ("first ten turns", "contact", "race")
"""Parts of a game, whose steps differ in cost."""


@lru_cache
def _states_by_part(seed: int) -> tuple[VectorEnv, list[dict[str, Any]]]:
    """A batch, and for each of PARTS a save of it with all games in that part."""
    env = VectorEnv(4096, cube=False, opponent=None, autoreset_mode="same_step")
    env.reset(seed=seed)
    rng, kept = np.random.default_rng(seed), []
    for k in range(2 * _WARM):
        env.step(env.sample(rng))
        if k % 16 == 0:
            kept.append(env.save())
    states = np.concatenate([saved["states"] for saved in kept])
    slots = np.concatenate([saved["slots"] for saved in kept])
    part, starts = _part(states), []
    for number in range(len(PARTS)):
        chosen = rng.choice(np.flatnonzero(part == number), 4096)
        starts.append({**kept[0], "states": states[chosen], "slots": slots[chosen]})
    return env, starts


def in_part(seconds: float, part: str, seed: int = 0) -> Counted:
    """A few steps of a batch with all games in one part of the game, again and again from the same states."""
    (env, starts), rng = _states_by_part(0), np.random.default_rng(seed)
    start, counted = starts[PARTS.index(part)], {"steps": 0.0, "seconds": 0.0}
    while counted["seconds"] < seconds:
        env.restore(start)
        began = time.process_time()
        for _ in range(4):
            env.step(env.sample(rng))
        counted["seconds"] += time.process_time() - began
        counted["steps"] += 4 * 4096
    return counted


class _Empty(AECEnv[str, Any, Any]):
    """An environment without a game: two agents take turns for 199 steps, and are given new arrays of our sizes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.metadata = {"name": "empty_v0", "render_modes": []}
        self.render_mode = None
        self.possible_agents = ["player_0", "player_1"]
        self._observation, self._mask = np.zeros(229, np.float32), np.zeros(150, np.int8)
        self._mask[40:48] = 1
        self._rest = 0

    def observe(self, agent: str) -> Any:  # noqa: ARG002 - there is nothing to see
        return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._rest = 199

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._rest -= 1
        self.agent_selection = "player_1" if self.agent_selection == "player_0" else "player_0"
        if self._rest == 0:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()


def aec(seconds: float, *, seed: int = 0, empty: bool = False) -> Counted:
    """Random games of the PettingZoo environment, with its checks and the mask sampled; or of the empty one."""
    env: Any = _Empty() if empty else BackgammonEnv(cube=False)
    rng, counted = np.random.default_rng(seed), {"games": 0.0, "steps": 0.0}

    def game() -> None:
        env.reset(seed=seed + int(counted["games"]))
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(sample(observation["action_mask"], rng))
                counted["steps"] += 1
        counted["games"] += 1

    counted["seconds"] = _for(seconds, game)
    return counted
