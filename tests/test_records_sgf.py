"""GNU Backgammon's .sgf: the grammar of the format, what its properties mean, and what is wrong with a record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bg_env.errors import NotationError
from bg_env.records import parse_records, read_mat, read_sgf, replay, replay_settings, write_sgf
from bg_env.rules import VARIANTS

ROOT = "(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07.001]MI[length:{length}][game:0][ws:{ws}][bs:{bs}]PW[Ann]PB[Bob]{more}"
OPENING = ";W[31heFE];B[63abcd]".replace("heFE", "hefe").replace("abcd", "aglo")


def sgf(nodes=OPENING, more="", length=0, ws=0, bs=0):
    return ROOT.format(length=length, more=more, ws=ws, bs=bs) + nodes + ")"


def faults(*args, **more):
    return [str(fault) for fault in replay(read_sgf(sgf(*args, **more))).faults]


def test_letters():
    """White's own points are a to x; Black's are counted from the other side; y is the bar, z off."""
    record = read_sgf(sgf(";W[31hefe];B[63aglo];W[66];B[52yt]"))
    assert [(e.player, e.dice, e.text) for e in record.games[0].entries] == [
        (0, (3, 1), "8/5 6/5"),
        (1, (6, 3), "24/18 13/10"),
        (0, (6, 6), ""),
        (1, (5, 2), "25/5"),
    ]
    assert record.players == ("Ann", "Bob")


def test_the_grammar():
    plain = read_sgf(sgf())
    for other in (
        "\n " + sgf().replace(";", "\n;").replace("]", "] ") + "\n\n",
        "\ufeff" + sgf(),
        sgf(OPENING.replace("W[", "C[a \\] remark (;with) all [signs \\\\]W[")),
        sgf(";W[31hefe](;B[63aglo])(;B[63abcd];W[11])((;B[12]))"),  # variations after the first are passed over
        sgf(";W[31hefe]A[][E ver 3 .5]DA[E x]MR[];B[63aglo]"),
        sgf(";White[31hefe];Black[63aglo]"),  # FF[3] wrote small letters into names
    ):
        assert read_sgf(other) == plain, other
    named = read_sgf(sgf().replace("PW[Ann]", "PW[A\\]n\\\\n\\:\\\n]"))
    assert named.players[0] == "A]n\\n:"
    again = read_sgf(write_sgf(replace(named, players=("]", "\\ :\n x"))))
    assert again.players == ("]", "\\ : x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not begin"),
        ("hello", "line 1: 'hello' stands outside of"),
        ("(;GM[6];\n\n[6])", "line 3: the value '6' belongs"),
        ("hel[lo", "outside of"),
        ("(;GM[6]7)", "stands where"),
        ("(", "missing at the end"),
        ("()", "does not begin"),
        ("(;GM[6]", "missing at the end"),
        ("(;GM[6]))", "outside of"),
        (")", "outside of"),
        (";GM[6]", "outside of"),
        ("GM[6]", "outside of"),
        ("(GM[6])", "outside of"),
        ("(;[6])", "belongs to no property"),
        ("(;GM[6)", "stands where"),
        ("(;GM[6\\])", "stands where"),
        ("(;GM[1])", "GM is not 6"),
        ("(;GM[6]VARIANT[chess])", "VARIANT 'chess' is unknown"),
        ("(;GM[6]RU[Hypergammon7])", "Hypergammon1, 2 or 3"),
        ("(" * 5000, "missing at the end"),
    ],
)
def test_what_is_no_sgf(text, says):
    with pytest.raises(NotationError, match=says):
        read_sgf(text)


def test_rules_in_force():
    for rules, jacoby, crawford, cube in (
        ("", False, False, True),
        ("RU[Jacoby]", True, False, True),
        ("RU[Crawford:CrawfordGame]", False, True, True),
        ("RU[Jacoby][NoCube]", True, False, False),
    ):
        record = read_sgf(sgf(more=rules))
        assert (record.jacoby, record.crawford, record.cube) == (jacoby, crawford, cube)
        assert record.games[0].crawford == ("Game" in rules)
    for rules, variant in (
        ("RU[Nackgammon]", "nackgammon_ballard"),
        ("RU[Hypergammon3]", "hypergammon"),
        ("VARIANT[nackgammon]", "nackgammon"),
        ("VARIANT[longgammon]", "longgammon"),
    ):
        record = read_sgf(sgf("", more=rules))
        assert record.variant == VARIANTS[variant]
        assert read_sgf(write_sgf(record)) == record
    one = read_sgf(sgf("", more="RU[Hypergammon1]"))
    assert (one.variant.checkers, one.variant.start[24]) == (1, 1)
    assert read_sgf(write_sgf(one)).variant == one.variant


TURN = OPENING + ";W[double];B[take]"


@pytest.mark.parametrize(
    ("nodes", "more", "length", "says"),
    [
        (OPENING, "", 0, None),
        ("", "", 0, None),
        (OPENING + ";W[double];B[drop]", "RE[W+1]", 0, None),
        (OPENING + ";W[double];B[drop]", "RE[W+2]", 0, "move 4: the award is 2 points, but player_0 has won 1"),
        (OPENING + ";W[double];B[drop]", "RE[B+1]", 0, "move 4: player_1 is said to win, but player_0 has won"),
        (OPENING + ";W[double];B[drop]", "RE[W+2]CV[2]", 0, None),
        (OPENING + ";W[double];B[drop]", "RE[W+2]CV[3]", 0, "move 0: this cannot be read: CV[3]"),
        (
            OPENING + ";W[double];B[drop]",
            "RE[W+2]CV[2]",
            5,
            "move 0: the game begins with the cube at 2, but automatic doubles",
        ),
        (OPENING + ";W[double];B[drop]", "RE[someone]", 0, "move 4: this cannot be read: RE[someone]"),
        (TURN, "RE[W+4R]", 0, None),
        (TURN, "RE[W+5R]", 0, "move 4: the award is 5 points, but player_0 can win by a resignation 2 or 4 or 6"),
        (TURN, "RE[W+5R]", 5, None),  # 6 cut to 5
        (OPENING, "RE[W+4R]RU[Jacoby]", 0, "move 2: the award is 4 points, but player_0 can win by a resignation 1"),
        (OPENING + ";W[double];B[double];W[double];B[take]", "", 0, None),
        (OPENING + ";W[double];B[double]", "", 7, "move 4: beaver is illegal: beavers are not in force"),
        (OPENING + ";W[double]", "RU[NoCube]", 0, "move 3: a double, but no cube is in play"),
        (OPENING + ";W[double]", "RU[Crawford:CrawfordGame]", 1, "move 0: no game is Crawford"),
        (OPENING + ";W[61hghi]", "", 0, "move 3: this cannot be read: W[61hghi]"),
        (OPENING + ";B[31hefe]", "", 0, "move 3: this cannot be read: B[31hefe]"),
        (OPENING + ";W[61]", "", 0, None),
        (OPENING + ";W[61];B[11]", "", 0, "move 3: no play of 61 is written"),
        (OPENING + ";W[07]", "", 0, "move 3: this cannot be read: W[07]"),
        (OPENING + ";W[31zz]", "", 0, "move 3: this cannot be read: W[31zz]"),
        (OPENING + ";AE[a:y]AW[a]AB[a]", "", 0, "move 0: this cannot be read: a saved position: both players hold"),
        (OPENING + ";W[63abcd];AE[a:y]AW[a]", "", 0, "move 3: this cannot be read: W[63abcd]"),
        (OPENING + ";CV[3]", "", 0, "move 0: this cannot be read: CV[3] sets up nothing that is known"),
        (OPENING + ";PL[X]DI[61]", "", 0, "move 0: this cannot be read: PL[X] sets up nothing that is known"),
        (OPENING + ";DI[07]", "", 0, "move 0: this cannot be read: DI[07] sets up nothing that is known"),
        (";AW[ab]PL[W]", "", 0, "move 0: this cannot be read: AW[ab] sets up nothing that is known"),
        (";CV[2];CP[w]", "", 0, "move 0: this cannot be read: a saved position does not say who is on roll (PL)"),
        (OPENING + ";W[21fdeb];W[21fdeb]", "", 0, "move 3: 6/4 5/2 with 21: 2-1 cannot be shared"),
        (OPENING + ";W[21xwxv];W[21mlmk]", "", 0, "move 4: player_0 is out of turn: player_1 is due"),
    ],
)
def test_what_is_wrong_with_a_game(nodes, more, length, says):
    found = faults(nodes, more=more, length=length)
    if says is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"game 1 {says}"), found


def test_a_cube_that_is_set_within_a_game():
    """GNU Backgammon lets a user do that; the game goes on from there, and what was before is left out."""
    sound = read_sgf(sgf(OPENING + ";W[double];B[take];CV[8];CP[b];W[61mghg];B[double];W[drop]", more="RE[B+8]"))
    checked = replay(sound)
    assert checked.faults == ()
    assert [note.what for note in checked.notes] == [
        "a position is set up here; the moves before it are left out",
        "the game begins with a saved position",
    ]
    assert checked.states["cube"].tolist()[:2] == [3, 3]
    text = sgf(OPENING + ";W[double];CV[4]")
    assert replay(read_sgf(text)).faults == ()
    assert read_sgf(write_sgf(sound)).games[0].start == sound.games[0].start.removeprefix("XGID=")


def test_score_and_crawford_as_they_are_said():
    assert faults(OPENING + ";W[double]", more="RU[Crawford:CrawfordGame]", length=5, ws=4) == [
        "game 1 move 3: a double in the Crawford game (R9.2)"
    ]
    assert faults(OPENING + ";W[double]", more="RU[Crawford]", length=5, ws=4) == []
    assert faults(more="RU[Crawford:CrawfordGame]", length=5, ws=3)[0].startswith(
        "game 1 move 0: the Crawford game has exactly one"
    )
    two = sgf(OPENING + ";W[double];B[drop]", more="RE[W+1]") + sgf(ws=2)
    assert [str(f) for f in replay(read_sgf(two)).faults] == ["game 2 move 0: the score is said to be 2-0, but it is 1-0"]


def test_the_running_score_may_leave_automatic_doubles_out():
    """GNU Backgammon counts the award in full in RE and without the initial cube in the next MI."""
    first = sgf(OPENING + ";W[double];B[drop]", more="CV[4]RE[W+4]")
    for points, right in ((4, True), (1, True), (2, False)):
        assert (replay(read_sgf(first + sgf(ws=points))).faults == ()) == right


def test_formats_are_told_apart():
    assert parse_records("  " + sgf())[0].players == ("Ann", "Bob")
    assert parse_records(" 7 point match\n\n Game 1\n A : 0    B : 0\n")[0].length == 7
    with pytest.raises(NotationError, match="not a JSON object"):
        parse_records("{")


@pytest.mark.parametrize("info", ["length:-3", "ws:-1", "bs:-2", "length:many", "ws:12345678901", "bs:"])
def test_match_information_that_is_no_number(info):
    name = info.split(":")[0]
    text = sgf().replace(f"[{name}:0]", f"[{info}]")
    (fault,) = replay(read_sgf(text)).faults
    assert str(fault) == f"game 1 move 0: this cannot be read: MI[{info}], a number of points from 0 on"


def test_trees_of_other_games_are_left_out():
    other = "(;GM[1]PW[Ann]PB[Bob];W[31])"
    for text, number in ((sgf() + other, 2), (other + sgf(), 1)):
        record = read_sgf(text)
        assert record.games == read_sgf(sgf()).games
        assert [note.what for note in record.notes] == [f"tree {number} of 2 in the file is left out: its GM is '1', not 6"]
    with pytest.raises(NotationError, match="GM is not 6"):
        read_sgf(other + other)


def test_names_of_properties_without_capitals():
    record = read_sgf("(;gm[6]pw[Ann]pb[Bob];w[31hefe];b[63aglo])")
    assert record.players == ("Ann", "Bob")
    assert record.games == read_sgf(sgf()).games
    with pytest.raises(NotationError, match="GM is not 6"):
        read_sgf("(;gm[1])")
    assert read_sgf("(;GM[6]DT)").headers == {}


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        (";AE[y:a]AW[f]AB[t]PL[W]", "AE[y:a] sets up nothing that is known"),
        (";AE[a:y]AW[f:b]AB[t]PL[W]", "AW[f:b] sets up nothing that is known"),
        (";AE[a:y]AW" + "[f]" * 16 + "AB[t]PL[W]", "White has 16 checkers, and there are 15 a side"),
        (";AE[a:y]AW[f]AB" + "[t]" * 17 + "PL[W]", "Black has 17 checkers, and there are 15 a side"),
    ],
)
def test_what_sets_up_nothing(nodes, says):
    assert faults(nodes) == [f"game 1 move 0: this cannot be read: {says}"]


@pytest.mark.parametrize("points", [2, 3])
def test_a_gammon_given_up_under_jacoby(points):
    """GNU Backgammon awards it in full, and writes Jacoby in one of its formats."""
    text = " 0 point match\n\n Game 1\n Ann : 0                      Bob : 0\n"
    text += f"  1) 31: 8/5 6/5                63: 24/18 13/10\n      Wins {points} points\n"
    written = read_sgf(sgf(more=f"RE[W+{points}R]RU[Jacoby]"))
    for record in (written, read_sgf(write_sgf(written)), read_mat('; [Jacoby "On"]\n' + text)):
        checked = replay(record)
        assert checked.faults == ()
        assert checked.notes[-1].what.endswith("counts in full although Jacoby is played")
    assert replay(read_mat(text)).faults == ()
    assert replay(replace(written, settings=replay_settings(written))).faults  # in a game played here it never does
