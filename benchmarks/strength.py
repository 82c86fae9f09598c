"""The tables of docs/strength.md: players against each other over duplicate games, with 95 % intervals.

    python benchmarks/strength.py --games 20000
    python benchmarks/strength.py --only cube --games 8000

The columns are players, games, points, wins; then, less luck, points (of matches: wins), adjusted and weighted, and by how much
the variance fell with either. gnubg needs the package gnubg-nn; without it, its rows are left out with a message.
"""

from __future__ import annotations

from typing import Any

import click
from tqdm import tqdm

from bg_env import Settings, arena
from bg_env.errors import MissingDependencyError
from bg_env.players import player

CUBELESS, CUBE = Settings(cube=False), Settings()


class PlaysOnly:
    """A player that never doubles and takes every double."""

    def __init__(self, name: str) -> None:
        self.name = f"{name} without cube"
        self._name = name
        self._player: Any = None

    def bind(self, settings: Settings) -> PlaysOnly:
        """The player under these settings."""
        bound = PlaysOnly(self._name)
        bound._player = player(self._name, settings)
        return bound

    def choose_plays(self, states: Any, words: Any) -> Any:
        """The plays of the player."""
        return self._player.choose_plays(states, words)


ROWS: dict[str, list[tuple[Any, Any, Settings]]] = {
    "cubeless": [
        ("pubeval", "random", CUBELESS),
        ("td", "random", CUBELESS),
        ("td", "pubeval", CUBELESS),
        ("gnubg", "random", CUBELESS),
        ("gnubg", "pubeval", CUBELESS),
        ("td", "gnubg", CUBELESS),
    ],
    "look-ahead": [("td:1", "td", CUBELESS), ("td:1", "gnubg", CUBELESS)],
    "cube": [
        ("td", PlaysOnly("td"), CUBE),
        ("td-cube", PlaysOnly("td-cube"), CUBE),
        ("td-cube", "td", CUBE),
        ("td", "gnubg", CUBE),
        ("td-cube", "gnubg", CUBE),
    ],
    "match": [("td", "gnubg", Settings(match_length=7)), ("td", PlaysOnly("td"), Settings(match_length=7))],
}


def _name(player: Any) -> str:
    return player if isinstance(player, str) else str(player.name)


@click.command(help=__doc__)
@click.option("--only", type=click.Choice(list(ROWS)), multiple=True, help="Measure only this table; can be repeated.")
@click.option(
    "--games",
    type=click.IntRange(20),
    default=20_000,
    show_default=True,
    help="Games of each row, a multiple of 20: a tenth as many matches, half of them from each seat.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the dice.")
@click.option("--luck", default="fast", show_default=True, help="Evaluator of the luck that is subtracted; none for none.")
def main(only: tuple[str, ...], games: int, seed: int, luck: str) -> None:
    """Measure and print."""
    if games % 20:
        msg = f"--games is a multiple of 20, not {games}: a tenth as many matches are played, half of them from each seat"
        raise click.UsageError(msg)
    measured: dict[str, Any] = {} if luck == "none" else {"luck": luck}
    for table in only or ROWS:
        click.echo(f"\n{table}\n")
        for first, second, settings in ROWS[table]:
            number = games // 10 if settings.match_length else games
            names = (_name(first), _name(second))
            try:
                with tqdm(total=number, desc=" v ".join(names), leave=False) as bar:
                    result = arena.play(
                        first, second, games=number, seed=seed, settings=settings, names=names, progress=bar.update, **measured
                    )
            except MissingDependencyError as error:
                click.echo(f"| {names[0]} | {names[1]} | left out: {error} |")
                continue
            wins = result.sides[0].wins
            row = [*names, f"{result.episodes:,}", result.points.text(), wins.text(".1%")]
            if result.luck is not None:  # of matches the share won
                form = "+.4f" if settings.money else ".2%"
                factors = (result.luck.factor, result.luck.weighted_factor)
                row += [result.luck.adjusted.text(form), result.luck.weighted.text(form)]
                row.append(" / ".join("-" if factor is None else f"{factor:.3g}" for factor in factors))
            click.echo(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
