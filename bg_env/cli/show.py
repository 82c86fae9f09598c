"""`bg-env show` and `bg-env plays`: a position drawn, and its legal plays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

import bg_env
from bg_env.cli.params import supports_colour, supports_unicode, variant_option
from bg_env.errors import SettingsError, quoted
from bg_env.files import write_whole

__all__ = ["plays", "show"]


@click.command(short_help="Draw a position.")
@click.argument("position")
@variant_option
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write the drawing as SVG.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only, without colour.")
def show(position: str, variant: str, svg: Path | None, ascii_only: bool) -> None:
    """Draw the board of POSITION.

    POSITION is an XGID, a GNU Backgammon position id, or a position id and a match id joined by ":".
    """
    from bg_env.render.svg import board_svg
    from bg_env.render.text import board_text

    game = _read(position, variant)
    if svg is not None:
        write_whole(svg, board_svg(game.states, 0, game.settings))
    unicode, colour = not ascii_only and supports_unicode(), not ascii_only and supports_colour()
    click.echo(board_text(game.states, 0, game.settings, colour=colour, unicode=unicode))
    if svg is not None:
        click.echo(f"written: {svg}")


@click.command(short_help="List the legal plays of a roll.")
@click.argument("position")
@click.argument("dice", required=False)
@variant_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON: each play and the id of the position after it.")
def plays(position: str, dice: str | None, variant: str, as_json: bool) -> None:
    """List the distinct legal plays of DICE (31, 3-1) in POSITION, each with the id of the position after it.

    POSITION is an XGID, a GNU Backgammon position id, or a position id and a match id joined by ":". DICE can be left out if
    the id has a roll.
    """
    before, roll = _before_the_roll(position, variant)
    if dice is None and roll is None:
        msg = "the id has no roll: give the dice as well, such as 31 or 3-1"
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


def _before_the_roll(text: str, variant: str) -> tuple[bg_env.Position, tuple[int, int] | None]:
    """The position of the player on roll, and the roll that the id has (a `Game` would have passed a roll without a play)."""
    from bg_env.notation.gnubg_ids import decode_match_id

    _read(text, variant)  # the id as a whole must be valid
    fields = text.strip().split(":")
    if len(fields) == 10:
        dice, fields[4] = fields[4], "00" if fields[4].isdigit() else fields[4]
        roll = (int(dice[0]), int(dice[1])) if dice.isdigit() and dice != "00" else None
        return _read(":".join(fields), variant).position, roll
    match = decode_match_id(fields[1]) if len(fields) == 2 else None
    roll = (match.die1, match.die2) if match is not None and match.die1 else None
    return bg_env.Position.from_id(fields[0], variant), roll


def _read(text: str, variant: str) -> bg_env.Game:
    """The game of an id, with the settings of the id."""
    from bg_env.notation import read_position

    states, settings = read_position(text, variant)
    return bg_env.Game.from_states(states, settings)


def _dice(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([1-6])[-,/ x]?([1-6])\s*", text)
    if not found:
        msg = f"{quoted(text)} is not a roll: give two dice from 1 to 6, such as 31 or 3-1"
        raise SettingsError(msg)
    return int(found[1]), int(found[2])
