"""Match play (R9) and the cap on turns (R11.1)."""

from __future__ import annotations

import numpy as np
import pytest
from engine import EngineGame, board_of
from oracle import DOUBLE, DROP, ROLL, TAKE

from bg_env import rules as engine
from bg_env.rules import VARIANTS, Settings

START = (VARIANTS["backgammon"].start,) * 2


class Match(EngineGame):
    """A match whose games are decided by resigning."""

    def win(self, winner, level=1):
        """Player `winner` is given the next `level` points."""
        engine.resign(self.states, 0, self.rules, 1 - winner, level)
        return self

    @property
    def score(self):
        return tuple(self.states[0]["score"].tolist())

    @property
    def crawford(self):
        return bool(self.states[0]["crawford"])


def match(length, **settings):
    return Match(Settings("backgammon", match_length=length, **settings))


def second_turn(game, player=0):
    """From the opening throw to the second turn of the game, which is that of `player`."""
    game.roll(*((3, 1) if player == 1 else (1, 3)))
    while game.phase == "CHECKER" and game.decider == 1 - player:
        game.apply(min(game.legal()))
    return game


def test_a_match_goes_on_to_its_length_and_no_further():
    game = match(5)
    seen = []
    for winner, level in ((0, 1), (1, 2), (0, 2), (1, 3)):
        assert game.phase == "OPENING"
        game.win(winner, level)
        seen.append((game.score, game.phase, int(game.states[0]["games"])))
    assert seen[:3] == [((1, 0), "OPENING", 2), ((1, 2), "OPENING", 3), ((3, 2), "OPENING", 4)]
    assert seen[3][:2] == ((3, 5), "OVER")
    assert game.legal() == set()
    assert int(game.states[0]["ending"]) == engine.END_FINISHED


def test_every_game_of_a_match_begins_afresh():
    game = match(9)
    second_turn(game)
    game.apply(DOUBLE)
    game.apply(TAKE)
    game.win(0, 2)
    assert game.score == (4, 0)
    assert game.phase == "OPENING"
    assert game.states[0]["points"].tolist() == [list(VARIANTS["backgammon"].start)] * 2
    fields = {name: int(game.states[0][name]) for name in ("cube", "owner", "chain", "turn", "decider")}
    assert fields == {"cube": 0, "owner": -1, "chain": 0, "turn": -1, "decider": -1}
    assert (int(game.states[0]["winner"]), int(game.states[0]["level"]), int(game.states[0]["won"])) == (0, 2, 4)
    second_turn(game)
    assert game.legal() == {ROLL, DOUBLE}
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (-1, 0)  # reported once


def test_points_beyond_the_length_count_in_full_and_do_not_matter():
    game = match(3).win(0, 2)
    game.win(0, 3)
    assert game.score == (5, 0)
    assert int(game.states[0]["won"]) == 3


@pytest.mark.parametrize(
    ("length", "wins", "crawford"),
    [
        (5, [(0, 3)], [False]),
        (5, [(0, 3), (0, 1)], [False, True]),
        (5, [(0, 3), (0, 1), (1, 1), (1, 2)], [False, True, False, False]),  # exactly once, though the other comes to 4 too
        (5, [(1, 2), (1, 2), (0, 1), (0, 3)], [False, True, False, False]),
        (5, [(0, 2), (1, 3), (0, 2), (1, 1)], [False, False, True, False]),  # 4-3 is Crawford; 4-4 is not
        (2, [(1, 1), (0, 1)], [True, False]),
        (3, [(0, 1), (0, 1), (1, 1), (1, 1)], [False, True, False, False]),
    ],
)
def test_crawford_is_the_first_game_after_a_player_comes_within_a_point_and_no_other(length, wins, crawford):
    game = match(length)
    assert not game.crawford
    seen = []
    for winner, level in wins:
        game.win(winner, level)
        seen.append(game.crawford)
        may = not game.crawford
        tried = second_turn(game.copy(), 1)
        dead = tried.states[0]["score"][1] == length - 1
        assert tried.legal() == ({ROLL, DOUBLE} if may and not dead else set())
    assert seen == crawford


@pytest.mark.parametrize("settings", [{"crawford": False}, {"cube": False}])
def test_no_crawford_game_without_the_rule_or_the_cube(settings):
    game = match(5, **settings).win(0, 2).win(0, 2)
    assert game.score == (4, 0)
    assert not game.crawford


def test_a_match_of_one_point_has_no_crawford_game_and_no_cube():
    game = match(1)
    assert not game.crawford
    assert second_turn(game).legal() == set()


def test_a_drop_gives_the_value_and_the_match_goes_on():
    game = second_turn(match(7), 1)
    game.apply(DOUBLE)
    game.apply(DROP)
    assert game.score == (0, 1)
    assert game.phase == "OPENING"
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (1, 1)


def test_a_gammon_at_two_wins_four_points_of_a_match():
    game = match(9).place(board_of({1: 1}, {24: 15}), (6, 1), cube=1, owner=1, score=(2, 3))
    game.apply(0)
    assert game.score == (6, 3)
    assert game.phase == "OPENING"


def test_jacoby_is_never_in_a_match():
    """R8.5, R9.1: a gammon at a centred cube counts two."""
    game = match(9).place(board_of({1: 1}, {24: 15}), (6, 1), owner=-1)
    game.apply(0)
    assert game.score == (2, 0)


def test_an_illegal_action_ends_the_match():
    game = match(9)
    engine.forfeit(game.states, 0, game.rules, 0)
    assert game.score == (0, 3)
    assert (game.phase, game.legal()) == ("OVER", set())


def test_a_match_of_the_greatest_length_counts_right():
    game = match(32_767, cube_cap=None).place(board_of({1: 1}, {0: 1, 24: 14}), (6, 1), cube=15, owner=1, score=(1, 32_766))
    game.apply(0)
    assert game.score == (1 + 3 * 32_768, 32_766)


# The cap on turns


@pytest.mark.parametrize("cap", [1, 2, 3, 10, 37])
def test_the_cap_truncates_after_that_many_turns(cap):
    """Turns are R3.1's, dances included; the last one is played to its end."""
    settings = Settings("longgammon", cube=False, max_turns=cap)
    game = EngineGame(settings, 3)
    turns, last = 0, None
    while True:
        game.settle()
        if game.phase == "OVER":
            break
        turn = int(game.states[0]["turns"])
        turns, last = max(turns, turn), turn
        game.apply(max(game.legal()))
    assert last is None or last <= cap
    assert int(game.states[0]["turns"]) == cap
    assert int(game.states[0]["ending"]) == engine.END_TRUNCATED
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (-1, 0)


def test_dances_count_as_turns():
    shut = board_of({25: 2, 1: 13}, {24: 2, 23: 2, 22: 2, 21: 2, 20: 2, 19: 2, 10: 3})
    game = EngineGame(Settings("backgammon", cube=False, max_turns=2)).place(shut, (6, 5), owner=-1)
    assert game.phase == "ROLL"  # danced: the second turn
    assert int(game.states[0]["turns"]) == 2
    game.roll(1, 2)
    while game.phase == "CHECKER":
        game.apply(min(game.legal()))
    assert (game.phase, int(game.states[0]["ending"])) == ("OVER", engine.END_TRUNCATED)


def test_a_game_won_on_the_last_turn_is_won():
    game = EngineGame(Settings("backgammon", max_turns=1)).place(board_of({1: 1}, {24: 15}), (6, 1), owner=-1)
    game.apply(0)
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (0, 2)
    assert int(game.states[0]["ending"]) == engine.END_FINISHED


def test_the_cap_counts_over_all_games_of_a_match_and_won_points_stay():
    game = match(9, max_turns=2)
    second_turn(game, 1)
    game.apply(DOUBLE)
    game.apply(DROP)  # in the second turn
    assert game.score == (0, 1)
    assert (game.phase, int(game.states[0]["ending"])) == ("OVER", engine.END_TRUNCATED)
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (1, 1)  # of the game that was finished
    assert game.legal() == set()


def test_the_cap_stops_a_match_in_the_middle_of_a_game():
    game = match(9, max_turns=3).win(0, 2)
    game.states["key"] = np.uint64(4)
    while game.phase != "OVER":
        game.settle()
        if game.legal():
            game.apply(min(game.legal()))
    assert game.score == (2, 0)
    assert int(game.states[0]["ending"]) == engine.END_TRUNCATED
    assert (int(game.states[0]["winner"]), int(game.states[0]["won"])) == (-1, 0)
