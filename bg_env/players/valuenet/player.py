"""Players by a value net: greedy, and with one roll of look-ahead (expectimax over the 21 rolls)."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_flag, checked_name, is_number, is_whole
from bg_env.errors import OrderError, PositionError, SettingsError, quoted
from bg_env.players.janowski import CUBE_LIFE, choose_cube, cube_lines, write_payoffs
from bg_env.players.protocol import check_states
from bg_env.players.valuenet import bearoff as races
from bg_env.players.valuenet.evaluate import new_scratch, plain
from bg_env.players.valuenet.net import OUTCOMES, ValueNet
from bg_env.players.valuenet.search import (
    choose_cubeful,
    choose_names,
    choose_plays,
    choose_plays_ahead,
    plain_rules,
    write_probabilities,
)
from bg_env.rules import MAX_PLAYS, Phase, Settings, States

__all__ = ["MARGIN", "NUMBER", "ValuePlayer"]

NUMBER: Final = 8
"""The default of `number`: the most plays that are looked ahead from."""
MARGIN: Final = 0.2
"""The default of `margin`: how far below the best such plays may be, in points at the present cube."""
_BEFORE_A_ROLL: Final = (Phase.ROLL, Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP)


class ValuePlayer:
    """A player by a value net; it plays the same in any batch.

    With `plies=0` it chooses the play with the highest expectation by the net at the present cube: of points in money play
    (under Jacoby, where that is in force), of match winning chances by the match equity table in a match. With `plies=1` it
    looks one roll ahead: for the most promising plays, all 21 rolls of the opponent, each answered by its best play by the net,
    weighted by their probability. A double (R10.6) is named by the value of the best play after it. Cube decisions are those of
    `bg_env.players.janowski`, Janowski's model, from the net's cubeless probabilities (with `plies=1` their mean over the
    player's 21 rolls).

    With `bearoff` the tables of `bg_env.exact` decide races in which both sides have all checkers home and have borne off one.
    Up to six checkers a side that is exact, cube decisions in money play without beavers included. With more, plays are chosen
    by the chance to win that follows from both sides' rolls. The first such decision on a machine builds the tables, in
    seconds.

    A net of kind "cube" or "match" has learnt the values of cube and score: its outputs decide about the cube, and it does not
    look ahead. One of kind "match" needs a match; one of kind "cube" plays in matches as in money play.

    Args:
        net: the net, or the path of a file that `ValueNet.save` wrote.
        plies: rolls of look-ahead, 0 or 1.
        number: with `plies=1`, the most plays that are looked ahead from, at least 1; None for all.
        margin: with `plies=1`, how far below the best a play may be without look-ahead, at least 0, where a single game at
            the present cube is 1; None for any distance. With `number=None, margin=None` the search is exact; else, of the
            plays of the second roll, a net with a sorter (`bg_env.players.valuenet.sorting`) evaluates those that it leaves.
        cube_life: the cube-life index, 0 (dead) to 1 (fully live).
        bearoff: whether exact tables decide the end of a race; not in Acey-Deucey.
        name: the player's name; None for "greedy" or "expectimax".
        settings: the settings in force; None until `bind` is called.

    Raises:
        SettingsError: an argument is out of range, or the file is not one of a net.
    """

    def __init__(
        self,
        net: ValueNet | str | Path,
        plies: int = 0,
        *,
        number: int | None = NUMBER,
        margin: float | None = MARGIN,
        cube_life: float = CUBE_LIFE,
        bearoff: bool = False,
        name: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.net = net if isinstance(net, ValueNet) else ValueNet.load(net)
        if not is_whole(plies, 0, 1):
            msg = f"plies is 0 or 1, not {quoted(plies)}"
            raise SettingsError(msg)
        if number is not None and not is_whole(number, 1):
            msg = f"number is a whole number of plays, at least 1, or None for all, not {quoted(number)}"
            raise SettingsError(msg)
        if margin is not None and not is_number(margin, 0, sys.float_info.max):
            msg = f"margin is a number of points, at least 0, or None for all, not {quoted(margin)}"
            raise SettingsError(msg)
        if not is_number(cube_life, 0, 1):
            msg = f"cube_life is from 0, a dead cube, to 1, a fully live one, not {quoted(cube_life)}"
            raise SettingsError(msg)
        if plies and self.net.kind != "odds":
            msg = f"only a net of kind 'odds' looks ahead, not one of kind {self.net.kind!r}: use plies=0"
            raise SettingsError(msg)
        if name is not None:
            checked_name("a player's", name)
        if settings is not None and not isinstance(settings, Settings):
            msg = f"settings are a bg_env.Settings, or None, not {quoted(settings)}"
            raise SettingsError(msg)
        self.plies, self.number, self.margin = int(plies), number, margin
        self.cube_life = float(cube_life)
        self.bearoff = checked_flag("bearoff", bearoff)
        self.name = name or ("expectimax" if plies else "greedy")
        self.settings = settings
        if settings is not None:
            if self.net.kind == "match" and settings.money:
                msg = f"{self.name} has a net for matches: give match_length, or choose another player"
                raise SettingsError(msg)
            self._bound = settings
            self._rules = settings.record()
            self._plain = plain_rules(settings.variant) if self.net.kind == "odds" else self._rules
            self._net = self.net.kernel_arrays(self._rules, sorted_first=number is not None or margin is not None)
            self._weights = tuple(self._net)

    def bind(self, settings: Settings) -> ValuePlayer:
        """The player under these settings."""
        return self if settings == self.settings else self._remade(settings)

    def _remade(self, settings: Settings | None) -> ValuePlayer:
        options = {"number": self.number, "margin": self.margin, "cube_life": self.cube_life, "bearoff": self.bearoff}
        return ValuePlayer(self.net, self.plies, **options, name=self.name, settings=settings)  # type: ignore[arg-type]

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - draws nothing
        """The steps of the best play for each state (phase CHECKER); see `PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        self._need_settings()
        check_states(states, self._rules, playing=True)
        known = self._in_bearoff(states)
        if known is None:
            return self._net_steps(states)
        steps = np.empty((len(states), 4), np.int64)
        steps[known] = races.best_steps(states[known], self._bound)
        if not known.all():
            steps[~known] = self._net_steps(states[~known])
        return steps

    def _in_bearoff(self, states: States) -> npt.NDArray[np.bool_] | None:
        """Which states the exact tables decide, bool (n,); None for no state."""
        if not self.bearoff:
            return None
        known = races.in_bearoff(states, self._bound)
        return known if known.any() else None

    def _net_steps(self, states: States) -> npt.NDArray[np.int64]:
        """The steps of the best play by the net."""
        net = self.evaluator(states)
        steps = np.empty((len(states), 4), np.int64)
        if self.plies == 0:
            choose_plays(states, net, self.scratch(), steps)
        else:
            number, margin = self.number or MAX_PLAYS, math.inf if self.margin is None else self.margin
            choose_plays_ahead(states, net, self.scratch(), self.scratch(), number, margin, steps)
        return steps

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The best action for each state, in any phase; of a play, its first step. See `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        self._need_settings()
        check_states(states, self._rules)
        actions = np.empty(len(states), np.int64)
        phases = states["phase"]
        for phase, which in ((int(phase), np.flatnonzero(phases == phase)) for phase in np.unique(phases)):
            part = np.ascontiguousarray(states[which])
            if phase == Phase.CHECKER:
                actions[which] = self.choose_plays(part, words[which])[:, 0]
            elif phase == Phase.CHOOSE_DOUBLE:
                actions[which] = self._names(part)
            else:
                actions[which] = self._cube_actions(part)
        return actions

    def probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """The probabilities of the six outcomes before a roll, cubeless, as the player on roll sees them.

        Args:
            states: STATE records (n,) with a player on roll, no dice in hand; or of games that are over: then 1 for the
                outcome, as the side that had the turn sees it.

        Returns:
            float64 (n, 6): to win 1, 2, 3 points and to lose 1, 2, 3; with `plies=1` the mean over the 21 rolls.

        Raises:
            OrderError: the player is bound to no settings, or its net is not of kind "odds".
            PositionError: `states` is something else, or a state has dice in hand or waits for the opening throw.
        """
        if self.net.kind != "odds":
            msg = f"{self.name} has no probabilities of outcomes: its net is of kind {self.net.kind!r}, not 'odds'"
            raise OrderError(msg)
        self._need_settings()
        check_states(states, self._rules)
        over = (states["phase"] == Phase.OVER) & (states["winner"] >= 0)
        wrong = ~over & ~np.isin(states["phase"], _BEFORE_A_ROLL)
        if wrong.any():
            i = int(np.argmax(wrong))
            msg = f"state {i} has dice in hand, or nobody to roll: probabilities are those before a roll, or after a game won"
            raise PositionError(msg)
        found = np.zeros((len(states), OUTCOMES), np.float64)
        ended = states[over]
        lost = (ended["winner"] != np.maximum(ended["turn"], 0)) * 3
        found[np.flatnonzero(over), lost + ended["level"] - 1] = 1
        if not over.all():
            found[~over] = self._probabilities(states[~over])
        return found

    def _probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """`probabilities` of states with a player on roll."""
        known = self._in_bearoff(states)
        if known is not None:
            found = np.zeros((len(states), OUTCOMES), np.float64)
            found[known, 0] = races.win_chances(states[known])
            found[known, OUTCOMES // 2] = 1 - found[known, 0]
            if not known.all():
                found[~known] = self._net_probabilities(states[~known])
            return found
        return self._net_probabilities(states)

    def _net_probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """The probabilities by the net."""
        net = self.evaluator(states)
        found = np.empty((len(states), OUTCOMES), np.float64)
        write_probabilities(states, net, self.scratch(), self.plies, found)
        return found

    def odds(self, states: States) -> npt.NDArray[np.float64]:
        """The old name of `probabilities`; it will be removed in version 0.3."""
        warnings.warn(
            "ValuePlayer.odds is now probabilities; the old name will be removed in version 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.probabilities(states)

    def _names(self, states: States) -> npt.NDArray[np.int64]:
        net = self.evaluator(states)
        actions = np.empty(len(states), np.int64)
        choose_names(states, net, self.scratch(), actions)
        return actions

    def _cube_actions(self, states: States) -> npt.NDArray[np.int64]:
        known = self._in_bearoff(states)
        if known is not None:
            known &= races.has_cube_decision(states, self._bound)
            actions = np.empty(len(states), np.int64)
            actions[known] = races.cube_actions(states[known], self._bound)
            if not known.all():
                actions[~known] = self._model_actions(states[~known])
            return actions
        return self._model_actions(states)

    def _model_actions(self, states: States) -> npt.NDArray[np.int64]:
        """Decisions about the cube by the model, or by a net that has learnt them."""
        actions = np.full(len(states), -1, np.int64)
        if self.net.kind == "odds":
            choose_cube(states, self._rules, self._probabilities(states), self.cube_life, cube_lines(), actions)
        else:
            choose_cubeful(states, self.evaluator(states), self.scratch(), actions)
        return actions

    def _need_settings(self) -> None:
        if self.settings is None:
            msg = f"{self.name} must know the settings: give them to ValuePlayer, or use what its bind(settings) returns"
            raise OrderError(msg)

    def evaluator(self, states: States) -> tuple[Any, ...]:
        """The net and what it evaluates these states by: an `Evaluator` as a plain tuple."""
        self._need_settings()
        payoffs = np.empty((len(states), 2, OUTCOMES), np.float32)
        write_payoffs(states, self._rules, payoffs)
        return self._weights, self._plain, payoffs

    def scratch(self) -> tuple[Any, ...]:
        """New `Scratch` as a plain tuple: calls may come from several threads."""
        return plain(new_scratch(self._net))

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"number": self.number, "margin": self.margin, "cube_life": self.cube_life, "bearoff": self.bearoff}
        return _unpickled, (self.net, self.plies, {**options, "name": self.name, "settings": self.settings})

    def __repr__(self) -> str:
        bound = f", settings={str(self.settings)!r}" if self.settings is not None else ""
        return f"<ValuePlayer {self.name}: plies={self.plies}{bound}>"


def _unpickled(net: ValueNet, plies: int, options: dict[str, Any]) -> ValuePlayer:
    return ValuePlayer(net, plies, **options)
