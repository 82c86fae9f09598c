"""Rewards: every kind at every ending, over games and matches of the engine itself, and what the settings refuse."""

from __future__ import annotations

import numpy as np
import pytest

from bg_env import rules as engine
from bg_env.errors import SettingsError
from bg_env.rewards import REWARDS, reward, reward_of
from bg_env.rules import STATE, Phase, Settings


def state(**fields):
    states = np.zeros(1, STATE)
    states["winner"] = -1
    for name, value in fields.items():
        states[0][name] = value
    return states


def give(states, settings, name):
    return reward_of(states, 0, settings.record(), REWARDS[name].kind)


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("cube", [0, 3, 6])
def test_a_game_of_money_play(winner, level, cube):
    settings = Settings()
    won = level << cube
    over = state(winner=winner, level=level, won=won, cube=cube, ending=engine.END_FINISHED, phase=Phase.OVER)
    sign = 1 if winner == 0 else -1
    assert give(over, settings, "points") == sign * won
    assert give(over, settings, "win") == sign
    assert give(over, settings, "normalized") == sign * won / 192
    assert abs(give(over, settings, "normalized")) <= 1
    assert give(over, settings.but(cube_cap=8), "normalized") == sign * won / 24
    assert give(over, settings.but(cube=False), "normalized") == sign * won / 3


@pytest.mark.parametrize("name", list(REWARDS))
def test_a_step_that_ends_no_game_gives_nothing(name):
    settings = Settings(match_length=5)
    assert give(state(), settings, name) == 0
    assert give(state(ending=engine.END_TRUNCATED, phase=Phase.OVER), settings, name) == 0
    assert give(state(ending=engine.END_ILLEGAL, winner=1, level=3, won=3, phase=Phase.OVER), settings, name) < 0


def test_the_match_pays_at_its_end_only():
    settings = Settings(match_length=5)
    game = state(winner=1, level=2, won=4, phase=Phase.OPENING)
    assert give(game, settings, "points") == -4
    assert give(game, settings, "win") == -1
    assert give(game, settings, "match") == 0
    last = state(winner=1, level=2, won=4, phase=Phase.OVER, ending=engine.END_FINISHED, score=(0, 8))
    assert give(last, settings, "points") == -4  # in full, also past the length
    assert give(last, settings, "match") == -1
    cut = state(winner=1, level=2, won=4, phase=Phase.OVER, ending=engine.END_TRUNCATED, score=(0, 4))
    assert give(cut, settings, "points") == -4  # the game was won before the limit was reached
    assert give(cut, settings, "match") == 0


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings("hypergammon", cube=False),
        Settings("hypergammon", match_length=5),
        Settings("hypergammon", jacoby=True, beavers=3),
        Settings("hypergammon", match_length=9, max_turns=40),
        Settings("acey_deucey", cube=True, match_length=3),
    ],
    ids=str,
)
def test_whole_episodes_of_the_engine(settings):
    """Sums over an episode agree with what the episode ended with, for each kind of reward."""
    rng = np.random.default_rng(3)
    rules, states = settings.record(), np.zeros(1, STATE)
    mask = np.zeros((1, settings.actions), np.int8)
    s = states[0]
    for episode in range(40):
        engine.new_episode(states, 0, rules, np.uint64(engine.episode_key(np.uint64(8), episode)))
        engine.settle(states, 0, rules)
        total = dict.fromkeys(REWARDS, 0.0)
        wins, points, illegal = [0, 0], [0, 0], False
        while s["phase"] != Phase.OVER:
            if rng.random() < 0.001:
                illegal = True
                loser = int(s["decider"])
                at_stake = int(s["cube"]) + max(int(s["chain"]) - 1, 0)
                engine.forfeit(states, 0, rules, loser)
                assert s["won"] == 3 << at_stake
            else:
                engine.legal_mask(states, 0, rules, mask, 0)
                engine.apply(states, 0, rules, int(rng.choice(np.flatnonzero(mask[0]))))
                engine.settle(states, 0, rules)
            if s["winner"] >= 0:
                wins[s["winner"]] += 1
                points[s["winner"]] += int(s["won"])
            for name, item in REWARDS.items():
                value = reward_of(states, 0, rules, item.kind)
                assert isinstance(value, float)
                total[name] += value
        assert total["points"] == points[0] - points[1]
        assert total["win"] == wins[0] - wins[1]
        cap = settings.cube_cap if settings.cube else 1
        assert total["normalized"] == pytest.approx((points[0] - points[1]) / (3 * cap))
        if settings.match_length:
            assert s["score"].tolist() == points
            finished = s["ending"] == engine.END_FINISHED
            assert finished == (max(points) >= settings.match_length and not illegal)
            leader = 1 if points[0] > points[1] else -1
            offended = (1 if loser == 1 else -1) if illegal else 0
            assert total["match"] == (leader if finished else offended)


def test_what_the_settings_refuse():
    with pytest.raises(SettingsError, match="no reward is called 'mwc9': choose from points, win, normalized, match"):
        reward("mwc9")
    with pytest.raises(SettingsError, match="'normalized' needs a highest value of the cube"):
        reward("normalized").check(Settings(cube_cap=None))
    with pytest.raises(SettingsError, match="'normalized' needs a highest value of the cube"):
        reward("normalized").check(Settings(cube_cap=None, match_length=3))
    reward("normalized").check(Settings(cube_cap=None, cube=False))
    with pytest.raises(SettingsError, match="'match' needs a match"):
        reward("match").check(Settings())
    for name, item in REWARDS.items():
        assert item is reward(name)
        assert item.name == name
        item.check(Settings(match_length=7))
    assert len({item.kind for item in REWARDS.values()}) == len(REWARDS)


def test_the_most_a_game_can_be_worth():
    assert reward("points").most(Settings()) == 192
    assert reward("points").most(Settings(cube=False)) == 3
    assert reward("points").most(Settings(cube_cap=None)) == 3 * 32768
    assert reward("win").most(Settings()) == reward("normalized").most(Settings()) == 1
    assert reward("match").most(Settings(match_length=3)) == 1
    with pytest.raises(SettingsError, match="needs a match"):
        reward("match").most(Settings())
