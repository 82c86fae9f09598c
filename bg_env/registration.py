"""The Gymnasium ids, as rows of a table; entry points are strings, so registering imports nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium

__all__ = ["HISTORY", "IDS", "register_all"]

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


def register_all() -> None:
    """Register every id of `IDS` that Gymnasium does not know yet."""
    for name, preset in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="bg_env.envs.single:SingleEnv",
                vector_entry_point="bg_env.envs.vector:VectorEnv",
                kwargs={"settings": dict(preset)},
            )
