"""Matches between two players, measured honestly: duplicate dice, both seats, intervals that know of the pairing.

Each dice stream is played twice with the seats swapped, so that luck of the opening and of the dice cancels in part. The two
games of a pair are not independent; what is averaged are therefore the pairs, and the 95 % intervals are made from their
spread. Games are played in a batch; the same seed gives the same games whatever its size, for players that draw from their
words alone (nets may differ in ties with the size of the batch).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, TAKE, why_illegal_text
from bg_env.envs.options import EnvOptions, read_options
from bg_env.envs.replies import _actions, _whole, batch_opponent
from bg_env.errors import IllegalActionError, SettingsError
from bg_env.rules import CHOICE, STATE, Phase, States, apply, episode_key, new_episode, settle, word
from bg_env.rules.legal import is_legal, legal_sets

__all__ = ["TALLY", "Estimate", "Record", "Result", "mean_of", "play", "share_of"]

TALLY: Final = np.dtype(
    [
        ("net", np.int64),
        ("won", np.int32, (2, 3)),
        ("cube", np.int32, (2, 4)),
        ("turns", np.int32),
        ("winner", np.int8),
        ("done", np.int8),
    ],
    align=True,
)
"""What is kept of an episode: the first player's points less the second's; games won by each at level 1, 2, 3; doubles, beavers,
takes and drops of each; turns; who won it (0 the first player, 1 the second, -1 nobody); whether it was played to the end."""

_CHECKER: Final = int(Phase.CHECKER)
_OVER: Final = int(Phase.OVER)
_STEPS: Final = 150
_Z: Final = 1.959963984540054
"""Two-sided 95 % of the normal distribution."""


@kernel
def _begin(states: Any, i: Any, rules: Any, seed: Any, pair: Any) -> None:
    new_episode(states, i, rules, episode_key(seed, pair))
    settle(states, i, rules)


@kernel
def _find(states: Any, game: Any, player: Any, spare: Any, index: Any, words: Any, checker: Any) -> Any:
    """The slots whose game waits for `player`, with a random word each; returns how many.

    `game` is the number of each slot's game, -1 for none; in even games the first player has seat 0. With `spare` only
    checker plays get a word, because nothing else is chosen.
    """
    n = 0
    for i in range(states.shape[0]):
        decider = states[i]["decider"]
        if game[i] < 0 or decider < 0 or (decider ^ (game[i] & 1)) != player:
            continue
        index[n] = i
        checker[n] = states[i]["phase"] == _CHECKER
        if checker[n] or not spare:
            words[n] = word(states[i]["key"], CHOICE, states[i]["choices"])
            states[i]["choices"] += 1
        n += 1
    return n


@kernel
def _act(states: Any, i: Any, rules: Any, tally: Any, g: Any, action: Any) -> Any:
    """Do `action` in slot `i`, which plays game `g`, and count; False if it is not legal."""
    high, low = legal_sets(states, i)
    if action < 0 or action >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, action):
        return False
    player = states[i]["decider"] ^ (g & 1)
    if action == DOUBLE:
        tally[g]["cube"][player, 0] += 1
    elif action == BEAVER:
        tally[g]["cube"][player, 1] += 1
    elif action == TAKE:
        tally[g]["cube"][player, 2] += 1
    elif action == DROP:
        tally[g]["cube"][player, 3] += 1
    apply(states, i, rules, action)
    winner = states[i]["winner"]
    if winner >= 0:
        won = winner ^ (g & 1)
        tally[g]["won"][won, states[i]["level"] - 1] += 1
        tally[g]["net"] += states[i]["won"] if won == 0 else -states[i]["won"]
    settle(states, i, rules)
    if states[i]["phase"] == _OVER:
        tally[g]["turns"] = states[i]["turns"]
        tally[g]["winner"] = -1 if winner < 0 else winner ^ (g & 1)
        tally[g]["done"] = 1
    return True


@kernel
def _act_all(states: Any, game: Any, rules: Any, tally: Any, index: Any, actions: Any) -> Any:
    """Do an action in each slot of `index`; the place of the first illegal one, or -1."""
    for k in range(index.shape[0]):
        if not _act(states, index[k], rules, tally, game[index[k]], actions[k]):
            return k
    return -1


@kernel
def _play_all(states: Any, game: Any, rules: Any, tally: Any, index: Any, plays: Any) -> Any:
    """Do a whole play, int64 (n, 4), in each slot of `index`; the place of the first illegal one, or -1."""
    for k in range(index.shape[0]):
        i = index[k]
        rolls = states[i]["rolls"]
        going = True
        for m in range(4):
            if plays[k, m] < 0:
                break
            if not going or plays[k, m] >= _STEPS or not _act(states, i, rules, tally, game[i], plays[k, m]):
                return k
            going = states[i]["rolls"] == rolls and states[i]["phase"] == _CHECKER
        if going:
            return k  # a part of the roll that can be played is left
    return -1


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

    def text(self, form: str = "+.3f") -> str:
        """The mean and the interval, each by the format `form`."""
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


def mean_of(values: npt.NDArray[Any]) -> Estimate:
    """The mean of independent values with the interval of the normal distribution (of none: NaN)."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan)
    mean = float(np.mean(values))
    half = _Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(mean, mean - half, mean + half)


def share_of(shares: npt.NDArray[Any]) -> Estimate:
    """The mean of independent shares between 0 and 1 with Wilson's interval, which holds near 0 and 1 too.

    Where the values are no plain yes or no but the mean of a pair, the number of trials that Wilson's formula asks for is the
    one that would give the same spread.
    """
    n = float(len(shares))
    if not n:
        return Estimate(math.nan, math.nan, math.nan)
    p = float(np.mean(shares))
    spread = float(np.var(shares, ddof=1)) / n if n > 1 else 0.0
    trials = p * (1 - p) / spread if spread > 0 else n
    middle = (p + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = _Z / (1 + _Z**2 / trials) * math.sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class Record:
    """What one of the two players did; the numbers are of games, in match play of all games of all matches.

    Attributes:
        name: the player's.
        wins: games won.
        gammons: of them gammons.
        backgammons: of them backgammons.
        doubles: doubles and redoubles offered.
        beavers: times it turned the cube again when doubled.
        takes: doubles taken.
        drops: doubles dropped.
    """

    name: str
    wins: int
    gammons: int
    backgammons: int
    doubles: int
    beavers: int
    takes: int
    drops: int


@dataclass(frozen=True)
class Result:
    """What came of the games between two players, the first player's view.

    Attributes:
        settings: what was played, as `bg_env.Settings` prints it.
        seed: of the dice.
        episodes: games of money play, or matches, played to the end in full pairs.
        games: games in them.
        points: points a game of the first player (in match play: points a match).
        wins: share of episodes that it won.
        gammons: share of episodes with more than a single game won (money play; in match play won gammons a match).
        records: of both players.
        turns: mean number of turns of an episode.
        complete: whether all that was asked for was played.
    """

    settings: str
    seed: int
    episodes: int
    games: int
    points: Estimate
    wins: Estimate
    records: tuple[Record, Record]
    turns: float
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers and text, for JSON."""
        shown = asdict(self)
        for name in ("points", "wins"):
            shown[name] = getattr(self, name)._asdict()
        return shown

    def text(self) -> str:
        """A table of a few lines."""
        first, second = self.records
        what = "matches" if "match_length" in self.settings else "games"
        width = max(len(first.name), len(second.name), 6)
        head = f"{'':{width}}  {'wins':>7} {'gammons':>8} {'backgammons':>12}"
        cubed = any(record.doubles for record in self.records)
        if cubed:
            head += f" {'doubles':>8} {'takes':>7} {'drops':>7}"
        lines = [f"{self.settings}: {self.episodes:,} {what}, each dice stream twice with seats swapped (seed {self.seed})", head]
        for record in self.records:
            line = f"{record.name:{width}}  {record.wins:>7,} {record.gammons:>8,} {record.backgammons:>12,}"
            if cubed:
                line += f" {record.doubles:>8,} {record.takes:>7,} {record.drops:>7,}"
            lines.append(line)
        unit = "points a match" if what == "matches" else "points a game"
        lines.append(f"{first.name}: {self.points.text()} {unit}, wins {self.wins.text('.1%')} of the {what} (95 % intervals)")
        return "\n".join(lines)


class _Table:
    """A batch of games between two players, refilled until all pairs are played."""

    def __init__(self, options: EnvOptions, players: tuple[Any, Any], games: int, seed: int, batch: int) -> None:
        self.options = options
        self.rules = options.settings.record()
        self.players = players
        self.seed = np.uint64(seed)
        self.tally = np.zeros(games, TALLY)
        slots = min(batch, games)
        self.states: States = np.zeros(slots, STATE)
        self.game = np.arange(slots, dtype=np.int64)
        self.next = slots
        self._index = np.empty(slots, np.int64)
        self._words = np.empty(slots, np.uint64)
        self._checker = np.empty(slots, np.bool_)
        for i in range(slots):
            _begin(self.states, i, self.rules, self.seed, np.uint64(i // 2))

    def round(self) -> int:
        """Both players decide once, or play a roll, wherever they must; returns how many games ended."""
        for player in (0, 1):
            self._decide(player)
        ended = np.flatnonzero((self.game >= 0) & (self.states["phase"] == _OVER))
        for i in ended:
            self.game[i] = self.next if self.next < len(self.tally) else -1
            if self.game[i] >= 0:
                _begin(self.states, i, self.rules, self.seed, np.uint64(self.next // 2))
                self.next += 1
        return len(ended)

    def _decide(self, player: int) -> None:
        who = self.players[player]
        spare = not hasattr(who, "choose")
        n = _find(self.states, self.game, player, spare, self._index, self._words, self._checker)
        slots, words, moving = self._index[:n], self._words[:n], self._checker[:n]
        if hasattr(who, "choose_plays") and moving.any():
            index = slots[moving]
            plays = _whole(who.choose_plays(self.states[index], words[moving]), (len(index), 4), "a play for each state")
            bad = _play_all(self.states, self.game, self.rules, self.tally, index, plays)
            if bad >= 0:
                msg = f"player {_name(who)} gave the play {plays[bad].tolist()}, which is not legal in {self._where(index[bad])}"
                raise IllegalActionError(msg)
            slots, words = slots[~moving], words[~moving]
        if len(slots):
            before = self.states[slots]
            actions = _actions(who, before, words)
            bad = _act_all(self.states, self.game, self.rules, self.tally, slots, actions)
            if bad >= 0:
                reason = why_illegal_text(before, bad, self.options.settings, int(actions[bad]), self.rules)
                msg = f"player {_name(who)} chose an illegal action in {self._where(slots[bad])}: {reason}"
                raise IllegalActionError(msg)

    def _where(self, slot: int) -> str:
        return f"game {int(self.game[slot])}"


def _name(player: Any) -> str:
    inner = getattr(player, "function", player)
    return str(getattr(inner, "name", None) or getattr(inner, "__name__", None) or type(inner).__name__)


def play(
    a: Any,
    b: Any,
    *,
    games: int = 1000,
    seed: int = 1,
    batch: int = 1024,
    observation: str = "tesauro",
    names: tuple[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Result:
    """Let two players meet.

    Args:
        a: the first player: a name, an object with `choose` or `choose_plays`, or a callable from a batch of observations (a
            dict of `observation` and `action_mask`) to actions.
        b: the second, likewise.
        games: how many games (with `match_length`: matches), an even number, half of them from each seat.
        seed: of the dice and of the players' random words, 0 to 2**64 - 1.
        batch: how many games are played at once.
        observation: the encoder that callables see.
        names: of both, for the result; None for their own.
        progress: called now and then with the number of games that have ended since the last call.
        **settings: what is played: those of `bg_env.Settings`, `variant` among them.

    Returns:
        The result. After Ctrl-C it covers the pairs of games played to the end before the first that was not, and says so
        by `complete`.

    Raises:
        SettingsError: a setting is refused, `games` is odd or below 2, or a player is none.
        IllegalActionError: a player chose something that is not legal.
    """
    options = read_options(settings.pop("variant", "backgammon"), observation=observation, **settings)
    for name, number, low in (("games", games, 2), ("batch", batch, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not low <= number < 2**64:
            msg = f"{name} is a whole number of at least {low}, not {number!r}"
            raise SettingsError(msg)
    if games % 2:
        msg = f"games must be even, because each dice stream is played twice with seats swapped: {games - 1} or {games + 1}"
        raise SettingsError(msg)
    if a is None or b is None:
        msg = "the arena needs two players: None is none"
        raise SettingsError(msg)
    players = batch_opponent(a, options), batch_opponent(b, options)
    table = _Table(options, players, int(games), int(seed), int(batch))
    left = int(games)
    try:
        while left:
            ended = table.round()
            left -= ended
            if progress is not None and ended:
                progress(ended)
    except KeyboardInterrupt:
        pass
    return _result(table, names or (_name(players[0]), _name(players[1])), int(seed))


def _result(table: _Table, names: tuple[str, str], seed: int) -> Result:
    done = table.tally["done"].reshape(-1, 2).all(axis=1)
    pairs = len(done) if done.all() else int(np.argmin(done))
    tally = table.tally[: 2 * pairs]
    won, cube = tally["won"].sum(axis=0), tally["cube"].sum(axis=0)
    records = tuple(
        Record(names[k], int(won[k].sum()), int(won[k, 1]), int(won[k, 2]), *(int(n) for n in cube[k])) for k in (0, 1)
    )
    return Result(
        settings=str(table.options.settings),
        seed=seed,
        episodes=2 * pairs,
        games=int(won.sum()),
        points=mean_of(tally["net"].reshape(-1, 2).mean(axis=1)),
        wins=share_of((tally["winner"] == 0).reshape(-1, 2).mean(axis=1)),
        records=(records[0], records[1]),
        turns=float(tally["turns"].mean()) if pairs else math.nan,
        complete=bool(done.all()),
    )
