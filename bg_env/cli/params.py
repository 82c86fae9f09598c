"""Options and arguments that several commands share."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

import click

import bg_env
from bg_env.errors import SettingsError, printable
from bg_env.players import PLAYERS, player
from bg_env.train.run_folder import RunFolder
from bg_env.train.setting import Setting

__all__ = [
    "PLAYER_HELP",
    "FiniteRange",
    "IdCommand",
    "command_line",
    "go_on",
    "interrupted_at_once",
    "line_width",
    "name_of",
    "next_command",
    "option_name",
    "options_of",
    "player_of",
    "settings_options",
    "strongest",
    "supports_colour",
    "supports_unicode",
    "tensorboard_option",
    "variant_option",
    "variants_named",
]

_KINDS: Final = {".zip": "sb3", ".npz": "greedy", ".sol": "exact"}
_DASHED_ID: Final = re.compile(r"(?!--[a-z][-a-z]*=)-(?:[-A-Za-z]{25}:|.*\s)", re.DOTALL)
"""A word that begins with a dash and is no option: an XGID without its label, or pasted text."""
F = TypeVar("F", bound=Callable[..., Any])

PLAYER_HELP: Final = f"A player: {', '.join(PLAYERS)} (see bg-env info), or the folder of a training run."


def variants_named() -> str:
    """The names of the variants, for a help text."""
    return f"{', '.join(bg_env.VARIANTS)}, or a variant as bg_env.Variant prints it"


variant_option = click.option(
    "--variant",
    default="backgammon",
    show_default=True,
    metavar="NAME",
    help=f"Variant: {variants_named()}.",
)


tensorboard_option = click.option(
    "--tensorboard/--no-tensorboard",
    default=None,
    help="Write event files for TensorBoard into the folder.  [default: where it is installed]",
)


class FiniteRange(click.FloatRange):
    """A finite number in a range: Python also reads "nan" and "inf" as numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert the text of the command line; see `click.ParamType.convert`."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class IdCommand(click.Command):
    """A command that takes ids: a word that begins with a dash may be one, as XGIDs do, and is then no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; see `click.Command.parse_args`."""
        return super().parse_args(ctx, [f" {word}" if _DASHED_ID.match(word) else word for word in args])


def settings_options(cube_help: str) -> Callable[[F], F]:
    """The options that say what is played: variant, cube and match length."""

    def add(command: F) -> F:
        for option in (
            click.option("--cube/--no-cube", default=None, help=cube_help),
            click.option("--match-length", type=int, default=0, metavar="N", help="Points of the match; 0 for single games."),
            variant_option,
        ):
            command = option(command)
        return command

    return add


def option_name(name: str, one: Setting) -> str:
    """The name of the option for a setting, with its dashes."""
    return "--" + (one.option or name.replace("_", "-"))


def options_of(settings: Mapping[str, Setting], *aliases: tuple[str, str]) -> Callable[[F], F]:
    """An option for each setting, checked as the setting is; None (of many values: an empty tuple) where it is not given.

    Args:
        settings: by the names of the arguments that the command takes.
        *aliases: further names of options: the name of a setting, and the other name of its option.
    """

    def add(command: F) -> F:
        for name, one in reversed(list(settings.items())):
            names = [option_name(name, one), *(other for known, other in aliases if known == name)]
            command = _option(name, names, one)(command)
        return command

    return add


def _option(name: str, names: list[str], one: Setting) -> Callable[[F], F]:
    def check(context: click.Context, _: click.Parameter, value: Any) -> Any:
        if value is None or one.many:
            return value
        try:
            return one.checked(names[0], value, " ".join(map(str, value)) if isinstance(value, tuple) else "")
        except SettingsError as error:
            raise click.UsageError(str(error), context) from error

    more: dict[str, Any] = {"default": None, "callback": check, "multiple": one.many, "metavar": one.metavar or None}
    shown = one.shown_default
    if one.kind is bool:
        word = names[0].removeprefix("--")
        names, shown = [f"--{word}/--no-{word}"], word if shown == "True" else f"no-{word}"
    elif one.kind is tuple:
        more |= {"type": int, "nargs": 2}
    else:
        more["type"] = click.Choice(one.choices) if one.choices else one.kind
    return click.option(*names, name, help=one.help + f"  [default: {shown}]" * bool(shown), **more)


def interrupted_at_once(folder: RunFolder) -> int:
    """Report what is left of a training that was interrupted before it could save; returns the exit code."""
    kept = f"the last state that was saved is in {folder.path}" if folder.games.is_file() else "nothing was saved yet"
    click.echo(printable(f"Interrupted at once: {kept}"))
    return 130


def command_line(*words: object) -> str:
    """A command line of this program as it can be typed in the current folder, the program found as it runs now."""
    script = Path(sys.executable).parent / ("bg-env.exe" if sys.platform == "win32" else "bg-env")
    found = shutil.which("bg-env")
    if not script.is_file():
        program = [_short(Path(sys.executable)), "-m", "bg_env"]
    elif found is not None and Path(found).samefile(script):
        program = ["bg-env"]
    else:
        program = [_short(script)]
    return shlex.join([*program, *map(str, words)])


def next_command(before: str, *words: object) -> str:
    """A line that ends with a command line of this program.

    On a terminal that is too narrow for it, it is several lines, with the backslash at their ends by which a shell continues.
    """
    line = printable(f"{before}: {command_line(*words)}")
    terminal = sys.stdout is not None and sys.stdout.isatty() and sys.platform != "win32"
    if not terminal or len(line) <= line_width():
        return line
    lines = [f"{before}:"]
    for word in map(shlex.quote, shlex.split(command_line(*words))):
        if len(lines) == 1 or len(lines[-1]) + len(word) + 3 > line_width():
            lines[-1] += " \\" * (len(lines) > 1)
            lines.append(f"  {word}")
        else:
            lines[-1] += f" {word}"
    return "\n".join(map(printable, lines))


def go_on(before: str, *words: object) -> None:
    """Print a command that may come next, and how the program gets the name that it has in the documentation."""
    click.echo(next_command(before, *words))
    script = Path(sys.prefix) / ("Scripts" if sys.platform == "win32" else "bin") / "activate"
    if sys.prefix != sys.base_prefix and script.is_file() and not command_line().startswith("bg-env"):
        source = "" if sys.platform == "win32" else ". "
        click.echo(f"(After {source}{shlex.quote(_short(script))} the program is called bg-env.)")


def line_width() -> int:
    """Characters in a line of the terminal; 80 without one."""
    return shutil.get_terminal_size((80, 24)).columns


def _short(path: Path) -> str:
    """The path from the current folder, if it is inside it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def player_of(text: str, settings: bg_env.Settings) -> Any:
    """The player of that name, or of the training run at that path, bound to the settings.

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
            msg = (
                f"{text} is not a trained player: give the folder of a run, its model.zip or net.npz, or a file of bg-env solve"
            )
            raise SettingsError(msg)
        return player(found[0], settings)
    return player(text, settings)


def strongest() -> str:
    """The strongest player that needs nothing else: the value net shipped with the package, where there is one."""
    return "td" if (resources.files("bg_env") / "data" / "td.npz").is_file() else "pubeval"


def name_of(text: str) -> str:
    """The name to print for a player that was given as `text`."""
    return printable(Path(text).name if text.partition(":")[0] not in PLAYERS else text)


def supports_colour() -> bool:
    """Whether boards are printed in colour: on a terminal, unless NO_COLOR is set."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def supports_unicode() -> bool:
    """Whether the output can encode the lines of a board."""
    try:
        "─│┌▸".encode(sys.stdout.encoding or "ascii")
    except (AttributeError, UnicodeEncodeError, LookupError):  # AttributeError: there is no output at all
        return False
    return True
