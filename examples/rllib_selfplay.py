"""RLlib's PPO on the new API stack with an action-masking module: self-play of two agents, or the native batch.

    python examples/rllib_selfplay.py --minutes 4 --out runs/rllib
    python examples/rllib_selfplay.py --mode batch --minutes 4 --out runs/rllib_batch

`self-play`: both agents of the PettingZoo environment share one module, each with its own trajectories. `batch`: games against
an opponent that plays inside the step, all in one call. Writes a checkpoint and curve.csv (games against the random player
during training) into the folder, then evaluates the net against the random player. Install: `pip install "bg_env[rllib]"`.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from bg_env import Settings, arena
from bg_env.adapters.rllib import SelfPlayEnv, native
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named

MODULES = {"self-play": "both", "batch": "default_policy"}  # the name of the module in each mode
RULES = Settings(cube=False)
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


def configure(mode: str, opponent: str, runners: int, seed: int, rows: int) -> Any:
    """The configuration of the algorithm, with `rows` decisions per iteration."""
    rules = {"cube": False, "reward": "normalized"}  # the reward is points / 3
    config = PPOConfig().framework("torch").debugging(seed=seed, log_level="ERROR")
    if mode == "batch":
        register_env("bg_env", native)
        config = config.environment("bg_env", env_config={**rules, "opponent": opponent})
        config = config.env_runners(num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point")
    else:
        config = config.environment(SelfPlayEnv, env_config=rules)
        config = config.multi_agent(policies={MODULES[mode]}, policy_mapping_fn=lambda *_, **__: MODULES[mode])
        config = config.env_runners(num_envs_per_env_runner=16)
    return (
        config.env_runners(num_env_runners=runners, rollout_fragment_length="auto")
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule,
                model_config={"fcnet_hiddens": [128, 128], "fcnet_activation": "relu", "vf_share_layers": False},
            )
        )
        .training(
            train_batch_size_per_learner=rows,
            minibatch_size=min(1024, rows),
            num_epochs=4,
            lr=6e-4,
            gamma=1.0,
            lambda_=0.95,
            clip_param=0.2,
            entropy_coeff=0.01,
            vf_loss_coeff=0.5,
            use_kl_loss=False,
            grad_clip=0.5,
        )
    )


def player(module: Any) -> Any:
    """The module as a player for the arena: the most probable legal action."""

    @torch.no_grad()
    def ppo(seen: dict[str, Any]) -> Any:
        columns = {"action_mask": seen["action_mask"].astype(np.float32), "observations": seen["observation"]}
        batch = {"obs": {name: torch.from_numpy(column) for name, column in columns.items()}}
        return module.forward_inference(batch)["action_dist_inputs"].argmax(dim=1).numpy()

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
@click.option("--mode", type=click.Choice(["self-play", "batch"]), default="self-play", show_default=True, help="See above.")
@click.option("--opponent", default="random", show_default=True, help="With --mode batch: name of the player to learn against.")
@click.option("--runners", type=click.IntRange(0), default=0, show_default=True, help="Processes that play; 0: this one.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Minutes of training.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/rllib", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two small iterations, twenty games.")
def main(mode: str, opponent: str, runners: int, minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(opponent, games, out)
    torch.set_num_threads(1)
    ray.init(include_dashboard=False, log_to_driver=False)
    algorithm = configure(mode, opponent, runners, seed, 512 if smoke else 8192).build_algo()

    def evaluate(number: int, first: int) -> arena.Result:
        net = player(algorithm.get_module(MODULES[mode]))
        return arena.play(net, "random", games=number, seed=first, cube=False)

    rows: list[tuple[Any, ...]] = [("steps", "seconds", "points", "low", "high")]
    iterations, began, due = 0, time.monotonic(), 30.0
    while (iterations < 2) if smoke else (time.monotonic() - began < 60 * minutes):
        results = algorithm.train()
        iterations, seconds = iterations + 1, time.monotonic() - began
        if smoke or seconds > due:
            due += 30
            points = evaluate(20 if smoke else 200, seed).points
            steps = int(results["num_env_steps_sampled_lifetime"])
            rows.append((steps, round(seconds, 1), *np.round(points, 4).tolist()))
            click.echo(f"{steps:>10,} steps: {points.text()} points per game against random")
    algorithm.save_to_path((out / "checkpoint").resolve())
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    click.echo(evaluate(20 if smoke else games, EVALUATION + seed).text())
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
