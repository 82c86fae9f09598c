"""PettingZoo: nackgammon_v0.

`env()` and `raw_env()` make a `bg_env.envs.aec.BackgammonEnv`, whose docstring has all options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bg_env.envs.aec import BackgammonEnv
from bg_env.options import EnvKeywords, takes_options
from bg_env.rules import VariantLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["env", "raw_env"]


@takes_options
def env(variant: VariantLike | None = None, **options: Unpack[EnvKeywords]) -> BackgammonEnv:
    """The environment, with order, range and legality of actions checked.

    Args:
        variant: what is played; None: the variant of `settings`, without those nackgammon.
        **options: see `bg_env.envs.aec.BackgammonEnv`.
    """
    return BackgammonEnv(_variant(variant, options), name="nackgammon_v0", **options)


@takes_options
def raw_env(variant: VariantLike | None = None, **options: Unpack[EnvKeywords]) -> BackgammonEnv:
    """The same without checks, for callers that give legal actions only."""
    return BackgammonEnv(_variant(variant, options), name="nackgammon_v0", checks=False, **options)


def _variant(variant: VariantLike | None, options: EnvKeywords) -> VariantLike | None:
    return "nackgammon" if variant is None and options.get("settings") is None else variant
