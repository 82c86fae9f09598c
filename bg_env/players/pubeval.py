"""The player `pubeval`: Gerald Tesauro's public benchmark player of 1993, two linear evaluators over 122 inputs.

It makes the legal play whose result scores highest, by one set of weights where the sides can still meet and by another in
races, as the position before the play decides. It knows no cube. Against the random player it wins 2.5 points a game.

The weights are decimal numbers of five places, so scores are exact integers here: the same play is chosen on every machine,
compiled or not. Among equal scores the first play in the order of `rules.plays` is chosen. The last input is the share of
checkers borne off, n / 15 in the original, n / the variant's number here.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import OrderError
from bg_env.players.protocol import check_states
from bg_env.rules import BAR, OFF, PlayBuffer, Rules, Settings, States, list_plays, play_buffer

__all__ = ["PubevalPlayer", "pubeval_play", "pubeval_table"]

CONTACT = 0
RACE = 1

Integers = npt.NDArray[np.int64]

PLACES: Final = 10**5
"""The weights are multiples of 1 / PLACES."""


@lru_cache
def pubeval_table(checkers: int) -> npt.NDArray[np.int64]:
    """The contributions of all places to the score, as integers: weights * 100,000 * 2 * `checkers`.

    Returns:
        int64 (2, 26, checkers + 2), read only: [CONTACT or RACE, place, n + 1]. Places 1-24 are the player's own points with n
        own checkers, or -1 for an opposing blot; place 25 is the bar with n opposing checkers; place 0 has n own borne off.
    """
    sets = json.loads((resources.files("bg_env") / "data" / "pubeval_weights.json").read_text(encoding="utf-8"))
    table = np.zeros((2, 26, checkers + 2), np.int64)
    for kind, name in ((CONTACT, "contact"), (RACE, "race")):
        weights = [round(w * PLACES) * checkers for w in sets[name]]  # for inputs in halves
        for point in range(1, 25):
            blot, one, more, three, extra = weights[5 * (24 - point) : 5 * (24 - point) + 5]
            table[kind, point, 0] = 2 * blot
            for n in range(1, checkers + 1):
                table[kind, point, n + 1] = 2 * (one if n == 1 else more) + 2 * three * (n == 3) + extra * max(n - 3, 0)
        for n in range(checkers + 1):
            table[kind, BAR, n + 1] = weights[120] * n
            table[kind, OFF, n + 1] = 2 * weights[121] // checkers * n
    table.flags.writeable = False
    return table


@kernel
def _kind(states: States, i: int) -> int:
    """CONTACT if any two opposing checkers have yet to pass each other, else RACE."""
    rear = 0
    for side in range(2):
        p = 25
        while p > 0 and states[i]["points"][side, p] == 0:
            p -= 1
        rear += p
    return CONTACT if rear >= 25 else RACE


@kernel
def _score(after: States, n: int, side: int, table: Integers, kind: int) -> int:
    """The score of position `n` for `side`, which has just played."""
    other = 1 - side
    score: int = table[kind, OFF, np.int64(after[n]["points"][side, OFF]) + 1]
    score += table[kind, BAR, np.int64(after[n]["points"][other, BAR]) + 1]
    for p in range(1, 25):
        own = np.int64(after[n]["points"][side, p])
        if after[n]["points"][other, 25 - p] == 1:
            own = np.int64(-1)
        score += table[kind, p, own + 1]
    return score


@kernel
def pubeval_play(states: States, i: int, rules: Rules, table: Integers, plays: PlayBuffer) -> int:
    """List the plays of state `i` (phase CHECKER) and choose pubeval's: its index in `plays.after` and `plays.actions`.

    `table` is `pubeval_table(checkers)`.
    """
    after = plays.after
    end = list_plays(states, i, rules, plays, 0)
    side = np.int64(states[i]["turn"])
    kind = _kind(states, i)
    best = 0
    top = np.int64(0)
    for n in range(end):
        if after[n]["winner"] >= 0:
            return n
        score = _score(after, n, side, table, kind)
        if n == 0 or score > top:
            best = n
            top = score
    return best


@kernel
def _choose_plays(states: States, rules: Rules, table: Integers, arrays: tuple[Any, ...], steps: Integers) -> None:
    plays = PlayBuffer(*arrays)
    for i in range(states.shape[0]):
        n = pubeval_play(states, i, rules, table, plays)
        for k in range(4):
            steps[i, k] = plays.actions[n, k]


class PubevalPlayer:
    """Tesauro's pubeval, bound to settings; it rolls, takes and names 6-6.

    Args:
        settings: the settings in force; None until `bind` is called.
    """

    name = "pubeval"

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings
        if settings is not None:
            self._rules = settings.record()
            self._table = pubeval_table(settings.variant.checkers)

    def bind(self, settings: Settings) -> PubevalPlayer:
        """Pubeval under these settings."""
        return PubevalPlayer(settings)

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - draws nothing
        """The steps of the play with the highest score for each state (phase CHECKER); see `PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        if self.settings is None:
            msg = "pubeval must know the settings: use PubevalPlayer(settings) or PubevalPlayer().bind(settings)"
            raise OrderError(msg)
        check_states(states, self._rules, playing=True)
        steps = np.empty((len(states), 4), np.int64)
        _choose_plays(states, self._rules, self._table, tuple(play_buffer()), steps)
        return steps

    def __reduce__(self) -> tuple[Any, ...]:
        return PubevalPlayer, (self.settings,)  # a copied table would not be read only, another type to Numba

    def __repr__(self) -> str:
        return f"PubevalPlayer({str(self.settings)!r})" if self.settings is not None else "PubevalPlayer()"
