"""Train MaskablePPO of sb3-contrib by self-play: the opponent in the native batch is a pool of the learner's past selves.

    python examples/sb3_selfplay.py --minutes 10 --out runs/selfplay

Writes model.zip, curve.csv and curve.png into the folder, and prints what the net reached against the random player. It needs
`pip install "bg_env[train]"`. `python -m bg_env train --opponent self` does the same, resumes, and measures on the way.
"""

from __future__ import annotations

import copy
import csv
import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import torch
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from tqdm import tqdm

from bg_env import arena
from bg_env.adapters.sb3 import make_sb3

GAMES, STEPS = 256, 64  # a rollout: so many games at once, so many decisions in each
EVERY, KEPT, NEWEST = 4, 32, 0.75  # rollouts between snapshots; how many are kept; share of rollouts against the newest
FRESH = 2**63  # the first seed of games that the training does not see


class PastSelves:
    """A pool of past selves, as a callable opponent: it gets observations and masks of all games that wait for it."""

    def __init__(self, policy: Any, seed: int) -> None:
        self.weights: list[dict[str, torch.Tensor]] = []
        self.playing = copy.deepcopy(policy)
        self.rng = np.random.default_rng(seed)

    def __call__(self, observations: Any, masks: Any) -> Any:
        """An action for each game, drawn from the policy of the self that plays."""
        return self.playing.predict(observations, action_masks=masks)[0]

    def add(self, policy: Any) -> None:
        """Keep a snapshot of the weights; the oldest goes."""
        self.weights.append(copy.deepcopy(policy.state_dict()))
        del self.weights[:-KEPT]

    def draw(self) -> None:
        """Settle who plays from now on: mostly the newest, else any of them."""
        place = -1 if self.rng.random() < NEWEST else self.rng.integers(len(self.weights))
        self.playing.load_state_dict(self.weights[place])


class Row(NamedTuple):
    """After a rollout: decisions and seconds so far, points a game against the random player with their 95 % interval."""

    steps: int
    seconds: float
    points: float
    low: float
    high: float


def measure(model: MaskablePPO, games: int, seed: int) -> arena.Result:
    """Games against the random player, half of them from each seat; the net takes the action that it finds most probable."""

    def greedy(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    return arena.play(greedy, "random", games=games, seed=seed, names=("learner", "random"), cube=False)


def draw(rows: list[Row], file: Path, title: str) -> None:
    """The learning curve as a picture."""
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    minutes = [row.seconds / 60 for row in rows]
    axes.plot(minutes, [row.points for row in rows], "o-")
    axes.fill_between(minutes, [row.low for row in rows], [row.high for row in rows], alpha=0.3)
    axes.set(title=title, xlabel="minutes of training", ylabel="points a game against random")
    figure.savefig(file)


def learn(model: MaskablePPO, pool: PastSelves, minutes: float, seed: int, *, smoke: bool) -> list[Row]:
    """Train until the minutes are up (a smoke test: two rollouts), or Ctrl-C comes."""
    rows: list[Row] = []
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
                    points = measure(model, 20 if smoke else 400, seed).points
                    rows.append(Row(model.num_timesteps, round(time.monotonic() - began, 1), *points))
                    bar.set_postfix(steps=f"{model.num_timesteps:,}", random=f"{points.value:+.2f}", refresh=False)
                bar.update(min(round(time.monotonic() - began), bar.total) - bar.n)
        except KeyboardInterrupt:
            bar.write("Stopped; what was learnt is kept.")
    return rows


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Of training.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="That measure it, rounded up to even.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of games, net and exploration.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/selfplay", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="Only see that it runs: two rollouts, twenty games.")
def main(minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, write, measure."""
    if out.exists():
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg)
    torch.set_num_threads(1)  # for so small a net more threads cost more than they bring
    # The reward "normalized" is points / 3 where no cube is in play. The opponent plays inside `step`, so the learner, whose
    # seat is drawn for each game, sees its losses as well. The pool takes the random player's place before the first game.
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
    pool = PastSelves(model.policy, seed)
    env.set_attr("opponent", pool)
    rows = learn(model, pool, minutes, seed, smoke=smoke)

    out.mkdir(parents=True)
    model.save(out / "model.zip")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    draw(rows, out / "curve.png", "MaskablePPO by self-play against a pool of past selves")
    click.echo(f"Learnt from {model.num_timesteps:,} steps; model.zip, curve.csv and curve.png are in {out}")
    click.echo(measure(model, 20 if smoke else games + games % 2, FRESH + seed).text())


if __name__ == "__main__":
    main()
