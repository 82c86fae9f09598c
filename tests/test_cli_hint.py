"""`bg-env hint`, the equities of `bg-env plays`, and hints with equities in the terminal."""

from __future__ import annotations

import json

import pytest
from cli_run import run

import bg_env

ROLLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
BEFORE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
DOUBLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"


def test_a_roll_has_its_plays_best_first() -> None:
    done = run("hint", BEFORE, "31", "--player", "td", "--number", 3)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert "equity +0." in lines[0]
    assert "by td; wins" in lines[0]
    assert [line.split(".")[0].strip() for line in lines[1:4]] == ["1", "2", "3"]
    assert "8/5 6/5" in lines[1]
    assert lines[4] == "(13 more)"
    assert run("hint", ROLLED, "--player", "td", "--number", 3).output == done.output


def test_json_has_all_choices() -> None:
    found = json.loads(run("hint", DOUBLED, "--player", "td", "--json").stdout)
    game = bg_env.Game.from_xgid(DOUBLED)
    assert [one["text"] for one in found["hints"]] == [one.text for one in game.hints("td")]
    assert found["hints"][0]["loss"] == 0
    assert found["value"]["equity"] == pytest.approx(game.evaluate("td").equity)


def test_a_game_that_waits_for_dice_has_a_value_only() -> None:
    before = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:10"
    done = run("hint", before, "--player", "td", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["value"]["evaluator"] == "td"


@pytest.mark.parametrize("command", ["hint", "plays"])
def test_a_player_without_values_is_refused_in_one_line(command: str) -> None:
    done = run(command, BEFORE, "31", "--player", "random")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "has no values" in done.stderr


def test_plays_with_equities() -> None:
    plain = json.loads(run("plays", BEFORE, "31", "--json").stdout)
    valued = json.loads(run("plays", BEFORE, "31", "--player", "td", "--json").stdout)
    assert sorted(row["position"] for row in plain) == sorted(row["position"] for row in valued)
    assert [row["loss"] for row in valued] == sorted(row["loss"] for row in valued)
    assert valued[0]["play"] == "8/5 6/5"
    assert "8/5 6/5      +0." in run("plays", ROLLED, "--player", "td").output
    other = run("plays", ROLLED, "66", "--player", "td")  # instead of the roll in the id
    assert "24/18(2) 13/7(2)   +0." in other.output


def test_a_roll_without_a_play_has_no_equities() -> None:
    closed = "XGID=-BBBBBBB----------cbbbbbbA:0:0:1:66:0:0:0:0:10"
    done = run("plays", closed, "--player", "td", "--json")
    assert done.exit_code == 0, done.output
    assert "equity" not in json.loads(done.stdout)[0]
