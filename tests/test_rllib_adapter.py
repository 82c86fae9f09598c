"""bg_env under RLlib: the names it looks for, both agents' ends, and the native batch as its env runners make it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="needs the extra bg_env[rllib]")

import gymnasium
from gymnasium.wrappers.vector import DictInfoToList
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

import bg_env
from bg_env import SettingsError, backgammon_v0
from bg_env.adapters.rllib import NativeVectorEnv, SelfPlayEnv, native


def legal(mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("config", [{"cube": False}, {"match_length": 2}, {"observation": "planes", "variant": "hypergammon"}])
def test_self_play_is_the_environment_of_pettingzoo(config):
    rng = np.random.default_rng(1)
    env, twin = SelfPlayEnv(config), backgammon_v0.env(**config)
    seen, infos = env.reset(seed=5)
    twin.reset(seed=5)
    terminated = {"__all__": False}
    sums = dict.fromkeys(env.possible_agents, 0.0)
    while not terminated["__all__"]:
        agent = twin.agent_selection
        assert list(seen) == list(infos) == [agent]
        assert env.observation_spaces[agent].contains(seen[agent])
        told = twin.observe(agent)
        assert np.array_equal(seen[agent]["observations"], told["observation"].ravel())
        assert np.array_equal(seen[agent]["action_mask"], told["action_mask"])
        action = legal(told["action_mask"], rng)
        seen, rewards, terminated, truncated, infos = env.step({agent: action})
        twin.step(action)
        assert not truncated["__all__"]
        for name, reward in rewards.items():
            assert reward == twin.rewards[name]
            sums[name] += reward
    assert set(seen) == {"player_0", "player_1"}  # both see the end
    assert terminated == dict.fromkeys(["player_0", "player_1", "__all__"], True)
    assert sums["player_0"] == -sums["player_1"] != 0
    assert set(seen) <= set(env.agents)


def test_rllibs_own_check_passes():
    check_multiagent_environments(SelfPlayEnv({"cube": False}))


def test_the_native_batch_is_made_by_rllibs_call():
    gymnasium.register("rllib-single-agent-env-v0", vector_entry_point=lambda num_envs: native({"num_envs": num_envs}))
    made = gymnasium.make_vec("rllib-single-agent-env-v0", num_envs=8, vectorization_mode="vector_entry_point")
    envs = DictInfoToList(made)
    seen, infos = envs.reset(seed=3)
    assert len(infos) == 8
    assert envs.observation_space.contains(seen)
    twin = gymnasium.make_vec("bg_env/Backgammon-v0", num_envs=8)
    told, _ = twin.reset(seed=3)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(300):
        actions = bg_env.sample(told["action_mask"], rng)
        seen, rewards, terminated, _, infos = envs.step(list(actions))
        told, same, over, _, _ = twin.step(actions)
        assert np.array_equal(seen["observations"], told["observation"])
        assert np.array_equal(seen["action_mask"], told["action_mask"])
        assert seen["action_mask"].dtype == np.float32
        assert np.array_equal(rewards, same)
        assert np.array_equal(terminated, over)
        assert infos == [{}] * 8
        ends += over.sum()
    assert ends > 5


def test_one_game_has_the_same_names():
    env = native({"cube": False})
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    seen, reward, terminated, truncated, _ = env.step(legal(seen["action_mask"], np.random.default_rng(0)))
    assert env.observation_space.contains(seen)
    assert (reward, terminated, truncated) == (0, False, False)


def test_what_corrupts_episodes_is_refused():
    with pytest.raises(SettingsError, match='RLlib needs autoreset_mode="next_step"'):
        NativeVectorEnv(2, autoreset_mode="same_step")
    with pytest.raises(SettingsError, match="takes the mask from the observation"):
        SelfPlayEnv({"mask": "info"})
