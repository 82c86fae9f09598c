"""OpenSpiel's Monte Carlo tree search over bg_env: strength by the number of simulations.

    python examples/openspiel_mcts.py --simulations 64 --games 100 --out runs/mcts

The search rolls dice of its own at the chance nodes of the game: the state that it is given does not hold the rolls to come. A
leaf is evaluated by the race, the lead in pips. Writes curve.csv (points per game against the random player for each number of
simulations) into the folder. Install: `pip install "bg_env[openspiel]"`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from open_spiel.python.algorithms import mcts
from tqdm import tqdm

from bg_env import VARIANTS, arena
from bg_env.adapters.openspiel import BotPlayer, OpenSpielGame, OpenSpielState

PIPS = np.arange(26)  # pips that a checker on each point has to go; 0 is borne off, 25 the bar


class Race(mcts.Evaluator):  # type: ignore[misc] # OpenSpiel has no types
    """The lead in the race: 100 pips count as one point."""

    def evaluate(self, state: OpenSpielState) -> npt.NDArray[np.float64]:
        """The expected points of both players."""
        pips = state.states[0]["points"] @ PIPS
        lead = float(np.clip((pips[1] - pips[0]) / 100, -1, 1))
        return np.array([lead, -lead])

    def prior(self, state: OpenSpielState) -> list[tuple[int, float]]:
        """The same probability for every action; for rolls, their probabilities."""
        if state.is_chance_node():
            return state.chance_outcomes()
        actions = state.legal_actions()
        return [(action, 1 / len(actions)) for action in actions]


def searcher(simulations: int, exploration: float, seed: int) -> BotPlayer:
    """A player that searches with so many simulations per decision."""

    def bot(game: OpenSpielGame) -> Any:
        return mcts.MCTSBot(game, exploration, simulations, Race(), random_state=np.random.RandomState(seed))

    return BotPlayer(bot, name=f"mcts {simulations}")


def check(games: int, out: Path) -> None:
    """Refuse options that cannot work before the training starts, and make the folder."""
    if games % 2:
        msg = f"--games is an even number, half of the games from each seat, not {games}"
        raise click.UsageError(msg)
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        msg = f"{out} exists already: choose a new folder with --out"
        raise click.UsageError(msg) from error
    except OSError as error:
        raise click.UsageError(str(error)) from error


@click.command(help=__doc__)
@click.option("--simulations", type=click.IntRange(2), default=64, show_default=True, help="Most simulations per decision.")
@click.option(
    "--exploration", type=click.FloatRange(0), default=0.3, show_default=True, help="Exploration constant of UCT, in points."
)
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="backgammon", show_default=True, help="Variant to play.")
@click.option("--games", type=click.IntRange(2), default=100, show_default=True, help="Games for each, an even number.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Random seed.")
@click.option("--out", type=click.Path(path_type=Path), default="runs/mcts", show_default=True, help="A new folder.")
@click.option("--smoke", is_flag=True, help="A quick test that it runs: 2 and 4 simulations, six games each.")
def main(simulations: int, exploration: float, variant: str, games: int, seed: int, out: Path, smoke: bool) -> None:
    """Train, save and evaluate."""
    check(games, out)
    if smoke:
        simulations, games = 4, 6
    with (out / "curve.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("simulations", "points", "low", "high", "wins"))
        number = 2
        while number <= simulations:
            player = searcher(number, exploration, seed)
            with tqdm(total=games, unit="game", desc=player.name) as bar:
                result = arena.play(
                    player, "random", games=games, seed=seed, variant=variant, cube=False, progress=bar.update
                )  # fmt: skip
            rows.writerow((number, *np.round(result.points, 4).tolist(), round(result.sides[0].wins.value, 4)))
            click.echo(f"{number:>6} simulations: {result.points.text()} points per game against random")
            number *= 2
    click.echo(result.text())


if __name__ == "__main__":
    main()
