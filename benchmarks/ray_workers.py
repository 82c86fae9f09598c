"""Two workers of Ray beside one: games per second by the clock on the wall, in turns, in one run.

    python benchmarks/ray_workers.py --rounds 5 --seconds 15

Each measurement starts Ray anew on this machine with so many processors, so with so many workers. `arena`: the player td
against pubeval by `play_on_ray`. `learner`: rounds of `TDLearnerOnRay`, fitting included, which this process does while the
workers play; `exact`: the same with the exact targets of the later part of a run, which the workers work out. It wants a
machine that does nothing else: with two processors, two workers and the fitting share them. Needs torch and Ray.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import click
import ray

from bg_env.arena.on_ray import play_on_ray
from bg_env.train.td.learner import TDSettings
from bg_env.train.td.on_ray import TDLearnerOnRay

TURNS = 55
"""Turns of a game, on average, once the net plays sensibly."""


def arena(seconds: float) -> float:
    """Games per second."""
    games, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        games += play_on_ray("td", "pubeval", games=4000, seed=games, cube=False).episodes
    return games / (time.perf_counter() - begun)


def learn(learner: TDLearnerOnRay, share: float, seconds: float) -> float:
    """Games per second, out of the turns played: with all games begun at once their ends come in waves."""
    rounds, begun = learner.rounds, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        learner.round(share)
    turns = (learner.rounds - rounds) * learner.settings.batch * learner.settings.turns
    return turns / TURNS / (time.perf_counter() - begun)


def measured(work: Callable[[float], float], workers: int, seconds: float) -> float:
    """What `work` gives with so many workers, after they have started and loaded what they need."""
    ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        work(2.0)
        return work(seconds)
    finally:
        ray.shutdown()


@click.command(help=__doc__)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(0.1), default=15.0, show_default=True, help="Of each measurement.")
@click.option(
    "--warm", type=click.IntRange(0), default=3000, show_default=True, help="Games learnt from before, for each loop."
)
@click.option("--loop", "loops", multiple=True, type=click.Choice(["arena", "learner", "exact"]), help="Which; else all.")
def main(rounds: int, seconds: float, warm: int, loops: tuple[str, ...]) -> None:
    """Measure and print."""
    learner = TDLearnerOnRay(TDSettings(hidden=(128, 64), batch=512, minibatch=512, targets="rolls", seed=1))
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    while learner.games < warm:
        learner.round(0.0)
    ray.shutdown()
    known: dict[str, Callable[[float], float]] = {
        "arena": arena,
        "learner": lambda seconds: learn(learner, 0.0, seconds),
        "exact": lambda seconds: learn(learner, 1.0, seconds),
    }
    for name in loops or tuple(known):
        pairs = [tuple(measured(known[name], workers, seconds) for workers in (1, 2)) for _ in range(rounds)]
        one, two = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios = sorted(second / first for first, second in pairs)
        told = f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} over {rounds} rounds)"
        click.echo(f"{name}: one worker {one:,.0f} games/s, two {two:,.0f}: {told}")


if __name__ == "__main__":
    main()
