"""`bg-env rollout`: the equity of a position, or of plays, by playing on many times."""

from __future__ import annotations

import json
from typing import Any

import click

import bg_env
from bg_env.cli.params import IdCommand, player_of, variant_option
from bg_env.cli.show import ID_HELP, read_game, with_dice
from bg_env.errors import SettingsError
from bg_env.rules import Phase

__all__ = ["rollout"]


@click.command(
    cls=IdCommand,
    short_help="Roll out a position or plays: play on many times.",
    help=f"""Play on from POSITION many times, and print the mean result with its 95 % interval, less the luck of the dice.

With DICE (31, 3-1), or a roll in the id, and --play "8/5 6/5" (more than once), these plays are compared on the same dice;
other decisions by --play double --play roll, or --play take --play drop. Without --play the position is rolled out as it
stands. Settings are those of the id. Ctrl-C or SIGTERM prints the result of the trials so far.

{ID_HELP}""",
)
@click.argument("position")
@click.argument("dice", required=False)
@click.option(
    "--play", "plays", multiple=True, metavar="TEXT", help="A candidate: a whole play, or an action. Can be repeated."
)
@click.option("--player", default="td", show_default=True, metavar="PLAYER", help="Who plays both sides.")
@click.option("--games", type=int, default=1296, show_default=True, help="Trials of each candidate.")
@click.option("--truncate", type=int, default=None, metavar="N", help="Cut trials short after N rolls.  [default: whole games]")
@click.option("--luck/--no-luck", default=True, show_default=True, help="Subtract the luck of the dice.")
@click.option("--error", type=float, default=None, metavar="X", help="Stop when all standard errors are at most X points.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the dice.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads that work.")
@variant_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def rollout(
    context: click.Context,
    /,
    position: str,
    dice: str | None,
    plays: tuple[str, ...],
    player: str,
    games: int,
    variant: str,
    as_json: bool,
    quiet: bool,
    error: float | None,
    **options: Any,
) -> None:
    """Roll out a position or plays."""
    from tqdm import tqdm

    game = with_dice(read_game(position, variant), dice)
    settings = game.settings.but(max_turns=None)
    total = games * max(1, len(plays))
    if plays and game.phase in (Phase.ROLL, Phase.OPENING):
        msg = "plays are those of a roll: give the dice as well, such as 31 or 3-1"
        raise SettingsError(msg)
    with tqdm(total=max(total, 0), unit="trial", disable=quiet, delay=0.2, dynamic_ncols=True) as bar:
        found = bg_env.rollout(
            game,
            player_of(player, settings),
            games,
            plays=plays or None,
            truncate=options["truncate"],
            luck=options["luck"],
            standard_error=error,
            seed=options["seed"],
            num_threads=options["threads"],
            progress=bar.update,
        )
    click.echo(json.dumps(found.to_dict(), indent=1, allow_nan=False) if as_json else found.text())
    if not found.complete:
        click.echo("bg-env rollout: interrupted; the result covers the trials so far", err=True)
        context.exit(130)
