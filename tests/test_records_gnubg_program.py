"""GNU Backgammon reads what is written here, and its exports are read back: the same games, boards, ids and awards.

The games are random play of our own. Not tried in `.mat` is what the format cannot hold: automatic doubles, and a match
without the Crawford rule.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gnubg_program import run_gnubg
from test_records_played import episode

from bg_env.notation.gnubg_ids import write_position_id
from bg_env.records import parse_records, read_records, record_of, replay, retrace, session, write_records
from bg_env.rules import Phase, Settings

BOTH = ("mat", "sgf")
KINDS = {
    "money": (Settings(), 12, BOTH),
    "jacoby": (Settings(jacoby=True), 12, BOTH),
    "beavers": (Settings(beavers=5, jacoby=True, cube_cap=None), 16, BOTH),
    "cubeless": (Settings(cube=False), 6, BOTH),
    "match": (Settings(match_length=3), 16, BOTH),
    "long": (Settings(match_length=7), 4, BOTH),
    "point": (Settings(match_length=1), 4, BOTH),
    "nackgammon": (Settings("nackgammon_ballard", match_length=2), 10, BOTH),
    "nackgammon_money": (Settings("nackgammon_ballard"), 4, BOTH),
    "hypergammon": (Settings("hypergammon", match_length=5), 12, BOTH),
    "hypergammon_money": (Settings("hypergammon", beavers=3), 12, BOTH),
    "automatic": (Settings(auto_doubles=3), 8, ("sgf",)),
    "no_crawford": (Settings(match_length=2, crawford=False, allow_dead_cube=True), 8, ("sgf",)),
}
EXPORTS = {"sgf": "save match", "mat": "export match mat", "text": "export match text", "snowie": "export match snowietxt"}
"""The command of each export."""


def record_with(settings, seed):
    """A match, or two or three money games, which may end by resignations of neither."""
    records = []
    for k in range(1 if settings.match_length else 2 + seed % 2):
        start, actions, _ = episode(settings, 100 * seed + k)
        records.append(record_of(start, settings, retrace(start, settings, actions), ("White", "Black")))
    return records[0] if settings.match_length else session(records)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Every record with the file that it is written into and what GNU Backgammon made of it, all in one run of the program."""
    folder = tmp_path_factory.mktemp("gnubg")
    commands, written = [], []
    for name, (settings, count, formats) in KINDS.items():
        for seed in range(count):
            record = record_with(settings, seed)
            for ending in formats:
                path = folder / f"{name}{seed}.{ending}"
                write_records(path, [record])
                written.append((name, record, path))
                commands.append(f"set jacoby {'on' if settings.jacoby else 'off'}")
                commands.append(f"set cube use {'on' if settings.cube else 'off'}")
                commands.append(f'{"import mat" if ending == "mat" else "load match"} "{path}"')
                commands += [f'{command} "{path}.{export}"' for export, command in EXPORTS.items()]
    said = run_gnubg(commands, folder)
    assert not re.search(r"WARNING|garbage|Unrecognised|doesn't follow|not a valid", said), said[-2000:]
    return written


def told(record):
    """The games of a record as a replay finds them: scores, rolls and boards, turns of the cube, awards."""
    checked = replay(record)
    assert checked.faults == ()
    games = []
    for game, played in zip(record.games, checked.games, strict=True):
        entries = []
        for moment in played.moments:
            if moment.entry is None or moment.entry.kind in ("tie", "throw", "win", "resign"):
                continue
            kind = "turn" if moment.entry.kind in ("double", "beaver") else moment.entry.kind
            board = checked.states[moment.index]["points"].tobytes() if kind == "roll" else b""
            entries.append((kind, moment.player, moment.entry.dice, board))
        games.append((game.score, entries, played.winner, played.points))
    return games


def ids(record):
    """The position ids of each game's boards, as the player on roll sees them."""
    checked = replay(record)
    return [
        {
            write_position_id(checked.states, moment.index)
            for moment in game.moments
            if int(checked.states[moment.index]["phase"]) not in (Phase.OPENING, Phase.OVER)
        }
        for game in checked.games
    ]


def export(path, kind):
    """The text of an export: the text format has a file for each game."""
    first = Path(f"{path}.{kind}")
    more = sorted(path.parent.glob(f"{path.name}_*.{kind}")) if kind == "text" else []
    return "\n".join(one.read_text() for one in (first, *more))


def test_there_are_at_least_200_files(files):
    assert len(files) >= 200
    assert {name for name, _, _ in files} == set(KINDS)


@pytest.mark.parametrize("kind", EXPORTS)
def test_gnubg_has_read_the_same_games(files, kind):
    for name, record, path in files:
        if name in ("automatic", "no_crawford") and kind in ("mat", "snowie"):
            continue  # .mat holds neither
        (back,) = parse_records(export(path, kind))
        assert told(back) == told(record), (path.name, kind)
        assert (back.players, back.length, back.variant) == (record.players, record.length, record.variant)


def test_gnubg_shows_the_same_position_ids(files):
    """Those that it prints with each move of a game are ids of the boards that we have played."""
    compared = 0
    for _, record, path in files:
        text = export(path, "text")
        games = re.split(r"(?m)^The score \(after ", text)[1:]
        assert len(games) == len(record.games)
        for game, ours in zip(games, ids(record), strict=True):
            theirs = set(re.findall(r"Position ID: (\S{14})", game))
            compared += len(theirs)
            assert theirs <= ours | {write_position_id(replay(record).states, 0)}, path.name
    assert compared > 5_000


def test_its_own_games_are_read_from_every_export(tmp_path):
    """Its own play; a session with automatic doubles is not told in full by `.mat`."""
    folder = Path(__file__).parent / "data" / "records"
    names = {"match_std_7pt": EXPORTS, "match_nack_9pt": EXPORTS, "money_beavers_noisy": ("sgf", "text")}
    commands = []
    for name in names:
        commands.append(f'load match "{folder / name}.sgf"')
        commands += [f'{command} "{tmp_path / name}.sgf.{export}"' for export, command in EXPORTS.items()]
    run_gnubg(commands, tmp_path)
    for name, kinds in names.items():
        (record,) = read_records(folder / f"{name}.sgf")
        for kind in kinds:
            (back,) = parse_records(export(tmp_path / f"{name}.sgf", kind))
            assert [game[1:] for game in told(back)] == [game[1:] for game in told(record)], (name, kind)
            assert (back.players, back.length, back.variant) == (record.players, record.length, record.variant)


def test_a_saved_position_is_read_there_and_here(tmp_path):
    """A game from a position that an id holds: GNU Backgammon sets up the same board, cube and dice."""
    (record,) = read_records(Path(__file__).parent / "data" / "dialects" / "saved_position.sgf")
    path = tmp_path / "position.sgf"
    write_records(path, [record])
    run_gnubg([f'load match "{path}"', f'save match "{path}.sgf"', f'export match text "{path}.text"'], tmp_path)
    (back,) = read_records(f"{path}.sgf")
    assert told(back) == told(record)
    assert ids(back) == ids(record)
