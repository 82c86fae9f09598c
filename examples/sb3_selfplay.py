"""MaskablePPO of sb3-contrib by self-play: the opponent in the native batch is a pool of snapshots of the learner.

    python examples/sb3_selfplay.py --minutes 10 --out runs/selfplay

Writes model.zip, curve.csv and curve.png into the folder, then evaluates the net against the random player. `bg-env train
--opponent self` does the same, and can resume. Install: `pip install "bg_env[train]"`.
"""

from __future__ import annotations

import copy
import csv
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from tqdm import tqdm

from bg_env import arena
from bg_env.adapters.sb3 import make_sb3

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
EVERY, KEPT, NEWEST = 4, 32, 0.75  # rollouts between snapshots, snapshots kept, share of rollouts against the newest
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see


class OpponentPool:
    """A pool of snapshots as a callable opponent, which is given observations and masks of the games where it is to act."""

    def __init__(self, policy: Any, seed: int) -> None:
        self.weights: list[dict[str, torch.Tensor]] = []
        self.playing = copy.deepcopy(policy)
        self.rng = np.random.default_rng(seed)

    def __call__(self, observations: Any, masks: Any) -> Any:
        """An action for each game, sampled from the policy of the snapshot that plays."""
        return self.playing.predict(observations, action_masks=masks)[0]

    def add(self, policy: Any) -> None:
        """Add a snapshot of the weights; the oldest goes if there are too many."""
        self.weights.append(copy.deepcopy(policy.state_dict()))
        del self.weights[:-KEPT]

    def draw(self) -> None:
        """Choose the snapshot that plays from now on: mostly the newest, else any of them."""
        place = -1 if self.rng.random() < NEWEST else self.rng.integers(len(self.weights))
        self.playing.load_state_dict(self.weights[place])


HEAD = ("steps", "seconds", "points", "low", "high")  # of curve.csv: points a game against random, 95 % interval


def evaluate(model: MaskablePPO, games: int, seed: int) -> arena.Result:
    """Games against the random player, half of them from each seat; the net always takes its most probable action."""

    def greedy(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    return arena.play(greedy, "random", games=games, seed=seed, names=("learner", "random"), cube=False)


def draw(rows: list[Any], file: Path, title: str) -> None:
    """Draw the learning curve."""
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    _, seconds, points, low, high = np.array(rows).T
    axes.plot(seconds / 60, points, "o-")
    axes.fill_between(seconds / 60, low, high, alpha=0.3)
    axes.set(title=title, xlabel="minutes of training", ylabel="points a game against random")
    figure.savefig(file)


def learn(model: MaskablePPO, pool: OpponentPool, minutes: float, seed: int, *, smoke: bool) -> list[Any]:
    """Train for so many minutes (as a smoke test: two rollouts), or until Ctrl-C."""
    rows: list[Any] = []
    began, rollouts = time.monotonic(), 0
    with tqdm(total=round(60 * minutes), unit="s", desc="training", disable=smoke) as bar:
        try:
            while rollouts < 2 if smoke else time.monotonic() - began < 60 * minutes:
                if rollouts % EVERY == 0:
                    pool.add(model.policy)
                pool.draw()
                model.learn(GAMES * STEPS, reset_num_timesteps=False)
                rollouts += 1
                if smoke or rollouts % 20 == 0:
                    points = evaluate(model, 20 if smoke else 400, seed).points
                    rows.append((model.num_timesteps, round(time.monotonic() - began, 1), *points))
                    bar.set_postfix(steps=f"{model.num_timesteps:,}", random=f"{points.value:+.2f}", refresh=False)
                bar.update(min(round(time.monotonic() - began), bar.total) - bar.n)
        except KeyboardInterrupt:
            bar.write("Stopped; the results so far are saved.")
    return rows


@click.command(help=__doc__)
@click.option(
    "--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Minutes of training."
)
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/selfplay", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    if games % 2 or out.exists():
        msg = f"--games is an even number and --out a new folder, not {games} and {out}"
        raise click.UsageError(msg)
    out.mkdir(parents=True)
    torch.set_num_threads(1)  # for a net this small, more threads cost more than they save
    # Without a cube the reward "normalized" is points / 3. The opponent plays inside `step`: the learner, whose seat is drawn
    # for each game, also sees the games that it loses. The pool replaces the random player before the first game.
    env = make_sb3("bg_env/BackgammonCubeless-v0", GAMES, opponent="random", reward="normalized", seed=seed)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,  # only the result counts, not how soon it comes
        learning_rate=3e-4,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )
    pool = OpponentPool(model.policy, seed)
    env.set_attr("opponent", pool)
    rows = learn(model, pool, minutes, seed, smoke=smoke)

    model.save(out / "model.zip")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])
    draw(rows, out / "curve.png", "MaskablePPO by self-play against an opponent pool")
    click.echo(f"Trained for {model.num_timesteps:,} steps; model.zip, curve.csv and curve.png are in {out}")
    click.echo(evaluate(model, 20 if smoke else games, EVALUATION + seed).text())


if __name__ == "__main__":
    main()
