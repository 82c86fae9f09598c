"""Model files of Stable-Baselines3: no code of the file is run where that is possible, else it is said before."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zipfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from cli_run import run

from bg_env.errors import SettingsError, UntrustedCodeWarning
from bg_env.players import player
from bg_env.rules import Settings

contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

from bg_env.players.sb3 import load_model  # noqa: E402 - after the libraries that it needs

CUBELESS = Settings(cube=False)
posix = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")


class RunsCode:
    """An object whose pickle makes a file where it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


class OwnPolicy(contrib.common.maskable.policies.MaskableActorCriticPolicy):
    """A policy that is not one of the libraries' own."""


def made(policy="MlpPolicy", **options):
    env = gym.make("bg_env/BackgammonCubeless-v0", disable_env_checker=True, **{"mask": "info"} | options)
    return contrib.MaskablePPO(policy, env, policy_kwargs={"net_arch": [8]}, n_steps=8, batch_size=8, device="cpu", seed=1)


def saved(path, model=None):
    (model or made()).save(path)
    return path


def same_policy(one, other):
    first, second = one.policy.state_dict(), other.policy.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def changed(path, change):
    """The same file with another `data`."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(parts["data"])
    change(data)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, json.dumps(data) if name == "data" else content)
    return path


def test_no_code_of_a_plain_file_is_run(tmp_path):
    model, trace = made(), tmp_path / "ran"
    model.mine = RunsCode(trace)
    path = saved(tmp_path / "model.zip", model)
    planted = base64.b64encode(pickle.dumps(RunsCode(trace))).decode()

    def plant(data):
        for value in data.values():
            if isinstance(value, dict) and ":serialized:" in value:
                value[":serialized:"] = planted

    for _ in range(2):
        loaded = load_model(path)
        assert same_policy(loaded, model)
        assert (loaded.observation_space, loaded.action_space) == (model.observation_space, model.action_space)
        assert player(f"sb3:{path}", CUBELESS).name == "sb3:model.zip"
        changed(path, plant)
    done = run("arena", path, "random", "--games", "2", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert not trace.exists()
    pickle.loads(base64.b64decode(planted))  # noqa: S301 - the trap works
    assert trace.exists()


def test_a_policy_that_sees_the_dict_is_plain_too(tmp_path):
    model = made("MultiInputPolicy", mask="both", observation="counts")
    loaded = load_model(saved(tmp_path / "model.zip", model))
    assert same_policy(loaded, model)
    assert loaded.observation_space == model.observation_space


@pytest.mark.parametrize("activation", ["ReLU", "Tanh", "SiLU"])
def test_the_activation_is_that_of_the_file(tmp_path, activation):
    kind = getattr(torch.nn, activation)
    env = gym.make("bg_env/BackgammonCubeless-v0", disable_env_checker=True, mask="info")
    options = {"net_arch": {"pi": [8], "vf": [4]}, "activation_fn": kind}
    model = contrib.MaskablePPO("MlpPolicy", env, policy_kwargs=options, n_steps=8, batch_size=8, device="cpu")
    loaded = load_model(saved(tmp_path / "model.zip", model))
    assert isinstance(loaded.policy.mlp_extractor.policy_net[1], kind)
    seen = np.zeros((1, *model.observation_space.shape), np.float32)
    assert loaded.predict(seen, deterministic=True)[0] == model.predict(seen, deterministic=True)[0]


def test_code_that_must_be_run_is_announced_before(tmp_path, monkeypatch):
    monkeypatch.setitem(contrib.MaskablePPO.policy_aliases, "OwnPolicy", OwnPolicy)
    model, trace = made("OwnPolicy"), tmp_path / "ran"
    model.mine = RunsCode(trace)
    path = saved(tmp_path / "model.zip", model)
    with pytest.raises(UntrustedCodeWarning, match=r"model\.zip .*runs code"):  # an error here, as in all tests
        load_model(path)
    assert not trace.exists()
    with pytest.warns(UntrustedCodeWarning):
        assert same_policy(load_model(path), model)
    assert trace.exists()
    for words in (["arena", path, "random", "--games", "2", "--quiet"], ["watch", path, "random", "--delay", "0", "--no-cube"]):
        done = run(*words)
        assert done.exit_code == 0, done.stderr
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"bg-env: {path} ")
        assert "runs code" in line


def test_another_kind_of_policy_is_refused_in_one_line(tmp_path):
    path = saved(tmp_path / "model.zip", made(OwnPolicy))
    done = run("arena", path, "random", "--games", "2")
    assert done.exit_code == 2
    announced, refused = done.stderr.splitlines()
    assert "runs code" in announced
    assert "holds a model with the policy" in refused


def test_a_damaged_file_is_refused_in_one_line(tmp_path):
    path = saved(tmp_path / "model.zip")
    whole = path.read_bytes()
    damaged = [whole[: len(whole) * k // 8] for k in range(8)]
    damaged += [whole[:at] + bytes(200) + whole[at + 200 :] for at in range(100, len(whole), len(whole) // 9)]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(SettingsError, match=r"model\.zip is not a model of Stable-Baselines3, or it is damaged: [^\n]*$"):
            load_model(path)


@posix
def test_a_file_that_others_may_change_is_refused(tmp_path):
    path = saved(tmp_path / "model.zip")
    path.chmod(0o666)
    for words in (["arena", path, "random"], ["play", "--opponent", path], ["watch", path, "random"]):
        done = run(*words)
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert f"{path} can be changed by other users" in line
        assert f"chmod go-w {path}" in line
    path.chmod(0o644)
    assert isinstance(load_model(path), contrib.MaskablePPO)
