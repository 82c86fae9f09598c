"""Value players: greedy and expectimax against plain Python over Position.legal_plays, batches, naming, values at a score."""

from __future__ import annotations

import copy
import pickle

import nets
import numpy as np
import pytest
from positions import placements, random_play

import bg_env
from bg_env import Game, Position, arena
from bg_env import rules as engine
from bg_env.actions import DOUBLE, DROP
from bg_env.equity import match_equity
from bg_env.errors import OrderError, PositionError, SettingsError
from bg_env.players import RandomPlayer, ValueNet, ValuePlayer
from bg_env.players.janowski import write_payoffs
from bg_env.players.valuenet.search import plain_rules
from bg_env.rules import OFF, STATE, VARIANTS, Phase, Settings

POINTS = np.array([1, 2, 3, -1, -2, -3], np.float64)
ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]


def state_of(position, roll, settings, turn=0):
    states = np.zeros(1, STATE)
    states["turn"], states["owner"] = turn, -1
    states["points"][0, turn], states["points"][0, 1 - turn] = position.mover, position.opponent
    engine.set_up(states, 0, settings.record(), *roll)
    return states


def some_positions(variant, n, seed=1):
    """Positions with a roll that leaves a choice: from play and placed at random."""
    start, checkers = VARIANTS[variant].start, VARIANTS[variant].checkers
    found = []
    for boards in (random_play(start, seed), placements(checkers, seed)):
        for _ in range(n // 2):
            while True:
                board, roll = next(boards)
                position = bg_env.Position(*board, variant)
                if len(position.legal_plays(*roll)) > 1:
                    break
            found.append((position, roll))
    return found


def test_probabilities_are_those_before_a_roll_or_after_the_end():
    settings = Settings()
    asked = ValuePlayer(nets.random_net(1), settings=settings)
    with pytest.raises(PositionError, match="state 0 has dice in hand"):
        asked.probabilities(Game(settings, seed=1).states)
    with pytest.raises(PositionError, match="state 0 has dice in hand, or nobody to roll"):
        asked.probabilities(Game(settings).states)
    for wrong in (None, np.zeros(3), Game(settings).states[0]):
        with pytest.raises(PositionError, match="1-D array of STATE records"):
            asked.probabilities(wrong)
    game = Game.from_position(Position.start())
    before = game.states
    assert asked.probabilities(before).sum() == pytest.approx(1)
    game.apply(DOUBLE)
    assert np.array_equal(asked.probabilities(game.states), asked.probabilities(before))  # the cube is not seen
    game.apply(DROP)
    ended = asked.probabilities(np.concatenate([before, game.states]))
    assert np.array_equal(ended[0], asked.probabilities(before)[0])
    assert ended[1].tolist() == [1, 0, 0, 0, 0, 0]
    for level, points in ((1, 0), (2, 1), (3, 2)):
        for side in (0, 1):
            game = Game.from_states(before, settings)
            game.resign(level, side)
            mine = game.states[0]["turn"] != side
            assert asked.probabilities(game.states)[0].tolist() == [float(k == points + 3 * (not mine)) for k in range(6)]


def won_level(loser):
    """R7.4 for a loser's own 26 counts."""
    if loser[OFF]:
        return 1
    return 3 if any(loser[19:]) else 2


def worths(net, plays, variant, points=POINTS):
    """The value of each play to the player who makes it, by the net alone."""
    odds = nets.plain_odds(net, [play.result for play in plays], variant)
    values = -odds @ points
    for k, play in enumerate(plays):
        if play.result.opponent[OFF] == VARIANTS[variant].checkers:
            values[k] = points[won_level(play.result.mover) - 1]
    return values


def deep_worth(net, play, variant):
    """The value of a play over all rolls of the opponent, who answers by the net alone."""
    if play.result.opponent[OFF] == VARIANTS[variant].checkers:
        return POINTS[won_level(play.result.mover) - 1]
    total = 0.0
    for roll in ROLLS:
        total -= (1 if roll[0] == roll[1] else 2) / 36 * worths(net, play.result.legal_plays(*roll), variant).max()
    return total


def index_of(player, position, roll, settings, turn=0):
    """The index in `position.legal_plays` of the play that the player makes."""
    steps = player.choose_plays(state_of(position, roll, settings, turn), None)[0]
    game = state_of(position, roll, settings, turn)
    for action in steps[steps >= 0]:
        assert game[0]["phase"] == Phase.CHECKER
        assert game[0]["turn"] == turn
        engine.apply(game, 0, plain_rules(settings.variant), int(action))
    after = tuple(game[0]["points"][1 - turn].tolist()), tuple(game[0]["points"][turn].tolist())
    results = [(play.result.mover, play.result.opponent) for play in position.legal_plays(*roll)]
    return results.index(after)


@pytest.mark.parametrize("tactics", [True, False])
@pytest.mark.parametrize("variant", ["backgammon", "hypergammon", "longgammon"])
def test_greedy_is_the_best_by_plain_numpy(variant, tactics):
    net, settings = nets.random_net(3, tactics=tactics), Settings(variant, cube=False)
    player = ValuePlayer(net, settings=settings)
    for k, (position, roll) in enumerate(some_positions(variant, 120)):
        plays = position.legal_plays(*roll)
        values = worths(net, plays, variant)
        assert values[index_of(player, position, roll, settings, k % 2)] >= values.max() - 1e-5


@pytest.mark.parametrize("variant", ["backgammon", "hypergammon"])
def test_expectimax_is_the_best_by_plain_python(variant):
    net, settings = nets.random_net(4), Settings(variant, cube=False)
    player = ValuePlayer(net, 1, number=None, margin=None, settings=settings)
    shallow = ValuePlayer(net, settings=settings)
    differs = 0
    for k, (position, roll) in enumerate(p for p in some_positions(variant, 60) if len(p[0].legal_plays(*p[1])) <= 12):
        plays = position.legal_plays(*roll)
        values = np.array([deep_worth(net, play, variant) for play in plays])
        chosen = index_of(player, position, roll, settings, k % 2)
        assert values[chosen] >= values.max() - 1e-5
        differs += chosen != index_of(shallow, position, roll, settings, k % 2)
    assert differs > 3  # or the test would show nothing of looking ahead


def test_pruning_looks_at_the_promising_plays_only():
    net, settings = nets.random_net(4), Settings(cube=False)
    for position, roll in some_positions("backgammon", 16, seed=2):
        plays = position.legal_plays(*roll)
        values = worths(net, plays, "backgammon")
        order = np.argsort(-values, kind="stable")
        assert index_of(ValuePlayer(net, 1, number=1, settings=settings), position, roll, settings) == order[0]
        three = ValuePlayer(net, 1, number=3, margin=None, settings=settings)
        best = max(order[:3], key=lambda n: deep_worth(net, plays[n], "backgammon"))
        assert index_of(three, position, roll, settings) == best
        margin = float(values.max() - np.median(values))
        near = ValuePlayer(net, 1, number=None, margin=margin, settings=settings)
        assert values[index_of(near, position, roll, settings)] >= values.max() - margin - 1e-5


@pytest.mark.parametrize("settings", [Settings(), Settings(match_length=5), Settings("acey_deucey", cube=True)], ids=str)
@pytest.mark.parametrize("plies", [0, 1])
def test_the_same_in_any_batch(settings, plies):
    player = ValuePlayer(nets.random_net(5), plies, number=2, settings=settings)
    states = decisions(settings, 24)
    words = np.arange(len(states), dtype=np.uint64)
    before = states.copy()
    actions = player.choose(states, words)
    assert np.array_equal(states, before)
    assert {int(phase) for phase in states["phase"]} >= {Phase.CHECKER, Phase.ROLL_OR_DOUBLE}
    again = player.choose(states[::-1].copy(), words)[::-1]
    alone = [player.choose(states[i : i + 1].copy(), words[i : i + 1])[0] for i in range(len(states))]
    assert actions.tolist() == again.tolist() == alone
    moving = states[states["phase"] == Phase.CHECKER]
    plays = player.choose_plays(moving, words)
    assert plays.tolist() == [player.choose_plays(moving[i : i + 1].copy(), words)[0].tolist() for i in range(len(moving))]
    assert plays[:, 0].tolist() == actions[states["phase"] == Phase.CHECKER].tolist()


def decisions(settings, n):
    """States that wait for a player, every kind of decision among them, out of random play."""
    rules, rng, found, seed = settings.record(), np.random.default_rng(0), [], 0
    mask = np.zeros((1, settings.actions), np.int8)
    while len(found) < n:
        states = np.zeros(1, STATE)
        seed += 1
        engine.new_episode(states, 0, rules, np.uint64(seed))
        while True:
            engine.settle(states, 0, rules)
            if states[0]["phase"] == Phase.OVER:
                break
            if states[0]["left"].sum() in (0, 4) or states[0]["left"].tolist() == [1, 1]:
                found.append(states.copy())
            engine.legal_mask(states, 0, rules, mask, 0)
            engine.apply(states, 0, rules, int(rng.choice(np.flatnonzero(mask[0]))))
    return np.concatenate([found[k] for k in rng.permutation(len(found))[:n]])


def test_a_roll_partly_played_goes_on_as_it_began():
    """Asked step by step, it plays the play that it would choose at once."""
    settings = Settings(cube=False)
    player, rules = ValuePlayer(nets.random_net(6), settings=settings), settings.record()
    for position, roll in some_positions("backgammon", 40, seed=3):
        at_once = state_of(position, roll, settings)
        step_by_step = at_once.copy()
        for action in player.choose_plays(at_once, None)[0]:
            if action >= 0:
                engine.apply(at_once, 0, rules, int(action))
        while step_by_step[0]["phase"] == Phase.CHECKER and step_by_step[0]["turn"] == 0:
            engine.apply(step_by_step, 0, rules, int(player.choose(step_by_step, np.zeros(1, np.uint64))[0]))
        assert step_by_step[0]["points"].tolist() == at_once[0]["points"].tolist()


def test_the_double_that_leaves_most_is_named():
    """R10.6: by plain Python over the four steps of each double (from 1 and 2 played, then named)."""
    settings = Settings("acey_deucey")
    net, rules = nets.random_net(8), settings.record()
    player = ValuePlayer(net, settings=settings)
    states = decisions(settings, 1500)
    states = states[states["phase"] == Phase.CHOOSE_DOUBLE]
    assert len(states) > 20
    named = player.choose(states, np.zeros(len(states), np.uint64))
    for i in range(len(states)):
        turn, worth = int(states[i]["turn"]), []
        for d in range(1, 7):
            after = states[i : i + 1].copy()
            engine.apply(after, 0, rules, 154 + d)
            if after[0]["phase"] == Phase.CHECKER:
                after = engine.plays(after, rules)[2]
            best = -np.inf
            for k in range(len(after)):
                if after[k]["winner"] >= 0:
                    best = max(best, float(after[k]["level"]))
                    continue
                roller = int(after[k]["turn"])
                mine, theirs = (tuple(after[k]["points"][seat].tolist()) for seat in (roller, 1 - roller))
                odds = nets.plain_odds(net, [bg_env.Position(mine, theirs, "acey_deucey")], "acey_deucey")[0]
                best = max(best, float(odds @ POINTS) * (1 if roller == turn else -1))
            worth.append(best)
        assert worth[named[i] - 155] >= max(worth) - 1e-5


def test_values_of_the_outcomes():
    """Money, Jacoby, and the score of a match, scaled so that a single game is 1 and -1."""
    states = np.zeros(2, STATE)
    states["owner"] = -1

    def values(settings):
        out = np.empty((2, 2, 6), np.float32)
        write_payoffs(states, settings.record(), out)
        return out

    assert values(Settings())[0].tolist() == [POINTS.tolist()] * 2
    assert values(Settings(jacoby=True))[0, 0].tolist() == [1, 1, 1, -1, -1, -1]
    states["cube"], states["owner"] = 1, 0
    assert values(Settings(jacoby=True))[0, 0].tolist() == POINTS.tolist()
    near = [pytest.approx(at(3, 3, n), rel=1e-5) for n in (2, 4, 6, -2, -4, -6)]
    assert values(Settings(match_length=3))[0, 0].tolist() == near
    states["score"] = 2, 1
    states["cube"], states["owner"], states["crawford"] = 0, -1, 1
    crawford = values(Settings(match_length=3))
    assert crawford[0, 0].tolist() == [1, 1, 1, -1, -3, -3]  # the leader needs one point; to the other a gammon is the match
    assert crawford[0, 1].tolist() == [1, 3, 3, -1, -1, -1]


def at(own, other, points, cube=2):
    chance = {n: match_equity(own - max(n, 0), other - max(-n, 0)) for n in (points, cube, -cube)}
    middle, half = (chance[cube] + chance[-cube]) / 2, (chance[cube] - chance[-cube]) / 2
    return (chance[points] - middle) / half


def test_at_double_match_point_gammons_do_not_count():
    net = nets.random_net(9)
    money, match = Settings(cube=False), Settings(match_length=1)
    players = ValuePlayer(net, settings=money), ValuePlayer(net, settings=match)
    wins = np.array([1, 1, 1, -1, -1, -1], np.float64)
    differs = 0
    for position, roll in some_positions("backgammon", 60, seed=5):
        plays = position.legal_plays(*roll)
        chosen = [index_of(player, position, roll, settings) for player, settings in zip(players, (money, match), strict=True)]
        differs += chosen[0] != chosen[1]
        values = worths(net, plays, "backgammon", wins)
        assert values[chosen[1]] >= values.max() - 1e-5
    assert differs > 5


def test_what_is_refused():
    net = nets.random_net()
    with pytest.raises(OrderError, match="greedy must know the settings"):
        ValuePlayer(net).choose_plays(np.zeros(1, STATE), None)
    with pytest.raises(OrderError, match="expectimax must know the settings"):
        ValuePlayer(net, 1).choose(np.zeros(1, STATE), np.zeros(1, np.uint64))
    for options in ({"plies": 2}, {"plies": True}, {"number": 0}, {"margin": -0.1}, {"cube_life": 1.1}):
        with pytest.raises(SettingsError, match=next(iter(options))):
            ValuePlayer(net, **options)
    with pytest.raises(SettingsError, match="not a file of a value net"):
        ValuePlayer("nowhere.npz")


def test_it_can_be_copied_and_sent_to_workers(tmp_path):
    net, settings = nets.random_net(7), Settings(match_length=3)
    net.save(tmp_path / "net.npz")
    player = ValuePlayer(tmp_path / "net.npz", 1, number=3, margin=None, cube_life=0.5, name="x").bind(settings)
    assert player.bind(settings) is player
    states = decisions(settings, 8)
    words = np.zeros(8, np.uint64)
    sent = pickle.loads(pickle.dumps(player))  # noqa: S301 - our own bytes
    for other in (sent, copy.deepcopy(player)):
        assert (other.number, other.margin, other.cube_life, other.name, other.settings) == (3, None, 0.5, "x", settings)
        assert np.array_equal(other.choose(states, words), player.choose(states, words))
    assert np.array_equal(ValueNet.load(tmp_path / "net.npz").w1, net.w1)
    assert "plies=1" in repr(player)


def test_seats_and_signs_are_right_in_whole_games():
    """A net that knows nothing but the pip counts (linear in the inputs) beats random play."""
    states = decisions(Settings(cube=False), 600)
    inputs = bg_env.ENCODERS["tesauro198"].encode(states, Settings(cube=False).record(), seats=0)
    pips = states["points"] @ np.arange(26)
    w1 = np.linalg.lstsq(inputs, pips / 167, rcond=None)[0]
    assert np.abs(inputs @ w1 * 167 - pips).max() < 0.01
    w3 = np.zeros((2, 6))
    w3[1, 0] = w3[0, 3] = 5
    net = ValueNet(w1, np.zeros(2), np.eye(2), np.zeros(2), w3, np.zeros(6))
    for settings in (Settings(cube=False), Settings(match_length=3)):
        result = arena.play(ValuePlayer(net), RandomPlayer(), games=200, seed=1, settings=settings)
        assert result.points.low > 0.5
