"""bg_env: backgammon for reinforcement learning, with the doubling cube, match play and variants.

PettingZoo modules: `backgammon_v0`, `nackgammon_v0`, `acey_deucey_v0`, `hypergammon_v0`, `longgammon_v0`. Gymnasium ids
(`bg_env/Backgammon-v0` and others) are registered on import; see `bg_env.registration`. Names and modules are imported when
they are first used, libraries beyond gymnasium, numpy, numba and pettingzoo where they are needed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from bg_env import _renamed, registration

if TYPE_CHECKING:
    from bg_env import (
        acey_deucey_v0,
        arena,
        backgammon_v0,
        exact,
        hypergammon_v0,
        longgammon_v0,
        nackgammon_v0,
        players,
        testing,
        text,
    )
    from bg_env.envs.aec import BackgammonEnv
    from bg_env.envs.single import SingleEnv
    from bg_env.envs.vector import VectorEnv
    from bg_env.errors import (
        BgEnvError,
        IllegalActionError,
        MissingDependencyError,
        NotationError,
        OrderError,
        PositionError,
        SettingsError,
        UnknownOptionError,
    )
    from bg_env.evaluation.analysis import Analysis, analyse
    from bg_env.evaluation.decisions import Decisions
    from bg_env.evaluation.error_rates import ErrorReport, measure_errors
    from bg_env.evaluation.rollouts import Rollout, rollout
    from bg_env.game import Ending, Event, Game, Outcome, why_illegal
    from bg_env.observations import ENCODERS, Encoder
    from bg_env.players import PLAYERS, Player, PlayPlayer, ValueNet, ValuePlayer
    from bg_env.position import Play, Position
    from bg_env.rewards import REWARDS, Reward
    from bg_env.rules import VARIANTS, Phase, Settings, Variant
    from bg_env.sampling import sample

__version__ = "0.1.0"

__all__ = [
    "ENCODERS",
    "PLAYERS",
    "REWARDS",
    "VARIANTS",
    "Analysis",
    "BackgammonEnv",
    "BgEnvError",
    "Decisions",
    "Encoder",
    "Ending",
    "ErrorReport",
    "Event",
    "Game",
    "IllegalActionError",
    "MissingDependencyError",
    "NotationError",
    "OrderError",
    "Outcome",
    "Phase",
    "Play",
    "PlayPlayer",
    "Player",
    "Position",
    "PositionError",
    "Reward",
    "Rollout",
    "Settings",
    "SettingsError",
    "SingleEnv",
    "UnknownOptionError",
    "ValueNet",
    "ValuePlayer",
    "Variant",
    "VectorEnv",
    "acey_deucey_v0",
    "analyse",
    "arena",
    "backgammon_v0",
    "exact",
    "hypergammon_v0",
    "longgammon_v0",
    "measure_errors",
    "nackgammon_v0",
    "players",
    "rollout",
    "sample",
    "testing",
    "text",
    "why_illegal",
]

_HOMES: Final[Mapping[str, str]] = {
    name: module
    for module, names in {
        "envs.aec": ["BackgammonEnv"],
        "envs.single": ["SingleEnv"],
        "envs.vector": ["VectorEnv"],
        "errors": [name for name in __all__ if name.endswith("Error")],
        "evaluation.decisions": ["Decisions"],
        "evaluation.analysis": ["Analysis", "analyse"],
        "evaluation.error_rates": ["ErrorReport", "measure_errors"],
        "evaluation.rollouts": ["Rollout", "rollout"],
        "game": ["Ending", "Event", "Game", "Outcome", "why_illegal"],
        "observations": ["ENCODERS", "Encoder"],
        "players": ["PLAYERS", "PlayPlayer", "Player", "ValueNet", "ValuePlayer"],
        "position": ["Play", "Position"],
        "rewards": ["REWARDS", "Reward"],
        "rules": ["VARIANTS", "Phase", "Settings", "Variant"],
        "sampling": ["sample"],
    }.items()
    for name in names
}
"""The module of each name that is not a module itself."""

registration.register_all()
_renamed.install()


def __getattr__(name: str) -> Any:
    """A public name or a module, imported when it is first asked for."""
    if name in _HOMES:
        value = globals()[name] = getattr(importlib.import_module(f"bg_env.{_HOMES[name]}"), name)
        return value
    if not name.startswith("_") and importlib.util.find_spec(f"bg_env.{name}") is not None:
        return importlib.import_module(f"bg_env.{name}")
    msg = f"module 'bg_env' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
