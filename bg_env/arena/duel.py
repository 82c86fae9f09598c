"""Two players at many boards: games between them in a batch, each random stream played twice with the seats swapped.

Game 2 p and game 2 p + 1 have the same stream, whose key is `episode_key(seed, p)`; in the even one the first player has seat
0. All random words of a game, for either player, come from its one stream in the order of the decisions. A board whose game
is over gets the next game, so that the batch stays full; a game is the same on whichever board it is played.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import BEAVER, DOUBLE, DROP, STEPS, TAKE, why_illegal_text
from bg_env.errors import IllegalActionError
from bg_env.options import EnvOptions
from bg_env.players import Player, PlayPlayer, ask, player_for
from bg_env.players.protocol import name_of, plays_only
from bg_env.rules import CHOICE, END_FINISHED, STATE, Phase, States, apply, episode_key, new_episode, settle, word
from bg_env.rules.legal import is_legal, legal_sets

__all__ = ["TALLY", "Duel"]

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
"""What is kept of an episode: the first player's points less the second's; games won by each at level 1, 2, 3; doubles,
beavers, takes and drops of each; turns; who won it (0 the first player, 1 the second, -1 nobody); whether it was played to
the end."""

_CHECKER: Final = int(Phase.CHECKER)
_OVER: Final = int(Phase.OVER)


@kernel
def _begin(states: Any, i: Any, rules: Any, seed: Any, pair: Any) -> None:
    new_episode(states, i, rules, episode_key(seed, pair))
    settle(states, i, rules)


@kernel
def _find(states: Any, game: Any, player: Any, spare: Any, index: Any, words: Any) -> Any:
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
        if states[i]["phase"] == _CHECKER or not spare:
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
            if not going or plays[k, m] >= STEPS or not _act(states, i, rules, tally, game[i], plays[k, m]):
                return k
            going = states[i]["rolls"] == rolls and states[i]["phase"] == _CHECKER
        if going:
            return k  # a part of the roll that can be played is left
    return -1


class Duel:
    """Games between two players, all of them by repeated calls of `round`.

    Args:
        a: the first player: a name, an object with `choose` or `choose_plays`, or a callable (see `player_for`).
        b: the second, likewise.
        options: what is played, and what callables see.
        games: how many games or matches, an even number.
        seed: of their random streams.
        boards: how many are played at once.
        first: the number of the first of them, even.

    Attributes:
        players: both, bound to the settings.
        tally: TALLY (games,), what is known of each.
        first: the number of the game that the tally begins with.

    Raises:
        SettingsError: a value given as a player is not a player.
    """

    def __init__(self, a: Any, b: Any, options: EnvOptions, games: int, seed: int, boards: int, first: int = 0) -> None:
        self.options = options
        self.players = _player(a, options), _player(b, options)
        self.tally = np.zeros(games, TALLY)
        self.first = first
        self._rules = options.settings.record()
        self._seed = np.uint64(seed)
        boards = min(boards, games)
        self._states: States = np.zeros(boards, STATE)
        self._game = np.arange(boards, dtype=np.int64)
        self._next = boards
        self._index = np.empty(boards, np.int64)
        self._words = np.empty(boards, np.uint64)
        for i in range(boards):
            self._start(i, i)

    def round(self) -> int:
        """Both players decide once, or play a roll, wherever it is theirs to; returns how many games ended.

        Raises:
            IllegalActionError: a player chose something that is not legal.
        """
        for player in (0, 1):
            self._decide(player)
        ended = np.flatnonzero((self._game >= 0) & (self._states["phase"] == _OVER))
        games, states = self._game[ended], self._states[ended]
        self.tally["turns"][games] = states["turns"]
        self.tally["winner"][games] = np.where(states["ending"] == END_FINISHED, states["winner"] ^ (games & 1), -1)
        self.tally["done"][games] = 1
        for i in ended:
            self._game[i] = self._next if self._next < len(self.tally) else -1
            if self._game[i] >= 0:
                self._start(int(i), self._next)
                self._next += 1
        return len(ended)

    def _start(self, board: int, game: int) -> None:
        _begin(self._states, board, self._rules, self._seed, np.uint64((self.first + game) // 2))

    def _decide(self, player: int) -> None:
        who, states, game = self.players[player], self._states, self._game
        n = _find(states, game, player, plays_only(who), self._index, self._words)
        if n == 0:
            return
        boards = self._index[:n]
        before = states[boards]
        choices = ask(who, before.copy(), self._words[:n])
        moving, acting = boards[choices.moving], boards[choices.acting]
        bad = _play_all(states, game, self._rules, self.tally, moving, choices.plays) if len(moving) else -1
        if bad >= 0:
            number = self.first + game[moving[bad]]
            msg = f"{name_of(who)} gave the play {choices.plays[bad].tolist()}, not a legal one, in game {number}"
            raise IllegalActionError(msg)
        bad = _act_all(states, game, self._rules, self.tally, acting, choices.actions) if len(acting) else -1
        if bad >= 0:
            k, action = int(choices.acting[bad]), int(choices.actions[bad])
            reason = why_illegal_text(before, k, self.options.settings, action, self._rules)
            msg = f"{name_of(who)} chose an illegal action in game {self.first + game[acting[bad]]}: {reason}"
            raise IllegalActionError(msg)


def _player(given: Any, options: EnvOptions) -> Player | PlayPlayer:
    return player_for(given, options.settings, observation=options.encoder, mask=options.mask)
