"""Encoders and rewards of users in the environments of one game: the same numbers as built-in ones; failures change nothing."""

from __future__ import annotations

import pytest
from env_cases import first_legal, play, play_single, same, uniform

from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.errors import SettingsError
from bg_env.observations import ENCODERS, Encoder
from bg_env.rewards import MWC, Reward, rewards_of

MATCH = {"variant": "hypergammon", "match_length": 3}
MWC_TWIN = Reward("my-mwc", function=lambda states, rules: rewards_of(states, rules, MWC))


def counts(states, rules, seats, out):
    ENCODERS["counts"].kernel(states.copy(), rules, seats, out)


COUNTS_TWIN = Encoder("my-counts", ENCODERS["counts"].labels, ENCODERS["counts"].low, ENCODERS["counts"].high, counts)


def lowest(view):
    return view["action_mask"].argmax(1)


@pytest.mark.parametrize("opponent", [None, "random", "pubeval", lowest])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_single_environment_with_twins_of_built_in_ones(opponent, recorded):
    known = SingleEnv(**MATCH, reward="mwc", observation="counts", opponent=opponent)
    mine = SingleEnv(**MATCH, reward=MWC_TWIN, observation=COUNTS_TWIN, opponent=opponent)
    if recorded:
        mine.start_recording()
    seen = []
    for env in (known, mine):
        episodes = []
        for k in range(6):
            first = env.reset(seed=5 if k == 0 else None)
            episodes.append([first, play_single(env, uniform(k), *first)])
        seen.append(episodes)
    assert same(seen[0], seen[1])
    assert sum(step[1] != 0 for _, steps in seen[0] for step in steps) >= 6
    assert len(mine.records) == (6 if recorded else 0)


def test_a_pettingzoo_environment_with_twins_of_built_in_ones():
    seen = []
    for reward, observation in (("mwc", "counts"), (MWC_TWIN, COUNTS_TWIN)):
        env = BackgammonEnv(**MATCH, reward=reward, observation=observation)
        env.reset(seed=4)
        seen.append(play(env, uniform(2)))
    assert same(seen[0], seen[1])


def test_a_reward_that_fails_changes_nothing():
    broken = [False]

    def function(states, rules):
        if broken[0]:
            raise ZeroDivisionError
        return rewards_of(states, rules, MWC)

    env = SingleEnv(**MATCH, reward=Reward("breaks", function=function), opponent="random", seat=0)
    env.reset(seed=1)
    while True:
        before = env._episode.states.tobytes(), env._episode.infos(), env.action_masks()
        broken[0] = True
        action = first_legal(env.action_masks())
        try:
            env.step(action)
        except SettingsError:
            break
    assert same((env._episode.states.tobytes(), env._episode.infos(), env.action_masks()), before)
    broken[0] = False
    _, reward, *_ = env.step(action)
    assert reward != 0
