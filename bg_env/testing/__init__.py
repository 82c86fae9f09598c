"""The contract of the environments, as checks for any variant and any settings: a user's own as well.

In one call, or as tests of pytest or unittest, each by itself:

    from bg_env import Variant
    from bg_env.testing import EnvContract, check_env

    mine = Variant("mine", {24: 2, 13: 3, 6: 3})
    check_env(mine, match_length=3)

    class TestMine(EnvContract):
        variant = mine
        options = {"match_length": 3}

`check_env` also takes an environment that is already made, wrapped or subclassed ones among them. Whatever does not hold raises
AssertionError with one line that says so.
"""

from __future__ import annotations

from bg_env.testing.contract import EnvContract, check_env
from bg_env.testing.game import check_game
from bg_env.testing.one_agent import check_single, check_vector
from bg_env.testing.two_agents import check_aec

__all__ = ["EnvContract", "check_aec", "check_env", "check_game", "check_single", "check_vector"]
