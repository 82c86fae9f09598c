"""Speed of learning by self-play, beside gnubg-nn's self-play without learning: games per second of processor time.

    python benchmarks/td_selfplay.py --rounds 5 --seconds 10

The two take turns in one run. The learner is `TDLearner` on one thread with the 198 inputs and two hidden layers of 128 and 64
units, fitted by Adam, without random plays, which make games longer, and after enough games that its own have the usual length.
gnubg-nn plays both sides with `best_move` at 0 plies. Needs torch and gnubg-nn.
"""

from __future__ import annotations

import random
import statistics
import time

import click
import gnubg_nn

from bg_env.train.td.learner import TDLearner, TDSettings

START = [0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]


def learn(learner: TDLearner, seconds: float) -> float:
    """Games per second of processor time."""
    games, began = learner.games, time.process_time()
    while time.process_time() - began < seconds:
        learner.round(0.0)
    return (learner.games - games) / (time.process_time() - began)


def gnubg_game(dice: random.Random) -> int:
    """One game of gnubg-nn against itself; the number of its turns."""
    first, second = 0, 0
    while first == second:
        first, second = dice.randint(1, 6), dice.randint(1, 6)
    theirs, ours = START[:], START[:]
    turns = 0
    while any(theirs):
        for source, target in gnubg_nn.best_move([theirs, ours], first, second, 0):
            ours[source - 1] -= 1
            if target:
                ours[target - 1] += 1
                theirs[24] += theirs[24 - target]
                theirs[24 - target] = 0
        turns += 1
        theirs, ours = ours, theirs
        first, second = dice.randint(1, 6), dice.randint(1, 6)
    return turns


def gnubg(dice: random.Random, seconds: float) -> float:
    """Games per second of processor time."""
    games, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        gnubg_game(dice)
        games += 1
    return games / (time.process_time() - began)


@click.command(help=__doc__)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Runs of each loop.")
@click.option("--seconds", type=click.FloatRange(0.1), default=10.0, show_default=True, help="Seconds of each loop in a round.")
@click.option(
    "--warm", type=click.IntRange(0), default=30_000, show_default=True, help="Games of self-play before the clock starts."
)
@click.option(
    "--batch", type=click.IntRange(1), default=512, show_default=True, help="Games side by side, and positions in an update."
)
def main(rounds: int, seconds: float, warm: int, batch: int) -> None:
    """Measure and print."""
    settings = TDSettings(hidden=(128, 64), tactics=False, batch=batch, minibatch=batch, explore=0.0, optimizer="adam", seed=1)
    learner, dice = TDLearner(settings), random.Random(1)
    learner.compile()
    while learner.games < warm:
        learner.round(0.0)
    pairs = [(learn(learner, seconds), gnubg(dice, seconds)) for _ in range(rounds)]
    ratios = sorted(mine / other for mine, other in pairs)
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    click.echo(
        f"learning by self-play, 198-128-64-6, one thread: {mine:,.0f} games/s; gnubg-nn at 0 plies: {other:,.0f} games/s"
    )
    click.echo(f"ratio {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f} over {rounds} rounds)")


if __name__ == "__main__":
    main()
