"""The doubling cube (R8), and the points of a game (R7.4, R7.5)."""

from __future__ import annotations

import numpy as np
import pytest
from engine import EngineGame, board_of
from oracle import BEAVER, DOUBLE, DROP, ROLL, TAKE

from bg_env import rules as engine
from bg_env.rules import VARIANTS, Settings

START = (VARIANTS["backgammon"].start,) * 2


def on_roll(settings, **fields):
    """A game from the start position, not the first turn, the player `turn` (0) to double or roll."""
    fields = {"owner": -1} | fields
    return EngineGame(settings).place(START, **fields)


def cube_of(game):
    s = game.states[0]
    return 1 << int(s["cube"]), int(s["owner"])


def outcome(game):
    s = game.states[0]
    return int(s["winner"]), int(s["level"]), int(s["won"])


# Who may double


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(
    ("case", "settings", "fields", "may"),
    [
        ("centred", {}, {}, True),
        ("owned by the mover", {}, {"cube": 1, "owner": "mover"}, True),
        ("owned by the other", {}, {"cube": 1, "owner": "other"}, False),
        ("no cube in play", {"cube": False}, {}, False),
        ("one below the cap", {}, {"cube": 5, "owner": "mover"}, True),
        ("at the cap", {}, {"cube": 6, "owner": "mover"}, False),
        ("at a cap of 1", {"cube_cap": 1}, {}, False),
        ("at a cap of 4", {"cube_cap": 4}, {"cube": 2, "owner": "mover"}, False),
        ("the cap lifted", {"cube_cap": None}, {"cube": 6, "owner": "mover"}, True),
        ("one below the lifted cap", {"cube_cap": None}, {"cube": 14, "owner": "mover"}, True),
        ("at the lifted cap", {"cube_cap": None}, {"cube": 15, "owner": "mover"}, False),
        ("raised by ties, still centred", {"auto_doubles": 3}, {"cube": 2, "ties": 2}, True),
        ("raised by ties to the cap", {"auto_doubles": 3, "cube_cap": 4}, {"cube": 2, "ties": 2}, False),
        ("Jacoby changes nothing", {"jacoby": True}, {}, True),
        ("match, 0-0", {"match_length": 7}, {}, True),
        ("Crawford game, the leader", {"match_length": 5}, {"score": (4, 2), "crawford": 1}, False),
        ("Crawford game, the trailer", {"match_length": 5}, {"score": (2, 4), "crawford": 1}, False),
        ("after Crawford, the leader: one point is enough", {"match_length": 5}, {"score": (4, 2)}, False),
        ("after Crawford, the trailer", {"match_length": 5}, {"score": (2, 4)}, True),
        ("dead cube: 2 is all the mover needs", {"match_length": 7}, {"cube": 1, "owner": "mover", "score": (5, 3)}, False),
        (
            "dead cube: 4 is more than the mover needs",
            {"match_length": 7},
            {"cube": 2, "owner": "mover", "score": (4, 6)},
            False,
        ),
        ("alive: one point short", {"match_length": 7}, {"cube": 1, "owner": "mover", "score": (4, 6)}, True),
        (
            "dead cube allowed",
            {"match_length": 7, "allow_dead_cube": True},
            {"cube": 1, "owner": "mover", "score": (5, 3)},
            True,
        ),
        ("1-point match", {"match_length": 1}, {}, False),
        ("1-point match, dead cube allowed", {"match_length": 1, "allow_dead_cube": True}, {}, True),
        ("match without cube", {"match_length": 7, "cube": False}, {}, False),
        ("no Crawford rule", {"match_length": 5, "crawford": False}, {"score": (2, 4)}, True),
    ],
)
def test_who_may_double(case, settings, fields, may, turn):
    """Scores in the table are (mover, other)."""
    fields = dict(fields)
    if fields.get("owner") in ("mover", "other"):
        fields["owner"] = turn if fields["owner"] == "mover" else 1 - turn
    if "score" in fields and turn:
        fields["score"] = fields["score"][::-1]
    game = on_roll(Settings("backgammon", **settings), turn=turn, **fields)
    if may:
        assert (game.phase, game.decider, game.legal()) == ("ROLL_OR_DOUBLE", turn, {ROLL, DOUBLE})
    else:
        assert (game.phase, game.decider, game.legal()) == ("ROLL", -1, set())


@pytest.mark.parametrize("name", VARIANTS)
def test_nobody_doubles_before_the_first_roll_but_the_second_player_may(name):
    """R8.2: the starter plays its opening throw, or rolls (R2.3); the other one comes to its first turn with the choice."""
    game = EngineGame(Settings(name, cube=True))
    game.roll(3, 5)
    if VARIANTS[name].fresh_first_roll:
        assert (game.phase, game.legal()) == ("ROLL", set())
        game.roll(5, 3)
    while game.decider == 1:
        assert game.phase == "CHECKER"
        game.apply(min(game.legal()))
    assert (game.phase, game.decider, game.legal()) == ("ROLL_OR_DOUBLE", 0, {ROLL, DOUBLE})


def test_no_doubling_once_the_dice_have_fallen():
    game = on_roll(Settings("backgammon"))
    game.apply(ROLL)
    assert game.phase == "ROLL"
    game.roll(3, 1)
    assert not {ROLL, DOUBLE} & game.legal()


# After the answer


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("log2", range(6))
def test_a_take_doubles_the_value_and_gives_the_cube_to_the_taker(log2, turn):
    game = on_roll(Settings("backgammon"), turn=turn, cube=log2, owner=turn if log2 else -1)
    game.apply(DOUBLE)
    assert (game.phase, game.decider, game.legal()) == ("TAKE_OR_DROP", 1 - turn, {TAKE, DROP})
    game.apply(TAKE)
    assert cube_of(game) == (2 << log2, 1 - turn)
    assert (game.phase, game.legal()) == ("ROLL", set())  # the doubler rolls at once
    assert game.states[0]["turn"] == turn
    game.roll(3, 1)
    while game.decider == turn:
        game.apply(min(game.legal()))
    assert game.legal() == ({ROLL, DOUBLE} if log2 < 5 else set())  # the taker's turn, and its cube


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("log2", range(6))
def test_a_drop_loses_the_value_before_the_double(log2, turn):
    game = on_roll(Settings("backgammon", jacoby=True), turn=turn, cube=log2, owner=turn if log2 else -1)
    game.apply(DOUBLE)
    game.apply(DROP)
    assert outcome(game) == (turn, 1, 1 << log2)
    assert (game.phase, game.legal()) == ("OVER", set())


def test_a_drop_never_costs_more_than_the_cube_even_far_behind():
    """R7.5: no gammon by a drop, though nobody has borne off."""
    board = board_of({1: 1}, {1: 14, 0: 1})
    game = EngineGame(Settings("backgammon")).place(board, owner=-1)
    game.apply(DOUBLE)
    game.apply(DROP)
    assert outcome(game) == (0, 1, 1)


# Levels and Jacoby

LAST = {1: 1}
GAMMON, BAR, HOME, EDGE = {24: 15}, {0: 1, 24: 14}, {6: 1, 24: 14}, {7: 1, 24: 14}
SINGLE, SINGLE_BAR = {24: 14}, {0: 1, 24: 13}


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("log2", [0, 1, 3, 6])
@pytest.mark.parametrize(
    ("opponent", "level"),
    [(SINGLE, 1), (SINGLE_BAR, 1), (GAMMON, 2), (EDGE, 2), (HOME, 3), (BAR, 3)],
    ids=["single", "single, on the bar", "gammon", "gammon, just out", "backgammon, home", "backgammon, bar"],
)
def test_levels_times_cube(opponent, level, log2, turn):
    """The opponent's checkers by the winner's points, 0 its bar; a loser with one off never loses more than a single game."""
    settings = Settings("backgammon")
    game = EngineGame(settings).place(board_of(LAST, opponent), (6, 1), turn=turn, cube=log2, owner=turn if log2 else -1)
    game.apply(5)  # 1/off with the 6
    assert outcome(game) == (turn, level, level << log2)
    assert (game.phase, game.dice(), game.legal()) == ("OVER", (), set())  # R3.4


@pytest.mark.parametrize(
    ("settings", "fields", "points"),
    [
        ({"jacoby": True}, {}, 1),
        ({"jacoby": True}, {"cube": 1, "owner": 0}, 6),
        ({"jacoby": True}, {"cube": 1, "owner": 1}, 6),
        ({"jacoby": True, "auto_doubles": 2}, {"cube": 2, "ties": 2}, 4),  # R8.5: raised by ties only
        ({"jacoby": False}, {}, 3),
        ({"jacoby": True, "cube": False}, {}, 3),  # no cube in play
    ],
)
def test_jacoby(settings, fields, points):
    game = EngineGame(Settings("backgammon", **settings)).place(board_of(LAST, BAR), (6, 1), **({"owner": -1} | fields))
    game.apply(5)
    assert outcome(game)[0] == 0
    assert outcome(game)[2] == points


def test_jacoby_and_a_drop():
    """The first double dropped is one point, with and without Jacoby."""
    game = on_roll(Settings("backgammon", jacoby=True))
    game.apply(DOUBLE)
    game.apply(DROP)
    assert outcome(game) == (0, 1, 1)


def test_hypergammon_levels_with_three_checkers():
    for opponent, level in (({24: 2}, 1), ({24: 3}, 2), ({24: 2, 2: 1}, 3), ({24: 2, 0: 1}, 3), ({24: 1, 0: 1}, 1)):
        game = EngineGame(Settings("hypergammon")).place(board_of(LAST, opponent, 3), (6, 1), owner=-1)
        game.apply(0)
        assert outcome(game) == (0, level, level)


# Beavers


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("log2", [0, 2])
@pytest.mark.parametrize("allowed", range(5))
def test_chains_of_beavers(allowed, log2, turn):
    """Every chain that n beavers allow, with a drop and a take at each step (R8.6)."""
    settings = Settings("backgammon", beavers=allowed, cube_cap=None)
    game = on_roll(settings, turn=turn, cube=log2, owner=turn if log2 else -1)
    game.apply(DOUBLE)
    for turned in range(1, allowed + 2):  # turns of the cube so far
        asked = 1 - turn if turned % 2 else turn
        assert game.decider == asked
        assert game.legal() == ({TAKE, DROP, BEAVER} if turned <= allowed else {TAKE, DROP})
        dropped = game.copy()
        dropped.apply(DROP)
        assert outcome(dropped) == (1 - asked, 1, 1 << (log2 + turned - 1))
        taken = game.copy()
        taken.apply(TAKE)
        assert cube_of(taken) == (1 << (log2 + turned), 1 - turn)  # the player who was first doubled owns it
        assert (taken.phase, int(taken.states[0]["turn"])) == ("ROLL", turn)  # and the first doubler rolls
        if turned <= allowed:
            game.apply(BEAVER)


def test_beavers_after_a_redouble_count_anew():
    settings = Settings("backgammon", beavers=1)
    game = on_roll(settings)
    game.apply(DOUBLE)
    game.apply(BEAVER)
    game.apply(TAKE)  # the cube at 4, with player 1
    assert cube_of(game) == (4, 1)
    game.roll(6, 5)
    while game.decider == 0:
        game.apply(min(game.legal()))
    game.apply(DOUBLE)
    assert (game.decider, game.legal()) == (0, {TAKE, DROP, BEAVER})
    game.apply(BEAVER)
    assert (game.decider, game.legal()) == (1, {TAKE, DROP})
    game.apply(TAKE)
    assert cube_of(game) == (16, 0)


@pytest.mark.parametrize(("cap", "log2", "beaver"), [(64, 4, True), (64, 5, False), (2, 0, False), (4, 0, True), (4, 1, False)])
def test_no_beaver_past_the_cap(cap, log2, beaver):
    """R8.4: a beaver makes four times the value before the double."""
    game = on_roll(Settings("backgammon", beavers=3, cube_cap=cap), cube=log2, owner=0 if log2 else -1)
    game.apply(DOUBLE)
    assert (BEAVER in game.legal()) is beaver


# Automatic doubles


@pytest.mark.parametrize(
    ("allowed", "cap", "values"), [(0, 64, [1, 1]), (1, 64, [2, 2]), (2, 64, [2, 4, 4]), (5, 4, [2, 4, 4, 4]), (3, 1, [1, 1])]
)
def test_automatic_doubles(allowed, cap, values):
    """Each of the first n ties doubles the centred cube, never past the cap (R2.2)."""
    game = EngineGame(Settings("backgammon", auto_doubles=allowed, cube_cap=cap))
    doubled = 0
    for value in values:
        if engine.ties_double(game.states, 0, game.rules):
            game.roll(4, 4)
            doubled += 1
        assert cube_of(game) == (value, -1)
        assert game.phase == "OPENING"
    assert not engine.ties_double(game.states, 0, game.rules)
    assert 1 << doubled == values[-1]
    game.roll(6, 5)
    while game.decider == 0:
        game.apply(min(game.legal()))
    assert game.legal() == ({ROLL, DOUBLE} if values[-1] < cap else set())
    if values[-1] < cap:
        game.apply(DOUBLE)
        game.apply(DROP)
        assert outcome(game) == (1, 1, values[-1])


def test_automatic_doubles_come_as_often_as_ties_do():
    """In thrown games: no tie in 5 of 6 openings, one in 5 of 36, two or more in 1 of 36."""
    settings = Settings("backgammon", auto_doubles=2)
    counts = [0, 0, 0]
    for seed in range(6_000):
        game = EngineGame(settings, seed)
        game.settle()
        counts[int(game.states[0]["ties"])] += 1
        assert cube_of(game) == (1 << int(game.states[0]["ties"]), -1)
    for count, share in zip(counts, (5 / 6, 5 / 36, 1 / 36), strict=True):
        assert abs(count - 6_000 * share) < 4 * np.sqrt(6_000 * share * (1 - share))


def test_automatic_doubles_begin_anew_with_a_new_episode():
    game = EngineGame(Settings("backgammon", auto_doubles=1))
    game.roll(2, 2)
    engine.new_episode(game.states, 0, game.rules, np.uint64(5))
    assert cube_of(game) == (1, -1)
    assert engine.ties_double(game.states, 0, game.rules)


# Giving up


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("log2", [0, 2])
def test_resigning(level, log2):
    game = on_roll(Settings("backgammon"), cube=log2, owner=1 if log2 else -1)
    engine.resign(game.states, 0, game.rules, 0, level)
    assert outcome(game) == (1, level, level << log2)
    assert game.phase == "OVER"


def test_resigning_under_jacoby_and_before_a_double_is_answered():
    game = on_roll(Settings("backgammon", jacoby=True))
    engine.resign(game.states, 0, game.rules, 0, 3)
    assert outcome(game) == (1, 1, 1)
    game = on_roll(Settings("backgammon"), cube=1, owner=0)
    game.apply(DOUBLE)
    engine.resign(game.states, 0, game.rules, 1, 2)
    assert outcome(game) == (0, 2, 4)  # the value before the double


@pytest.mark.parametrize("loser", [0, 1])
def test_an_illegal_action_loses_the_highest_level_at_the_present_cube(loser):
    game = on_roll(Settings("backgammon"), cube=2, owner=0)
    engine.forfeit(game.states, 0, game.rules, loser)
    assert outcome(game) == (1 - loser, 3, 12)
    assert game.phase == "OVER"
    assert game.states[0]["ending"] == engine.END_ILLEGAL
