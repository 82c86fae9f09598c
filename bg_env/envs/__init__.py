"""The environments: adapters of the engine to PettingZoo and Gymnasium, without any rule of the game."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bg_env.envs.aec import BackgammonEnv
    from bg_env.envs.single import SingleEnv
    from bg_env.envs.vector import VectorEnv

__all__ = ["BackgammonEnv", "SingleEnv", "VectorEnv"]

_MODULES: Final = {"BackgammonEnv": "aec", "SingleEnv": "single", "VectorEnv": "vector"}


def __getattr__(name: str) -> Any:
    """An environment, imported when it is first used."""
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
