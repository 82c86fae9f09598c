"""Players: the protocol, and opponents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bg_env.errors import SettingsError
from bg_env.players.protocol import Player, PlayPlayer, bound
from bg_env.players.pubeval import PubevalPlayer
from bg_env.players.random import RandomPlayer
from bg_env.rules import Settings

__all__ = ["PLAYERS", "PlayPlayer", "Player", "PubevalPlayer", "RandomPlayer", "bound", "player"]

PLAYERS: Final[Mapping[str, Callable[[], Any]]] = {"random": RandomPlayer, "pubeval": PubevalPlayer}
"""The players known by name: name -> a function that makes one."""


def player(name: str, settings: Settings) -> Any:
    """The player called `name`, for these settings.

    Raises:
        SettingsError: no player has that name.
    """
    if name not in PLAYERS:
        msg = f"no player is called {name!r}: choose from {', '.join(PLAYERS)}"
        raise SettingsError(msg)
    return bound(PLAYERS[name](), settings)
