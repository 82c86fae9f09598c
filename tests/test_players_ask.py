"""`ask` and `player_for`: the one place that asks a player, and the one that makes a player of what a user gives."""

from __future__ import annotations

import numpy as np
import pytest
from random_games import walk

from bg_env.actions import FIRST_NAMED, ROLL, TAKE
from bg_env.errors import IllegalActionError, SettingsError
from bg_env.observations import encoder
from bg_env.players import FunctionPlayer, PubevalPlayer, RandomPlayer, ValuePlayer, ask, player, player_for
from bg_env.players.protocol import name_of, plays_only
from bg_env.rules import Phase, Settings

ACEY = Settings("acey_deucey", cube=True)


class Actions:
    """Chooses its word as an action, and keeps the phases that it was asked about."""

    def __init__(self):
        self.asked = []

    def choose(self, states, words):
        self.asked.append(states["phase"].tolist())
        return words.astype(np.int32)


class Plays:
    """Chooses the word, then -1, as a play, and keeps the phases that it was asked about."""

    def __init__(self):
        self.moved = []

    def choose_plays(self, states, words):
        self.moved.append(states["phase"].tolist())
        return [[int(word), -1, -1, -1] for word in words]


class Both(Actions, Plays):
    """Chooses whole plays, and decides about the cube."""

    def __init__(self):
        Actions.__init__(self)
        Plays.__init__(self)


@pytest.fixture(scope="module")
def mixed():
    """States of every phase in which a player decides."""
    seen = np.concatenate([state for seed in range(10) for state in walk(ACEY, seed)])
    states = seen[seen["decider"] >= 0][:400]
    assert set(states["phase"].tolist()) == set(Phase) - {Phase.OPENING, Phase.ROLL, Phase.OVER}
    return states, np.arange(400, dtype=np.uint64)


def test_a_player_of_actions_is_asked_for_every_state(mixed):
    states, words = mixed
    who = Actions()
    choices = ask(who, states, words)
    assert who.asked == [states["phase"].tolist()]
    assert choices.moving.size == choices.plays.size == 0
    assert choices.plays.shape == (0, 4)
    assert choices.acting.tolist() == choices.actions.tolist() == list(range(400))
    assert choices.actions.dtype == np.int64


def test_a_player_of_both_is_asked_for_plays_and_actions(mixed):
    states, words = mixed
    who = Both()
    choices = ask(who, states, words)
    checker = states["phase"] == Phase.CHECKER
    assert choices.moving.tolist() == np.flatnonzero(checker).tolist()
    assert choices.acting.tolist() == np.flatnonzero(~checker).tolist()
    assert choices.plays[:, 0].tolist() == choices.moving.tolist()
    assert (choices.plays[:, 1:] == -1).all()
    assert choices.actions.tolist() == choices.acting.tolist()
    assert who.moved == [[Phase.CHECKER] * int(checker.sum())]
    assert Phase.CHECKER not in who.asked[0]
    one = int(choices.moving[0])
    assert ask(who, states[one : one + 1], words[one : one + 1]).only() == [one]
    other = int(choices.acting[0])
    assert ask(who, states[other : other + 1], words[other : other + 1]).only() == [other]


def test_a_player_of_plays_alone_rolls_takes_and_names_sixes(mixed):
    states, words = mixed
    choices = ask(Plays(), states, words)
    want = {Phase.ROLL_OR_DOUBLE: ROLL, Phase.TAKE_OR_DROP: TAKE, Phase.CHOOSE_DOUBLE: FIRST_NAMED + 5}
    assert choices.actions.tolist() == [want[phase] for phase in states["phase"][choices.acting].tolist()]
    assert (plays_only(Plays()), plays_only(Both()), plays_only(Actions())) == (True, False, False)


@pytest.mark.parametrize(
    "returned",
    [
        np.zeros,
        lambda n: [1] * (n + 1),
        lambda n: np.zeros((n, 1), int),
        lambda n: [[1], [2, 3]],
        lambda n: None,
        lambda n: ["roll"] * n,
        lambda n: np.zeros(n, bool),
    ],
)
def test_what_is_not_an_array_of_integers_is_refused(mixed, returned):
    states, words = mixed

    class Wrong:
        name = "wrong one"

        def choose(self, states, words):
            return returned(len(states))

        choose_plays = choose

    with pytest.raises(IllegalActionError, match=r"^wrong one must return a play for each state, integers of shape \(\d+, 4\)"):
        ask(Wrong(), states, words)
    checker = states["phase"] == Phase.CHECKER
    with pytest.raises(
        IllegalActionError, match=r"^wrong one must return an action for each state, integers of shape \(\d+,\)"
    ):
        ask(Wrong(), states[~checker], words[~checker])


def test_every_kind_of_opponent_becomes_a_bound_player():
    settings = Settings("nackgammon")
    assert isinstance(player_for("random", settings), RandomPlayer)
    assert player_for(PubevalPlayer(), settings).settings == settings
    assert isinstance(player_for("td", settings), ValuePlayer)
    unbound = Actions()
    assert player_for(unbound, settings) is unbound
    shown = player_for(max, settings, observation=encoder("counts"), mask="info")
    assert isinstance(shown, FunctionPlayer)
    assert (shown.settings, shown.mask, shown.name) == (settings, "info", "max")
    for wrong in (None, 3, b"random", object()):
        with pytest.raises(SettingsError, match="an opponent is a name, an object with choose"):
            player_for(wrong, settings)
    with pytest.raises(SettingsError, match=r"not the class Actions: give Actions\(\.\.\.\)"):
        player_for(Actions, settings)


def test_the_name_of_a_player():
    assert [name_of(one) for one in (player("td:1", Settings()), Actions(), max)] == ["td:1", "Actions", "max"]


def test_a_callable_may_return_a_plain_integer_for_a_single_game(mixed):
    states, words = mixed
    for plain in (7, np.int64(7), np.array(7)):
        chosen = FunctionPlayer(lambda seen, plain=plain: plain, settings=ACEY)
        assert ask(chosen, states[:1], words[:1]).only() == [7]
        with pytest.raises(IllegalActionError, match=r"integers of shape \(2,\), not int64 of shape \(1,\)"):
            ask(chosen, states[:2], words[:2])
