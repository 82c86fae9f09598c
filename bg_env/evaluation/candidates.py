"""Candidates of decisions with their equities, as a player with a value net (or with probabilities) sees them.

`Judge` evaluates arrays of states; hints, analysis and error rates are built on it. It never looks at dice to come: a state's
key and counter of rolls play no part.

Equities are normalised: with the cube of the moment, winning a single game now is 1 and losing it -1. In money play that is
points divided by the cube; in a match it is linear in the chance to win the match. They belong to the player who decides.

Plays are compared as the player itself compares them, so that its own decisions lose nothing. With a net of kind "odds" that
is by the mean of the values of the six outcomes at the present cube, with `plies=1` for the plays that the player looks ahead
from; the others are never ranked above the best of those. About the cube, Janowski's model makes equities of the probabilities
(`bg_env.players.janowski`). Where the exact tables of the bear-off decide (`bg_env.exact`), equities are theirs.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.errors import PositionError, SettingsError, quoted
from bg_env.evaluation.net_values import write_cube, write_cubeful, write_plays, write_stakes
from bg_env.players import player_for
from bg_env.players.janowski import CUBE_LIFE, cube_lines, write_payoffs
from bg_env.players.protocol import check_states, name_of
from bg_env.players.valuenet import bearoff as races
from bg_env.players.valuenet.evaluate import (
    NEVER,
)
from bg_env.players.valuenet.net import OUTCOMES
from bg_env.players.valuenet.player import ValuePlayer
from bg_env.players.valuenet.search import plain_rules
from bg_env.rules import MAX_PLAYS, STATE, Phase, Settings, States
from bg_env.rules.candidates import candidates

__all__ = ["EXACT", "Candidates", "CubeEquities", "Judge"]

EXACT: Final = -1
"""Rolls of look-ahead of candidates whose value is exact."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Arrays = tuple[Any, ...]

_HALF: Final = OUTCOMES // 2


class Candidates(NamedTuple):
    """The candidates of decisions: state i has those from `offsets[i]` to `offsets[i + 1] - 1`, in the order of the rules.

    Attributes:
        offsets: int64 (n + 1,).
        actions: int16 (m, 4), the actions of each candidate, -1 after the last.
        after: STATE (m,), the states after them, before dice that fall due; games are played on without cube and match after
            plays.
        equities: float64 (m,), to the player who decides.
        probabilities: float64 (m, 6), of that player to win 1, 2, 3 points and to lose 1, 2, 3, cubeless; NaN where unknown,
            as of nets that know only equities.
        plies: int8 (m,), rolls of look-ahead behind the equity; -1 where it is exact.
    """

    offsets: Integers
    actions: npt.NDArray[np.int16]
    after: States
    equities: Floats
    probabilities: Floats
    plies: npt.NDArray[np.int8]


class CubeEquities(NamedTuple):
    """The values of the cube decision in states, to the player on roll; float64 (n,) each.

    Attributes:
        stands: with the cube as it stands.
        taken: after a turn of the cube and a take.
        dropped: after a turn of the cube and a drop.
    """

    stands: Floats
    taken: Floats
    dropped: Floats


class Judge:
    """Evaluation of states and decisions by a player.

    Args:
        player: a name, such as "td", "td:1", "greedy:FILE" or "gnubg"; or a player that is a `ValuePlayer`, or has a method
            `probabilities` like that of `ValuePlayer`.
        settings: the settings in force.

    Attributes:
        name: of the player.
        settings: the settings in force.

    Raises:
        SettingsError: there is no such player, it does not play under the settings, or it has no values.
    """

    def __init__(self, player: Any, settings: Settings) -> None:
        chosen = player_for(player, settings)
        self.name, self.settings = name_of(chosen), settings
        self._player: Any = chosen
        self._net = chosen if isinstance(chosen, ValuePlayer) else None
        if self._net is None and not callable(getattr(chosen, "probabilities", None)):
            msg = (
                f"player {quoted(self.name)} has no values: choose one with a value net, such as 'td', 'td:1' or 'greedy:FILE'"
            )
            raise SettingsError(msg)
        self.kind = "odds" if self._net is None else self._net.net.kind
        self._life = float(getattr(chosen, "cube_life", CUBE_LIFE))
        self._rules = settings.record()
        self._plain = plain_rules(settings.variant)

    def __repr__(self) -> str:
        return f"<Judge by {self.name}: {self.settings}>"

    def probabilities(self, states: States) -> Floats:
        """The cubeless probabilities before a roll, or after the end of a game, as the player who has the turn sees them.

        Args:
            states: STATE (n,) with a player on roll and no dice in hand, or over.

        Returns:
            float64 (n, 6): to win 1, 2, 3 points and to lose 1, 2, 3; NaN where the player's net knows only equities.
        """
        if self.kind != "odds":
            return np.full((len(states), OUTCOMES), math.nan)
        found: Floats = np.asarray(self._player.probabilities(states), np.float64)
        return found

    def cube(self, states: States, probabilities: Floats | None = None) -> CubeEquities:
        """The equities of the cube decision, or of the one that the player on roll would have if it had access to the cube.

        Args:
            states: STATE (n,) with a player on roll and no dice in hand; not over.
            probabilities: those of `probabilities`, if they are known.
        """
        if self.kind != "odds":
            return self._cube_of_net(states)
        found = self.probabilities(states) if probabilities is None else probabilities
        out = np.empty((len(states), 4), np.float64)
        write_cube(states, self._rules, found, self._life, tuple(cube_lines()), out)
        turn = states["turn"].astype(np.int64)
        stands, taken, dropped = self._normalised(states, turn, out[:, :3]).T
        known = self._table_decides(states)
        if known.any():
            stands[known], taken[known] = races.cube_values(states[known], self.settings)
            dropped[known] = 1.0
        # where a turn of the cube gains nothing, as of a dead cube, its taker may as well hold what stands
        gains = (out[:, 3] > 0) | (states["phase"] == Phase.TAKE_OR_DROP)
        return CubeEquities(stands, np.where(gains, taken, np.minimum(taken, stands)), dropped)

    def candidates(self, states: States) -> Candidates:
        """The candidates of every state that waits for a decision, with their equities.

        Args:
            states: STATE (n,), in phases ROLL_OR_DOUBLE, TAKE_OR_DROP, CHECKER or CHOOSE_DOUBLE.

        Raises:
            PositionError: `states` are not such states.
        """
        check_states(states, self._rules)
        if (states["decider"] < 0).any():
            msg = (
                f"state {int(np.argmax(states['decider'] < 0))} does not wait for a decision: dice are due, or the game is over"
            )
            raise PositionError(msg)
        parts = []
        counts = np.zeros(len(states), np.int64)
        moving = states["phase"] == Phase.CHECKER
        for which, rules in ((np.flatnonzero(moving), self._plain), (np.flatnonzero(~moving), self._rules)):
            if len(which):
                part = np.ascontiguousarray(states[which])
                offsets, actions, after = candidates(part, rules)
                counts[which] = np.diff(offsets)
                parts.append((which, part, offsets, actions, after))
        offsets = np.zeros(len(states) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        found = Candidates(
            offsets,
            actions=np.empty((offsets[-1], 4), np.int16),
            after=np.empty(offsets[-1], STATE),
            equities=np.empty(offsets[-1], np.float64),
            probabilities=np.full((offsets[-1], OUTCOMES), math.nan),
            plies=np.zeros(offsets[-1], np.int8),
        )
        for which, part, bounds, actions, after in parts:
            n = np.diff(bounds)
            to = np.repeat(offsets[which] - bounds[:-1], n) + np.arange(bounds[-1])
            found.actions[to], found.after[to] = actions, after
            weigh = self._plays if part[0]["phase"] == Phase.CHECKER else self._others
            found.equities[to], found.probabilities[to], found.plies[to] = weigh(part, bounds, after)
        return found

    # Plays

    def _plays(self, states: States, offsets: Integers, after: States) -> tuple[Floats, Floats, npt.NDArray[np.int8]]:
        """Equities, probabilities and rolls of look-ahead of all plays."""
        if self._net is None:
            return self._plays_by_probabilities(states, offsets, after)
        equities, probabilities, plies = self._plays_by_net(self._net, states, offsets, self._net.plies)
        if self._net.bearoff:
            known = races.in_bearoff(states, self.settings)
            if known.any():
                those = np.repeat(known, np.diff(offsets))
                equities[those] = races.play_values(states[known], self.settings, int(those.sum()))
                ends = those & (after["winner"] >= 0)
                exact = those & ~ends
                if exact.any() and self.kind == "odds":
                    waiting = after[exact]
                    mine = waiting["turn"] == np.repeat(states["turn"], np.diff(offsets))[exact]
                    probabilities[exact] = _seen(self.probabilities(waiting), mine)
                plies[those] = EXACT
        return equities, probabilities, plies

    def _plays_by_net(
        self, player: ValuePlayer, states: States, offsets: Integers, plies: int
    ) -> tuple[Floats, Floats, npt.NDArray[np.int8]]:
        m = int(offsets[-1])
        equities, depth = np.empty(m, np.float64), np.empty(m, np.int8)
        probabilities = np.empty((m, OUTCOMES if self.kind == "odds" else 0), np.float64)
        net = player.evaluator(states)
        outer, inner = player.scratch(), player.scratch()
        margin = math.inf if player.margin is None else float(player.margin)
        write_plays(
            states, offsets, net, outer, inner, plies, player.number or MAX_PLAYS, margin, equities, probabilities, depth
        )
        if self.kind != "odds":
            probabilities = np.full((m, OUTCOMES), math.nan)
            if self.kind == "match":
                rows = np.repeat(np.arange(len(states)), np.diff(offsets))
                equities = self._of_match(states, states["turn"].astype(np.int64), equities, rows)
        return equities, probabilities, depth

    def _plays_by_probabilities(
        self, states: States, offsets: Integers, after: States
    ) -> tuple[Floats, Floats, npt.NDArray[np.int8]]:
        """Plays by a player's probabilities after them."""
        rows = np.repeat(np.arange(len(states)), np.diff(offsets))
        movers = states["turn"].astype(np.int64)[rows]
        payoffs = np.empty((len(states), 2, OUTCOMES), np.float32)
        write_payoffs(states, self._rules, payoffs)
        over = after["winner"] >= 0
        probabilities = np.zeros((len(after), OUTCOMES))
        probabilities[np.flatnonzero(over), after["level"][over] - 1] = 1
        rest = ~over
        if rest.any():
            waiting = after[rest]
            waiting["phase"] = np.where(waiting["phase"] == Phase.CHOOSE_DOUBLE, Phase.ROLL, waiting["phase"])
            probabilities[rest] = _seen(self.probabilities(waiting), waiting["turn"] == movers[rest])
        equities = np.sum(probabilities * payoffs[rows, movers], axis=1)
        plies = np.where(over, EXACT, int(getattr(self._player, "plies", 0))).astype(np.int8)
        return equities, probabilities, plies

    # Decisions about the cube, and doubles to name

    def _others(self, states: States, offsets: Integers, after: States) -> tuple[Floats, Floats, npt.NDArray[np.int8]]:
        """The same of all other decisions."""
        equities, plies = np.empty(len(after)), np.zeros(len(after), np.int8)
        probabilities = np.full((len(after), OUTCOMES), math.nan)
        rows = np.repeat(np.arange(len(states)), np.diff(offsets))
        naming = (states["phase"] == Phase.CHOOSE_DOUBLE)[rows]
        if naming.any():
            equities[naming], probabilities[naming], plies[naming] = self._names(np.ascontiguousarray(after[naming]))
        if not naming.all():
            which = np.flatnonzero(states["phase"] != Phase.CHOOSE_DOUBLE)
            part = np.ascontiguousarray(states[which])
            values, chances = self._cube_actions(part)
            k = np.arange(len(after)) - offsets[:-1][rows]
            back = np.full(len(states), -1)
            back[which] = np.arange(len(which))
            those = ~naming
            equities[those] = values[back[rows[those]], k[those]]
            probabilities[those] = chances[back[rows[those]]]
            plies[those] = np.where(self._table_decides(part), EXACT, getattr(self._player, "plies", 0))[back[rows[those]]]
        return equities, probabilities, plies

    def _names(self, named: States) -> tuple[Floats, Floats, npt.NDArray[np.int8]]:
        """The same of states in which a double has just been named: those of the best play of it."""
        equities, plies = np.empty(len(named)), np.zeros(len(named), np.int8)
        probabilities = np.full((len(named), OUTCOMES), math.nan)
        moving = named["phase"] == Phase.CHECKER
        for which in (np.flatnonzero(moving), np.flatnonzero(~moving)):
            if not len(which):
                continue
            part = np.ascontiguousarray(named[which])
            if part[0]["phase"] == Phase.CHECKER:
                bounds, _, ends = candidates(part, self._plain)
                weighed = (
                    self._plays_by_net(self._net, part, bounds, 0) if self._net is not None else self._plays(part, bounds, ends)
                )
            else:  # it cannot be played
                bounds = np.arange(len(part) + 1)
                weighed = self._plays_by_probabilities(part, bounds, part.copy())
            best = [lo + int(np.argmax(weighed[0][lo:hi])) for lo, hi in itertools.pairwise(bounds.tolist())]
            equities[which], probabilities[which], plies[which] = (one[best] for one in weighed)
        return equities, probabilities, plies

    def _cube_actions(self, states: States) -> tuple[Floats, Floats]:
        """Equities (n, 3) of the actions of a decision about the cube, and the probabilities, to the player who decides."""
        chances = self.probabilities(states) if self.kind == "odds" else np.full((len(states), OUTCOMES), math.nan)
        mine = states["decider"] == states["turn"]
        answering = states["phase"] == Phase.TAKE_OR_DROP
        values = np.empty((len(states), 3))
        if self.kind != "odds":
            values = self._actions_of_net(states)
        else:
            cube = self.cube(states, chances)
            sign = np.where(mine, 1.0, -1.0)
            values[:, 0] = np.where(answering, sign * cube.taken, cube.stands)
            values[:, 1] = np.where(answering, -cube.dropped, np.minimum(cube.taken, cube.dropped))
            values[:, 2] = 2 * sign * cube.taken
        return values, _seen(chances, mine)

    def _table_decides(self, states: States) -> npt.NDArray[np.bool_]:
        """Whether the exact table decides about the cube."""
        if self._net is None or not self._net.bearoff:
            return np.zeros(len(states), np.bool_)
        known = races.in_bearoff(states, self.settings)
        return known & races.has_cube_decision(states, self.settings) if known.any() else known

    def _actions_of_net(self, states: States) -> Floats:
        """Equities (n, 3) of the actions of a decision about the cube by a net that knows it."""
        out = np.full((len(states), 3), NEVER)
        if self._net is not None:
            write_cubeful(states, self._net.evaluator(states), self._net.scratch(), out)
        known = self._table_decides(states)
        if known.any():
            stands, taken = races.cube_values(states[known], self.settings)
            answering = states[known]["phase"] == Phase.TAKE_OR_DROP
            stake = np.exp2(states[known]["cube"])
            out[known, 0] = np.where(answering, -taken, stands) * stake
            out[known, 1] = np.where(answering, -1.0, np.minimum(taken, 1.0)) * stake
        if self.kind == "match":
            seats = states["decider"].astype(np.int64)
            return np.stack([self._of_match(states, seats, out[:, k], np.arange(len(states))) for k in range(3)], axis=1)
        scaled: Floats = out / np.exp2(states["cube"])[:, None]
        return scaled

    def _cube_of_net(self, states: States) -> CubeEquities:
        """The cube's equities by a net that knows it: of a double that is not possible now, as of no double."""
        asked = states.copy()
        asked["phase"], asked["decider"] = Phase.ROLL_OR_DOUBLE, asked["turn"]
        values = self._actions_of_net(np.ascontiguousarray(asked))
        ones = np.ones(len(states))
        return CubeEquities(values[:, 0], values[:, 1], ones)

    # Units

    def _normalised(self, states: States, seats: Integers, values: Floats) -> Floats:
        """Values (n, k) in points or match winning chances of `seats`, normalised."""
        out = np.empty((len(states), 2, 2))
        write_stakes(states, self._rules, out)
        won, lost = out[np.arange(len(states)), seats].T[:, :, None]
        scaled: Floats = (2 * values - won - lost) / (won - lost)
        return scaled

    def _of_match(self, states: States, seats: Integers, values: Floats, rows: Integers) -> Floats:
        """Values 2 x chance to win the match - 1, one for each of `rows` of the states, normalised."""
        out = np.empty((len(states), 2, 2))
        write_stakes(states, self._rules, out)
        won, lost = out[np.arange(len(states)), seats][rows].T
        scaled: Floats = (values + 1 - won - lost) / (won - lost)
        return scaled


def _seen(probabilities: Floats, same: npt.NDArray[np.bool_]) -> Floats:
    """Probabilities of the player who has the turn, as another player sees them where `same` is False."""
    turned = np.concatenate([probabilities[:, _HALF:], probabilities[:, :_HALF]], axis=1)
    return np.where(same[:, None], probabilities, turned)
