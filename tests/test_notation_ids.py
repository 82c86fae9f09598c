"""Position ids, match ids and XGIDs: the published cases, fixed points, and nothing but NotationError for the rest."""

from __future__ import annotations

import base64
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_games import many

from bg_env.errors import NotationError, PositionError
from bg_env.notation import gnubg_ids, read_position
from bg_env.notation.gnubg_ids import (
    MatchId,
    decode_match_id,
    decode_position_id,
    encode_match_id,
    encode_position_id,
    read_ids,
    read_position_id,
    write_match_id,
    write_position_id,
)
from bg_env.notation.xgid import read_xgid, write_xgid
from bg_env.rules import BAR, OFF, STAGE_DOUBLE, STAGE_EXTRA, STATE, VARIANTS, Phase, Settings, may_double

STANDARD = "4HPwATDgc/ABMA"
START = "XGID=-b----E-C---eE---c-e----B-"

# id, the player on roll and the other by point (facts of GNU Backgammon's manual and of its own output)
POSITIONS = (
    (STANDARD, "backgammon", {24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 3, 6: 5}),
    ("sGfwATDgc/ABMA", "backgammon", {24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}),
    ("AACgAgAAKgAAAA", "hypergammon", {24: 1, 23: 1, 22: 1}, {24: 1, 23: 1, 22: 1}),
    ("AQAABAAAAAAAAA", "backgammon", {1: 1}, {1: 1}),
    ("AAAA/38AAAD/fw", "backgammon", {25: 15}, {25: 15}),
    ("/x8AAGDbth0AAA", "backgammon", {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 3}, {25: 2, 1: 13}),
    ("4HMwAD3gczAAPQ", "nackgammon", {24: 4, 23: 1, 13: 2, 8: 3, 6: 5}, {24: 4, 23: 1, 13: 2, 8: 3, 6: 5}),
    ("4Dl4ADbgOXgANg", "nackgammon_ballard", {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}, {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}),
)

# XGID, the position id and match id of the same game
TRIPLES = (
    (f"{START}:0:0:1:00:0:0:0:0:10", STANDARD, "cAkAAAAAAAAE"),
    (f"{START}:0:0:1:31:0:0:3:0:10", STANDARD, "cIkFAAAAAAAA"),
    (f"{START}:0:0:1:65:0:0:0:7:10", STANDARD, "cAn3AAAAAAAE"),
    ("XGID=----BBB-B---aC----B-B-gdc-:1:1:1:00:1:4:0:7:10", "9/4ABADYZnAwAw", "UQngAEAACAAE"),
    ("XGID=-aaa------------------AAA-:0:0:1:00:0:0:1:0:10", "AACgAgAAKgAAAA", "cAkAAAAAAAAA"),
    (f"{START}:1:1:1:00:0:0:0:5:10", STANDARD, "UQmgAAAAAAAE"),
    (f"{START}:2:-1:1:64:3:2:0:9:10", STANDARD, "QgkzASAAGAAE"),
    (f"{START}:0:0:1:52:4:0:0:5:10", STANDARD, "cImqAAAAIAAE"),
    ("XGID=-BDB-------------a------e-:1:-1:-1:42:0:0:0:5:10", "ewMAAD4gAAAAAA", "AQGqAAAAAAAE"),
    ("XGID=-E------A-------------bdb-:1:1:1:42:0:0:0:5:10", "ewMAAD4gAAAAAA", "UQmqAAAAAAAE"),
)


def counts(side):
    return {point: n for point, n in enumerate(side) if point and n}


@pytest.mark.parametrize(("text", "variant", "mover", "opponent"), POSITIONS)
def test_position_ids(text, variant, mover, opponent):
    got = decode_position_id(text, variant)
    assert (counts(got[0]), counts(got[1])) == (mover, opponent)
    checkers = VARIANTS[variant].checkers
    assert [side[OFF] for side in got] == [checkers - sum(mover.values()), checkers - sum(opponent.values())]
    assert encode_position_id(*got) == text


@pytest.mark.parametrize(("xgid", "position", "match"), TRIPLES)
def test_three_ids_of_one_game(xgid, position, match):
    states, in_force = read_xgid(xgid)
    assert (write_position_id(states, 0), write_match_id(states, 0, in_force)) == (position, match)
    assert write_xgid(states, 0, in_force) == xgid
    again, _ = read_ids(position, match)
    assert held(again) == held(states)
    for text in (f"{position}:{match}", f" {position} {match}\n", f"Position ID: {position}\n Match ID : {match}"):
        assert held(read_position(text)[0]) == held(states)
    assert held(read_position(xgid.lower().replace("xgid=", "") if not any(map(str.isupper, xgid[5:31])) else xgid)[0]) == held(
        states
    )


def held(states):
    """The part of a state that an id holds."""
    s = states[0]
    names = ["phase", "decider", "cube", "owner", "chain", "crawford", "ending", "stage"]
    names += ["winner", "level", "won"] if s["phase"] == Phase.OVER else ["turn"]
    return {name: int(s[name]) for name in names} | {name: s[name].tolist() for name in ("points", "dice", "left", "score")}


def cannot(settings, states, *, xgid):
    """Whether an id of this kind has no way to say this state."""
    s = states[0]
    if s["phase"] in (Phase.OPENING, Phase.CHOOSE_DOUBLE) or s["stage"] in (STAGE_DOUBLE, STAGE_EXTRA) or s["ending"] > 1:
        return True
    if s["phase"] == Phase.CHECKER:
        return s["left"].sum() not in (2, 4) or (s["left"].sum() == 2) == (s["dice"][0] == s["dice"][1])
    if s["phase"] == Phase.OVER:
        return xgid and s["points"][s["winner"]][OFF] != settings.variant.checkers
    if s["chain"]:
        return s["chain"] > (3 if xgid else 1)
    # before a roll: the id must make the same of who may double
    cap = settings.cap_log2 if settings.cube else 0
    if not xgid:
        cap = max(cap, 6) if s["cube"] <= 6 else 15  # a match id says none
    cube = True if xgid else settings.variant.cube or s["cube"] > 0 or s["owner"] >= 0
    read = Settings(settings.variant, match_length=settings.match_length, cube=cube, cube_cap=1 << cap)
    return bool(may_double(states, 0, read.record(), s["turn"])) != (s["phase"] == Phase.ROLL_OR_DOUBLE)


def s_at_64(states, in_force):
    """Whether the cube stands at 64 under a higher cap, which no match id holds."""
    return in_force.cube and in_force.cap_log2 > 6 and states[0]["cube"] == 6


def test_ids_are_fixed_points_of_random_states():
    held_by = Counter()
    for in_force, states in many(10_000):
        variant = in_force.variant
        for kind, write in (("xgid", write_xgid), ("match", write_match_id)):
            before = states.copy()
            if cannot(in_force, states, xgid=kind == "xgid"):
                with pytest.raises(NotationError):
                    write(states, 0, in_force)
                held_by[kind, "not"] += 1
                continue
            text = write(states, 0, in_force)
            assert (states == before).all()
            if kind == "xgid":
                read, settings_read = read_xgid(text, variant)
                assert settings_read.cap_log2 == (in_force.cap_log2 if in_force.cube else 0)
            else:
                read, settings_read = read_ids(write_position_id(states, 0), text, variant)
                if s_at_64(states, in_force):
                    settings_read = settings_read.but(cube_cap=in_force.cube_cap)
                    read, _ = read_ids(write_position_id(states, 0), text, settings=settings_read)
            assert held(read) == held(states), (kind, text, in_force)
            assert settings_read.match_length == in_force.match_length
            assert settings_read.jacoby == (in_force.jacoby and in_force.cube)
            assert write(read, 0, settings_read) == text
            held_by[kind, str(Phase(int(states[0]["phase"])))] += 1
    assert min(held_by.values()) >= 5, held_by
    assert {phase for kind, phase in held_by if kind == "xgid"} >= {"ROLL", "ROLL_OR_DOUBLE", "TAKE_OR_DROP", "CHECKER", "OVER"}
    assert sum(n for (_, phase), n in held_by.items() if phase == "OVER") >= 25


def test_position_ids_are_fixed_points_of_random_placements():
    rng = random.Random(11)
    for _ in range(2_000):
        variant = rng.choice(list(VARIANTS.values()))
        sides = [[0] * 26, [0] * 26]
        for side, other in (sides, sides[::-1]):
            for _ in range(variant.checkers):
                side[rng.choice([p for p in range(26) if p in (OFF, BAR) or not other[25 - p]])] += 1
        if any(side[OFF] == variant.checkers for side in sides):
            continue
        text = encode_position_id(*sides)
        assert [list(side) for side in decode_position_id(text, variant)] == sides
        for turn in range(2):
            states, in_force = read_position_id(text, variant)
            states["turn"] = turn
            states["decider"] = turn if states[0]["phase"] == Phase.ROLL_OR_DOUBLE else -1
            states["points"] = sides if turn == 0 else sides[::-1]
            assert write_position_id(states, 0) == text
            assert held(read_xgid(write_xgid(states, 0, in_force), variant)[0]) == held(states)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("4HPwATDgc/ABM", "14 characters"),
        ("4HPwATDgc/ABMAA", "14 characters"),
        ("4HPwATDgc_ABMA", "'_'"),
        ("4HPwATDgc/ABM\u00c4", "not one of the letters"),
        ("4HPwATDgc/ABMB", "beyond its end"),
        ("//////////////", "beyond its"),
        ("AAAAAAAAAAAAAQ", "beyond its 50 places"),
        ("/////wAAAAAAAA", "checkers"),
        ("AAAAAAAAAAAAAA", "both players have borne off"),
    ],
)
def test_what_is_no_position_id(text, says):
    with pytest.raises(NotationError, match=says):
        decode_position_id(text)


def test_positions_that_cannot_stand_are_position_errors_too():
    both = [0] * 26, [0] * 26
    both[0][5] = both[1][20] = 1
    shut = [0] * 26
    shut[25], shut[0] = 1, 2
    for point in range(1, 7):
        shut[point] = 2
    for mover, opponent, says in ((both[0], both[1], "both players hold"), (shut, shut, "closed boards")):
        with pytest.raises(NotationError, match=says) as error:
            decode_position_id(encode_position_id(mover, opponent))
        assert isinstance(error.value, PositionError)
    with pytest.raises(NotationError, match="3 a side") as error:
        decode_position_id(STANDARD, "hypergammon")
    assert isinstance(error.value, PositionError)
    with pytest.raises(NotationError, match="room for 30"):
        encode_position_id([0] * 25 + [16], [0] * 25 + [15])


MATCH_FIELDS = (
    (
        "QYkqASAAIAAA",
        {"cube_log2": 1, "owner": 0, "move": 1, "turn": 1, "die1": 5, "die2": 2, "length": 9, "score0": 2, "score1": 4},
    ),
    (
        "MIHlAEAAAAAA",
        {"cube_log2": 0, "owner": None, "move": 0, "die1": 3, "die2": 1, "length": 7, "score0": 4, "no_jacoby": 0},
    ),
    ("MAHyACAACAAE", {"die1": 4, "die2": 4, "length": 7, "score0": 2, "score1": 1, "no_jacoby": 1, "state": 1}),
    (
        "8IhuACAACAAE",
        {"crawford": 1, "state": 0, "turn": 1, "move": 1, "die1": 5, "die2": 3, "length": 3, "score0": 2, "score1": 1},
    ),
    ("AQGqAAAAAAAE", {"cube_log2": 1, "owner": 0, "move": 0, "die1": 4, "die2": 2, "length": 5}),
    ("UQmqAAAAAAAE", {"cube_log2": 1, "owner": 1, "move": 1, "die1": 4, "die2": 2, "length": 5}),
)


@pytest.mark.parametrize(("text", "fields"), MATCH_FIELDS)
def test_match_id_fields(text, fields):
    got = decode_match_id(text)
    assert {name: getattr(got, name) for name in fields} == fields
    assert encode_match_id(got) == text
    states, in_force = read_ids(STANDARD, text)
    assert in_force.match_length == got.length
    assert states[0]["score"].tolist() == [got.score0, got.score1]
    assert states[0]["crawford"] == got.crawford


def made(**fields):
    return encode_match_id(MatchId(**fields))


@pytest.mark.parametrize(
    ("match", "says"),
    [
        ("cAkAAAAAAAA", "12 characters"),
        ("cAkAAAAAAAA=", "'='"),
        ("////////////", "beyond its end"),
        (made(die1=7, die2=1), "two from 1 to 6"),
        (made(die1=0, die2=1), "two from 1 to 6"),
        (made(state=7), "0 to 4"),
        (made(owner=2), "owner"),
        (made(resign=1), "resignation waits"),
        (made(double=1, turn=0, move=0), "beaver"),
        (made(double=1, turn=1, die1=3, die2=1), "after the dice"),
        (made(turn=1), "no double waits"),
        (made(state=2), "nobody has borne off"),
        (made(crawford=1), "money play has no Crawford"),
        (made(length=5, crawford=1), "exactly one player"),
        (made(length=5, score0=5), "ends a match"),
        (made(length=5, score0=4, crawford=1, double=1, turn=1), "may not double"),
        (made(cube_log2=1, owner=1, double=1, turn=1), "may not double"),
    ],
)
def test_what_is_no_match_id(match, says):
    with pytest.raises(NotationError, match=says):
        read_ids(STANDARD, match)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "10 fields"),
        (f"{START}:0:0:1:00:0:0:0", "10 fields"),
        (f"{START}:0:0:1:00:0:0:0:0:10:0", "10 fields"),
        (f"{START[:-1]}:0:0:1:00:0:0:0:0:10", "field 1"),
        (f"{START[:-1]}?:0:0:1:00:0:0:0:0:10", "field 1"),
        (f"{START}:16:0:1:00:0:0:0:0:10", "field 2"),
        (f"{START}:0:2:1:00:0:0:0:0:10", "field 3"),
        (f"{START}:0:0:0:00:0:0:0:0:10", "field 4"),
        (f"{START}:0:0:1:07:0:0:0:0:10", "field 5"),
        (f"{START}:0:0:1:10:0:0:0:0:10", "field 5"),
        (f"{START}:0:0:1:\u0663\u0663:0:0:0:0:10", "field 5"),
        (f"{START}:0:0:1:00:-1:0:0:0:10", "field 6"),
        (f"{START}:0:0:1:00:0:\u0661:0:0:10", "field 7"),
        (f"{START}:0:0:1:00:0:0:4:0:10", "field 8"),
        (f"{START}:0:0:1:00:0:0:2:5:10", "field 8"),
        (f"{START}:0:0:1:00:0:0:0:99999:10", "match_length"),
        (f"{START}:0:0:1:00:0:0:0:0:16", "field 10"),
        (f"{START}:4:1:1:00:0:0:0:0:3", "past the highest"),
        (f"{START}:0:0:1:00:5:0:0:5:10", "ends a match"),
        (f"{START}:0:0:1:00:0:0:1:5:10", "exactly one player"),
        (f"{START}:0:0:1:D:0:4:1:5:10", "may not double"),
        (f"{START}:1:-1:1:D:0:0:0:0:10", "may not double"),
        (f"{START}:0:0:1:B:0:0:0:0:10", "allow none"),
        (f"{START}:0:0:1:B:0:0:0:5:10", "beavers belong to money play"),
        (f"{START}:0:0:1:R:0:0:2:0:2", "allow none"),
        ("XGID=-----------------------p--:0:0:1:00:0:0:0:0:10", "16 checkers"),
        ("XGID=A-----------------------b-:0:0:1:00:0:0:0:0:10", "top player's bar"),
        ("XGID=-b------------------------a:0:0:1:00:0:0:0:0:10", "field 1"),
        ("XGID=-b-----------------------a:0:0:1:00:0:0:0:0:10", "bottom player's bar"),
        ("XGID=--------------------------:0:0:1:00:0:0:0:0:10", "both players have borne off"),
        ("XGID=aBBBBBB------------bbbbbbA:0:0:1:00:0:0:0:0:10", "closed boards"),
    ],
)
def test_what_is_no_xgid(text, says):
    with pytest.raises(NotationError, match=says):
        read_xgid(text)


def test_cube_states_of_xgid():
    """D, B and R: the doubler is on roll, the cube shows what is accepted, and each in turn must answer."""
    for letter, decider in (("D", 0), ("B", 1), ("R", 0)):
        states, in_force = read_xgid(f"{START}:1:1:1:{letter}:0:0:2:0:10")
        s = states[0]
        assert (s["phase"], s["turn"], s["decider"], s["cube"], s["owner"]) == (Phase.TAKE_OR_DROP, 1, decider, 1, 1)
        assert write_xgid(states, 0, in_force) == f"{START}:1:1:1:{letter}:0:0:2:0:10"
        if letter != "D":
            with pytest.raises(NotationError, match="beaver"):
                write_match_id(states, 0, in_force)
    doubled = made(double=1, move=1, turn=0)
    states, in_force = read_ids(STANDARD, doubled)
    assert (states[0]["phase"], states[0]["decider"]) == (Phase.TAKE_OR_DROP, 0)
    assert write_xgid(states, 0, in_force) == f"{START}:0:0:1:D:0:0:0:0:6"
    assert write_match_id(states, 0, in_force) == doubled


def test_finished_games():
    """Borne off, dropped, resigned: an id of a finished game reads as OVER, seen by the winner."""
    letters = ["-"] * 26
    letters[24] = "o"  # the top player's 15 on its own ace point: a gammon for the bottom player, who is off
    text = f"XGID={''.join(letters)}:1:-1:1:00:0:0:0:0:10"
    states, in_force = read_xgid(text)
    assert (states[0]["phase"], states[0]["winner"], states[0]["level"], states[0]["won"]) == (Phase.OVER, 1, 2, 4)
    assert write_xgid(states, 0, in_force) == text
    match = write_match_id(states, 0, in_force)
    assert decode_match_id(match).state == gnubg_ids.OVER
    assert held(read_ids(write_position_id(states, 0), match)[0]) == held(states)
    for fields, level in (({"state": gnubg_ids.DROPPED}, 1), ({"state": gnubg_ids.RESIGNED, "resign": 3}, 3)):
        gone = made(cube_log2=1, owner=0, move=1, turn=0, **fields)
        states, in_force = read_ids(STANDARD, gone)
        assert (states[0]["phase"], states[0]["winner"], states[0]["won"]) == (Phase.OVER, 1, 2 * level)
        assert write_match_id(states, 0, in_force) == gone
        with pytest.raises(NotationError, match="drop or a resignation"):
            write_xgid(states, 0, in_force)


def test_dice_that_cannot_be_played_pass_at_once():
    states, _ = read_xgid("XGID=aBBBBBB-------A-----------:0:0:-1:65:0:0:0:0:10")
    assert (states[0]["turn"], states[0]["phase"]) == (1, Phase.ROLL_OR_DOUBLE)


def test_settings_in_force_must_not_be_contradicted():
    money, match = Settings(jacoby=True), Settings(match_length=7, allow_dead_cube=True)
    states, in_force = read_xgid(f"{START}:0:0:1:31:0:0:1:0:10", settings=money)
    assert in_force is money
    states, in_force = read_ids(STANDARD, "cAn3AAAAAAAE", settings=match)
    assert (in_force, states[0]["dice"].tolist()) == (match, [6, 5])
    for text, settings_in_force, says in (
        (f"{START}:0:0:1:31:0:0:0:0:10", money, "jacoby=False"),
        (f"{START}:0:0:1:31:0:0:0:5:10", match, "match_length=5"),
        (f"{START}:0:0:1:31:0:0:0:5:10", money, "match_length=5"),
        (f"{START}:4:1:1:31:0:0:1:0:10", money.but(cube_cap=8), "past the highest"),
        (f"{START}:0:0:1:B:0:0:1:0:10", money, "allow none"),
    ):
        with pytest.raises(NotationError, match=says):
            read_xgid(text, settings=settings_in_force)


@pytest.mark.parametrize("text", [None, 5, b"4HPwATDgc/ABMA", "", "4HPwATDgc/ABMA:", "cAkAAAAAAAAE", "a:b:c", ":" * 9, "XGID"])
def test_what_is_no_id_at_all(text):
    with pytest.raises(NotationError):
        read_position(text)


def test_states_that_no_id_can_hold():
    states = np.zeros(1, STATE)
    for phase, stage, left, says in (
        (Phase.OPENING, 0, (0, 0), "opening throw"),
        (Phase.CHOOSE_DOUBLE, 1, (0, 0), "1-2"),
        (Phase.CHECKER, STAGE_DOUBLE, (4, 0), "1-2"),
        (Phase.CHECKER, 0, (3, 0), "partly played"),
        (Phase.CHECKER, 0, (1, 0), "partly played"),
    ):
        states[0]["phase"], states[0]["stage"], states[0]["left"] = phase, stage, left
        states[0]["dice"] = (6, 6) if left[0] > 1 else (6, 5)
        for write in (write_xgid, write_match_id):
            with pytest.raises(NotationError, match=says):
                write(states, 0, Settings())


def only_notation_error(function, *args):
    try:
        function(*args)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - the message is looked at, the kind is what `except` is for
        return False
    return True


@settings(max_examples=3_000, deadline=None)
@given(st.binary(min_size=10, max_size=10), st.binary(min_size=9, max_size=9), st.sampled_from(list(VARIANTS)))
@example(b"\xff" * 10, b"\xff" * 9, "hypergammon")
def test_any_bits_as_ids(position, match, variant):
    """Whatever the bits: a game that is written as the same id again, or a NotationError."""
    texts = [base64.b64encode(key).decode().rstrip("=") for key in (position, match)]
    only_notation_error(decode_position_id, texts[0], variant)
    match_bits = base64.b64encode((int.from_bytes(match, "little") & ((1 << 67) - 1)).to_bytes(9, "little")).decode()
    only_notation_error(read_ids, STANDARD, match_bits)
    only_notation_error(read_ids, texts[0], texts[1], variant)


FIELD = st.one_of(
    st.sampled_from(["0", "1", "-1", "2", "3", "5", "10", "00", "66", "D", "B", "R", "99999"]), st.text(max_size=3)
)
LETTERS = st.one_of(
    st.just(START[5:]),
    st.text("-----------abcABC", min_size=26, max_size=26),
    st.text(max_size=30),
)


@settings(max_examples=5_000, deadline=None)
@given(LETTERS, st.lists(FIELD, min_size=8, max_size=10), st.sampled_from(list(VARIANTS)))
def test_any_text_as_xgid(letters, fields, variant):
    text = ":".join(["XGID=" + letters, *fields])
    only_notation_error(read_xgid, text, variant)
    only_notation_error(read_position, text, variant)


@settings(max_examples=5_000, deadline=None)
@given(st.text(max_size=90))
def test_any_text_as_any_id(text):
    only_notation_error(read_position, text)


@pytest.mark.parametrize("text", ["/" * 14, "4HPwATDgc/ABMB", "AAAAAAAAAAAAAP"])
def test_only_an_id_that_can_be_read_is_suggested(text):
    with pytest.raises(NotationError, match="beyond its end") as raised:
        decode_position_id(text)
    suggested = re.search(r"without them it is '(.*)'", str(raised.value))
    assert (suggested is None) == (text != "4HPwATDgc/ABMB")  # the others would have 80 checkers and none
    if suggested:
        decode_position_id(suggested[1])
