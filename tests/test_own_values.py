"""Encoders and rewards of users as values: made, compared, copied, pickled, and checked before anything is done with them."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from own_values import LABELS, QUICK, QUICK_COMPILED, RACE, RACE_COMPILED, quick, write_race, write_race_compiled

from bg_env import Game, Settings, SettingsError
from bg_env.observations import ENCODERS, Encoder, check_encoder, encoder
from bg_env.rewards import CUSTOM, POINTS, REWARDS, Reward, reward, reward_of
from bg_env.rules import STATE

RULES = Settings().record()


def positions(n=3):
    states = np.concatenate([Game.new(seed=k).states for k in range(n)])
    return states, states["decider"].astype(np.int8)


# Encoders


def test_an_encoder_is_made_of_scalars_lists_and_a_function():
    item = Encoder("race", labels=["a", "b"], low=0, high=[375, 300], function=write_race)
    assert (item.name, item.labels, item.shape, item.size) == ("race", ("a", "b"), (2,), 2)
    assert item.low.tolist() == [0, 0]
    assert item.high.tolist() == [375, 300]
    assert item.low.dtype == item.high.dtype == np.float32
    assert not item.low.flags.writeable
    assert item.kernel is write_race
    square = Encoder("square", [str(k) for k in range(4)], -1, np.arange(1, 5), write_race, shape=(2, 2))
    assert square.high.tolist() == [[1, 2], [3, 4]]
    old = Encoder("old", LABELS, np.zeros(2), np.ones(2), write_race, (2,), False)
    assert old == Encoder("old", list(LABELS), 0, 1, write_race)
    assert repr(square) == "Encoder('square', shape=(2, 2))"
    assert item.encode(positions()[0], RULES).tolist() == [[167, 167]] * 3


def test_the_old_name_of_an_encoders_function_is_accepted_with_a_warning():
    with pytest.warns(DeprecationWarning, match="argument kernel of Encoder is now function"):
        assert Encoder(name="race", labels=LABELS, low=0, high=375, kernel=write_race) == RACE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "an encoder's name is text, not ''"),
        ({"name": 3}, "an encoder's name is text"),
        ({"labels": "ab"}, "encoder race: labels are a text for each feature, not 'ab'"),
        ({"labels": 2}, "labels are a text for each feature, not 2"),
        ({"labels": ()}, "labels are a text for each feature"),
        ({"labels": ("a", 3)}, "labels are a text for each feature"),
        ({"low": [0, 0, 0]}, r"encoder race: low is one number, or 2 of shape \(2,\), not \[0, 0, 0\]"),
        ({"high": "far"}, "high is one number"),
        ({"high": None}, "feature 'own pips' lies between 0 and nan"),
        ({"low": 400}, "feature 'own pips' lies between 400 and 375"),
        ({"low": [0, np.nan]}, 'feature "opponent\'s pips" lies between nan and 375'),
        ({"function": None}, r"function is a function\(states, rules, seats, out\), not None"),
        ({"function": lambda states: None}, r"function is a function\(states, rules, seats, out\)"),
        ({"shape": (3,)}, "2 labels for 3 features"),
        ({"shape": 2}, "shape is a tuple of sizes, not 2"),
        ({"shape": (2, 1.0)}, "shape is a tuple of sizes"),
        ({"shape": (-1, -2)}, "shape is a tuple of sizes"),
        ({"standard_only": 1}, "standard_only is True or False"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
    ],
)
def test_an_encoder_that_cannot_be_is_refused_in_one_line(change, words):
    given = {"name": "race", "labels": LABELS, "low": 0, "high": 375, "function": write_race} | change
    with pytest.raises(SettingsError, match=words) as caught:
        Encoder(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("item", [RACE, RACE_COMPILED, QUICK, QUICK_COMPILED, ENCODERS["tesauro"], REWARDS["mwc"]], ids=repr)
def test_copies_and_pickles_are_the_same_value(item):
    again = pickle.loads(pickle.dumps(item))  # noqa: S301 - our own bytes
    for one in (again, copy.copy(item), copy.deepcopy({"x": item})["x"]):
        assert one == item
        assert hash(one) == hash(item)
        assert getattr(one, "kernel", None) is getattr(item, "kernel", None)
        assert getattr(one, "function", None) is getattr(item, "function", None)
    if item.name not in ("race", "quick"):
        assert again is item
    with pytest.raises(AttributeError):
        item.name = "other"


def test_a_compiled_function_is_pickled_by_its_name():
    for item in (RACE_COMPILED, QUICK_COMPILED):
        data = pickle.dumps(item)
        assert b"own_values" in data
        assert b"dispatcher" not in data.lower()
        assert len(data) < 600


def test_encoders_with_other_parts_are_other_values():
    for change in (
        {"name": "other"},
        {"labels": ("x", "y")},
        {"high": 376},
        {"function": write_race_compiled},
        {"shape": (1, 2)},
    ):
        given = {"name": "race", "labels": LABELS, "low": 0, "high": 375, "function": write_race}
        assert Encoder(**given) == RACE
        assert Encoder(**given | change) != RACE
    assert RACE != "race"
    assert Reward("quick", function=quick) != QUICK
    assert Reward("quick", function=quick, bound=1.0) == QUICK


def test_encoders_and_rewards_stand_for_their_names():
    assert encoder(RACE) is RACE
    assert encoder(ENCODERS["planes"]) is ENCODERS["planes"]
    assert reward(QUICK) is QUICK
    assert reward(REWARDS["win"]) is REWARDS["win"]
    assert reward(Reward("win", 1)) == REWARDS["win"]
    with pytest.raises(SettingsError, match="observation counts is not the built-in encoder of that name"):
        encoder(Encoder("counts", LABELS, 0, 375, write_race))
    for wrong in (Reward("win", function=quick), Reward("own", POINTS), Reward("points", 1)):
        with pytest.raises(SettingsError, match="is not the built-in one: a reward of your own has a name of its own"):
            reward(wrong)


def wrong_encoder(write, labels=LABELS):
    return Encoder("wrong", labels, 0, 375, write)


def unwritten(states, rules, seats, out):
    out[:, 0] = 1


def returned(states, rules, seats, out):
    return np.zeros_like(out)


def nan(states, rules, seats, out):
    out[:] = 1
    out[2, 1] = np.nan


def low(states, rules, seats, out):
    out[:] = 1
    out[1, 0] = -1


def high(states, rules, seats, out):
    out[:] = np.inf


def raising(states, rules, seats, out):
    out[:] = np.zeros((5, 3))


def greedy(states, rules, seats, out):
    out[:] = 1
    states["turn"] = 1 - states["turn"]


def mixing(states, rules, seats, out):
    out[:] = len(states)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (unwritten, 'encoder wrong: feature "opponent\'s pips" is NaN or was not written in state 0 seen by player 1'),
        (returned, "feature 'own pips' is NaN or was not written"),
        (nan, 'feature "opponent\'s pips" is NaN or was not written in state 2 seen by player 0'),
        (low, "feature 'own pips' is -1, not from 0 to 375, in state 1 seen by player 0"),
        (high, "feature 'own pips' is inf, not from 0 to 375"),
        (raising, "encoder wrong: its function raised ValueError: could not broadcast"),
        (greedy, "encoder wrong changed states, rules or seats"),
        (mixing, "feature 'own pips' is 1 for a state alone and 3 for the same among others"),
    ],
)
def test_an_encoder_that_writes_something_wrong_is_refused_in_one_line(write, words):
    states, _ = positions()
    before = states.copy()
    with pytest.raises(SettingsError, match=words) as caught:
        check_encoder(wrong_encoder(write), states, RULES, np.array([1, 0, 0], np.int8))
    assert "\n" not in str(caught.value)
    assert (states == before).all()


@pytest.mark.parametrize("item", [RACE, RACE_COMPILED, *ENCODERS.values()], ids=repr)
def test_an_encoder_that_is_right_passes(item):
    for n in (1, 7):
        check_encoder(item, positions(n)[0], RULES, positions(n)[1])


# Rewards


def over(winner=0, turns=10):
    states = np.zeros(2, STATE)
    states["winner"], states["turns"], states["won"] = winner, turns, 1
    return states


def test_a_reward_is_made_of_a_function():
    assert (QUICK.name, QUICK.kind, QUICK.function, QUICK.bound) == ("quick", CUSTOM, quick, 1)
    assert repr(QUICK) == "Reward('quick')"
    for item in (QUICK, QUICK_COMPILED):
        found = item.of(over(winner=[0, 1], turns=[20, 21]), RULES)
        assert found.dtype == np.float64
        assert found.tolist() == [1, -0.5]
    assert Reward("whole", function=lambda states, rules: np.ones(len(states), np.int32)).of(over(), RULES).tolist() == [1, 1]
    QUICK.check(Settings(cube_cap=None))
    assert QUICK.most(Settings()) == 1
    assert Reward("quick", function=quick).most(Settings()) == np.inf
    assert reward_of(over(), 0, RULES, CUSTOM) == 0, "kernels leave it to the function"


@pytest.mark.parametrize("name", REWARDS)
def test_built_in_rewards_of_many_states(name):
    settings = Settings(match_length=5)
    states, item = over(winner=[1, -1]), reward(name)
    each = [reward_of(states, i, settings.record(), item.kind) for i in range(2)]
    assert item.of(states, settings.record()).tolist() == each


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": ""}, "a reward's name is text"),
        ({"function": None}, r"reward quick: give function=function\(states, rules\), not None"),
        ({"function": 3}, "not 3"),
        ({"kind": 1}, "reward quick: give function"),
        ({"kind": 9}, "kind is a number from -1 to 4"),
        ({"kind": True}, "kind is a number"),
        ({"bound": -1}, "bound is a number from 0 to inf"),
        ({"bound": "1"}, "bound is a number"),
        ({"bounds": 1}, "unexpected keyword argument 'bounds': did you mean bound"),
    ],
)
def test_a_reward_that_cannot_be_is_refused(given, words):
    with pytest.raises(SettingsError, match=words):
        Reward(**{"name": "quick", "function": quick} | given)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda states, rules: 1.0, r"must return 2 numbers, not float64 of shape \(\)"),
        (lambda states, rules: np.ones((2, 2)), r"must return 2 numbers, not float64 of shape \(2, 2\)"),
        (lambda states, rules: states["winner"] == 0, "must return 2 numbers, not bool"),
        (lambda states, rules: [1.0, np.nan], "returned nan for state 1, not from -1 to 1"),
        (lambda states, rules: [0.5, -1.5], "returned -1.5 for state 1, not from -1 to 1"),
        (lambda states, rules: states["score"] @ np.ones(7), "its function raised ValueError: matmul"),
    ],
)
def test_a_reward_that_returns_something_wrong_is_refused_in_one_line(function, words):
    with pytest.raises(SettingsError, match=f"reward wrong: .*{words}") as caught:
        Reward("wrong", function=function, bound=1).of(over(), RULES)
    assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match="returned inf for state 0, not a finite number"):
        Reward("wrong", function=lambda states, rules: np.full(2, np.inf)).of(over(), RULES)


def test_values_pass_through_gymnasium():
    env = gymnasium.make("bg_env/Backgammon-v0", observation=RACE, reward="win").unwrapped
    assert env.observation_space["observation"].shape == (2,)
