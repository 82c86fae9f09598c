"""bg_env: backgammon for reinforcement learning, with the doubling cube, match play and variants.

PettingZoo modules: `backgammon_v0`, `nackgammon_v0`, `acey_deucey_v0`, `hypergammon_v0`, `longgammon_v0`. Gymnasium ids
(`bg_env/Backgammon-v0` and others) are registered on import; see `bg_env.registration`. Everything that needs a library
beyond gymnasium, numpy, numba and pettingzoo is imported where it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bg_env import _renamed, registration
from bg_env.errors import (
    BgEnvError,
    IllegalActionError,
    MissingDependencyError,
    NotationError,
    OrderError,
    PositionError,
    SettingsError,
)
from bg_env.game import Event, Game, why_illegal
from bg_env.observations import ENCODERS
from bg_env.position import Play, Position
from bg_env.rewards import REWARDS
from bg_env.rules import VARIANTS, Phase, Settings, Variant
from bg_env.sampling import sample

if TYPE_CHECKING:
    from bg_env import acey_deucey_v0, backgammon_v0, hypergammon_v0, longgammon_v0, nackgammon_v0

__version__ = "0.1.0"

__all__ = [
    "ENCODERS",
    "REWARDS",
    "VARIANTS",
    "BgEnvError",
    "Event",
    "Game",
    "IllegalActionError",
    "MissingDependencyError",
    "NotationError",
    "OrderError",
    "Phase",
    "Play",
    "Position",
    "PositionError",
    "Settings",
    "SettingsError",
    "Variant",
    "acey_deucey_v0",
    "backgammon_v0",
    "hypergammon_v0",
    "longgammon_v0",
    "nackgammon_v0",
    "sample",
    "why_illegal",
]

_LAZY = frozenset({"acey_deucey_v0", "backgammon_v0", "hypergammon_v0", "longgammon_v0", "nackgammon_v0"})

registration.register_all()
_renamed.install()


def __getattr__(name: str) -> Any:
    """The PettingZoo modules, imported when they are first asked for."""
    if name in _LAZY:
        return importlib.import_module(f"bg_env.{name}")
    msg = f"module 'bg_env' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
