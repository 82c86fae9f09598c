"""Files that version 0.1.0 wrote: they still load and continue as they did there; its module names still import."""

from __future__ import annotations

import importlib
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bg_env
from bg_env import _renamed
from bg_env.envs.vector import VectorEnv
from bg_env.players import ValueNet, ValuePlayer
from bg_env.records import read_jsonl, read_records, replay, write_jsonl
from bg_env.rules import Settings

OLD = Path(__file__).parent / "data" / "release_0_1_0"
EXPECTED = json.loads((OLD / "expected.json").read_text())
NEEDS_TORCH = "needs the extra bg_env[train]"


@pytest.mark.parametrize("name", ["match.mat", "match.sgf", "match.jsonl"])
def test_records(name):
    (record,) = read_records(OLD / name)
    found = replay(record)
    assert not [fault for game in found.games for fault in game.faults]
    assert record.length == 3


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("td/net.npz", Settings(cube=False)),
        ("net_cube.npz", Settings()),
        ("net_match.npz", Settings(match_length=3)),
    ],
)
def test_nets(file, settings):
    player = ValuePlayer(ValueNet.load(OLD / file)).bind(settings)
    envs = VectorEnv(num_envs=8, opponent=None, cube=settings.cube, match_length=settings.match_length)
    envs.reset(seed=1)
    for _ in range(20):
        states = envs.states.copy()
        rolled = states["phase"] == bg_env.Phase.CHECKER
        if rolled.any():
            plays = player.choose_plays(states[rolled], np.zeros(int(rolled.sum()), np.uint64))
            assert plays.shape == (int(rolled.sum()), 4)
        envs.step(envs.sample(np.random.default_rng(0)))


def test_a_saved_batch_goes_on_as_it_did():
    import gymnasium

    envs = gymnasium.make_vec("bg_env/Backgammon-v0", num_envs=4, opponent="random", autoreset_mode="same_step")
    envs.reset(seed=5)
    with np.load(OLD / "batch.npz") as file:
        saved = {name: file[name] for name in file.files}
    saved["settings"] = str(saved["settings"])
    envs.restore(saved)
    rng = np.random.default_rng(0)
    for _ in range(30):
        rng.bit_generator.random_raw()
    rewards = [envs.step(envs.sample(rng))[1].tolist() for _ in range(50)]
    assert rewards == EXPECTED["batch_rewards"]


def test_the_dead_cube_by_its_old_name_is_read_from_batches_and_records():
    settings = Settings(match_length=3, allow_dead_cube=True)
    envs = VectorEnv(num_envs=2, settings=settings, opponent=None)
    envs.reset(seed=1)
    saved = envs.save()
    envs.restore({**saved, "settings": "backgammon, match_length=3, dead_cube=False"})
    with pytest.raises(bg_env.SettingsError, match="saved were 2 games of backgammon, match_length=3, dead_cube=True"):
        envs.restore({**saved, "settings": "backgammon, match_length=3, dead_cube=True"})
    game = bg_env.Game.new(seed=1, match_length=3, allow_dead_cube=True)
    game.apply(game.legal_actions()[0])
    text = write_jsonl([game.record()])
    assert "allow_dead_cube=True" in text
    (record,) = read_jsonl(text.replace("allow_dead_cube=True", "dead_cube=False"))
    assert record.settings == settings


def test_a_td_run_goes_on_to_the_same_net():
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    from bg_env.train.td import TDLearner

    learner = TDLearner.load(OLD / "td" / "run.npz", threads=1)
    assert learner.games == EXPECTED["games_in_file"]
    while learner.done < 1:
        learner.round()
    assert learner.games == EXPECTED["games_at_end"]
    ours = io.BytesIO()
    learner.net().dump(ours)
    ours.seek(0)
    with np.load(ours) as found, np.load(OLD / "td_end.npz") as wanted:
        weights = [name for name in wanted.files if wanted[name].dtype == np.float32]
        assert len(weights) >= 6
        for name in weights:  # sums are rounded otherwise on other processors
            np.testing.assert_allclose(found[name], wanted[name], atol=1e-3, err_msg=name)


def test_a_ppo_run_goes_on(tmp_path):
    pytest.importorskip("sb3_contrib", reason=NEEDS_TORCH)
    run = tmp_path / "run"
    shutil.copytree(OLD / "ppo", run)
    before = json.loads((run / "run.json").read_text())
    command = [sys.executable, "-m", "bg_env", "train", "--out", str(run), "--resume", "--steps", "1024", "--games", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = json.loads((run / "run.json").read_text())
    assert after["steps"] == before["steps"] + 1024


def test_a_net_of_a_ppo_run_is_a_player():
    pytest.importorskip("sb3_contrib", reason=NEEDS_TORCH)
    from bg_env import arena

    result = arena.play(f"sb3:{OLD / 'ppo' / 'model.zip'}", "random", games=4, variant="hypergammon", cube=True)
    assert result.complete


def test_old_module_names_import_with_a_warning():
    code = "import importlib, warnings; " + "".join(
        f"importlib.import_module('bg_env.{old}'); " for old in ("notation.mat", "train.folder", "envs.options", "players.net")
    )
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("DeprecationWarning: bg_env.") == 4
    assert "bg_env.notation.mat is now bg_env.records.mat" in done.stderr


@pytest.mark.parametrize("name", ["Settings", "RULES", "LIFTED_CAP"])
def test_old_places_of_names_give_the_new_ones_with_a_warning(name):
    with pytest.warns(DeprecationWarning, match=f"bg_env.rules.variant.{name} is now bg_env.rules.{name}"):
        assert getattr(bg_env.rules.variant, name) is getattr(bg_env.rules, name)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        bg_env.rules.variant.colour  # noqa: B018 - it is looked up


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("train.td.replay_buffer", "Store", "ReplayBuffer"),
        ("train.td.replay_buffer", "STORED", "SIZE"),
        ("train.ppo.opponent_pool", "PastSelves", "OpponentPool"),
        ("train.ppo.evaluate", "FRESH", "EVALUATION"),
    ],
)
def test_old_names_in_modules_give_the_new_ones_with_a_warning(module, old, new):
    pytest.importorskip("torch", reason=NEEDS_TORCH)
    found = importlib.import_module(f"bg_env.{module}")
    with pytest.warns(DeprecationWarning, match=rf"{old} is now .*\.{new}; the old name will be removed"):
        assert getattr(found, old) is getattr(found, new)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = found.nothing


def test_old_names_of_the_options_of_ppo_give_the_new_ones_with_a_warning():
    from bg_env.train.ppo.options import PpoOptions

    with pytest.warns(DeprecationWarning, match="measure of PpoOptions is now evaluate"):
        options = PpoOptions(measure=("pubeval",))
    with pytest.warns(DeprecationWarning, match=r"PpoOptions\.judge is now evaluated_against"):
        assert options.judge == options.evaluated_against == "random"
    with pytest.warns(DeprecationWarning, match=r"PpoOptions\.measure is now evaluate"):
        assert options.measure == options.evaluate == ("pubeval",)
    assert options == PpoOptions(evaluate=("pubeval",))


@pytest.mark.parametrize("new", sorted(set(_renamed.MODULES.values())))
def test_new_names_are_there(new):
    path = Path(bg_env.__file__).parent.joinpath(*new.split("."))
    assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("module", _renamed.SPLIT)
def test_old_modules_whose_names_have_changed(module):
    old = importlib.import_module(f"bg_env.{module}")
    for name, new in _renamed.SPLIT[module].items():
        where, _, called = new.partition(":")
        with pytest.warns(DeprecationWarning, match=rf"bg_env\.{module}\.{name} is now bg_env\.{where}\.{called}"):
            found = getattr(old, name)
        assert found is getattr(importlib.import_module(f"bg_env.{where}"), called)
    with pytest.raises(AttributeError):
        old.colour  # noqa: B018 - it is looked up


def test_the_old_module_of_replays_gives_what_it_gave():
    with pytest.warns(DeprecationWarning, match=r"bg_env\.notation\.replay is now bg_env\.records"):
        old = importlib.import_module("bg_env.notation.replay")
    for name in ("FileReplay", "parse_records", "read_records", "replay", "replay_files", "replay_settings", "write_records"):
        assert getattr(old, name) is getattr(bg_env.records, name)


def test_records_has_the_public_names_of_its_modules():
    modules = [importlib.import_module(f"bg_env.records.{name}") for name in ("check", "files", "jsonl", "mat", "sgf", "write")]
    public = {name: module for module in modules for name in module.__all__}
    public |= dict.fromkeys(("Fault", "FileReplay", "GameReplay", "Moment", "Replay"), bg_env.records.report)
    public |= dict.fromkeys(("Entry", "GameRecord", "Note", "Record"), bg_env.records.record)
    analysis = importlib.import_module("bg_env.records.analysis")  # its Probabilities is a type only
    public |= {name: analysis for name in analysis.__all__ if name != "Probabilities"}
    assert set(public) == set(bg_env.records.__all__)
    for name, module in public.items():
        assert getattr(bg_env.records, name) is getattr(module, name)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        bg_env.records.colour  # noqa: B018 - it is looked up
