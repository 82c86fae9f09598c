"""The cube of value players: Janowski's formulas, the seed's advice (R8.7), matches by the table, beavers, and legal always."""

from __future__ import annotations

import nets
import numpy as np
import pytest

from bg_env import rules as engine
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.equity import match_equity
from bg_env.players import ValuePlayer
from bg_env.players.janowski import CUBE_LIFE, choose_cube, cube_lines, cube_values, value_of_points
from bg_env.rules import STATE, Phase, Settings

MONEY = Settings(cube_cap=None)


def odds_of(win, gammons=0.0, lost_gammons=0.0, backgammons=0.0):
    """Six chances: to win `win`, of it shares `gammons` and `backgammons`, of the rest a share `lost_gammons`."""
    lose = 1 - win
    won = [win * (1 - gammons - backgammons), win * gammons, win * backgammons]
    return np.array([[*won, lose * (1 - lost_gammons), lose * lost_gammons, 0.0]])


def cube_state(settings, *, cube=0, owner=-1, answer=False, score=(0, 0), crawford=0, turn=0, chain=None):
    """Player `turn` may double; with `answer` it has, or the cube has been turned `chain` times."""
    states = np.zeros(1, STATE)
    s = states[0]
    s["turn"], s["cube"], s["owner"], s["crawford"], s["score"] = turn, cube, owner, crawford, score
    s["phase"], s["decider"] = Phase.ROLL_OR_DOUBLE, turn
    if answer:
        s["chain"] = chain or 1
        s["phase"], s["decider"] = Phase.TAKE_OR_DROP, 1 - turn if s["chain"] % 2 else turn
    return states


def weigh(settings, odds, life=CUBE_LIFE, **state):
    return cube_values(cube_state(settings, **state), 0, settings.record(), odds, 0, life, cube_lines())


def act(settings, odds, life=CUBE_LIFE, **state):
    actions = np.full(1, -1, np.int64)
    choose_cube(cube_state(settings, **state), settings.record(), odds, life, cube_lines(), actions)
    return int(actions[0])


@pytest.mark.parametrize("life", [0.0, 0.5, 2 / 3, 1.0])
@pytest.mark.parametrize(("gammons", "lost_gammons"), [(0.0, 0.0), (0.3, 0.0), (0.25, 0.15), (0.1, 0.4)])
@pytest.mark.parametrize("win", [0.35, 0.5, 0.62, 0.7])
def test_janowskis_formulas_for_money(life, gammons, lost_gammons, win):
    """Between the cash points, with W and L the mean points of wins and losses (Take-Points in Money Games, 1993)."""
    odds = odds_of(win, gammons, lost_gammons)
    points, loss = 1 + gammons, 1 + lost_gammons
    y = win * (points + loss + life / 2) - loss
    stands, taken, dropped = weigh(MONEY, odds, life, cube=2, owner=0)
    assert stands == pytest.approx(4 * y, abs=2e-4)
    assert taken == pytest.approx(8 * (y - life / 2), abs=2e-4)
    assert dropped == 4
    stands, taken, _ = weigh(MONEY, odds, life)
    live = 4 / 3 * (win * (points + loss + 0.5) - loss - 0.25)  # his formula of a fully live centred cube
    assert stands == pytest.approx(life * live + (1 - life) * (win * (points + loss) - loss), abs=2e-4)
    assert taken == pytest.approx(2 * (y - life / 2), abs=2e-4)


@pytest.mark.parametrize("life", [0.0, 0.5, 2 / 3, 0.9])
@pytest.mark.parametrize(("gammons", "lost_gammons"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.25, 0.15)])
def test_take_points_and_doubling_points_for_money(life, gammons, lost_gammons):
    """The lowest winning chance of a taker, and of a doubler first and again, are where his formulas put them."""
    points, loss = 1 + gammons, 1 + lost_gammons
    total = points + loss + life / 2
    take_at = 1 - (loss + 0.5 + life / 2) / total  # of the player doubled
    redouble_at = (loss + life) / total
    slope = life * 4 / 3 * (points + loss + 0.5) + (1 - life) * (points + loss)  # of the worth with a centred cube
    double_at = (2 * loss + life - life * 4 / 3 * (loss + 0.25) - (1 - life) * loss) / (2 * total - slope)

    def first(wanted, chances, **state):
        return next(p for p in chances if act(MONEY, odds_of(p, gammons, lost_gammons), life, **state) == wanted)

    chances = np.arange(0.05, 1, 0.001)
    drop = first(DROP, chances, answer=True)
    assert 1 - drop == pytest.approx(take_at, abs=0.0015)
    assert first(DOUBLE, chances, cube=1, owner=0) == pytest.approx(redouble_at, abs=0.0015)
    assert first(DOUBLE, chances) == pytest.approx(double_at, abs=0.0015)


def test_the_seeds_advice():
    """R8.7: take with about one chance in four, drop what is lost, double when clearly ahead; W = L = 1."""
    for settings in (Settings(), Settings(jacoby=True), Settings("nackgammon")):
        for taker in (0.25, 0.3, 0.5):
            assert act(settings, odds_of(1 - taker), answer=True) == TAKE
        for taker in (0.02, 0.1, 0.18):
            assert act(settings, odds_of(1 - taker), answer=True) == DROP
        for win in (0.05, 0.3, 0.5, 0.6):
            assert act(settings, odds_of(win)) == ROLL
        for win in (0.75, 0.85, 1.0):
            assert act(settings, odds_of(win)) == DOUBLE
    assert act(Settings(cube_cap=2), odds_of(0.749), answer=True) == TAKE  # the last value of the cube is dead
    assert act(Settings(cube_cap=2), odds_of(0.751), answer=True) == DROP


def test_too_good_to_double_but_not_under_jacoby():
    strong = odds_of(0.93, gammons=0.7)
    assert act(Settings(), strong) == ROLL
    assert act(Settings(), strong, cube=1, owner=0) == ROLL
    assert act(Settings(jacoby=True), strong) == DOUBLE  # without a turn of the cube the gammons count nothing
    assert act(Settings(jacoby=True), strong, cube=1, owner=0) == ROLL
    stands, _, _ = weigh(Settings(jacoby=True), strong)
    assert stands < 1 < weigh(Settings(), strong)[0]


def test_gammons_move_the_take():
    assert act(Settings(), odds_of(0.7), answer=True) == TAKE
    assert act(Settings(), odds_of(0.7, gammons=0.5), answer=True) == DROP
    assert act(Settings(), odds_of(0.8, lost_gammons=0.9), answer=True) == TAKE


def test_beavers_and_raccoons():
    settings = Settings(beavers=2)
    assert act(settings, odds_of(0.4), answer=True) == BEAVER
    assert act(Settings(), odds_of(0.4), answer=True) == TAKE
    assert act(settings, odds_of(0.7), answer=True) == TAKE
    assert act(settings, odds_of(0.7), answer=True, chain=2) == BEAVER  # the beaver was a mistake: a raccoon
    assert act(Settings(beavers=1), odds_of(0.7), answer=True, chain=2) == TAKE
    assert act(settings, odds_of(0.4), answer=True, chain=2) == TAKE
    assert act(settings, odds_of(0.1), answer=True, chain=2) == DROP
    assert act(Settings(beavers=2, cube_cap=2), odds_of(0.4), answer=True) == TAKE  # past the cap


def test_at_two_away_both_the_take_point_is_the_tables():
    """A cube taken there is dead and decides the match: the taker needs what a drop leaves, 2 against 1 in Crawford."""
    settings = Settings(match_length=7)
    at = match_equity(2, 1)
    assert at == 0.32264
    for life in (0.0, 0.7, 1.0):
        assert act(settings, odds_of(1 - at - 0.001), life, answer=True, score=(5, 5)) == TAKE
        assert act(settings, odds_of(1 - at + 0.001), life, answer=True, score=(5, 5)) == DROP


def test_after_the_crawford_game_the_trailer_doubles_at_once():
    settings = Settings(match_length=7)
    for win in (0.2, 0.5, 0.7):
        assert act(settings, odds_of(win, gammons=0.2), score=(3, 6)) == DOUBLE
        assert act(settings, odds_of(win, gammons=0.2), score=(6, 3), turn=1) == DOUBLE
    # with an even number of points to go a drop costs the leader next to nothing: it drops what is worse than even
    assert act(settings, odds_of(0.53), answer=True, score=(5, 6)) == DROP
    assert act(settings, odds_of(0.49), answer=True, score=(5, 6)) == TAKE
    assert act(settings, odds_of(0.53), answer=True, score=(4, 6)) == TAKE  # odd: here a drop costs a game


def test_a_cube_that_is_no_use_is_left():
    """R9.3 switched off: a dead cube may be turned, but only helps the other."""
    settings = Settings(match_length=5, allow_dead_cube=True)
    assert act(settings, odds_of(0.75), cube=1, owner=0, score=(3, 2)) == ROLL
    assert act(settings, odds_of(0.75), cube=1, owner=0, score=(2, 2)) == DOUBLE


def test_gammons_at_the_score():
    settings = Settings(match_length=5)
    win = odds_of(0.62, gammons=0.3)
    # four away against two away, a gammon with the cube turned wins the match; two away against four away it adds nothing
    ahead, behind = weigh(settings, win, score=(3, 1)), weigh(settings, win, score=(1, 3))
    gain_ahead = ahead[1] - weigh(settings, odds_of(0.62), score=(3, 1))[1]
    gain_behind = behind[1] - weigh(settings, odds_of(0.62), score=(1, 3))[1]
    assert gain_ahead == pytest.approx(0, abs=1e-12)
    assert gain_behind > 0.03


def test_worth_in_a_match_is_the_chance_of_it():
    settings = Settings(match_length=7)
    states = cube_state(settings, score=(5, 3))
    rules = settings.record()
    assert value_of_points(states, 0, rules, 0, 1) == match_equity(1, 4)  # the Crawford game comes next
    assert value_of_points(states, 0, rules, 0, 2) == value_of_points(states, 0, rules, 0, 6) == 1
    assert value_of_points(states, 0, rules, 1, 2) == match_equity(2, 2)
    assert value_of_points(states, 0, rules, 0, -2) == match_equity(2, 2)
    states["score"] = 6, 3
    assert value_of_points(states, 0, rules, 1, 2) == match_equity(2, 1, post_crawford=True)
    assert value_of_points(states, 0, Settings(match_length=7, crawford=False).record(), 1, 1) == match_equity(
        3, 1, post_crawford=True
    )
    assert value_of_points(states, 0, Settings(match_length=40).record(), 1, 2) == 2  # past the table: money play


def test_a_long_match_is_played_as_for_money():
    for win in np.arange(0.4, 0.9, 0.02):
        for state in ({}, {"cube": 1, "owner": 0}, {"answer": True}):
            odds = odds_of(win, gammons=0.2, lost_gammons=0.1)
            assert act(Settings(match_length=60), odds, **state) == act(Settings(), odds, **state)
            long, money = weigh(Settings(match_length=25), odds, **state), weigh(Settings(), odds, **state)
            point = (match_equity(24, 25) - match_equity(25, 24)) / 2
            assert (np.array(long) - 0.5) / point == pytest.approx(np.array(money), abs=0.2)


def test_both_seats_are_treated_alike():
    rng = np.random.default_rng(2)
    for _ in range(300):
        settings = Settings(match_length=int(rng.integers(1, 16)), crawford=bool(rng.integers(2)))
        score = rng.integers(settings.match_length, size=2)
        cube, odds = int(rng.integers(4)), rng.dirichlet(np.ones(6))[None]
        owner = int(rng.integers(2)) if cube else -1
        here = weigh(settings, odds, cube=cube, owner=owner, score=tuple(score))
        there = weigh(settings, odds, cube=cube, owner=owner if owner < 0 else 1 - owner, score=tuple(score[::-1]), turn=1)
        assert here == there
        assert all(0 <= worth <= 1 for worth in here)


def test_a_better_position_is_never_worth_less():
    rng = np.random.default_rng(3)
    for _ in range(200):
        settings = Settings(match_length=int(rng.integers(2, 12))) if rng.random() < 0.7 else Settings()
        score = tuple(rng.integers(settings.match_length, size=2)) if settings.match_length else (0, 0)
        gammons = rng.random(2) / 2
        rows = [weigh(settings, odds_of(p, *gammons), score=score) for p in np.linspace(0, 1, 41)]
        assert (np.diff([row[:2] for row in rows], axis=0) >= -1e-9).all()


SETTINGS = (
    Settings(),
    Settings(jacoby=True, beavers=3, auto_doubles=2),
    Settings(cube_cap=4, beavers=1),
    Settings(cube_cap=None, beavers=15),
    Settings(match_length=3, allow_dead_cube=True, crawford=False),
    Settings("hypergammon", match_length=7),
    Settings("acey_deucey", cube=True, beavers=2),
    Settings("nackgammon", match_length=40),
)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_action_is_legal(settings):
    """Random nets against themselves, doubles thrown in: every kind of decision."""
    players = [ValuePlayer(nets.random_net(seed), settings=settings) for seed in range(6)]
    rules, mask = settings.record(), np.zeros((1, settings.actions), np.int8)
    rng, met = np.random.default_rng(1), set()
    for seed in range(12):
        states = np.zeros(1, STATE)
        engine.new_episode(states, 0, rules, np.uint64(seed))
        player = players[seed % 6]
        for _ in range(600):
            engine.settle(states, 0, rules)
            if states[0]["phase"] == Phase.OVER:
                break
            action = int(player.choose(states, np.zeros(1, np.uint64))[0])
            engine.legal_mask(states, 0, rules, mask, 0)
            assert mask[0, action] == 1
            met.add(action)
            if action == ROLL and rng.random() < 0.3:
                action = DOUBLE  # so that questions arise
            engine.apply(states, 0, rules, action)
    assert met & {TAKE, DROP}
    assert settings.beavers == 0 or BEAVER in met
