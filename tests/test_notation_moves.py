"""Move text: what people write is read into the legal play it tells, and a play's own text is a fixed point."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import many

from bg_env import rules as engine
from bg_env.actions import Step
from bg_env.errors import IllegalActionError, NotationError
from bg_env.notation.moves import NO_PLAY, find_play, format_actions, format_steps, parse_moves
from bg_env.rules import STATE, Phase, Settings

SETTINGS = Settings()
RULES = SETTINGS.record()


def board(mover, opponent, dice, checkers=15):
    """A state in which player 0 has rolled; the sides by point, the opponent's on its own numbering; the rest is off."""
    states = np.zeros(1, STATE)
    states["owner"] = -1
    for side, points in enumerate((mover, opponent)):
        for point, n in points.items():
            states["points"][0, side, point] = n
        states["points"][0, side, 0] = checkers - states["points"][0, side].sum()
    engine.set_up(states, 0, RULES, *dice)
    assert states[0]["phase"] == Phase.CHECKER
    return states


START = {24: 2, 13: 5, 8: 3, 6: 5}


def after(states, actions, rules=RULES):
    done = states.copy()
    for action in actions:
        engine.apply(done, 0, rules, action)
    return done["points"].tolist()


@pytest.mark.parametrize(
    ("mover", "opponent", "dice", "texts"),
    [
        (START, START, (3, 1), ["8/5 6/5", "6/5 8/5", "6/5,8/5", "  8/5;6/5 ", "8/5, 6/5"]),
        (START, START, (6, 5), ["24/13", "24/18/13", "24/18 18/13", "18/13 24/18"]),
        (START, START, (4, 4), ["24/20(2) 13/9(2)", "13/9 24/20 13/9 24/20", "24/20 24/20 13/9(2)", "13/9(2), 24/20(2)"]),
        (START, START, (4, 4), ["24/16(2)", "24/20/16(2)", "24/20(2) 20/16(2)"]),
        ({25: 1, 6: 14}, START, (3, 1), ["bar/22 6/5", "25/22 6/5", "BAR/22 6/5", "6/5 b/22"]),
        ({25: 1, 6: 14}, {8: 2, 1: 13}, (6, 5), ["bar/14", "25/14", "bar/20/14", "bar/20 20/14"]),
        ({6: 2, 5: 2}, {1: 2}, (6, 5), ["6/off 5/off", "6/0 5/0", "5/off 6/OFF", "6/o 5/o"]),
        ({6: 2, 5: 2}, {1: 2}, (6, 6), ["6/off(2) 5/off(2)", "5/0 5/0 6/0 6/0"]),
        ({5: 1}, {24: 2}, (6, 4), ["5/off", "5/0"]),
        ({7: 1, 2: 1}, {1: 2}, (4, 3), ["7/off", "7/3 3/off", "7/4/off", "7/4 4/0"]),
        ({24: 1, 6: 14}, {7: 1, 1: 14}, (6, 5), ["24/18*/13", "24/18* 18/13", "24/18 18/13", "18/13 24/18*", "24/18/13"]),
        ({24: 1, 6: 14}, {7: 1, 1: 14}, (6, 5), ["24/13", "24/19/13", "24/19 19/13"]),  # round the blot
        (
            {24: 1, 6: 14},
            {7: 1, 6: 2, 1: 12},
            (6, 5),
            ["24/18*/13", "24/13", "24/18/13"],
        ),  # 19 is held: only by way of the blot
        ({6: 4}, {21: 1, 1: 14}, (2, 2), ["6/4*(3) 4/2", "6/2 6/4*(2)", "6/4*/2 6/4(2)", "6/4 6/4 6/4 4/2", "6/4(2)* 6/2"]),
    ],
)
def test_one_play_in_many_words(mover, opponent, dice, texts):
    states = board(mover, opponent, dice)
    results = {text: after(states, find_play(text, states, 0, RULES, whole=True)) for text in texts}
    assert all(result == results[texts[0]] for result in results.values()), results
    # and they are what an obvious reading gives: the first and last points of every way
    for text, result in results.items():
        want = states["points"][0, 0].tolist()
        for move in parse_moves(text):
            want[move.places[0]] -= 1
            want[move.places[-1]] += 1
        assert result[0][0] == want, text


def test_a_way_round_a_blot_and_a_way_over_it_differ():
    states = board({24: 1, 6: 14}, {7: 1, 1: 14}, (6, 5))
    over, around = (after(states, find_play(text, states, 0, RULES)) for text in ("24/18*/13", "24/13"))
    assert over[0][1][25] == 1
    assert around[0][1][25] == 0
    both = board({24: 1, 6: 14}, {7: 1, 6: 1, 1: 13}, (6, 5))  # a blot on either way: which?
    with pytest.raises(NotationError, match="more than one play"):
        find_play("24/13", both, 0, RULES)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("8/5 6/4", "cannot be shared"),
        ("8/5", "not a legal play"),
        ("18/14", "not a legal play"),
        ("24/23 24/21*", "no checker to hit on 21"),
        ("8/4*", "no checker to hit on 4"),
        ("21/20 6/3", "not a legal play"),
        ("20/19 6/3", "point 19 is held by 5"),
        ("24/21 24/23 8/7", "cannot be shared"),
        ("", r"\(no play\)"),
        ("Cannot Move", "Cannot Move"),
        ("6/5 6/off", "cannot be shared"),
        ("bar/24 8/5", "not a legal play"),
    ],
)
def test_plays_that_are_not_legal(text, says):
    states = board(START, START, (3, 1))
    before = states.copy()
    with pytest.raises(IllegalActionError, match=says):
        find_play(text, states, 0, RULES, whole=True)
    assert (states == before).all()


@pytest.mark.parametrize("text", ["8/5*", "13/10*", "24/23*", "13/10*/9", "13/9*"])
def test_a_hit_that_is_none_is_refused_in_a_part_of_a_roll_too(text):
    states = board(START, START, (3, 1))
    with pytest.raises(IllegalActionError, match="no checker to hit on"):
        find_play(text, states, 0, RULES)
    assert find_play(text.replace("*", ""), states, 0, RULES)
    hit = board({13: 2, 6: 13}, {15: 1, 1: 14}, (3, 1))  # a blot on the mover's 10
    assert find_play("13/10*", hit, 0, RULES) == find_play("13/10", hit, 0, RULES)


def test_a_way_over_a_held_point_is_not_legal_though_another_order_leads_there():
    states = board({24: 1, 6: 14}, {7: 2, 1: 13}, (6, 5))
    assert find_play("24/13", states, 0, RULES)
    with pytest.raises(IllegalActionError, match="point 18 is held by 2"):
        find_play("24/18/13", states, 0, RULES)


@pytest.mark.parametrize(
    "text",
    [
        "8",
        "8/",
        "/5",
        "8-5",
        "8/5/",
        "26/20",
        "5/8",
        "6/6",
        "8/5(5)",
        "8/5(0)",
        "8/5 8/5 8/5 8/5 8/5",
        "????",
        "8/5(2)(2)",
        "²/1",
        "x/5",
    ],
)
def test_what_is_no_move_text(text):
    with pytest.raises(NotationError):
        parse_moves(text)
    with pytest.raises(NotationError):
        find_play(text, board(START, START, (3, 1)), 0, RULES)


def test_first_steps_of_a_play():
    states = board(START, START, (3, 1))
    assert find_play("8/5", states, 0, RULES) == [7 * 6 + 2]
    double = board(START, START, (2, 2))
    assert after(double, find_play("13/9", double, 0, RULES))[0][0][9] == 1
    assert len(find_play("13/9", double, 0, RULES)) == 2
    partly = double.copy()
    for action in find_play("13/9", double, 0, RULES):
        engine.apply(partly, 0, RULES, action)
    assert len(find_play("6/4(2)", partly, 0, RULES, whole=True)) == 2
    with pytest.raises(IllegalActionError, match="no roll waits"):
        find_play("8/5", np.zeros(1, STATE), 0, RULES)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([], NO_PLAY),
        ([(6, 5, 1, False), (8, 5, 3, False)], "8/5 6/5"),
        ([(24, 18, 6, True), (18, 13, 5, False)], "24/18*/13"),
        ([(24, 18, 6, False), (18, 13, 5, True)], "24/13*"),
        ([(25, 22, 3, False), (6, 5, 1, False)], "bar/22 6/5"),
        ([(13, 11, 2, False)] * 2 + [(11, 9, 2, False)] * 2, "13/9(2)"),
        ([(8, 4, 4, True), (8, 4, 4, False), (6, 2, 4, False), (6, 2, 4, False)], "8/4*(2) 6/2(2)"),
        ([(6, 5, 1, True), (6, 5, 1, False), (5, 4, 1, False), (5, 4, 1, False)], "6/5*/4 6/4"),
        ([(8, 4, 4, False), (4, 0, 4, False)], "8/off"),
    ],
)
def test_text_of_steps(steps, text):
    assert format_steps([Step(*step) for step in steps]) == text


def variation(rng, steps):
    """The same steps in other words."""
    words = []
    for step in rng.sample(steps, len(steps)):
        source = rng.choice(["bar", "25", "BAR"]) if step.source == 25 else str(step.source)
        target = rng.choice(["off", "0", "Off"]) if step.target == 0 else str(step.target)
        words.append(f"{source}/{target}" + ("*" if step.hit and rng.random() < 0.5 else ""))
    return rng.choice([" ", ", ", ","]).join(words)


def test_texts_of_plays_are_fixed_points():
    """Of 10,000 states of random games, a play each."""
    rng, seen = random.Random(3), 0
    for in_force, states in many(60_000):
        if states[0]["phase"] != Phase.CHECKER:
            continue
        rules = in_force.record()
        _, numbers, results = engine.plays(states, rules)
        k = rng.randrange(len(numbers))
        actions = [a for a in numbers[k].tolist() if a >= 0]
        text = format_actions(actions, states, 0)
        found = find_play(text, states, 0, rules, whole=True)
        result = after(states, actions, rules)
        assert result == results["points"][k : k + 1].tolist()
        assert after(states, found, rules) == result, text
        assert format_actions(found, states, 0) == text
        side, points = int(states[0]["turn"]), states[0]["points"].tolist()
        steps = []
        for action in actions:
            source, die = action // 6 + 1, action % 6 + 1
            target = max(source - die, 0)
            hit = bool(target) and points[1 - side][25 - target] == 1
            if hit:
                points[1 - side][25 - target] = 0
            steps.append(Step(source, target, die, hit))
        other = variation(rng, steps)
        assert after(states, find_play(other, states, 0, rules, whole=True), rules) == results["points"][k : k + 1].tolist(), (
            other
        )
        seen += 1
        if seen == 10_000:
            return
    raise AssertionError(seen)


WORDS = st.lists(
    st.one_of(
        st.builds(
            "{}/{}{}{}".format,
            st.sampled_from([*range(27), "bar", "off", "x"]),
            st.sampled_from([*range(27), "off", "5/3", "5*/3"]),
            st.sampled_from(["", "*"]),
            st.sampled_from(["", "(2)", "(4)", "(9)"]),
        ),
        st.text(max_size=8),
    ),
    max_size=6,
).map(" ".join)


@settings(max_examples=5_000, deadline=None)
@given(WORDS)
def test_any_text_as_moves(text):
    states = FUZZED
    try:
        found = find_play(text, states, 0, RULES)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - the message is looked at, the kind is what `except` is for
    except IllegalActionError:
        assert parse_moves(text) is not None
    else:
        assert found


FUZZED = board({25: 1, 13: 5, 8: 4, 6: 3, 5: 1, 4: 1}, {24: 2, 20: 1, 12: 1, 8: 3, 6: 5, 1: 1}, (2, 1))
