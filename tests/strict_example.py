"""Runs an example with environments in which an illegal action raises: one that learns without masks does not get through.

    python tests/strict_example.py EXAMPLE ARGUMENT...

All that the example makes in this process is strict, whatever the library in between.
"""

from __future__ import annotations

import functools
import runpy
import sys

from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv


def made_strict(made):
    """The constructor of an environment, with another default."""

    @functools.wraps(made)
    def strict(self, *args, **options):
        made(self, *args, **{"illegal": "raise", **options})

    return strict


if __name__ == "__main__":
    for kind in (BackgammonEnv, SingleEnv, VectorEnv):
        kind.__init__ = made_strict(kind.__init__)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
