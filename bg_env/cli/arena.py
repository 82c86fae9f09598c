"""`bg-env arena`: matches between players, with intervals and ratings."""

from __future__ import annotations

import json
from typing import Any

import click

import bg_env
from bg_env.cli.params import name_of, player_of, settings_options

__all__ = ["arena"]


@click.command(short_help="Play players against each other, with intervals and ratings.")
@click.argument("players", nargs=-1, required=True, metavar="A B [C...]")
@click.option(
    "--games",
    type=int,
    default=1000,
    show_default=True,
    help="Games (with --match-length: matches) of each pair: an even number, half of them from each seat.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed of dice and random choices, 0 to 2**64 - 1. The same seed gives the same result.",
)
@settings_options("Play with the doubling cube.  [default: in matches only]")
@click.option("--boards", type=int, default=1024, show_default=True, help="Games played at once.")
@click.option(
    "--luck",
    metavar="PLAYER",
    default=None,
    help="Also give the results less the luck of the dice, as the value net of this player sees it: td, "
    "fast (nearly as narrow, in a third of the time), td-cube, or a run of train td.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def arena(
    context: click.Context,
    players: tuple[str, ...],
    games: int,
    seed: int,
    variant: str,
    cube: bool | None,
    match_length: int,
    boards: int,
    luck: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play two players, or each pair of several, head to head; every dice stream is played twice with the seats swapped.

    A player is a name (see `bg-env info`), or the folder or file of a trained model. The result is wins, gammons, backgammons,
    cube decisions and points per game, with 95 % intervals over the pairs of games; for more than two players also a table of
    ratings. With --luck td the points are given once more less the luck of the dice, with a far narrower interval between good
    players. Ctrl-C or SIGTERM prints the result of the games played so far.
    """
    from tqdm import tqdm

    from bg_env import arena as ring
    from bg_env.evaluation.luck import FAST

    if len(players) < 2:
        msg = "give at least two players"
        raise click.UsageError(msg, context)
    settings = bg_env.Settings(variant, cube=bool(match_length) if cube is None else cube, match_length=match_length)
    ring.MatchUp(settings, games=games, seed=seed, boards=boards)  # raises before any file of a player is read
    bound = [player_of(text, settings) for text in players]
    evaluator = None if luck is None else FAST if luck == FAST else player_of(luck, settings)
    options: dict[str, Any] = {"games": games, "seed": seed, "boards": boards, "luck": evaluator, "settings": settings}
    names = [name_of(text) for text in players]
    if len(set(names)) < len(names):
        names = [f"{name} ({k})" for k, name in enumerate(names, 1)]
    pairs = len(players) * (len(players) - 1) // 2
    with tqdm(total=pairs * games, unit="game", disable=quiet, delay=0.2, dynamic_ncols=True) as bar:
        results = ring.round_robin(bound, names, progress=bar.update, **options)
    found = ring.ratings(results) if len(players) > 2 and results[-1].complete else []
    if as_json:
        shown = {"results": [one.to_dict() for one in results], "ratings": [_shown(one) for one in found]}
        click.echo(json.dumps(shown, indent=1, allow_nan=False))
    else:
        for one in results:
            click.echo(one.text())
        if found:
            click.echo(ring.ratings_text(found))
    if not results[-1].complete:
        click.echo("bg-env arena: interrupted; the result covers the games played so far", err=True)
        context.exit(130)


def _shown(rating: Any) -> dict[str, Any]:
    """The numbers of a rating by name, without the adjusted one where luck was not measured."""
    return {name: value for name, value in vars(rating).items() if value is not None}
