"""Every example runs, and none is forgotten here."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
REQUIRED = set(os.environ.get("BG_ENV_EXAMPLES", "").split())
"""Examples that must run here: their library missing is a failure. `.ci/groups` sets it, in an environment for each group."""
SMOKE = ["--smoke", "--out", "run"]
CURVE = ["run/curve.csv"]
NET = [*CURVE, "run/net.pt"]
POINTS = "random, 20 games"  # the result of the arena
RUNS = {
    "agilerl_ppo.py": {
        "needs": ["agilerl"],
        "prints": ["32,768 steps", f"ppo v {POINTS}"],
        "writes": [*CURVE, "run/agent.pt"],
        "warns": True,
    },
    "cleanrl_ppo_selfplay.py": {"needs": ["torch"], "prints": [f"greedy v {POINTS}"], "writes": NET},
    "openspiel_dqn.py": {"needs": ["pyspiel", "tree", "torch"], "prints": [f"dqn v {POINTS}"], "writes": CURVE},
    "openspiel_mcts.py": {"needs": ["pyspiel"], "prints": ["4 simulations", "mcts 4 v random, 6 games"], "writes": CURVE},
    "rllib_selfplay.py": {
        "needs": ["ray"],
        "prints": [f"ppo v {POINTS}"],
        "writes": [*CURVE, "run/checkpoint/rllib_checkpoint.json"],
        "warns": True,
    },
    "sb3_selfplay.py": {
        "needs": ["sb3_contrib", "matplotlib"],
        "prints": ["Learnt from 32,768 steps", "learner v random, 20 games"],
        "writes": ["run/model.zip", "run/curve.csv", "run/curve.png"],
    },
    "skrl_ppo.py": {"needs": ["skrl"], "prints": ["32,768 steps", f"greedy v {POINTS}"], "writes": NET, "warns": True},
    "td_selfplay.py": {
        "needs": ["torch"],
        "prints": ["Learnt from 2,0", "td v random, 40 games", "td v pubeval, 40 games"],
        "writes": ["run/net.npz", *CURVE],
    },
    "tianshou_dqn.py": {"needs": ["tianshou"], "prints": [f"dqn v {POINTS}"], "writes": NET, "warns": True},
    "torchrl_ppo.py": {"needs": ["torchrl"], "prints": ["32,768 steps", f"greedy v {POINTS}"], "writes": NET, "warns": True},
    "train_maskable_ppo.py": {
        "needs": ["sb3_contrib", "matplotlib"],
        "arguments": ["--steps", "30000", "--games", "20", "--out", "run"],
        "prints": ["Learnt from 32,768 steps", "untrained v random, 20 games", "trained v random, 20 games"],
        "writes": ["run/model.zip", "run/curve.csv", "run/curve.png"],
    },
}
"""How each example is run here: briefly. `warns`: its library warns by itself, so warnings are no errors there."""


def start(name, folder, *arguments):
    missing = [library for library in RUNS[name]["needs"] if find_spec(library) is None]
    if missing and name not in REQUIRED:
        pytest.skip(f"examples/{name} needs {', '.join(missing)}, which is not installed here")
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    warnings = [] if RUNS[name].get("warns") else ["-W", "error"]
    return subprocess.run(
        [sys.executable, *warnings, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_the_example_runs(name, tmp_path):
    done = start(name, tmp_path, *RUNS[name].get("arguments", SMOKE))
    assert done.returncode == 0, done.stderr
    for text in [*RUNS[name]["prints"], "points per game"]:
        assert text in done.stdout
    for file in RUNS[name]["writes"]:
        assert (tmp_path / file).stat().st_size > 0


def test_the_example_for_rllib_runs_over_the_native_batch(tmp_path):
    done = start("rllib_selfplay.py", tmp_path, "--mode", "batch", *SMOKE)
    assert done.returncode == 0, done.stderr
    assert f"ppo v {POINTS}" in done.stdout


@pytest.mark.parametrize("name", RUNS)
def test_the_example_tells_how_to_use_it(name, tmp_path):
    done = start(name, tmp_path, "--help")
    assert done.returncode == 0
    assert f"python examples/{name}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "."], "exists already: choose a new folder"),
        (["--id", "CartPole-v1"], "invalid choice: 'CartPole-v1'"),
        (["--minutes", "soon"], "invalid float value: 'soon'"),
    ],
)
def test_the_training_example_refuses_what_is_wrong(arguments, message, tmp_path):
    done = start("train_maskable_ppo.py", tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_value_changes_its_sign_with_the_player():
    """The advantages of the CleanRL example, against the sum that they stand for, told by who plays at each step."""
    torch = pytest.importorskip("torch", reason="examples/cleanrl_ppo_selfplay.py needs torch, which is not installed here")
    spec = spec_from_file_location("example", EXAMPLES / "cleanrl_ppo_selfplay.py")
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    steps, games = 12, 5
    torch.manual_seed(1)
    rewards, values = torch.randn(steps, games), torch.randn(steps + 1, games)
    players, ends = torch.randint(2, (steps + 1, games)), torch.rand(steps, games) < 0.2
    found = example.advantages(rewards, values, players, ends)
    for i in range(games):
        for t in range(steps):
            told = 0.0
            for k in range(t, steps):
                mine = 1 if players[k, i] == players[t, i] else -1
                then = values[k + 1, i] if players[k + 1, i] == players[k, i] else -values[k + 1, i]
                surprise = rewards[k, i] + (0 if ends[k, i] else then) - values[k, i]
                told += mine * example.LAMBDA ** (k - t) * surprise
                if ends[k, i]:
                    break
            assert found[t, i] == pytest.approx(float(told), abs=1e-5)
