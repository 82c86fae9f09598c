"""MaskablePPO of sb3-contrib on one game at a time: a Gymnasium environment with the opponent inside its step.

    python examples/sb3_single.py --minutes 4 --out runs/sb3_single

Writes model.zip and curve.csv (the games of some rollouts together) into the folder, then evaluates the net against the random
player. Over a batch of games the same learner sees many more games in the same time: examples/train_maskable_ppo.py. Install:
`pip install "bg_env[sb3]"`.
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
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import bg_env  # noqa: F401 - registers the ids
from bg_env import Settings, arena
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

STEPS = 2048  # decisions in a rollout
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


class Ended(BaseCallback):
    """Collects the points of finished games."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[float] = []

    def _on_step(self) -> bool:
        self.points += [3 * info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True


def player(model: MaskablePPO) -> Any:
    """The model as a player for the arena: always its most probable action."""

    def ppo(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    return ppo


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
@click.option("--out", type=click.Path(path_type=Path), default="runs/sb3_single", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)  # for a net this small, more threads cost more than they save
    # sb3-contrib asks the environment for `action_masks()`, so the observation can be a plain array. Without a cube the reward
    # "normalized" is points / 3. The opponent plays inside the step, so the learner also sees the games that it loses.
    env = gymnasium.make("bg_env/BackgammonCubeless-v0", opponent=opponent, reward="normalized", mask="info")
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,  # only the result counts, not how soon it comes
        learning_rate=3e-4,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    ended, recent, began = 0, Ended(), time.monotonic()
    while (model.num_timesteps < 2 * STEPS) if smoke else (time.monotonic() - began < 60 * minutes):
        model.learn(STEPS, callback=recent, reset_num_timesteps=False)
        if len(recent.points) >= (1 if smoke else 400):
            points, ended = arena.mean_of(np.array(recent.points)), ended + len(recent.points)
            recent.points.clear()
            rows.append((model.num_timesteps, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
            click.echo(f"{rows[-1][0]:>10,} steps, {ended:>7,} games: {points.text()} points per game against {opponent}")
    model.save(out / "model.zip")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(player(model), "random", games=20 if smoke else games, seed=EVALUATION + seed, settings=RULES).text())


if __name__ == "__main__":
    main()
