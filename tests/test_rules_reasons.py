"""Reasons why an action is illegal: 0 exactly where the mask is 1, and of the right clause."""

from __future__ import annotations

from itertools import islice

import positions
import pytest
from engine import EngineGame, board_of
from oracle import BEAVER, DOUBLE, DROP, NAME, ROLL, TAKE

from bg_env import rules as engine
from bg_env.rules import VARIANTS, Reason, Settings

START = {24: 2, 13: 5, 8: 3, 6: 5}
THEIRS = {1: 2, 12: 5, 17: 3, 19: 5}


def reason(game, action):
    return Reason(int(engine.illegal_reason(game.states, 0, game.rules, action)))


def step(source, die):
    return (source - 1) * 6 + die - 1


@pytest.mark.parametrize("name", VARIANTS)
def test_reasons_and_masks_agree_on_random_placements(name):
    """For all 161 actions; the state machine holds it in every phase."""
    settings = Settings(name, cube=False)
    for i, (board, roll) in enumerate(islice(positions.placements(settings.variant.checkers, 77), 250)):
        game = EngineGame(settings).place(board, roll, turn=i % 2, owner=-1)
        while game.phase == "CHECKER":
            legal = game.legal()
            assert {a for a, why in enumerate(game.reasons()) if why == Reason.LEGAL} == legal
            if game.decider != i % 2:
                break
            game.apply(max(legal))


def placed(mover=START, opponent=THEIRS, roll=(), variant="backgammon", settings=None, **fields):
    chosen = Settings(variant, **(settings or {}))
    return EngineGame(chosen).place(board_of(mover, opponent), roll, **({"owner": -1} | fields))


def doubled(times=1, **options):
    game = placed(**options)
    for turn in range(times):
        game.apply(BEAVER if turn else DOUBLE)
    return game


def to_name():
    game = placed({13: 15}, {1: 2, 12: 0}, (2, 1), "acey_deucey")
    game.apply(step(13, 2))
    game.apply(step(13, 1))
    return game


def over():
    game = placed({1: 1}, {24: 2}, (2, 1))
    game.apply(step(1, 2))
    return game


@pytest.mark.parametrize(
    ("game", "action", "why"),
    [
        (lambda: placed(roll=(3, 1)), step(8, 3), Reason.LEGAL),
        (lambda: placed(roll=(3, 1)), -1, Reason.NO_ACTION),
        (lambda: placed(roll=(3, 1)), 161, Reason.NO_ACTION),
        (over, step(1, 1), Reason.GAME_OVER),
        (over, ROLL, Reason.GAME_OVER),
        (lambda: EngineGame(Settings("backgammon")), ROLL, Reason.DICE_DUE),
        (lambda: placed(settings={"cube": False}), ROLL, Reason.DICE_DUE),
        (lambda: placed(roll=(3, 1), settings={"cube": False}), DOUBLE, Reason.NO_CUBE),
        (lambda: placed(roll=(3, 1), settings={"cube": False}), TAKE, Reason.NO_CUBE),
        (lambda: placed(roll=(3, 1)), NAME, Reason.NO_BONUS),
        (doubled, BEAVER, Reason.NO_BEAVERS),
        (lambda: doubled(2, settings={"beavers": 1}), BEAVER, Reason.BEAVERS_SPENT),
        (lambda: doubled(cube=5, owner=0, settings={"beavers": 1}), BEAVER, Reason.CUBE_CAP),
        (placed, step(8, 3), Reason.ROLL_OR_DOUBLE_FIRST),
        (doubled, ROLL, Reason.ANSWER_FIRST),
        (doubled, step(8, 3), Reason.ANSWER_FIRST),
        (to_name, step(13, 2), Reason.NAME_FIRST),
        (to_name, NAME + 3, Reason.LEGAL),
        (lambda: placed(roll=(3, 1)), ROLL, Reason.ALREADY_ROLLED),
        (lambda: placed(roll=(3, 1)), DOUBLE, Reason.ALREADY_ROLLED),
        (lambda: placed(roll=(3, 1)), DROP, Reason.NOTHING_TO_ANSWER),
        (placed, TAKE, Reason.NOTHING_TO_ANSWER),
        (lambda: placed({13: 15}, {1: 2}, (2, 1), "acey_deucey"), NAME, Reason.NOTHING_TO_NAME),
        (lambda: placed(roll=(3, 1)), step(8, 2), Reason.DIE_NOT_LEFT),
        (lambda: placed({25: 1, 8: 3}, THEIRS, (3, 1)), step(8, 3), Reason.BAR_FIRST),
        (lambda: placed(roll=(3, 1)), step(7, 3), Reason.NO_CHECKER),
        (lambda: placed(roll=(3, 1)), step(25, 3), Reason.NO_CHECKER),
        (lambda: placed(roll=(5, 1)), step(24, 5), Reason.BLOCKED),
        (lambda: placed({7: 1, 3: 2}, {24: 2}, (3, 1)), step(3, 3), Reason.NOT_ALL_HOME),
        (lambda: placed({5: 1, 3: 2}, {24: 2}, (4, 1)), step(3, 4), Reason.HIGHER_CHECKER),
        (lambda: placed({24: 1, 8: 1, 6: 5}, {20: 4, 19: 3, 18: 4, 16: 2, 4: 2}, (6, 2)), step(8, 2), Reason.BOTH_DICE),
        (lambda: placed({13: 1}, {6: 2}, (5, 2)), step(13, 2), Reason.LARGER_DIE),
        (lambda: placed({4: 1}, {24: 2}, (6, 2)), step(4, 2), Reason.LEGAL),  # R5.4
        (lambda: placed({4: 1}, {24: 2}, (6, 2)), step(4, 6), Reason.LEGAL),
    ],
)
def test_reasons(game, action, why):
    game = game()
    assert reason(game, action) == why
    assert ((action in game.legal()) is (why == Reason.LEGAL)) or why == Reason.NO_ACTION
