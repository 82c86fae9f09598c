"""Train MaskablePPO of sb3-contrib over the native batch against the random player, then play fresh games with it.

    python examples/train_maskable_ppo.py --minutes 4 --out runs/example

Writes model.zip, curve.csv and curve.png into the folder, and prints how the trained net does beside the untrained one.
It needs `pip install "bg_env[train]"`. `python -m bg_env train` does the same, and can resume as well.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from tqdm import tqdm

from bg_env import Settings, arena
from bg_env.adapters.sb3 import Sb3VecEnv, make_sb3
from bg_env.registration import IDS

GAMES, STEPS = 256, 64  # a rollout: so many games at once, so many decisions in each
FRESH = 2**63  # the first seed of games that the training does not see
CUBELESS = [name for name, preset in IDS.items() if not Settings(**preset).cube]


class Row(NamedTuple):
    """What a rollout showed: decisions and seconds so far, games that ended, share of them won, points a game."""

    steps: int
    seconds: float
    games: int
    won: float
    points: float


def new_model(env: Sb3VecEnv, seed: int) -> MaskablePPO:
    """An untrained net; with the same seed always the same."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=2048,
        n_epochs=4,
        gamma=1.0,  # only the result counts, not how soon it comes
        learning_rate=6e-4,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )


def learn(model: MaskablePPO, minutes: float, *, smoke: bool) -> list[Row]:
    """Train until the minutes are up (a smoke test: two rollouts), or Ctrl-C comes."""
    rows: list[Row] = []
    began = time.monotonic()
    with tqdm(total=round(60 * minutes), unit="s", desc="training", disable=smoke) as bar:
        try:
            while (model.num_timesteps < 2 * GAMES * STEPS) if smoke else (time.monotonic() - began < 60 * minutes):
                model.learn(GAMES * STEPS, reset_num_timesteps=False)
                rewards = model.rollout_buffer.rewards  # thirds of a point, 0 except where a game ended
                points = 3 * rewards[rewards != 0]
                seconds = time.monotonic() - began
                if len(points):
                    rows.append(Row(model.num_timesteps, seconds, len(points), (points > 0).mean(), points.mean()))
                    bar.set_postfix(won=f"{rows[-1].won:.0%}", points=f"{rows[-1].points:+.2f}", refresh=False)
                bar.update(min(round(seconds), bar.total) - bar.n)
        except KeyboardInterrupt:
            bar.write("Stopped; what was learnt is kept.")
    return rows


def draw(rows: list[Row], file: Path, title: str) -> None:
    """The learning curve as a picture."""
    figure = Figure(layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    minutes = [row.seconds / 60 for row in rows]
    upper.plot(minutes, [row.points for row in rows])
    upper.set(title=title, ylabel="points a game")
    lower.plot(minutes, [100 * row.won for row in rows])
    lower.set(xlabel="minutes", ylabel="won, %")
    figure.savefig(file)


def measure(model: MaskablePPO, name: str, game: str, games: int, seed: int) -> arena.Result:
    """Games against the random player, half of them from each seat; the net takes the action that it finds most probable."""

    def greedy(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    settings = Settings(**IDS[game])
    with tqdm(total=games, unit="game", desc=name) as bar:
        return arena.play(
            greedy, "random", games=games, seed=seed, names=(name, "random"), progress=bar.update, settings=settings
        )  # fmt: skip


@click.command(help=__doc__)
@click.option("--id", "game", type=click.Choice(CUBELESS), default="bg_env/BackgammonCubeless-v0", help="What to learn.")
@click.option("--opponent", default="random", show_default=True, help="The player to learn against, by name.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Of training.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="That measure it, an even number.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of games, net and exploration.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/example", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="Only see that it runs: two rollouts, twenty games.")
def main(game: str, opponent: str, minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, write, measure."""
    if out.exists():
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg)
    if games % 2:
        msg = f"--games is an even number, half of them from each seat, not {games}"
        raise click.UsageError(msg)
    torch.set_num_threads(1)  # for so small a net more threads cost more than they bring

    # The reward "normalized" is points / 3 where no cube is in play. Each game's learner sits on a seat drawn for it.
    env = make_sb3(game, GAMES, opponent=opponent, reward="normalized", seed=seed)
    model = new_model(env, seed)
    rows = learn(model, minutes, smoke=smoke)

    out.mkdir(parents=True)
    model.save(out / "model.zip")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    draw(rows, out / "curve.png", f"MaskablePPO on {game} against {opponent}")
    click.echo(f"Learnt from {model.num_timesteps:,} steps; model.zip, curve.csv and curve.png are in {out}")
    for name, net in (("untrained", new_model(env, seed)), ("trained", model)):
        click.echo(measure(net, name, game, 20 if smoke else games, FRESH + seed).text())


if __name__ == "__main__":
    main()
