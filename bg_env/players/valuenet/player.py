"""Players over a value net: greedy, and with one roll of look-ahead (expectimax over the 21 rolls)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import is_whole
from bg_env.errors import OrderError, SettingsError
from bg_env.players.janowski import CUBE_LIFE, choose_cube, cube_scratch, outcome_values
from bg_env.players.valuenet.evaluate import turn_room
from bg_env.players.valuenet.net import ValueNet
from bg_env.players.valuenet.search import choose_names, choose_plays, choose_turns, cube_odds, plain_rules, search_room
from bg_env.rules import MAX_PLAYS, Phase, Settings, States

__all__ = ["MARGIN", "NUMBER", "ValuePlayer"]

NUMBER: Final = 8
"""Plays that are looked ahead from at most, where none is given."""
MARGIN: Final = 0.2
"""How much less than the best by the net alone they may be worth, in points at the present cube, where none is given."""

_CUBE: Final = (int(Phase.ROLL_OR_DOUBLE), int(Phase.TAKE_OR_DROP))


class ValuePlayer:
    """Plays what a value net thinks best; the same in any batch.

    With `plies=0` it chooses the play after which the net expects most, points in money play (Jacoby heeded), chances of
    the match by the match equity table in a match, at the present cube. With `plies=1` it looks one roll ahead: for the
    most promising plays, all 21 rolls of the opponent, each answered by its best play as the net sees it, weighed by their
    chance. A double (R10.6) is named by the value of the best play after it. The cube is turned, taken and dropped by
    `bg_env.players.janowski`, Janowski's model over the net's cubeless odds (with `plies=1` the mean odds over the player's 21
    rolls).

    A net of kind "cube" or "match" has learnt what the cube and the score are worth: it turns, takes and drops as its answers
    say, and looks no roll ahead. One of kind "match" needs a match; one of kind "cube" plays in matches as in money play.

    Args:
        net: the net, or the path of a file that `ValueNet.save` wrote.
        plies: rolls looked ahead, 0 or 1.
        number: with `plies=1`, how many plays are looked ahead from at most; None for all.
        margin: with `plies=1`, how much less than the best a play may be worth without look-ahead, a single game at the
            present cube being 1; None for anything. With `number=None, margin=None` the search is exact.
        cube_life: the cube-life index, 0 (dead) to 1 (fully live).
        name: what the player is called; None for "greedy" or "expectimax".
        settings: what is played; None: `bind` tells.

    Raises:
        SettingsError: an argument is out of range, or the file is none of a net.
    """

    def __init__(
        self,
        net: ValueNet | str | Path,
        plies: int = 0,
        *,
        number: int | None = NUMBER,
        margin: float | None = MARGIN,
        cube_life: float = CUBE_LIFE,
        name: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.net = net if isinstance(net, ValueNet) else ValueNet.load(net)
        if not is_whole(plies, 0, 1):
            msg = f"plies is 0 or 1, not {plies!r}"
            raise SettingsError(msg)
        if number is not None and not is_whole(number, 1):
            msg = f"number is a whole number of plays, at least 1, or None for all, not {number!r}"
            raise SettingsError(msg)
        if margin is not None and not 0 <= margin < math.inf:
            msg = f"margin is a number of points, at least 0, or None for all, not {margin!r}"
            raise SettingsError(msg)
        if not 0 <= cube_life <= 1:
            msg = f"cube_life is from 0, a dead cube, to 1, a fully live one, not {cube_life!r}"
            raise SettingsError(msg)
        if plies and self.net.kind != "odds":
            msg = f"only a net of kind 'odds' looks ahead, not one of kind {self.net.kind!r}: plies=0"
            raise SettingsError(msg)
        self.plies, self.number, self.margin = int(plies), number, margin
        self.cube_life = float(cube_life)
        self.name = name or ("expectimax" if plies else "greedy")
        self.settings = settings
        if settings is not None:
            if self.net.kind == "match" and settings.money:
                msg = f"{self.name} has a net for matches: give match_length, or choose another player"
                raise SettingsError(msg)
            self._rules = settings.record()
            self._looked = plain_rules(settings.variant) if self.net.kind == "odds" else self._rules
            self._arrays = self.net.kernel_arrays(self._rules)

    def bind(self, settings: Settings) -> ValuePlayer:
        """The player under these settings."""
        return self if settings == self.settings else self._remade(settings)

    def _remade(self, settings: Settings | None) -> ValuePlayer:
        options = {"number": self.number, "margin": self.margin, "cube_life": self.cube_life, "name": self.name}
        return ValuePlayer(self.net, self.plies, **options, settings=settings)  # type: ignore[arg-type]

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - draws nothing
        """The steps of the best play for each state (phase CHECKER); see `PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        steps = np.empty((len(states), 4), np.int64)
        number, margin = self.number or MAX_PLAYS, math.inf if self.margin is None else self.margin
        choose_plays(
            states, self._looked_rules(), self._values(states), self._arrays, self._room(), self.plies, number, margin, steps
        )
        return steps

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The best action for each state, in any phase; of a play, its first step. See `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        looked = self._looked_rules()
        actions = np.empty(len(states), np.int64)
        phases = states["phase"]
        for phase, which in ((int(phase), np.flatnonzero(phases == phase)) for phase in np.unique(phases)):
            part = np.ascontiguousarray(states[which])
            if phase == Phase.CHECKER:
                actions[which] = self.choose_plays(part, words[which])[:, 0]
            elif phase == Phase.CHOOSE_DOUBLE:
                named = np.empty(len(part), np.int64)
                choose_names(part, looked, self._values(part), self._arrays, self._room(), named)
                actions[which] = named
            else:
                actions[which] = self._cube(part)
        return actions

    def odds(self, states: States) -> npt.NDArray[np.float64]:
        """The chances before a roll, as the player on roll sees them, cubeless.

        Args:
            states: STATE records (n,) with a player on roll.

        Returns:
            float64 (n, 6): to win 1, 2, 3 points and to lose 1, 2, 3; with `plies=1` the mean over the 21 rolls.

        Raises:
            OrderError: the player is bound to no settings, or has no net of kind "odds".
        """
        if self.net.kind != "odds":
            msg = f"{self.name} knows no odds: its net is of kind {self.net.kind!r}"
            raise OrderError(msg)
        odds = np.empty((len(states), 6), np.float64)
        cube_odds(states, self._looked_rules(), self._values(states), self._arrays, self._room(), self.plies, odds)
        return odds

    def _cube(self, states: States) -> npt.NDArray[np.int64]:
        actions = np.full(len(states), -1, np.int64)
        if self.net.kind != "odds":
            choose_turns(states, self._rules, self._arrays, self._room(), turn_room(), actions)
            return actions
        choose_cube(states, self._rules, self.odds(states), self.cube_life, cube_scratch(), actions)
        return actions

    def _looked_rules(self) -> Any:
        if self.settings is None:
            msg = f"{self.name} must know the settings: give them to ValuePlayer, or use what its bind(settings) returns"
            raise OrderError(msg)
        return self._looked

    def _values(self, states: States) -> npt.NDArray[np.float32]:
        values = np.empty((len(states), 2, 6), np.float32)
        outcome_values(states, self._rules, values)
        return values

    def _room(self) -> tuple[Any, ...]:
        return search_room(self._arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.net, self.plies, self.number, self.margin, self.cube_life, self.name, self.settings)

    def __repr__(self) -> str:
        bound = f", settings={str(self.settings)!r}" if self.settings is not None else ""
        return f"<ValuePlayer {self.name}: plies={self.plies}{bound}>"


def _unpickled(
    net: ValueNet, plies: int, number: int | None, margin: float | None, life: float, name: str, settings: Settings | None
) -> ValuePlayer:
    return ValuePlayer(net, plies, number=number, margin=margin, cube_life=life, name=name, settings=settings)
