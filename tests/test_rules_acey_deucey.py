"""Acey-Deucey: all from the bar, and the 1-2 with its double and its extra roll (R10.6); and variants of a user (R10.7)."""

from __future__ import annotations

import pytest
from engine import EngineGame, board_of
from oracle import DOUBLE, NAME, ROLL, TAKE

from bg_env import rules as engine
from bg_env.rules import VARIANTS, Settings, Variant

NAMES = set(range(NAME, NAME + 6))


def enter(die):
    return 144 + die - 1


def step(source, die):
    return (source - 1) * 6 + die - 1


def placed(mover, opponent, roll=(), **options):
    return EngineGame(Settings("acey_deucey", **options)).place(board_of(mover, opponent), roll, owner=-1)


def opened(first=3, second=1, **options):
    """From the start, after the opening throw: the winner is to roll."""
    game = EngineGame(Settings("acey_deucey", **options))
    game.roll(first, second)
    return game


def do(game, *actions):
    for action in actions:
        assert action in game.legal(), (action, game.legal())
        game.apply(action)
    return game


def on_turn(game):
    return int(game.states[0]["turn"])


@pytest.mark.parametrize(("throw", "starter"), [((3, 1), 0), ((2, 6), 1)])
def test_the_winner_of_the_throw_rolls_two_fresh_dice(throw, starter):
    game = opened(*throw)
    assert (game.phase, on_turn(game), game.dice(), int(game.states[0]["turns"])) == ("ROLL", starter, (), 1)
    game.roll(4, 4)
    assert (game.legal(), game.dice()) == ({enter(4)}, (4, 4, 4, 4))


def test_all_enter_before_any_other_step():
    game = opened()
    game.roll(6, 5)
    do(game, enter(6), enter(5))
    game.roll(6, 5)
    assert (game.decider, game.legal()) == (1, {enter(6), enter(5)})
    do(game, enter(6), enter(5))
    game.roll(3, 1)
    assert game.legal() == {enter(3), enter(1)}  # two of fifteen are in: they wait for the others
    late = placed({25: 1, 10: 14}, {24: 5, 5: 9, 0: 1}, (6, 4))
    assert late.legal() == {enter(6), enter(4)}  # so does one that was hit later


def test_a_1_2_played_in_full_earns_a_double_and_another_roll():
    game = opened()
    game.roll(2, 1)
    assert game.legal() == {enter(1), enter(2)}
    do(game, enter(1), enter(2))
    assert (game.phase, game.decider, game.legal()) == ("CHOOSE_DOUBLE", 0, NAMES)
    do(game, NAME + 5, *[enter(6)] * 4)
    assert (game.phase, on_turn(game), game.legal()) == ("ROLL", 0, set())
    game.roll(5, 4)
    do(game, enter(5), enter(4))
    assert (game.phase, on_turn(game)) == ("ROLL", 1)
    assert int(game.states[0]["turns"]) == 2  # the whole was one turn


@pytest.mark.parametrize("die", range(1, 7))
@pytest.mark.parametrize("roll", [(1, 2), (2, 1)])
def test_any_double_may_be_named(die, roll):
    game = opened()
    game.roll(*roll)
    do(game, enter(2), enter(1), NAME + die - 1)
    assert (game.phase, game.dice(), game.legal()) == ("CHECKER", (die,) * 4, {enter(die)})
    do(game, *[enter(die)] * 4)
    assert (game.phase, on_turn(game)) == ("ROLL", 0)


def test_several_1_2_in_a_row_are_one_turn():
    game = opened()
    for _ in range(2):
        game.roll(1, 2)
        do(game, enter(1), enter(2))
        assert game.legal() == NAMES
        do(game, NAME, *[enter(1)] * 4)
        assert (game.phase, on_turn(game), int(game.states[0]["turns"])) == ("ROLL", 0, 1)
    assert game.board()[0][25] == 15 - 12
    game.roll(2, 2)  # the extra roll may be a double as well: four steps, and no more
    do(game, *[enter(2)] * 3)
    assert game.legal() == {step(source, 2) for source in (24, 23)}  # all in: 23 holds three that entered with twos
    do(game, step(24, 2))
    assert (game.phase, on_turn(game)) == ("ROLL", 1)


def test_a_1_2_of_which_only_part_can_be_played_ends_the_turn():
    """R5.2 picks the larger where either could be; no double, no extra roll."""
    either = placed({25: 1, 1: 14}, {22: 2}, (2, 1))
    assert either.legal() == {enter(2)}
    do(either, enter(2))
    assert (either.phase, on_turn(either)) == ("ROLL", 1)
    for shut, die in ((23, 1), (24, 2)):
        one = placed({25: 2, 6: 13}, {shut: 2}, (1, 2))
        assert one.legal() == {enter(die)}
        do(one, enter(die))
        assert (one.phase, on_turn(one), int(one.states[0]["stage"])) == ("ROLL", 1, engine.STAGE_NONE)


def test_a_1_2_of_which_nothing_can_be_played_is_a_dance():
    game = placed({25: 2, 6: 13}, {24: 2, 23: 2}, (1, 2))
    assert (game.phase, on_turn(game), int(game.states[0]["turns"])) == ("ROLL", 1, 2)
    assert int(game.states[0]["stage"]) == engine.STAGE_NONE


def test_naming_is_asked_though_no_double_has_a_legal_step():
    """One checker of the mover, on 23 after the 1: every way from there is shut."""
    opponent = {19: 2, 18: 2, 17: 2, 16: 2, 15: 2, 20: 2}
    game = placed({24: 1}, opponent, (2, 1))
    do(game, min(game.legal()))
    do(game, min(game.legal()))
    assert game.board()[0][21] == 1
    assert (game.phase, game.legal()) == ("CHOOSE_DOUBLE", NAMES)
    for name in NAMES:
        after = do(game.copy(), name)
        assert (after.phase, on_turn(after)) == ("ROLL", 1), "nothing of the double can be played: the turn is over"
        assert int(after.states[0]["stage"]) == engine.STAGE_NONE


def test_a_double_that_plays_in_part_loses_the_extra_roll():
    game = placed({24: 1, 20: 1}, {18: 2, 13: 2}, (2, 1))
    do(game, step(24, 2), step(20, 1))
    part = do(game.copy(), NAME + 2, step(22, 3), step(19, 3))
    assert part.legal() == {step(19, 3)}
    do(part, step(19, 3))  # two on 16, and 13 is shut: three of the four
    assert (part.phase, on_turn(part), int(part.states[0]["stage"])) == ("ROLL", 1, engine.STAGE_NONE)
    full = do(game.copy(), NAME + 3, step(19, 4), step(15, 4), step(11, 4), step(7, 4))
    assert (full.phase, on_turn(full), int(full.states[0]["stage"])) == ("ROLL", 0, engine.STAGE_EXTRA)


def test_hit_while_others_wait_on_the_bar():
    """A blot that is hit joins those that have not entered yet."""
    game = placed({25: 13, 8: 2}, {24: 1, 0: 14}, (1, 3))
    do(game, enter(1))
    assert game.board()[1][25] == 15
    assert game.legal() == {enter(3)}
    do(game, enter(3))
    game.roll(6, 4)
    assert (game.decider, game.legal()) == (1, {enter(6), enter(4)})


def test_the_last_checker_off_with_the_1_2_or_the_named_double_ends_the_game():
    game = placed({2: 1, 1: 1}, {24: 15}, (1, 2))
    do(game, step(2, 2), step(1, 1))
    assert (game.phase, game.legal(), int(game.states[0]["winner"]), int(game.states[0]["level"])) == ("OVER", set(), 0, 2)
    named = placed({5: 2}, {24: 15}, (1, 2))
    do(named, step(5, 2), step(5, 1), NAME + 3, step(4, 4), step(3, 4))
    assert (named.phase, named.dice(), int(named.states[0]["winner"])) == ("OVER", (), 0)
    assert named.states[0]["stage"] == engine.STAGE_NONE


def test_no_doubling_before_the_extra_roll():
    """R8.2, with the cube switched on."""
    game = placed({13: 15}, {24: 5, 1: 10}, cube=True)
    assert game.legal() == {ROLL, DOUBLE}
    do(game, ROLL)
    game.roll(1, 2)
    do(game, step(13, 1), step(13, 2), NAME, *[step(13, 1)] * 4)
    assert (game.phase, on_turn(game), game.legal()) == ("ROLL", 0, set())
    game.roll(6, 5)
    while game.decider == 0:
        do(game, min(game.legal()))
    assert game.legal() == {ROLL, DOUBLE}


def test_the_cube_and_the_bonus_go_together():
    game = placed({1: 1, 13: 1}, {24: 13}, cube=True)
    do(game, DOUBLE, TAKE)
    game.roll(2, 1)
    do(game, step(13, 2), step(11, 1), NAME + 4, step(10, 5), step(5, 5), step(1, 5))
    assert (game.phase, int(game.states[0]["won"]), int(game.states[0]["level"])) == ("OVER", 2, 1)


def test_no_bonus_in_other_variants():
    game = EngineGame(Settings("backgammon", cube=False))
    game.roll(2, 1)
    do(game, step(24, 1), step(24, 2))
    assert on_turn(game) == 1


def test_turns_of_the_cap_are_whole_turns():
    game = EngineGame(Settings("acey_deucey", max_turns=1))
    game.roll(3, 1)
    game.roll(1, 2)
    do(game, enter(1), enter(2), NAME, *[enter(1)] * 4)
    assert game.phase == "ROLL"
    game.roll(6, 6)
    do(game, *[enter(6)] * 4)
    assert (game.phase, int(game.states[0]["ending"])) == ("OVER", engine.END_TRUNCATED)


# A user's own variants (R10.7)


def test_a_bonus_variant_with_an_ordinary_opening_has_the_bonus_on_the_opening_throw():
    game = EngineGame(Settings(Variant("mini", {24: 2, 6: 2}, acey_deucey=True)))
    game.roll(2, 1)
    assert game.phase == "CHECKER"
    do(game, step(24, 2), step(24, 1))
    assert game.legal() == NAMES


def test_a_variant_of_one_checker():
    game = EngineGame(Settings(Variant("one", {3: 1}), cube=False))
    game.roll(2, 6)
    assert (game.decider, game.legal()) == (1, {step(3, 6), step(3, 2)})
    do(game, step(3, 6))
    assert (game.phase, int(game.states[0]["winner"]), int(game.states[0]["level"])) == ("OVER", 1, 2)


@pytest.mark.parametrize("name", VARIANTS)
def test_starts(name):
    """R10: the layouts, their pip counts and numbers of checkers."""
    layouts = {
        "backgammon": ({24: 2, 13: 5, 8: 3, 6: 5}, 167),
        "nackgammon": ({24: 4, 23: 1, 13: 2, 8: 3, 6: 5}, 199),
        "nackgammon_ballard": ({24: 2, 23: 2, 13: 4, 8: 3, 6: 4}, 194),
        "hypergammon": ({24: 1, 23: 1, 22: 1}, 69),
        "longgammon": ({24: 15}, 360),
        "acey_deucey": ({25: 15}, 375),
    }
    layout, pips = layouts[name]
    game = EngineGame(Settings(name))
    for side in game.states[0]["points"].tolist():
        assert {point: n for point, n in enumerate(side) if n} == layout
        assert sum(point * n for point, n in enumerate(side)) == pips
    assert VARIANTS[name].checkers == sum(layout.values())
    assert VARIANTS[name].acey_deucey is VARIANTS[name].fresh_first_roll is (name == "acey_deucey")
    assert VARIANTS[name].cube is (name != "acey_deucey")
