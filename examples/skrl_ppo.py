"""skrl's PPO over the native batch, with the mask applied by the model, since skrl has no action masks.

    python examples/skrl_ppo.py --minutes 4 --out runs/skrl

skrl concatenates the parts of a Dict observation in the order of their sorted names: `action_mask`, then `observation`. Writes
net.pt and curve.csv (the games of each rollout) into the folder, then evaluates the net against the random player. Install:
`pip install "bg_env[skrl]"`.
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
from skrl.agents.torch.ppo import PPO
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import StepTrainer
from skrl.utils import set_seed
from torch import Tensor, nn

from bg_env import Settings, arena
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


def net(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))


class Policy(CategoricalMixin, Model):  # type: ignore[misc] # skrl is not typed
    """Logits of the legal actions; those of the others are -1e9."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.net = net(self.num_observations - self.num_actions, self.num_actions)

    def compute(self, inputs: dict[str, Tensor], role: str = "") -> tuple[Tensor, dict[str, Any]]:  # noqa: ARG002 - skrl passes it
        """The logits for a batch of masks and observations side by side."""
        mask, seen = inputs["observations"].tensor_split([self.num_actions], dim=1)
        return self.net(seen).masked_fill(mask == 0, -1e9), {}

    @torch.no_grad()
    def greedy(self, seen: dict[str, Any]) -> Any:
        """The most probable action for each of a batch of observations: a player for the arena."""
        columns = np.concatenate([seen["action_mask"], seen["observation"]], axis=1, dtype=np.float32)
        return self.compute({"observations": torch.from_numpy(columns)})[0].argmax(dim=1).numpy()


class Value(DeterministicMixin, Model):  # type: ignore[misc] # skrl is not typed
    """The expected reward."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.net = net(self.num_observations - self.num_actions, 1)

    def compute(self, inputs: dict[str, Tensor], role: str = "") -> tuple[Tensor, dict[str, Any]]:  # noqa: ARG002 - skrl passes it
        """The values for a batch of masks and observations side by side."""
        return self.net(inputs["observations"][:, self.num_actions :]), {}


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
@click.option("--out", type=click.Path(path_type=Path), default="runs/skrl", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)
    set_seed(seed)
    options: dict[str, Any] = {"opponent": opponent, "reward": "normalized", "autoreset_mode": "same_step"}
    env: Any = wrap_env(gymnasium.make_vec("bg_env/BackgammonCubeless-v0", GAMES, **options))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": env.device}
    models: dict[str, Any] = {"policy": Policy(**spaces), "value": Value(**spaces)}
    settings: dict[str, Any] = {
        "rollouts": STEPS,
        "learning_epochs": 4,
        "mini_batches": 8,
        "discount_factor": 1.0,
        "learning_rate": 6e-4,
        "entropy_loss_scale": 0.01,
        "value_loss_scale": 0.5,
        "value_clip": 0.0,
        "experiment": {"write_interval": 0, "checkpoint_interval": 0},
    }
    agent = PPO(models=models, memory=RandomMemory(memory_size=STEPS, num_envs=GAMES), cfg=settings, **spaces)
    trainer = StepTrainer(env=env, agents=agent, cfg={"timesteps": 10**9, "headless": True, "disable_progressbar": True})
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    rollouts = ended = 0
    began = time.monotonic()
    while (rollouts < 2) if smoke else (time.monotonic() - began < 60 * minutes):
        over: list[float] = []
        for _ in range(STEPS):
            infos = trainer.train()[-1]
            over += (3 * infos["episode"]["r"][infos["_episode"]]).tolist()  # in points
        points, rollouts, ended = arena.mean_of(np.array(over)), rollouts + 1, ended + len(over)
        rows.append((rollouts * GAMES * STEPS, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
        if rollouts % 20 == 0 or smoke:
            click.echo(f"{rows[-1][0]:>12,} steps, {ended:>8,} games: {points.text()} points per game against {opponent}")
    torch.save(models["policy"].state_dict(), out / "net.pt")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    player = models["policy"].greedy
    click.echo(arena.play(player, "random", games=20 if smoke else games, seed=EVALUATION + seed, settings=RULES).text())


if __name__ == "__main__":
    main()
