"""`bg-env info`, `plays` and `show`."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import bg_env
from bg_env.cli.params import shows_colour, speaks_unicode, variant_option
from bg_env.errors import SettingsError, quoted
from bg_env.files import write_whole
from bg_env.players import PLAYERS, Named
from bg_env.registration import IDS

__all__ = ["info", "plays", "show"]


def _versions() -> dict[str, str]:
    needed = ("numpy", "numba", "gymnasium", "pettingzoo", "click", "tqdm")
    optional = ("torch", "stable-baselines3", "sb3-contrib", "matplotlib", "tensorboard", "pillow", "pygame", "gnubg-nn")
    found = {"python": sys.version.split()[0], "bg_env": bg_env.__version__}
    for name in (*needed, *optional):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


@click.command(short_help="Versions, ids, variants, encoders, rewards, players.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def info(as_json: bool) -> None:
    """Tell what there is: versions, Gymnasium ids, variants, observations, rewards, players, and where kernels are kept."""
    from bg_env._jit import CACHE_DIR

    facts: dict[str, Any] = {
        "versions": _versions(),
        "ids": {name: str(bg_env.Settings(**preset)) for name, preset in IDS.items()},
        "variants": {name: _variant_line(variant) for name, variant in bg_env.VARIANTS.items()},
        "observations": {name: _shape(encoder.shape) for name, encoder in bg_env.ENCODERS.items()},
        "rewards": list(bg_env.REWARDS),
        "players": [_with_argument(item) for item in PLAYERS.values()],
        "cache": CACHE_DIR or "none: NUMBA_DISABLE_JIT is set",
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for title, part in facts.items():
        if isinstance(part, dict):
            width = max(map(len, part))
            click.echo(f"{title}:")
            for name, text in part.items():
                click.echo(f"  {name:{width}}  {text}")
        else:
            click.echo(f"{title}: {', '.join(part) if isinstance(part, list) else part}")


def _variant_line(variant: bg_env.Variant) -> str:
    start = bg_env.Position.start(variant)
    return f"start {start.id}, {variant.checkers} checkers, {start.pips[0]} pips"


def _with_argument(item: Named) -> str:
    """How a player is named: "td[:PLIES]", "greedy:FILE"."""
    return item.name + {"": "", "FILE": ":FILE"}.get(item.argument, f"[:{item.argument}]")


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) + " numbers"


def _before_the_roll(text: str, variant: str) -> tuple[bg_env.Position, tuple[int, int] | None]:
    """The position of the player who rolled or is to roll, and the roll that the id tells (a `Game` has passed a dance)."""
    from bg_env.notation import match_id

    _read(text, variant)  # it must stand as a whole
    fields = text.strip().split(":")
    if len(fields) == 10:
        dice, fields[4] = fields[4], "00" if fields[4].isdigit() else fields[4]
        roll = (int(dice[0]), int(dice[1])) if dice.isdigit() and dice != "00" else None
        return _read(":".join(fields), variant).position, roll
    match = match_id.decode(fields[1]) if len(fields) == 2 else None
    roll = (match.die1, match.die2) if match is not None and match.die1 else None
    return bg_env.Position.from_id(fields[0], variant), roll


def _read(text: str, variant: str) -> bg_env.Game:
    """The game that an id tells, with the settings that the id tells."""
    from bg_env.notation.ids import read_position

    states, settings = read_position(text, variant)
    return bg_env.Game(states, settings, seeded=False)


def _dice(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([1-6])[-,/ x]?([1-6])\s*", text)
    if not found:
        msg = f"{quoted(text)} is no roll: give two dice from 1 to 6 such as 31 or 3-1"
        raise SettingsError(msg)
    return int(found[1]), int(found[2])


@click.command(short_help="The distinct plays of a position and a roll.")
@click.argument("position")
@click.argument("dice", required=False)
@variant_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: play and resulting position id.")
def plays(position: str, dice: str | None, variant: str, as_json: bool) -> None:
    """List the distinct plays of DICE (31, 3-1) in POSITION, each with the id of the position that it leads to.

    POSITION is an XGID, a GNU Backgammon position id, or a position id and a match id with ":" between. DICE may be left
    out where the id says what was rolled.
    """
    before, roll = _before_the_roll(position, variant)
    if dice is None and roll is None:
        msg = "the id tells no roll: give the dice as well, such as 31 or 3-1"
        raise SettingsError(msg)
    d1, d2 = _dice(dice) if dice is not None else roll or (0, 0)
    found = before.legal_plays(d1, d2)
    rows = [(str(play), play.result.id) for play in found]
    if as_json:
        click.echo(json.dumps([{"play": text, "position": result} for text, result in rows], indent=1))
        return
    width = max(len(text) for text, _ in rows)
    click.echo(f"{len(rows)} distinct play{'s' * (len(rows) > 1)} of {d1}-{d2}:")
    for text, result in rows:
        click.echo(f"  {text:{width}}  {result}")


@click.command(short_help="Draw a position.")
@click.argument("position")
@variant_option
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it as a picture as well.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only, without colour.")
def show(position: str, variant: str, svg: Path | None, ascii_only: bool) -> None:
    """Draw the board of POSITION: an XGID, a GNU Backgammon position id, or a position id and a match id with ":" between."""
    from bg_env.render.svg import board_svg
    from bg_env.render.text import board_text

    game = _read(position, variant)
    if svg is not None:
        write_whole(svg, board_svg(game.states, 0, game.settings))
    unicode, colour = not ascii_only and speaks_unicode(), not ascii_only and shows_colour()
    click.echo(board_text(game.states, 0, game.settings, colour=colour, unicode=unicode))
    if svg is not None:
        click.echo(f"written: {svg}")
