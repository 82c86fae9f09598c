"""The ids of Gymnasium and PettingZoo, as rows of two tables; entry points are strings, so that they import nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import pettingzoo

__all__ = ["AEC_IDS", "HISTORY", "IDS", "register_all"]

HISTORY: Final[Mapping[str, tuple[str, str]]] = {
    "v0": ("the first version: action layout v0", "0.1.0"),
}
"""The versions of ids and PettingZoo modules: what each brought, and the release of bg_env that it came with."""

IDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "bg_env/Backgammon-v0": {"variant": "backgammon"},
    "bg_env/BackgammonCubeless-v0": {"variant": "backgammon", "cube": False},
    "bg_env/BackgammonMatch-v0": {"variant": "backgammon", "match_length": 7},
    "bg_env/Nackgammon-v0": {"variant": "nackgammon"},
    "bg_env/NackgammonBallard-v0": {"variant": "nackgammon_ballard"},
    "bg_env/AceyDeucey-v0": {"variant": "acey_deucey"},
    "bg_env/Hypergammon-v0": {"variant": "hypergammon"},
    "bg_env/Longgammon-v0": {"variant": "longgammon"},
}
"""The ids and the settings that each presets, as the keyword argument `settings`.

`gymnasium.make(id, match_length=5)` changes one of them; `gymnasium.make(id, settings=...)` replaces them all, and keyword
arguments beside it change single fields of what is given there.
"""


AEC_IDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "bg_env/backgammon_v0": ("backgammon_v0", {}),
    "bg_env/nackgammon_v0": ("nackgammon_v0", {}),
    "bg_env/nackgammon_ballard_v0": ("nackgammon_v0", {"variant": "nackgammon_ballard"}),
    "bg_env/acey_deucey_v0": ("acey_deucey_v0", {}),
    "bg_env/hypergammon_v0": ("hypergammon_v0", {}),
    "bg_env/longgammon_v0": ("longgammon_v0", {}),
}
"""PettingZoo's ids, each with the module whose `env` it calls and the keyword arguments that it presets.

`pettingzoo.make("aec", id, **options)` takes the options of that module's `env`. PettingZoo has ids from version 1.27 on.
"""


def register_all() -> None:
    """Register every id of `IDS` that Gymnasium does not know yet, and of `AEC_IDS` that PettingZoo does not."""
    for name, preset in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="bg_env.envs.single:SingleEnv",
                vector_entry_point="bg_env.envs.vector:VectorEnv",
                kwargs={"settings": dict(preset)},
            )
    known: Mapping[str, Any] | None = getattr(pettingzoo, "aec_registry", None)
    if known is None:
        return
    for name, (module, options) in AEC_IDS.items():
        if name.replace("_v", "-v") not in known:
            pettingzoo.register("aec", name, f"bg_env.{module}:env", kwargs=dict(options))
