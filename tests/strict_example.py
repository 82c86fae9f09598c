"""Runs an example with environments in which an illegal action raises: one that learns without masks does not get through.

    python tests/strict_example.py EXAMPLE ARGUMENT...

All that the example makes in this process is strict, whatever the library in between.
"""

from __future__ import annotations

import functools
import runpy
import sys
from pathlib import Path

from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv


def made_strict(made):
    """The constructor of an environment, with another default."""

    @functools.wraps(made)
    def strict(self, *args, **options):
        made(self, *args, **{"illegal": "raise", **options})

    return strict


def leave_out_the_check_of_rllib():
    """Before it learns, RLlib tries any action, illegal or not; tests/test_rllib_adapter.py lets it do so."""
    from ray.rllib.env import multi_agent_env_runner

    multi_agent_env_runner.check_multiagent_environments = lambda _env: None


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    for kind in (BackgammonEnv, SingleEnv, VectorEnv):
        kind.__init__ = made_strict(kind.__init__)
    if "ray.rllib" in Path(sys.argv[0]).read_text(encoding="utf-8"):
        leave_out_the_check_of_rllib()
    runpy.run_path(sys.argv[0], run_name="__main__")
