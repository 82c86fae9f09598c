"""Result of games between two players, made of the tallies of all games or of parts of them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.arena.adjustment import Adjustment, adjustment
from bg_env.arena.estimates import Estimate, finite, mean_of, share_of
from bg_env.errors import SettingsError
from bg_env.rules import Settings

__all__ = ["Part", "Result", "Side", "joined"]


@dataclass(frozen=True)
class Side:
    """The result of one of the two players.

    Attributes:
        name: of the player.
        wins: share of the games of money play, or of the matches, that it won.
        gammons: gammons that it won (backgammons not counted) per game of money play, or per match.
        backgammons: backgammons that it won, likewise.
        won: games that it won, by level: single, gammon, backgammon; in match play those of all matches.
        doubles: doubles and redoubles that it offered.
        beavers: times it turned the cube again when doubled.
        takes: doubles that it took.
        drops: doubles that it dropped.
        forfeits: games, or matches, that it lost because it gave no legal action (see `bg_env.players.FORFEIT`); they are lost
            with three times the stake, and not among the gammons and backgammons.
    """

    name: str
    wins: Estimate
    gammons: Estimate
    backgammons: Estimate
    won: tuple[int, int, int]
    doubles: int
    beavers: int
    takes: int
    drops: int
    forfeits: int = 0


@dataclass(frozen=True)
class Result:
    """The result of games between two players.

    Attributes:
        settings: the settings in force.
        seed: of the dice.
        episodes: games of money play, or matches, that were played to the end in full pairs.
        points: points that the first player won less those that it lost, per game of money play or per match.
        sides: both players.
        turns: mean number of turns of an episode.
        complete: whether all games were played to the end.
        luck: the estimates with the luck of the dice subtracted; None where luck was not measured.
    """

    settings: Settings
    seed: int
    episodes: int
    points: Estimate
    sides: tuple[Side, Side]
    turns: float
    complete: bool
    luck: Adjustment | None = None

    @property
    def adjusted(self) -> Estimate | None:
        """The result less the luck in it, see `Adjustment`: points per game, or the share of matches won; None without luck."""
        return None if self.luck is None else self.luck.adjusted

    @property
    def unit(self) -> str:
        """The name of an episode: "game" or "match"."""
        return "game" if self.settings.money else "match"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON; None for numbers that are undefined for so few games."""
        sides = []
        for side in self.sides:
            estimates = {name: getattr(side, name).to_dict() for name in ("wins", "gammons", "backgammons")}
            sides.append(asdict(side) | estimates)
        plain = {"settings": str(self.settings), "points": self.points.to_dict(), "sides": sides}
        shown = asdict(self) | plain | {"turns": finite(self.turns)}
        del shown["luck"]
        return shown if self.luck is None else shown | {"luck": self.luck.to_dict()}

    def text(self) -> str:
        """The result as a few lines of text."""
        first, second = self.sides
        many = "games" if self.settings.money else "matches"
        form = ".1%" if self.settings.money else ".2f"
        width = max(len(first.name), len(second.name))
        pairing = f"each dice stream twice with seats swapped, seed {self.seed}; in brackets 95 % intervals"
        heading = f"{self.settings}: {first.name} v {second.name}, {self.episodes:,} {many}, {pairing}"
        lines = [
            textwrap.fill(heading, 80, break_long_words=False, break_on_hyphens=False),
            f"{'':{width}} {'wins':>21} {'gammons':>21} {'backgammons':>21}",
        ]
        for side in self.sides:
            cells = side.wins.text(".1%"), side.gammons.text(form), side.backgammons.text(form)
            lines.append(f"{side.name:{width}} {' '.join(f'{cell:>21}' for cell in cells)}")
        if any(side.doubles for side in self.sides):
            for side in self.sides:
                beavers = f", beavered {side.beavers:,}" if side.beavers else ""
                cube = f"doubled {side.doubles:,}, took {side.takes:,}, dropped {side.drops:,}{beavers}"
                lines.append(f"{side.name:{width}} {cube}")
        lost = ((side.name, side.forfeits) for side in self.sides if side.forfeits)
        lines.extend(f"{name} forfeited {n:,} of {self.episodes:,} {many}: no legal action" for name, n in lost)
        lines.append(f"{first.name}: {self.points.text()} points per {self.unit}")
        if self.luck is not None:
            lines += _luck_lines(first.name, self.luck, money=self.settings.money)
        return "\n".join(lines)


@dataclass(frozen=True)
class Part:
    """Some of the games between two players, one after the other by number.

    Attributes:
        settings: what was played.
        seed: of the dice.
        names: of both players.
        first: number of the first game.
        tally: `bg_env.arena.duel.TALLY` (games,), the outcome of each game.
        evaluator: name of the player whose net measured the luck; None where it was not measured.
        luck: float64 (games, 3), the luck of the first player in each game: in its own rolls, in the other player's, in the
            opening throws; None where it was not measured.
    """

    settings: Settings
    seed: int
    names: tuple[str, str]
    first: int
    tally: npt.NDArray[np.void]
    evaluator: str | None = None
    luck: npt.NDArray[np.float64] | None = None


def joined(parts: Sequence[Part]) -> Result:
    """The result of games that were played in parts.

    Args:
        parts: of games with the same players, settings and seed, in any order; together all games from number 0 on.

    Returns:
        The result of `play` for as many games, bit for bit, whatever the parts. It covers the pairs before the first one that
        was not played to the end.

    Raises:
        SettingsError: there is no part, the parts are not of the same games, or a part is missing or there twice.
    """
    if not parts:
        msg = "there are no parts to combine into a result"
        raise SettingsError(msg)
    parts = sorted(parts, key=lambda part: part.first)
    one, due = parts[0], 0
    for part in parts:
        if (part.settings, part.seed, part.names) != (one.settings, one.seed, one.names):
            msg = f"these parts are not of the same games: {one.settings}, {one.names}, seed {one.seed}; {part.settings}, ..."
            raise SettingsError(msg)
        if part.evaluator != one.evaluator or (part.luck is None) != (one.luck is None):
            msg = (
                f"luck was measured in one part by {one.evaluator}, in another by {part.evaluator}: it must be the same in all"
            )
            raise SettingsError(msg)
        if part.first != due:
            msg = f"after game {due - 1} comes game {due}, and not a part that begins with game {part.first}"
            raise SettingsError(msg)
        due += len(part.tally)
    measured = [part.luck for part in parts if part.luck is not None]
    return _result(one, np.concatenate([part.tally for part in parts]), np.concatenate(measured) if measured else None)


def _by_pair(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    means: npt.NDArray[np.float64] = values.reshape(-1, 2).mean(axis=1)
    return means


def _side(name: str, player: int, tally: npt.NDArray[np.void], *, money: bool) -> Side:
    won = tally["won"][:, player]
    doubles, beavers, takes, drops = (int(n) for n in tally["cube"][:, player].sum(axis=0))
    levels = share_of if money else mean_of
    return Side(
        name=name,
        wins=share_of(_by_pair(tally["winner"] == player)),
        gammons=levels(_by_pair(won[:, 1])),
        backgammons=levels(_by_pair(won[:, 2])),
        won=(int(won[:, 0].sum()), int(won[:, 1].sum()), int(won[:, 2].sum())),
        doubles=doubles,
        beavers=beavers,
        takes=takes,
        drops=drops,
        forfeits=int(tally["forfeits"][:, player].sum()),
    )


def _luck_lines(name: str, luck: Adjustment, *, money: bool) -> list[str]:
    """The estimates less luck, as lines of text."""

    def line(estimate: Estimate, what: str, factor: float | None) -> str:
        shown = estimate.text() + " points per game" if money else estimate.text(".1%") + " of the matches"
        fell = "" if factor is None else f", variance / {factor:.3g}"
        return f"{name}: {shown}, {what}{fell}"

    lines = [
        line(luck.adjusted, f"luck by {luck.evaluator} subtracted", luck.factor),
        line(luck.weighted, "luck weighted", luck.weighted_factor),
    ]
    if luck.factor is None and luck.game_factor is not None:
        lines.append(
            f"All pairs of games have the same result; the variance of single games fell to 1 / {luck.game_factor:.3g}."
        )
    if luck.factor is not None and luck.factor < 1:
        lines.append(f"The net of {luck.evaluator} sees these players' luck badly: use the plain or the weighted result.")
    return lines


def _result(one: Part, tally: npt.NDArray[np.void], luck: npt.NDArray[np.float64] | None) -> Result:
    """The result of all games in `tally` with the `luck` in them; `one` is any part of them."""
    done: npt.NDArray[np.bool_] = _by_pair(tally["done"]) == 1
    pairs = len(done) if done.all() else int(np.argmin(done))
    tally, money = tally[: 2 * pairs], one.settings.money
    return Result(
        settings=one.settings,
        seed=one.seed,
        episodes=2 * pairs,
        points=mean_of(_by_pair(tally["net"])),
        sides=(_side(one.names[0], 0, tally, money=money), _side(one.names[1], 1, tally, money=money)),
        turns=float(tally["turns"].mean()) if pairs else math.nan,
        complete=bool(done.all()),
        luck=None if luck is None else _adjusted(one, tally, luck[: 2 * pairs]),
    )


def _adjusted(one: Part, tally: npt.NDArray[np.void], luck: npt.NDArray[np.float64]) -> Adjustment:
    """The results of all games less luck: points of money play, matches won."""
    return adjustment(str(one.evaluator), tally["net"] if one.settings.money else tally["winner"] == 0, luck)
