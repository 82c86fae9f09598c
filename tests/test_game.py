"""Game: DESIGN 5 line by line, and why an action is illegal, in words."""

from __future__ import annotations

import json
import random
from itertools import islice

import numpy as np
import pytest
from env_cases import twin
from random_games import pick

import bg_env
from bg_env import (
    VARIANTS,
    Event,
    Game,
    IllegalActionError,
    NotationError,
    OrderError,
    Phase,
    Position,
    Settings,
    SettingsError,
    backgammon_v0,
    why_illegal,
)
from bg_env.actions import BEAVER, DOUBLE, DROP, FIRST_NAMED, ROLL, TAKE, action_text, parse_action, step_action
from bg_env.rules import STATE, Reason

variants = pytest.mark.parametrize("name", VARIANTS)
START = "XGID=-b----E-C---eE---c-e----B-"
BEFORE_ROLL = f"{START}:0:0:1:00:0:0:0:0:6"


def play_out(game, seed=0):
    """Play to the end, dice given where the game has none; every state of the way is yielded."""
    rng = random.Random(seed)
    while True:
        yield game
        if game.phase == Phase.OVER:
            return
        chance = game.chance()
        if chance:
            game.apply_roll(*chance[int(rng.random() * len(chance))][0])
        else:
            game.apply(pick(rng, game.legal_actions()))


# What it is


def test_a_new_game_without_a_seed_waits_for_the_opening_throw():
    game = Game.new()
    assert game.settings == Settings()
    assert (game.phase, game.player, game.dice, game.winner, game.points) == (Phase.OPENING, None, (), None, 0)
    assert (game.cube, game.cube_owner, game.score, game.match_length, game.crawford) == (1, None, (0, 0), 0, False)
    assert game.history == ()
    assert game.position == Position.start()
    assert game.legal_actions() == []
    assert str(game.phase) == "OPENING"


def test_a_game_with_a_seed_throws_at_once_what_is_due():
    game = Game.new(seed=3)
    assert game.phase == Phase.CHECKER
    assert game.chance() == []
    for state in play_out(game):
        assert state.phase not in (Phase.OPENING, Phase.ROLL)
    assert Game.new(seed=3) == Game.new(seed=3) != Game.new(seed=4)


@variants
@pytest.mark.parametrize("given", [{}, {"match_length": 5}, {"cube": True, "beavers": 2, "jacoby": True, "auto_doubles": 1}])
def test_what_it_says_of_itself_is_consistent(name, given):
    for seed in range(3):
        for game in play_out(Game.new(name, **given), seed):
            assert type(game.phase) is Phase
            assert str(game.phase) == game.phase.name
            assert (game.player is None) == (game.phase in (Phase.OPENING, Phase.OVER))
            assert game.player in (0, 1, None)
            assert type(game.dice) is tuple
            assert bool(game.dice) == (game.phase == Phase.CHECKER)
            assert game.cube & (game.cube - 1) == 0
            assert game.cube_owner in (0, 1, None)
            assert bool(game.legal_actions()) == (game.phase not in (Phase.OPENING, Phase.ROLL, Phase.OVER))
            assert bool(game.chance()) == (game.phase in (Phase.OPENING, Phase.ROLL))
            assert (game.winner is None) == (game.phase != Phase.OVER) == (game.points == 0)
            assert game.legal_actions() == sorted(set(game.legal_actions()))
            assert all(type(action) is int for action in game.legal_actions())
            assert repr(game).startswith("<Game of ")
            assert type(str(game)) is str
        assert game.position.mover[0] == game.settings.variant.checkers or game.history[-1].action == DROP
        if given.get("match_length"):
            assert max(game.score) == game.score[game.winner] >= 5


def test_at_the_end_the_position_is_the_winners_not_turned():
    game = Game.from_xgid("XGID=-A----------------------o-:0:0:1:61:0:0:0:0:10")
    game.play("1/off")
    assert (game.phase, game.winner, game.points, game.player) == (Phase.OVER, 1, 2, None)
    assert game.position.mover[0] == 15
    assert game.position.opponent[1] == 15


@pytest.mark.parametrize("rest", ["2:-1:1:42:0:0:3:0:10", "1:1:-1:00:3:2:0:7:10", "0:0:1:D:0:0:0:0:10"])
def test_a_game_from_an_xgid_and_from_gnubg_ids(rest):
    text = f"{START}:{rest}"
    game = Game.from_xgid(text)
    assert game.xgid == text
    if not game.settings.beavers:
        again = Game.from_ids(game.position_id, game.match_id)
        for name in ("position", "phase", "player", "dice", "cube", "cube_owner", "score", "match_length", "crawford"):
            assert getattr(again, name) == getattr(game, name), name
    assert game.position_id == game.position.id


def test_the_settings_of_an_xgid_come_from_it():
    game = Game.from_xgid(f"{START}:2:-1:1:42:0:0:3:0:9")
    assert game.settings == Settings(jacoby=True, beavers=2, cube_cap=512)
    assert (game.cube, game.cube_owner, game.player, game.dice) == (4, 0, 1, (4, 2))
    match = Game.from_xgid(f"{START}:0:0:1:42:6:3:1:7:6")
    assert match.settings == Settings(match_length=7)
    assert (match.score, match.crawford) == ((3, 6), True)


def test_what_a_format_cannot_hold_raises():
    game = Game.new(seed=1)
    game.apply(game.legal_actions()[0])
    for name in ("xgid", "match_id"):
        with pytest.raises(NotationError):
            getattr(game, name)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dice": 3}, "unexpected keyword argument 'dice': it takes variant, cube, match_length"),
        ({"match_length": 5, "jacoby": True}, "R9.1"),
        ({"cube_cap": 3}, "power of two"),
        ({"variant": "go"}, "no variant is called 'go'"),
        ({"seed": "one"}, r"2\*\*64 - 1"),
    ],
)
def test_settings_that_cannot_stand_are_refused(given, words):
    with pytest.raises(SettingsError, match=words):
        Game.new(**given)


# What happens


def test_apply_changes_the_game_and_returns_none():
    game = Game.from_xgid(f"{START}:0:0:1:31:0:0:0:0:6")
    assert game.apply(step_action(8, 3)) is None
    assert game.dice == (1,)
    assert game.player == 1
    assert game.apply(np.int64(step_action(6, 1))) is None
    assert game.player == 0
    assert game.position.opponent[5] == 2


@pytest.mark.parametrize("action", [-1, 161, None, True, 1.0, "roll", [3]])
def test_what_is_no_action_is_refused_and_changes_nothing(action):
    game = Game.new(seed=2)
    before = game.copy(seed=1), game.states.tobytes(), game.history
    with pytest.raises(IllegalActionError, match="0 to 153"):
        game.apply(action)
    assert (game.states.tobytes(), game.history) == before[1:]


def test_an_illegal_action_is_refused_with_the_words_of_why_illegal():
    game = Game.new(seed=2)
    before = game.states.tobytes(), game.history
    legal = game.legal_actions()
    for action in set(range(161)) - set(legal):
        with pytest.raises(IllegalActionError) as caught:
            game.apply(action)
        assert str(caught.value) == bg_env.why_illegal(game, action)
    assert (game.states.tobytes(), game.history) == before
    assert all(bg_env.why_illegal(game, action) is None for action in legal)


def test_play_takes_whole_plays_and_actions():
    game = Game.new()
    game.apply_roll(3, 1)
    assert game.play("8/5 6/5") is None
    assert (game.player, game.phase) == (1, Phase.ROLL_OR_DOUBLE)
    game.play("double")
    game.play("take")
    assert (game.cube, game.cube_owner, game.phase) == (2, 0, Phase.ROLL)
    game.apply_roll(6, 6)
    game.play("24/18(2) 13/7(2)")
    assert game.player == 0
    assert game.position.opponent[18] == 2
    game.play("Redouble")
    game.play("drop")
    assert (game.winner, game.points) == (0, 2)
    assert [event.action for event in game.history if (event.action or 0) >= ROLL] == [DOUBLE, TAKE, DOUBLE, DROP]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("8/5 8/5", IllegalActionError),
        ("24/18", IllegalActionError),
        ("double", NotationError),
        ("e4", NotationError),
        ("", IllegalActionError),
        (None, NotationError),
        (31, NotationError),
    ],
)
def test_play_refuses_what_is_not_so_and_changes_nothing(text, error):
    game = Game.new()
    game.apply_roll(3, 1)
    before = game.states.tobytes(), game.history
    with pytest.raises(error) as caught:
        game.play(text)
    assert "\n" not in str(caught.value)
    assert (game.states.tobytes(), game.history) == before


@pytest.mark.parametrize("text", ["13/8", "hello", "", None, 7])
def test_play_before_the_roll_and_at_the_end(text):
    game = Game.from_xgid(BEFORE_ROLL)
    before = game.states.tobytes()
    with pytest.raises((IllegalActionError, NotationError)):
        game.play(text)
    assert game.states.tobytes() == before
    game.resign(1)
    with pytest.raises((IllegalActionError, NotationError)):
        game.play(text)


@variants
def test_every_legal_action_has_a_text_that_plays_it(name):
    rng = random.Random(4)
    for game in play_out(Game.new(name, cube=True, beavers=1), 4):
        legal = game.legal_actions()
        if not legal:
            continue
        for action in legal:
            states = game.states
            read = parse_action(action_text(action, states, 0), states, 0)
            source, die = divmod(action, 6)
            assert read == action or (read in legal and read // 6 == source < die + 1), "which die bears off is not said"
        action = rng.choice(legal)
        if action >= ROLL:
            other = game.copy()
            other.play(action_text(action))
            again = game.copy()
            again.apply(action)
            assert other.states["phase"] == again.states["phase"]
            assert (other.states["points"] == again.states["points"]).all()


def test_the_cube_is_what_a_drop_would_lose_while_it_waits_for_an_answer():
    game = Game.from_xgid(f"{START}:1:1:1:00:0:0:2:0:6")
    seen = [(game.cube, game.cube_owner)]
    for action in (DOUBLE, BEAVER, BEAVER):
        game.apply(action)
        seen.append((game.cube, game.cube_owner))
        refused = game.copy()
        refused.apply(DROP)
        assert refused.points == game.cube
        assert refused.cube == game.cube
    assert seen == [(2, 1), (2, 1), (4, 1), (8, 1)]
    game.apply(TAKE)
    assert (game.cube, game.cube_owner) == (16, 0)


def test_history_has_rolls_and_actions_in_order():
    game = Game.new(auto_doubles=1)
    game.apply_roll(2, 2)
    game.apply_roll(2, 5)
    game.play("13/8 13/11")
    game.play("roll")
    game.apply_roll(1, 3)
    assert game.history == (
        Event(None, roll=(2, 2)),
        Event(1, roll=(2, 5)),
        Event(1, action=step_action(13, 5)),
        Event(1, action=step_action(13, 2)),
        Event(0, action=ROLL),
        Event(0, roll=(1, 3)),
    )
    game.resign(3)
    assert game.history[-1] == Event(0, level=3)
    assert game.points == 3 * 2


@variants
def test_a_game_told_again_is_the_same_game(name):
    """The rolls and actions of a history lead to the same state in a game without a seed."""
    for given in ({}, {"match_length": 3}):
        game = Game.new(name, seed=8, **given)
        for _ in play_out(game, 2):
            pass
        again = Game.new(name, **given)
        for event in game.history:
            again.apply_roll(*event.roll) if event.roll else again.apply(event.action)
        assert again.history == game.history
        for field in ("points", "score", "cube", "turns", "winner", "won", "phase", "games"):
            assert (again.states[field] == game.states[field]).all()


@pytest.mark.parametrize("phase", ["OPENING", "ROLL", "ROLL_OR_DOUBLE", "TAKE_OR_DROP", "CHECKER"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_resigning(phase, level):
    if phase == "OPENING":
        game = Game.new()
    else:
        dice = {"ROLL": "00", "ROLL_OR_DOUBLE": "00", "TAKE_OR_DROP": "D", "CHECKER": "31"}[phase]
        game = Game.from_xgid(f"{START}:1:{-1 if phase == 'ROLL' else 1}:1:{dice}:0:0:0:0:6")
    assert str(game.phase) == phase
    loser = game.player if phase != "OPENING" else 1
    game.resign(level, loser)
    assert (game.phase, game.winner, game.points) == (Phase.OVER, 1 - loser, level * (1 if phase == "OPENING" else 2))


def test_the_player_who_must_act_resigns_unless_another_is_named():
    game = Game.from_xgid(f"{START}:0:0:1:D:0:0:0:0:6")
    assert game.player == 0
    game.resign(1)
    assert game.winner == 1
    other = Game.from_xgid(f"{START}:0:0:1:D:0:0:0:0:6")
    other.resign(2, player=1)
    assert (other.winner, other.points) == (0, 2)


def test_resigning_a_game_of_a_match_goes_on_with_the_next():
    game = Game.new(match_length=3, seed=1)
    game.resign(2, player=0)
    assert game.score == (0, 2)
    assert game.crawford
    assert game.winner is None
    assert game.phase == Phase.CHECKER
    game.resign(1, player=0)
    assert (game.winner, game.points, game.phase) == (1, 1, Phase.OVER)


@pytest.mark.parametrize(
    ("level", "player", "words"),
    [
        (0, None, "level 1, 2 or 3"),
        (4, None, "level"),
        (True, None, "level"),
        (2.0, None, "level"),
        (None, None, "level"),
        (1, 2, "player 0 or 1"),
        (1, "0", "player 0 or 1"),
    ],
)
def test_a_resignation_that_is_none(level, player, words):
    game = Game.new(seed=1)
    before = game.states.tobytes()
    with pytest.raises(IllegalActionError, match=words):
        game.resign(level, player)
    assert game.states.tobytes() == before
    game.resign(1)
    with pytest.raises(IllegalActionError, match="over"):
        game.resign(1)
    with pytest.raises(IllegalActionError, match="opening throw"):
        Game.new().resign(1)


# Chance


def test_apply_roll_takes_ordered_pairs():
    for d1, d2 in ((6, 2), (2, 6)):
        game = Game.new()
        game.apply_roll(d1, d2)
        assert (game.player, game.dice) == (int(d2 > d1), (6, 2))
        later = Game.from_xgid(BEFORE_ROLL)
        later.play("roll")
        later.apply_roll(d1, d2)
        assert later.dice == (6, 2)


@pytest.mark.parametrize("roll", [(0, 1), (1, 7), ("1", 2), (1.0, 2), (True, 2), (None, 1)])
def test_a_roll_that_is_none(roll):
    game = Game.new()
    with pytest.raises(IllegalActionError, match="1 to 6"):
        game.apply_roll(*roll)
    assert game.history == ()


def test_rolls_that_are_not_due():
    game = Game.new()
    with pytest.raises(IllegalActionError, match=r"\(R2\.1\)"):
        game.apply_roll(4, 4)
    game.apply_roll(4, 2)
    with pytest.raises(IllegalActionError, match="no dice are due in CHECKER"):
        game.apply_roll(4, 2)
    game.resign(1)
    with pytest.raises(IllegalActionError, match="over"):
        game.apply_roll(4, 2)
    with pytest.raises(IllegalActionError):
        Game.new(seed=1).apply_roll(3, 1)


def test_with_a_fresh_first_roll_the_pair_decides_who_starts_then_the_roll_is_due():
    game = Game.new("acey_deucey")
    assert len(game.chance()) == 30
    with pytest.raises(IllegalActionError, match="tie"):
        game.apply_roll(2, 2)
    game.apply_roll(1, 2)
    assert (game.player, game.phase, len(game.chance())) == (1, Phase.ROLL, 21)


# Copies


def test_a_copy_is_equal_but_for_its_dice():
    game = Game.new()
    game.apply_roll(3, 1)
    copy = game.copy()
    assert copy == game
    assert copy.history == game.history
    copy.apply(copy.legal_actions()[0])
    assert copy != game


def test_a_search_does_not_see_the_real_dice():
    """Copies of a seeded game throw other dice than it, and each other ones; a given seed makes them repeatable."""

    def rolls(game):
        return [event.roll for _ in play_out(game, 1) for event in game.history[-3:] if event.roll]

    game = Game.new(seed=5)
    one, two = game.copy(), game.copy()
    seeded, again = game.copy(seed=9), game.copy(seed=9)
    assert seeded == again
    assert one.position == two.position == game.position
    assert one.dice == game.dice, "a roll that has been thrown is no secret"
    seen = [rolls(each) for each in (one, two, seeded, again, game)]
    assert seen[2] == seen[3]
    assert len({str(each) for each in seen}) == 4
    unseeded = Game.new()
    assert unseeded.copy().phase == Phase.OPENING
    assert unseeded.copy(seed=1).phase == Phase.CHECKER


def test_copying_does_not_change_the_game():
    game, same = Game.new(seed=5), Game.new(seed=5)
    for _ in range(3):
        game.copy()
    assert game == same
    for one, other in zip(play_out(game, 1), play_out(same, 1), strict=True):
        assert one == other


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "copy"])
def test_a_game_is_pickled_with_its_stream(way):
    game = Game.new("acey_deucey", seed=5, match_length=2)
    for _ in range(9):
        game.apply(game.legal_actions()[-1])
    again = twin(game, way)
    assert again == game
    assert again.history == game.history
    for one, other in zip(play_out(game, 1), play_out(again, 1), strict=True):
        assert one == other


def test_games_are_equal_by_value_and_not_hashable():
    assert Game.new() == Game.new()
    assert Game.new() != Game.new(cube=False)
    assert Game.new() != Game.new(seed=0)
    assert Game.new() != "game"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Game.new())


def test_equal_states_are_equal_bytes():
    """NumPy does not copy the padding of a record, so a STATE with any would make equal games differ."""
    assert sum(STATE[name].itemsize for name in STATE.names) == STATE.itemsize <= 128
    assert STATE.isalignedstruct


def test_the_states_of_a_game_are_a_copy():
    game = Game.new(seed=1)
    game.states["points"] = 0
    assert game.position == Position.start()
    legal = game.legal_actions()
    game.legal_actions().clear()
    assert game.legal_actions() == legal != []


def test_ids_that_were_handed_over(shared):
    known = json.loads((shared / "data" / "known_ids.json").read_text())
    assert known["xgid"]
    for row in known["xgid"]:
        game = Game.from_xgid(row["xgid"])
        assert (game.position_id, game.match_id) == (row["position_id"], row["match_id"])
        assert Game.from_xgid(game.xgid) == game


def test_it_prints_a_board():
    text = str(Game.from_xgid(f"{START}:1:1:1:31:2:4:0:7:10"))
    for words in ("7", "2", "4", "pips 167", "Black to play 3-1"):
        assert words in text


# Why an action is illegal


def game_at(text, variant="backgammon", *actions):
    game = Game.from_xgid(text, variant=variant)
    for action in actions:
        game.apply(action)
    return game


def board(**at):
    """XGID letters by index: i0 is the top player's bar, i25 the bottom player's."""
    return "XGID=" + "".join(at.get(f"i{i}", "-") for i in range(26))


def acey(*rolls_and_actions):
    game = Game.new("acey_deucey")
    for what in rolls_and_actions:
        game.apply_roll(*what) if isinstance(what, tuple) else game.apply(what)
    return game


def finished():
    game = Game.new(seed=1)
    game.resign(1)
    return game


WHY = {
    Reason.NO_ACTION: (lambda: game_at(BEFORE_ROLL), 161, "161 is not an action: give a number from 0 to 153"),
    Reason.GAME_OVER: (finished, 150, "nobody may act: the game is over"),
    Reason.DICE_DUE: (Game.new, 150, "nobody may act: the dice are due"),
    Reason.NO_CUBE: (
        lambda: Game.new(cube=False, seed=1),
        DOUBLE,
        "double is illegal: no cube is in play",
    ),
    Reason.NO_BEAVERS: (
        lambda: game_at(BEFORE_ROLL, "backgammon", DOUBLE),
        BEAVER,
        "beaver is illegal: beavers are not in force, take or drop (R8.6)",
    ),
    Reason.NO_BONUS: (lambda: Game.new(seed=1), FIRST_NAMED, "naming 1-1 is illegal: this variant has no 1-2 bonus (R10.6)"),
    Reason.ROLL_OR_DOUBLE_FIRST: (
        lambda: game_at(BEFORE_ROLL),
        step_action(8, 3),
        "8/5 is illegal: player_1 must roll or double first (R3.1)",
    ),
    Reason.ANSWER_FIRST: (
        lambda: game_at(BEFORE_ROLL, "backgammon", DOUBLE),
        ROLL,
        "roll is illegal: player_0 must answer the double first, take or drop (R8.3)",
    ),
    Reason.NAME_FIRST: (
        lambda: acey((1, 3), (2, 1), step_action(25, 1), step_action(25, 2)),
        step_action(25, 1),
        "bar/24 is illegal: player_1 must name a double first (R10.6)",
    ),
    Reason.ALREADY_ROLLED: (
        lambda: game_at(f"{START}:0:0:1:31:0:0:0:0:6"),
        DOUBLE,
        "double is illegal: player_1 has rolled 3-1 and must play it (R8.2)",
    ),
    Reason.NOTHING_TO_ANSWER: (lambda: game_at(BEFORE_ROLL), TAKE, "take is illegal: no double waits for an answer (R8.3)"),
    Reason.NOTHING_TO_NAME: (
        lambda: acey((1, 3), (5, 1)),
        FIRST_NAMED + 5,
        "naming 6-6 is illegal: no 1-2 has just been played in full (R10.6)",
    ),
    Reason.CUBE_CAP: (
        lambda: game_at(f"{START}:0:0:1:00:0:0:2:0:1", "backgammon", DOUBLE),
        BEAVER,
        "beaver is illegal: it would take the cube past 2 (R8.4)",
    ),
    Reason.BEAVERS_SPENT: (
        lambda: game_at(f"{START}:0:0:1:00:0:0:2:0:6", "backgammon", DOUBLE, BEAVER, BEAVER),
        BEAVER,
        "beaver is illegal: the cube may be turned again 2 times at most after a double (R8.6)",
    ),
    Reason.DIE_NOT_LEFT: (
        lambda: game_at(f"{START}:0:0:1:31:0:0:0:0:6"),
        step_action(8, 2),
        "8/6 is illegal: no 2 is left to play, only 3 1 (R3.2)",
    ),
    Reason.BAR_FIRST: (
        lambda: game_at(board(i25="A", i6="N", i24="o") + ":0:0:1:31:0:0:0:0:6"),
        step_action(6, 1),
        "6/5 is illegal: the checker on the bar must enter first (R6.1)",
    ),
    Reason.NO_CHECKER: (
        lambda: game_at(f"{START}:0:0:1:31:0:0:0:0:6"),
        step_action(7, 3),
        "7/4 is illegal: player_1 has no checker there",
    ),
    Reason.BLOCKED: (
        lambda: game_at(f"{START}:0:0:1:51:0:0:0:0:6"),
        step_action(24, 5),
        "24/19 is illegal: point 19 is held by 5 opposing checkers (R4.1)",
    ),
    Reason.NOT_ALL_HOME: (
        lambda: game_at(board(i3="N", i7="A", i24="o") + ":0:0:1:31:0:0:0:0:6"),
        step_action(3, 3),
        "3/off is illegal: bearing off needs all checkers in the home board (R7.1)",
    ),
    Reason.HIGHER_CHECKER: (
        lambda: game_at(board(i3="N", i5="A", i24="o") + ":0:0:1:41:0:0:0:0:6"),
        step_action(3, 4),
        "3/off with a 4 is illegal: a checker stands higher (R7.2)",
    ),
    Reason.BOTH_DICE: (
        lambda: game_at(board(i24="A", i8="A", i6="M", i5="b", i7="b", i18="b", i20="b", i22="b") + ":0:0:1:62:0:0:0:0:6"),
        step_action(8, 2),
        "8/6 with a 2 is illegal: another first step lets both dice be played (R5.1)",
    ),
    Reason.LARGER_DIE: (
        lambda: game_at(board(i13="A", i6="b", i24="m") + ":0:0:1:52:0:0:0:0:6"),
        step_action(13, 2),
        "13/11 with a 2 is illegal: only one die can be played, so the larger must be (R5.2)",
    ),
}


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason != Reason.LEGAL], ids=lambda reason: reason.name)
def test_every_reason_in_words(reason):
    made, action, words = WHY[reason]
    game = made()
    assert bg_env.why_illegal(game, action) == words
    assert action not in game.legal_actions()


@pytest.mark.parametrize("action", [None, True, 1.5, b"roll", [1]])
def test_why_illegal_asks_for_an_integer_or_text(action):
    with pytest.raises(IllegalActionError, match="an action is an integer"):
        bg_env.why_illegal(Game.new(seed=1), action)


@variants
def test_why_illegal_is_none_for_legal_actions_and_a_sentence_for_all_others(name):
    for game in islice(play_out(Game.new(name, cube=True, beavers=1), 6), 100):
        legal = set(game.legal_actions())
        for action in range(-2, 165):
            words = bg_env.why_illegal(game, action)
            assert (words is None) == (action in legal)
            if words is not None:
                assert "\n" not in words
                assert words[0] != " "
                assert len(words) > 20


def test_why_illegal_takes_text_as_well():
    game = Game.new(seed=1)
    legal = action_text(game.legal_actions()[0])
    assert why_illegal(game, legal) is None
    assert "R8.2" in why_illegal(game, "double")
    with pytest.raises(NotationError):
        why_illegal(game, "what?")


def test_a_finished_game_of_which_nothing_was_seen_has_no_record():
    env = backgammon_v0.env(cube=False)
    env.reset(seed=1)
    while env.game.player is not None:
        env.step(env.game.legal_actions()[0])
    with pytest.raises(OrderError, match="start_recording"):
        env.game.record()
