"""Position: a value; its whole plays, their text, its id."""

from __future__ import annotations

import json
import random

import numpy as np
import oracle
import pytest
from env_cases import twin
from positions import placements, random_play

from bg_env import VARIANTS, Game, IllegalActionError, NotationError, Play, Position, PositionError, SettingsError, Variant
from bg_env.actions import Step

variants = pytest.mark.parametrize("name", VARIANTS)
START = Position.start()


def sides(mover, opponent, checkers=15):
    """Two 26-sequences from mappings, each on its own numbering; the rest is borne off."""
    made = []
    for side in (mover, opponent):
        counts = [side.get(point, 0) for point in range(26)]
        counts[0] = checkers - sum(counts)
        made.append(counts)
    return made


@variants
def test_the_start_is_the_variants(name):
    start = Position.start(name)
    assert start.mover == start.opponent == VARIANTS[name].start
    assert start.variant is VARIANTS[name]
    assert start == Position(VARIANTS[name].start, VARIANTS[name].start, name)
    assert start == Position.start(VARIANTS[name])


@pytest.mark.parametrize(
    ("name", "id_", "pips"),
    [
        ("backgammon", "4HPwATDgc/ABMA", 167),
        ("nackgammon", "4HMwAD3gczAAPQ", 199),
        ("nackgammon_ballard", "4Dl4ADbgOXgANg", 194),
    ],
)
def test_known_ids_and_pip_counts(name, id_, pips):
    start = Position.start(name)
    assert start.id == id_
    assert start.pips == (pips, pips)
    assert Position.from_id(id_, variant=name) == start


def test_any_sequence_of_integers_makes_one_and_tuples_of_ints_are_kept():
    for kind in (list, tuple, np.array, lambda side: np.array(side, np.int8), iter):
        position = Position(kind(list(START.mover)), kind(list(START.opponent)))
        assert position == START
        assert hash(position) == hash(START)
        assert type(position.mover) is type(position.opponent) is tuple
        assert {type(n) for n in position.mover + position.opponent} == {int}
        assert len(position.mover) == 26


def test_it_cannot_be_changed():
    for name in ("mover", "opponent", "variant", "_mover", "id", "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(START, name, START.mover)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(START, name)
    assert not hasattr(START, "__dict__")


def test_equality_and_hash_are_of_the_value():
    turned = Position.from_id("4HPwATDgc/ABMA").legal_plays(3, 1)[0].result
    assert Position.start("backgammon") == START
    assert len({START, Position.start(), Position.from_id(START.id), turned}) == 2
    assert Position(START.mover, START.opponent, Variant("mine", START.variant.start)) != START
    assert START != "4HPwATDgc/ABMA"
    assert START.id != START
    assert (START == 3) is False


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_it_is_pickled_and_copied(way):
    position = Position.start("acey_deucey").legal_plays(6, 5)[0].result
    again = twin(position, way)
    assert again == position
    assert hash(again) == hash(position)
    assert again.legal_plays(2, 1) == position.legal_plays(2, 1)


@pytest.mark.parametrize(
    ("mover", "opponent", "error", "words"),
    [
        ([0] * 26, START.opponent, PositionError, "0 checkers, borne off included, not 15"),
        (START.mover[:-1], START.opponent, PositionError, "25 entries: give 26"),
        (START.mover, (*START.opponent, 0), PositionError, "27 entries"),
        (sides({24: 2, 1: -1, 6: 14}, {})[0], START.opponent, PositionError, "-1 checkers on point 1"),
        ([1.0, *START.mover[1:]], START.opponent, PositionError, "1.0 checkers on point 0"),
        ([False, *START.mover[1:]], START.opponent, PositionError, "False checkers"),
        (3, START.opponent, PositionError, "sequences of 26 counts, not int"),
        (START.mover, None, PositionError, "sequences of 26 counts"),
        (*sides({6: 15}, {19: 15}), PositionError, "mover's point 6 .the opponent's 19."),
        (*sides({}, {}), PositionError, "both players have borne off"),
        (*sides({25: 3, **dict.fromkeys(range(1, 7), 2)}, {25: 3, **dict.fromkeys(range(1, 7), 2)}), PositionError, "R3.5"),
    ],
)
def test_what_cannot_stand_is_refused(mover, opponent, error, words):
    with pytest.raises(error, match=words) as caught:
        Position(mover, opponent)
    assert "\n" not in str(caught.value)


def test_the_number_of_checkers_is_the_variants():
    three = sides({24: 1, 3: 1}, {5: 2}, checkers=3)
    assert Position(*three, "hypergammon").mover[0] == 1
    with pytest.raises(PositionError, match="not 15"):
        Position(*three)
    with pytest.raises(SettingsError, match="no variant is called 'hyper'"):
        Position(*three, "hyper")
    own = Variant("own", {24: 1, 13: 1})
    assert Position(*sides({1: 1}, {2: 2}, 2), own).variant == own


@pytest.mark.parametrize(
    "text", ["", "4HPwATDgc/ABM", "4HPwATDgc/ABMAA", "////////////// ", "4HPwATDgc/AB!A", None, 3, b"4HPwATDgc/ABMA"]
)
def test_a_text_that_is_no_id_is_refused(text):
    with pytest.raises(NotationError) as caught:
        Position.from_id(text)
    assert "\n" not in str(caught.value)


@variants
def test_ids_come_back_the_same(name):
    source = random_play(VARIANTS[name].start, 5)
    for _ in range(200):
        (mover, opponent), _ = next(source)
        position = Position(mover, opponent, name)
        assert Position.from_id(position.id, name) == position


def test_turned_twice_it_is_the_same():
    position = START.legal_plays(6, 1)[3].result
    assert position.turned() != position
    assert position.turned().turned() == position
    assert position.turned().pips == position.pips[::-1]


# Whole plays


@variants
def test_plays_are_the_oracles(name):
    """Each distinct result once, turned: the other side on roll; random play and random placements."""
    checkers = VARIANTS[name].checkers
    for source in (random_play(VARIANTS[name].start, 11), placements(checkers, 11)):
        for _ in range(120):
            board, roll = next(source)
            position = Position(*board, name)
            plays = position.legal_plays(*roll)
            want = {Position.unchecked(*reversed(end), VARIANTS[name]) for end in oracle.results(board, oracle.roll_of(*roll))}
            assert {play.result for play in plays} == want
            assert len(plays) == len(want) >= 1
            assert plays == position.legal_plays(*reversed(roll))


@variants
def test_the_steps_of_a_play_lead_to_its_result(name):
    rng = random.Random(3)
    source = random_play(VARIANTS[name].start, 7)
    for _ in range(60):
        (mover, opponent), roll = next(source)
        position = Position(mover, opponent, name)
        play = rng.choice(position.legal_plays(*roll))
        own, other = list(mover), list(opponent)
        dice = list(oracle.roll_of(*roll))
        for step in play.steps:
            assert isinstance(step, Step)
            assert step.target == max(step.source - step.die, 0)
            assert own[step.source] > 0
            dice.remove(step.die)
            own[step.source] -= 1
            own[step.target] += 1
            assert step.hit == (step.target > 0 and other[25 - step.target] == 1)
            if step.hit:
                other[25 - step.target] -= 1
                other[25] += 1
        assert (tuple(other), tuple(own)) == (play.result.mover, play.result.opponent)


def test_a_dance_is_one_play_without_steps():
    closed = Position(*sides({25: 1, 6: 14}, dict.fromkeys(range(1, 7), 2) | {8: 3}))
    (play,) = closed.legal_plays(6, 6)
    assert play == Play((), closed.turned())
    assert str(play) == "(no play)"


PLAYS = {
    (3, 1): "8/5 6/5",
    (6, 5): "24/13",
    (6, 6): "24/18(2) 13/7(2)",
    (4, 2): "8/4 6/4",
    (5, 5): "13/3(2)",
    (6, 1): "13/7 8/7",
}


@pytest.mark.parametrize(("roll", "text"), PLAYS.items())
def test_plays_as_text(roll, text):
    assert text in [str(play) for play in START.legal_plays(*roll)]


def test_plays_as_text_tell_every_play_apart():
    source = random_play(START.mover, 13)
    for _ in range(150):
        board, roll = next(source)
        plays = Position(*board).legal_plays(*roll)
        assert len({str(play) for play in plays}) == len(plays)


def test_hits_bar_and_off_as_text():
    position = Position(*sides({25: 1, 6: 14}, {3: 1, 24: 14}))
    assert {str(play) for play in position.legal_plays(3, 2)} == {"bar/22*/20", "bar/20", "bar/22* 6/4", "bar/23 6/3"}
    home = Position(*sides({6: 1, 2: 1}, {20: 15}))
    assert "6/off 2/off" in {str(play) for play in home.legal_plays(6, 2)}
    assert "6/off 2/off" in {str(play) for play in home.legal_plays(6, 5)}


def test_a_play_is_a_value():
    one, other = START.legal_plays(3, 1)[0], Position.start().legal_plays(1, 3)[0]
    assert one == other
    assert len({one, other}) == 1
    with pytest.raises(AttributeError):
        one.steps = ()


@pytest.mark.parametrize("roll", [(0, 1), (7, 1), (1, 7), (1.0, 2), (True, 2), ("3", 1), (None, 1)])
def test_dice_are_numbers_from_1_to_6(roll):
    with pytest.raises(IllegalActionError, match="1 to 6"):
        START.legal_plays(*roll)


def test_dice_may_be_numpys():
    assert START.legal_plays(np.int8(3), np.int64(1)) == START.legal_plays(3, 1)


def test_who_has_borne_off_everything_has_no_play():
    over = Position(*sides({}, {5: 3}))
    with pytest.raises(IllegalActionError, match="borne off all"):
        over.legal_plays(3, 1)
    alone = Position(*sides({5: 3}, {}))
    assert [str(play) for play in alone.legal_plays(6, 5)] == ["5/off(2)"]


def test_the_cases_that_were_handed_over(shared):
    cases = json.loads((shared / "data" / "positions.json").read_text())
    for case in cases:
        mover = {int(point): n for point, n in case["mover"].items()}
        opponent = {25 - int(point): n for point, n in case["opponent"].items()}
        checkers = case["mover_off"] + sum(mover.values())
        name = {15: "backgammon", 3: "hypergammon"}[checkers]
        position = Position(*sides(mover, opponent, checkers), name)
        want = set()
        for result in case["results"]:
            other = [0] * 26
            for point, n in enumerate(result["opponent_after"]):
                other[25 - point if point else 25] = n
            other[0] = checkers - sum(other)
            want.add((tuple(other), tuple(result["mover_after"])))
        got = [(play.result.mover, play.result.opponent) for play in position.legal_plays(*case["dice"])]
        assert len(got) == len(set(got))
        assert set(got) == want, case["id"]


# How it looks


def test_it_prints_a_board_and_a_short_name():
    text = str(START)
    assert "pips 167" in text
    assert "13─14─15─16─17─18" in text
    assert repr(START) == "<Position 4HPwATDgc/ABMA of backgammon>"
    assert repr(Game.new().position) == repr(START)
