"""Learn to play by temporal differences in self-play, then play fresh games with what was learnt.

    python examples/td_selfplay.py --selfplay-games 300000 --out runs/td_example

Writes net.npz and curve.csv into the folder. With --cube the net learns when to double, take and drop as well; with
--match-length it learns the chance to win the match. It needs `pip install "bg_env[train]"`. `bg-env train --algorithm td`
does the same, and can be stopped and resumed.
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
    """Learn to the end; games, loss, points a game against pubeval and half the 95 % interval, every so many games."""
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


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--selfplay-games", type=click.IntRange(1), default=300_000, show_default=True, help="To learn from.")
@click.option("--hidden", type=click.IntRange(1), nargs=2, default=(256, 96), show_default=True, help="Units of the layers.")
@click.option("--cube", is_flag=True, help="Learn the cube as well.")
@click.option("--match-length", type=click.IntRange(0), default=0, help="Learn a match to so many points.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of weights, dice and updates.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="That measure the net; even.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/td_example"), show_default=True, help="New folder.")
@click.option("--smoke", is_flag=True, help="Learn next to nothing, to see that it runs.")
def main(
    selfplay_games: int, hidden: tuple[int, int], cube: bool, match_length: int, seed: int, games: int, out: Path, smoke: bool
) -> None:
    """Learn, write, measure."""
    if games % 2:
        msg = f"--games is an even number, half of them from each seat, not {games}"
        raise click.UsageError(msg)
    if out.exists():
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.ClickException(msg)
    if smoke:
        selfplay_games, hidden, games = 2000, (32, 16), 40
    settings = TDSettings(
        total=selfplay_games, hidden=hidden, cube=cube or match_length > 0, match_length=match_length, seed=seed, lam=0.9
    )
    learner = TDLearner(settings, threads=min(2, os.cpu_count() or 1))
    rows = learn(learner, max(selfplay_games // 20, 1))
    out.mkdir(parents=True)
    learner.net().save(out / "net.npz")
    with (out / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("games", "loss", "pubeval", "half_interval"), *rows])
    click.echo(f"Learnt from {learner.games:,} games in {learner.seconds:.0f} seconds; net.npz and curve.csv are in {out}")
    for opponent in ("random", "pubeval"):
        played = Settings(cube=settings.cube, match_length=match_length)
        net = ValuePlayer(out / "net.npz")
        click.echo(arena.play(net, opponent, games=games, seed=seed, names=("td", opponent), settings=played).text())


if __name__ == "__main__":
    main()
