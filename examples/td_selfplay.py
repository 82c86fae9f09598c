"""Temporal differences in self-play: a value net in the way of TD-Gammon.

    python examples/td_selfplay.py --selfplay-games 300000 --out runs/td_example

Writes net.npz and curve.csv into the folder, then evaluates the net. With --cube it also learns when to double, take and drop;
with --match-length it learns the probability of winning the match. `bg-env train td` does the same, and can resume. Install:
`pip install "bg_env[train]"`.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import click
from tqdm import tqdm

from bg_env import Settings, arena
from bg_env.players import ValuePlayer
from bg_env.train.td.learner import TDLearner, TDSettings


def learn(learner: TDLearner, every: int) -> list[tuple[int, float, float, float]]:
    """Learn to the end; every so many games: games, loss, points a game against pubeval and half the 95 % interval."""
    rows: list[tuple[int, float, float, float]] = []
    with tqdm(total=learner.settings.total, unit="game") as bar:
        while learner.done < 1:
            learner.round()
            bar.update(learner.games - bar.n)
            if learner.games >= every * (len(rows) + 1) or learner.done == 1:
                points, half = learner.against_pubeval(1000)
                rows.append((learner.games, learner.loss, points, half))
                bar.set_postfix_str(f"pubeval {points:+.3f} ± {half:.3f}")
    return rows


def check(games: int, out: Path) -> None:
    """Refuse options that cannot work before the training starts, and make the folder."""
    if games % 2:
        msg = f"--games is an even number, half of the games from each seat, not {games}"
        raise click.UsageError(msg)
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg) from error
    except OSError as error:
        raise click.UsageError(str(error)) from error


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--selfplay-games", type=click.IntRange(1), default=300_000, show_default=True, help="Games of self-play.")
@click.option(
    "--hidden", type=click.IntRange(1), nargs=2, default=(256, 96), show_default=True, help="Units of the hidden layers."
)
@click.option("--cube", is_flag=True, help="Learn to use the cube as well.")
@click.option("--match-length", type=click.IntRange(0), default=0, help="Learn a match to so many points.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/td_example"),
    show_default=True,
    help="A new folder.",
)
@click.option("--smoke", is_flag=True, help="A quick test that it runs: a small net, 2,000 games.")
def main(
    selfplay_games: int, hidden: tuple[int, int], cube: bool, match_length: int, seed: int, games: int, out: Path, smoke: bool
) -> None:
    """Train, save and evaluate."""
    check(games, out)
    if smoke:
        selfplay_games, hidden, games = 2000, (32, 16), 40
    settings = TDSettings(
        total=selfplay_games, hidden=hidden, cube=cube or match_length > 0, match_length=match_length, seed=seed, lam=0.9
    )
    learner = TDLearner(settings, threads=min(2, os.cpu_count() or 1))
    rows = learn(learner, max(selfplay_games // 20, 1))
    learner.net().save(out / "net.npz")
    with (out / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("games", "loss", "pubeval", "half_interval"), *rows])
    click.echo(f"Trained for {learner.games:,} games in {learner.seconds:.0f} seconds; net.npz and curve.csv are in {out}")
    for opponent in ("random", "pubeval"):
        played = Settings(cube=settings.cube, match_length=match_length)
        net = ValuePlayer(out / "net.npz")
        click.echo(arena.play(net, opponent, games=games, seed=seed, names=("td", opponent), settings=played).text())


if __name__ == "__main__":
    main()
