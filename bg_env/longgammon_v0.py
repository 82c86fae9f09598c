"""PettingZoo: longgammon_v0.

`env()` and `raw_env()` make a `bg_env.envs.aec.BackgammonEnv`, whose docstring tells all arguments.
"""

from __future__ import annotations

from typing import Any

from bg_env.envs.aec import BackgammonEnv
from bg_env.rules import Variant

__all__ = ["env", "raw_env"]


def env(variant: str | Variant = "longgammon", **options: Any) -> BackgammonEnv:
    """The environment, with order, range and legality of actions checked."""
    return BackgammonEnv(variant, name="longgammon_v0", **options)


def raw_env(variant: str | Variant = "longgammon", **options: Any) -> BackgammonEnv:
    """The same without checks, for callers that give legal actions only."""
    return BackgammonEnv(variant, name="longgammon_v0", checks=False, **options)
