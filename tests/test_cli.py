"""The command line: what it prints, what it writes, and one line for everything that is wrong."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import click
import numpy as np
import pytest
from cli_run import COMPILING, run, run_alone, said

import bg_env
from bg_env.cli import main
from bg_env.cli.params import command_line, go_on, next_command
from bg_env.players import PLAYERS

START = "4HPwATDgc/ABMA"
ROLLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"

pytestmark = pytest.mark.usefixtures("own_folder")


def found(group):
    """The commands of a group by their words: "show", "train td"."""
    for name, command in group.commands.items():
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {more}", one) for more, one in found(command))


def commands():
    return dict(found(main))


# Help


def test_the_help_names_every_command():
    shown = run("--help").output
    assert set(commands()) >= {"train", "arena", "play", "watch", "plays", "show", "replay", "bench", "info", "train td"}
    for name in main.commands:
        assert re.search(rf"^  {name} +[A-Z]", shown, re.MULTILINE), name
    assert run().output == shown
    assert run("-h").output == shown
    assert run("--version").output.strip() == f"bg-env, version {bg_env.__version__}"


def test_the_help_of_every_command_is_complete():
    for name, command in commands().items():
        result = run(*name.split(), "--help")
        assert result.exit_code == 0, result.output
        assert len(command.help) > 40, name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (name, parameter.name)
                assert parameter.opts[0] in result.output
            else:
                assert parameter.make_metavar(click.Context(command)).strip("[].") in result.output
    assert run("train", "--help").output.count("--help") > 0


def test_help_is_fast_because_it_brings_no_library_that_it_does_not_need():
    code = """
import sys
from bg_env.cli import main
from bg_env.cli.params import command_line
try:
    main(["train", "ppo", "--help"])
except SystemExit:
    print([name for name in ("torch", "matplotlib", "stable_baselines3", "bg_env.records.check") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip().endswith("[]")


# What is wrong


WRONG = [
    (["nonsense"], "No such command 'nonsense'"),
    (["show"], "Missing argument 'POSITION'"),
    (["show", START, "--colour"], "No such option"),
    (["show", "xx"], "'xx' is not an id of a position: give an XGID"),
    (["show", "4HPwATDgc/ABM!"], "4HPwATDgc/ABM!"),
    (["show", START, "--variant", "chess"], "no variant is called 'chess': choose from backgammon"),
    (["show", START, "--svg", "/no/such/folder/x.svg"], "/no/such/folder/x.svg"),
    (["show", START, "--svg", "board.png"], "give a file in an existing folder that ends with .svg"),
    (["show", "/" * 14], "'//////////////': bits are set beyond its end"),
    (["train", "td", "--hidden", "99999999", "99999999", "--out", "no/such"], "there is not enough memory"),
    (["plays", START], "the id has no roll: give the dice as well, such as 31 or 3-1"),
    (["plays", START, "70"], "'70' is not a roll: give two dice from 1 to 6, such as 31 or 3-1"),
    (["plays", START, "3"], "'3' is not a roll"),
    (["plays", START, "31", "42"], "Got unexpected extra argument"),
    (["train", "--minutes", "soon"], "Invalid value for '--minutes'"),
    (["train", "--minutes", "0"], "minutes is a number above 0, not 0.0"),
    (["train", "--steps", "-5"], "steps is a whole number of at least 1, not -5"),
    (["train", "--id", "Chess-v0"], "no environment of bg_env is called 'Chess-v0': choose from bg_env/Backgammon-v0"),
    (["train", "--opponent", "bob"], "no player is called 'bob': choose from random"),
    (["train", "--resume", "--overwrite"], "overwrite and resume exclude each other"),
    (["train", "--resume", "--out", "no/such/run"], "there is no run to resume in"),
    (["train", "--out", __file__], "is a file: give a folder for the run"),
    (["train", "--out", Path(__file__).parent], "exists already and is not empty: choose another folder with --out"),
    (["train", "--games", "5"], "games is an even number of at least 0, not 5"),
    (["train", "--evaluate", "bob"], "no player is called 'bob'"),
    (["train", "--evaluate", "pubeval", "--games", "0"], "to evaluate the net against pubeval, games must not be 0"),
    (["train", "--algorithm", "dqn"], "no learner is called 'dqn': choose from ppo, td"),
    (["train", "dqn"], "No such command 'dqn'"),
    (["train", "--lam", "0.5"], "--lam is an option of bg-env train td"),
    (["train", "ppo", "--no-tactics"], "--no-tactics is an option of bg-env train td"),
    (["train", "td", "--measure", "random"], "--measure is an option of bg-env train ppo"),
    (["train", "td", "--games", "3"], "--games is an even number of at least 4, not 3"),
    (["train", "td", "--games", "0"], "--games is an even number of at least 4, not 0"),
    (["train", "td", "--exact-from", "0"], "--exact-from needs --targets rolls"),
    (["train", "td", "--exact-from", "2", "--targets", "rolls"], "--exact-from is a number from 0 to 1, not 2.0"),
    (["train", "td", "--replay", "0"], "--replay is a whole number of at least 1, not 0"),
    (["train", "td", "--minutes", "nan"], "--minutes is a number above 0, not nan"),
    (["train", "td", "--minutes", "inf"], "--minutes is a number above 0, not inf"),
    (["train", "td", "--threads", "0"], "--threads is a whole number of at least 1, not 0"),
    (["train", "td", "--selfplay-games", "0"], "--selfplay-games is a whole number of at least 1, not 0"),
    (["train", "td", "--hidden", "0", "5"], "--hidden is two whole numbers of at least 1, not 0 5"),
    (["train", "td", "--seed", "-1"], "--seed is a whole number from 0 to 2**32 - 1, not -1"),
    (["train", "td", "--match-length", "99"], "--match-length is a whole number from 0 to 25, not 99"),
    (["train", "td", "--optimizer", "sgd"], "Invalid value for '--optimizer'"),
    (["train", "td", "--variant", "chess"], "no variant is called 'chess'"),
    (["train", "td", "--start", __file__], "is not a file of a value net"),
    (["train", "td", "--start", "no/such/net.npz"], "no/such/net.npz is not a file of a value net"),
    (["train", "td", "--resume", "--lr", "0.1"], "--lr cannot be changed with --resume: a run keeps its settings"),
    (["arena", "random"], "give at least two players"),
    (["arena", "random", "bob"], "no player is called 'bob': choose from random"),
    (["arena", "random", "pubeval", "--games", "7"], "games must be even"),
    (["arena", "random", "pubeval", "--games", "many"], "Invalid value for '--games'"),
    (
        ["arena", "random", "pubeval", "--seed", str(2**64)],
        "seed is a whole number from 0 to 2**64 - 1, not 18446744073709551616",
    ),
    (["arena", "random", "pubeval", "--match-length", "-1"], "match_length is a whole number from 0"),
    (["arena", "random", __file__, "--games", "7"], "games must be even"),  # before any file is looked at
    (["arena", "random", __file__, "--boards", "0"], "boards is a whole number"),
    (["arena", "random", __file__], "is not a trained player: give the folder of a run, its model.zip or net.npz"),
    (["arena", "random", Path(__file__).parent], "is not a trained player"),
    (["replay"], "Missing argument 'FILE...'"),
    (["replay", "a.mat", "b.mat", "--html", "c.html"], "give one FILE, not 2"),
    (["play", "--seat", "2"], "Invalid value for '--seat'"),
    (["play", "--opponent", "bob"], "no player is called 'bob'"),
    (["play", "--position", "zzz"], "'zzz' is not an id of a position"),
    (["watch", "random"], "Missing argument 'BLACK'"),
    (["watch", "random", "random", "--delay", "-1"], "Invalid value for '--delay'"),
    (["watch", "random", "random", "--delay", "nan"], "Invalid value for '--delay'"),
    (["watch", "random", "random", "--delay", "inf"], "Invalid value for '--delay'"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), WRONG, ids=lambda value: " ".join(map(str, value))[:40] if isinstance(value, list) else ""
)
def test_what_is_wrong_gets_one_line_and_exit_code_2(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    lines = result.output.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("bg-env")
    assert message in lines[0]


@pytest.mark.parametrize(
    "arguments", [words for words, _ in WRONG if words[0] == "train" and not {"--out", "--overwrite", "--resume"} & set(words)]
)
@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_wrong_arguments_are_refused_whatever_is_in_the_folder(arguments, more, own_folder):
    """As after `make train`: the folder of the run is there. With --resume, the run that is not there comes last."""
    alone = run(*arguments)
    for name in ("ppo", "td"):
        (own_folder / "runs" / name).mkdir(parents=True)
        (own_folder / "runs" / name / "curve.csv").write_text("a run")
    with_run = run(*arguments, *more)
    assert (with_run.exit_code, len(with_run.output.strip().splitlines())) == (2, 1)
    assert "runs" not in with_run.output
    if not more:
        assert with_run.output == alone.output


def test_every_error_of_ours_is_one_line(monkeypatch):
    def fail(*_arguments, **_options):
        raise bg_env.PositionError("the first line\nthe second")

    monkeypatch.setattr("bg_env.notation.read_position", fail)
    result = run("show", START)
    assert (result.exit_code, result.output) == (2, "bg-env: the first line the second\n")


def test_an_error_that_is_none_of_ours_is_not_hidden(monkeypatch):
    def fail(*_arguments, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr("bg_env.notation.read_position", fail)
    assert isinstance(run("show", START).exception, ZeroDivisionError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_is_130(monkeypatch, error):
    def stop(*_arguments, **_options):
        raise error

    monkeypatch.setattr("bg_env.notation.read_position", stop)
    result = run("show", START)
    assert (result.exit_code, result.output.strip()) == (130, "bg-env: interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such shell")
@pytest.mark.parametrize(
    "command",
    [
        f"plays {START} 66 | head -n 1",
        "watch random random --delay 0 --no-cube | head -n 1",
        "info | head -n 1",
        f"show {START} >&-",
        "watch random random --delay 0 --no-cube >&-",
        "arena random random --games 2 2>&-",
    ],
)
def test_an_output_that_is_closed_is_no_fault(command):
    done = run_alone(command, PYTHONWARNINGS="error")
    for word in ("Traceback", "Error", "Exception"):
        assert word not in done.stderr
    if command.startswith("plays"):
        assert "distinct plays of 6-6" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("info > /dev/full", "bg-env: the output cannot be written: No space left on device"),
        (f"show {START} > /dev/full", "bg-env: the output cannot be written: No space left on device"),
        (f"show {START} --svg /dev/full", "bg-env: /dev/full: No space left on device: give a path that can be used"),
    ],
)
def test_an_output_that_takes_nothing_gets_one_line(command, message):
    done = run_alone(command)
    assert (done.stderr.splitlines(), done.exit_code) == ([message], 2)


def test_the_line_about_compiling_kernels_is_not_counted():
    """On a cold cache a command says that it compiles, and how these tests read its output leaves that line out."""
    folder = Path.cwd() / "kernels"
    done = run_alone(["show", "xx"], BG_ENV_CACHE_DIR=str(folder))
    assert len(done.stderr.splitlines()) == 1
    cold = subprocess.run(
        [sys.executable, "-m", "bg_env", "plays", START, "66"],
        env=os.environ | {"BG_ENV_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert cold.stderr.startswith(COMPILING)
    assert said(cold.stderr) == ""


# Positions and versions


def test_info_lists_what_there_is():
    shown = run("info").output
    facts = json.loads(run("info", "--json").output)
    assert facts["versions"]["bg_env"] == bg_env.__version__
    assert set(facts["ids"]) == set(bg_env.registration.IDS)
    assert facts["ids"]["bg_env/BackgammonMatch-v0"] == "backgammon, match_length=7"
    assert set(facts["variants"]) == set(bg_env.VARIANTS)
    assert "4HMwAD3gczAAPQ" in facts["variants"]["nackgammon"]
    assert set(facts["observations"]) == set(bg_env.ENCODERS)
    assert [re.split(r"[:[]", name)[0] for name in facts["players"]] == list(PLAYERS)
    assert "random" in facts["players"]
    assert "greedy:FILE" in facts["players"]
    assert facts["cache"] in shown
    for part in ("ids", "variants", "observations"):
        assert all(name in shown for name in facts[part])


@pytest.mark.parametrize("dice", ["31", "3-1", "3,1", "3 1", "13"])
def test_plays_are_those_of_the_position(dice):
    result = run("plays", START, dice)
    head, *lines = result.output.splitlines()
    found = bg_env.Position.start().legal_plays(3, 1)
    assert head == f"{len(found)} distinct plays of {dice[0]}-{dice[-1]}:"
    assert [line.split()[-1] for line in lines] == [play.result.id for play in found]
    assert any(line.strip().startswith("8/5 6/5 ") for line in lines)
    read = json.loads(run("plays", START, dice, "--json").output)
    assert [row["play"] for row in read] == [str(play) for play in found]


def test_plays_of_other_ids():
    assert run("plays", ROLLED).output == run("plays", START, "31").output
    assert (
        run("plays", ROLLED, "66").output.startswith("4 distinct plays of 6-6:") or "6-6" in run("plays", ROLLED, "66").output
    )
    start = bg_env.Position.start("hypergammon").id
    assert "distinct plays of 2-1" in run("plays", start, "21", "--variant", "hypergammon").output


def test_a_dance_is_one_play():
    position = bg_env.Position([0, 14] + [0] * 23 + [1], [3] + [2] * 6 + [0] * 19)
    assert run("plays", position.id, "31").output.splitlines() == [
        "1 distinct play of 3-1:",
        f"  (no play)  {position.turned().id}",
    ]


def test_show_draws_the_board(tmp_path):
    shown = run("show", ROLLED, "--ascii").output
    assert "+13-14-15-16-17-18-+" in shown
    assert shown.isascii()
    picture = tmp_path / "board.svg"
    result = run("show", ROLLED, "--svg", picture)
    assert f"written: {picture}" in result.output
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_a_console_without_lines_gets_ascii():
    assert "+13-14-15" in run_alone(["show", START], PYTHONIOENCODING="ascii").stdout


# Records


def test_replay_judges_the_handed_records(shared):
    folder = shared / "data" / "matches"
    replaced = {row.get("was") for row in json.loads((shared / "data" / "dialects" / "MANIFEST.json").read_text())}
    rows = [row for row in json.loads((folder / "MANIFEST.json").read_text()) if row["file"] not in replaced]
    clean = [folder / row["file"] for row in rows if not row["first_fault_game"]]
    result = run("replay", *clean)
    assert result.exit_code == 0
    assert result.output.count("no fault") == len(clean)
    for row in rows:
        if row["first_fault_game"]:
            result = run("replay", folder / row["file"])
            assert result.exit_code == 1
            assert re.match(rf".*{row['file']}: game {row['first_fault_game']} move \d+: .+", result.output.splitlines()[0])


def record_file(folder, *, break_it=False):
    """A record of a game that was played here."""
    from bg_env.records import record_of, write_records

    game = bg_env.Game.new("hypergammon", seed=4, cube=False)
    start = bg_env.Game.new("hypergammon", cube=False).states
    while game.legal_actions():
        game.apply(game.legal_actions()[0])
    path = folder / "game.mat"
    write_records(path, [record_of(start, game.settings, game.history, ("Ann", "Bob"))])
    if break_it:
        path.write_text(re.sub(r"([1-6][1-6]): \S+", r"\1: 24/23 24/22", path.read_text(), count=1))
    return path


def test_replay_tells_faults_json_and_html(tmp_path):
    path = record_file(tmp_path)
    page = tmp_path / "game.html"
    result = run("replay", path, "--html", page)
    assert result.exit_code == 0, result.output
    assert "1 game, no fault" in result.output
    assert f"written: {page}" in result.output
    text = page.read_text(encoding="utf-8")
    assert "Ann" in text
    assert "<html" in text
    read = json.loads(run("replay", path, "--json").output)
    assert read[0]["ok"] is True
    assert read[0]["records"][0]["games"][0]["winner"] in (0, 1)
    result = run("replay", record_file(tmp_path, break_it=True))
    assert result.exit_code == 1
    assert re.match(r".*game\.mat: game 1 move \d+: .+", result.output)
    result = run("replay", tmp_path / "absent.mat")
    assert result.exit_code == 2
    assert "there is no file" in result.stderr


# Players


def test_the_arena_prints_who_is_better():
    result = run("arena", "pubeval", "random", "--games", "200", "--quiet")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert " ".join(lines[:2]).startswith(
        "backgammon, cube=False: pubeval v random, 200 games, each dice stream twice with seats swapped, seed 1"
    )
    assert max(map(len, lines)) <= 80
    assert re.match(r"pubeval: \+2\.\d+ \(\+2\.\d+, \+2\.\d+\) points per game", lines[-1])
    assert run("arena", "pubeval", "random", "--games", "200", "--quiet").output == result.output
    assert run("arena", "pubeval", "random", "--games", "200", "--quiet", "--seed", "2").output != result.output


def test_the_arena_knows_matches_variants_and_the_cube():
    read = json.loads(
        run(
            "arena",
            "pubeval",
            "random",
            "--games",
            "20",
            "--match-length",
            "3",
            "--variant",
            "hypergammon",
            "--quiet",
            "--json",
        ).output
    )
    assert read["results"][0]["settings"] == "hypergammon, match_length=3"
    assert read["ratings"] == []
    shown = run("arena", "random", "random", "--games", "4", "--cube", "--quiet").output
    assert shown.startswith("backgammon: random (1) v random (2), 4 games")


def test_the_arenas_json_is_json_after_two_games_too():
    def refuse(constant):
        raise AssertionError(constant)

    shown = run("arena", "random", "pubeval", "random", "--games", "2", "--quiet", "--json").output
    read = json.loads(shown, parse_constant=refuse)
    assert read["results"][0]["points"]["low"] is None
    assert len(read["ratings"]) == 3


def test_the_arena_ranks_several():
    shown = run("arena", "random", "pubeval", "random", "--games", "40", "--quiet").output
    assert shown.count("points per game") == 3
    assert re.search(r"^ +Elo +wins +points$", shown, re.MULTILINE)


def test_the_arena_tells_what_was_played_when_ctrl_c_comes(monkeypatch):
    from bg_env.arena.duel import Duel

    real, rounds = Duel.round, []

    def stop(self):
        rounds.append(1)
        if len(rounds) > 60:
            raise KeyboardInterrupt
        return real(self)

    monkeypatch.setattr(Duel, "round", stop)
    result = run("arena", "pubeval", "random", "--games", "400", "--boards", "4", "--quiet")
    assert result.exit_code == 130
    assert "pubeval v random" in result.output
    assert "interrupted; the result covers the games played so far" in result.output


def test_watch_tells_a_game_to_its_end():
    result = run("watch", "pubeval", "random", "--seed", "3", "--delay", "0", "--no-cube", "--ascii")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "The dice are those of --seed 3."
    assert re.match(r"pubeval throws \d, random \d: (pubeval|random) begins", lines[1])
    assert re.search(r"^(pubeval|random) wins a (single game|gammon|backgammon), [123] points?$", result.output, re.MULTILINE)
    assert run("watch", "pubeval", "random", "--seed", "3", "--delay", "0", "--no-cube", "--ascii").output == result.output


def test_watch_waits_when_asked():
    result = run("watch", "pubeval", "random", "--seed", "3", "--step", "--no-cube", input="\n\n\n")
    assert result.exit_code == 0
    assert result.output.count("Enter> ") == 4


# Training


def test_train_from_the_command_line(tmp_path):
    pytest.importorskip("sb3_contrib", reason="training needs the extra bg_env[train]")
    out = tmp_path / "run"
    options = ["--steps", "1000", "--num-envs", "8", "--games", "10", "--out", out]
    result = run("train", *options)
    assert result.exit_code == 0, result.output
    assert "training" in result.output  # the progress bar
    assert "Trained for 1,024 steps" in result.output
    assert re.search(rf"arena {re.escape(str(out))} pubeval$", result.output, re.MULTILINE)
    assert re.search(r"^trained +\d", result.output, re.MULTILINE)
    again = run("train", *options)
    assert again.exit_code == 2
    assert "--overwrite" in again.output
    assert run("train", *options, "--overwrite", "--quiet").exit_code == 0
    result = run("train", "--resume", "--out", out, "--steps", "512", "--quiet", "--games", "0")
    assert "Trained for 1,536 steps" in result.output
    assert run("train", "--resume", "--out", out, "--seed", "7").exit_code == 2
    shown = run("arena", out, "random", "--games", "4", "--quiet").output
    assert "cube=False: run v random, 4 games" in shown
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"nothing")
    wrong = run("play", "--opponent", broken)
    assert wrong.exit_code == 2
    assert len(wrong.output.splitlines()) == 1
    assert "broken.zip" in wrong.output
    assert run("watch", out, "random", "--delay", "0", "--no-cube", "--seed", "1").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to another process")
def test_ctrl_c_ends_a_training_with_130_and_a_line(tmp_path):
    pytest.importorskip("sb3_contrib", reason="training needs the extra bg_env[train]")
    out = tmp_path / "run"
    command = [sys.executable, "-m", "bg_env", "train", "--minutes", "5", "--num-envs", "8", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in iter(lambda: process.stderr.read(1), ""):
        if line == "%":  # the bar is there: it trains
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert re.search(rf"Interrupted after [\d,]+ steps: saved in {re.escape(str(out))}", output)
    assert {path.name for path in out.iterdir()} >= {"model.zip", "curve.csv", "curve.png"}


def test_a_second_ctrl_c_says_what_is_left(tmp_path, monkeypatch):
    ppo = pytest.importorskip("bg_env.train.ppo.run", reason="training needs the extra bg_env[train]", exc_type=ImportError)

    def stop(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(ppo, "train", stop)
    result = run("train", "--out", tmp_path / "run")
    assert (result.exit_code, result.output) == (130, "Interrupted at once: nothing was saved yet\n")


def test_without_pytorch_the_install_line_is_told():
    code = 'import sys; sys.modules["torch"] = None; from bg_env.cli import main; main(["train", "--out", "unused"])'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "bg-env: training needs PyTorch, sb3-contrib and matplotlib: "
        'pip install "bg_env[train]", or in a clone pip install -e ".[train]"'
    )


def test_the_td_learner_from_the_command_line(tmp_path):
    pytest.importorskip("torch", reason="training needs the extra bg_env[train]")
    out, small = tmp_path / "run", ["--selfplay-games", "8", "--hidden", "8", "4", "--batch", "4", "--games", "4", "--quiet"]
    result = run("train", "td", *small, "--out", out)
    assert result.exit_code == 0, result.output
    assert re.search(
        r"Trained after \d+ games of self-play in .* points a game against pubeval: .*net\.npz$", result.output, re.MULTILINE
    )
    assert re.search(rf"arena {re.escape(str(out))} pubeval$", result.output, re.MULTILINE)
    assert not result.stderr
    with_warning = run("train", "--algorithm", "td", *small, "--out", tmp_path / "old")
    assert with_warning.exit_code == 0
    assert with_warning.stderr == "bg-env train: --algorithm will be removed in version 0.3: write bg-env train td instead\n"
    with np.load(out / "net.npz") as one, np.load(tmp_path / "old" / "net.npz") as other:
        assert (one["w1"] == other["w1"]).all()
    assert run("train", "td", "--resume", "--out", out, "--games", "4", "--quiet").exit_code == 0
    assert run("arena", out, "random", "--games", "4", "--quiet").exit_code == 0


def test_every_setting_of_the_td_learner_is_an_option():
    from dataclasses import fields

    from bg_env.train.td.settings import TDSettings

    options = {option.name for option in commands()["train td"].params}
    assert {item.name for item in fields(TDSettings)} <= options


def test_plain_train_is_ppo():
    """Whatever version 0.1 took, but the options of the other learner."""
    group = commands()["train"]
    for words in ([], ["--minutes", "3"], ["--algorithm", "ppo", "--minutes", "3"], ["--algorithm=ppo"], ["ppo", "--resume"]):
        name, *rest = group.with_command(words)
        assert name == "ppo"
        assert "algorithm" not in " ".join(rest)
    assert group.with_command(["--help"]) == ["--help"]
    names = {name for option in commands()["train ppo"].params for name in option.opts}
    old = "id opponent measure measure-every minutes steps seed out resume overwrite num-envs threads games quiet"
    assert {f"--{name}" for name in old.split()} <= names


@pytest.mark.parametrize(("on_path", "shown"), [(True, "bg-env"), (False, "{bin}/bg-env")])
def test_the_next_command_can_be_typed_as_it_is(on_path, shown, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / ("bg-env.exe" if sys.platform == "win32" else "bg-env")
    for file in (script, folder / "python"):
        file.write_text("")
        file.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder if on_path else tmp_path))
    assert command_line("arena", Path("my run"), "pubeval") == f"{shown.format(bin=folder)} arena 'my run' pubeval"
    if not on_path:
        monkeypatch.chdir(tmp_path)
        assert command_line("info") == f"{Path('bin', script.name)} info"
        script.unlink()
        assert command_line("info") == f"{Path('bin', 'python')} -m bg_env info"


def test_a_long_command_goes_on_in_further_lines_of_a_narrow_terminal(monkeypatch):
    words = ["play", "--position", "XGID=" + "-" * 45, "--save", "my game.mat"]
    whole = next_command("To go on", *words)
    assert whole == f"To go on: {command_line(*words)}"
    monkeypatch.setattr("sys.stdout", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("COLUMNS", "60")
    first, *rest = next_command("To go on", *words).split("\n")
    assert first == "To go on:"
    assert max(map(len, rest)) <= 60
    assert all(line.endswith(" \\") for line in rest[:-1])
    assert shlex.split(" ".join(line.removesuffix("\\") for line in rest)) == shlex.split(command_line(*words))
    assert next_command("Short", "info") == f"Short: {command_line('info')}"


def test_after_training_it_is_said_how_to_go_on(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "my env" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "bg-env", "activate"):
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr(sys, "prefix", str(folder.parent))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path)
    go_on("To compare it", "arena", Path("runs"), "pubeval")
    assert capsys.readouterr().out.splitlines() == [
        "To compare it: 'my env/bin/bg-env' arena runs pubeval",
        "(After . 'my env/bin/activate' the program is called bg-env.)",
    ]
    monkeypatch.setenv("PATH", str(folder))
    go_on("To compare it", "info")
    assert capsys.readouterr().out == "To compare it: bg-env info\n"


def test_a_record_that_is_not_there_is_a_usage_error():
    for words in (["replay", "no\x1b[31m.mat"], ["replay", "--json", "no.mat"], ["replay", __file__, "no.mat"]):
        result = run(*words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "there is no file no" in result.stderr
        assert "\x1b" not in result.stderr


def test_names_of_files_are_printed_without_control_characters(tmp_path):
    picture = tmp_path / "a\x1b[31mb.svg"
    assert "\x1b" not in run("show", START, "--svg", str(picture)).output
    assert picture.is_file()
    game = tmp_path / "a\x1b[31mb.mat"
    assert "\x1b" not in run("watch", "random", "random", "--delay", "0", "--ascii", "--save", str(game)).output
    assert game.is_file()


def test_dice_beside_an_id_with_a_roll_are_mentioned():
    result = run("plays", ROLLED, "66")
    assert result.stderr == "bg-env plays: the plays are those of 6-6, not of the roll in the id, 3-1\n"
    assert "distinct plays of 6-6" in result.stdout
    for same in ("31", "1-3"):
        assert run("plays", ROLLED, same).stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows edits lines in its own way")
def test_arrow_keys_edit_the_line_and_bring_earlier_ones_back():
    pytest.importorskip("readline", reason="this Python has no readline")
    import pty
    import select

    def read_until(end):
        """The text that the program prints up to `end`."""
        shown = b""
        while end not in shown:
            assert select.select([parent], [], [], 60)[0], shown
            shown += os.read(parent, 1000)
        return shown

    code = "from bg_env.cli.play import _screen; s = _screen(('a', 'b'), 0, True); [print([s.ask('> ')]) for _ in '12']"
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=child, stdout=child, env={**os.environ, "TERM": "xterm"}
    ) as program:
        os.close(child)
        try:
            for waited, typed in ((b"> ", b"hint\n"), (b"['hint']\r\n> ", b"\x1b[A\x1b[D\x1b[Dx\n")):
                read_until(waited)
                os.write(parent, typed)
            shown = read_until(b"']\r\n")
        finally:
            program.kill()
    os.close(parent)
    assert b"['hixnt']" in shown
    assert b"^[" not in shown


def test_bench_runs_the_benchmarks_of_a_clone(monkeypatch, tmp_path):
    assert "--rounds" in run("bench", "--help").output
    wrong = run("bench", "--rounds", "0")
    assert (wrong.exit_code, len(wrong.stderr.splitlines())) == (2, 1)
    assert "--rounds" in wrong.stderr
    monkeypatch.setattr(bg_env, "__file__", str(tmp_path / "site-packages" / "bg_env" / "__init__.py"))
    alone = run("bench")
    assert (alone.exit_code, len(alone.stderr.splitlines())) == (2, 1)
    assert "bench needs a clone of the repository" in alone.stderr


def test_plays_of_a_roll_that_dances_are_those_of_the_player_who_rolled():
    shut = "XGID=aBBBBBB-------------------:0:0:-1:66:0:0:0:0:6"
    for words in ([shut], [shut, "66"]):
        result = run("plays", *words)
        assert result.exit_code == 0
        assert "(no play)" in result.output


def test_an_overwritten_run_is_there_until_there_is_another(tmp_path):
    kept = tmp_path / "model.zip"
    kept.write_text("old")
    words = ["train", "--overwrite", "--num-envs", "1000000000000", "--steps", "10", "--out", str(tmp_path)]
    result = run(*words)
    assert result.exit_code == 2
    assert "memory" in result.stderr
    assert kept.read_text() == "old"
    result = run("train", "td", "--seed", "-1", "--out", tmp_path / "td")
    assert result.exit_code == 2
    assert "seed is a whole number" in result.stderr


def test_a_damaged_run_is_refused_in_one_line(tmp_path):
    words = ["train", "--steps", "100", "--num-envs", "4", "--games", "0", "--quiet", "--out", str(tmp_path)]
    assert run(*words).exit_code == 0
    for name, content in (
        ("games.npz", b""),
        ("games.npz", b"rubbish"),
        ("model.zip", b"rubbish"),
        ("run.json", b'{"options": {"id": ["a"]}}'),
    ):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content)
        result = run("train", "--resume", *words[1:])
        assert result.exit_code == 2, name
        assert len(result.stderr.splitlines()) == 1
        (tmp_path / name).write_bytes(whole)
    assert run("train", "--resume", *words[1:]).exit_code == 0
