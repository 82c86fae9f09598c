"""Every example runs, and none is forgotten here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NEEDS = {"train_maskable_ppo.py": ["sb3_contrib", "matplotlib"]}
RUNS = {
    "train_maskable_ppo.py": {
        "arguments": ["--steps", "30000", "--games", "20", "--out", "run"],
        "prints": ["Learnt from 32,768 steps", "untrained v random, 20 games", "trained v random, 20 games", "points per game"],
        "writes": ["run/model.zip", "run/curve.csv", "run/curve.png"],
    },
}
"""How each example is run here: briefly."""


def start(name, folder, *arguments):
    for library in NEEDS.get(name, []):
        pytest.importorskip(library, reason=f"examples/{name} needs the extra bg_env[train]")
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
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
    done = start(name, tmp_path, *RUNS[name]["arguments"])
    assert done.returncode == 0, done.stderr
    for text in RUNS[name]["prints"]:
        assert text in done.stdout
    for file in RUNS[name]["writes"]:
        assert (tmp_path / file).stat().st_size > 0


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
