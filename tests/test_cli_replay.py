"""`bg-env replay`: faults as they are found, the variant, the summary, and nothing that a file does not say."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path

import pytest
from cli_run import run

import bg_env
from bg_env.errors import NotationError
from bg_env.notation import read_position
from bg_env.records import iter_replays, read_records, record_of, replay, stated_settings, write_records
from bg_env.records.frames import frames_of
from bg_env.rules import Phase

RECORDS = Path(__file__).parent / "data" / "records"
NO_IDS = (Phase.OPENING, Phase.OVER)
MATCH, MONEY = RECORDS / "match_std_7pt.mat", RECORDS / "money_beavers_noisy.mat"


def mat(folder, name="a.mat", *, variant="hypergammon", says=True, broken=False):
    """A record of a game of a variant; if it `says` so."""
    game = bg_env.Game.new(variant, seed=4, cube=False)
    start = bg_env.Game.new(variant, cube=False).states
    while game.legal_actions():
        game.apply(game.legal_actions()[0])
    path = folder / name
    write_records(path, [record_of(start, game.settings, game.history, ("Ann", "Bob"))])
    text = path.read_text()
    if not says:
        text = "\n".join(line for line in text.splitlines() if "ariation" not in line and "ariant" not in line)
    if broken:
        text = re.sub(r"([1-6][1-6]): \S+", r"\1: 24/23 24/22", text, count=1)
    path.write_text(text)
    return path


def content(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--html", "a.mat", "b.mat"), "ends with .html or .htm"),
        (("a.mat", "--html", "a.mat"), "ends with .html or .htm"),
        (("b.mat", "--html", "link.html"), "leads to"),
        (("a.mat", "--html", "link.html"), "leads to"),
        (("c.html", "--html", "c.html"), "which is read"),
        (("c.html", "--html", "again.htm"), "which is read"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
def test_a_record_is_never_replaced_by_its_page(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.mat", "b.mat", "c.mat"):
        mat(tmp_path, name)
    Path("c.mat").rename("c.html")
    Path("link.html").symlink_to("b.mat")
    Path("again.htm").symlink_to("c.html")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = run("replay", *words)
    assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output
    assert says in result.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_are_replayed_one_after_the_other():
    taken = []

    def paths():
        for k in itertools.count():
            taken.append(k)
            yield MATCH

    replays = iter_replays(paths())
    assert taken == []
    assert next(replays).faults == ()
    assert len(taken) == 1  # an endless list of files: each is dropped before the next one is read


def test_a_summary_follows_several_files(tmp_path):
    good, bad = mat(tmp_path), mat(tmp_path, "b.mat", broken=True)
    (tmp_path / "none.mat").write_text("nothing")
    result = run("replay", good, bad, tmp_path / "none.mat", MATCH)
    lines = result.output.splitlines()
    assert result.exit_code == 1
    assert lines[0] == f"{good}: 1 game, no fault"
    assert lines[1].startswith(f"{bad}: game 1 move ")
    assert lines[-1] == "4 files, 9 games: 2 without a fault, 1 fault in 1, 1 not read"
    assert run("replay", good).output == f"{good}: 1 game, no fault\n"


def test_json_is_an_array_that_is_written_as_it_is_found(tmp_path):
    result = run("replay", mat(tmp_path), mat(tmp_path, "b.mat", broken=True), "--json")
    read = json.loads(result.stdout)
    assert [one["ok"] for one in read] == [True, False]
    assert result.stderr.startswith("2 files, 2 games: 1 without a fault")
    assert len(json.loads(run("replay", MATCH, "--json").stdout)) == 1


def test_the_variant_of_a_record_that_does_not_say_it(tmp_path):
    path = mat(tmp_path, says=False)
    assert "Hyper" not in path.read_text()
    assert run("replay", path, "--variant", "longgammon").exit_code == 1
    result = run("replay", path, "--variant", "hypergammon")
    assert (result.exit_code, result.output) == (0, f"{path}: 1 game, no fault\n")
    result = run("replay", path, "--variant", "chess")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "no variant is called 'chess'" in result.output
    whole = tmp_path / "a.jsonl"
    write_records(whole, read_records(mat(tmp_path, "c.mat")))
    game = bg_env.Game.new("hypergammon", seed=1, cube=False)
    write_records(whole, [game.record()])
    result = run("replay", whole, "--variant", "backgammon")
    assert (result.exit_code, "it cannot be checked as backgammon" in result.output) == (1, True)


@pytest.mark.parametrize("path", [MATCH, MONEY, RECORDS / "money_jacoby_beavers_autodoubles.sgf"])
def test_a_page_says_nothing_that_its_file_does_not(path, tmp_path):
    out = tmp_path / "page.html"
    assert run("replay", path, "--html", out).exit_code == 0
    page = out.read_text(encoding="utf-8")
    for words in ("no limit", "up to", "beavers and raccoons", "automatic doubles"):
        assert words not in page.split('<script type="application/json"')[0]
        assert not any(words in piece for piece in content(page)["pieces"])
    data = content(page)
    assert data["record"] == [path.name, path.read_text(encoding="utf-8")]
    (record,) = read_records(path)
    assert stated_settings(record).beavers == stated_settings(record).auto_doubles == 0
    assert stated_settings(record).cube_cap == 64


def test_frames_have_dice_and_ids():
    (record,) = read_records(MATCH)
    played = replay(record)
    frames = frames_of(played)
    moments = [moment for game in played.games for moment in game.moments]
    rolls = 0
    for frame, moment in zip(frames, moments, strict=True):
        states = frame.states[frame.i : frame.i + 1]
        rolled = moment.entry is not None and moment.entry.kind == "roll"
        assert frame.dice == (moment.entry.dice if rolled else None)
        if states[0]["phase"] in NO_IDS:
            continue
        for name in ("XGID", "GNUBG id"):
            read, _ = read_position(frame.ids[name])
            assert read[0]["points"].tolist() == states[0]["points"].tolist()
            assert (read[0]["turn"], read[0]["cube"]) == (states[0]["turn"], states[0]["cube"])
            assert read[0]["score"].tolist() == states[0]["score"].tolist()
        if moment.actions:
            rolls += 1
            name = f"XGID, {frame.dice[0]}{frame.dice[1]} to play"
            before, _ = read_position(frame.ids[name])
            assert (before[0]["turn"], sorted(before[0]["dice"])) == (moment.player, sorted(frame.dice))
            assert before[0]["points"].tolist() == played.states[moment.index - 1]["points"].tolist()
    assert rolls > 100


def test_every_frame_of_money_play_with_high_cubes_has_ids():
    (record,) = read_records(MONEY)
    frames = [frame for frame in frames_of(replay(record)) if frame.states[frame.i]["phase"] not in NO_IDS]
    without = [frame for frame in frames if "XGID" not in frame.ids]
    assert {int(frame.states[frame.i]["chain"]) for frame in without} <= {4, 5}  # no XGID has a word for a fourth turn
    low = [frame.ids["XGID"] for frame in frames if frame not in without and frame.states[frame.i]["cube"] < 4]
    assert not [text for text in low if text.endswith(":15")]


def test_a_record_that_cannot_be_read_writes_no_page(tmp_path):
    path, out = tmp_path / "a.mat", tmp_path / "a.html"
    path.write_text("nothing")
    result = run("replay", path, "--html", out)
    assert (result.exit_code, out.exists()) == (1, False)
    assert result.output.count("\n") == 1
    with pytest.raises(NotationError):
        read_records(path)
