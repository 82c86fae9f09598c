"""`bg-env train`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from bg_env.cli.params import PLAYER_HELP
from bg_env.errors import SettingsError
from bg_env.registration import IDS

__all__ = ["train"]

_TD = (
    "hidden",
    "tactics",
    "variant",
    "cube",
    "match_length",
    "targets",
    "exact_from",
    "replay",
    "optimizer",
    "lr",
    "lam",
    "start",
)
"""Options of TDSettings that go by the same name."""


@click.command(short_help="Train an agent and measure it.")
@click.option(
    "--algorithm",
    type=click.Choice(["ppo", "td"]),
    default="ppo",
    show_default=True,
    help="MaskablePPO against an opponent, or a value net by temporal differences in self-play.",
)
@click.option("--selfplay-games", type=int, help="With td: games of self-play to learn from.  [default: 800,000]")
@click.option("--hidden", type=int, nargs=2, help="With td: units of the two hidden layers.  [default: 512 128]")
@click.option(
    "--tactics/--no-tactics", default=None, help="With td: show the net shots, freedom to move and the race.  [default: yes]"
)
@click.option("--variant", metavar="NAME", help="With td: what is played.  [default: backgammon]")
@click.option("--cube", is_flag=True, default=None, help="With td: with a cube, whose turns are learnt like plays.")
@click.option("--match-length", type=int, help="With td: learn a match to so many points, at every score of it.")
@click.option(
    "--targets",
    type=click.Choice(["td", "rolls"]),
    help="With td: fit positions to what followed, or to the mean over the 21 rolls (exact, and slow).  [default: td]",
)
@click.option("--exact-from", type=float, help="With td and --targets rolls: from which share of the games on.  [default: 0.5]")
@click.option("--replay", type=int, help="With td: how many times a position is fitted to.  [default: 1]")
@click.option("--optimizer", type=click.Choice(["muon", "adam"]), help="With td: what fits the net.  [default: muon]")
@click.option("--lr", type=float, help="With td: learning rate at first; it falls linearly.  [default: 0.002]")
@click.option("--lam", type=float, help="With td: lambda.  [default: 0.7]")
@click.option("--start", type=click.Path(dir_okay=False), help="With td: the file of a net to begin with.")
@click.option(
    "--id", "id_", metavar="ID", help=f"What to learn: one of {', '.join(IDS)}.  [default: bg_env/BackgammonCubeless-v0]"
)
@click.option(
    "--opponent",
    metavar="PLAYER",
    help=f"Whom to learn against: {PLAYER_HELP} Or self: a pool of the learner's past selves.  [default: random]",
)
@click.option(
    "--measure", metavar="PLAYER", multiple=True, help="Measure the net against this player on the way, too; may be repeated."
)
@click.option("--measure-every", type=int, help="So often, in rollouts of 64 steps of each game.  [default: 50]")
@click.option(
    "--minutes",
    type=float,
    help="Train for so many minutes: with --resume so many more, with td in all.  [default: 4, without --steps; with td none]",
)
@click.option(
    "--steps", type=int, help="Train for so many decisions of the learner (more, with --resume), rounded up to rollouts."
)
@click.option("--seed", type=int, help="Of games, net and exploration, 0 to 2^32 - 1.  [default: 1]")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for model and curve.  [default: runs/ppo or runs/td]")
@click.option("--resume", is_flag=True, help="Go on with the run in the folder: its model, its games, its curve.")
@click.option("--overwrite", is_flag=True, help="Replace the run in the folder.")
@click.option("--num-envs", type=int, help="Games played at once.  [default: 256]")
@click.option(
    "--threads",
    type=int,
    help="Threads of PyTorch and of the games.  [default: 1, with td 2; more only slow a busy machine down]",
)
@click.option(
    "--games",
    type=int,
    help="Fresh games that measure the net, half from each seat; 0 for none (with td: at least 4).  [default: 1000]",
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
def train(algorithm: str, id_: str | None, out: Path | None, resume: bool, overwrite: bool, quiet: bool, **given: Any) -> int:
    """Train an agent, then measure it.

    With --algorithm ppo it learns against an opponent, then plays fresh games. It writes model.zip (for MaskablePPO.load),
    curve.csv, curve.png, run.json and games.npz into the folder, and prints wins, gammons, backgammons and points per game
    of the trained net beside those of the untrained one, with 95 % intervals. With --opponent self it learns by self-play
    against a pool of its past selves (kept in pool.npz), and then meets the first --measure, or random.

    With --algorithm td it learns by self-play. It writes net.npz, which is what was learnt (play it as "greedy:FILE"),
    run.npz, which --resume needs, and curve.csv, the strength against pubeval. Options that belong to the other algorithm
    are refused.

    Ctrl-C ends the training and keeps what was learnt: go on with --resume.

    With the same --seed, and a number of steps or games of self-play instead of minutes, a machine goes through the same games
    and comes to the same net, also if it was stopped and resumed; with --minutes it comes as far as the clock allows.
    """
    asked = {name: value for name, value in ({"id": id_} | given).items() if value not in (None, ())}
    out = out or Path("runs") / algorithm
    if algorithm == "td":
        return _td(out, asked, resume=resume, overwrite=overwrite, progress=not quiet)
    _refuse(asked, ("selfplay_games", *_TD), "td")
    from bg_env.train.ppo.options import choose_options
    from bg_env.train.run_folder import RunFolder

    folder = RunFolder(out, overwrite=overwrite, resume=resume)
    options = choose_options(folder if resume else None, **asked)
    from bg_env.train import ppo  # slow: it brings PyTorch

    try:
        outcome = ppo.train(options, folder, resume=resume, progress=not quiet)
    except KeyboardInterrupt:
        kept = f"what was kept last is in {out}" if folder.model.is_file() else "nothing was kept yet"
        click.echo(f"Interrupted at once: {kept}")
        return 130
    shown = f"{outcome.folder / 'model.zip'}, curve.csv, curve.png"
    if outcome.interrupted:
        click.echo(f"Interrupted after {outcome.steps:,} steps: kept in {shown}. Go on with --resume --out {outcome.folder}")
        return 130
    click.echo(f"Learnt from {outcome.steps:,} steps in {outcome.seconds / 60:.1f} minutes: {shown}")
    if outcome.scores:
        click.echo(ppo.score_table(outcome.scores, options))
    return 0


def _refuse(asked: dict[str, Any], names: Iterable[str], algorithm: str) -> None:
    wrong = [f"--{name.replace('_', '-')}" for name in names if name in asked]
    if wrong:
        msg = f"{', '.join(wrong)} belongs to --algorithm {algorithm}"
        raise SettingsError(msg)


def _check_td(asked: dict[str, Any]) -> None:
    """Refuse numbers that the learner refuses too, but by the name of the option."""
    for name, value in asked.items():
        right = ""
        if name in ("threads", "selfplay_games") and value < 1:
            right = "a whole number of at least 1"
        elif name == "games" and (value < 4 or value % 2):
            right = "an even number of at least 4 with --algorithm td"
        elif name == "minutes" and not 0 < value < math.inf:
            right = "a number above 0"
        elif name == "hidden" and min(value) < 1:
            right = "two whole numbers of at least 1"
        elif name == "seed" and not 0 <= value < 2**32:
            right = "a whole number from 0 to 2^32 - 1"
        if right:
            shown = " ".join(map(str, value)) if isinstance(value, tuple) else value
            msg = f"--{name.replace('_', '-')} is {right}, not {shown}"
            raise SettingsError(msg)


def _td(out: Path, asked: dict[str, Any], *, resume: bool, overwrite: bool, progress: bool) -> int:
    """`--algorithm td`."""
    _refuse(asked, ("id", "opponent", "steps", "num_envs", "measure", "measure_every"), "ppo")
    _check_td(asked)
    from bg_env.train.td.learner import TDSettings  # slow: it brings PyTorch
    from bg_env.train.td.run import TDFolder, train_td

    if resume:
        _refuse(asked, ("selfplay_games", *_TD, "seed"), "td without --resume: a run keeps its own")
    if "exact_from" in asked and asked.get("targets") != "rolls":
        msg = "--exact-from belongs to --targets rolls"
        raise SettingsError(msg)
    if asked.get("match_length"):
        asked.setdefault("cube", True)
    chosen = {"total": asked.get("selfplay_games")} | {name: asked.get(name) for name in (*_TD, "seed")}
    settings = TDSettings(**{name: value for name, value in chosen.items() if value is not None})
    limits = {"minutes": asked.get("minutes"), "threads": asked.get("threads"), "duel": asked.get("games")}
    given = {name: value for name, value in limits.items() if value is not None}
    folder = TDFolder(out, overwrite=overwrite, resume=resume)
    outcome = train_td(folder, settings, resume=resume, progress=progress, **given)
    spent = f"{outcome.games:,} games of self-play in {outcome.seconds / 60:.1f} minutes"
    strength = (
        f"; {outcome.pubeval[0]:+.3f} ± {outcome.pubeval[1]:.3f} points a game against pubeval" if outcome.pubeval else ""
    )
    click.echo(f"{'Interrupted' if outcome.interrupted else 'Learnt from'} {spent}{strength}: {outcome.folder / 'net.npz'}")
    return 130 if outcome.interrupted else 0
