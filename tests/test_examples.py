"""Every example runs, and none is forgotten here; what all of them have in common is looked up in their text."""

from __future__ import annotations

import ast
import csv
import os
import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from example_list import EXAMPLES as LIST

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
REQUIRED = set(os.environ.get("BG_ENV_EXAMPLES", "").split())
"""The examples to run here, whose library missing is a failure; all that can be run, if none is named. `.ci/groups` names those
of each group, in an environment of its own, and `.ci/run` the others."""
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
    "hypergammon_td.py": {
        "needs": ["torch"],
        "prints": ["676 positions", "exploitability 0.", "td v random, 40 games", "td v exact:one, 40 games"],
        "writes": ["run/net.npz", "run/one.sol", *CURVE],
    },
    "openspiel_dqn.py": {"needs": ["pyspiel", "tree", "torch"], "prints": [f"dqn v {POINTS}"], "writes": CURVE},
    "openspiel_mcts.py": {"needs": ["pyspiel"], "prints": ["4 simulations", "mcts 4 v random, 6 games"], "writes": CURVE},
    "rllib_cluster.py": {
        "needs": ["ray"],
        "prints": [f"ppo v {POINTS}"],
        "writes": [*CURVE, *(f"run/checkpoint_00000004/{name}" for name in ("pool.npz", "algorithm/rllib_checkpoint.json"))],
        "warns": True,
    },
    "rllib_selfplay.py": {
        "needs": ["ray"],
        "prints": [f"ppo v {POINTS}"],
        "writes": [*CURVE, "run/checkpoint/rllib_checkpoint.json"],
        "warns": True,
        "also": [("--mode", "batch")],
    },
    "sb3_single.py": {
        "needs": ["sb3_contrib"],
        "prints": ["4,096 steps", f"ppo v {POINTS}"],
        "writes": [*CURVE, "run/model.zip"],
    },
    "sb3_selfplay.py": {
        "needs": ["sb3_contrib", "matplotlib"],
        "prints": ["Trained for 32,768 steps", "learner v random, 20 games"],
        "writes": ["run/model.zip", "run/curve.csv", "run/curve.png"],
    },
    "skrl_ppo.py": {"needs": ["skrl"], "prints": ["32,768 steps", f"greedy v {POINTS}"], "writes": NET, "warns": True},
    "td_selfplay.py": {
        "needs": ["torch"],
        "prints": ["Trained for 2,0", "td v random, 40 games", "td v pubeval, 40 games"],
        "writes": ["run/net.npz", *CURVE],
    },
    "textarena_game.py": {
        "needs": ["textarena"],
        "prints": ["game 5: ", "scripted v random, 6 games", " decisions, "],
        "writes": CURVE,
        "warns": True,
    },
    "tianshou_dqn.py": {"needs": ["tianshou"], "prints": [f"dqn v {POINTS}"], "writes": NET, "warns": True},
    "torchrl_ppo.py": {"needs": ["torchrl"], "prints": ["32,768 steps", f"greedy v {POINTS}"], "writes": NET, "warns": True},
    "train_maskable_ppo.py": {
        "needs": ["sb3_contrib", "matplotlib"],
        "prints": ["Trained for 32,768 steps", "untrained v random, 20 games", "trained v random, 20 games"],
        "writes": ["run/model.zip", "run/curve.csv", "run/curve.png"],
    },
    "verifiers_game.py": {
        "needs": ["verifiers"],
        "prints": ["rollout 0: ", "scripted v random, 6 games", " decisions, "],
        "writes": CURVE,
        "warns": True,
    },
}
"""The brief run of each example. `also`: further arguments that it is run with. `warns`: its library warns by itself, so
warnings are not errors there."""
CHOSEN = [name for name in RUNS if not REQUIRED or name in REQUIRED]
each = pytest.mark.parametrize("name", RUNS)


def start(name, folder, *arguments):
    missing = [library for library in RUNS[name]["needs"] if find_spec(library) is None]
    if missing and name not in REQUIRED:
        pytest.skip(f"examples/{name} needs {', '.join(missing)}, which is not installed here")
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    warnings = [] if RUNS[name].get("warns") else ["-W", "error"]
    return subprocess.run(
        [sys.executable, *warnings, str(ROOT / "tests" / "strict_example.py"), str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def text_of(name):
    return (EXAMPLES / name).read_text(encoding="utf-8")


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(RUNS)


def test_every_example_that_is_wanted_is_there():
    assert {name for name, _ in LIST.values()} == set(RUNS)
    missing = {kind: sign for kind, (name, signs) in LIST.items() for sign in signs if not re.search(sign, text_of(name))}
    assert not missing


def test_ci_runs_every_example_in_just_one_environment():
    """Those that `.ci/groups` names in the group's; `.ci/run` runs the others in that of development."""
    if not (ROOT / ".ci" / "groups").is_file():
        pytest.skip("needs the repository's folder .ci, which is not here")
    listed = subprocess.run([str(ROOT / ".ci" / "groups"), "--list"], capture_output=True, text=True, check=True).stdout
    groups = [line.split() for line in listed.splitlines()]
    assert [group[0] for group in groups] == ["sb3", "rllib", "agilerl", "text"]
    grouped = [name for group in groups for name in group[2:]]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(RUNS)
    own = {"sb3_contrib", "matplotlib", "torch", "pyspiel", "tree"}  # what the extra `dev` brings
    assert all(set(RUNS[name]["needs"]) <= own for name in set(RUNS) - set(grouped))


@each
def test_an_example_is_short_and_typed(name):
    assert len(text_of(name).splitlines()) < 150
    (main,) = (part for part in ast.parse(text_of(name)).body if isinstance(part, ast.FunctionDef) and part.name == "main")
    assert all(argument.annotation is not None for argument in main.args.args)
    command, *options = main.decorator_list
    assert ast.unparse(command).startswith("click.command(")
    told = {
        ast.literal_eval(option.args[0]): {word.arg: ast.unparse(word.value) for word in option.keywords} for option in options
    }
    assert {"--smoke", "--out"} <= set(told)
    assert len(told) == len(main.args.args)
    for option, words in told.items():
        assert "help" in words, option
        text = words.get("default", "").startswith("'")  # click takes it for a str then
        assert text or "type" in words or words.get("is_flag") == "True", option


def exported(module):
    """The `__all__` of a module of bg_env, read without importing it: its library may not be here."""
    path = ROOT.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for part in ast.parse(source.read_text(encoding="utf-8")).body:
        target = part.targets[0] if isinstance(part, ast.Assign) else getattr(part, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__":
            return set(ast.literal_eval(part.value))
    return set()


def in_reference(module, name, told):
    """Whether the site tells of a name: of its module as a whole, or of itself, maybe where it comes from."""
    of = r"bg_env\.(?:[\w.]+\.)?" if module == "bg_env" else re.escape(module) + r"\."
    return re.search(rf"^\.\. (automodule:: {re.escape(module)}|auto\w+:: {of}{name})$", told, re.MULTILINE)


@each
def test_an_example_uses_public_names_only(name):
    tree = ast.parse(text_of(name))
    told = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    attributes = [part.attr for part in ast.walk(tree) if isinstance(part, ast.Attribute)]
    assert not [name for name in attributes if re.match(r"_(?!_|fields$)", name)]
    imports = [part for part in ast.walk(tree) if isinstance(part, ast.ImportFrom) and part.module.split(".")[0] == "bg_env"]
    pairs = [(part.module, alias.name) for part in imports for alias in part.names]
    modules = {alias: f"{module}.{alias}" for module, alias in pairs if (ROOT / module / alias).with_suffix(".py").is_file()}
    modules |= {alias: f"{module}.{alias}" for module, alias in pairs if (ROOT / module / alias / "__init__.py").is_file()}
    pairs = [pair for pair in pairs if pair[1] not in modules]
    for part in ast.walk(tree):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in {*modules, "bg_env"}:
            pairs.append((modules.get(part.value.id, "bg_env"), part.attr))
    assert pairs
    for module, found in pairs:
        assert found in exported(module), f"{found} is not in {module}.__all__"
        assert in_reference(module, found, told), f"{module}.{found} is not in the reference"


@pytest.mark.parametrize(("name", "more"), [(name, more) for name in CHOSEN for more in ((), *RUNS[name].get("also", ()))])
def test_the_example_runs(name, more, tmp_path):
    done = start(name, tmp_path, *more, *SMOKE)
    assert done.returncode == 0, done.stderr
    for text in [*RUNS[name]["prints"], "points per game"]:
        assert text in done.stdout
    assert re.search(r" v random, \d+ games", done.stdout)  # what it reached
    for file in RUNS[name]["writes"]:
        assert (tmp_path / file).stat().st_size > 0
    with (tmp_path / "run" / "curve.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert rows
    assert all(len(row) == len(head) and [float(value) for value in row] for row in rows)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_example_tells_how_to_use_it(name, tmp_path):
    done = start(name, tmp_path, "--help")
    assert done.returncode == 0
    assert f"python examples/{name}" in done.stdout
    assert "--smoke" in done.stdout


def test_an_example_without_masks_is_found(tmp_path):
    """The check itself: in a strict example any illegal action ends it."""
    blind = tmp_path / "blind.py"
    blind.write_text(
        "import gymnasium\nimport bg_env\n"
        "envs = gymnasium.make_vec('bg_env/BackgammonCubeless-v0', 64)\n"
        "envs.reset(seed=1)\n"
        "envs.step(envs.action_space.sample())\n"
    )
    command = [sys.executable, str(ROOT / "tests" / "strict_example.py"), str(blind)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "IllegalActionError: game " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "."], "exists already: choose a new folder"),
        (["--id", "CartPole-v1"], "'CartPole-v1' is not one of"),
        (["--minutes", "soon"], "'soon' is not a valid float range"),
    ],
)
def test_the_training_example_refuses_what_is_wrong(arguments, message, tmp_path):
    if "train_maskable_ppo.py" not in CHOSEN:
        pytest.skip("another environment runs the examples for Stable-Baselines3")
    done = start("train_maskable_ppo.py", tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", CHOSEN)
def test_wrong_options_are_refused_in_one_line_before_training(name, tmp_path):
    wrong = ["--opponent", "bob"] if '"--opponent"' in text_of(name) else ["--games", "3"]
    if name == "rllib_cluster.py":  # it has neither
        (tmp_path / "file").write_text("in the way")
        wrong = ["--out", "file"]
    done = start(name, tmp_path, "--out", "run", *wrong)
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert (done.returncode, len(errors)) == (2, 1), done.stderr
    assert wrong[1] in errors[0]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


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
