"""Players by a value net with exact tables for the end of races: the decisions of the tables, and the net's elsewhere."""

from __future__ import annotations

import pickle

import nets
import numpy as np
import pytest

from bg_env import Game, Position, Settings, ValuePlayer, exact
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.exact.numbering import home_positions, positions_of
from bg_env.players import names
from bg_env.players.valuenet import bearoff
from bg_env.rules import Phase, plays

NET = nets.random_net(1)
WORDS = np.zeros(1000, np.uint64)


def players(settings):
    """With tables, and without."""
    return ValuePlayer(NET, bearoff=True, settings=settings), ValuePlayer(NET, settings=settings)


def races(settings, least, most, n, *, rolled, seed=1):
    """States of random positions with `least` to `most` checkers a side; after a roll the cube is anybody's."""
    rng = np.random.default_rng(seed)
    homes = home_positions(0, positions_of(most))
    found = []
    for pair in rng.integers(positions_of(least - 1), positions_of(most), (n, 2)):
        sides = [[15 - int(home.sum()), *home.tolist(), *[0] * 19] for home in homes[pair]]
        roll = tuple(map(int, rng.integers(1, 7, 2))) if rolled else None
        options = {"cube": settings.cube, "match_length": settings.match_length, "beavers": settings.beavers}
        found.append(Game.from_position(Position(*sides), roll, **options).states)
    states = np.concatenate(found)
    if settings.cube and rolled:
        states["owner"] = rng.integers(-1, 2, n)
        states["cube"] = states["owner"] >= 0
    return states


def after(states, steps, settings):
    """The states after the plays that are chosen."""
    offsets, actions, found = plays(states, settings.record())
    rows = [next(k for k in range(offsets[i], offsets[i + 1]) if (actions[k] == steps[i]).all()) for i in range(len(states))]
    return found[rows]


@pytest.mark.parametrize("settings", [Settings(), Settings(cube=False), Settings(cube_cap=2)], ids=str)
def test_plays_with_few_checkers_lose_nothing(settings):
    states = races(settings, 1, 6, 150, rolled=True)
    table = exact.two_sided()
    best = table.value(states, settings)
    for player, exactly in zip(players(settings), (True, False), strict=True):
        found = after(states, player.choose_plays(states, WORDS[:150]), settings)
        values = table.value(found, settings)
        values = np.where(found["turn"] == states["turn"], values, -values)
        assert (np.abs(values - best) < 1e-12).all() == exactly
        assert (values <= best + 1e-12).all()


@pytest.mark.parametrize(("least", "most"), [(7, 14), (6, 7)])
@pytest.mark.parametrize("settings", [Settings(), Settings(match_length=5)], ids=str)
def test_plays_with_more_checkers_win_most_often(settings, least, most):
    states = races(settings, least, most, 60, rolled=True)
    player = players(settings)[0]
    pairs, one = exact.two_sided(), exact.one_sided()

    def chances(found):
        both = zip(split(found), pairs.covers(found), strict=True)
        return np.array([(pairs.equity(state) + 1) / 2 if few else one.win_probability(state) for state, few in both])

    with_cube = pairs.covers(states) & settings.money
    kept = ~with_cube
    states = states[kept]
    assert len(states) > 30
    reached = after(states, player.choose_plays(states, WORDS[: len(states)]), settings)
    offsets, _, found = plays(states, settings.record())
    worst = np.minimum.reduceat(chances(found).ravel(), offsets[:-1])
    assert chances(reached).ravel() == pytest.approx(worst, abs=1e-12)


def split(states):
    return [states[i : i + 1] for i in range(len(states))]


def test_probabilities_are_those_of_the_tables():
    settings = Settings()
    player, plain = players(settings)
    few, many = races(settings, 1, 6, 30, rolled=False), races(settings, 8, 14, 30, rolled=False)
    elsewhere = np.concatenate([Game.from_position(Position.start()).states, Game.from_position(all_home()).states])
    states = np.concatenate([few, elsewhere, many])
    found = player.probabilities(states)
    assert found[:30, 0] == pytest.approx((exact.two_sided().equity(few) + 1) / 2, abs=1e-12)
    assert np.array_equal(found[30:32], plain.probabilities(elsewhere))
    assert found[32:, 0] == pytest.approx(exact.one_sided().win_probability(many), abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(1)
    assert not found[:30, [1, 2, 4, 5]].any()


def all_home():
    """A race in which a gammon is still possible: nobody has borne off a checker."""
    side = [0, 5, 2, 2, 2, 2, 2, *[0] * 19]
    return Position(side, side)


def test_cube_decisions_are_those_of_the_table():
    settings = Settings()
    player, plain = players(settings)
    states = races(settings, 1, 6, 150, rolled=False)
    offered = states.copy()
    offered["phase"], offered["chain"], offered["decider"] = Phase.TAKE_OR_DROP, 1, 1 - states["turn"]
    decisions = [exact.two_sided().cube_equities(Game.from_states(state, settings)) for state in split(states)]
    both = np.concatenate([states, offered])
    expected = [DOUBLE if d.double else ROLL for d in decisions] + [TAKE if d.take else DROP for d in decisions]
    assert player.choose(both, WORDS[:300]).tolist() == expected
    assert plain.choose(both, WORDS[:300]).tolist() != expected
    assert {ROLL, DOUBLE, TAKE, DROP} == set(expected)


def test_a_cube_that_the_next_double_makes_dead():
    """With the cap at 2 a double is the last one, so that it needs more than half of the games."""
    settings = Settings(cube_cap=2)
    states = races(settings, 1, 6, 150, rolled=False)
    equity = exact.two_sided().equity(states)
    chosen = players(settings)[0].choose(states, WORDS[:150])
    no_double = exact.two_sided().value(_rolling(states), settings)
    assert chosen.tolist() == np.where(np.minimum(2 * equity, 1) > no_double, DOUBLE, ROLL).tolist()


def _rolling(states):
    states = states.copy()
    states["phase"] = Phase.ROLL
    return states


def test_a_step_of_a_play_and_a_whole_play_agree():
    settings = Settings()
    player = players(settings)[0]
    states = np.concatenate([races(settings, 1, 9, 40, rolled=True), Game.from_position(Position.start(), (3, 1)).states])
    assert player.choose(states, WORDS[:41]).tolist() == player.choose_plays(states, WORDS[:41])[:, 0].tolist()
    assert player.choose_plays(states[:0], WORDS[:0]).shape == (0, 4)


def test_other_decisions_stay_with_the_net():
    acey = Settings("acey_deucey")
    board = Position([12, 1, 1, 1, *[0] * 22], [12, 0, 1, 0, 1, 0, 1, *[0] * 19], "acey_deucey")
    states = np.concatenate([Game.from_position(board, roll).states for roll in ((3, 2), (4, 4), (6, 5))])
    player, plain = players(acey)
    assert np.array_equal(player.choose_plays(states, WORDS[:3]), plain.choose_plays(states, WORDS[:3]))
    game = Game.from_position(Position([10, 0, 0, 0, 0, 0, 5, *[0] * 19], [14, 1, *[0] * 24]), beavers=1)
    game.apply(DOUBLE)  # the worst of doubles
    assert players(game.settings)[0].choose(game.states, WORDS[:1]).tolist() == [BEAVER]
    for settings in (Settings(beavers=1), Settings(match_length=5)):
        states = races(settings, 1, 6, 30, rolled=False)
        assert set(players(settings)[0].choose(states, WORDS[:30])) <= {ROLL, DOUBLE}


def test_the_option_stays_with_the_player():
    player = ValuePlayer(NET, bearoff=True)
    for other in (player, player.bind(Settings()), pickle.loads(pickle.dumps(player.bind(Settings())))):  # noqa: S301 - made here
        assert other.bearoff is True
    assert ValuePlayer(NET).bearoff is False
    with pytest.raises(ValueError, match="bearoff is True or False, not 1"):
        ValuePlayer(NET, bearoff=1)


@pytest.mark.parametrize("name", ["td", "td:1", "td-cube", "greedy:FILE", "expectimax:FILE"])
def test_named_players_use_the_tables(name, tmp_path):
    NET.save(tmp_path / "net.npz")
    assert names.player(name.replace("FILE", str(tmp_path / "net.npz")), Settings()).bearoff is True


def test_without_compilation_no_table_is_built(monkeypatch):
    monkeypatch.setattr(bearoff, "CACHE_DIR", "")
    settings = Settings()
    states = races(settings, 1, 6, 20, rolled=True)
    player, plain = players(settings)
    assert np.array_equal(player.choose_plays(states, WORDS[:20]), plain.choose_plays(states, WORDS[:20]))
