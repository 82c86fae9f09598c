"""TD(lambda) learning of a value net by self-play on whole plays.

The names below are imported when they are first used: the learner needs PyTorch, its settings do not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bg_env.train.td.learner import TDLearner
    from bg_env.train.td.run import TDFolder, TDOutcome, train_td
    from bg_env.train.td.settings import TDSettings

__all__ = ["TDFolder", "TDLearner", "TDOutcome", "TDSettings", "train_td"]

_MODULES = {"TDFolder": "run", "TDLearner": "learner", "TDOutcome": "run", "TDSettings": "settings", "train_td": "run"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
