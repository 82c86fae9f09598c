"""Options and arguments that several commands have."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

import click

import bg_env
from bg_env.errors import SettingsError
from bg_env.players import PLAYERS, player

__all__ = [
    "PLAYER_HELP",
    "FiniteRange",
    "name_of",
    "player_of",
    "settings_options",
    "shows_colour",
    "speaks_unicode",
    "strongest",
    "variant_option",
]

_KINDS: Final = {".zip": "sb3", ".npz": "greedy"}
F = TypeVar("F", bound=Callable[..., Any])

PLAYER_HELP: Final = f"One of {', '.join(PLAYERS)} (see bg-env info), or the folder of what bg-env train wrote."

variant_option = click.option(
    "--variant",
    default="backgammon",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(bg_env.VARIANTS)}, or a variant as bg_env.Variant prints it.",
)


class FiniteRange(click.FloatRange):
    """A number in a range; "nan" and "inf", which Python reads as numbers, are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; see `click.ParamType.convert`."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def settings_options(cube_help: str) -> Callable[[F], F]:
    """The options that say what is played."""

    def add(command: F) -> F:
        for option in (
            click.option("--cube/--no-cube", default=None, help=cube_help),
            click.option(
                "--match-length", type=int, default=0, metavar="N", help="Points to win the match; 0 for single games."
            ),
            variant_option,
        ):
            command = option(command)
        return command

    return add


def player_of(text: str, settings: bg_env.Settings) -> Any:
    """The player of that name, bound to the settings; a path of what `bg-env train` wrote does as well.

    Raises:
        BgEnvError: there is no such player, or it does not play under these settings.
    """
    path = Path(text)
    if text.partition(":")[0] not in PLAYERS and path.exists():
        folder = (
            {path / "model.zip": "sb3", path / "net.npz": "greedy"} if path.is_dir() else {path: _KINDS.get(path.suffix, "")}
        )
        found = [f"{kind}:{file}" for file, kind in folder.items() if kind and file.is_file()]
        if not found:
            msg = f"{text} is no trained player: give a run's folder, or its model.zip or net.npz"
            raise SettingsError(msg)
        return player(found[0], settings)
    return player(text, settings)


def strongest() -> str:
    """The strongest player that needs nothing else: the value net shipped with the package, where there is one."""
    return "td" if (resources.files("bg_env") / "data" / "td.npz").is_file() else "pubeval"


def name_of(text: str) -> str:
    """What to call a player that was given by `text`."""
    return Path(text).name if text.partition(":")[0] not in PLAYERS else text


def shows_colour() -> bool:
    """Whether boards are painted: on a terminal, unless NO_COLOR is set."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def speaks_unicode() -> bool:
    """Whether what is printed can hold the lines of a board."""
    try:
        "─│┌▸".encode(sys.stdout.encoding or "ascii")
    except (AttributeError, UnicodeEncodeError, LookupError):  # AttributeError: there is no output at all
        return False
    return True
