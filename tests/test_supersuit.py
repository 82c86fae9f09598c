"""SuperSuit's wrappers around both kinds of environment: which of them fit, and what they leave of the mask."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from env_cases import api_test, seed_test

import bg_env
from bg_env import backgammon_v0

supersuit = pytest.importorskip("supersuit", reason="needs the extra bg_env[supersuit]")

PLAIN = {
    "dtype": lambda env: supersuit.dtype_v0(env, np.float16),
    "flatten": supersuit.flatten_v0,
    "reshape": lambda env: supersuit.reshape_v0(env, (229, 1)),
    "normalize": supersuit.normalize_obs_v0,
    "stack": lambda env: supersuit.frame_stack_v2(env, 2),
    "pad": supersuit.pad_observations_v0,
    "lambda": lambda env: supersuit.observation_lambda_v0(
        env, lambda seen, space: seen[:196], lambda space: gymnasium.spaces.Box(space.low[:196], space.high[:196])
    ),
}
"""Wrappers of the observation: they want a plain array, so the mask is in the info."""
ANY = {
    "reward": lambda env: supersuit.reward_lambda_v0(env, lambda reward: reward / 3),
    "clip": lambda env: supersuit.clip_reward_v0(env, -1, 1),
    "nothing for NaN": supersuit.nan_zeros_v0,
}
"""Wrappers that look at no observation: they take the Dict as well."""


def wrapped(wrap, mask):
    return wrap(backgammon_v0.env(cube=False, mask=mask, illegal="raise"))


def play(env):
    """A game by random legal actions, by what the wrapper tells; decisions and the rewards at the end."""
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    decisions, told = 0, {}
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen)
        if terminated or truncated:
            told[agent] = reward
            env.step(None)
            continue
        mask = info["action_mask"] if "action_mask" in info else seen["action_mask"]
        env.step(bg_env.sample(mask, rng))
        decisions += 1
    return decisions, told


@pytest.mark.parametrize(
    ("wrap", "mask"),
    [pytest.param(wrap, "info", id=name) for name, wrap in {**PLAIN, **ANY}.items()]
    + [pytest.param(wrap, mask, id=f"{name}-{mask}") for name, wrap in ANY.items() for mask in ("both", "observation")],
)
def test_a_wrapped_game_is_the_same_game(wrap, mask):
    decisions, told = play(wrapped(wrap, mask))
    bare, worth = play(backgammon_v0.env(cube=False))
    assert decisions == bare
    assert {agent: np.sign(reward) for agent, reward in told.items()} == {a: np.sign(r) for a, r in worth.items()}


def test_pettingzoos_checks_pass_around_them():
    def make():
        env = backgammon_v0.env(cube=False, mask="info")
        env = supersuit.reward_lambda_v0(env, lambda reward: reward / 3)
        return supersuit.frame_stack_v2(supersuit.dtype_v0(env, np.float16), 2)

    api_test(make(), num_cycles=200)
    seed_test(make, num_cycles=50)


@pytest.mark.parametrize("wrap", PLAIN.values(), ids=PLAIN)
def test_wrappers_of_the_observation_take_no_dict(wrap):
    with pytest.raises((AssertionError, AttributeError)):
        wrapped(wrap, "both").reset(seed=1)


def test_wrappers_for_parallel_environments_refuse_the_game():
    """One agent acts several times in a row, which the parallel API cannot say; for many games there is the native batch."""
    with pytest.raises(AssertionError, match="ParallelEnv"):
        supersuit.pettingzoo_env_to_vec_env_v1(backgammon_v0.env())
    with pytest.raises(AssertionError, match="not generally safe"):
        supersuit.black_death_v3(backgammon_v0.env())


def test_the_single_environment_keeps_its_masks():
    env = supersuit.frame_stack_v1(gymnasium.make("bg_env/BackgammonCubeless-v0", mask="info", illegal="raise"), 2)
    rng = np.random.default_rng(0)
    seen, info = env.reset(seed=1)
    done = False
    while not done:
        assert seen.shape == (458,)
        assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
        seen, reward, terminated, truncated, info = env.step(bg_env.sample(info["action_mask"], rng))
        done = terminated or truncated
    assert abs(reward) >= 1
