"""Ratings by Elo's model of several players, who all play each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bg_env.arena.play import play
from bg_env.arena.result import Result
from bg_env.errors import SettingsError, quoted

__all__ = ["Rating", "ratings", "ratings_text", "round_robin"]

_ELO: Final = 400 / math.log(10)


@dataclass(frozen=True)
class Rating:
    """The rating of one of several players.

    Attributes:
        name: of the player.
        elo: its rating on the scale of chess, where 400 points more mean ten wins to one loss; the mean of all is 0.
        points: mean points per game against the others, each of them with the same weight.
        wins: share of episodes won.
        adjusted: mean of the results less luck against the others (see `bg_env.arena.Adjustment`), each of them with the same
            weight: points per game, in match play the share of matches won; None where luck was not measured in all results.
    """

    name: str
    elo: float
    points: float
    wins: float
    adjusted: float | None = None


def round_robin(players: Sequence[Any], names: Sequence[str] | None = None, **options: Any) -> list[Result]:
    """Play every player against every other, all on the same dice.

    Args:
        players: at least two, as `play` takes them.
        names: of all players, for the results; None for their own.
        **options: as of `play`.

    Returns:
        The results, in the order of the pairs. After Ctrl-C the last one is incomplete, and the rest is missing.

    Raises:
        SettingsError: there are not at least two players or as many names; and as of `play`.
    """
    if not isinstance(players, Sequence) or isinstance(players, (str, bytes)) or len(players) < 2:
        msg = f"players are a sequence of at least two, not {quoted(players)}"
        raise SettingsError(msg)
    if names is not None and (not isinstance(names, Sequence) or isinstance(names, (str, bytes)) or len(names) != len(players)):
        msg = f"names are {len(players)} names, one for each player, not {quoted(names)}"
        raise SettingsError(msg)
    results = []
    for i, j in itertools.combinations(range(len(players)), 2):
        pair = None if names is None else (names[i], names[j])
        results.append(play(players[i], players[j], names=pair, **options))
        if not results[-1].complete:
            break
    return results


def ratings(results: Sequence[Result]) -> list[Rating]:
    """Ratings of all players in the results, best first.

    They are the most likely ones under Elo's model, with a tenth of a win and of a loss added to each result, so that a player
    who won everything has a rating as well.
    """
    if not isinstance(results, Sequence) or not results or not all(isinstance(one, Result) for one in results):
        msg = f"ratings need a sequence of at least one Result, as round_robin returns it, not {quoted(results)}"
        raise SettingsError(msg)
    names = list(dict.fromkeys(side.name for result in results for side in result.sides))
    place = {name: k for k, name in enumerate(names)}
    n = len(names)
    wins, points, adjusted = np.zeros((n, n)), np.full((n, n), np.nan), np.full((n, n), np.nan)
    measured = all(result.adjusted is not None for result in results)
    for result in results:
        i, j = (place[side.name] for side in result.sides)
        for k, m, side in ((i, j, result.sides[0]), (j, i, result.sides[1])):
            wins[k, m] += side.wins.value * result.episodes + 0.1
        points[i, j], points[j, i] = result.points.value, -result.points.value
        if measured and result.adjusted is not None:
            less = result.adjusted.value
            adjusted[i, j], adjusted[j, i] = less, -less if result.settings.money else 1 - less
    games = wins + wins.T
    strength = np.ones(n)
    for _ in range(10_000):  # Hunter's MM steps for the model of Bradley and Terry
        old = strength
        strength = wins.sum(axis=1) / (games / (old[:, None] + old[None, :])).sum(axis=1)
        strength /= math.exp(float(np.log(strength).mean()))
        if np.abs(np.log(strength / old)).max() < 1e-10:
            break
    found = [
        Rating(
            name=name,
            elo=_ELO * math.log(strength[k]),
            points=float(np.nanmean(points[k])),
            wins=float(wins[k].sum() / games[k].sum()),
            adjusted=float(np.nanmean(adjusted[k])) if measured else None,
        )
        for k, name in enumerate(names)
    ]
    return sorted(found, key=lambda rating: -rating.elo)


def ratings_text(found: Sequence[Rating]) -> str:
    """The ratings as a table."""
    width = max(len(rating.name) for rating in found)
    measured = all(rating.adjusted is not None for rating in found)
    lines = [f"{'':{width}} {'Elo':>7} {'wins':>7} {'points':>8}" + f" {'less luck':>9}" * measured]
    for one in found:
        less = f" {one.adjusted:>+9.3f}" if measured else ""
        lines.append(f"{one.name:{width}} {one.elo:>+7.0f} {one.wins:>7.1%} {one.points:>+8.3f}{less}")
    return "\n".join(lines)
