"""The dialects of .mat, and every kind of fault, told at the game and move where it stands."""

from __future__ import annotations

import pytest

from bg_env.errors import NotationError
from bg_env.records import read_mat, replay, replay_files, write_mat

GALAXY = """; [Player 1 "Alpha"]
; [Player 2 "Beta"]
; [Variation "Backgammon"]
; [Crawford "On"]
; [CubeLimit "1024"]

{length} point match

 Game 1
 Alpha : 0                       Beta : 0
{rows}
"""
PLAIN = """ {length} point match

 Game 1
 Alpha : 0                      Beta : 0
{rows}
"""


def faults(rows, length=0, frame=PLAIN, **more):
    record = read_mat(frame.format(length=length, rows=rows, **more))
    return [str(fault) for fault in replay(record).faults]


OPENING = """  1) 31: 8/5 6/5                 63: 24/18 13/10
  2)  Doubles => 2                Drops
"""
TAKEN = """  1) 31: 8/5 6/5                 63: 24/18 13/10
  2)  Doubles => 2                Takes
  3) 54: 13/8 13/9               21: 13/11 6/5
"""


@pytest.mark.parametrize(
    "rows",
    [
        OPENING + "      Wins 1 point",
        OPENING + "      Wins 1 points",
        OPENING + "  3)  Wins 1 point",
        OPENING.replace("  2)  ", "  2) ").replace(" Drops", "Drops") + "   Wins 1 points      ",
        OPENING.replace("Drops", "Passes") + "      Wins 1 point",
        OPENING.replace("31:", "13:").replace("63:", "36:") + "      Wins 1 point",
        OPENING.replace("8/5 6/5", "6/5, 8/5").replace("24/18 13/10", "13/10 24/18") + "      Wins 1 point",
        OPENING,  # unfinished
        "  1) 31: 8/5 6/5                 63:",  # ends with a roll
        "",
        "  1)",
        TAKEN + "      Wins 2 points",  # a resignation that nothing explains
        TAKEN + "  4)  Resigns\n                                 Wins 2 points",
        TAKEN + "  4)  Losses 4 points                                              Wins 4 points",
        TAKEN + "  4) 66:                          Losses 6 points\n      Wins 6 points",  # gives up after a roll
    ],
)
def test_what_is_clean(rows):
    assert faults(rows) == []


def test_money_play_of_galaxy():
    """16 points are money play without end there, with Jacoby, in a file of one game; 17 points are a match anywhere."""
    rows = TAKEN + "      Wins 6 points"
    record = read_mat(GALAXY.format(length=16, rows=rows))
    assert (record.loose, record.length) == (True, 0)
    assert [note.what for note in record.notes] == ["a game of Backgammon Galaxy with 16 points is money play"]
    assert replay(record).faults == ()
    for points in (16, 4016):  # given up, as the server writes it
        given_up = read_mat(GALAXY.format(length=16, rows=TAKEN + f"      Wins {points} points and the match"))
        assert replay(given_up).faults == ()
    named = GALAXY.replace("; [Player 1", '; [Site "Backgammon Galaxy"]\n; [Player 1')
    assert read_mat(named.replace('"1024"', '"64"').format(length=16, rows=rows)).loose
    second = rows + "\n\n Game 2\n Alpha : 6                      Beta : 0\n" + OPENING + "      Wins 1 point"
    for text in (
        GALAXY.format(length=16, rows=second),
        GALAXY.format(length=17, rows=rows),
        GALAXY.format(length=15, rows=rows),
        GALAXY.format(length=16, rows=rows).replace("Alpha : 0", "Alpha : 1"),
        named.replace("Backgammon Galaxy", "Club").format(length=16, rows=rows),
        PLAIN.format(length=16, rows=rows),
    ):
        match = read_mat(text)
        assert match.length in (15, 16, 17)
        assert not match.loose
    crawford = GALAXY.format(length=17, rows=OPENING + "      Wins 1 point").replace("Alpha : 0 ", "Alpha : 16")
    assert [str(f) for f in replay(read_mat(crawford)).faults] == ["game 1 move 2: a double in the Crawford game (R9.2)"]


@pytest.mark.parametrize("line", ["7 point match", " 7-point match", "7 Points Match (Crawford)", "\t7 point match\t"])
def test_the_line_with_the_length(line):
    assert read_mat(PLAIN.format(length=7, rows=OPENING).replace(" 7 point match", line, 1)).length == 7


def test_headings_with_ratings_and_no_headings_at_all():
    text = PLAIN.format(length=7, rows=OPENING + "      Wins 1 point").replace(
        " Alpha : 0                      Beta : 0", " Alpha(1798.45) : 0             Beta B. (1602.00, Exp 4) : 0"
    )
    record = read_mat(text)
    assert record.players == ("Alpha(1798.45)", "Beta B. (1602.00, Exp 4)")
    assert replay(record).faults == ()
    named = read_mat('; [Player 1 "A"]\n; [Player 2 "B"]\n; [Player 1 Elo "1500"]\n\n' + text)
    assert named.players == ("A", "B")
    assert named.headers["Player 1 Elo"] == "1500"


def test_a_play_in_the_wrong_column():
    """A cell alone on its line belongs to the player whose turn it is."""
    rows = """  1)                             31: 8/5 6/5
  2) 63: 24/18 13/10
  3) 54: 13/8 13/9
  4) 21: 13/11 6/5"""
    assert faults(rows) == []
    moments = replay(read_mat(PLAIN.format(length=0, rows=rows))).games[0].moments
    assert [moment.player for moment in moments[1:]] == [1, 0, 1, 0]
    assert faults("  1) 31: 8/5 6/5                 63: 24/18 13/10\n  2)                             54: 13/8 13/9") == []
    beside = "  1)                             31: 8/5 6/5\n  2) 63: 24/18 13/10              54: 13/8 13/9"
    assert faults(beside) == []
    again = """  1) 31: 8/5 6/5                 63: 24/18 13/10
  2)                             54: 13/8 24/20
  3) 21: 13/11 6/5               21: 13/11 6/5"""
    assert faults(again) == ["game 1 move 3: player_0 is out of turn: player_1 is due"]


def test_long_lines_run_into_the_second_column():
    rows = """  1) 31: 8/5 6/5                 66: 24/18 24/18 13/7 13/7
  2) 44: 24/20 24/20 13/9 13/9 21: 13/11 8/7"""
    assert faults(rows) == []


@pytest.mark.parametrize("words", ["Cannot Move", "cannot move", "(no move)", ""])
def test_a_roll_that_cannot_be_played(words):
    rows = f"""  1) 31: 8/5 6/5                 64: 24/14*
  2) 66: {words:<23} 21: 14/12 6/5"""
    rows = rows.replace("24/14*", "24/18 13/9")
    # player 0 is not on the bar here: nothing but a play will do
    assert faults(rows)[0].startswith("game 1 move 2: no play of 66 is written, but ")
    hit = f"""  1) 31: 24/23 13/10             55: 8/3 8/3 6/1* 6/1*
  2) 66: {words:<23} 21: 13/11 6/5"""
    assert faults(hit) == []


def test_beavers_and_raccoons():
    """All are 'Beavers', and nobody writes that the last is accepted; who rolls then is the first doubler."""
    begin = "  1)                             52: 13/8 24/22\n"
    assert faults(begin + "  2)  Doubles => 2                Beavers => 4\n  3) 51: 24/23 13/8              64: 8/2 6/2") == []
    assert (
        faults(
            begin
            + "  2)  Doubles => 2                Beavers => 4\n  3)  Beavers => 8\n  4) 51: 24/23 13/8              64: 8/2 6/2"
        )
        == []
    )
    assert (
        faults(
            begin
            + "  2)  Doubles => 2                Beavers => 4\n  3)  Drops\n                                  Wins 2 points"
        )
        == []
    )
    assert faults(begin + "  2)  Doubles => 2                Beavers => 8") == [
        "game 1 move 2: the cube is said to be turned to 8, but it is turned to 4"
    ]
    assert faults(begin + "  2)  Doubles => 2                51: 13/8 24/23") == [
        "game 1 move 2: player_1 has not answered the double"
    ]
    assert "beavers are not in force" in faults(begin + "  2)  Doubles => 2                Beavers => 4", length=5)[0]


@pytest.mark.parametrize(
    ("rows", "length", "says"),
    [
        ("  1) 31: 8/5 6/4", 0, "game 1 move 1: 8/5 6/4 with 31: 3-1 cannot be shared among these moves"),
        ("  1) 33: 8/5 8/5 6/3 6/3", 0, "game 1 move 1: the first roll of a game is 33, but it is never a double (R2.1)"),
        (
            "  1) 31: 8/5 6/5                 63: 24/18 24/15",
            0,
            "game 1 move 1: 24/18 24/15 with 63: 6-3 cannot be shared among these moves",
        ),
        ("  1) 31: 8/x", 0, "game 1 move 1: the play of 31 cannot be read: '8/x' is not a move"),
        ("  1) 31: ????                    63: 24/18 13/10", 0, "game 1 move 1: no play of 31 is written"),
        ("  1) 37: 8/5 6/5", 0, "game 1 move 1: this cannot be read: 37: 8/5 6/5"),
        ("  1) who knows", 0, "game 1 move 1: this cannot be read: who knows"),
        ("some remark\n" + OPENING, 0, "game 1 move 0: this cannot be read: some remark"),
        ("  1)  Doubles => 2                Takes", 0, "game 1 move 1: a double before the first roll (R8.2)"),
        (TAKEN + "  4)  Doubles => 4", 0, "game 1 move 4: player_0 doubles, but the cube is player_1's (R8.1)"),
        (
            TAKEN.replace("Takes", "Drops") + "      Wins 1 point",
            0,
            "game 1 move 3: the record goes on after the end of the game",
        ),
        (OPENING.replace("=> 2", "=> 4"), 0, "game 1 move 2: the cube is said to be turned to 4, but it is turned to 2"),
        (OPENING + "      Wins 2 points", 0, "game 1 move 2: the award is 2 points, but player_0 has won 1"),
        (
            OPENING + "                                 Wins 1 point",
            0,
            "game 1 move 2: player_1 is said to win, but player_0 has won",
        ),
        (
            TAKEN + "      Wins 3 points",
            0,
            "game 1 move 3: the award is 3 points, but player_0 can win by a resignation 2 or 4 or 6",
        ),
        (TAKEN + "  4)  Resigns\n      Wins 2 points", 0, "game 1 move 4: player_0 has resigned and is said to win"),
        (OPENING + "      Wins 1 point\n      Wins 1 point", 0, "game 1 move 2: the record goes on after the award"),
        ("  1) 31: 8/5 6/5                  Takes", 0, "game 1 move 1: take is illegal"),
        ("  1) 31: 8/5 6/5                 63:\n  2) 21: 13/11 6/5", 0, "game 1 move 1: no play of 63 is written"),
    ],
)
def test_faults_are_named_where_they_are(rows, length, says):
    found = faults(rows, length=length)
    assert len(found) == 1
    assert found[0].startswith(says), found


def test_records_lift_the_dead_cube():
    assert faults(OPENING, length=1) == []  # R9.3 is a setting; the cap (R8.4) is lifted too: GNU's sessions go to 128


def two_games(first, second, length=0, score="1"):
    heading = f" Game 2\n Alpha : {score}                      Beta : 0\n"
    return PLAIN.format(length=length, rows=first + "\n" + heading + second)


def test_the_games_of_a_record():
    text = two_games(OPENING + "      Wins 1 point\n", OPENING + "      Wins 1 point")
    assert replay(read_mat(text)).faults == ()
    assert [str(f) for f in replay(read_mat(two_games(OPENING + "      Wins 1 point\n", OPENING, score="2"))).faults] == [
        "game 2 move 0: the score is said to be 2-0, but it is 1-0"
    ]
    assert [str(f) for f in replay(read_mat(two_games(OPENING, OPENING))).faults] == [
        "game 1 move 2: the game ends, but no award is written"
    ]
    assert [str(f) for f in replay(read_mat(two_games(TAKEN, OPENING))).faults] == [
        "game 1 move 3: the game stops here without a result"
    ]
    # what follows a fault is not held against it, nor is the next game's score
    bad = two_games(OPENING.replace("8/5 6/5", "8/4 6/5") + "      Wins 1 point\n", OPENING + "      Wins 1 point", score="7")
    assert [fault.game for fault in replay(read_mat(bad)).faults] == [1]


def crawford(header, score, second="0"):
    text = PLAIN.format(length=3, rows=OPENING + "      Wins 1 point").replace(
        " Alpha : 0                      Beta : 0", f" Alpha : {score}                      Beta : {second}"
    )
    return [str(f) for f in replay(read_mat(f'; [Crawford "{header}"]\n\n{text}' if header else text)).faults]


def test_crawford():
    wrong = ["game 1 move 2: a double in the Crawford game (R9.2)"]
    assert crawford("On", 2) == crawford("", 2) == wrong
    assert crawford("Off", 2) == []
    assert crawford("On", 1) == []
    assert crawford("On", 2, 2) == []
    # only once
    first = "  1) 31: 8/5 6/5\n                                 Wins 1 point\n"
    after = two_games(first, OPENING, length=3, score="2").replace("Beta : 0", "Beta : 1").replace("Alpha : 0", "Alpha : 2", 1)
    after = after.replace("Beta : 1", "Beta : 0", 1)
    assert replay(read_mat(after)).faults == ()


def test_an_award_in_full_or_cut_to_the_match():
    def award(points, length=3, a=1, rows=TAKEN):
        text = PLAIN.format(length=length, rows=rows + f"      Wins {points} points and the match").replace(
            "Alpha : 0", f"Alpha : {a}"
        )
        checked = replay(read_mat(text))
        return [str(f) for f in checked.faults] or [note.what for note in checked.notes]

    assert award(2) == award(4) == award(6) == []
    assert award(3) == ["the award is cut to the length"]
    assert award(3, a=0) == ["the award is cut to the points needed"]
    assert award(5, length=7) == ["game 1 move 3: the award is 5 points, but player_0 can win by a resignation 2 or 4 or 6"]
    assert award(5, length=5, a=0, rows="  1)\n") == ["the match is given up"]
    assert award(4, length=5, rows="  1)\n") == ["the match is given up"]
    assert award(7, length=9, a=2) == ["the match is given up"]
    assert award(4016, length=13) == ["the match is given up"]  # as Backgammon Galaxy writes it
    assert award(2, length=5, rows=OPENING) == ["game 1 move 2: the award is 2 points, but player_0 has won 1"]


def test_what_is_no_mat_record():
    for text, says in (
        ("", "point match"),
        ("hello", "point match"),
        (" 7 point match\n", "holds no game"),
        ('; [Variation "Chess"]\n 7 point match\n\n Game 1\n', "variation 'Chess' is unknown"),
    ):
        with pytest.raises(NotationError, match=says):
            read_mat(text)
    with pytest.raises(NotationError, match="cannot be played"):
        replay(read_mat(PLAIN.format(length=99999, rows="")))


def test_names_are_made_fit_to_be_written():
    record = read_mat(PLAIN.format(length=0, rows=OPENING + "      Wins 1 point"))
    from dataclasses import replace

    odd = replace(record, players=('A "quoted": name\n', "  "))
    again = read_mat(write_mat(odd))
    assert again.players == ("A quoted name", "player_1")
    assert replay(again).faults == ()
    assert again.games == record.games


def test_files(tmp_path):
    """The results for good and bad files; a file that cannot be read is reported as an error in words, not an exception."""
    good, bad, none = tmp_path / "good.mat", tmp_path / "bad.mat", tmp_path / "none.mat"
    good.write_bytes(PLAIN.format(length=0, rows=OPENING).replace("Alpha", "Ren\xe9").encode("latin-1"))
    bad.write_text(
        "\ufeff" + PLAIN.format(length=0, rows=OPENING.replace("6/5", "6/4")).replace("\n", "\r\n"), encoding="utf-8"
    )
    none.write_text("no record")
    found = replay_files([good, bad, none, tmp_path / "absent.sgf"])
    assert [len(item.lines) for item in found] == [0, 1, 1, 1]
    assert found[0].replays[0].record.players[0] == "Ren\xe9"
    assert found[1].lines == [f"{bad}: game 1 move 1: 8/5 6/4 with 31: 3-1 cannot be shared among these moves"]
    assert found[2].lines == [f"{none}: this is not a .mat record: a line such as '7 point match' is missing"]
    assert "cannot be read" in found[3].lines[0]
    assert [item.as_dict()["ok"] for item in found] == [True, False, False, False]
    assert found[1].as_dict()["records"][0]["games"][0]["faults"] == [
        {"move": 1, "what": "8/5 6/4 with 31: 3-1 cannot be shared among these moves"}
    ]


@pytest.mark.parametrize(
    ("rows", "loser", "winner"),
    [
        ("  2) Bob forfeits\n", 1, None),
        ("  2) Bob resigns\n", 1, None),
        ("  2)                             Ann resigns\n", 0, None),
        ("  2) 31: 24/23 24/21             Bob Resigns\n      Wins 1 point\n", 1, 0),
        ("  2) 31: 24/23 24/21   bob conceded the game\n", 1, None),
        ("      Bob resigns 1 point\n", 1, None),
        ("  2) Bob wins 1 point\n", 0, 1),
        ("  2) Bob (1500.5) wins 1 point\n", 0, 1),
        ("  2) Bob the Second wins 1 point\n", 0, 1),
        ("      Ann resigns\n      Bob wins 1 point and the match\n", 0, 1),
        ("                                 Ann wins 1 point\n", 1, 0),
    ],
)
def test_a_name_before_a_resignation_or_an_award(rows, loser, winner):
    heading = " Ann : 0                      Bob (1500.5) : 0\n"
    text = '; [Player 1 "Ann"]\n; [Player 2 "Bob the Second"]\n 1 point match\n\n Game 1\n' + heading
    record = read_mat(text + "  1) 31: 8/5 6/5                63: 24/18 13/10\n" + rows)
    checked = replay(record)
    assert checked.faults == ()
    assert checked.games[0].winner == winner
    resigned = [entry.player for entry in record.games[0].entries if entry.kind == "resign"]
    assert resigned == [loser] * len(resigned)
    assert resigned or winner is not None


def test_a_name_that_says_another_player():
    rows = "  1) 31: 8/5 6/5                 63: 24/18 13/10\n  2) Alpha resigns\n      {} wins 1 point"
    assert faults(rows.format("Beta")) == []
    assert faults(rows.format("Alpha")) == ["game 1 move 2: player_0 has resigned and is said to win"]
    assert "cannot be read: Gamma" in faults(rows.format("Gamma"))[0]


@pytest.mark.parametrize("names", [("player 1", "player 2"), ("Ann", "Ann B"), ("Ann 1500", "Bob 1600"), ("R2", "(D2)")])
def test_names_that_are_alike(names):
    for player in (0, 1):
        rows = f"  1) 31: 8/5 6/5                 63: 24/18 13/10\n  2) {names[player]} resigns\n"
        record = read_mat(PLAIN.format(length=1, rows=rows).replace("Alpha", names[0]).replace("Beta", names[1]))
        assert replay(record).faults == ()
        assert record.games[0].entries[-1].player == player


@pytest.mark.parametrize("names", [(";Ann", "Bob"), ("#1", "Bob"), ("Ann", ";Bob")])
def test_names_that_begin_as_comments(names):
    text = f" 3 point match\n\n Game 1\n; a remark\n {names[0]} : 1                     {names[1]} : 2\n"
    record = read_mat(text + "; another : 1 remark : 2\n  1) 31: 8/5 6/5\n")
    assert (record.players, record.games[0].score) == (names, (1, 2))
    assert replay(record).faults == ()
