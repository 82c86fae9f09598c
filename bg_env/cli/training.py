"""`bg-env train`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bg_env.players import PLAYERS
from bg_env.registration import IDS

__all__ = ["train"]


@click.command(short_help="Train an agent and measure it.")
@click.option(
    "--id", "id_", metavar="ID", help=f"What to learn: one of {', '.join(IDS)}.  [default: bg_env/BackgammonCubeless-v0]"
)
@click.option("--opponent", type=click.Choice(list(PLAYERS)), help="Whom to learn against.  [default: random]")
@click.option("--minutes", type=float, help="Train for so many minutes (more, with --resume).  [default: 4, without --steps]")
@click.option(
    "--steps", type=int, help="Train for so many decisions of the learner (more, with --resume), rounded up to rollouts."
)
@click.option("--seed", type=int, help="Of games, net and exploration, 0 to 2^32 - 1.  [default: 1]")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("runs/ppo"), show_default=True, help="Folder for model and curve."
)
@click.option("--resume", is_flag=True, help="Go on with the run in the folder: its model, its games, its curve.")
@click.option("--overwrite", is_flag=True, help="Replace the run in the folder.")
@click.option("--num-envs", type=int, help="Games played at once.  [default: 256]")
@click.option("--threads", type=int, help="Threads of PyTorch and of the games.  [default: 1]")
@click.option("--games", type=int, help="Fresh games that measure the net, half from each seat; 0 for none.  [default: 1000]")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def train(id_: str | None, out: Path, resume: bool, overwrite: bool, quiet: bool, **given: Any) -> int:
    """Train an agent against an opponent, then play fresh games with it.

    Writes model.zip (for MaskablePPO.load), curve.csv, curve.png, run.json and games.npz into the folder, and prints wins,
    gammons, backgammons and points per game of the trained net beside those of the untrained one, with 95 % intervals.

    Ctrl-C ends the training and keeps what was learnt: go on with --resume.

    With the same --seed and --steps a machine goes through the same games and comes to the same net, also if it was stopped
    and resumed; with --minutes it comes as far as the clock allows.
    """
    from bg_env.train.folder import RunFolder
    from bg_env.train.options import choose_options

    asked = {name: value for name, value in ({"id": id_} | given).items() if value is not None}
    folder = RunFolder(out, overwrite=overwrite, resume=resume)
    options = choose_options(folder if resume else None, **asked)
    from bg_env.train import ppo  # slow: it brings PyTorch

    outcome = ppo.train(options, folder, resume=resume, progress=not quiet)
    shown = f"{outcome.folder / 'model.zip'}, curve.csv, curve.png"
    if outcome.interrupted:
        click.echo(f"Interrupted after {outcome.steps:,} steps: kept in {shown}. Go on with --resume --out {outcome.folder}")
        return 130
    click.echo(f"Learnt from {outcome.steps:,} steps in {outcome.seconds / 60:.1f} minutes: {shown}")
    if outcome.scores:
        click.echo(ppo.score_table(outcome.scores, options))
    return 0
