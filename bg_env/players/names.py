"""Registry of players by name, and `player_for`, which makes a player of anything that can play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from bg_env.errors import SettingsError, quoted
from bg_env.exact import ExactPlayer, Solution
from bg_env.files import checked_path
from bg_env.observations import Encoder
from bg_env.players.function import FunctionPlayer
from bg_env.players.gnubg import GnubgPlayer
from bg_env.players.protocol import Player, PlayPlayer, bound
from bg_env.players.pubeval import PubevalPlayer
from bg_env.players.random import RandomPlayer
from bg_env.players.sb3 import ModelPlayer, load_model
from bg_env.players.valuenet.net import ValueNet
from bg_env.players.valuenet.player import ValuePlayer
from bg_env.rules import Settings

__all__ = ["PLAYERS", "Named", "player", "player_for", "shipped"]


@dataclass(frozen=True)
class Named:
    """A row of the registry of players.

    Attributes:
        name: the part of a player's name before the colon.
        argument: the part after it: "" for nothing, "FILE" for a path, which is required, "PLIES" for an optional number.
        make: a function from the argument ("" if it is absent) to the player, bound to no settings.
    """

    name: str
    argument: str
    make: Callable[[str], Player | PlayPlayer]

    def made(self, argument: str) -> Player | PlayPlayer:
        """The player, bound to no settings.

        Raises:
            SettingsError: the argument is missing, not allowed, or of the wrong form.
        """
        if argument and not self.argument:
            msg = f"player {self.name!r} takes nothing after its name, not {quoted(argument)}"
            raise SettingsError(msg)
        if self.argument == "FILE" and not argument:
            msg = f"player {self.name!r} needs a file: write '{self.name}:PATH'"
            raise SettingsError(msg)
        if self.argument == "PLIES" and argument and not argument.isdecimal():
            msg = f"player {self.name!r} takes plies of look-ahead, such as '{self.name}:1', not {quoted(argument)}"
            raise SettingsError(msg)
        return self.make(argument)


@lru_cache
def shipped(name: str) -> ValueNet:
    """The net of the package that is called `name`.

    Raises:
        SettingsError: this installation has none.
    """
    file = resources.files("bg_env") / "data" / f"{name}.npz"
    if not file.is_file():
        msg = f"this installation has no net for the player {name!r}: train one (bg-env train td) and use 'greedy:FILE.npz'"
        raise SettingsError(msg)
    with file.open("rb") as stream:
        return ValueNet.load(stream)


def _td(plies: str) -> ValuePlayer:
    return ValuePlayer(shipped("td"), int(plies or 0), bearoff=True, name=f"td:{plies}" if plies else "td")


def _greedy(path: str) -> ValuePlayer:
    return ValuePlayer(path, 0, bearoff=True, name=f"greedy:{Path(path).name}")


def _expectimax(path: str) -> ValuePlayer:
    return ValuePlayer(path, 1, bearoff=True, name=f"expectimax:{Path(path).name}")


@lru_cache(maxsize=4)
def _solution(path: Path, written: int) -> Solution:  # noqa: ARG001 - a file written anew is read anew
    return Solution.load(path)


def _exact(path: str) -> ExactPlayer:
    file = checked_path(path)
    return ExactPlayer(_solution(file, file.stat().st_mtime_ns), name=f"exact:{file.name}")


def _sb3(path: str) -> ModelPlayer:
    return ModelPlayer(load_model(path), name=f"sb3:{Path(path).name}")


PLAYERS: Final[Mapping[str, Named]] = MappingProxyType(
    {
        item.name: item
        for item in (
            Named("random", "", lambda _: RandomPlayer()),
            Named("pubeval", "", lambda _: PubevalPlayer()),
            Named("td", "PLIES", _td),
            Named("td-cube", "", lambda _: ValuePlayer(shipped("td_cube"), bearoff=True, name="td-cube")),
            Named("greedy", "FILE", _greedy),
            Named("expectimax", "FILE", _expectimax),
            Named("exact", "FILE", _exact),
            Named("sb3", "FILE", _sb3),
            Named("gnubg", "PLIES", lambda plies: GnubgPlayer(int(plies or 0))),
        )
    }
)
"""The registry: all players by name."""


def player(name: str, settings: Settings) -> Player | PlayPlayer:
    """The player called `name`, bound to these settings.

    Args:
        name: a key of `PLAYERS`, and its argument after a colon: "td:1", "greedy:runs/td/net.npz".
        settings: the settings in force.

    Raises:
        SettingsError: no player has this name, or it does not play under these settings.
        MissingDependencyError: it needs a package that is not installed.
    """
    if not isinstance(name, str):
        msg = f"a player is called by a name, not by {quoted(name)}: choose from {', '.join(PLAYERS)}"
        raise SettingsError(msg)
    if settings is not None and not isinstance(settings, Settings):
        msg = f"settings are a bg_env.Settings, not {quoted(settings)}"
        raise SettingsError(msg)
    head, _, argument = name.partition(":")
    if head not in PLAYERS:
        known = (f"{item.name}:FILE" if item.argument == "FILE" else item.name for item in PLAYERS.values())
        msg = f"no player is called {quoted(name)}: choose from {', '.join(known)}"
        raise SettingsError(msg)
    return bound(PLAYERS[head].made(argument), settings)


def player_for(
    opponent: Any, settings: Settings, *, observation: str | Encoder = "tesauro", mask: str = "both"
) -> Player | PlayPlayer:
    """A player bound to the settings, made from anything that can play.

    Args:
        opponent: a name, as of `player`; an object with `choose` or `choose_plays`; a model of Stable-Baselines3 or
            sb3-contrib, see `ModelPlayer`; or a callable, see `FunctionPlayer`.
        settings: the settings in force.
        observation: the encoder of what a callable is shown.
        mask: how a callable is shown the action mask, see `FunctionPlayer`.

    Raises:
        SettingsError: it is something else, or does not play under these settings.
        MissingDependencyError: it needs a package that is not installed.
    """
    if isinstance(opponent, str):
        return player(opponent, settings)
    if isinstance(opponent, type):
        msg = f"an opponent is an object, not the class {opponent.__name__}: give {opponent.__name__}(...)"
        raise SettingsError(msg)
    is_array = isinstance(opponent, np.ndarray)  # an array has a method `choose` of its own
    if not is_array and (hasattr(opponent, "choose") or hasattr(opponent, "choose_plays")):
        return bound(opponent, settings)
    if hasattr(opponent, "predict"):
        return ModelPlayer(opponent, settings=settings)
    if callable(opponent):
        return FunctionPlayer(opponent, observation, mask, settings=settings)
    msg = f"an opponent is a name, an object with choose or choose_plays, a model, or a callable, not {quoted(opponent)}"
    raise SettingsError(msg)
