"""Checks of the contract of the environments, for any variant and settings, a user's own among them.

They run in one call, or as separate tests of pytest or unittest:

    from bg_env import Variant
    from bg_env.testing import EnvContract, check_env

    mine = Variant("mine", {24: 2, 13: 3, 6: 3})
    check_env(mine, match_length=3)

    class TestMine(EnvContract):
        variant = mine
        options = {"match_length": 3}

`check_env` also takes an environment that is already made, possibly wrapped or subclassed. A part of the contract that does not
hold raises AssertionError with one line that names it.
"""

from __future__ import annotations

from bg_env.testing.contract import EnvContract, check_env
from bg_env.testing.game import check_game
from bg_env.testing.one_agent import check_single, check_vector
from bg_env.testing.two_agents import check_aec

__all__ = ["EnvContract", "check_aec", "check_env", "check_game", "check_single", "check_vector"]
