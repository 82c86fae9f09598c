"""The player gnubg: the choices of gnubg-nn, its cube, and what is said where it cannot play."""

from __future__ import annotations

import itertools
import pickle
import sys

import numpy as np
import pytest
from positions import placements, random_play

from bg_env import rules as engine
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.errors import MissingDependencyError, OrderError, SettingsError
from bg_env.players import GnubgPlayer, player
from bg_env.rules import STATE, VARIANTS, Phase, Settings

MONEY = Settings()


@pytest.fixture(scope="module")
def gnubg():
    return pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")


def state_of(board, roll, settings, turn=0, **fields):
    states = np.zeros(1, STATE)
    states["turn"], states["owner"] = turn, -1
    states["points"][0, turn], states["points"][0, 1 - turn] = board
    for name, value in fields.items():
        states[name] = value
    engine.set_up(states, 0, settings.record(), *roll)
    return states


def some(n, seed):
    """Boards with rolls from random play, and placed at random."""
    start, checkers = VARIANTS["backgammon"].start, VARIANTS["backgammon"].checkers
    sources = random_play(start, seed), placements(checkers, seed)
    return list(itertools.islice(itertools.chain.from_iterable(zip(*sources, strict=True)), n))


def board_after(board, moves):
    """The result of gnubg-nn's list of (from, to) as (ours, theirs), each on its own numbering; 25 the bar, 0 off."""
    ours, theirs = list(board[0]), list(board[1])
    for source, target in moves:
        ours[source] -= 1
        ours[target] += 1
        if target and theirs[25 - target]:
            theirs[25] += theirs[25 - target]
            theirs[25 - target] = 0
    return ours, theirs


def played(states, steps, settings):
    """The board after the steps, by the engine under plain rules."""
    after, plain = states.copy(), Settings(settings.variant, cube=False).record()
    turn = int(after[0]["turn"])
    for action in steps[steps >= 0].tolist():
        engine.apply(after, 0, plain, action)
    return after[0]["points"][turn].tolist(), after[0]["points"][1 - turn].tolist()


def sides(board):
    return [list(board[1][1:]), list(board[0][1:])]


@pytest.mark.parametrize(("plies", "n"), [(0, 500), (1, 12)])
def test_checker_play_is_its_best_move(gnubg, plies, n):
    chosen, boards = GnubgPlayer(plies, settings=MONEY), some(n, 1)
    states = np.concatenate([state_of(board, roll, MONEY, k % 2) for k, (board, roll) in enumerate(boards)])
    checker = states["phase"] == Phase.CHECKER
    assert checker.sum() > 0.7 * n
    steps = chosen.choose_plays(states[checker], None)
    for k, i in enumerate(np.flatnonzero(checker)):
        board, roll = boards[i]
        want = board_after(board, gnubg.best_move(sides(board), *roll, plies))
        assert played(states[i : i + 1], steps[k], MONEY) == want
    alone = [chosen.choose_plays(states[i : i + 1], None)[0].tolist() for i in np.flatnonzero(checker)[:20]]
    assert alone == steps[:20].tolist()


def test_checker_play_heeds_the_score(gnubg):
    """At the score, seen from the seat of either player; and gnubg-nn is left at money play."""
    settings = Settings(match_length=7)
    chosen, differs = GnubgPlayer(settings=settings), 0
    for k, (board, roll) in enumerate(some(120, 2)):
        turn, score, crawford = k % 2, ((6, 2), (5, 0), (1, 6), (6, 6))[k % 4], int(k % 8 == 0)
        states = state_of(board, roll, settings, turn, score=score, crawford=crawford)
        if states[0]["phase"] != Phase.CHECKER:
            continue
        steps = chosen.choose_plays(states, None)[0]
        gnubg.set.score(7 - score[turn], 7 - score[1 - turn], crawford)
        want = board_after(board, gnubg.best_move(sides(board), *roll, 0))
        gnubg.set.score(0, 0)
        money = board_after(board, gnubg.best_move(sides(board), *roll, 0))
        assert played(states, steps, settings) == want
        differs += want != money
    assert differs > 3
    gnubg.set.score(7, 7)
    key = gnubg.key_of_board(sides((VARIANTS["backgammon"].start,) * 2))
    assert gnubg.evaluate_cube_decision(key) == 0
    chosen.choose(state_of((VARIANTS["backgammon"].start,) * 2, (0, 0), settings), np.zeros(1, np.uint64))
    with pytest.raises(RuntimeError, match="money"):
        gnubg.evaluate_cube_decision(key)


def mirrored(gnubg, board, own, other, cube, owner):
    """gnubg-nn's cube decision with its X as the player on roll: (double, take)."""
    gnubg.set.score(other, own)
    if cube > 1:
        gnubg.set.cube(cube, b"X" if owner else b"O")
    key = gnubg.key_of_board(sides((board[1], board[0])))
    double, take, *_ = gnubg.evaluate_cube_decision(key, i=1, s=b"X")
    gnubg.set.score(0, 0)
    return double, take


def test_cube_decisions_in_a_match_are_its_own(gnubg):
    settings = Settings(match_length=9)
    chosen, seen = GnubgPlayer(settings=settings), set()
    for k, (board, _) in enumerate(some(300, 3)):
        turn, score = k % 2, ((0, 0), (5, 2), (2, 6), (3, 8), (7, 7))[k % 5]
        cube, owner = ((0, -1), (1, turn))[k % 3 == 0]
        states = state_of(board, (0, 0), settings, turn, score=score, cube=cube, owner=owner)
        if states[0]["phase"] != Phase.ROLL_OR_DOUBLE:
            continue
        action = chosen.choose(states, np.zeros(1, np.uint64))[0]
        engine.apply(states, 0, settings.record(), DOUBLE)
        answer = chosen.choose(states, np.zeros(1, np.uint64))[0]
        own, other = 9 - score[turn], 9 - score[1 - turn]
        double, take = mirrored(gnubg, board, own, other, 1 << cube, owner == turn)
        assert (action, answer) == (DOUBLE if double else ROLL, TAKE if take else DROP)
        seen.add((int(action), int(answer)))
    assert seen == {(DOUBLE, TAKE), (DOUBLE, DROP), (ROLL, TAKE), (ROLL, DROP)}


RACE = (
    tuple(dict(enumerate([0, 2, 2, 2, 3, 3, 3])).get(p, 0) for p in range(26)),
    tuple(dict(enumerate([0, 0, 0, 3, 3, 4, 5])).get(p, 0) for p in range(26)),
)
"""The mover is ahead in the race: it wins 87 of 100."""


def test_the_cube_for_money(gnubg):
    even = (VARIANTS["backgammon"].start,) * 2
    words = np.zeros(1, np.uint64)
    for settings in (MONEY, Settings(match_length=60), Settings(jacoby=True, beavers=2)):
        chosen = GnubgPlayer(settings=settings)
        for board, action, answer in ((even, ROLL, TAKE), (RACE, DOUBLE, DROP), (RACE[::-1], ROLL, TAKE)):
            states = state_of(board, (0, 0), settings)
            assert chosen.choose(states, words)[0] == action
            engine.apply(states, 0, settings.record(), DOUBLE)
            eager = settings.beavers and answer == TAKE  # both doubles are mistakes
            assert chosen.choose(states, words)[0] == (BEAVER if eager else answer)


def test_under_jacoby_a_gammon_counts_once_the_cube_is_turned(gnubg):
    settings, differs = Settings(jacoby=True), 0
    chosen, money = GnubgPlayer(settings=settings), GnubgPlayer(settings=MONEY)
    for board, roll in some(60, 4):
        centred = state_of(board, roll, settings)
        if centred[0]["phase"] != Phase.CHECKER:
            continue
        turned = state_of(board, roll, settings, cube=1, owner=1)
        plain = money.choose_plays(turned, None)[0].tolist()
        assert chosen.choose_plays(turned, None)[0].tolist() == plain
        differs += chosen.choose_plays(centred, None)[0].tolist() != plain
    assert 0 < differs < 30


def test_a_roll_partly_played_is_finished(gnubg):
    chosen, rules = GnubgPlayer(settings=MONEY), MONEY.record()
    for board, roll in some(40, 5):
        states = state_of(board, roll, MONEY)
        while states[0]["phase"] == Phase.CHECKER and states[0]["turn"] == 0:
            action = chosen.choose(states, np.zeros(1, np.uint64))[0]
            assert not engine.illegal_reason(states, 0, rules, int(action))
            engine.apply(states, 0, rules, int(action))


@pytest.mark.parametrize("settings", [Settings("acey_deucey"), Settings("hypergammon")], ids=str)
def test_variants_that_its_nets_do_not_know(gnubg, settings):
    with pytest.raises(
        SettingsError, match=f"gnubg knows backgammon from any start with 15 checkers, not {settings.variant.name}"
    ):
        player("gnubg", settings)


def test_what_is_refused(gnubg):
    for plies in (-1, 4, True, 0.5):
        with pytest.raises(SettingsError, match="plies is a whole number from 0 to 3"):
            GnubgPlayer(plies)
    with pytest.raises(OrderError, match="gnubg must know the settings"):
        GnubgPlayer().choose_plays(np.zeros(1, STATE), None)
    with pytest.raises(OrderError, match="gnubg must know the settings"):
        GnubgPlayer().choose(np.zeros(1, STATE), np.zeros(1, np.uint64))


def test_names_and_pickles(gnubg):
    assert player("gnubg", MONEY).name == "gnubg"
    assert player("gnubg:1", MONEY).name == "gnubg:1"
    again = pickle.loads(pickle.dumps(player("gnubg:2", Settings("nackgammon"))))  # noqa: S301 - our own bytes
    assert (again.plies, again.settings) == (2, Settings("nackgammon"))
    assert repr(again) == "GnubgPlayer(2, settings='nackgammon')"


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    with pytest.raises(MissingDependencyError, match="pip install gnubg-nn"):
        player("gnubg", MONEY)
    with pytest.raises(ImportError, match="player 'gnubg' needs the package gnubg-nn"):
        GnubgPlayer()
