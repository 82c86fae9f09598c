"""Games as a search uses them: taken back, copied, compared by key, played by Play and by text."""

from __future__ import annotations

import copy
import pickle
import random
from itertools import islice

import pytest
from random_games import SETTINGS, pick

from bg_env import (
    Ending,
    Event,
    Game,
    IllegalActionError,
    OrderError,
    Outcome,
    Phase,
    Play,
    Position,
    PositionError,
    Settings,
    SettingsError,
    Variant,
    backgammon_v0,
)
from bg_env.actions import DOUBLE, DROP, STEPS, Step, step_action

all_settings = pytest.mark.parametrize("settings", SETTINGS, ids=str)
START = "XGID=-b----E-C---eE---c-e----B-"


def move_on(game, rng, *, resigning=0.0):
    """One action, roll or resignation, whatever is due."""
    chance = game.chance()
    if rng.random() < resigning and game.player is not None:
        game.resign(rng.randrange(1, 4), rng.randrange(2))
    elif chance:
        game.apply_roll(*rng.choice(chance)[0])
    else:
        game.apply(pick(rng, game.legal_actions()))


def picture(game):
    """All that can be seen of a game."""
    return game.states.tobytes(), game.history, game.key, game.outcome, game.legal_actions(), game.chance()


def every(n, step, settings):
    """Games of random play under settings, at moments `step` moves apart, with and without dice of their own."""
    found = 0
    for seed in range(1000):
        rng, game = random.Random(seed), Game(settings, seed=seed if seed % 2 else None)
        for k in range(10_000):
            if game.over or found == n:
                break
            if k % step == 0:
                found += 1
                yield game
            move_on(game, rng)
        if found == n:
            return


# Making one


def test_a_game_is_made_of_a_name_a_variant_or_settings():
    rules = Settings("nackgammon", match_length=5)
    assert Game().settings == Game("backgammon").settings == Settings()
    assert Game(Variant("own", {24: 2, 6: 3})).settings.variant.name == "own"
    assert Game(rules).settings == rules
    assert Game(rules, match_length=3, seed=2).settings == rules.but(match_length=3)
    assert Game("hypergammon", seed=3, jacoby=True) == Game.new("hypergammon", seed=3, jacoby=True)
    assert Game(rules, seed=3) == Game.new("nackgammon", seed=3, match_length=5)
    for given in ({"variant": "go"}, {"variant": rules, "dice": 3}, {"variant": 3}, {"variant": rules, "seed": -1}):
        with pytest.raises(SettingsError):
            Game(**given)


def test_from_position_with_dice_the_mover_is_player_1():
    position = Position.from_id("4HPwATDgc/ABMA")
    game = Game.from_position(position, (3, 1), match_length=7)
    assert (game.player, game.phase, game.dice, game.position) == (1, Phase.CHECKER, (3, 1), position)
    assert game.settings == Settings(match_length=7)
    assert game == Game.from_xgid(f"{START}:0:0:1:31:0:0:0:7:6")
    assert Game.from_position(position, [1, 3]).dice == (3, 1)


def test_from_position_without_dice_the_turn_begins():
    position = Position.start("nackgammon").legal_plays(3, 1)[0].result
    game = Game.from_position(position, cube=False)
    assert (game.player, game.phase, game.dice) == (1, Phase.ROLL, ())
    game.apply_roll(6, 5)
    assert (game.position, game.settings.variant) == (position, position.variant)
    assert Game.from_position(position).phase == Phase.ROLL_OR_DOUBLE
    seeded = Game.from_position(position, cube=False, seed=4)
    assert seeded.phase == Phase.CHECKER
    assert seeded == Game.from_position(position, cube=False, seed=4)


def test_from_position_a_dance_passes_the_turn():
    closed = Position([0] * 6 + [14] + [0] * 18 + [1], [3] + [2] * 6 + [0] * 19)
    game = Game.from_position(closed, (6, 6), cube=False)
    assert (game.player, game.phase, game.position) == (0, Phase.ROLL, closed.turned())


def test_from_position_of_a_finished_game():
    over = Position([15] + [0] * 25, [14, 1] + [0] * 24)
    assert Game.from_position(over).outcome == Outcome(1, 1, 1, 1, (0, 0), Ending.BORNE_OFF)


@pytest.mark.parametrize(
    ("position", "dice", "error"),
    [
        ("4HPwATDgc/ABMA", None, PositionError),
        (Position.start(), (0, 1), IllegalActionError),
        (Position.start(), (1,), IllegalActionError),
        (Position.start(), (1, 2, 3), IllegalActionError),
        (Position.start(), 31, IllegalActionError),
        (Position.start(), "31", IllegalActionError),
    ],
)
def test_from_position_refuses(position, dice, error):
    with pytest.raises(error) as caught:
        Game.from_position(position, dice)
    assert "\n" not in str(caught.value)


# Whole plays


@all_settings
def test_legal_plays_are_the_positions(settings):
    for game in every(60, 3, settings):
        plays = game.legal_plays()
        assert bool(plays) == (game.phase == Phase.CHECKER)
        whole = len(game.dice) in (2, 4) and (game.dice[0] != game.dice[1] or len(game.dice) == 4)
        if plays and (whole or len(game.dice) != 2):
            assert plays == game.position.legal_plays(*game.dice)


@all_settings
def test_legal_plays_after_part_of_a_roll_complete_it(settings):
    """Whatever legal step is made first, the plays that are left lead to results of the whole roll, and all are reached."""
    for game in every(40, 5, settings):
        if game.phase != Phase.CHECKER or game.dice != (game.dice * 4)[: len(game.dice)]:
            continue
        whole = {play.result for play in game.legal_plays()}
        reached = set()
        for action in game.legal_actions():
            after = game.copy()
            after.apply(action)
            if after.phase == Phase.CHECKER and after.history[-1] == Event(game.player, action=action):
                reached |= {play.result for play in after.legal_plays()}
            else:
                last = [play.result for play in game.legal_plays() if [step.action for step in play.steps] == [action]]
                reached |= set(last)
        assert reached == whole


def test_position_legal_plays_of_what_is_left_of_a_roll():
    start = Position.start()
    assert start.legal_plays(3, 3, 3, 3) == start.legal_plays(3, 3)
    assert [str(play) for play in start.legal_plays(5)] == ["13/8", "8/3"]
    assert {len(play.steps) for play in start.legal_plays(2, 2, 2)} == {3}
    game = Game.from_position(start, (2, 2))
    game.play("13/11(2)")
    assert game.dice == (2, 2)
    assert {len(play.steps) for play in game.legal_plays()} == {2}


@pytest.mark.parametrize("dice", [(), (3, 1, 1), (1,) * 5, (3, 3, 1), (0,), (7, 7, 7), ("3", 3, 3), (True,)])
def test_position_legal_plays_refuses_other_dice(dice):
    with pytest.raises(IllegalActionError) as caught:
        Position.start().legal_plays(*dice)
    assert "\n" not in str(caught.value)


@all_settings
def test_a_play_is_played(settings):
    rng = random.Random(1)
    for game in every(60, 4, settings):
        plays, acey = game.legal_plays(), game.settings.variant.acey_deucey
        if not plays:
            continue
        play = rng.choice(plays)
        one, other = game.copy(seed=1), game.copy(seed=1)
        one.play(play)
        for step in play.steps:
            other.apply(step.action)
        assert one == other
        assert one.history == other.history
        assert len(one.history) >= len(game.history) + len(play.steps)
        text = game.copy(seed=1)
        text.play(str(play))
        assert (text.states["points"] == one.states["points"]).all()
        if not one.over and one.score == game.score and not acey and one.history[-1].action is not None:
            assert one.position == play.result


def test_a_play_of_another_position_or_of_a_part_is_refused():
    game = Game.from_position(Position.start(), (3, 1))
    before = picture(game)
    other = Position.start("nackgammon").legal_plays(3, 1)
    whole = game.legal_plays()[0]
    part = Game.from_position(Position.start(), (3, 3)).legal_plays()[0]
    dance = Play((), Position.start().turned())
    (first,) = [play for play in Position.start().legal_plays(3) if str(play) == "8/5"]
    wrong = Play((Step(40, 37, 3, False),), whole.result)
    for play in (
        other[0],
        part,
        dance,
        first,
        wrong,
        Play(whole.steps, part.result),
        Play(whole.steps[::-1] * 2, whole.result),
    ):
        with pytest.raises(IllegalActionError) as caught:
            game.play(play)
        assert "\n" not in str(caught.value)
        assert picture(game) == before
    game.play(whole)
    with pytest.raises(IllegalActionError):
        game.play(whole)


def test_play_takes_a_part_of_the_roll_as_text():
    game = Game.from_position(Position.start(), (2, 1))
    game.play("13/11")
    assert (game.dice, game.player) == ((1,), 1)
    assert {str(play) for play in game.legal_plays()} == {"24/23", "11/10", "8/7", "6/5"}
    game.play("11/10")
    assert game.player == 0


@all_settings
def test_legal_texts_are_what_play_accepts(settings):
    for game in every(40, 5, settings):
        texts = game.legal_texts()
        assert bool(texts) == bool(game.legal_actions())
        assert len(set(texts)) == len(texts)
        ends = set()
        for text in texts:
            after = game.copy(seed=2)
            after.play(text)
            ends.add(after.key + str(after.history).encode())
        assert len(ends) == len(texts)
    assert Game.from_xgid(f"{START}:0:0:1:00:0:0:0:0:6").legal_texts() == ("roll", "double")


# Taking back


@all_settings
@pytest.mark.parametrize("seed", [None, 7])
def test_undo_inverts_exactly(settings, seed):
    """Random walks forth and back: each state is seen again as it was, and the dice of the stream come again."""
    rng = random.Random(f"{settings} {seed}")
    game, seen = Game(settings, seed=seed), []
    for _ in range(250):
        if game.over or (seen and rng.random() < 0.4):
            game.undo()
            assert picture(game) == seen.pop()
        else:
            seen.append(picture(game))
            move_on(game, rng, resigning=0.02)
    while seen:
        game.undo()
        assert picture(game) == seen.pop()
    assert game == Game(settings, seed=seed)
    with pytest.raises(OrderError, match="nothing can be taken back"):
        game.undo()


def test_the_same_dice_come_again():
    game = Game(seed=5, cube=False)
    game.play(game.legal_plays()[3])
    history, states = game.history, game.states
    game.undo()
    assert (len(game.history), len(game.dice)) == (1, 2)
    for event in history[-3:]:
        if event.action is not None:
            game.apply(event.action)
    assert game.history == history
    assert (game.states == states).all()


def test_what_was_undone_can_be_done_otherwise():
    game = Game.from_position(Position.start(), (3, 1))
    game.play("8/5 6/5")
    game.undo()
    game.play("24/20")
    assert [event.action for event in game.history] == [step_action(24, 3), step_action(21, 1)]
    assert str(game.record().games[0].entries[0].text).startswith("24/")


@pytest.mark.parametrize("seed", [None, 4])
def test_undo_takes_back_as_much_as_the_call_did(seed):
    """A play as a whole, given as a Play or as text, after single steps or not; also in a copy and a pickle."""
    game, seen = Game(seed=seed, cube=False), []
    rng = random.Random(2)
    for turn in range(60):
        if game.phase != Phase.CHECKER:
            seen.append(picture(game))
            game.apply_roll(*((2, 1) if game.phase == Phase.OPENING else (rng.randint(1, 6), rng.randint(1, 6))))
            continue
        play = rng.choice(game.legal_plays())
        for part in (str(play), play, None)[turn % 3 :][:1]:
            seen.append(picture(game))
            if part is None and len(play.steps) > 1:
                game.apply(play.steps[0].action)
                seen.append(picture(game))
                game.play(rng.choice(game.legal_plays()))
            else:
                game.play(play if part is None else part)
    for twin in (pickle.loads(pickle.dumps(game)), copy.copy(game), game):  # noqa: S301 - made here
        for picture_then in reversed(seen):
            twin.undo()
            assert picture(twin) == picture_then
        with pytest.raises(OrderError, match="nothing can be taken back"):
            twin.undo()


def test_a_copy_that_takes_back_more_does_not_get_the_dice_of_the_game():
    """Undoing past the moment of copying, then acting again, must not throw what the game will throw."""
    different = 0
    for seed in range(20):
        game = Game(seed=seed, cube=False)
        for _ in range(10):
            game.apply(game.legal_actions()[0])
        known = game.states["key"]
        twin = game.copy()
        for _ in range(4):
            twin.undo()
            assert twin.states["key"] == game.copy(seed=3).states["key"] or twin.states["key"] != known
            assert twin.history == game.history[: len(twin.history)]
        for _ in range(12):
            twin.apply(twin.legal_actions()[0])
            game.apply(game.legal_actions()[0])
        different += [e.roll for e in twin.history] != [e.roll for e in game.history]
        deeper = twin.copy()
        while deeper.history[-1:] != game.history[1:2]:
            deeper.undo()
            assert deeper.states["key"] not in (known, twin.states["key"])
    assert different == 20


def test_undo_in_one_copy_leaves_the_others():
    game = Game(seed=3)
    game.apply(game.legal_actions()[0])
    before = picture(game)
    twins = [game.copy(), copy.copy(game), pickle.loads(pickle.dumps(game))]  # noqa: S301 - made here
    for twin in twins:
        twin.undo()
        assert len(twin.history) < len(game.history)
        assert picture(game) == before
    game.undo()
    assert picture(game) == picture(twins[1]) == picture(twins[2])


def test_a_game_that_gets_a_stream_in_a_copy_takes_back_what_it_was_given():
    game = Game.from_xgid(f"{START}:0:0:1:00:0:0:0:0:6")
    game.play("roll")
    twin = game.copy(seed=1)
    assert twin.phase == Phase.CHECKER
    assert [event.roll is None for event in twin.history] == [True, False]
    twin.undo()
    assert (twin.phase, twin.history) == (Phase.ROLL_OR_DOUBLE, ())
    twin.play("roll")
    assert twin.phase == Phase.CHECKER


def test_what_happened_before_a_game_was_taken_from_an_environment_stays():
    env = backgammon_v0.env(cube=False)
    env.start_recording()
    env.reset(seed=2)
    env.step(env.game.legal_actions()[0])
    game = env.game
    with pytest.raises(OrderError):
        game.undo()
    before = game.history
    game.apply(game.legal_actions()[0])
    game.undo()
    assert game.history == before != ()


@pytest.mark.parametrize("way", [copy.deepcopy, copy.copy, lambda game: pickle.loads(pickle.dumps(game))])  # noqa: S301
@pytest.mark.parametrize("settings", [Settings(), Settings("acey_deucey", match_length=3)], ids=str)
def test_a_pickled_game_can_be_taken_back(way, settings):
    rng = random.Random(3)
    game = Game(settings, seed=1).copy()
    for _ in range(6):
        move_on(game, rng)
    game = game.copy()
    for _ in range(6):
        move_on(game, rng)
    again = way(game)
    assert (again, picture(again)) == (game, picture(game))
    for _ in range(12):
        game.undo()
        again.undo()
        assert picture(again) == picture(game)
    assert again.copy() == game.copy()


def test_a_long_past_is_pickled_and_let_go():
    """The past is a linked list: neither pickling nor the end of a game may nest as deep as it is long."""
    game = Game(match_length=60, seed=1, cube=False)
    while not game.over:
        game.apply(game.legal_actions()[-1])
    assert len(game.history) > 3000
    again = pickle.loads(pickle.dumps(game))  # noqa: S301 - made here
    assert again.history == game.history
    assert copy.deepcopy(game) == game
    del again, game


# Keys


def came_another_way(game, rng):
    """The same game to go on with, but with other counters, another random stream and another game before it."""
    states = game.states
    states["key"], states["rolls"], states["choices"] = rng.randrange(2**63), rng.randrange(99), rng.randrange(99)
    states["games"] += rng.randrange(1, 9)
    states["was_crawford"] = 1 - states["was_crawford"]
    if not game.settings.max_turns:
        states["turns"] += rng.randrange(1, 99)
    if game.phase != Phase.OVER:
        states["winner"], states["level"], states["won"] = rng.randrange(2), 2, 4
    if game.phase != Phase.OPENING:
        states["ties"] += 1
    high, low = states["dice"][0].tolist()
    if states["left"][0].tolist() == [0, 1]:
        states["dice"][0, 0] = rng.randrange(low + 1, 7)
    if states["left"][0].tolist() == [1, 0]:
        states["dice"][0, 1] = rng.randrange(1, high + 1)
    return Game.from_states(states, game.settings)


def futures(game):
    """The keys of all that can come next, by what is done."""
    found = {}
    for action in game.legal_actions():
        after = copy.copy(game)
        after.apply(action)
        found[action] = after.key, after.outcome
    for roll, probability in game.chance():
        after = copy.copy(game)
        after.apply_roll(*roll)
        found[roll] = after.key, probability
    return found


@all_settings
def test_equal_keys_have_equal_futures(settings):
    """By induction: states of equal keys have the same actions, chances and outcome, and what follows has equal keys."""
    met: dict[bytes, Game] = {}
    for seed in range(9):
        rng, game = random.Random(seed), Game(settings)
        while not game.over and len(met) < 300:
            others = [came_another_way(game, rng), met.setdefault(game.key, copy.copy(game))]
            for other in others:
                assert other.key == game.key
                assert (other.player, other.phase, other.dice, other.score) == (game.player, game.phase, game.dice, game.score)
                assert futures(other) == futures(game)
            assert others[0].states.tobytes() != game.states.tobytes()
            move_on(game, rng)
        assert came_another_way(game, rng).key == game.key
    assert len(met) > 100


def test_keys_forget_the_way_and_the_counters():
    one, other = (Game.from_position(Position.start(), (3, 1)) for _ in range(2))
    one.play("8/5")
    other.play("6/5")
    assert one.key != other.key
    one.play("6/5")
    other.play("8/5")
    assert one.key == other.key
    assert one.history != other.history
    assert Game(seed=1, cube=False).copy().key == Game(seed=1, cube=False).key
    left = [Game.from_position(Position.start(), dice) for dice in ((6, 5), (5, 3))]
    left[0].play("24/18")
    left[0].undo()
    for game, text in zip(left, ("13/7", "13/10"), strict=True):
        game.play(text)
    assert left[0].dice == left[1].dice == (5,)
    assert left[0].key != left[1].key, "other checkers"


def test_one_die_left_is_the_same_whatever_the_other_was():
    position = Position([0] * 6 + [14] + [0] * 6 + [1] + [0] * 12, [0, 15] + [0] * 24)
    first = Game.from_position(position, (6, 5), cube=False)
    first.play("13/7")
    second = Game.from_position(first.position, (5, 4), cube=False)
    second.play("7/3")
    third = Game.from_position(position, (6, 5), cube=False)
    third.play("13/8")
    assert (first.dice, second.dice, third.dice) == ((5,), (5,), (6,))
    fourth = Game.from_position(Position([0] * 6 + [14] + [0] * 5 + [1] + [0] * 13, [0, 15] + [0] * 24), (5, 5), cube=False)
    assert first.key != second.key
    lower = Game.from_position(Position([0] * 6 + [14] + [0] * 4 + [1] + [0] * 14, [0, 15] + [0] * 24), (5, 4), cube=False)
    lower.play("11/7")
    assert (lower.dice, lower.position) == (first.dice, first.position)
    assert lower.key == first.key
    assert lower.states.tobytes() != first.states.tobytes()
    assert fourth.key != first.key


def test_keys_hold_what_decides():
    games = [
        Game.from_xgid(f"{START}:0:0:1:31:0:0:0:0:6"),
        Game.from_xgid(f"{START}:0:0:-1:31:0:0:0:0:6"),
        Game.from_xgid(f"{START}:0:0:1:32:0:0:0:0:6"),
        Game.from_xgid(f"{START}:1:1:1:31:0:0:0:0:6"),
        Game.from_xgid(f"{START}:1:-1:1:31:0:0:0:0:6"),
        Game.from_xgid(f"{START}:0:0:1:31:0:0:1:0:6"),
        Game.from_xgid(f"{START}:0:0:1:31:0:0:0:0:5"),
        Game.from_xgid(f"{START}:0:0:1:31:0:0:0:7:6"),
        Game.from_xgid(f"{START}:0:0:1:31:1:0:0:7:6"),
        Game.from_xgid(f"{START}:0:0:1:31:6:0:1:7:6"),
        Game.from_xgid(f"{START}:0:0:1:31:6:0:0:7:6"),
        Game.from_xgid(f"{START}:0:0:1:00:0:0:0:0:6"),
        Game.from_xgid(f"{START}:0:0:1:D:0:0:0:0:6"),
        Game(),
        Game(auto_doubles=1),
        Game("nackgammon"),
    ]
    assert len({game.key for game in games}) == len(games)
    tied = Game(auto_doubles=1)
    tied.apply_roll(2, 2)
    assert tied.key not in {game.key for game in games}
    assert len({type(game.key) for game in games}) == 1
    assert hash(games[0].key) == hash(games[0].copy().key)


def test_turns_are_in_the_key_only_under_a_cap():
    keys = []
    for given in ({}, {"max_turns": 50}):
        for first in ((6, 5), (5, 6)):
            game = Game(cube=False, **given)
            game.apply_roll(*first)
            while game.player == 0 and game.dice:
                game.play(game.legal_plays()[0])
            keys.append((game.key, int(game.states["turns"][0])))
    late = Game(cube=False, max_turns=50)
    early = Game.from_position(Position.start(), (3, 1), cube=False, max_turns=50)
    late.apply_roll(1, 3)
    assert late.position == early.position
    assert late.states["turns"] == early.states["turns"] == 1
    assert late.key == early.key
    passed = late.states
    passed["turns"] = 7
    assert Game.from_states(passed, late.settings).key != late.key
    free = Game.from_states(passed, late.settings.but(max_turns=None))
    assert free.key == Game.from_position(Position.start(), (3, 1), cube=False).key


# The outcome


def finish(text, *actions):
    game = Game.from_xgid(text)
    for action in actions:
        game.play(action)
    return game


def test_outcomes():
    borne_off = finish("XGID=-A----------------------o-:1:1:1:61:0:0:0:0:10", "1/off")
    assert borne_off.outcome == Outcome(winner=1, points=4, level=2, cube=2, score=(0, 0), ending=Ending.BORNE_OFF)
    dropped = finish(f"{START}:0:0:1:00:0:0:0:0:6", "double", "drop")
    assert dropped.outcome == Outcome(1, 1, 1, 1, (0, 0), Ending.DROPPED)
    resigned = Game.from_xgid(f"{START}:1:1:1:31:0:0:0:0:6")
    resigned.resign(3)
    assert resigned.outcome == Outcome(0, 6, 3, 2, (0, 0), Ending.RESIGNED)
    assert str(resigned.outcome) == "player_0 wins 6 points (resigned)"
    match = finish("XGID=-A----------------------o-:0:0:1:61:3:2:0:5:10", "1/off")
    assert match.outcome == Outcome(1, 2, 2, 1, (2, 5), Ending.BORNE_OFF)
    assert (match.winner, match.points, match.over) == (1, 2, True)
    capped = Game(cube=False, max_turns=1, seed=1)
    assert (capped.outcome, capped.over, capped.winner) == (None, False, None)
    capped.play(capped.legal_plays()[0])
    assert capped.outcome == Outcome(None, 0, 0, 1, (0, 0), Ending.TURN_LIMIT)
    assert str(capped.outcome) == "no winner (turn limit)"
    assert (capped.over, capped.winner, capped.points) == (True, None, 0)


def test_the_outcome_of_a_game_of_an_environment():
    env = backgammon_v0.env(cube=False)
    env.reset(seed=1)
    loser = env.game.player
    env.step(next(action for action in range(STEPS) if action not in env.game.legal_actions()))
    assert env.game.outcome == Outcome(1 - loser, 3, 3, 1, (0, 0), Ending.ILLEGAL_ACTION)
    env = backgammon_v0.env()
    env.reset(seed=1, options={"position": f"{START}:0:0:1:00:0:0:0:0:6"})
    env.step(DOUBLE)
    env.step(DROP)
    assert env.game.outcome.ending is None
    assert str(env.game.outcome) == "player_1 wins 1 point"


@all_settings
def test_over_and_outcome_agree(settings):
    for game in islice(every(200, 1, settings), 200):
        assert (game.over, game.outcome) == (False, None)
    rng, game = random.Random(2), Game(settings, seed=2)
    while not game.over:
        move_on(game, rng)
    outcome = game.outcome
    assert outcome is not None
    assert (outcome.winner, outcome.points) == (game.winner, game.points)
    assert outcome.score == game.score
    assert (outcome.points == outcome.level * outcome.cube) or outcome.winner is None
    assert (outcome.ending == Ending.TURN_LIMIT) == (outcome.winner is None)
    assert outcome == copy.copy(game).outcome
    assert hash(outcome) == hash(game.outcome)
    game.undo()
    assert game.outcome is None
