"""Analyses of other programs: GNU Backgammon's text export, and the text that eXtreme Gammon copies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bg_env.errors import NotationError
from bg_env.notation.gnubg_ids import write_position_id
from bg_env.records import parse_analysis, read_analysis, read_records, replay, targets
from bg_env.rules import Phase

DATA = Path(__file__).parent / "data"
GNUBG = DATA / "analyses" / "gnubg.txt"
XG = DATA / "analyses" / "xg.txt"
MATCH = DATA / "records" / "match_std_7pt.mat"


def test_gnubg_plays():
    plays = [one for one in read_analysis(GNUBG) if one.kind == "play"]
    first = plays[0]
    assert (first.id, first.states[0]["dice"].tolist()) == ("4HPwATDgc/ABMA:cIjmAAAAAAAE", [5, 1])
    assert (first.played, first.best, first.settings.match_length) == ("24/23 13/8", 0, 7)
    assert [one.text for one in first.candidates] == ["24/23 13/8", "24/18", "13/8 6/5", "13/7", "24/23 8/3"]
    assert [one.equity for one in first.candidates] == [0.002, -0.035, -0.04, -0.085, -0.15]
    assert first.candidates[1].probabilities == (0.495, 0.123, 0.005, 0.505, 0.141, 0.005)
    assert first.candidates[1].level == "Cubeful 0-ply"
    assert GNUBG.read_text().splitlines()[first.candidates[1].line - 1].split()[-3] == "Eq.:"
    doubled = plays[2]
    assert (doubled.played, doubled.candidates[0].text) == ("13/10*(2) 8/5(2)", "13/10*(2) 8/5(2)")


def test_gnubg_cube_decisions():
    found = [one for one in read_analysis(GNUBG) if one.kind != "play"]
    before, offered, answer = found[0], *(one for one in found if one.played in ("double", "take"))
    assert (before.kind, before.played, before.verdict) == ("double", "no double", "No double, take")
    assert before.states[0]["phase"] == Phase.ROLL_OR_DOUBLE
    assert {one.text: one.equity for one in before.candidates} == {
        "no double": -0.002, "double, pass": 1.0, "double, take": -0.347,
    }  # fmt: skip
    assert before.probabilities == (0.499, 0.138, 0.005, 0.501, 0.136, 0.007)
    assert before.candidates[before.best].text == "no double"
    assert (offered.kind, offered.candidates[offered.best].text, offered.verdict) == ("double", "double, take", "Double, take")
    assert (answer.kind, answer.played, answer.candidates[answer.best].text) == ("answer", "take", "double, take")
    assert answer.states[0]["phase"] == Phase.TAKE_OR_DROP
    assert answer.candidates[answer.best].equity == -0.563
    with pytest.raises(NotationError, match="kind 'answer'"):
        answer.after(0)


def test_xg_texts_in_any_language():
    play, redouble, beaver = read_analysis(XG)
    assert (play.kind, play.id, play.played) == ("play", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10", "")
    assert [(one.text, one.equity, one.level) for one in play.candidates] == [
        ("8/5 6/5", 0.162, "XG Roller++"), ("24/23 13/10", -0.01, "XG Roller+"), ("24/20", -0.018, "Rollout\u00b9"),
    ]  # fmt: skip
    assert play.candidates[2].probabilities == (0.4998, 0.1205, 0.0067, 0.5002, 0.1222, 0.0056)
    assert (redouble.kind, redouble.verdict) == ("double", "Trop bon pour redoubler / Passe")
    assert [one.equity for one in redouble.candidates] == [1.068, 1.573, 1.0]
    assert redouble.probabilities == (0.72, 0.3115, 0.028, 0.28, 0.0688, 0.0024)
    assert redouble.candidates[redouble.best].text == "no double"
    assert [one.text for one in beaver.candidates] == ["no double", "double, beaver", "double, pass"]
    assert (beaver.candidates[beaver.best].text, beaver.verdict) == ("no double", "No redouble / Take")


def test_an_answer_that_xg_prints_for_the_doubler():
    text = XG.read_text(encoding="utf-8").split("XGID=")[3].replace(":00:0:0:0:0:8", ":D:0:0:0:0:8")
    (one,) = parse_analysis(f"XGID={text}")
    assert (one.kind, one.candidates[one.best].text) == ("answer", "double, beaver")
    assert [choice.equity for choice in one.candidates] == [-0.172, 0.361, -1.0]
    assert one.probabilities == (0.5058, 0.1058, 0.0022, 0.4942, 0.1168, 0.0007)


def test_match_winning_chances_and_per_cents():
    text = GNUBG.read_text().split("Move number 2")[0].replace("Eq.: +0.002", "MWC: 50.12%")
    text = text.replace("0.501 0.136 0.007 - 0.499 0.138 0.005", "50.1 13.6 0.7 - 49.9 13.8 0.5")
    (one,) = parse_analysis(text)
    first = one.candidates[0]
    assert (first.equity, first.mwc, first.value) == (None, 0.5012, 0.5012)
    assert first.probabilities == (0.501, 0.136, 0.007, 0.499, 0.138, 0.005)
    assert np.isnan(targets([one]).equities[0])


def test_targets_are_the_positions_after_the_candidates():
    decisions = read_analysis(GNUBG) + read_analysis(XG)
    plays = [one for one in decisions if one.kind == "play"]
    found = targets(decisions)
    assert len(found.offsets) == len(plays) + 1
    assert len(found.states) == len(found.equities) == len(found.seats) == found.offsets[-1]
    k = int(found.offsets[-2])
    assert write_position_id(found.states[k : k + 1], 0) == "sGfwATDgc/ABMA"
    assert (found.seats[k], found.equities[k]) == (1, 0.162)
    assert found.probabilities[k].tolist() == list(plays[-1].candidates[0].probabilities)
    assert (found.states["turn"] == 1 - found.seats).all()
    assert len(targets([]).states) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no XGID"),
        ("a letter", "no XGID"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\n\nand nothing more", "no candidates"),
        ("\nXGID=-b----E-C---eE---c-e----B-:0:0:1:39:0:0:0:7:10\n 1. 2-ply  8/5 6/5   eq:+0.1", "line 2: XGID: field 5"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\n\n 1. 2-ply  8/5 6/4   eq:+0.1", "line 3: .*8/5 6/4"),
        ("Position ID: 4HPwATDgc/ABMA\nMatch ID: cIjmAAAAAAA\n 1. 2-ply  8/5 6/5   eq:+0.1", "line 1: "),
    ],
)
def test_what_is_no_analysis(text, says, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(NotationError, match=says) as error:
        read_analysis(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
    with pytest.raises(OSError, match="none"):
        read_analysis(tmp_path / "none.txt")


def test_gnubg_analyses_our_record_and_is_read(tmp_path):
    program = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
    if program is None:
        pytest.skip("needs gnubg: install Debian's package gnubg")
    lines = [
        *(f"set {what} {which} evaluation plies 0" for what in ("analysis", "evaluation") for which in ("chequer", "cube")),
        f"import mat {MATCH}",
        "analyse game",
        f"export game text {tmp_path / 'game.txt'}",
    ]
    (tmp_path / "commands").write_text("\n".join(lines) + "\n")
    words = [program, "-t", "-q", "-c", str(tmp_path / "commands")]
    subprocess.run(words, input="", capture_output=True, text=True, timeout=120, check=False, env={"HOME": str(tmp_path)})
    decisions = read_analysis(tmp_path / "game.txt")
    (record,) = read_records(MATCH)
    played = replay(record)
    positions = {write_position_id(played.states, k) for k in range(len(played.states))}
    plays = [one for one in decisions if one.kind == "play"]
    assert len(plays) > 20
    assert all(one.best == 0 for one in plays)
    assert {write_position_id(one.states, 0) for one in plays} <= positions
