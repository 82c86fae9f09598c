"""Dialects of match records: each kind in small files, in both columns, with tabs, other line ends and encodings."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_run import run

from bg_env.errors import NotationError
from bg_env.records import (
    FORMATS,
    WRITTEN,
    Replay,
    parse_records,
    read_mat,
    read_records,
    read_sgf,
    replay,
    replay_files,
    write_mat,
    write_sgf,
)

DIALECTS = Path(__file__).parent / "data" / "dialects"


class Case(NamedTuple):
    """The expected reading of a file: the length, the awards (winner, points) and the notes."""

    length: int
    awards: list[tuple[int | None, int]]
    notes: list[str]
    players: tuple[str, str] = ("Ann", "Bob")
    variant: str = "backgammon"


OPEN = [(None, 0)]
RESIGNS = "game 1 move {}: {!r} is a resignation"
CASES = {
    "concedes_after_roll.mat": Case(5, [(1, 1)], [RESIGNS.format(2, "Concedes")]),
    "concedes_beside_award.mat": Case(5, [(1, 2)], [RESIGNS.format(2, "Concedes")]),
    "concedes_right.mat": Case(5, [(0, 3)], [RESIGNS.format(2, "Concedes")]),
    "cut_to_length.mat": Case(5, [(0, 5)], ["game 1 move 3: the award is cut to the length"]),
    "cut_to_points_needed.mat": Case(5, [(0, 3)], ["game 1 move 3: the award is cut to the points needed"]),
    "drop_left.mat": Case(5, [(1, 1), (0, 1)], []),
    "forfeit_first.mat": Case(7, [(1, 5)], ["game 1 move 1: the match is given up"]),
    "forfeit_later.mat": Case(7, [(0, 7)], ["game 1 move 1: the match is given up"]),
    "headers_swapped.mat": Case(
        5, [(0, 1)], ["the headers name the right column's player first; player_0 is the left column, Ann"]
    ),
    "hypergammon_2.mat": Case(3, OPEN, [], variant="hypergammon2"),
    "implied_take.mat": Case(0, OPEN, ["game 1 move 2: the acceptance of a beaver is not written, but the game goes on"]),
    "losses_at_margin.mat": Case(5, [(0, 2)], [RESIGNS.format(2, "Losses 2 points")]),
    "losses_right.mat": Case(5, [(0, 1)], [RESIGNS.format(2, "Losses 1 point")]),
    "nackgammon_unnamed.mat": Case(
        5, OPEN, ["the variation is not named: the moves are of nackgammon_ballard"], variant="nackgammon_ballard"
    ),
    "no_cube.mat": Case(0, [(1, 3)], ["the cube's limit is 1: no cube is in play"]),
    "no_name_left.mat": Case(5, [(0, 1)], ["player_0 has no name; the columns show whose an entry is"], ("", "Bob")),
    "no_name_right.mat": Case(5, [(0, 1)], ["player_1 has no name; the columns show whose an entry is"], ("Ann", "")),
    "passing_hit.mat": Case(5, OPEN, []),
    "post_crawford.mat": Case(
        9, OPEN, ["game 1 move 0: the record begins after the Crawford game, for the player behind doubles"]
    ),
    "unknown_play_at_the_end.mat": Case(5, OPEN, [RESIGNS.format(2, "????")]),
    "unknown_play_left.mat": Case(5, [(1, 1)], [RESIGNS.format(2, "????")]),
    "unknown_play_numbered_award.mat": Case(5, [(0, 1)], [RESIGNS.format(1, "????")]),
    "unknown_play_right.mat": Case(5, [(0, 2)], [RESIGNS.format(1, "????")]),
    "dice_set_then_played.sgf": Case(5, OPEN, []),
    "rolled_then_resigned.sgf": Case(5, [(1, 2)], ["game 1 move 4: 44 is thrown and not played (DI)"]),
    "saved_before_roll.sgf": Case(0, OPEN, ["game 1 move 0: the game begins with a saved position"]),
    "saved_position.sgf": Case(7, OPEN, ["game 1 move 0: the game begins with a saved position"]),
}
MATS = [name for name in CASES if name.endswith(".mat")]


def only(name):
    (record,) = read_records(DIALECTS / name)
    return record


def played(result: Replay, flip: int = 0):
    """The events in the games of a replay, boards included; with the players exchanged where `flip` is 1."""
    return [
        (
            tuple(
                (m.entry.kind, None if m.player is None else m.player ^ flip, m.entry.dice, m.actions)
                for m in game.moments
                if m.entry
            ),
            None if game.winner is None else game.winner ^ flip,
            game.points,
            result.states[game.moments[-1].index]["points"][:: -1 if flip else 1].tolist(),
        )
        for game in result.games
    ]


def test_every_file_has_its_case():
    several = {"two_matches.mat", "two_matches.sgf", "export.txt", "README.md"}
    assert {path.name for path in DIALECTS.iterdir()} - several == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_dialect_is_no_fault_but_a_note(name):
    case, record = CASES[name], only(name)
    checked = replay(record)
    assert checked.faults == ()
    assert (record.players, record.length, record.variant.name) == (case.players, case.length, case.variant)
    assert [(game.winner, game.points) for game in checked.games] == case.awards
    assert [str(note) for note in checked.notes] == case.notes
    if record.variant.name != "hypergammon2":
        again = read_sgf(write_sgf(record))
        assert replay(again).faults == ()
        assert [boards[1:] for boards in played(replay(again))] == [boards[1:] for boards in played(checked)]
    if name.endswith(".mat") and record.variant.name != "hypergammon2":
        (back,) = parse_records(write_mat(record))
        assert replay(back).faults == ()


def saved(record):
    """The record as it is read again from each format that is written, by the ending."""
    return {ending: parse_records(FORMATS[ending].write([record]))[0] for ending in WRITTEN}


@pytest.mark.parametrize(
    "rows",
    [
        "  4)  Doubles => 2\n  5)  Drops",  # alone in their lines, in the wrong column
        "  4)                            65: 13/7 13/8\n  5)                            65: 13/7 13/8",
        "  4)                             Doubles => 2\n  5)                             Drops\n      Wins 1 point",
        "  4) 65: 13/7 13/8            Doubles => 2\n  5)  Drops  Wins 1 point\n",
    ],
)
def test_what_is_read_as_sound_is_saved_as_sound(rows):
    text = " 3 point match\n\n Game 1\n Ann : 0                      Bob : 0\n"
    text += "  1) 31: 8/5 6/5                42: 8/4 6/4\n  2) 31: 13/10 24/23\n  3) 42: 13/9 13/11\n" + rows + "\n"
    record = read_mat(text)
    checked = replay(record)
    assert checked.faults == ()
    for ending, again in saved(record).items():
        assert replay(again).faults == (), ending
        assert [boards[1:] for boards in played(replay(again))] == [boards[1:] for boards in played(checked)], ending


def test_money_play_that_is_scored_as_a_match_stays_so():
    text = '; [Site "Backgammon Galaxy"]\n 16 point match\n\n Game 1\n Ann : 0                      Bob : 0\n'
    text += "  1) 31: 8/5 6/5                42: 8/4 6/4\n  2)  Concedes\n                                  Wins 32 points\n"
    record = read_mat(text)
    assert (record.loose, replay(record).faults) == (True, ())
    for ending, again in saved(record).items():
        assert (again.loose, again.length, replay(again).faults) == (True, 0, ()), ending
    with pytest.raises(NotationError, match="one game at 0-0: write JSON lines"):
        write_mat(replace(record, games=record.games * 2))


def tabs(text, lead, *, aligned=False):
    """The cells of each line divided by tabs: single ones, after a number and `lead`, or as many as fill the space."""
    lines = []
    for line in text.split("\n"):
        if aligned:
            pieces = [line[k : k + 8] for k in range(0, len(line), 8)]
            lines.append("".join(re.sub(r"  +$", "\t", piece) if len(piece) == 8 else piece for piece in pieces))
            continue
        numbered = re.fullmatch(r" *(\d+\))(.*)", line)
        left, right = (numbered[2] if numbered else line)[:27].strip(), (numbered[2] if numbered else line)[27:].strip()
        if numbered:
            lines.append(f"{lead}{numbered[1]}\t{left}\t{right}".rstrip())
        elif line.strip().startswith(("Wins", "Losses")) and line.startswith(" "):
            lines.append(f"{lead}\t{left}\t{right}".rstrip())
        else:
            lines.append(re.sub(r" {3,}", "\t", line))
    return "\n".join(lines)


@pytest.mark.parametrize("name", MATS)
def test_tabs_in_all_places(name):
    text = (DIALECTS / name).read_text()
    want = played(replay(only(name)))
    for other in (tabs(text, ""), tabs(text, "\t"), tabs(text, " "), tabs(text, "", aligned=True)):
        assert "\t" in other
        (record,) = parse_records(other)
        checked = replay(record)
        assert checked.faults == (), other
        assert played(checked) == want, other
        assert record.players == CASES[name].players
        assert "tabs divide the columns" in [note.what for note in checked.notes]


@pytest.mark.parametrize("name", CASES)
def test_line_ends_and_encodings(name, tmp_path):
    text = (DIALECTS / name).read_text().replace("Ann", "Änn" if name.endswith(".mat") else "Ann")
    want = played(replay(only(name)))
    path = tmp_path / name
    for k, encoding in enumerate(("utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be")):
        ends = ("\n", "\r\n", "\r")[k % 3]
        for mark in ("", "\ufeff") if encoding == "utf-16-be" else ("",):
            path.write_bytes((mark + text.replace("\n", ends)).encode(encoding))
            (found,) = replay_files([path])
            assert found.lines == []
            assert played(found.replays[0]) == want
            assert ("Änn" in found.replays[0].record.players) == ("Änn" in text)


def mirrored(text):
    """The text with its columns exchanged."""
    lines = []
    for line in text.split("\n"):
        heading = re.fullmatch(r" ([A-Za-z]* ?: \d+) +([A-Za-z]* ?: \d+)", line)
        numbered = re.fullmatch(r"( *\d+\)) (.{0,27})(.*)", line)
        if heading:
            lines.append(f" {heading[2]:<32}{heading[1]}")
        elif numbered:
            lines.append(f"{numbered[1]} {numbered[3].strip():<27}{numbered[2].strip()}".rstrip())
        elif line.startswith(" " * 20):
            lines.append(f"      {line.strip()}")
        elif re.match(" +(Wins|Losses)", line):
            lines.append(f"{' ' * 34}{line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("name", MATS)
def test_both_columns(name):
    """With the columns exchanged the players are, and whatever they do; rows that begin on the right are split to fit."""
    text = (DIALECTS / name).read_text()
    rows = re.findall(r"^ *\d+\)(.*)$", text, re.MULTILINE)
    exchanged = text if not rows else mirrored(shifted(text))
    (record,) = parse_records(exchanged)
    checked = replay(record)
    assert checked.faults == (), exchanged
    assert record.players == CASES[name].players[::-1]
    assert played(checked, flip=1) == played(replay(only(name)))


def shifted(text):
    """The text with each game's right cells one line down, so that the order is right when the columns are exchanged."""
    games = re.split(r"(?m)(?=^ Game)", text)
    return games[0] + "".join(_shifted(game) for game in games[1:])


def _shifted(game):
    head, rows, tail = [], [], []
    for line in game.split("\n"):
        numbered = re.fullmatch(r" *\d+\) ?(.{0,27})(.*)", line)
        if numbered:
            rows.append((numbered[1].rstrip(), numbered[2].strip()))
        else:
            (tail if rows else head).append(line)
    if rows and not rows[0][0]:  # it begins on the right
        lefts, rights = [left for left, _ in rows[1:]] + [""], [right for _, right in rows]
        pairs = list(zip(lefts, rights, strict=True))
    else:
        lefts, rights = [left for left, _ in rows] + [""], ["", *(right for _, right in rows)]
        pairs = [(left, right) for left, right in zip(lefts, rights, strict=True) if left or right]
    lines = [f"{k:3d}) {left:<27}{right}".rstrip() for k, (left, right) in enumerate(pairs, 1)]
    return "\n".join([*head, *lines, *tail])


def test_the_reading_in_which_exactly_the_marked_hits_happen():
    checked = replay(only("passing_hit.mat"))
    hits = [step.hit for step in checked.steps(checked.games[0].moments[3])]
    assert hits == [False, True]


def test_several_matches_in_one_file():
    for name, players in (("two_matches.mat", [("Ann", "Bob"), ("Cid", "Dee")]), ("two_matches.sgf", [("Ann", "Bob")] * 2)):
        records = read_records(DIALECTS / name)
        assert [record.players for record in records] == players
        assert [str(note) for note in records[0].notes] == ["the file holds 2 matches"]
        assert all(replay(record).faults == () for record in records)
        read = read_mat if name.endswith("mat") else read_sgf
        with pytest.raises(NotationError, match="holds 2 matches"):
            read((DIALECTS / name).read_text())
    assert [len(record.games) for record in records] == [2, 1]
    assert [record.length for record in read_records(DIALECTS / "two_matches.mat")] == [5, 0]


def test_the_text_export_of_gnubg():
    """One made by GNU Backgammon of a session, with the head of its statistics."""
    record = only("export.txt")
    checked = replay(record)
    assert (checked.faults, checked.notes) == ((), ())
    assert (record.players, record.length, record.jacoby) == (("Ann", "Bob"), 0, False)
    assert [(game.winner, game.points) for game in checked.games] == [(0, 4), (0, 1)]
    assert [checked.text(moment) for moment in checked.games[0].moments[3:9]] == [
        "62: 13/5*",
        "66: cannot move",
        "33: 8/5(2) 6/3(2)",
        "doubles to 2",
        "beavers to 4",
        "takes",
    ]
    assert [game.score for game in record.games] == [(0, 0), (4, 0)]
    text = (DIALECTS / "export.txt").read_text()
    analysed = "*    1. Cubeful 2-ply    13/5*    Eq.: +0.253\n*   14. Cubeful 2-ply    13/11 8/2    Eq.: -0.253 (-0.506)\n"
    (again,) = parse_records(text.replace("Rolled 62:\n", f"Rolled 62 (+0.300):\n{analysed}"))
    assert again == record
    for old, new, says in (
        ("* Ann moves 13/5*", "* Ann moves 13/6*", "game 1 move 3: 13/6* with 62: there is no checker to hit on 6"),
        ("* Bob accepts", "* Bob ponders", "game 1 move 8: this cannot be read: Bob ponders"),
        ("Ann wins 4 points", "Ann wins 3 points", "game 1 move 10: the award is 3 points, but"),
    ):
        assert old in text
        (spoilt,) = parse_records(text.replace(old, new))
        assert str(replay(spoilt).faults[0]).startswith(says)


def test_the_sgf_of_an_implied_take_and_of_a_resignation():
    """GNU Backgammon reads both from the nodes alone."""
    text = write_sgf(only("implied_take.mat"))
    assert ";B[double]\n;W[double]\n;B[take]\n;B[52" in text
    assert "RE[" not in text
    assert "RE[B+1R]" in write_sgf(only("unknown_play_left.mat"))
    assert "RE[W+1]" in write_sgf(only("drop_left.mat"))
    assert "CrawfordGame" not in write_sgf(only("post_crawford.mat"))
    crawford = (DIALECTS / "post_crawford.mat").read_text().split("  2)")[0]
    assert "RU[Crawford:CrawfordGame]" in write_sgf(read_mat(crawford))
    assert "CV[2]\n;CP[b]\n;PL[W]DI[41]" in write_sgf(only("saved_position.sgf"))


def test_jacoby_is_written_where_a_game_shows_it():
    opening = " 0 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 41: 24/23 13/9             52: 13/8 6/4\n"
    assert "Jacoby" not in write_sgf(read_mat(opening + "      Wins 2 points\n"))
    assert "RU[Jacoby]" in write_sgf(read_mat('; [Jacoby "On"]\n' + opening))


def test_notes_in_json_and_with_v(tmp_path):
    path = DIALECTS / "concedes_right.mat"
    plain, loud, data = (run("replay", *option, path) for option in ((), ("-v",), ("--json",)))
    note = RESIGNS.format(2, "Concedes")
    assert plain.stdout == f"{path}: 1 game, no fault\n"
    assert loud.stdout == f"{path}: {note}\n{plain.stdout}"
    assert json.loads(data.stdout)[0]["records"][0]["notes"] == [{"game": 1, "move": 2, "what": "'Concedes' is a resignation"}]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (" 5 point match\n\n Game 1\n".encode("utf-16-le") + b"\x00\xd8", "UTF-16 text that breaks off or is spoilt in line 4"),
        (b"\xff\xfe\x20", "UTF-16 text that breaks off or is spoilt in line 1"),
        (b" 5 point match\n\n", "a line such as 'Game 1' is missing below line 1, '5 point match'"),
        (b"(;GM[6]MI[length:1])\n(;GM[6]7)", "line 2: '7)'"),
        (b"The score (after x", "a line 'The score (after 0 games) is: ...' is missing"),
    ],
)
def test_bad_input_is_one_line_that_names_the_file_and_the_place(data, says, tmp_path):
    path = tmp_path / "bad.mat"
    path.write_bytes(data)
    (found,) = replay_files([path])
    (line,) = found.lines
    assert line.startswith(f"{path}: ")
    assert says in line
