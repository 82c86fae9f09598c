"""AgileRL's PPO over the native batch.

    python examples/agilerl_ppo.py --minutes 4 --out runs/agilerl

AgileRL takes the action mask from the info, so the observation is a plain array. Writes agent.pt and curve.csv (the games of
each rollout) into the folder, then evaluates the agent against the random player. Install: `pip install "bg_env[agilerl]"`.
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

from bg_env import Settings, arena
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see
NET = {"latent_dim": 128, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}


def player(agent: Any) -> Any:
    """The agent as a player for the arena; it samples its actions, as it does in training."""

    def ppo(seen: dict[str, Any]) -> Any:
        return agent.get_action(seen["observation"], action_mask=seen["action_mask"])[0]

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
@click.option("--out", type=click.Path(path_type=Path), default="runs/agilerl", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, opponent: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - AgileRL uses it
    options: dict[str, Any] = {"mask": "info", "opponent": opponent, "reward": "normalized", "autoreset_mode": "same_step"}
    envs = gymnasium.make_vec("bg_env/BackgammonCubeless-v0", GAMES, **options)
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
    state: dict[str, Any] = {}
    began = time.monotonic()
    while (rollouts < 2) if smoke else (time.monotonic() - began < 60 * minutes):
        scores, *last = collect_rollouts(agent, envs, STEPS, **state)
        state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
        agent.learn()
        points = arena.mean_of(3 * np.array(scores))  # in points
        rollouts, ended = rollouts + 1, ended + len(scores)
        rows.append((rollouts * GAMES * STEPS, round(time.monotonic() - began, 1), ended, *np.round(points, 4).tolist()))
        if rollouts % 20 == 0 or smoke:
            click.echo(f"{rows[-1][0]:>12,} steps, {ended:>8,} games: {points.text()} points per game against {opponent}")
    agent.save_checkpoint(str(out / "agent.pt"))
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(arena.play(player(agent), "random", games=20 if smoke else games, seed=EVALUATION + seed, settings=RULES).text())


if __name__ == "__main__":
    main()
