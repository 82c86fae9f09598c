"""Train MaskablePPO of sb3-contrib on backgammon against the random player, then play fresh games with it.

    python examples/train_maskable_ppo.py --minutes 4 --out runs/example

Writes model.zip, curve.csv and curve.png into the folder, and prints how the trained net does beside the untrained one.
It needs `pip install "bg_env[train]"`. `python -m bg_env train` does the same, and can resume as well.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from tqdm import tqdm

from bg_env import Settings, arena
from bg_env.adapters.sb3 import Sb3VecEnv, make_sb3
from bg_env.registration import IDS

GAMES, STEPS = 256, 64  # a rollout: so many games at once, so many decisions in each
FRESH = 2**63  # the first seed of games that the training does not see


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


def learn(model: MaskablePPO, minutes: float, steps: float) -> list[Row]:
    """Train until the minutes or the steps are up, or Ctrl-C comes."""
    rows: list[Row] = []
    began = time.monotonic()
    with tqdm(total=round(60 * minutes), unit="s", desc="training") as bar:
        try:
            while model.num_timesteps < steps and time.monotonic() - began < 60 * minutes:
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


def measure(model: MaskablePPO, name: str, chosen: argparse.Namespace) -> arena.Result:
    """Play fresh games, half of them from each seat; the net takes the action that it finds most probable."""

    def greedy(seen: dict[str, Any]) -> Any:
        return model.predict(seen["observation"], action_masks=seen["action_mask"], deterministic=True)[0]

    with tqdm(total=chosen.games, unit="game", desc=name) as bar:
        return arena.play(
            greedy,
            chosen.opponent,
            games=chosen.games,
            seed=FRESH + chosen.seed,
            names=(name, chosen.opponent),
            progress=bar.update,
            settings=Settings(**IDS[chosen.id]),
        )


def main() -> None:
    """Train, write, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cubeless = [name for name, preset in IDS.items() if not Settings(**preset).cube]
    parser.add_argument("--id", default="bg_env/BackgammonCubeless-v0", choices=cubeless, help="what to learn")
    parser.add_argument("--opponent", default="random", help="player to learn against (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=4.0, help="of training (default: %(default)s)")
    parser.add_argument("--steps", type=float, default=float("inf"), help="of training, if they are done before the minutes")
    parser.add_argument("--seed", type=int, default=1, help="of games, net and exploration (default: %(default)s)")
    parser.add_argument("--games", type=int, default=1000, help="that measure the net, an even number (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/example"), help="a new folder (default: %(default)s)")
    chosen = parser.parse_args()
    if chosen.out.exists():
        parser.error(f"{chosen.out} exists already: choose a new folder with --out")
    torch.set_num_threads(1)  # for so small a net more threads cost more than they bring

    # The reward "normalized" is points / 3 where no cube is in play. Each game's learner sits on a seat drawn for it.
    env = make_sb3(chosen.id, GAMES, opponent=chosen.opponent, reward="normalized", seed=chosen.seed)
    model = new_model(env, chosen.seed)
    rows = learn(model, chosen.minutes, chosen.steps)

    chosen.out.mkdir(parents=True)
    model.save(chosen.out / "model.zip")
    with (chosen.out / "curve.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    draw(rows, chosen.out / "curve.png", f"MaskablePPO on {chosen.id} against {chosen.opponent}")
    print(f"Learnt from {model.num_timesteps:,} steps; model.zip, curve.csv and curve.png are in {chosen.out}")

    for name, net in (("untrained", new_model(env, chosen.seed)), ("trained", model)):
        print(measure(net, name, chosen).text())


if __name__ == "__main__":
    main()
