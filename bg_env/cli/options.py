"""Options and arguments that several commands have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

import bg_env
from bg_env.errors import SettingsError
from bg_env.players import PLAYERS
from bg_env.rules.variant import settings_names

__all__ = ["PLAYER_HELP", "player_of", "settings_options", "speaks_unicode", "variant_option"]

F = TypeVar("F", bound=Callable[..., Any])

PLAYER_HELP: Final = f"One of {', '.join(PLAYERS)}, or a model that `bg-env train` wrote (its folder or model.zip)."

variant_option = click.option(
    "--variant",
    default="backgammon",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(bg_env.VARIANTS)}, or a variant as bg_env.Variant prints it.",
)


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
    """The player of that name, bound to the settings, or the trained model at that path."""
    from bg_env.envs.options import read_options
    from bg_env.envs.replies import batch_opponent

    if text in PLAYERS or not Path(text).exists():
        if text not in PLAYERS:
            msg = f"no player is called {text!r}: choose from {', '.join(PLAYERS)}, or give the path of a trained model"
            raise SettingsError(msg)
        chosen: Any = text
    else:
        from bg_env.train.ppo import Greedy

        chosen = Greedy.load(Path(text), settings)
    rules = {name: getattr(settings, name) for name in settings_names() if name != "variant"}
    return batch_opponent(chosen, read_options(settings.variant, **rules))


def speaks_unicode() -> bool:
    """Whether what is printed can hold the lines of a board."""
    try:
        "─│┌▸".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
