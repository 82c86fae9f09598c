"""AgileRL's PPO over the native batch: AgileRL takes the mask from the info, so the observation is a plain array.

    python examples/agilerl_ppo.py --minutes 4 --out runs/agilerl

Writes agent.pt and curve.csv (the games of each rollout) into the folder, and prints how the agent does against the random
player in games that it has never seen. It needs `pip install "bg_env[agilerl]"`.
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
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts

from bg_env import arena

GAMES, STEPS = 256, 64  # a rollout: so many games at once, so many decisions in each
FRESH = 2**63  # the first seed of games that the training does not see
NET = {"latent_dim": 128, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}


def player(agent: Any) -> Any:
    """The agent as a player for the arena; it draws its actions, as it does while it learns."""

    def ppo(seen: dict[str, Any]) -> Any:
        return agent.get_action(seen["observation"], action_mask=seen["action_mask"])[0]

    return ppo


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Of training.")
@click.option("--opponent", default="random", show_default=True, help="The player to learn against, by name.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="That measure it, an even number.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of games, net and exploration.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/agilerl", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="Only see that it runs: two rollouts, twenty games.")
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
    np.random.seed(seed)  # noqa: NPY002 - what AgileRL draws from
    how: dict[str, Any] = {"mask": "info", "opponent": opponent, "reward": "normalized", "autoreset_mode": "same_step"}
    envs = gymnasium.make_vec("bg_env/BackgammonCubeless-v0", GAMES, **how)
    envs.reset(seed=seed)
    agent: Any = PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config=NET,
        batch_size=2048,
        lr=6e-4,
        learn_step=GAMES * STEPS,
        gamma=1.0,
        update_epochs=4,
        num_envs=GAMES,
    )
    rows: list[tuple[Any, ...]] = [("steps", "seconds", "games", "points", "low", "high")]
    rollouts = ended = 0
    going_on: dict[str, Any] = {}
    began = time.monotonic()
    while (rollouts < 2) if smoke else (time.monotonic() - began < 60 * minutes):
        scores, *last = collect_rollouts(agent, envs, STEPS, **going_on)
        going_on = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
        agent.learn()
        points = arena.mean_of(3 * np.array(scores))  # in points
        rollouts, ended = rollouts + 1, ended + len(scores)
        rows.append((rollouts * GAMES * STEPS, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
        if rollouts % 20 == 0 or smoke:
            click.echo(f"{rows[-1][0]:>12,} steps, {ended:>8,} games: {points.text()} points per game against {opponent}")
    agent.save_checkpoint(str(out / "agent.pt"))
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(player(agent), "random", games=20 if smoke else games, seed=FRESH + seed, cube=False).text())


if __name__ == "__main__":
    main()
