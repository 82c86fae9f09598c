"""`bg-env show` and `bg-env plays`: a position drawn, and its legal plays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

import bg_env
from bg_env.cli.outputs import check_ending
from bg_env.cli.params import IdCommand, player_of, supports_colour, supports_unicode, variant_option
from bg_env.errors import NotationError, SettingsError, printable, quoted
from bg_env.files import write_whole
from bg_env.position import Play
from bg_env.rules import Phase

__all__ = ["ID_HELP", "plays", "read_game", "show", "with_dice"]

ID_HELP: Final = (
    'POSITION is an XGID, an OGID, a GNU Backgammon position id, or a position id and a match id joined by ":"; or pasted text '
    "or a URL with one of them in it, in quotes."
)


def _check_svg(context: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    check_ending(context, "--svg", file, (".svg",), devices=True)
    return file


@click.command(cls=IdCommand, short_help="Draw a position.", help=f"Draw the board of POSITION.\n\n{ID_HELP}")
@click.argument("position")
@variant_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead: the position, its stakes, and its ids in every notation."
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=_check_svg,
    help="Also write the drawing as SVG: .svg.",
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only, without colour.")
def show(position: str, variant: str, as_json: bool, svg: Path | None, ascii_only: bool) -> None:
    """Draw the board of POSITION, or print it as JSON."""
    from bg_env.render.svg import board_svg
    from bg_env.render.text import board_text

    game = read_game(position, variant)
    if svg is not None:
        write_whole(svg, board_svg(game.states, 0, game.settings))
    if as_json:
        click.echo(json.dumps(_facts(game), indent=1, ensure_ascii=not supports_unicode()))
        return
    unicode, colour = not ascii_only and supports_unicode(), not ascii_only and supports_colour()
    click.echo(board_text(game.states, 0, game.settings, colour=colour, unicode=unicode))
    if svg is not None:
        click.echo(f"written: {printable(str(svg))}")


def _or_none(read: Callable[[], str]) -> str | None:
    """An id; None where the notation cannot hold the state."""
    try:
        return read()
    except NotationError:
        return None


def _facts(game: bg_env.Game) -> dict[str, Any]:
    """A game as plain values, for JSON; points on each player's own numbering, 25 the bar, 0 borne off."""
    from bg_env.render.scene import scene

    seen, settings = scene(game.states, 0, game.settings), game.settings
    cube = seen.cube
    return {
        "variant": settings.variant.name,
        "settings": str(settings),
        "phase": str(game.phase),
        "to_decide": game.player,
        "on_roll": seen.on_roll,
        "dice": [die.number for die in seen.dice[:2]],
        "points": [{str(point): n for point, n in enumerate(side) if n} for side in seen.points],
        "pips": list(seen.pips),
        "cube": None if cube is None else {"value": cube.value, "owner": cube.owner, "offered_to": cube.offered_to},
        "match_length": settings.match_length,
        "score": None if seen.scores is None else list(seen.scores),
        "crawford": bool(game.states["crawford"][0]),
        "jacoby": settings.jacoby,
        "beavers": settings.beavers,
        "cube_cap": settings.cube_cap,
        "message": seen.message,
        "ids": {
            "xgid": _or_none(lambda: game.xgid),
            "ogid": _or_none(lambda: game.ogid),
            "position_id": _or_none(lambda: game.position_id),
            "match_id": _or_none(lambda: game.match_id),
        },
    }


@click.command(
    cls=IdCommand,
    short_help="List the legal plays of a roll.",
    help=f"""List the distinct legal plays of DICE (31, 3-1) in POSITION, each with the id of the position after it.

{ID_HELP} DICE can be left out if the id has a roll, and replaces it where given.""",
)
@click.argument("position")
@click.argument("dice", required=False)
@variant_option
@click.option(
    "--player", metavar="PLAYER", help="Also give the equities of this player, such as td or td:1; the best play first."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: each play and the id of the position after it.")
def plays(position: str, dice: str | None, variant: str, player: str | None, as_json: bool) -> None:
    """List the distinct legal plays of a roll."""
    before, roll = _before_the_roll(position, variant)
    if dice is None and roll is None:
        msg = "the id has no roll: give the dice as well, such as 31 or 3-1"
        raise SettingsError(msg)
    d1, d2 = _dice(dice) if dice is not None else roll or (0, 0)
    if roll is not None and sorted((d1, d2)) != sorted(roll):
        click.echo(f"bg-env plays: the plays are those of {d1}-{d2}, not of the roll in the id, {roll[0]}-{roll[1]}", err=True)
    found = before.legal_plays(d1, d2)
    rows: list[dict[str, Any]] = [{"play": str(play), "position": play.result.id} for play in found]
    if player is not None:
        rows = _with_equities(rows, found, read_game(position, variant), (d1, d2), player)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    width = max(len(row["play"]) for row in rows)
    click.echo(f"{len(rows)} distinct play{'s' * (len(rows) > 1)} of {d1}-{d2}:")
    for row in rows:
        value = f"  {row['equity']:+.4f}  {row['loss']:.4f}" if "equity" in row else ""
        click.echo(f"  {row['play']:{width}}{value}  {row['position']}")


def _with_equities(
    rows: list[dict[str, Any]], found: tuple[Play, ...], game: bg_env.Game, dice: tuple[int, int], player: str
) -> list[dict[str, Any]]:
    """The rows with their equity and loss, the best play first; as they are where the roll cannot be played."""
    from bg_env.rules import set_up

    chosen = player_of(player, game.settings)
    states, places = game.states, {play.result: k for k, play in enumerate(found)}
    set_up(states, 0, game.settings.record(), *dice)
    rolled = bg_env.Game.from_states(states, game.settings)
    if not found[0].steps:
        rolled.evaluate(chosen)  # refuses a player without values
        return rows
    valued = [(places[hint.play.result], hint) for hint in rolled.hints(chosen) if hint.play is not None]
    return [rows[k] | {"equity": hint.equity, "loss": hint.loss} for k, hint in valued]


def _before_the_roll(text: str, variant: str) -> tuple[bg_env.Position, tuple[int, int] | None]:
    """The position of the player on roll, and the roll that the id has (a `Game` would have passed a roll without a play)."""
    from bg_env.notation.gnubg_ids import decode_match_id
    from bg_env.notation.pasted import find_id

    game = read_game(text, variant)  # the id as a whole must be valid
    found = find_id(text)
    if found.kind in ("xgid", "ogid"):
        fields = found.words[0].split(":")
        at, empty = (4, "00") if found.kind == "xgid" else (3, "")
        dice = fields[at] if len(fields) > at and re.fullmatch("[1-6][1-6]", fields[at]) else ""
        if not dice:
            return game.position, None
        fields[at] = empty
        return read_game(":".join(fields), variant).position, (int(max(dice)), int(min(dice)))
    match = decode_match_id(found.words[1]) if found.kind == "ids" else None
    roll = (match.die1, match.die2) if match is not None and match.die1 else None
    return bg_env.Position.from_id(found.words[0], variant), roll


def read_game(text: str, variant: str) -> bg_env.Game:
    """The game of an id, with the settings of the id."""
    from bg_env.notation import read_position

    states, settings = read_position(text, variant)
    return bg_env.Game.from_states(states, settings)


def with_dice(game: bg_env.Game, dice: str | None) -> bg_env.Game:
    """The game after a roll, in which the player on roll does not double; the game itself without one.

    Raises:
        SettingsError: these are no dice.
        IllegalActionError: no dice are due.
    """
    if dice is None:
        return game
    d1, d2 = _dice(dice)
    if game.phase == Phase.ROLL_OR_DOUBLE:
        game.play("roll")
    if game.phase == Phase.OPENING and game.settings.variant.fresh_first_roll:
        msg = "the opening throw of this variant only decides who starts: give a position without DICE, or one after the throw"
        raise SettingsError(msg)
    if game.phase == Phase.CHECKER and sorted(game.dice, reverse=True) == sorted((d1, d2), reverse=True):
        return game
    game.apply_roll(d1, d2)
    return game


def _dice(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([1-6])[-,/ x]?([1-6])\s*", text)
    if not found:
        msg = f"{quoted(text)} is not a roll: give two dice from 1 to 6, such as 31 or 3-1"
        raise SettingsError(msg)
    return int(found[1]), int(found[2])
