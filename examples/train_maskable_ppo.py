"""MaskablePPO of sb3-contrib over the native batch, against a fixed opponent.

    python examples/train_maskable_ppo.py --minutes 4 --out runs/example

Writes model.zip, curve.csv and curve.png into the folder, then evaluates the untrained and the trained net against the random
player. `bg-env train` does the same, and can resume. Install: `pip install "bg_env[train]"`.
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
from bg_env.errors import BgEnvError
from bg_env.players import player as player_named
from bg_env.registration import IDS

GAMES, STEPS = 256, 64  # a rollout: games played at once, decisions in each
EVALUATION = 2**63  # added to the seed for the evaluation games, which the training does not see
CUBELESS = [name for name, preset in IDS.items() if not Settings(**preset).cube]


class Row(NamedTuple):
    """One rollout: decisions and seconds so far, games that ended, share of them won, points a game."""

    steps: int
    seconds: float
    games: int
    won: float
    points: float


def new_model(env: Sb3VecEnv, seed: int) -> MaskablePPO:
    """An untrained model; the same seed gives the same one."""
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
    """Train for so many minutes (as a smoke test: two rollouts), or until Ctrl-C."""
    rows: list[Row] = []
    began = time.monotonic()
    with tqdm(total=round(60 * minutes), unit="s", desc="training", disable=smoke) as bar:
        try:
            while (model.num_timesteps < 2 * GAMES * STEPS) if smoke else (time.monotonic() - began < 60 * minutes):
                model.learn(GAMES * STEPS, reset_num_timesteps=False)
                rewards = model.rollout_buffer.rewards  # points / 3 where a game ended, else 0
                points = 3 * rewards[rewards != 0]
                seconds = time.monotonic() - began
                if len(points):
                    rows.append(Row(model.num_timesteps, seconds, len(points), (points > 0).mean(), points.mean()))
                    bar.set_postfix(won=f"{rows[-1].won:.0%}", points=f"{rows[-1].points:+.2f}", refresh=False)
                bar.update(min(round(seconds), bar.total) - bar.n)
        except KeyboardInterrupt:
            bar.write("Stopped; the results so far are saved.")
    return rows


def draw(rows: list[Row], file: Path, title: str) -> None:
    """Draw the learning curve."""
    figure = Figure(layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    minutes = [row.seconds / 60 for row in rows]
    upper.plot(minutes, [row.points for row in rows])
    upper.set(title=title, ylabel="points a game")
    lower.plot(minutes, [100 * row.won for row in rows])
    lower.set(xlabel="minutes", ylabel="won, %")
    figure.savefig(file)


def evaluate(model: MaskablePPO, name: str, game: str, games: int, seed: int) -> arena.Result:
    """Games against the random player, half of them from each seat; the net always takes its most probable action."""

    def greedy(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    settings = Settings(**IDS[game])
    with tqdm(total=games, unit="game", desc=name) as bar:
        return arena.play(
            greedy, "random", games=games, seed=seed, names=(name, "random"), progress=bar.update, settings=settings
        )  # fmt: skip


def check(game: str, opponent: str, games: int, out: Path) -> None:
    """Refuse options that cannot work before the training starts, and make the folder."""
    if games % 2:
        msg = f"--games is an even number, half of the games from each seat, not {games}"
        raise click.UsageError(msg)
    try:
        player_named(opponent, Settings(**IDS[game]))
        out.mkdir(parents=True)
    except FileExistsError as error:
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg) from error
    except (BgEnvError, OSError) as error:
        raise click.UsageError(str(error)) from error


@click.command(help=__doc__)
@click.option("--id", "game", type=click.Choice(CUBELESS), default="bg_env/BackgammonCubeless-v0", help="Variant to learn.")
@click.option("--opponent", default="random", show_default=True, help="Name of the player to learn against.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True, help="Minutes of training.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/example", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: two rollouts, twenty games.")
def main(game: str, opponent: str, minutes: float, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(game, opponent, games, out)
    torch.set_num_threads(1)  # for a net this small, more threads cost more than they save

    # Without a cube the reward "normalized" is points / 3. The learner's seat is drawn for each game.
    env = make_sb3(game, GAMES, opponent=opponent, reward="normalized", seed=seed)
    model = new_model(env, seed)
    rows = learn(model, minutes, smoke=smoke)

    model.save(out / "model.zip")
    with (out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    draw(rows, out / "curve.png", f"MaskablePPO on {game} against {opponent}")
    click.echo(f"Trained for {model.num_timesteps:,} steps; model.zip, curve.csv and curve.png are in {out}")
    for name, net in (("untrained", new_model(env, seed)), ("trained", model)):
        click.echo(evaluate(net, name, game, 20 if smoke else games, EVALUATION + seed).text())


if __name__ == "__main__":
    main()
