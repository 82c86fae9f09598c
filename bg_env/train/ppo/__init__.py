"""MaskablePPO of sb3-contrib over the native batch, against a fixed opponent or by self-play.

The names below are imported when they are first used: training needs PyTorch and sb3-contrib, its options do not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bg_env.train.ppo.options import PpoOptions
    from bg_env.train.ppo.run import Outcome, train

__all__ = ["Outcome", "PpoOptions", "train"]

_MODULES = {"Outcome": "run", "PpoOptions": "options", "train": "run"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
