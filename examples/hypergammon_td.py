"""A learner on Hypergammon against the truth: value error, loss a decision and exploitability by minute.

    python examples/hypergammon_td.py --minutes 10 --solution hypergammon.sol --out runs/hypergammon

Hypergammon is solved first, if the file is not there (`bg-env solve hypergammon`, some minutes); then a value net learns by
temporal differences in self-play. Minutes are those of the processor, so that other work on the machine does not count. Writes
net.npz and curve.csv into the folder. Install: `pip install "bg_env[train]"`.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import click
import numpy as np
from tqdm import tqdm

from bg_env import Settings, ValuePlayer, Variant, arena, exact
from bg_env.players import ValueNet
from bg_env.train.td.learner import TDLearner, TDSettings

HEAD = ("minutes", "games", "rms", "loss", "exploitability")  # of curve.csv; all but the first two in points
POINTS = np.array([1.0, 2, 3, -1, -2, -3])  # of the six outcomes of a net


def learn(learner: TDLearner, minutes: float, marks: int) -> list[tuple[float, int, ValueNet]]:
    """Learn for so many minutes of the processor; the net at so many times: minutes, games, net."""
    found: list[tuple[float, int, ValueNet]] = []
    learner.compile()
    began = time.process_time()
    with tqdm(total=round(60 * minutes), unit="s", desc="learning") as bar:
        while len(found) < marks:
            spent = (time.process_time() - began) / 60
            learner.round(min(spent / minutes, 1.0))
            bar.update(min(round(60 * spent), bar.total) - bar.n)
            if spent >= minutes * (len(found) + 1) / marks:
                found.append((spent, learner.games, learner.net()))
    return found


def measure(solution: exact.Solution, net: ValueNet, settings: Settings) -> tuple[float, float, float]:
    """The rms of the net's values in positions that perfect play meets, its loss a decision there, its exploitability."""
    player = ValuePlayer(net, settings=settings, name="td")
    positions = solution.sample(20_000, rolled=False)
    error = player.probabilities(positions) @ POINTS - solution.value(positions, settings)
    policy = solution.policy(player)
    return float(np.sqrt((error**2).mean())), solution.errors(policy).met, solution.exploitability(policy)


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Minutes of learning."
)
@click.option("--marks", type=click.IntRange(1), default=10, show_default=True, help="Points of the curve.")
@click.option(
    "--hidden", type=click.IntRange(1), nargs=2, default=(128, 32), show_default=True, help="Units of the hidden layers."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--games", type=click.IntRange(2), default=1000, show_default=True, help="Evaluation games, an even number.")
@click.option(
    "--solution", type=click.Path(path_type=Path), default="hypergammon.sol", show_default=True, help="File of the solution."
)
@click.option("--out", type=click.Path(path_type=Path), default="runs/hypergammon", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: one checker a side, three seconds.")
def main(
    minutes: float, marks: int, hidden: tuple[int, int], seed: int, games: int, solution: Path, out: Path, smoke: bool
) -> None:
    """Solve, learn and measure."""
    if games % 2 or out.exists():
        msg = f"--games is an even number and --out a new folder, not {games} and {out}"
        raise click.UsageError(msg)
    variant = "hypergammon"
    out.mkdir(parents=True)
    if smoke:
        variant, minutes, marks, hidden, games = "one(24:1)", 0.05, 2, (16, 8), 40
        solution = out / "one.sol"
    click.echo(f"{variant}: {exact.size_of(variant)}")
    with tqdm(total=1.0, desc="solving", bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}") as bar:
        truth = exact.solve(variant, path=solution, progress=lambda sweep: bar.update(sweep.done - bar.n))
    settings = Settings(Variant.parse(variant), cube=False)
    learner = TDLearner(TDSettings(variant=variant, hidden=hidden, seed=seed))
    nets = learn(learner, minutes, marks)
    nets[-1][2].save(out / "net.npz")
    rows = []
    for spent, played, net in tqdm(nets, desc="measuring"):
        rows.append((round(spent, 3), played, *measure(truth, net, settings)))
        with (out / "curve.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEAD, *rows])
    for row in rows:
        click.echo("{:6.2f} minutes, {:9,} games: rms {:.4f}, loss a decision {:.5f}, exploitability {:.4f}".format(*row))
    td = ValuePlayer(nets[-1][2], name="td")
    for opponent in ("random", truth.player()):
        click.echo(arena.play(td, opponent, games=games, seed=seed, settings=settings).text())


if __name__ == "__main__":
    main()
