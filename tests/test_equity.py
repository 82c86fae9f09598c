"""The match equity table and the reward `mwc` made of it: entries of the file, its notice, and sums over matches."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

from bg_env import backgammon_v0
from bg_env import rules as engine
from bg_env.equity import LONGEST, MATCH_EQUITY, match_equity
from bg_env.errors import SettingsError
from bg_env.rewards import MWC, REWARDS, reward, reward_of
from bg_env.rules import STATE, Phase, Settings


def test_entries_of_the_table():
    assert LONGEST == 25
    assert match_equity(7, 7) == match_equity(1, 1) == match_equity(25, 25) == 0.5
    assert match_equity(1, 2) == 0.67736
    assert match_equity(2, 1) == 0.32264
    assert match_equity(2, 4) == 0.6687
    assert match_equity(1, 25) == 0.99905
    assert match_equity(2, 1, post_crawford=True) == 0.48803
    assert match_equity(5, 1, post_crawford=True) == 0.19012
    assert match_equity(1, 25, post_crawford=True) == pytest.approx(1 - 0.00123)
    assert match_equity(3, 5, post_crawford=True) == match_equity(3, 5)  # nobody is near: the Crawford game is to come
    assert match_equity(0, 3) == match_equity(-2, 1) == 1
    assert match_equity(3, 0) == 0


def test_the_two_players_share_one_chance_and_points_help():
    inside = MATCH_EQUITY[:, 1:, 1:]
    assert np.abs(inside + inside.transpose(0, 2, 1) - 1).max() < 1e-12
    assert (np.diff(MATCH_EQUITY[:, 1:, :], axis=2) > 0).all()
    assert not MATCH_EQUITY.flags.writeable


@pytest.mark.parametrize("away", [(26, 1), (1, 26), (0, 0), (-1, 0)])
def test_scores_past_the_table_are_refused(away):
    with pytest.raises(SettingsError, match="covers scores from 1 to 25"):
        match_equity(*away)


def test_the_file_keeps_its_notice():
    text = (resources.files("bg_env") / "data" / "Kazaross-XG2.xml").read_text(encoding="utf-8")
    assert "Copyright (C) 2011 Neil Kazaross" in text
    assert (
        "are permitted in any medium without royalty provided the copyright\n     notice and this notice are preserved." in text
    )


def test_the_table_is_the_one_handed_over(shared):
    rows = json.loads((shared / "data" / "match_equity" / "mets.json").read_text(encoding="utf-8"))["Kazaross-XG2"]
    assert np.array_equal(MATCH_EQUITY[0, 1:, 1:], rows["pre"])
    assert np.array_equal(MATCH_EQUITY[1, 2:, 1], rows["post"][0][1:])


def test_what_mwc_refuses():
    with pytest.raises(SettingsError, match="'mwc' needs a match"):
        reward("mwc").check(Settings())
    with pytest.raises(SettingsError, match="'mwc' knows matches up to 25 points, not 26"):
        reward("mwc").check(Settings(match_length=26))
    reward("mwc").check(Settings(match_length=25))
    assert reward("mwc").most(Settings(match_length=25)) == 1


def post(away):
    return match_equity(away, 1, post_crawford=True)


def test_the_crawford_game_and_the_games_after_it():
    """A match to 5: 4-0 to player 0 by a gammon with the cube on 2, then player 1 wins the Crawford game and one after it."""
    settings = Settings(match_length=5)
    rules, states = settings.record(), np.zeros(1, STATE)
    engine.new_episode(states, 0, rules, np.uint64(7))
    told = []
    for winner, cube, level in ((0, 1, 2), (1, 0, 1), (1, 0, 1), (1, 1, 3)):
        states["turn"], states["cube"], states["owner"] = winner, cube, 1 if cube else -1
        engine.resign(states, 0, rules, 1 - winner, level)
        told.append(reward_of(states, 0, rules, MWC))
    assert told == pytest.approx(
        [
            match_equity(1, 5) - 0.5,
            (1 - post(4)) - match_equity(1, 5),
            (1 - post(3)) - (1 - post(4)),
            0 - (1 - post(3)),
        ]
    )
    assert sum(told) == pytest.approx(-0.5)
    assert states[0]["score"].tolist() == [4, 8]


@pytest.mark.parametrize(
    "settings",
    [
        Settings("hypergammon", match_length=7),
        Settings("hypergammon", match_length=3),
        Settings("hypergammon", match_length=1),
        Settings("hypergammon", match_length=5, crawford=False, allow_dead_cube=True),
        Settings("hypergammon", match_length=9, cube=False),
        Settings("hypergammon", match_length=25),
    ],
    ids=str,
)
@pytest.mark.parametrize("score", [(0, 0), None])
def test_it_sums_to_what_the_winner_did_not_have_yet(settings, score):
    rng = np.random.default_rng(5)
    rules, states = settings.record(), np.zeros(1, STATE)
    mask = np.zeros((1, settings.actions), np.int8)
    for seed in range(12):
        engine.new_episode(states, 0, rules, np.uint64(seed))
        s = states[0]
        s["score"] = score or rng.integers(settings.match_length, size=2)
        near = [n == settings.match_length - 1 for n in s["score"]]
        s["crawford"] = settings.crawford and settings.cube and settings.match_length > 1 and sum(near) == 1
        away = (settings.match_length - s["score"]).tolist()
        total, at_start = 0.0, match_equity(*away, post_crawford=settings.cube and not s["crawford"])
        engine.settle(states, 0, rules)
        while s["phase"] != Phase.OVER:
            if rng.random() < 0.0005:
                engine.forfeit(states, 0, rules, int(s["decider"]))
            else:
                engine.legal_mask(states, 0, rules, mask, 0)
                engine.apply(states, 0, rules, int(rng.choice(np.flatnonzero(mask[0]))))
            value = reward_of(states, 0, rules, MWC)
            assert np.sign(value) == (0 if s["winner"] < 0 else 1 - 2 * s["winner"])
            total += value
            engine.settle(states, 0, rules)
        assert total == pytest.approx(float(s["winner"] == 0) - at_start)
    assert REWARDS["mwc"].kind == MWC


def test_an_environment_pays_it():
    env = backgammon_v0.env(match_length=2, reward="mwc", cube=False)
    env.reset(seed=4)
    rng = np.random.default_rng(0)
    total = np.zeros(2)
    while not any(env.terminations.values()):
        observation = env.last()[0]
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        total += [env.rewards[name] for name in env.possible_agents]
    assert total.sum() == pytest.approx(0)
    assert abs(total[0]) == pytest.approx(0.5)
