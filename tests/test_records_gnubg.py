"""Records as they come: GNU Backgammon's own games in both formats, and the handed ones with their known faults."""

from __future__ import annotations

import json
from pathlib import Path

import oracle
import pytest

from bg_env.notation.moves import parse_moves
from bg_env.records import read_records, replay, replay_files, replay_settings, write_records
from bg_env.rules import VARIANTS, Phase

RECORDS = Path(__file__).parent / "data" / "records"
NAMES = sorted(path.stem for path in RECORDS.glob("*.sgf"))
GAMES = {
    "match_nack_9pt": 6,
    "match_std_11pt_nocrawford": 7,
    "match_std_25pt": 22,
    "match_std_7pt": 7,
    "money_beavers_noisy": 60,
    "money_jacoby_beavers_autodoubles": 40,
    "money_nack_jacoby": 20,
    "money_nocube": 20,
    "money_nojacoby": 25,
}


def only(path):
    (record,) = read_records(path)
    return record


def test_all_nine_sets_are_here():
    assert sorted(GAMES) == NAMES
    assert len(list(RECORDS.glob("*.mat"))) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["mat", "sgf"])
def test_gnubg_games_are_clean(name, ending):
    (found,) = replay_files([RECORDS / f"{name}.{ending}"])
    assert (found.lines, found.error) == ([], None)
    (result,) = found.replays
    assert len(result.games) == GAMES[name]
    assert all(game.winner is not None for game in result.games)
    assert result.settings.variant == VARIANTS["nackgammon_ballard" if "nack" in name else "backgammon"]
    assert result.settings.match_length == result.record.length


def cube_turns(entries):
    """The contents of a game in both formats: rolls, plays without hits, turns of the cube, answers that both write."""
    said, turns = [], 0
    for entry in entries:
        turns = turns + 1 if entry.kind in ("double", "beaver") else turns if entry.kind in ("take", "drop") else 0
        if entry.kind == "take" and turns > 1:
            continue  # .mat does not write that a beaver is accepted
        if entry.kind != "resign":
            kind = "turn" if entry.kind in ("double", "beaver") else entry.kind
            said.append((kind, entry.player, entry.dice, entry.text.replace("*", "")))
    return said


@pytest.mark.parametrize("name", NAMES)
def test_both_formats_say_the_same_games(name):
    mat, sgf = (only(RECORDS / f"{name}.{ending}") for ending in ("mat", "sgf"))
    assert len(mat.games) == len(sgf.games)
    begun_higher = 0
    for one, other in zip(mat.games, sgf.games, strict=True):
        assert cube_turns(one.entries) == cube_turns(other.entries)
        assert one.score == other.score
        assert other.award.value == one.award.value * other.cube  # .mat leaves the initial cube out
        begun_higher += other.cube > 1
    assert (begun_higher > 0) == (name in ("money_beavers_noisy", "money_jacoby_beavers_autodoubles", "money_nack_jacoby"))
    states = [replay(record).states["points"] for record in (mat, sgf)]
    ends = [[tuple(map(tuple, points.tolist())) for points in array] for array in states]
    assert set(ends[0]) == set(ends[1])


@pytest.mark.parametrize("name", NAMES)
def test_they_are_written_and_read_again(name, tmp_path):
    for ending in ("mat", "sgf"):
        record = only(RECORDS / f"{name}.{ending}")
        for other in ("mat", "sgf", "jsonl"):
            path = tmp_path / f"written.{other}"
            write_records(path, [record])
            again = only(path)
            if ending == "mat" and other == "sgf":
                assert again.jacoby is False  # .sgf says that a rule is not played by not naming it: the session did not
                continue
            (found,) = replay_files([path])
            assert found.lines == []
            assert [cube_turns(game.entries) for game in again.games] == [cube_turns(game.entries) for game in record.games]
            if other in (ending, "jsonl"):
                assert [game.award for game in again.games] == [game.award for game in record.games]


def test_handed_records_are_judged_right(shared):
    """The manifest of the dialects replaces the readings of four files that the other takes for faulty."""
    folder = shared / "data"
    dialects = json.loads((folder / "dialects" / "MANIFEST.json").read_text())
    replaced = {row.get("was") for row in dialects}
    rows = [row for row in json.loads((folder / "matches" / "MANIFEST.json").read_text()) if row["file"] not in replaced]
    found = replay_files([folder / "matches" / row["file"] for row in rows])
    for row, judged in zip(rows, found, strict=True):
        assert judged.error is None, judged.error
        first = judged.faults[0].game if judged.faults else None
        assert first == row["first_fault_game"], (row["file"], judged.lines)
        assert all(line.startswith(f"{judged.path}: game ") for line in judged.lines)
        if row["games"] is not None:
            assert len(judged.replays[0].games) == row["games"]
    assert sum(bool(judged.faults) for judged in found) == 1
    for row, judged in zip(dialects, replay_files([folder / "dialects" / row["file"] for row in dialects]), strict=True):
        assert (judged.faults[0].game if judged.faults else None) == row["fault_game"], (row["file"], judged.lines)
        record = judged.replays[0].record
        assert record.length == row["length"]
        assert list(record.players) == row.get("players", list(record.players))
        assert record.variant.name == row.get("variant", "backgammon")


def steps_to(board, dice, wanted):
    """Legal steps of the oracle that lead to a board that `wanted` accepts."""
    steps = oracle.legal_steps(board, dice)
    if not steps:
        return [] if wanted(board) else None
    for (source, die), after, left in steps:
        rest = steps_to(after, left, wanted)
        if rest is not None:
            return [(source - 1) * 6 + die - 1, *rest]
    return None


def by_oracle(record):
    """Replay a clean match by the oracle: every roll, play, cube turn and award; the number of rolls."""
    rolls = 0
    for game in record.games:
        played = oracle.OracleGame(replay_settings(record), game.score)
        for entry in game.entries:
            if entry.kind == "roll":
                rolls += 1
                if played.phase == "ROLL_OR_DOUBLE":
                    played.apply(oracle.ROLL)
                first = entry.dice if entry.player == 0 else entry.dice[::-1]
                played.roll(*first)
                moves = parse_moves(entry.text)
                assert bool(moves) == (played.phase == "CHECKER" and played.turn == entry.player)
                if not moves:
                    continue
                mover, other = played.board()
                change = list(mover)
                for move in moves:
                    change[move.places[0]] -= 1
                    change[move.places[-1]] += 1
                landings = {move.places[-1] for move in moves} - {0}
                barred = other[25] + sum(other[25 - place] == 1 for place in landings)
                wanted = (tuple(change), barred)
                ends = oracle.results((mover, other), played.dice)  # the plays of the roll, by brute force
                assert sum((end[0], end[1][25]) == wanted for end in ends) == 1
                for action in steps_to((mover, other), played.dice, lambda end, wanted=wanted: (end[0], end[1][25]) == wanted):
                    played.apply(action)
            elif entry.kind in ("double", "take", "drop"):
                assert played.decider == entry.player
                played.apply({"double": oracle.DOUBLE, "take": oracle.TAKE, "drop": oracle.DROP}[entry.kind])
            elif entry.kind == "win" and played.winner >= 0:
                assert (played.winner, played.won) == (entry.player, entry.value)
    return rolls


def test_the_oracle_replays_a_match_as_well():
    """Rule by rule, by brute force; benchmarks/replay.py has the two side by side in time."""
    path = RECORDS / "match_std_7pt.sgf"
    rolls = by_oracle(only(path))
    (found,) = replay_files([path])
    moments = [moment for game in found.replays[0].games for moment in game.moments]
    assert sum(moment.entry is not None and moment.entry.kind == "roll" for moment in moments) == rolls


def test_moments_tell_the_game():
    (result,) = replay_files([RECORDS / "money_beavers_noisy.sgf"])[0].replays
    game = result.games[0]
    words = [(moment.player, result.text(moment)) for moment in game.moments]
    assert words[:6] == [
        (None, "Game 1"),
        (1, "41: 24/23 13/9"),
        (0, "65: 24/13"),
        (1, "54: 9/4 8/4"),
        (0, "doubles to 2"),
        (1, "takes"),
    ]
    assert [text for _, text in words if "to " in text][2:6] == [
        "doubles to 8",
        "beavers to 16",
        "raccoons to 32",
        "raccoons to 64",
    ]
    assert words[-1] == (0, "wins 128 points")
    assert (game.winner, game.points) == (0, 128)
    first = game.moments[1]
    assert [step.action for step in result.steps(first)] == list(first.actions)
    assert str(result.states[first.index]["points"][1][23]) == "1"
    last = result.states[game.moments[-1].index]
    assert (last["phase"], last["won"]) == (Phase.OVER, 128)
