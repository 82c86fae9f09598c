"""TorchRL's wrappers around both kinds of environment: masks, waiting agents, resets of some games."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torchrl", reason="needs the extra bg_env[torchrl]")

import torch
from torchrl.envs import ActionMask, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

import bg_env
from bg_env import backgammon_v0

pytestmark = pytest.mark.filterwarnings("default")  # TorchRL warns of versions and of what it will change


def wrapped(mask="observation", **settings):
    """Self-play; the mask in one place, see the next test."""
    env = backgammon_v0.env(mask=mask, **settings)
    return PettingZooWrapper(env, use_mask=True, group_map={"players": ["player_0", "player_1"]}, seed=2)


def test_torchrl_stumbles_over_a_second_mask():
    """The fault of TorchRL 0.14 that the documentation describes: once this test fails, the warning there can be removed."""
    with pytest.raises(TypeError, match="'NoneType' object does not support item assignment"):
        wrapped("both").reset()


@pytest.mark.parametrize("mask", ["both", "observation"])
def test_it_is_made_by_its_id(mask):
    """TorchRL tries keyword arguments of its own first, and goes on without those that are refused as Python refuses them."""
    env = GymEnv("bg_env/BackgammonCubeless-v0", mask=mask, illegal="raise")
    data = TransformedEnv(env, ActionMask()).rollout(400, break_when_any_done=False)
    assert len(data) == 400
    assert data["next", "done"].any()


def test_the_state_is_passed_on():
    env = backgammon_v0.env(mask="observation")
    wrapper = PettingZooWrapper(env, use_mask=True, return_state=True, seed=2)
    data = wrapper.rollout(5)
    assert data["next", "state"].shape[1:] == (229,)
    assert np.array_equal(data["next", "state"][-1].numpy(), env.state())


@pytest.mark.parametrize("mask", ["observation", "info"])
def test_torchrl_finds_no_fault_with_self_play(mask):
    check_env_specs(wrapped(mask, cube=False))


def test_shared_parameters_in_one_group():
    """A rollout by random legal actions: one of the two acts, all that both are told is as PettingZoo tells it."""
    env = wrapped(cube=False, illegal="raise")
    data = env.rollout(2000, break_when_any_done=True)
    acts = data["players", "mask"]
    assert (acts.sum(dim=1) == 1).all()
    masks = data["players", "action_mask"]
    assert (masks[~acts] == 1).all()  # TorchRL frees those who wait
    chosen = masks.gather(2, data["players", "action"].unsqueeze(2)).squeeze(2)
    assert chosen.all()
    assert data["next", "players", "done"][-1].all()
    assert not data["next", "players", "done"][:-1].any()
    rewards = data["next", "players", "reward"].squeeze(2)
    assert rewards[:-1].count_nonzero() == 0
    assert rewards[-1].sum() == 0
    assert rewards[-1].abs().min() >= 1


def test_the_native_batch_begins_only_the_games_anew_that_are_over():
    envs = gymnasium.make_vec("bg_env/BackgammonCubeless-v0", 16, autoreset_mode="disabled")
    env = GymWrapper(envs, categorical_action_encoding=True)
    env.set_seed(1)
    twin = gymnasium.make_vec("bg_env/BackgammonCubeless-v0", 16, autoreset_mode="same_step")
    told, _ = twin.reset(seed=1)
    data = env.reset(seed=1)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(200):
        assert np.array_equal(data["observation"].numpy(), told["observation"])
        assert np.array_equal(data["action_mask"].numpy(), told["action_mask"])
        actions = bg_env.sample(told["action_mask"], rng)
        data["action"] = torch.from_numpy(actions)
        done, data = env.step_and_maybe_reset(data)
        told, rewards, over, _, _ = twin.step(actions)
        assert np.array_equal(done["next", "done"].squeeze(1).numpy(), over)
        assert np.array_equal(done["next", "reward"].squeeze(1).numpy(), rewards)
        ends += over.sum()
    assert ends > 5
