"""Evaluations and hints: the player's own decisions lose nothing, exact values, every phase, and bad input."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from nets import random_net
from random_games import SETTINGS, many

from bg_env import Game, OrderError, Position, PositionError, Settings, SettingsError, ValuePlayer, Variant, exact
from bg_env.actions import DOUBLE, DROP
from bg_env.evaluation.candidates import EXACT, Judge
from bg_env.evaluation.hints import hints_of
from bg_env.rules import Phase

NET = random_net(5)
NET_PLAYER = ValuePlayer(NET)


@functools.cache
def met():
    """States of random games that wait for a decision, by settings."""
    found = {settings: [] for settings in SETTINGS}
    for settings, states in many(6_000):
        if states[0]["decider"] >= 0:
            found[settings].append(states)
    return found


def decisions(settings, n):
    """Such states of one settings, as one array."""
    found = met()[settings]
    return np.concatenate(found[:: max(len(found) // n, 1)])


def placed(mover, opponent):
    return Position(mover + [0] * (26 - len(mover)), opponent + [0] * (26 - len(opponent)))


def chosen(player, states):
    """For every state the index of the player's choice among the candidates, counted from its first."""
    words = np.zeros((len(states), 8), np.uint64)
    found = []
    for i in range(len(states)):
        one = np.ascontiguousarray(states[i : i + 1])
        moving = one[0]["phase"] == Phase.CHECKER
        found.append(player.choose_plays(one, words[:1])[0] if moving else [player.choose(one, words[:1])[0], -1, -1, -1])
    return np.array(found)


@pytest.mark.parametrize("plies", [0, 1])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_own_decisions_lose_nothing(settings, plies):
    """Whatever the settings and the phase, the first hint is the player's own choice."""
    player = ValuePlayer(NET, plies, bearoff=True, settings=settings)
    states = decisions(settings, 6 if plies else 40)
    lists = hints_of(states, Judge(player, settings))
    losses = []
    for row, steps in zip(lists, chosen(player, states), strict=True):
        assert all(a.equity >= b.equity for a, b in itertools.pairwise(row))
        own = [
            hint for hint in row if (hint.play.steps[0].action if hint.play and hint.play.steps else hint.action) == steps[0]
        ]
        losses.append(min(hint.loss for hint in own))
    assert max(losses) < 1e-6


@pytest.mark.parametrize(("kind", "settings"), [("cube", Settings()), ("match", Settings(match_length=5))])
def test_nets_that_know_the_cube(kind, settings):
    player = ValuePlayer(random_net(2, kind=kind), settings=settings)
    states = decisions(settings, 40) if settings in SETTINGS else decisions(Settings(match_length=7), 40)
    lists = hints_of(states, Judge(player, settings))
    for row, steps in zip(lists, chosen(player, states), strict=True):
        assert row[0].action == steps[0] or row[0].equity == pytest.approx(row[1].equity)
        assert row[0].probabilities is None


def test_the_dice_to_come_play_no_part():
    game = Game(seed=4)
    others = Game.from_states(game.states, game.settings), Game.from_states(game.states, game.settings, seed=9, seeded=True)
    for other in others:
        assert other.hints(NET_PLAYER) == game.hints(NET_PLAYER)
        assert other.evaluate(NET_PLAYER) == game.evaluate(NET_PLAYER)


def test_every_phase_of_one_game():
    game = Game(Settings())
    before = game.evaluate(NET_PLAYER)
    assert before.player == 0
    assert abs(before.equity) < 1e-6
    assert before.cubeful == before.equity
    with pytest.raises(OrderError, match="waits for dice"):
        game.hints(NET_PLAYER)
    game.apply_roll(3, 1)
    best = game.hints(NET_PLAYER)[0]
    assert game.evaluate(NET_PLAYER).probabilities == best.probabilities
    game.play(best.play)
    assert game.phase == Phase.ROLL_OR_DOUBLE
    assert game.evaluate(NET_PLAYER).player == 1
    doubles = {hint.text: hint for hint in game.hints(NET_PLAYER)}
    assert set(doubles) == {"roll", "double"}
    assert doubles["roll"].play is None
    game.apply(DOUBLE)
    answers = {hint.action: hint for hint in game.hints(NET_PLAYER)}
    assert answers[DROP].equity == pytest.approx(-1)
    assert doubles["double"].equity == pytest.approx(-max(hint.equity for hint in answers.values()))
    assert game.evaluate(NET_PLAYER).equity == max(hint.equity for hint in answers.values())
    game.apply(DROP)
    over = game.evaluate(NET_PLAYER)
    assert over.exact
    assert over.equity == -1
    assert over.probabilities.lose == 1


def test_the_last_rolls_are_exact():
    """One checker each on the ace point: whoever rolls wins; two checkers on the six point: the exact table."""
    position = placed([13, 0, 0, 0, 0, 0, 2], [14, 1])
    game = Game.from_position(position, cube=False)
    table = exact.two_sided()
    player = ValuePlayer(NET, bearoff=True)
    assert game.evaluate(player).equity == pytest.approx(table.equity(position, "cubeless"), abs=1e-9)
    for dice in ((6, 5), (3, 3), (2, 1)):
        rolled = Game.from_position(position, dice=dice, cube=False)
        got = {str(hint.play): hint.equity for hint in rolled.hints(player)}
        wanted = {str(play): points for play, points in table.plays(rolled)}
        assert got == pytest.approx(wanted, abs=1e-9)
        assert all(hint.plies == EXACT for hint in rolled.hints(player))


def test_cube_of_the_exact_table():
    position = placed([13, 0, 0, 0, 0, 0, 2], [14, 1])
    table = exact.two_sided()
    game = Game.from_position(position)
    values = table.cube_equities(position, "centred")
    got = {hint.text: hint.equity for hint in game.hints(ValuePlayer(NET, bearoff=True))}
    assert got == pytest.approx({"roll": values.no_double, "double": min(values.double_take, 1.0)}, abs=1e-9)


def test_one_roll_of_look_ahead_by_hand():
    """One checker each on the 4 point: after 2-1 the opponent bears off with all rolls but 2-1, whatever the net says."""
    game = Game(Settings(Variant("one", {4: 1}), cube=False))
    game.apply_roll(2, 1)
    hint = game.hints(ValuePlayer(NET, 1))[0]
    assert hint.plies == 1
    assert hint.probabilities.lose_gammon > 34 / 36 - 1e-9
    assert hint.equity == pytest.approx(hint.probabilities.equity, abs=1e-5)
    assert game.evaluate(ValuePlayer(NET, 1)).probabilities == hint.probabilities


@pytest.mark.parametrize("player", ["random", "pubeval", "nobody", 5, lambda observation, mask: 0])
def test_players_without_values(player):
    with pytest.raises(SettingsError, match=r"no player is called|has no values|an opponent is a name"):
        Game(seed=1).hints(player)


def test_bad_states():
    judge = Judge(NET_PLAYER, Settings())
    with pytest.raises(PositionError, match="state 0 does not wait for a decision"):
        judge.candidates(Game().states)
    over = Game(seed=1)
    over.resign(1)
    with pytest.raises(OrderError, match="is over"):
        over.hints(NET_PLAYER)
