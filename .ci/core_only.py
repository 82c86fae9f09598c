"""Run by `.ci/run` with the python that has the wheel and nothing else, from another folder: is it whole, does it play?

Usage: core_only.py FILES, the list of the package's files in the repository, one a line.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

warnings.simplefilter("error")

import gymnasium as gym  # noqa: E402  # warnings are errors from the first import on
import numpy as np  # noqa: E402

import bg_env  # noqa: E402
from bg_env import backgammon_v0  # noqa: E402

package = Path(bg_env.__file__).parent
assert "site-packages" in package.parts, f"bg_env came from {package}, not from the wheel"
for name in ("torch", "pygame", "stable_baselines3", "sb3_contrib", "matplotlib", "pytest"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed: this is no core-only environment"

wanted = {line.strip() for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()}
found = {path.relative_to(package.parent).as_posix() for path in package.rglob("*") if "__pycache__" not in path.parts}
missing = sorted(wanted - found)
assert not missing, f"the wheel lacks {missing}"

rng = np.random.default_rng(1)
env = backgammon_v0.env(variant="backgammon")
env.reset(seed=1)
decisions = 0
for _agent in env.agent_iter():
    observation, _reward, termination, truncation, _info = env.last()
    env.step(None if termination or truncation else bg_env.sample(observation["action_mask"], rng))
    decisions += 1
env.close()

single = gym.make("bg_env/Backgammon-v0")
observation, info = single.reset(seed=1)
done = False
while not done:
    observation, reward, terminated, truncated, info = single.step(bg_env.sample(info["action_mask"], rng))
    done = terminated or truncated
single.close()
print(f"the wheel alone: {len(found)} files; a game of {decisions} decisions; a game against the random player: {reward:+.0f}")
