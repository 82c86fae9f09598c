"""Tianshou's DQN against an opponent that plays inside the step; Tianshou takes the mask from the observation.

    python examples/tianshou_dqn.py --minutes 4 --out runs/tianshou

Tianshou's wrapper of PettingZoo would put the opponent's position behind the learner's action, with a value of the wrong sign:
here the next position that the learner sees is always one of its own. Writes net.pt and curve.csv (the games of each round)
into the folder, and prints how the net does against the random player in games that it has never seen. It needs
`pip install "bg_env[tianshou]"`.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import click
import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

import bg_env  # registers the ids
from bg_env import arena

GAMES, ROUND, UPDATES, BATCH = 32, 1024, 16, 512  # games at once; steps of a round; its updates; rows of each
MEMORY, TARGET, AHEAD = 100_000, 500, 8  # steps kept; updates between target nets; steps before a value is trusted
EXPLORE, FEWEST = 200_000, 0.05  # the share of random actions falls from 1 to this over so many steps
FRESH = 2**63  # the first seed of games that the training does not see


def make_env(opponent: str) -> gymnasium.Env[Any, Any]:
    """A game whose observation has the names that Tianshou looks for: obs and mask."""
    env = gymnasium.make("bg_env/BackgammonCubeless-v0", opponent=opponent, reward="normalized", mask="observation")
    parts: Any = env.observation_space
    renamed = spaces.Dict(obs=parts["observation"], mask=parts["action_mask"])
    return gymnasium.wrappers.TransformObservation(
        env, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, renamed
    )


def player(net: Any) -> Any:
    """The net as a player for the arena: the legal action of highest value."""

    @torch.no_grad()
    def dqn(seen: dict[str, Any]) -> Any:
        return np.where(seen["action_mask"], net(seen["observation"])[0].numpy(), -np.inf).argmax(axis=1)

    return dqn


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Of training.")
@click.option("--opponent", default="random", show_default=True, help="The player to learn against, by name.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="That measure it, an even number.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of games, net and exploration.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/tianshou", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="Only see that it runs: four rounds, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, write, measure."""
    if games % 2:
        msg = f"--games is an even number, half of them from each seat, not {games}"
        raise click.UsageError(msg)
    if out.exists():
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg)
    out.mkdir(parents=True)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what Tianshou draws from
    envs = DummyVectorEnv([lambda: make_env(opponent) for _ in range(GAMES)])
    envs.seed(seed)
    spec = bg_env.ENCODERS["tesauro"]
    space: Any = envs.action_space[0]
    net = Net(state_shape=spec.shape, action_shape=int(space.n), hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=space)
    algorithm: Any = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=5e-4),
        gamma=1.0,
        n_step_return_horizon=AHEAD,
        target_update_freq=TARGET,
        huber_loss_delta=1.0,
    )
    collector: Any = Collector(algorithm, envs, VectorReplayBuffer(MEMORY, GAMES), exploration_noise=True)
    collector.reset()
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    steps = ended = 0
    recent: list[float] = []
    began = time.monotonic()
    while (steps < 4 * ROUND) if smoke else (time.monotonic() - began < 60 * minutes):
        policy.set_eps_training(max(FEWEST, 1 - steps / EXPLORE))
        with policy_within_training_step(policy):
            told = collector.collect(n_step=ROUND)
            for _ in range(UPDATES):
                algorithm.update(collector.buffer, BATCH)
        steps, ended = steps + ROUND, ended + told.n_collected_episodes
        recent += (3 * told.returns).tolist()  # in points
        if len(recent) >= (1 if smoke else 400):
            points, recent = arena.mean_of(np.array(recent)), []
            rows.append((steps, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
            click.echo(f"{steps:>10,} steps, {ended:>7,} games: {points.text()} points per game against {opponent}")
    torch.save(net.state_dict(), out / "net.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(player(net), "random", games=20 if smoke else games, seed=FRESH + seed, cube=False).text())


if __name__ == "__main__":
    main()
