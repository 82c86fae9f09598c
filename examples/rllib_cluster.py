"""Learning on one machine or many with Ray: the same program for a laptop and for a cluster.

    python examples/rllib_cluster.py --minutes 10 --out runs/cluster
    python examples/rllib_cluster.py --address HOST:6379 --runners 64 --minutes 60 --out SHARED/cluster
    python examples/rllib_cluster.py --algorithm td --minutes 10 --out runs/td_cluster

`ppo`: RLlib's masked PPO, whose env runners play the native batch against an opponent pool with its weights in Ray's object
store. `td`: the TD learner with self-play in Ray tasks. Evaluation games are Ray tasks as well. Lost workers are replaced, and
--resume continues from the last checkpoint. Install on every machine: `pip install "bg_env[rllib]"`.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
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

from bg_env import Settings
from bg_env.adapters.rllib import Greedy, actor_of, give_opponent_again, native, set_opponent
from bg_env.arena.on_ray import play_on_ray
from bg_env.players import ValuePlayer
from bg_env.train.ppo.on_ray import OpponentPoolOnRay
from bg_env.train.run_folder import checkpoint, last_checkpoint
from bg_env.train.td.learner import TDSettings
from bg_env.train.td.on_ray import TDLearnerOnRay

CPUS = 0.5  # for each env runner and arena task: one kind waits while the other plays
EVERY = 4  # iterations between two snapshots of the pool, and two checkpoints
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see
HEAD = ("steps", "seconds", "points", "low", "high")  # of curve.csv; with td, games instead of steps
NET = {"fcnet_hiddens": [128, 128], "fcnet_activation": "relu", "vf_share_layers": False}
PPO = {"num_epochs": 4, "lr": 6e-4, "gamma": 1.0, "entropy_coeff": 0.01, "vf_loss_coeff": 0.5, "use_kl_loss": False}
RULES = Settings(cube=False)


def configure(runners: int, learners: int, boards: int, seed: int, rows: int) -> Any:
    """PPO over the native batch, with `boards` games in each of `runners` processes and `rows` decisions for each learner."""
    register_env("bg_env", native)
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=NET)
    return (
        PPOConfig()
        .debugging(seed=seed, log_level="ERROR")
        .environment("bg_env", env_config={"cube": False, "reward": "normalized", "opponent": "random"})
        .env_runners(num_env_runners=runners, num_cpus_per_env_runner=CPUS, num_envs_per_env_runner=boards)
        .env_runners(gym_env_vectorize_mode="vector_entry_point")
        .learners(num_learners=learners)
        .fault_tolerance(restart_failed_env_runners=True)
        .callbacks(on_env_runners_recreated=give_opponent_again)
        .rl_module(rl_module_spec=module)
        .training(train_batch_size_per_learner=rows, minibatch_size=min(1024, rows), grad_clip=0.5, **PPO)
    )


def ppo(out: Path, last: Path | None, config: Any, seed: int) -> Iterator[tuple[int, Any]]:
    """Learn against the opponent pool; yields decisions so far and the player after each checkpoint."""
    algorithm = config.build_algo()
    pool = OpponentPoolOnRay(actor_of(algorithm.get_module()), RULES, seed=seed)
    if last is not None:
        algorithm.restore_from_path((last / "algorithm").resolve())
        with (last / "pool.npz").open("rb") as file:
            pool.restore(file, algorithm.iteration)
    while True:
        pool.add(actor_of(algorithm.get_module()), algorithm.iteration)
        for _ in range(EVERY):
            pool.draw(algorithm.iteration)
            set_opponent(algorithm, pool)
            results = algorithm.train()
        with checkpoint(out, algorithm.iteration) as folder:
            algorithm.save_to_path((folder / "algorithm").resolve())
            with (folder / "pool.npz").open("wb") as file:
                pool.dump(file)
        yield int(results["num_env_steps_sampled_lifetime"]), Greedy(actor_of(algorithm.get_module()))


def td(out: Path, last: Path | None, settings: TDSettings, rounds: int) -> Iterator[tuple[int, Any]]:
    """Learn by temporal differences; yields games so far and the player after each checkpoint."""
    learner = TDLearnerOnRay(settings) if last is None else TDLearnerOnRay.load(last / "run.npz")
    while True:
        for _ in range(rounds):
            learner.round()
        with checkpoint(out, learner.rounds) as folder:
            learner.save(folder / "run.npz")
        yield learner.games, ValuePlayer(learner.net(), name="learner")


@click.command(help=__doc__)
@click.option("--address", default="local", show_default=True, help="Address of a cluster (HOST:PORT, auto), or local.")
@click.option("--algorithm", type=click.Choice(["ppo", "td"]), default="ppo", show_default=True, help="See above.")
@click.option("--runners", type=click.IntRange(0), default=2, show_default=True, help="Processes or tasks that play.")
@click.option("--learners", type=click.IntRange(0), default=0, show_default=True, help="RLlib learners; 0: this process.")
@click.option("--boards", type=click.IntRange(1), default=128, show_default=True, help="Games that each runner plays at once.")
@click.option("--minutes", type=click.FloatRange(0), default=10.0, show_default=True, help="Minutes of training.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/cluster", show_default=True, help="A new folder.")
@click.option("--resume", is_flag=True, help="Continue the run in the folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs, up to the first checkpoint.")
def main(
    address: str,
    algorithm: str,
    runners: int,
    learners: int,
    boards: int,
    minutes: float,
    seed: int,
    out: Path,
    resume: bool,
    smoke: bool,
) -> None:
    """Train, save and evaluate."""
    last = last_checkpoint(out)
    there = last is not None and (last / ("algorithm" if algorithm == "ppo" else "run.npz")).exists()
    if out.exists() if not resume else not there:
        msg = f"--out is a new folder, with --resume one that has checkpoints of {algorithm}: {out} is not"
        raise click.UsageError(msg)
    torch.set_num_threads(1)
    ray.init(address=address, log_to_driver=False)
    out.mkdir(parents=True, exist_ok=True)
    if algorithm == "ppo":
        rows = 256 if smoke else 4096 * max(runners, 1) // max(learners, 1)
        run = ppo(out, last, configure(runners, learners, 16 if smoke else boards, seed, rows), seed)
    else:
        run = td(out, last, TDSettings(batch=boards * max(runners, 1), hidden=(128, 64), seed=seed), 2 if smoke else 500)
    began = time.monotonic()
    for amount, player in run:
        result = play_on_ray(player, "random", games=20 if smoke else 400, seed=EVALUATION + seed, cpus=CPUS, settings=RULES)
        row = [amount, round(time.monotonic() - began, 1), *np.round(result.points, 4).tolist()]
        with (out / "curve.csv").open("a", newline="") as file:
            csv.writer(file).writerows([row] if file.tell() else [HEAD, row])
        click.echo(f"{amount:,}: {result.points.text()} points per game against random")
        if smoke or time.monotonic() - began >= 60 * minutes:
            break
    click.echo(result.text())
    ray.shutdown()


if __name__ == "__main__":
    main()
