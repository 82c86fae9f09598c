"""Speed of two workers of Ray beside one: games per second by wall clock.

    python benchmarks/ray_workers.py --rounds 5 --seconds 15

One worker and two take turns in one run; each measurement starts Ray anew on this machine with that many processors. `arena`:
the player td against pubeval by `play_on_ray`. `learner`: rounds of `TDLearnerOnRay`, including the fitting, which this process
does while the workers play. `exact`: the same with the exact targets of the later part of a run, which the workers compute.
Use an idle machine: with two processors, two workers and the fitting share them. Needs torch and Ray.
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
"""Mean turns of a game between trained nets."""


def arena(seconds: float) -> float:
    """Games per second."""
    games, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        games += play_on_ray("td", "pubeval", games=4000, seed=games, cube=False).episodes
    return games / (time.perf_counter() - began)


def learn(learner: TDLearnerOnRay, share: float, seconds: float) -> float:
    """Games per second, from the number of turns: games that began together also end together."""
    rounds, began = learner.rounds, time.perf_counter()
    while time.perf_counter() - began < seconds:
        learner.round(share)
    turns = (learner.rounds - rounds) * learner.settings.batch * learner.settings.turns
    return turns / TURNS / (time.perf_counter() - began)


def measured(work: Callable[[float], float], workers: int, seconds: float) -> float:
    """The rate of `work` with so many workers, after they have started and loaded their kernels."""
    ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        work(2.0)
        return work(seconds)
    finally:
        ray.shutdown()


@click.command(help=__doc__)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Runs of each loop.")
@click.option("--seconds", type=click.FloatRange(0.1), default=15.0, show_default=True, help="Seconds of each measurement.")
@click.option(
    "--warm", type=click.IntRange(0), default=3000, show_default=True, help="Games of self-play before the clock starts."
)
@click.option(
    "--loop",
    "loops",
    multiple=True,
    type=click.Choice(["arena", "learner", "exact"]),
    help="Measure only this loop; can be repeated.",
)
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
        ratio = f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f} over {rounds} rounds)"
        click.echo(f"{name}: one worker {one:,.0f} games/s, two {two:,.0f}: {ratio}")


if __name__ == "__main__":
    main()
