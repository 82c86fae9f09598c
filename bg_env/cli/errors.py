"""`bg-env errors`: the error rate of a player on fixed decisions."""

from __future__ import annotations

import json

import click

from bg_env.cli.params import name_of, player_of
from bg_env.evaluation.decisions import STANDARD, reference_decisions
from bg_env.evaluation.error_rates import measure_errors

__all__ = ["errors"]


@click.command(short_help="Measure a player's error rate on fixed decisions, without games.")
@click.argument("player", metavar="PLAYER")
@click.option(
    "--positions",
    default="standard",
    show_default=True,
    metavar="SET",
    help=f"The decisions: {', '.join(STANDARD)}, or a file that Decisions.save wrote.",
)
@click.option(
    "--evaluator",
    metavar="PLAYER",
    default=None,
    help="Judge by the values of this player instead, such as td:1 or gnubg:2.  [default: the values of the set]",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random words that the player is given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def errors(
    context: click.Context, player: str, positions: str, evaluator: str | None, seed: int, as_json: bool, quiet: bool
) -> None:
    """Measure the error rate of a player: 500 times the mean loss a decision, over a fixed set of decisions with a choice.

    PLAYER is a name (see `bg-env info`), or the folder or file of a trained model. The sets are rolled out, or exact; each
    figure names whose values it is judged by. Ctrl-C or SIGTERM prints the result of the decisions judged so far.
    """
    from tqdm import tqdm

    decisions = reference_decisions(positions)
    asked = player_of(player, decisions.settings)
    judge = None if evaluator is None else player_of(evaluator, decisions.settings)
    with tqdm(total=len(decisions.states), unit="decision", disable=quiet, delay=0.2, dynamic_ncols=True) as bar:
        report = measure_errors(asked, decisions, judge, seed=seed, progress=bar.update)
    if as_json:
        click.echo(json.dumps({**report.to_dict(), "player": name_of(player)}, indent=1, allow_nan=False))
    else:
        click.echo(report.text())
    if not report.complete:
        click.echo("bg-env errors: interrupted; the result covers the decisions judged so far", err=True)
        context.exit(130)
