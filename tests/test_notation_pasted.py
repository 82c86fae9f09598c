"""Ids in pasted text and URLs, XGIDs with nine fields, OGIDs, and ids on the command line."""

from __future__ import annotations

import json
from urllib.parse import quote

import numpy as np
import pytest
from cli_run import run
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import many

from bg_env import Game, backgammon_v0
from bg_env.errors import NotationError
from bg_env.notation import read_position
from bg_env.notation.gnubg_ids import RESIGNED, MatchId, encode_match_id, read_ids, write_match_id, write_position_id
from bg_env.notation.ogid import read_ogid, write_ogid
from bg_env.notation.xgid import read_xgid, write_xgid
from bg_env.rules import OFF, STATE, Phase, Settings

START = "-b----E-C---eE---c-e----B-"
XGID = f"XGID={START}:0:0:1:31:2:1:0:7:10"
IDS = "4HPwATDgc/ABMA", "cInlABAAEAAE"
WHITE, BLACK = "11ccccchhhjjjjj", "66666888dddddoo"

XG_TEXT = f"""{XGID}

X:Ann   O:Bob
Score is X:2 O:1 7 pt.(s) match.
 +13-14-15-16-17-18------19-20-21-22-23-24-+
Pip count  X: 167  O: 167 X-O: 2-1/7
X to play 31

    1. XG Roller+  8/5 6/5                      eq:+0.159
      Player:   55.00% (G:16.00% B:0.90%)
"""
GNUBG_TEXT = f""" GNU Backgammon  Position ID: {IDS[0]}
                 Match ID   : {IDS[1]}
 +13-14-15-16-17-18------19-20-21-22-23-24-+     O: Bob
"""
BGBLITZ_TEXT = f"""Bob - Ann to 7
Position-ID: {IDS[0]} Match-ID: {IDS[1]}
{XGID}
Evaluation
"""


def same(text):
    """The state of an id in a text is that of the plain XGID."""
    return read_position(text)[0].tobytes() == read_xgid(XGID)[0].tobytes()


@pytest.mark.parametrize(
    "text",
    [
        XG_TEXT,
        GNUBG_TEXT,
        BGBLITZ_TEXT,
        XG_TEXT.replace("\n", "\r\n"),
        f"See {XGID}, which is a blunder.",
        f"({XGID})",
        f'"{XGID}"',
        f"xgid: {XGID[5:]}",
        XGID[5:],
        f"https://example.org/board?xgid={XGID[5:]}&theme=dark#top",
        f"https://example.org/?XGID%3D{quote(XGID[5:], safe='')}",
        f"https://example.org/{XGID}",
        f"{XGID}\n{XGID}",
        "GNUBGID {}:{}".format(*IDS),
        "GNUID: {}:{}".format(*IDS),
        "GNUBGID={}:{}".format(*IDS),
        "Position ID: {} Match ID: {}".format(*IDS),
        "position id {}\tmatch id={}".format(*IDS),
        "https://example.org/?id={}".format(quote(":".join(IDS), safe="")),
        "https://example.org/{}:{}".format(*IDS),
    ],
)
def test_an_id_anywhere_in_a_text(text):
    assert same(text)


@pytest.mark.parametrize("label", ["", "GNUBGID ", "GNUID: ", "Position ID: ", "GNU Backgammon  Position ID: ", "posid "])
def test_a_position_id_with_labels(label):
    text = f"{label}{IDS[0]}"
    if label == "posid ":
        with pytest.raises(NotationError, match="is not an id"):
            read_position(text)
    else:
        assert write_position_id(read_position(text)[0], 0) == IDS[0]


def test_different_ids_in_one_text():
    with pytest.raises(NotationError, match="2 different XGIDs"):
        read_position(f"{XGID}\n{XGID.replace(':31:', ':42:')}")
    with pytest.raises(NotationError, match="2 different position ids"):
        read_position(f"Position ID: {IDS[0]}\nPosition ID: sGfwATDgc/ABMA")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("XGID=-b----E-C---eE---c-e----B:0:0:1:31:2:1:0:7:10", "field 1"),
        (f"see XGID={START}:0:0:1:38:2:1:0:7:10 there", "field 5"),
        (f"OGID={WHITE}:{BLACK}:X0N::B", "field 3"),
        ("a text without any id in it", "not an id"),
        ("x" * 2_000_000, "at most"),
    ],
)
def test_a_text_with_a_wrong_id(text, says):
    with pytest.raises(NotationError, match=says) as error:
        read_position(text)
    assert len(str(error.value)) < 300


@settings(max_examples=600, deadline=None)
@given(st.text("-abcDE:019 XGIDo=%2F3AN/\n", max_size=200))
def test_any_text_is_an_id_or_a_notation_error(text):
    try:
        read_position(text)
    except NotationError as error:
        assert "\n" not in str(error)  # noqa: PT017 - the message is looked at


@pytest.mark.parametrize(
    ("fields", "cap"),
    [
        ("0:0:1:31:0:0:0:7", 64),
        ("6:1:1:31:0:0:0:0", 64),
        ("7:1:1:31:0:0:0:0", None),
        ("6:0:1:D:0:0:0:0", None),
        ("1:1:1:00:0:0:0:0:0", None),
        ("0:0:1:D:0:0:0:0:0", None),
        ("1:1:1:00:0:0:0:0:3", 8),
    ],
)
def test_the_highest_cube_where_the_last_field_is_absent_or_0(fields, cap):
    states, in_force = read_xgid(f"XGID={START}:{fields}")
    assert (in_force.cube, in_force.cube_cap) == (True, cap)
    again, settings_again = read_xgid(write_xgid(states, 0, in_force))
    assert (again.tobytes(), settings_again) == (states.tobytes(), in_force)


def test_a_centred_cube_with_a_last_field_of_0_is_off():
    assert read_xgid(f"XGID={START}:0:0:1:00:0:0:0:0:0")[1].cube_cap == 1


def test_match_ids_of_a_cube_at_64_under_a_higher_cap():
    for cap in (128, 1024, None):
        for owner, phase in ((1, Phase.ROLL_OR_DOUBLE), (0, Phase.ROLL)):
            in_force = Settings(cube_cap=cap)
            states, _ = read_xgid(f"XGID={START}:6:{2 * owner - 1}:1:00:0:0:0:0:10", settings=in_force)
            assert states[0]["phase"] == phase
            text = write_match_id(states, 0, in_force)
            read, _ = read_ids(IDS[0], text, settings=in_force)
            assert read.tobytes() == states.tobytes()
            game = Game.from_states(states, in_force)
            assert (game.match_id, game.ogid.split(":")[2]) == (text, f"{'WB'[owner]}6N")
    capped, _ = read_xgid(f"XGID={START}:6:1:1:00:0:0:0:0:10", settings=Settings())
    assert capped[0]["phase"] == Phase.ROLL
    assert read_ids(IDS[0], write_match_id(capped, 0, Settings()))[0].tobytes() == capped.tobytes()
    low = Settings(cube_cap=8)
    states, _ = read_xgid(f"XGID={START}:3:1:1:00:0:0:0:0:3", settings=low)
    with pytest.raises(NotationError, match="no double is possible"):
        write_match_id(states, 0, low)


# an OGID as OpenGammon's codec writes it, and the XGID of the same game
OGIDS = (
    (f"{WHITE}:{BLACK}:N0N:25:W:IB:0:0:5:0", f"{START}:0:0:1:52:0:0:0:5:6"),
    ("11ccccchhhjjjjj:666668888bdddoo:N0N::B:C:0:0:5:1", "-b----E-D--AeC---c-e----B-:0:0:-1:00:0:0:0:5:6"),
    ("11ccccchhhjjjjj:666668888bdddoo:N0O::W:D:0:0:5:1", "-b----E-D--AeC---c-e----B-:0:0:-1:D:0:0:0:5:6"),
    ("11ccccchhhjjjjj:666668888bdddoo:B1T::B:A:0:0:5:1", "-b----E-D--AeC---c-e----B-:1:1:-1:00:0:0:0:5:6"),
    ("jjjkkklllmmnnoo:111222333445566:N0N:63:W:R:0:0:0", "-CCCBBB------------cccbbb-:0:0:1:63:0:0:0:0:6"),
    ("00jjj:ppp66:N0N::W:C:0:0:0", "b-----B------------c-----C:0:0:1:00:0:0:0:0:6"),
    (f"{WHITE}:{BLACK}:N0N::W:C:3:5:7", f"{START}:0:0:1:00:5:3:0:7:6"),
    (f"{WHITE}:{BLACK}:N0N::W:C:3:6:7C:44", f"{START}:0:0:1:00:6:3:1:7:6"),
    (f"{WHITE}:{BLACK}:N0N::W:C:3:6:7L", f"{START}:0:0:1:00:6:3:0:7:6"),
    (f"{WHITE}:{BLACK}:W1N::B:C:0:0:0:0:15", f"{START}:1:-1:-1:00:0:0:0:0:6"),
    (f"{WHITE}:{BLACK}:N0N::W:IW:0:0:0:0", f"{START}:0:0:-1:00:0:0:0:0:6"),
    (f"{WHITE}:{BLACK}:N0N", f"{START}:0:0:-1:00:0:0:0:0:6"),
    (f"{WHITE}:{BLACK}:N0N:::IW:::1C", f"{START}:0:0:-1:00:0:0:0:1:6"),
)


@pytest.mark.parametrize(("ogid", "xgid"), OGIDS)
def test_ogids_and_the_xgid_of_the_same_game(ogid, xgid):
    for text in (ogid, f"OGID={ogid}", f"https://example.org/?id={quote(ogid, safe='')}", f"see {ogid} there"):
        states, in_force = read_position(text)
        assert write_xgid(states, 0, in_force) == f"XGID={xgid}"


def test_ogids_are_fixed_points_of_random_states():
    held = 0
    for in_force, states in many(1_500):
        try:
            text = write_ogid(states, 0, in_force)
        except NotationError:
            continue
        read, made = read_ogid(text, in_force.variant)
        if in_force.cube and in_force.cap_log2 > made.cap_log2:
            read, _ = read_ogid(text, settings=made.but(cube_cap=in_force.cube_cap))
        names = ["phase", "decider", "cube", "owner", "chain", "points", "score", "crawford"]
        for name in names + ["winner", "won"] * int(states[0]["phase"] == Phase.OVER):
            assert read[0][name].tolist() == states[0][name].tolist(), (name, text)
        assert sorted(read[0]["dice"]) == sorted(states[0]["dice"])
        held += 1
    assert held > 500


def test_an_ogid_of_a_finished_game():
    dropped, in_force = read_ogid(f"{WHITE}:{BLACK}:N0P::B:G:0:0:5:1")
    assert (dropped[0]["phase"], dropped[0]["winner"], dropped[0]["won"]) == (Phase.OVER, 0, 1)
    assert write_ogid(dropped, 0, in_force) == f"{WHITE}:{BLACK}:N0P::B:G:0:0:5:0"
    off, _ = read_ogid("oooo::N1N::B:G:0:0:0")
    assert (off[0]["winner"], off[0]["points"][1, OFF]) == (1, 15)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "3 to 11 fields"),
        (f"{WHITE}z:{BLACK}:N0N::B:C", "field 1"),
        (f"{WHITE}:{BLACK}:N16N::B:C", "field 3"),
        (f"{WHITE}:{BLACK}:N0N:07:B:C", "field 4"),
        (f"{WHITE}:{BLACK}:N0N::X:C", "field 5"),
        (f"{WHITE}:{BLACK}:N0N::B:C:1:2:7X", "field 9"),
        (f"{WHITE}:{BLACK}:N0N::B:C:0:0:0:0:3", "3 checkers a side"),
        (f"{WHITE}1:{BLACK}:N0N::B:C", "16 checkers"),
        (f"p{WHITE[1:]}:{BLACK}:N0N::B:C", "Black player's bar"),
        (f"{WHITE}:0{BLACK[1:]}:N0N::B:C", "White player's bar"),
        (f"{WHITE}:{BLACK}:N0N::B:G", "nobody has borne off"),
        (f"{WHITE}:{BLACK}:N0N::B:RG", "resignation"),
        (f"{WHITE}:{BLACK}:D1N::B:C", "dead cube"),
        (f"{WHITE}:{BLACK}:B1O::W:D", "may not double"),
        (f"{WHITE}:6{BLACK[1:-1]}1:N0N::B:C", "both players hold"),
        (None, "text"),
    ],
)
def test_what_is_no_ogid(text, says):
    with pytest.raises(NotationError, match=says):
        read_ogid(text)


def test_states_that_no_ogid_holds():
    beaver, in_force = read_xgid(f"XGID={START}:0:0:1:B:0:0:2:0:10")
    with pytest.raises(NotationError, match="beaver"):
        write_ogid(beaver, 0, in_force)
    with pytest.raises(NotationError, match="opening throw"):
        write_ogid(np.zeros(1, STATE), 0, Settings())
    resigned, in_force = read_ids(IDS[0], encode_match_id(MatchId(cube_log2=1, owner=0, move=1, state=RESIGNED, resign=3)))
    with pytest.raises(NotationError, match="resignation"):
        write_ogid(resigned, 0, in_force)


@pytest.mark.parametrize("command", [["show", "--ascii"], ["show", "--json"], ["plays"]])
def test_an_id_that_begins_with_a_dash_is_an_argument(command):
    name, *options = command
    texts = [XGID, XGID[5:], f"- the position: {XGID}"]
    shown = [run(name, text, *options) for text in texts] + [run(name, *options, text) for text in texts]
    assert {one.exit_code for one in shown} == {0}
    assert len({one.output for one in shown}) == 1
    assert "bar" in run("show", "--p-abcdefghijklmnopqrstuv:0:0:1:31:0:0:0:0").output
    assert "No such option" in run("show", XGID, "--no-such-option").output


def test_show_json_holds_the_position_and_its_ids():
    facts = json.loads(run("show", XGID, "--json").output)
    game = Game.from_xgid(XGID)
    assert facts["ids"] == {"xgid": game.xgid, "ogid": game.ogid, "position_id": IDS[0], "match_id": IDS[1]}
    assert (facts["dice"], facts["on_roll"], facts["score"], facts["pips"]) == ([3, 1], 1, [1, 2], [167, 167])
    assert facts["points"][1] == {"6": 5, "8": 3, "13": 5, "24": 2}
    beaver = json.loads(run("show", f"{START}:0:0:1:B:0:0:2:0", "--json").output)
    assert (beaver["ids"]["match_id"], beaver["cube"]["offered_to"]) == (None, 1)


def test_an_episode_starts_from_pasted_text():
    env = backgammon_v0.env(match_length=7)
    env.reset(options={"position": XG_TEXT})
    assert env.game.xgid.split(":")[4:7] == ["31", "2", "1"]
