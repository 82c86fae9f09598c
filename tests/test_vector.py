"""The native batch: game i is the single environment with that seed, whatever the size, the threads and the mode."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bg_env.batch import batch as games
from bg_env.batch.info import INFO_KEYS
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.registration import IDS
from bg_env.rules import legal_mask, plays


@pytest.fixture(autouse=True)
def small_batches_have_threads_too(monkeypatch):
    monkeypatch.setattr(games, "FEWEST", 1)


MODES = ("next_step", "same_step", "disabled")


def lowest(observation, mask=None):
    """A callable opponent: the first legal action."""
    mask = observation["action_mask"] if mask is None else mask
    return np.argmax(mask, 1)


class Bound:
    def bind(self, settings):
        self.rules = settings.record()
        return self


class ByWords(Bound):
    """A player whose choice depends on its random words, and so on their order."""

    def choose(self, states, words):
        mask = np.zeros((len(states), 161), np.int8)
        for i in range(len(states)):
            legal_mask(states, i, self.rules, mask, i)
        return np.array([np.flatnonzero(row)[bits % int(row.sum())] for row, bits in zip(mask, words.tolist(), strict=True)])


class WholePlays(Bound):
    """The same for whole plays; it knows no cube."""

    def choose_plays(self, states, words):
        offsets, actions, _ = plays(states, self.rules)
        starts, counts = offsets[:-1], np.diff(offsets)
        return np.array(
            [actions[at + bits % n] for at, n, bits in zip(starts.tolist(), counts.tolist(), words.tolist(), strict=True)]
        )


def by_rule(mask, rng, illegal_every=0):
    """Legal actions by chance, cube turns seldom, and now and then an illegal one."""
    mask = mask.astype(np.float64)
    mask[151:154:2] *= 0.05
    if illegal_every and rng.integers(illegal_every) == 0:
        return int(np.argmin(mask))
    return int(rng.choice(len(mask), p=mask / mask.sum()))


class Follow:
    """The single environments that a batch must equal, stepped by the rules of its autoreset mode."""

    def __init__(self, n, seed, mode, **options):
        self.mode = mode
        self.envs = [SingleEnv(**options) for _ in range(n)]
        self.over = [False] * n
        self.total, self.length = np.zeros(n), np.zeros(n, int)
        self.now = [env.reset(seed=seed + i) for i, env in enumerate(self.envs)]

    def step(self, i, action):
        """observation, reward, terminated, truncated, info, final (observation, info) or None, (return, length) or None."""
        env = self.envs[i]
        if self.over[i]:
            self.over[i] = False
            self.total[i] = self.length[i] = 0
            return *self.reset(i), None, None
        observation, reward, terminated, truncated, info = env.step(action)
        self_play = env.seat is None
        actor = self.now[i][1]["player"]
        self.total[i] += -reward if self_play and actor == 1 else reward
        self.length[i] += 1
        self.now[i] = observation, info
        if not (terminated or truncated):
            return observation, reward, terminated, truncated, info, None, None
        episode = self.total[i], self.length[i]
        if self.mode != "same_step":
            self.over[i] = True
            return observation, reward, terminated, truncated, info, None, episode
        self.total[i] = self.length[i] = 0
        fresh, fresh_info = env.reset()
        self.now[i] = fresh, fresh_info
        return fresh, reward, terminated, truncated, fresh_info, (observation, info), episode

    def reset(self, i):
        self.now[i] = self.envs[i].reset()
        self.total[i] = self.length[i] = 0
        self.over[i] = False
        return self.now[i][0], 0.0, False, False, self.now[i][1]


def same_view(one, other):
    if isinstance(one, dict):
        assert list(one) == list(other)
        return all(np.array_equal(one[name], other[name]) and one[name].dtype == other[name].dtype for name in one)
    return np.array_equal(one, other) and one.dtype == other.dtype


def row(view, i):
    return {name: value[i] for name, value in view.items()} if isinstance(view, dict) else view[i]


def assert_info(infos, i, info):
    for name in INFO_KEYS:
        assert infos[name][i] == info[name], name
    assert ("action_mask" in infos) == ("action_mask" in info)
    if "action_mask" in info:
        assert np.array_equal(infos["action_mask"][i], info["action_mask"])


def follow(n, steps, mode, seed=11, illegal_every=0, threads=1, copy=True, **options):
    """Play a batch and the single environments side by side; returns how many episodes ended."""
    vec = VectorEnv(n, autoreset_mode=mode, num_threads=threads, copy=copy, **options)
    singles = Follow(n, seed, mode, **options)
    rng = np.random.default_rng(seed)
    observation, infos = vec.reset(seed=seed)
    for i in range(n):
        assert same_view(row(observation, i), singles.now[i][0])
        assert_info(infos, i, singles.now[i][1])
    ended = 0
    for _ in range(steps):
        masks = vec.action_masks()
        actions = np.array([by_rule(masks[i], rng, illegal_every) for i in range(n)])
        observation, rewards, terminated, truncated, infos = vec.step(actions)
        done = terminated | truncated
        for i in range(n):
            view, reward, term, trunc, info, final, episode = singles.step(i, int(actions[i]))
            assert same_view(row(observation, i), view)
            assert (rewards[i], terminated[i], truncated[i]) == (reward, term, trunc)
            assert_info(infos, i, info)
            assert infos["_episode"][i] == (episode is not None)
            assert (infos["episode"]["r"][i], infos["episode"]["l"][i]) == (episode or (0, 0))
            if final is not None:
                ended += 1
                assert same_view(infos["final_obs"][i], final[0])
                assert infos["_final_obs"][i]
                assert infos["_final_info"][i]
                assert_info(infos["final_info"], i, final[1])
        if mode == "same_step":
            assert ("final_obs" in infos) == done.any()
        else:
            assert "final_obs" not in infos
            ended += int(done.sum())
        if mode == "disabled" and done.any():
            observation, infos = vec.reset(options={"reset_mask": done})
            for i in range(n):
                if done[i]:
                    view, *_, info = singles.reset(i)
                    assert same_view(row(observation, i), view)
                    assert_info(infos, i, info)
    return ended


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opponent", ["random", None, "pubeval"])
@pytest.mark.parametrize("name", IDS)
def test_game_i_is_the_single_environment_with_its_seed(name, opponent, mode):
    options = {**IDS[name], "opponent": opponent, "max_turns": 40, "illegal_every": 300}
    assert follow(4, 120, mode, **options) > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opponent", [lowest, ByWords(), WholePlays()], ids=["callable", "player", "plays"])
def test_other_opponents_play_as_in_the_single_environment(opponent, mode):
    for name in ("backgammon", "acey_deucey"):
        assert follow(5, 70, mode, variant=name, cube=True, opponent=opponent, max_turns=20, illegal_every=200) > 0


@pytest.mark.parametrize(
    ("n", "threads", "options"),
    [
        (1, 1, {}),
        (17, 2, {"mask": "info", "observation": "planes"}),
        (9, 4, {"mask": "observation", "match_length": 3, "reward": "match"}),
        (6, 9, {"opponent": None, "match_length": 2, "reward": "win", "observation": "counts"}),
        (5, 2, {"seat": 1, "beavers": 2, "jacoby": True, "auto_doubles": 1, "opponent": lowest}),
        (5, 1, {"seat": 0, "mask": "info", "opponent": lowest}),
    ],
)
def test_every_size_number_of_threads_and_form_of_observation(n, threads, options):
    assert follow(n, 150, "same_step", threads=threads, max_turns=30, illegal_every=400, **options) > 0
    assert follow(n, 60, "next_step", threads=threads, max_turns=15, copy=False, **options) > 0


def digest():
    """A number that depends on all that batches of three kinds show."""
    total, rng = 0, np.random.default_rng(1)
    for options in (
        {"variant": "acey_deucey", "cube": True, "opponent": "random"},
        {"variant": "hypergammon", "opponent": None, "match_length": 2},
        {"opponent": "pubeval", "num_threads": 2},
    ):
        env = VectorEnv(3, autoreset_mode="same_step", max_turns=12, **options)
        env.reset(seed=5)
        for k in range(24):
            if k % 3 == 0:
                found = env.afterstates(observation="tesauro198")
                total += int(found.states["points"].astype(np.int64).sum()) + int(found.actions.astype(np.int64).sum())
                observation, rewards, *_ = env.step_plays(found.offsets[:-1])
            else:
                observation, rewards, *_ = env.step(env.sample(rng))
            total += int(observation["observation"].sum() * 2) + int(rewards.sum())
            total += int(observation["action_mask"].sum(dtype=np.int64))
    return total


def test_without_compilation_the_games_are_the_same():
    code = "import sys; sys.path.insert(0, sys.argv[1]); from test_vector import digest; print(digest())"
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert told.stderr == ""
    assert int(told.stdout) == digest()
