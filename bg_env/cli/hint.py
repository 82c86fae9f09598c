"""`bg-env hint`: the value of a position, and the choices of its decision with their equities."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from bg_env.cli.params import IdCommand, player_of, variant_option
from bg_env.cli.show import ID_HELP, read_game, with_dice

if TYPE_CHECKING:
    from bg_env.evaluation.hints import Evaluation, Hint

__all__ = ["hint", "hint_lines"]


@click.command(
    cls=IdCommand,
    short_help="Evaluate a position, and list its best plays.",
    help=f"""Print the value of POSITION, and the choices of its decision with their equities, the best first.

With DICE (31, 3-1), or a roll in the id, these are plays; otherwise no double and double, or take and drop. Settings are those
of the id. An equity of 1 is a single game won now at the cube of the moment.

{ID_HELP}""",
)
@click.argument("position")
@click.argument("dice", required=False)
@click.option(
    "--player", default="td:1", show_default=True, metavar="PLAYER", help="Who evaluates: td, td:1, td-cube, gnubg, or a run."
)
@click.option("--number", type=click.IntRange(1), default=10, show_default=True, help="Choices to print, at most.")
@variant_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON: all choices, and the value of the position.")
def hint(position: str, dice: str | None, player: str, number: int, variant: str, as_json: bool) -> None:
    """Print the value of a position, and its choices."""
    game = with_dice(read_game(position, variant), dice)
    chosen = player_of(player, game.settings)
    value = game.evaluate(chosen)
    found = game.hints(chosen) if game.player is not None else []
    if as_json:
        click.echo(json.dumps({"value": value.to_dict(), "hints": [one.to_dict() for one in found]}, indent=1))
        return
    click.echo(_value_text(value))
    for line in hint_lines(found[:number]):
        click.echo(line)
    if len(found) > number:
        click.echo(f"({len(found) - number} more)")


def _value_text(value: Evaluation) -> str:
    """The value of a game in one line."""
    shown = f"equity {value.equity:+.4f} to player {value.player}"
    if value.cubeful is not None and value.cubeless is not None:
        shown += f" (cubeless {value.cubeless:+.4f})"
    by = "exactly" if value.exact else f"by {value.evaluator}"
    chances = value.probabilities
    if chances is None:
        return f"{shown}, {by}"
    won, lost = (" ".join(f"{100 * x:.1f}" for x in half) for half in (chances[:3], chances[3:]))
    return f"{shown}, {by}; wins, gammons, backgammons {won} %, loses {lost} %"


def hint_lines(found: list[Hint]) -> list[str]:
    """The choices as lines: text, equity, loss, and the probabilities in per cent."""
    width = max((len(one.text) for one in found), default=0)
    lines = []
    for k, one in enumerate(found, 1):
        shares = ""
        if one.probabilities is not None:
            won, lost = (" ".join(f"{100 * x:4.1f}" for x in half) for half in (one.probabilities[:3], one.probabilities[3:]))
            shares = f"  {won} - {lost}"
        lines.append(
            f"{k:3}. {one.text:{width}}  {one.equity:+.4f}  {-one.loss:+.4f}{shares}"
            if k > 1
            else f"{k:3}. {one.text:{width}}  {one.equity:+.4f}         {shares}"
        )
    return lines
