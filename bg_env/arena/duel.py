"""Games between two players at many boards, each random stream played twice with the seats swapped.

Games 2 p and 2 p + 1 have the same stream, with the key `episode_key(seed, p)`; in the even one the first player has seat 0.
All random words of a game, for either player, come from its own stream in the order of the decisions. A board on which a game
ended gets the next game, so that the batch stays full; a game is the same on whichever board it is played.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, STEPS, TAKE, why_illegal_text
from bg_env.arena.match_up import MatchUp
from bg_env.errors import IllegalActionError
from bg_env.evaluation.luck import ROLLERS, LuckMeter
from bg_env.players import ask, player_for
from bg_env.players.protocol import FORFEIT, Choices, name_of, plays_only
from bg_env.rules import (
    CHOICE,
    END_TRUNCATED,
    STATE,
    Phase,
    Rules,
    States,
    do_action,
    episode_key,
    forfeit,
    new_episode,
    run_on,
    word,
)
from bg_env.rules.legal import is_legal, legal_sets

__all__ = ["TALLY", "Duel"]

TALLY: Final = np.dtype(
    [
        ("net", np.int64),
        ("won", np.int32, (2, 3)),
        ("cube", np.int32, (2, 4)),
        ("forfeits", np.int32, (2,)),
        ("turns", np.int32),
        ("winner", np.int8),
        ("done", np.int8),
    ],
    align=True,
)
"""The outcome of an episode: the first player's points less the second's; games won by each at level 1, 2, 3; doubles, beavers,
takes and drops of each; whether each forfeited it (not among those won); turns; the winner (0 the first player, 1 the second,
-1 nobody); whether it was played to the end."""

Integers = npt.NDArray[np.int64]

_PLAYS: Final = 0
_ACTIONS: Final = 1
_BEGIN: Final = 2
_FORFEIT: Final = 3


class Boards(NamedTuple):
    """The boards of a duel.

    Attributes:
        states: STATE (boards,).
        games: int64 (boards,), the number of each board's game in the tally, -1 for none. In even games the first player has
            seat 0.
        rules: the RULES record in force.
        tally: TALLY (games,).
    """

    states: States
    games: Integers
    rules: Rules
    tally: npt.NDArray[np.void]


@kernel
def _find(
    states: States, games: Integers, player: int, only_plays: bool, found: Integers, words: npt.NDArray[np.uint64]
) -> int:
    """The boards on which `player` (0 or 1) decides into `found`, with a random word each; returns their number.

    With `only_plays` only checker plays draw a word, because the other decisions are fixed.
    """
    n = 0
    for i in range(states.shape[0]):
        decider = states[i]["decider"]
        if games[i] < 0 or decider < 0 or (decider ^ (games[i] & 1)) != player:
            continue
        found[n] = i
        if states[i]["phase"] == Phase.CHECKER or not only_plays:
            words[n] = word(states[i]["key"], CHOICE, states[i]["choices"])
            states[i]["choices"] += 1
        n += 1
    return n


@kernel
def _act(boards: Boards, i: int, action: int) -> bool:
    """Execute `action` on board `i`, throw the dice that are then due, and count; False if it is not legal."""
    states, rules, g = boards.states, boards.rules, boards.games[i]
    high, low = legal_sets(states, i)
    if action < 0 or action >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, action):
        return False
    tally = boards.tally
    player = states[i]["decider"] ^ (g & 1)
    if action == DOUBLE:
        tally[g]["cube"][player, 0] += 1
    elif action == BEAVER:
        tally[g]["cube"][player, 1] += 1
    elif action == TAKE:
        tally[g]["cube"][player, 2] += 1
    elif action == DROP:
        tally[g]["cube"][player, 3] += 1
    playing = do_action(states, i, rules, action)
    winner = states[i]["winner"]
    if winner >= 0:
        won = winner ^ (g & 1)
        tally[g]["won"][won, states[i]["level"] - 1] += 1
        tally[g]["net"] += states[i]["won"] if won == 0 else -states[i]["won"]
    run_on(states, i, rules, playing)
    return True


@kernel
def _execute(arrays: tuple[Any, ...], index: Integers, kind: int, choices: Integers, seed: np.uint64, first: int) -> int:
    """Execute a choice on each board of `index`, or begin its game; one kernel, so that the rules are compiled once.

    Args:
        arrays: the fields of `Boards`.
        index: int64 (n,).
        kind: of the choices: _PLAYS, _ACTIONS, _BEGIN or _FORFEIT.
        choices: int64 (n, 4), the steps of a whole play, -1 after the last; (n, 1), an action; of no account for the others.
        seed: of the games that begin.
        first: the number of the first game of the tally among all games of the seed.

    Returns:
        The place in `index` of the first choice that is not legal, or -1.
    """
    boards = Boards(*arrays)
    states = boards.states
    for k in range(index.shape[0]):
        i = index[k]
        if kind == _BEGIN:
            new_episode(states, i, boards.rules, episode_key(seed, np.uint64((first + boards.games[i]) // 2)))
            run_on(states, i, boards.rules, False)
            continue
        if kind == _FORFEIT:
            player = states[i]["decider"] ^ (boards.games[i] & 1)
            forfeit(states, i, boards.rules, states[i]["decider"])
            boards.tally[boards.games[i]]["forfeits"][player] = 1
            boards.tally[boards.games[i]]["net"] += -states[i]["won"] if player == 0 else states[i]["won"]
            continue
        rolls = states[i]["rolls"]
        going = True
        for m in range(choices.shape[1]):
            action = choices[k, m]
            if action < 0 and kind == _PLAYS:
                break
            if not going or (action >= STEPS and kind == _PLAYS) or not _act(boards, i, action):
                return k
            going = states[i]["rolls"] == rolls and states[i]["phase"] == Phase.CHECKER
        if going and kind == _PLAYS:
            return k  # a part of the roll that can be played is left
    return -1


class Duel:
    """Games between two players, all of them by repeated calls of `round`.

    Args:
        a: the first player, anything that `player_for` takes.
        b: the second, likewise.
        match_up: the options.
        first: number of the first game, even.

    Attributes:
        players: both, bound to the settings.
        tally: TALLY (games,), the outcome of each game.
        meter: the measure of luck; None where the options have none.
        luck: float64 (games, ROLLERS), the luck in each game, see `bg_env.evaluation.luck`; None without a measure.

    Raises:
        SettingsError: a value given as a player is not a player, or does not play under the settings; or the evaluator of
            luck has no value net.
    """

    def __init__(self, a: Any, b: Any, match_up: MatchUp, first: int = 0) -> None:
        settings = match_up.settings
        seen, mask = match_up.observation, match_up.mask
        self.players = tuple(player_for(player, settings, observation=seen, mask=mask) for player in (a, b))
        self.meter = None if match_up.luck is None else LuckMeter(match_up.luck, settings)
        self.tally = np.zeros(match_up.games, TALLY)
        self.luck = None if self.meter is None else np.zeros((match_up.games, ROLLERS))
        self._first, self._settings = first, settings
        self._seed = match_up.seed
        n = min(match_up.boards, match_up.games)
        self._boards = Boards(np.zeros(n, STATE), np.arange(n, dtype=np.int64), settings.record(), self.tally)
        self._next = n
        self._found, self._words = np.empty(n, np.int64), np.empty(n, np.uint64)
        self._start(np.arange(n))

    def round(self) -> int:
        """Let both players decide once, or play a roll, on every board where the decision is theirs.

        Returns:
            The number of games that ended.

        Raises:
            IllegalActionError: a player chose something that is not legal.
        """
        for player in (0, 1):
            self._decide(player)
        all_states, all_games = self._boards.states, self._boards.games
        ended = np.flatnonzero((all_games >= 0) & (all_states["phase"] == Phase.OVER))
        games, states = all_games[ended], all_states[ended]
        self.tally["turns"][games] = states["turns"]
        self.tally["winner"][games] = np.where(states["ending"] == END_TRUNCATED, -1, states["winner"] ^ (games & 1))
        self.tally["done"][games] = 1
        begun = min(len(ended), len(self.tally) - self._next)
        all_games[ended] = -1
        all_games[ended[:begun]] = self._next + np.arange(begun)
        self._next += begun
        self._start(ended[:begun])
        return len(ended)

    def _start(self, boards: Integers) -> None:
        """Begin the games of these boards."""
        if len(boards):
            self._execute(boards, _BEGIN, np.zeros((0, 1), np.int64))
            if self.meter is not None and self.luck is not None:
                self.meter.begin(self._boards.states[boards], self._boards.games[boards], self.luck)

    def _execute(self, boards: Integers, kind: int, choices: Integers) -> int:
        """See the kernel `_execute`."""
        return _execute(tuple(self._boards), boards, kind, choices, np.uint64(self._seed), self._first)

    def _decide(self, player: int) -> None:
        asked, states = self.players[player], self._boards.states
        n = _find(states, self._boards.games, player, plays_only(asked), self._found, self._words)
        if n == 0:
            return
        found = self._found[:n]
        before = states[found]
        choices = self._without_forfeits(ask(asked, before.copy(), self._words[:n]), found)
        if len(choices.moving):
            bad = self._execute(found[choices.moving], _PLAYS, choices.plays)
            if bad >= 0:
                game = self._number(found[choices.moving[bad]])
                msg = f"{name_of(asked)} gave the play {choices.plays[bad].tolist()}, not a legal one, in game {game}"
                raise IllegalActionError(msg)
            self._measure(before, found, choices.moving, choices.plays)
        if len(choices.acting):
            bad = self._execute(found[choices.acting], _ACTIONS, choices.actions.reshape(-1, 1))
            if bad >= 0:
                place, action = int(choices.acting[bad]), int(choices.actions[bad])
                reason = why_illegal_text(before, place, self._settings, action, self._boards.rules)
                msg = f"{name_of(asked)} chose an illegal action in game {self._number(found[place])}: {reason}"
                raise IllegalActionError(msg)
            self._measure(before, found, choices.acting, choices.actions.reshape(-1, 1))

    def _without_forfeits(self, choices: Choices, found: Integers) -> Choices:
        """The choices in games that go on; games that the player forfeits are over."""
        first = choices.plays[:, 0]
        if not ((first == FORFEIT).any() or (choices.actions == FORFEIT).any()):
            return choices
        lost = np.concatenate([choices.moving[first == FORFEIT], choices.acting[choices.actions == FORFEIT]])
        self._execute(found[lost], _FORFEIT, np.zeros((0, 1), np.int64))
        playing, deciding = first != FORFEIT, choices.actions != FORFEIT
        moving, acting = choices.moving[playing], choices.acting[deciding]
        return Choices(moving, choices.plays[playing], acting, choices.actions[deciding])

    def _measure(self, before: States, boards: Integers, chosen: Integers, choices: Integers) -> None:
        """Add the luck of the rolls that came after the choices in `before[chosen]`, where that is wanted."""
        if self.meter is not None and self.luck is not None:
            self.meter.follow(before[chosen], self._boards.games[boards[chosen]], choices, self.luck)

    def _number(self, board: int) -> int:
        """The number of the game on a board, among all games of the seed."""
        return self._first + int(self._boards.games[board])
