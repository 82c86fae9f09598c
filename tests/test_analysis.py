"""Analysis of games and matches: errors that are known, luck, faults, the page, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_run import run
from nets import random_net

from bg_env import Game, NotationError, Settings, SettingsError, ValuePlayer, Variant, analyse
from bg_env.actions import STEPS
from bg_env.records import parse_records, replay, write_mat
from bg_env.records.course import Made, Thrown, course
from bg_env.rules import Phase

PLAYER = ValuePlayer(random_net(5), name="small")


def played(settings, seed, worst=()):
    """A game of the player's own choices; `worst` are numbers of decisions in which the last hint is taken instead."""
    game = Game(settings, seed=seed)
    losses, k = [[], []], 0
    while not game.over:
        row = game.hints(PLAYER)
        choice = row[-1] if k in worst else row[0]
        if len(row) > 1:
            losses[game.player].append(choice.loss)
        if choice.play is not None:
            game.play(choice.play)
        else:
            game.apply(choice.action)
        k += 1
    return game, losses


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(cube=False), Settings(match_length=2), Settings("hypergammon")], ids=str
)
def test_known_errors(settings):
    """The player's own choices lose nothing; two decisions made otherwise lose what the hints said."""
    own, _ = played(settings, 3)
    assert [side.error_rate for side in analyse(own, PLAYER).sides] == pytest.approx([0, 0], abs=1e-3)
    game, losses = played(settings, 3, worst=(2, 5))
    report = analyse(game, PLAYER)
    for side, lost in zip(report.sides, losses, strict=True):
        assert side.error_rate == pytest.approx(500 * np.mean(lost), abs=2e-3)
        assert sum(side.decisions.values()) == len(lost)
    assert sum(one.loss > 1e-4 for one in report.choices) == sum(loss > 1e-4 for lost in losses for loss in lost)
    data = report.to_dict()
    assert [item["error_rate"] for item in data["players"]] == [side.error_rate for side in report.sides]
    assert json.loads(json.dumps(data, allow_nan=False))["evaluator"] == "small"


def test_the_luck_of_rolls_adds_up():
    game, _ = played(Settings(cube=False), 8)
    report = analyse(game, PLAYER)
    first, second = report.sides
    points = game.points if game.winner == 0 else -game.points
    assert report.result == points
    assert report.adjusted == pytest.approx(points - sum(one.luck if one.player != 1 else -one.luck for one in report.rolls))
    assert first.luck - second.luck == pytest.approx(points - report.adjusted)


def test_luck_by_hand():
    """One checker each on the 4 point: with 5-3 who starts bears off and wins a gammon; the opening throws have the mean 0."""
    game = Game(Settings(Variant("one", {4: 1}), cube=False))
    game.apply_roll(5, 3)
    game.play(game.legal_plays()[0])
    report = analyse(game, PLAYER)
    assert (report.result, report.adjusted) == pytest.approx((2, 0), abs=1e-5)
    assert [one.luck for one in report.rolls] == pytest.approx([2], abs=1e-5)


def test_the_course_of_a_record():
    game, _ = played(Settings(), 3)
    events = list(course(replay(game.record())))
    decided = [event.action for event in game.history if event.action is not None]
    made = [action for one in events if isinstance(one, Made) for action in one.actions]
    assert len(made) == len(decided)  # the steps of a play may stand in another order
    assert [action for action in made if action >= STEPS] == [action for action in decided if action >= STEPS]
    rolls = [event.roll for event in game.history if event.roll is not None]
    assert [sorted(one.dice) for one in events if isinstance(one, Thrown)] == [sorted(roll) for roll in rolls]
    assert all(one.states[0]["decider"] >= 0 for one in events if isinstance(one, Made))
    assert all(one.states[0]["phase"] in (Phase.OPENING, Phase.ROLL) for one in events if isinstance(one, Thrown))


FAULTY = """ 1 point match

 Game 1
 A : 0                              B : 0
  1) 31: 8/5 6/5                     42: 8/4 6/4
  2) 66: 24/18(2) 13/7(2)            65: 24/1
"""


def test_records_with_faults():
    report = analyse(parse_records(FAULTY)[0], PLAYER)
    assert len(report.faults) == 1
    assert [one.text for one in report.choices] == ["8/5 6/5", "8/4 6/4", "24/18(2) 13/7(2)"]
    assert report.result is None


def test_bad_input():
    with pytest.raises(NotationError, match="a record or a game is analysed"):
        analyse("match.mat")
    with pytest.raises(SettingsError, match="has no values"):
        analyse(parse_records(FAULTY)[0], "random")


def test_command(tmp_path):
    game, _ = played(Settings(match_length=1), 4, worst=(3,))
    file, page = tmp_path / "match.mat", tmp_path / "match.html"
    file.write_text(write_mat(game.record()), encoding="utf-8")
    net = tmp_path / "net.npz"
    PLAYER.net.save(net)
    result = run("analyse", str(file), "--player", f"greedy:{net}", "--html", str(page))
    assert result.exit_code == 0, result.output
    assert "error rate" in result.output
    assert "best choices" in page.read_text(encoding="utf-8").lower()
    result = run("analyse", str(file), "--player", f"greedy:{net}", "--json")
    assert [len(item["players"]) for item in json.loads(result.output)] == [2]
    file.write_text("nothing", encoding="utf-8")
    assert run("analyse", str(file)).exit_code == 2
    assert run("analyse", str(tmp_path / "none.mat")).exit_code == 2
