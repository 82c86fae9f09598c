"""`bg-env train ppo`: MaskablePPO against an opponent or by self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bg_env.cli.params import go_on, interrupted_at_once, options_of, tensorboard_option
from bg_env.errors import printable
from bg_env.train.events import writer_class
from bg_env.train.ppo.options import PpoOptions, check_given, choose_options
from bg_env.train.run_folder import RunFolder
from bg_env.train.setting import settings_of_class

__all__ = ["ppo"]


@click.command(short_help="MaskablePPO against an opponent, or by self-play.")
@options_of(
    settings_of_class(PpoOptions), ("evaluate", "--measure"), ("evaluate_every", "--measure-every")
)  # --measure: the names of version 0.1
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs", "ppo"),
    show_default=True,
    help="Folder of the run: its model, its curve, and all that --resume needs.",
)
@click.option("--resume", is_flag=True, help="Continue the run in the folder.")
@click.option("--overwrite", is_flag=True, help="Replace the run in the folder.")
@tensorboard_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def ppo(out: Path, resume: bool, overwrite: bool, tensorboard: bool | None, quiet: bool, **given: Any) -> int:
    """Train MaskablePPO (sb3-contrib), then evaluate it.

    The learner plays against an opponent; with --opponent self, against a pool of its own earlier snapshots. The untrained and
    the trained net then play evaluation games against the opponent (after self-play: against the first --evaluate, or random),
    and their wins, gammons, backgammons and points per game are printed with 95 % intervals.

    The folder gets games.npz, the checkpoint with everything that --resume needs, and copies of its parts: model.zip (for
    MaskablePPO.load), curve.csv, run.json and, in self-play, pool.npz; also curve.png, and event files for TensorBoard.

    Ctrl-C or SIGTERM ends the training and keeps what was learnt; --resume continues it, also after a kill, and runs no code of
    the files in the folder.

    With the same --seed and --steps, a machine plays the same games and learns the same net, also if the run was stopped and
    resumed; with --minutes, how far it gets depends on the clock.
    """
    asked = {name: value for name, value in given.items() if value not in (None, ())}
    if resume and overwrite:
        RunFolder(out, overwrite=True, resume=True)  # raises
    if tensorboard:
        writer_class(tensorboard)  # raises where it is not installed
    if resume:
        check_given(asked)
        folder = RunFolder(out, overwrite=overwrite, resume=True)
        options = choose_options(folder, **asked)
    else:
        options = choose_options(**asked)
        folder = RunFolder(out, overwrite=overwrite)
    from bg_env.train.ppo import run as learner  # slow: it imports PyTorch

    try:
        outcome = learner.train(options, folder, resume=resume, progress=not quiet, tensorboard=tensorboard)
    except KeyboardInterrupt:
        return interrupted_at_once(folder)
    files = printable(f"{outcome.folder / 'model.zip'}, curve.csv, curve.png")
    if outcome.interrupted:
        click.echo(f"Interrupted after {outcome.steps:,} steps: saved in {files}")
        go_on("To continue", "train", "ppo", "--resume", "--out", outcome.folder)
        return 130
    click.echo(f"Trained for {outcome.steps:,} steps in {outcome.seconds / 60:.1f} minutes: {files}")
    if outcome.scores:
        click.echo(learner.score_table(outcome.scores, options))
    go_on("To compare it with another player", "arena", outcome.folder, "pubeval")
    return 0
