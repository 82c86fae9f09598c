"""Training with MaskablePPO: what it writes, that it learns, and that it can be stopped and resumed without a trace."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra bg_env[train]")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="training needs the extra bg_env[train]")

import bg_env  # noqa: E402 - after the libraries that it needs
from bg_env.errors import SettingsError  # noqa: E402
from bg_env.train.interrupt import FirstCtrlC  # noqa: E402
from bg_env.train.ppo import curve  # noqa: E402
from bg_env.train.ppo import run as ppo  # noqa: E402
from bg_env.train.ppo.options import MINUTES, PpoOptions, choose_options  # noqa: E402
from bg_env.train.run_folder import RunFolder  # noqa: E402
from bg_env.train.td.run import TDFolder  # noqa: E402

SMALL = {"num_envs": 16, "games": 0}
ROLLOUT = 16 * ppo.ROLLOUT


def run(path, options, **how):
    return ppo.train(options, RunFolder(path, **how), resume=how.get("resume", False), progress=False)


def weights(path):
    model = sb3_contrib.MaskablePPO.load(path / "model.zip", device="cpu")
    return {name: value.numpy().copy() for name, value in model.policy.state_dict().items()}


def same(one, other):
    return all((one[name] == other[name]).all() for name in one)


def columns(path):
    """The curve but its clock."""
    with (path / "curve.csv").open(newline="") as file:
        return [{name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_a_run_writes_what_it_says(tmp_path):
    outcome = run(tmp_path / "run", PpoOptions(steps=3 * ROLLOUT - 5, num_envs=16, games=20))
    assert (outcome.steps, outcome.interrupted) == (3 * ROLLOUT, False)
    names = {path.name for path in outcome.folder.iterdir()}
    assert {name for name in names if not name.startswith("events.out.tfevents.")} == {
        "model.zip",
        "curve.csv",
        "curve.png",
        "run.json",
        "games.npz",
    }
    rows = curve.read_curve(outcome.folder / "curve.csv")
    assert [row.steps for row in rows] == [ROLLOUT, 2 * ROLLOUT, 3 * ROLLOUT]
    assert [row.seconds for row in rows] == sorted(row.seconds for row in rows)
    assert all(0 <= row.wins <= row.games and abs(row.points) <= 3 * row.games for row in rows)
    assert sum(row.games for row in rows) > 20
    assert (outcome.folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    notes = json.loads((outcome.folder / "run.json").read_text())
    assert notes["options"]["id"] == "bg_env/BackgammonCubeless-v0"
    assert notes["steps"] == 3 * ROLLOUT
    assert notes["scores"]["trained"]["points"]["value"] == outcome.scores["trained"].points.value
    assert notes["versions"]["torch"] == torch.__version__


def test_it_learns_and_its_evaluation_shows_it(tmp_path):
    options = PpoOptions(steps=120_000, seed=2)
    outcome = run(tmp_path, options)
    untrained, trained = outcome.scores["untrained"], outcome.scores["trained"]
    assert trained.points.low > untrained.points.high + 0.3
    assert trained.sides[0].wins.low > 0.65
    lines = ppo.score_table(outcome.scores, options).splitlines()
    assert "1,000 evaluation games against random, 500 from each seat, played greedily" in lines[0]
    assert lines[1].split() == ["wins", "gammons", "backgammons", "points", "per", "game"]
    assert [line.split()[0] for line in lines[2:]] == ["untrained", "trained"]
    assert all(line.count("(") == 4 for line in lines[2:])


def test_the_same_seed_gives_the_same_net_and_another_another(tmp_path):
    options = PpoOptions(steps=2 * ROLLOUT, seed=3, **SMALL)
    run(tmp_path / "a", options)
    run(tmp_path / "b", options)
    run(tmp_path / "c", PpoOptions(steps=2 * ROLLOUT, seed=4, **SMALL))
    assert columns(tmp_path / "a") == columns(tmp_path / "b")
    assert same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not same(weights(tmp_path / "a"), weights(tmp_path / "c"))


@pytest.mark.parametrize("games", [0, 4])
def test_a_run_resumed_is_as_one_that_was_never_stopped(tmp_path, games):
    run(tmp_path / "whole", PpoOptions(steps=4 * ROLLOUT, **SMALL))
    run(tmp_path / "parts", PpoOptions(steps=ROLLOUT, num_envs=16, games=games))
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002 - what SB3 draws from
    folder = RunFolder(tmp_path / "parts", resume=True)
    options = choose_options(folder, steps=3 * ROLLOUT)
    assert options.num_envs == 16
    outcome = ppo.train(options, folder, resume=True, progress=False)
    assert outcome.steps == 4 * ROLLOUT
    assert columns(tmp_path / "whole") == columns(tmp_path / "parts")
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))


def test_a_run_whose_games_are_lost_goes_on_with_others(tmp_path):
    run(tmp_path, PpoOptions(steps=ROLLOUT, **SMALL))
    (tmp_path / "games.npz").unlink()
    outcome = run(tmp_path, PpoOptions(steps=ROLLOUT, **SMALL), resume=True)
    assert outcome.steps == 2 * ROLLOUT
    assert len(columns(tmp_path)) == 2


def test_a_time_limit_is_kept(tmp_path):
    began = time.monotonic()
    outcome = run(tmp_path, PpoOptions(minutes=1 / 60, num_envs=64, games=0))
    assert outcome.seconds >= 1
    assert outcome.steps > 0
    assert outcome.seconds < time.monotonic() - began + 1


def test_ctrl_c_keeps_what_was_learnt(tmp_path, monkeypatch):
    rollout, done = ppo._Run.rollout, []

    def interrupted(self):
        row = rollout(self)
        done.append(row)
        if len(done) == 2:
            signal.raise_signal(signal.SIGINT)
        return row

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(ppo._Run, "rollout", interrupted)
    outcome = run(tmp_path, PpoOptions(steps=50 * ROLLOUT, num_envs=16, games=1000))
    assert (outcome.steps, outcome.interrupted, outcome.scores) == (2 * ROLLOUT, True, {})
    assert len(columns(tmp_path)) == 2
    assert (tmp_path / "curve.png").is_file()
    assert weights(tmp_path)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_evaluating_keeps_the_model(tmp_path, monkeypatch):
    def stop(_model, _observation, action_masks=None, *, deterministic=False):
        raise KeyboardInterrupt

    monkeypatch.setattr(ppo.MaskablePPO, "predict", stop)
    outcome = run(tmp_path, PpoOptions(steps=ROLLOUT, num_envs=16, games=10))
    assert (outcome.interrupted, outcome.scores) == (True, {})
    assert weights(tmp_path)


def test_the_second_ctrl_c_stops_at_once():
    said = []
    with FirstCtrlC(said.append) as ctrl_c:
        signal.raise_signal(signal.SIGINT)
        assert ctrl_c.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert len(said) == 1
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("name", ["bg_env/BackgammonMatch-v0", "bg_env/Backgammon-v0", "bg_env/AceyDeucey-v0"])
def test_other_ids_can_be_learnt(tmp_path, name):
    options = PpoOptions(id=name, opponent="pubeval", steps=ROLLOUT, num_envs=16, games=4)
    outcome = run(tmp_path, options)
    assert outcome.scores["trained"].episodes == 4
    assert ("match" if "Match" in name else "game") in ppo.score_table(outcome.scores, options)
    rows = curve.read_curve(tmp_path / "curve.csv")
    assert all(abs(row.points) <= row.games for row in rows) or "Match" not in name


def test_rewards_are_thirds_of_points_and_one_for_a_match():
    for name, most in (("bg_env/BackgammonCubeless-v0", {1, 2, 3}), ("bg_env/BackgammonMatch-v0", {3})):
        env = ppo.make_model(PpoOptions(id=name, num_envs=64)).env
        env.reset()
        rng, seen = np.random.default_rng(1), set()
        for _ in range(400 if "Match" not in name else 4000):
            masks = env.env_method("action_masks")[0]
            _, rewards, dones, _ = env.step(bg_env.sample(masks, rng))
            assert (rewards[~dones] == 0).all()
            seen |= {round(3 * abs(float(reward)), 3) for reward in rewards[dones]}
            if len(seen) == len(most):
                break
        assert seen == most


def test_the_number_of_threads_is_put_back(tmp_path):
    torch.set_num_threads(2)
    run(tmp_path, PpoOptions(steps=ROLLOUT, threads=1, **SMALL))
    assert torch.get_num_threads() == 2


# What is asked for


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"id": "CartPole-v1"}, "no environment of bg_env is called 'CartPole-v1': choose from bg_env/Backgammon-v0"),
        ({"id": "nope"}, "no environment of bg_env"),
        ({"opponent": "bob"}, "no player is called 'bob': choose from random"),
        ({"minutes": 0}, "minutes is a number above 0, not 0"),
        ({"minutes": float("nan")}, "minutes is a number above 0"),
        ({"minutes": float("inf")}, "minutes is a number above 0"),
        ({"steps": 0}, "steps is a whole number of at least 1, not 0"),
        ({"num_envs": 0}, "num_envs is a whole number of at least 1"),
        ({"threads": 0}, "threads is a whole number of at least 1"),
        ({"games": -2}, "games is an even number of at least 0, not -2"),
        ({"games": 7}, "games is an even number of at least 0, not 7"),
        ({"seed": -1}, "seed is a whole number from 0 to"),
        ({"seed": 2**32}, "seed is a whole number from 0 to"),
    ],
)
def test_options_that_cannot_be_are_refused(asked, message):
    with pytest.raises(SettingsError, match=message):
        PpoOptions(**asked)


def test_without_a_limit_there_is_one():
    assert PpoOptions().minutes == MINUTES
    assert PpoOptions(steps=5).minutes is None


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(SettingsError, match=r"exists already and is not empty.*--out.*--resume.*--overwrite"):
        RunFolder(tmp_path)
    with pytest.raises(SettingsError, match=r"no run to resume.*no model\.zip and no run\.json"):
        RunFolder(tmp_path, resume=True)
    with pytest.raises(SettingsError, match="exclude each other"):
        RunFolder(tmp_path, resume=True, overwrite=True)
    with pytest.raises(SettingsError, match="is a file"):
        RunFolder(tmp_path / "mine.txt")
    folder = RunFolder(tmp_path, overwrite=True)
    folder.model.write_bytes(b"old")
    folder.make()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "events.out.tfevents.123.host").write_bytes(b"of a run of the TD learner")
    TDFolder(tmp_path, overwrite=True).make()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nothing_is_made_before_all_is_checked(tmp_path):
    RunFolder(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    RunFolder(tmp_path / "a" / "b").make()
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"options": 3}'])
def test_notes_that_are_none_are_refused(tmp_path, text):
    folder = RunFolder(tmp_path)
    folder.notes.write_text(text)
    with pytest.raises(SettingsError, match="cannot be resumed"):
        choose_options(folder)


def test_what_contradicts_the_run_is_refused(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_notes({"options": {"id": "bg_env/Backgammon-v0", "seed": 1, "num_envs": 8, "minutes": 2.0, "games": 10}})
    assert choose_options(folder, opponent="pubeval", steps=9) == PpoOptions(
        id="bg_env/Backgammon-v0", opponent="pubeval", num_envs=8, games=10, steps=9
    )
    for name, value in (("id", "bg_env/Nackgammon-v0"), ("seed", 2), ("num_envs", 9)):
        with pytest.raises(SettingsError, match=f"has {name}=.*cannot be resumed with"):
            choose_options(folder, **{name: value})


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_notes({"a": 1})

    def fail(file):
        file.write(b"half")
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - it is ours
        folder.write(folder.notes, fail)
    assert json.loads(folder.notes.read_text()) == {"a": 1}


# The curve


def test_the_curve_reads_back(tmp_path):
    rows = [curve.Row(10, 0.5, 0, 0, 0.0, 1.25, 0.001, -0.5), curve.Row(20, 1.5, 4, 3, -2.0, 1.0, 0.002, float("nan"))]
    with (tmp_path / "c.csv").open("wb") as file:
        curve.write_curve(file, rows)
    assert curve.read_curve(tmp_path / "c.csv")[0] == rows[0]
    assert curve.read_curve(tmp_path / "c.csv")[1][:7] == rows[1][:7]


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", ",".join(curve.Row._fields) + "\n1,2\n", ",".join(curve.Row._fields) + "\nx" * 8]
)
def test_another_table_is_no_curve(tmp_path, text):
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(SettingsError, match="is not the curve of a training run"):
        curve.read_curve(tmp_path / "c.csv")


def test_the_bold_line_is_the_mean_of_the_last_games():
    games = np.full(20, 100.0)
    totals = np.arange(20) * 100.0
    assert curve._moving(totals, games).tolist()[:3] == [0, 0.5, 1]
    assert curve._moving(totals, games)[-1] == np.mean([15, 16, 17, 18, 19])


def test_a_curve_can_be_drawn_of_nothing(tmp_path):
    with (tmp_path / "c.png").open("wb") as file:
        curve.draw_curve(file, [], "nothing yet")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_libraries_the_install_line_is_told():
    code = """
import sys, bg_env
sys.modules["torch"] = None
try:
    import bg_env.train.ppo.run
except bg_env.MissingDependencyError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert 'pip install "bg_env[train]"' in done.stdout
