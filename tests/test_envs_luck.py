"""Environments with `luck`: rewards less the luck of the rolls, the same games, infos and returns; every kind of game."""

from __future__ import annotations

import copy

import gymnasium
import numpy as np
import pytest
from nets import random_net
from test_arena_luck import OUTCOME, RACE, fixed_net

from bg_env import Variant, backgammon_v0
from bg_env.actions import DOUBLE
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import SettingsError
from bg_env.evaluation.luck import LuckMeter
from bg_env.players import ValuePlayer
from bg_env.rules import STATE, apply, apply_roll, new_episode

SMALL = ValuePlayer(random_net(3), name="small")
BACK = Variant("two", {24: 1, 3: 1})


def test_rewards_by_hand():
    """One checker each on the 4 point: all rolls but 2-1 bear off and win a gammon; the net says the same everywhere."""
    probabilities = np.array([0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
    equity = float(probabilities @ OUTCOME)
    answer = (34 * 2 - 2 * equity) / 36  # of a roll, to who is on roll
    env = SingleEnv(variant=RACE, cube=False, opponent="random", luck=ValuePlayer(fixed_net(probabilities)))
    seen = set()
    for seed in range(120):
        _, info = env.reset(seed=seed)
        turns, total, over = info["turns"], 0.0, False
        while not over:
            _, reward, over, _, info = env.step(int(np.argmax(env.action_masks())))
            total += reward
        later = info["turns"] - turns
        # rolls of the reset count nowhere; a first roll less luck has the value that was expected of it, and so on
        want = {0: 2.0 if info["winner"] == env.seat else -2.0, 1: -answer, 2: 2 - equity - answer}
        if later in want and (turns == 1 or later == 0):
            assert total == pytest.approx(want[later], abs=1e-6)
        seen.add(later)
    assert {0, 1} <= seen


CASES = [
    {"cube": False, "opponent": "random"},
    {"cube": True, "jacoby": True, "beavers": 1, "auto_doubles": 2, "opponent": "random"},
    {"cube": False, "opponent": "pubeval", "reward": "normalized"},
    {"cube": True, "opponent": "pubeval", "seat": 1, "max_turns": 30},
    {"match_length": 3, "reward": "match", "opponent": "random"},
    {"match_length": 2, "reward": "mwc", "opponent": None},
    {"variant": "acey_deucey", "opponent": None},
]


def luck_in(env, first):
    """The luck of player_0 in the rolls that follow the `first` events of the episode, by playing it again."""
    settings = env.settings
    meter, rules = LuckMeter(SMALL, settings), settings.record()
    states = np.zeros(1, STATE)
    new_episode(states, 0, rules, np.uint64(0))
    total = 0.0
    for k, event in enumerate(env._episode.events):
        if event.roll is not None:
            if k >= first:
                total += float(meter.of_rolls(states, np.array([event.roll]))[0])
            apply_roll(states, 0, rules, *event.roll)
        else:
            apply(states, 0, rules, event.action)
    return total


@pytest.mark.parametrize("options", CASES, ids=str)
def test_the_luck_of_every_step_is_that_of_its_rolls(options):
    """Against the same game without luck: the difference of the rewards so far is the luck of the rolls since the reset."""
    how = {"variant": BACK, "render_mode": "rgb_array"} | options
    lucky, plain = SingleEnv(luck=SMALL, **how), SingleEnv(**how)
    unit = {"normalized": 1 / 3, "match": 2.0}.get(options.get("reward", ""), 1.0)
    rng = np.random.default_rng(1)
    for seed in range(2):
        observation, _ = lucky.reset(seed=seed)
        plain.reset(seed=seed)
        first, total, over, steps = len(lucky._episode.events), 0.0, False, 0
        while not over and steps < 60:
            actor = lucky.seat if lucky.seat is not None else lucky.game.player
            legal = np.flatnonzero(lucky.action_masks())
            action = DOUBLE if DOUBLE in legal and rng.random() < 0.5 else int(rng.choice(legal))
            observation, reward, over, cut, info = lucky.step(action)
            same, bare, *ends, told = plain.step(action)
            np.testing.assert_array_equal(observation["observation"], same["observation"])
            assert [over, cut] == ends
            assert {name: info[name] for name in ("points", "winner", "turns")} == {
                name: told[name] for name in ("points", "winner", "turns")
            }
            total += (bare - reward) * (-1 if actor == 1 else 1)
            over, steps = over or cut, steps + 1
        assert total == pytest.approx(unit * luck_in(lucky, first), abs=1e-9)
        assert abs(total) > 1e-9


@pytest.mark.parametrize("options", [CASES[1], CASES[4], CASES[5]], ids=str)
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_batch_has_the_rewards_of_single_games(options, mode):
    how = {"variant": BACK, "luck": SMALL} | options
    batch, plain = VectorEnv(3, autoreset_mode=mode, **how), VectorEnv(3, autoreset_mode=mode, **how | {"luck": None})
    whole = copy.deepcopy(batch)
    batch.reset(seed=5)
    plain.reset(seed=5)
    whole.reset(seed=5)
    single = SingleEnv(**how)
    single.reset(seed=5)
    going, ended = True, 0
    for _ in range(60):
        actions = plain.sample()
        observation, rewards, terminated, truncated, infos = batch.step(actions)
        same, _, *ends, told = plain.step(actions)
        np.testing.assert_array_equal(observation["observation"], same["observation"])
        np.testing.assert_array_equal([terminated, truncated], ends)
        np.testing.assert_array_equal(infos["episode"]["r"], told["episode"]["r"])
        np.testing.assert_array_equal(infos["points"], told["points"])
        ended += int(terminated.sum())
        if going:
            assert single.step(int(actions[0]))[1] == pytest.approx(rewards[0], abs=1e-12)
            going = not (terminated[0] or truncated[0])
    assert ended
    saved, loaded = batch.save(), copy.deepcopy(batch)
    actions = plain.sample()
    after = batch.step(actions)[1]
    np.testing.assert_array_equal(loaded.step(actions)[1], after)
    whole.restore(saved)
    np.testing.assert_array_equal(whole.step(actions)[1], after)


def test_whole_plays_threads_and_queued_dice():
    """Candidates instead of actions; games on two threads; rolls given in advance have no luck."""
    how = {"variant": BACK, "cube": False, "luck": SMALL}
    one, two = VectorEnv(2048, opponent="pubeval", **how), VectorEnv(2048, opponent="pubeval", num_threads=2, **how)
    for env in (one, two):
        env.reset(seed=1)
    lucks = 0
    for _ in range(3):
        one.afterstates()
        index = two.afterstates().offsets[:-1]
        left, right = one.step_plays(index)[1], two.step_plays(index)[1]
        np.testing.assert_array_equal(left, right)
        lucks += int(np.count_nonzero(left))
    assert lucks > 3000
    one.close()
    two.close()
    env = SingleEnv(opponent=None, **how)
    env.reset(seed=1, options={"dice": [(3, 1), (2, 1), (4, 3), (5, 2)]})
    rewards = [env.step(int(np.argmax(env.action_masks())))[1] for _ in range(8)]
    assert rewards[:7] == [0.0] * 7
    assert rewards[7] != 0  # the next roll is of the game's own stream


def test_the_mean_of_returns_stays():
    how = {"variant": BACK, "cube": False, "opponent": "pubeval"}
    lucky, plain = VectorEnv(256, luck=SMALL, **how), VectorEnv(256, **how)
    lucky.reset(seed=2)
    plain.reset(seed=2)
    differences = np.zeros(256)
    for _ in range(60):
        actions = plain.sample()
        differences += lucky.step(actions)[1] - plain.step(actions)[1]
    assert abs(differences.mean()) < 4 * differences.std() / 16
    assert differences.std() > 0.1


def test_both_agents_have_it_too():
    env, plain = backgammon_v0.env(luck=SMALL, cube=False), backgammon_v0.env(cube=False)
    env.reset(seed=3)
    plain.reset(seed=3)
    for _ in range(6):
        action = int(np.argmax(env.observe(env.agent_selection)["action_mask"]))
        env.step(action)
        plain.step(action)
        assert env.rewards["player_0"] == -env.rewards["player_1"]
        assert not any(plain.rewards.values())
    assert any(env._cumulative_rewards.values())
    made = gymnasium.make("bg_env/Backgammon-v0", luck="td")
    assert '"luck": "td"' in made.spec.to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"luck": 5}, "luck is a player with a value net, or its name, such as 'td', or None, not 5"),
        ({"luck": "random"}, "luck is measured by a value net, such as that of 'td': 'random' has no value net"),
        ({"luck": "nobody"}, "no player is called 'nobody'"),
        ({"luck": "td", "reward": "win"}, "with luck the reward in money play is 'points' or 'normalized', not 'win'"),
        ({"luck": "td", "match_length": 3}, "with luck the reward in matches is 'match' or 'mwc', not 'points'"),
        ({"luck": "td-cube", "match_length": 3, "reward": "match"}, "'td-cube' measures no luck here: .* knows no matches"),
    ],
)
def test_what_has_no_luck_is_refused(options, message):
    for make in (SingleEnv, VectorEnv):
        with pytest.raises(SettingsError, match=message):
            make(**options)
