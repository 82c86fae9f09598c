"""Tianshou's DQN against an opponent that plays inside the step; Tianshou takes the mask from the observation.

    python examples/tianshou_dqn.py --minutes 4 --out runs/tianshou

With Tianshou's wrapper of PettingZoo the observation after the learner's action would be the opponent's, with a value of the
wrong sign; here the next observation is always the learner's own. Writes net.pt and curve.csv (the games of some rounds
together) into the folder, then evaluates the net against the random player. Install: `pip install "bg_env[tianshou]"`.
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
from bg_env import Settings, arena
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

GAMES, ROUND, UPDATES, BATCH = 32, 1024, 16, 512  # games at once; steps and updates of a round; rows of an update
MEMORY, TARGET, AHEAD = 100_000, 500, 8  # replay buffer; updates between target nets; steps of the returns
EXPLORE, LEAST = 200_000, 0.05  # steps over which the share of random actions falls from 1 to the other number
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


def make_env(opponent: str) -> gymnasium.Env[Any, Any]:
    """A game whose observation has the names that Tianshou expects: obs and mask."""
    env = gymnasium.make("bg_env/BackgammonCubeless-v0", opponent=opponent, reward="normalized", mask="observation")
    parts: Any = env.observation_space
    renamed = spaces.Dict(obs=parts["observation"], mask=parts["action_mask"])
    return gymnasium.wrappers.TransformObservation(
        env, lambda seen: {"obs": seen["observation"], "mask": seen["action_mask"]}, renamed
    )


def player(net: Any) -> Any:
    """The net as a player for the arena: the legal action with the highest value."""

    @torch.no_grad()
    def dqn(seen: dict[str, Any]) -> Any:
        return np.where(seen["action_mask"], net(seen["observation"])[0].numpy(), -np.inf).argmax(axis=1)

    return dqn


def check(opponent: str, games: int, out: Path) -> None:
    """Refuse options that cannot work before the training starts, and make the folder."""
    if games % 2:
        msg = f"--games is an even number, half of the games from each seat, not {games}"
        raise click.UsageError(msg)
    try:
        player_named(opponent, RULES)
        out.mkdir(parents=True)
    except FileExistsError as error:
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg) from error
    except (BgEnvError, OSError) as error:
        raise click.UsageError(str(error)) from error


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Minutes of training.")
@click.option("--opponent", default="random", show_default=True, help="Name of the player to learn against.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/tianshou", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: four rounds, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - Tianshou uses it
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
        policy.set_eps_training(max(LEAST, 1 - steps / EXPLORE))
        with policy_within_training_step(policy):
            results = collector.collect(n_step=ROUND)
            for _ in range(UPDATES):
                algorithm.update(collector.buffer, BATCH)
        steps, ended = steps + ROUND, ended + results.n_collected_episodes
        recent += (3 * results.returns).tolist()  # in points
        if len(recent) >= (1 if smoke else 400):
            points, recent = arena.mean_of(np.array(recent)), []
            rows.append((steps, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
            click.echo(f"{steps:>10,} steps, {ended:>7,} games: {points.text()} points per game against {opponent}")
    torch.save(net.state_dict(), out / "net.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(player(net), "random", games=20 if smoke else games, seed=EVALUATION + seed, settings=RULES).text())


if __name__ == "__main__":
    main()
