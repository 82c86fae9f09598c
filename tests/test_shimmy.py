"""Shimmy makes PettingZoo environments of OpenSpiel games, so of bg_env's too; its faults are told here, with its version."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pytest
from env_cases import api_test

pytest.importorskip("shimmy", reason="needs the extra bg_env[shimmy]")
pytest.importorskip("pyspiel", reason="needs the extra bg_env[openspiel]")

from shimmy import OpenSpielCompatibilityV0

import bg_env
from bg_env import backgammon_v0
from bg_env.adapters.openspiel import NAME, load_game
from bg_env.rules import Phase

LIMITS = "Agent's m.*imum observation space value is"  # Shimmy knows no bounds of observations


def make(**config):
    """By name, not as a game: Shimmy loads the game anew at each reset, and then knows nothing but name and config."""
    return OpenSpielCompatibilityV0(game_name=NAME, config=config)


def test_pettingzoos_check_passes():
    with pytest.warns(UserWarning, match=LIMITS):
        api_test(make(variant="hypergammon", cube=0), num_cycles=200)


@pytest.mark.parametrize("config", [{"cube": 0}, {"match_length": 2}, {"variant": "acey_deucey"}])
def test_it_is_the_same_game_as_without_shimmy(config):
    """Agents, masks, observations and points are those of a bg_env.Game that stands as Shimmy's state does, to the end."""
    env, rng = make(**config), np.random.default_rng(0)
    env.reset(seed=3)
    settings = bg_env.Settings(**{**config, "cube": bool(config["cube"])} if "cube" in config else config)
    twin = backgammon_v0.env(variant=settings.variant, cube=settings.cube, match_length=settings.match_length)
    assert env.action_space("player_0").n == twin.action_space("player_0").n
    decisions = 0
    for agent in env.agent_iter():
        if env.terminations[agent]:
            break
        seen, _, _, _, info = env.last()
        game = env.game_state.game()
        assert agent == f"player_{game.player}"
        assert np.flatnonzero(info["action_mask"]).tolist() == game.legal_actions()
        view = bg_env.ENCODERS["tesauro"].encode(game.states, settings.record(), seats=game.player)[0]
        assert np.array_equal(seen.astype(np.float32), view)
        env.step(bg_env.sample(info["action_mask"], rng))
        decisions += 1
    assert decisions > 20
    state = env.game_state.states[0]
    assert state["phase"] == Phase.OVER
    winner = int(state["winner"])
    worth = 1 if settings.match_length else int(state["won"])
    assert env.game_state.returns()[winner] == worth == -env.game_state.returns()[1 - winner]


def test_what_shimmy_does_wrong():
    """If one of these fails, Shimmy has been mended: then docs/integrations.md has a line to lose."""
    assert version("shimmy") == "2.0.1"
    env = OpenSpielCompatibilityV0(env=load_game("hypergammon", cube=False))
    env.reset(seed=1)
    assert env.action_space("player_0").n == 154  # not 150: the game that was given is replaced by the default one
    env, rng = make(variant="hypergammon", cube=0), np.random.default_rng(0)
    env.reset(seed=1)
    told = []
    for _ in env.agent_iter():
        _, reward, terminated, _, info = env.last()
        if terminated:
            told.append(reward)
        env.step(None if terminated else bg_env.sample(info["action_mask"], rng))
    assert told[1] == -2 * told[0] == 2 * env.game_state.returns()[1]  # the last to be told is told twice its reward
