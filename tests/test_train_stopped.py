"""Training runs that are killed at any moment, stopped by signals, or damaged."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
from cli_run import run as run_cli
from disk_states import DiskStates

torch = pytest.importorskip("torch", reason="training needs the extra bg_env[train]")
pytest.importorskip("sb3_contrib", reason="training needs the extra bg_env[train]")

from bg_env.errors import SettingsError  # noqa: E402 - after the libraries that it needs
from bg_env.players import ValueNet  # noqa: E402
from bg_env.players.sb3_file import read_model_file  # noqa: E402
from bg_env.train.interrupt import FirstCtrlC, sigterm_interrupts  # noqa: E402
from bg_env.train.ppo import run as ppo  # noqa: E402
from bg_env.train.ppo.options import PpoOptions, choose_options  # noqa: E402
from bg_env.train.run_folder import RunFolder, checkpoint, last_checkpoint  # noqa: E402
from bg_env.train.td.learner import TDLearner  # noqa: E402
from bg_env.train.td.run import TDFolder, train_td  # noqa: E402
from bg_env.train.td.settings import TDSettings  # noqa: E402

ROLLOUT = 2 * 64
CLOCK = ("seconds", "games_per_second")


def columns(path):
    """The curve but its clock."""
    with (path / "curve.csv").open(newline="") as file:
        return [{name: value for name, value in row.items() if name not in CLOCK} for row in csv.DictReader(file)]


def no_leftovers(path):
    return not [file for file in path.iterdir() if file.name.endswith(".part")]


# PPO


def weights_of(path):
    """All weights of a run, and those of its opponent pool."""
    found = dict(read_model_file((path / "model.zip").read_bytes(), path).weights["policy"])
    if (path / "pool.npz").is_file():
        with np.load(path / "pool.npz") as kept:
            found |= {name: torch.from_numpy(kept[name].copy()) for name in kept.files}
    return found


def same_run(one, other):
    first, second = weights_of(one), weights_of(other)
    assert columns(one) == columns(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture
def small_ppo(monkeypatch):
    monkeypatch.setattr(ppo, "_SAVE_SECONDS", -1)  # after every rollout
    monkeypatch.setattr(ppo, "EVERY", 1)
    monkeypatch.setattr(ppo, "warm_up", lambda *_: None)
    monkeypatch.setattr(ppo, "draw_curve", lambda file, *_, **__: file.write(b"a picture"))


def train_ppo(path, rollouts, *, seed=1, **how):
    folder = RunFolder(path, **how)
    given = {"steps": rollouts * ROLLOUT}
    options = (
        choose_options(folder, **given)
        if how.get("resume")
        else choose_options(opponent="self", num_envs=2, games=0, seed=seed, **given)
    )
    return ppo.train(options, folder, resume=how.get("resume", False), progress=False, tensorboard=False)


def test_a_ppo_run_killed_anywhere_is_resumed_exactly(tmp_path, small_ppo):
    train_ppo(tmp_path / "whole", 3)
    run = tmp_path / "run"
    with DiskStates(run, tmp_path) as disk:
        train_ppo(run, 2)
    assert len(disk.states) > 10
    begun = 0
    for state in disk.states:
        try:
            folder = RunFolder(state, resume=True)
        except SettingsError:  # killed before anything was saved
            assert begun == 0
            train_ppo(state, 3)
        else:
            begun += 1
            train_ppo(state, 3 - folder.read_notes()["steps"] // ROLLOUT, resume=True)
        same_run(state, tmp_path / "whole")
        assert no_leftovers(state)
    assert begun > 5


def test_a_ppo_run_killed_while_it_replaces_another_is_one_of_the_two(tmp_path, small_ppo):
    train_ppo(tmp_path / "old", 2, seed=2)
    train_ppo(tmp_path / "new", 2)
    run = shutil.copytree(tmp_path / "old", tmp_path / "run")
    train_ppo(tmp_path / "old", 1, resume=True)
    with DiskStates(run, tmp_path) as disk:
        train_ppo(run, 1, overwrite=True)
    replaced = []
    for state in disk.states:
        notes = RunFolder(state, resume=True).read_notes()
        replaced.append(notes["options"]["seed"] == 1)
        train_ppo(state, 1, resume=True)
        same_run(state, tmp_path / ("new" if replaced[-1] else "old"))
    assert replaced == sorted(replaced)
    assert {*replaced} == {False, True}


# TD


SMALL = TDSettings(total=2, hidden=(8, 4), batch=2, turns=128, minibatch=64, seed=3)


def train_small_td(path, *, seed=3, **how):
    folder = TDFolder(path, **how)
    return train_td(
        folder,
        replace(SMALL, seed=seed),
        threads=1,
        resume=how.get("resume", False),
        every=1e-9,
        evaluation_games=4,
        progress=False,
        tensorboard=False,
    )


def same_td_run(one, other):
    assert columns(one) == columns(other)
    first, second = ValueNet.load(one / "net.npz"), ValueNet.load(other / "net.npz")
    for name in ("w1", "b1", "w2", "b2", "w3", "b3"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_td_run_killed_anywhere_is_resumed_exactly(tmp_path):
    train_small_td(tmp_path / "whole")
    run = tmp_path / "run"
    with DiskStates(run, tmp_path) as disk:
        train_small_td(run)
    assert len(columns(tmp_path / "whole")) > 1
    begun = 0
    for state in disk.states:
        try:
            TDFolder(state, resume=True)
        except SettingsError:
            assert begun == 0
            train_small_td(state)
        else:
            begun += 1
            train_small_td(state, resume=True)
        same_td_run(state, tmp_path / "whole")
        assert no_leftovers(state)
    assert begun > 5


def test_a_td_run_killed_while_it_replaces_another_is_one_of_the_two(tmp_path):
    train_small_td(tmp_path / "old", seed=4)
    train_small_td(tmp_path / "new")
    run = shutil.copytree(tmp_path / "old", tmp_path / "run")
    with DiskStates(run, tmp_path) as disk:
        train_small_td(run, overwrite=True)
    replaced = []
    for state in disk.states:
        train_small_td(state, resume=True)
        with np.load(state / "run.npz") as kept:
            replaced.append("'seed': 3" in str(kept["settings"]))
        same_td_run(state, tmp_path / ("new" if replaced[-1] else "old"))
    assert replaced == sorted(replaced)
    assert {*replaced} == {False, True}


# Damage: one line, and the files stay as they are


JUNK = (b"", b"rubbish", b"PK\x03\x04rubbish", b"\x00\xff\n")


def check_refused(path, learner, names):
    whole = {file.name: file.read_bytes() for file in path.iterdir()}
    for name in names:
        for junk in (*JUNK, whole[name][: len(whole[name]) // 2 - 1]):
            (path / name).write_bytes(junk)
            done = run_cli("train", learner, "--resume", "--out", path, "--quiet")
            assert done.exit_code == 2, (name, junk[:9])
            (line,) = done.stderr.splitlines()
            assert name in line, line
            assert "pickle" not in line
            assert (path / name).read_bytes() == junk
        (path / name).write_bytes(whole[name])
    assert {file.name: file.read_bytes() for file in path.iterdir()} == whole


def test_a_damaged_ppo_run_is_refused_in_one_line(tmp_path, small_ppo):
    train_ppo(tmp_path, 1)
    (tmp_path / "curve.csv").write_bytes((tmp_path / "curve.csv").read_bytes()[:-2])  # still a table
    assert run_cli("train", "ppo", "--resume", "--out", tmp_path, "--quiet").exit_code == 2
    (tmp_path / "curve.csv").unlink()
    train_ppo(tmp_path, 1, resume=True)
    check_refused(tmp_path, "ppo", ["games.npz", "model.zip", "pool.npz", "curve.csv", "run.json"])
    for name in ("model.zip", "curve.csv", "run.json", "pool.npz"):  # what is not there is written again
        (tmp_path / name).unlink()
    train_ppo(tmp_path, 1, resume=True)
    assert [row["steps"] for row in columns(tmp_path)] == [str(ROLLOUT), str(2 * ROLLOUT), str(3 * ROLLOUT)]


def test_a_damaged_td_run_is_refused_in_one_line(tmp_path):
    train_small_td(tmp_path)
    check_refused(tmp_path, "td", ["run.npz", "net.npz", "curve.csv"])
    before = columns(tmp_path)
    for name in ("net.npz", "curve.csv"):
        (tmp_path / name).unlink()
    train_small_td(tmp_path, resume=True)
    assert columns(tmp_path) == before  # a run that is finished is not evaluated once more
    ValueNet.load(tmp_path / "net.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
@pytest.mark.parametrize(
    ("learner", "name"),
    [("td", name) for name in ("run.npz", "net.npz", "curve.csv")]
    + [("ppo", name) for name in ("games.npz", "model.zip", "run.json", "curve.png")],
)
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path, learner, name):
    for needed in ("run.npz", "games.npz", "model.zip", "run.json"):
        (tmp_path / needed).write_bytes(b"")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    for how in ("--resume", "--overwrite"):
        result = run_cli("train", learner, how, "--out", tmp_path, "--quiet")
        assert (result.exit_code, result.output.count("\n")) == (2, 1)
        assert f"{name} is not a regular file" in result.output


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
def test_a_run_that_others_may_change_is_not_resumed(tmp_path, small_ppo):
    train_ppo(tmp_path, 1)
    (tmp_path / "games.npz").chmod(0o666)
    done = run_cli("train", "--resume", "--out", tmp_path, "--quiet")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "games.npz can be changed by other users" in line


def test_a_new_run_that_cannot_start_leaves_the_old_one(tmp_path, monkeypatch):
    train_small_td(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def stop(*_arguments):
        raise KeyboardInterrupt

    for name in ("compile", "round", "against_pubeval"):
        with monkeypatch.context() as patches:
            patches.setattr(f"bg_env.train.td.learner.TDLearner.{name}", stop)
            words = ["--selfplay-games", "1", "--hidden", "8", "4", "--batch", "2", "--games", "4", "--quiet"]
            done = run_cli("train", "td", *words, "--overwrite", "--out", tmp_path)
        assert done.exit_code == 130
        assert "the last state that was saved is in" in done.stdout
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


# Signals


def test_sigterm_counts_as_ctrl_c():
    before = signal.getsignal(signal.SIGTERM)
    for one in (signal.SIGINT, signal.SIGTERM):
        said = []
        with sigterm_interrupts():
            with FirstCtrlC(said.append) as ctrl_c:
                signal.raise_signal(one)
                assert ctrl_c.asked
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGTERM)
            assert len(said) == 1
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_that_is_ignored_stays_ignored():
    """SIGINT, as in a job in the background of a script: SIGTERM then stops it all the same."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with FirstCtrlC(print) as ctrl_c:
            signal.raise_signal(signal.SIGINT)
            assert not ctrl_c.asked
            signal.raise_signal(signal.SIGTERM)
            assert ctrl_c.asked
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("learner", ["ppo", "td"])
def test_sigterm_ends_a_training_and_saves_it(tmp_path, monkeypatch, small_ppo, learner):
    if learner == "ppo":
        words, place, name = ["--num-envs", "2", "--steps", "9999"], ppo._Run, "rollout"
    else:
        words, place, name = ["--selfplay-games", "999", "--hidden", "8", "4", "--batch", "2"], TDLearner, "round"
    work = getattr(place, name)

    def interrupted(self, *arguments):
        found = work(self, *arguments)
        signal.raise_signal(signal.SIGTERM)
        return found

    monkeypatch.setattr(place, name, interrupted)
    done = run_cli("train", learner, *words, "--games", "4", "--out", tmp_path, "--quiet")
    assert done.exit_code == 130
    assert "Interrupted after" in done.stdout
    assert len(columns(tmp_path)) == 1


# TensorBoard


def test_event_files_are_written_anew_when_a_run_is_resumed(tmp_path, small_ppo):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def points(name):
        found = EventAccumulator(str(tmp_path)).Reload()
        return [event.step for event in found.Scalars(name)]

    for k in range(2):
        folder = RunFolder(tmp_path, resume=k > 0)
        options = PpoOptions(opponent="self", num_envs=2, games=0, steps=ROLLOUT)
        ppo.train(options, folder, resume=k > 0, progress=False)
        assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1
        assert points("train/entropy") == [ROLLOUT, 2 * ROLLOUT][: k + 1]
    shutil.rmtree(tmp_path)
    folder = TDFolder(tmp_path)
    train_td(folder, SMALL, threads=1, evaluation_games=4, progress=False)
    assert len(points("points_a_game/pubeval")) == 1


@pytest.mark.parametrize("learner", ["ppo", "td"])
def test_event_files_that_cannot_be_written_are_refused_only_if_asked_for(tmp_path, monkeypatch, learner):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    (tmp_path / "mine").write_text("that the folder is in use comes later")
    done = run_cli("train", learner, "--tensorboard", "--out", tmp_path)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert 'event files for TensorBoard need it: pip install "bg_env[train]"' in done.stderr
    if learner == "td":
        words = ["--selfplay-games", "1", "--hidden", "8", "4", "--batch", "2", "--games", "4", "--quiet"]
        done = run_cli("train", learner, *words, "--out", tmp_path / "run")
        assert (done.exit_code, done.stderr) == (0, "")
        assert not list((tmp_path / "run").glob("events*"))


# Checkpoints that are folders, of examples/rllib_cluster.py


def test_a_checkpoint_in_a_folder_is_whole_or_is_not_there(tmp_path):
    users = tmp_path / "checkpoint.part"
    users.mkdir()
    (users / "mine").write_text("kept")
    for text in ("one", "two"):
        with checkpoint(tmp_path, 7) as folder:
            (folder / "a").write_text(text)
        assert last_checkpoint(tmp_path) == tmp_path / "checkpoint_00000007"
        assert (tmp_path / "checkpoint_00000007" / "a").read_text() == text

    def fail():
        with checkpoint(tmp_path, 8) as folder:
            (folder / "a").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.part", "checkpoint_00000007"]
    assert (users / "mine").read_text() == "kept"
