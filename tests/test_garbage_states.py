"""States that no rules made: players and encoders refuse them in one line, and read no memory by them."""

from __future__ import annotations

import numpy as np
import pytest
from nets import random_net

from bg_env.errors import BgEnvError, PositionError, SettingsError
from bg_env.game import Game
from bg_env.observations import ENCODERS
from bg_env.players import PubevalPlayer, RandomPlayer, ValuePlayer
from bg_env.players.function import FunctionPlayer
from bg_env.rules import STATE, Phase, Settings

SETTINGS = Settings()
START = Game(seed=1).states  # a roll is to be played
OTHERS = [np.zeros(3), None, [1], np.zeros((1, 1), STATE), "x"]
FIELDS = [
    {"points": 120},
    {"points": -1},
    {"turn": 100},
    {"decider": -100},
    {"phase": 99},
    {"phase": -1},
    {"dice": 99},
    {"left": 127},
    {"cube": 120},
    {"chain": 100},
    {"winner": 100},
    {"level": 100},
    {"stage": 9},
    {"score": -5},
]
UNPLAYABLE = [{"points": 0}, {"points": 3}, {"left": 0}, {"dice": 0}, {"turn": -1}, {"decider": -1}]


def states_with(fields):
    states = np.concatenate([START, START])
    for name, value in fields.items():
        states[name][1] = value
    return states


def legal(seen):
    return seen["action_mask"].argmax(1)


PLAYERS = [
    RandomPlayer().choose,
    PubevalPlayer(SETTINGS).choose_plays,
    ValuePlayer(random_net(1), settings=SETTINGS).choose,
    ValuePlayer(random_net(1), settings=SETTINGS).choose_plays,
    FunctionPlayer(legal, settings=SETTINGS).choose,
]


@pytest.mark.parametrize("ask", PLAYERS)
def test_a_player_is_not_asked_about_garbage(ask):
    words = np.zeros(2, np.uint64)
    ask(states_with({}), words)
    ask(START[:0], words[:0])
    for states in OTHERS:
        with pytest.raises(PositionError, match="1-D array of STATE records") as caught:
            ask(states, words)
        assert "\n" not in str(caught.value)
    for fields in (*FIELDS, *UNPLAYABLE):
        with pytest.raises(PositionError, match="state 1 has a wrong "):
            ask(states_with(fields), words)


@pytest.mark.parametrize("ask", [PubevalPlayer(Settings("hypergammon")).choose_plays, PubevalPlayer(SETTINGS).choose_plays])
def test_a_player_of_another_variant_or_phase_is_not_asked(ask):
    other = Game("hypergammon", seed=1).states if ask.__self__.settings == SETTINGS else START
    with pytest.raises(PositionError, match="state 0 has a wrong number of checkers"):
        ask(other, np.zeros(1, np.uint64))
    if ask.__self__.settings == SETTINGS:
        with pytest.raises(PositionError, match="state 1 has a wrong phase"):
            ask(states_with({"phase": Phase.ROLL}), np.zeros(2, np.uint64))


def test_the_random_player_has_a_word_for_each_state():
    for words in (None, np.zeros(1, np.uint64), np.zeros(2)):
        with pytest.raises(SettingsError, match="one for each of the 2 states"):
            RandomPlayer().choose(states_with({}), words)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_is_given_fields_in_their_ranges(name):
    rules = SETTINGS.record()
    for states in OTHERS:
        with pytest.raises(BgEnvError, match="1-D array of STATE records"):
            ENCODERS[name].encode(states, rules)
    for fields in FIELDS:
        for seats in (None, 0):
            with pytest.raises(PositionError, match="state 1 has a wrong "):
                ENCODERS[name].encode(states_with(fields), rules, seats=seats)
    with pytest.raises(SettingsError, match="one RULES record"):
        ENCODERS[name].encode(START, np.zeros(1, rules.dtype))
