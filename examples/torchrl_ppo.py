"""TorchRL's PPO over the native batch: the mask goes into a MaskedCategorical, the opponent plays inside the step.

    python examples/torchrl_ppo.py --minutes 4 --out runs/torchrl

Writes net.pt and curve.csv (the games of each rollout) into the folder, then evaluates the net against the random player.
Install: `pip install "bg_env[torchrl]"`.
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
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from bg_env import Settings, arena
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
EPOCHS, BATCH = 4, 2048
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


def net(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))


class Policy(nn.Module):
    """Logits of all actions, and the mask as MaskedCategorical takes it."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.net = net(inputs, actions)

    def forward(self, observation: Tensor, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and mask of a batch of observations."""
        return self.net(observation), action_mask.bool()

    @torch.no_grad()
    def greedy(self, seen: dict[str, Any]) -> Any:
        """The most probable action for each of a batch of observations: a player for the arena."""
        logits, mask = self(torch.from_numpy(seen["observation"]), torch.from_numpy(seen["action_mask"]))
        return logits.masked_fill(~mask, -torch.inf).argmax(dim=1).numpy()


def make_env(opponent: str, seed: int) -> GymWrapper:
    """The batch as TorchRL expects it: TorchRL resets finished games itself, so autoreset is disabled."""
    options: dict[str, Any] = {"opponent": opponent, "reward": "normalized", "autoreset_mode": "disabled"}
    env = GymWrapper(gymnasium.make_vec("bg_env/BackgammonCubeless-v0", GAMES, **options), categorical_action_encoding=True)
    env.set_seed(seed)
    return env


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
@click.option("--out", type=click.Path(path_type=Path), default="runs/torchrl", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)  # for a net this small, more threads cost more than they save
    torch.manual_seed(seed)
    env = make_env(opponent, seed)
    inputs, actions = env.observation_spec["observation"].shape[-1], env.observation_spec["action_mask"].shape[-1]
    policy = Policy(inputs, actions)
    actor = ProbabilisticActor(
        TensorDictModule(policy, in_keys=["observation", "action_mask"], out_keys=["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(net(inputs, 1), in_keys=["observation"])
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(
        actor, critic, entropy_coeff=0.01, critic_coeff=0.5, loss_critic_type="l2", normalize_advantage=True
    )  # fmt: skip
    optimizer = torch.optim.Adam(loss.parameters(), 6e-4, eps=1e-5)
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    rollouts = ended = 0
    began = time.monotonic()
    for data in Collector(env, actor, frames_per_batch=GAMES * STEPS, auto_register_policy_transforms=False):
        with torch.no_grad():
            gae(data)
        columns = data.reshape(-1)
        for _ in range(EPOCHS):
            order: Any = torch.randperm(len(columns))
            for some in order.split(BATCH):
                terms = loss(columns[some])
                optimizer.zero_grad()
                sum(terms[name] for name in ("loss_objective", "loss_critic", "loss_entropy")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        over = 3 * columns["next", "reward"][columns["next", "done"]].numpy()  # in points
        points, seconds = arena.mean_of(over), time.monotonic() - began
        rollouts, ended = rollouts + 1, ended + len(over)
        rows.append((rollouts * GAMES * STEPS, round(seconds, 1), ended, *np.round(points, 4).tolist()))
        if rollouts % 20 == 0 or smoke:
            click.echo(f"{rows[-1][0]:>12,} steps, {ended:>8,} games: {points.text()} points per game against {opponent}")
        if (rollouts == 2) if smoke else (seconds > 60 * minutes):
            break
    torch.save(policy.state_dict(), out / "net.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(policy.greedy, "random", games=20 if smoke else games, seed=EVALUATION + seed, settings=RULES).text())


if __name__ == "__main__":
    main()
