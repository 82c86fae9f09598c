"""OpenSpiel's DQN over bg_env: two agents learn by playing against each other, one in each seat.

    python examples/openspiel_dqn.py --minutes 4 --out runs/openspiel_dqn

Each agent acts and is rewarded on its own turns only, so that values keep their sign; observations come with the legal
actions. Writes curve.csv (games of the first agent against the random player during training) into the folder, then evaluates
that agent against the random player. Install: `pip install "bg_env[openspiel]"`, and PyTorch.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import dqn
from tqdm import tqdm

from bg_env import VARIANTS, arena
from bg_env.adapters.openspiel import AgentPlayer, load_game

EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


def new_agent(seat: int, inputs: int, actions: int, seed: int) -> Any:
    """An untrained agent for a seat."""
    return dqn.DQN(
        seat,
        state_representation_size=inputs,
        num_actions=actions,
        hidden_layers_sizes=[128, 128],
        batch_size=256,
        replay_buffer_capacity=100_000,
        learning_rate=5e-4,
        optimizer_str="adam",
        loss_str="huber",
        learn_every=8,
        update_target_network_every=200,
        weight_update_coeff=0.0,  # hard updates of the target net
        min_buffer_size_to_learn=500,
        epsilon_start=1.0,
        epsilon_end=0.05,
        epsilon_decay_duration=50_000,
        epsilon_decay_schedule_str="linear",
        gradient_clipping=1.0,
        seed=seed + seat,
    )


def play_game(env: rl_environment.Environment, agents: list[Any]) -> int:
    """Play a game between the agents, which learn from it; the number of decisions."""
    step, decisions = env.reset(), 0
    while not step.last():
        action = agents[step.current_player()].step(step).action
        step = env.step([action])
        decisions += 1
    for agent in agents:
        agent.step(step)  # the result
    return decisions


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


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Minutes of training.")
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="backgammon", show_default=True, help="Variant to learn.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="runs/openspiel_dqn",
    show_default=True,
    help="A new folder.",
)
@click.option("--smoke", is_flag=True, help="A quick test that it runs: six games, twenty evaluation games.")
def main(minutes: float, variant: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(games, out)
    torch.set_num_threads(1)
    env = rl_environment.Environment(load_game(variant, cube=False))
    env.seed(seed)
    (inputs,), actions = env.observation_spec()["info_state"], env.action_spec()["num_actions"]
    agents = [new_agent(seat, inputs, actions, seed) for seat in (0, 1)]
    player = AgentPlayer(agents[0], name="dqn")

    def evaluate(number: int, first: int) -> arena.Result:
        return arena.play(player, "random", games=number, seed=first, variant=variant, cube=False)

    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    steps = ended = 0
    began, due = time.monotonic(), 30.0
    with tqdm(total=round(60 * minutes), unit="s", desc="training") as bar:
        while (ended < 6) if smoke else (time.monotonic() - began < 60 * minutes):
            steps += play_game(env, agents)
            ended += 1
            seconds = time.monotonic() - began
            if smoke or seconds > due:
                points, due = evaluate(20 if smoke else 200, seed).points, due + 30
                rows.append((steps, round(seconds, 1), ended, *np.round(points, 4).tolist()))
                bar.write(f"{steps:>10,} steps, {ended:>7,} games: {points.text()} points per game against random")
            bar.update(min(round(seconds), bar.total) - bar.n)
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(evaluate(20 if smoke else games, EVALUATION + seed).text())


if __name__ == "__main__":
    main()
