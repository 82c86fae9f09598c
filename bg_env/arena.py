"""Matches between players, measured honestly: duplicate dice, both seats, intervals that know of the pairing.

Each dice stream is played twice with the seats swapped, so that the luck of the dice cancels in part. The two games of a pair
are not independent; what is averaged are therefore the pairs, and the 95 % intervals are made from their spread. (Two players
that are the same function of state and words play the same game twice, and their result is 0 exactly.)

The same seed gives the same games, however many are played at once, for players that draw from their words alone; nets may
differ in ties with the size of the batch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.actions import checked_seed
from bg_env.envs.duel import Duel, name_of
from bg_env.envs.options import read_options
from bg_env.errors import SettingsError, quoted
from bg_env.rules import Settings
from bg_env.rules.variant import settings_names

__all__ = ["Estimate", "Rating", "Result", "Side", "mean_of", "play", "ratings", "ratings_text", "round_robin", "share_of"]

_Z: Final = 1.959963984540054
"""Two-sided 95 % of the normal distribution."""
_ELO: Final = 400 / math.log(10)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


class Estimate(NamedTuple):
    """A mean and its 95 % interval.

    Attributes:
        value: the mean.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The numbers by name, None for what is not known (NaN and infinity are no JSON)."""
        return {name: _finite(number) for name, number in self._asdict().items()}

    def text(self, form: str = "+.3f") -> str:
        """The mean and, in brackets, the interval, each by the format `form`."""
        return f"{self.value:{form}} ({self.low:{form}}, {self.high:{form}})"


_NOTHING: Final = Estimate(math.nan, math.nan, math.nan)


def mean_of(values: npt.NDArray[Any]) -> Estimate:
    """The mean of independent values with the interval of the normal distribution; of none NaN."""
    if not len(values):
        return _NOTHING
    mean = float(np.mean(values))
    half = _Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(mean, mean - half, mean + half)


def share_of(shares: npt.NDArray[Any]) -> Estimate:
    """The mean of independent shares between 0 and 1 with Wilson's interval, which holds near 0 and 1 too; of none NaN.

    Where the values are no plain yes or no but the mean of a pair, the number of trials that Wilson's formula asks for is the
    one that would give the same spread.
    """
    n = float(len(shares))
    if not n:
        return _NOTHING
    p = float(np.mean(shares))
    spread = float(np.var(shares, ddof=1)) / n if n > 1 else 0.0
    trials = p * (1 - p) / spread if spread > 0 else n
    middle = (p + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = _Z / (1 + _Z**2 / trials) * math.sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class Side:
    """How one of the two players did.

    Attributes:
        name: the player's.
        wins: share of the games of money play, or of the matches, that it won.
        gammons: gammons that it won (backgammons not counted) per game of money play, or per match.
        backgammons: backgammons that it won, likewise.
        won: games that it won, by level: single, gammon, backgammon; in match play those of all matches.
        doubles: doubles and redoubles that it offered.
        beavers: times it turned the cube again when doubled.
        takes: doubles that it took.
        drops: doubles that it dropped.
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


@dataclass(frozen=True)
class Result:
    """What came of the games between two players.

    Attributes:
        settings: what was played.
        seed: of the dice.
        episodes: games of money play, or matches, that were played to the end in full pairs.
        points: points that the first player won less those that it lost, per game of money play or per match.
        sides: both players.
        turns: mean number of turns of an episode.
        complete: whether all that was asked for was played.
    """

    settings: Settings
    seed: int
    episodes: int
    points: Estimate
    sides: tuple[Side, Side]
    turns: float
    complete: bool

    @property
    def unit(self) -> str:
        """What an episode is: "game" or "match"."""
        return "game" if self.settings.money else "match"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers and text, for JSON; None for a number that so few games do not tell."""
        sides = []
        for side in self.sides:
            estimates = {name: getattr(side, name).to_dict() for name in ("wins", "gammons", "backgammons")}
            sides.append(asdict(side) | estimates)
        told = {"settings": str(self.settings), "points": self.points.to_dict(), "sides": sides}
        return asdict(self) | told | {"turns": _finite(self.turns)}

    def text(self) -> str:
        """A few lines for the eye."""
        first, second = self.sides
        many = "games" if self.settings.money else "matches"
        form = ".1%" if self.settings.money else ".2f"
        width = max(len(first.name), len(second.name))
        pairing = f"each dice stream twice with seats swapped, seed {self.seed}; in brackets 95 % intervals"
        lines = [
            f"{self.settings}: {first.name} v {second.name}, {self.episodes:,} {many}, {pairing}",
            f"{'':{width}} {'wins':>21} {'gammons':>21} {'backgammons':>21}",
        ]
        for side in self.sides:
            cells = side.wins.text(".1%"), side.gammons.text(form), side.backgammons.text(form)
            lines.append(f"{side.name:{width}} {' '.join(f'{cell:>21}' for cell in cells)}")
        if any(side.doubles for side in self.sides):
            for side in self.sides:
                beavers = f", beavered {side.beavers:,}" if side.beavers else ""
                told = f"doubled {side.doubles:,}, took {side.takes:,}, dropped {side.drops:,}{beavers}"
                lines.append(f"{side.name:{width}} {told}")
        lines.append(f"{first.name}: {self.points.text()} points per {self.unit}")
        return "\n".join(lines)


def play(
    a: Any,
    b: Any,
    *,
    games: int = 1000,
    seed: int = 1,
    boards: int = 1024,
    observation: str = "tesauro",
    names: tuple[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
    settings: Settings | None = None,
    **rules: Any,
) -> Result:
    """Let two players meet.

    Args:
        a: the first player: a name, an object with `choose` or `choose_plays`, or a callable from a batch of observations (a
            dict of `observation` and `action_mask`) to actions.
        b: the second, likewise.
        games: how many games (with `match_length`: matches), an even number, half of them from each seat.
        seed: of the dice and of the players' random words, 0 to 2**64 - 1.
        boards: how many games are played at once.
        observation: the encoder that callables see.
        names: of both, for the result; None for their own.
        progress: called now and then with the number of games that have ended since the last call.
        settings: what is played.
        **rules: the same by name, as of `bg_env.Settings`, `variant` among them.

    Returns:
        The result. After Ctrl-C it covers the pairs of games before the first one that was not played to the end, and says so
        by `complete`.

    Raises:
        SettingsError: a setting is refused, `games` is odd or below 2, or a player is none.
        IllegalActionError: a player chose something that is not legal.
    """
    if settings is not None:
        rules = {name: getattr(settings, name) for name in settings_names()} | rules
    options = read_options(rules.pop("variant", "backgammon"), observation=observation, **rules)
    checked_seed(seed)
    for name, number, low in (("games", games, 2), ("boards", boards, 1)):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not low <= number < 2**31:
            msg = f"{name} is a whole number from {low} to 2**31 - 1, not {quoted(number)}"
            raise SettingsError(msg)
    if games % 2:
        msg = f"games must be even, because each dice stream is played twice with seats swapped: {games - 1} or {games + 1}"
        raise SettingsError(msg)
    if a is None or b is None:
        msg = "an arena needs two players: None is none"
        raise SettingsError(msg)
    duel = Duel(a, b, options, int(games), int(seed), int(boards))
    left = int(games)
    try:
        while left:
            ended = duel.round()
            left -= ended
            if progress is not None and ended:
                progress(ended)
    except KeyboardInterrupt:
        pass
    first, second = (name_of(player) for player in duel.players)
    return _result(duel, names or (first, second), int(seed))


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
    )


def _result(duel: Duel, names: tuple[str, str], seed: int) -> Result:
    settings = duel.options.settings
    done: npt.NDArray[np.bool_] = _by_pair(duel.tally["done"]) == 1
    pairs = len(done) if done.all() else int(np.argmin(done))
    tally = duel.tally[: 2 * pairs]
    return Result(
        settings=settings,
        seed=seed,
        episodes=2 * pairs,
        points=mean_of(_by_pair(tally["net"])),
        sides=(
            _side(names[0], 0, tally, money=settings.money),
            _side(names[1], 1, tally, money=settings.money),
        ),
        turns=float(tally["turns"].mean()) if pairs else math.nan,
        complete=bool(done.all()),
    )


# Several players


@dataclass(frozen=True)
class Rating:
    """A player's place among several.

    Attributes:
        name: the player's.
        elo: its rating on the scale of chess, where 400 points more mean ten wins to one loss; the mean of all is 0.
        points: points per game against all others, each of them counted alike.
        wins: share of episodes won.
    """

    name: str
    elo: float
    points: float
    wins: float


def round_robin(players: Sequence[Any], names: Sequence[str] | None = None, **how: Any) -> list[Result]:
    """Every player meets every other, all on the same dice.

    Args:
        players: at least two, as `play` takes them.
        names: of all, for the results; None for their own.
        **how: as of `play`.

    Returns:
        The results, in the order of the pairs; the last may be incomplete, if Ctrl-C came, and then no more follow.
    """
    results = []
    for i, j in itertools.combinations(range(len(players)), 2):
        pair = None if names is None else (names[i], names[j])
        results.append(play(players[i], players[j], names=pair, **how))
        if not results[-1].complete:
            break
    return results


def ratings(results: Sequence[Result]) -> list[Rating]:
    """Ratings of all players in the results, best first.

    They are the most likely ones under Elo's model, with a tenth of a win and of a loss added to each meeting, so that a
    player who has won everything has a rating too.
    """
    names = list(dict.fromkeys(side.name for result in results for side in result.sides))
    place = {name: k for k, name in enumerate(names)}
    n = len(names)
    wins, points = np.zeros((n, n)), np.full((n, n), np.nan)
    for result in results:
        i, j = (place[side.name] for side in result.sides)
        for k, m, side in ((i, j, result.sides[0]), (j, i, result.sides[1])):
            wins[k, m] += side.wins.value * result.episodes + 0.1
        points[i, j], points[j, i] = result.points.value, -result.points.value
    games = wins + wins.T
    strength = np.ones(n)
    for _ in range(10_000):  # Hunter's MM steps for the model of Bradley and Terry
        old = strength
        strength = wins.sum(axis=1) / (games / (old[:, None] + old[None, :])).sum(axis=1)
        strength /= math.exp(float(np.log(strength).mean()))
        if np.abs(np.log(strength / old)).max() < 1e-10:
            break
    found = [
        Rating(name, _ELO * math.log(strength[k]), float(np.nanmean(points[k])), float(wins[k].sum() / games[k].sum()))
        for k, name in enumerate(names)
    ]
    return sorted(found, key=lambda rating: -rating.elo)


def ratings_text(found: Sequence[Rating]) -> str:
    """The ratings as a table."""
    width = max(len(rating.name) for rating in found)
    lines = [f"{'':{width}} {'Elo':>7} {'wins':>7} {'points':>8}"]
    lines += [f"{one.name:{width}} {one.elo:>+7.0f} {one.wins:>7.1%} {one.points:>+8.3f}" for one in found]
    return "\n".join(lines)
