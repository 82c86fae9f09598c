"""The player `gnubg`: GNU Backgammon's nets, through the package gnubg-nn, which is imported when a player is made.

gnubg-nn is under the GPL and not a dependency of bg_env: `pip install gnubg-nn`. Checker plays are its `best_move`, in matches
at the score and cube. Cube decisions in matches are its `evaluate_cube_decision` (with its own match equity table, up to 25
points away). It has none for money play; there, as in GNU Backgammon itself, they are those of Janowski's model
(`bg_env.players.janowski`) from its cubeless probabilities. `best_move` does not cover Jacoby with a centred cube nor a roll
that is partly played; there every play is evaluated here, by its probabilities.

The package keeps one score and one cube for the whole process: the player sets them under a lock, and then money play again.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.checks import checked_whole
from bg_env.errors import MissingDependencyError, OrderError, PositionError, SettingsError
from bg_env.players.janowski import choose_cube, cube_lines, write_payoffs
from bg_env.players.protocol import check_states
from bg_env.players.valuenet.search import plain_rules
from bg_env.rules import VARIANTS, Phase, Settings, States, plays

__all__ = ["GnubgPlayer"]

CUBE_LIFE: Final = 0.68
"""GNU Backgammon's cube-life index of positions with contact."""
MOST_PLIES: Final = 3
FARTHEST: Final = 25
"""The most points away that its match equity tables cover."""

_LOCK = threading.Lock()


def _engine() -> Any:
    try:
        import gnubg_nn
    except ImportError as error:
        msg = "player 'gnubg' needs the package gnubg-nn (GPL): pip install gnubg-nn"
        raise MissingDependencyError(msg) from error
    return gnubg_nn


def _board(points: npt.NDArray[Any], mover: int) -> list[list[int]]:
    """The board as gnubg has it: the mover's side last, points 1 to 24, then the bar."""
    return [points[1 - mover, 1:].tolist(), points[mover, 1:].tolist()]


class GnubgPlayer:
    """A player by GNU Backgammon's nets; see the module `bg_env.players.gnubg`.

    Args:
        plies: plies of look-ahead as GNU Backgammon counts them, 0 (none) to 3.
        settings: the settings in force; None until `bind` is called.

    Raises:
        MissingDependencyError: gnubg-nn is not installed.
        SettingsError: `plies` is out of range, or the nets do not cover the variant.
    """

    def __init__(self, plies: int = 0, *, settings: Settings | None = None) -> None:
        self.cube_life = CUBE_LIFE
        self.plies = checked_whole("plies", plies, 0, MOST_PLIES)
        self.name = f"gnubg:{self.plies}" if self.plies else "gnubg"
        self.settings = settings
        self._gnubg = _engine()
        if settings is not None:
            variant = settings.variant
            if variant.acey_deucey or variant.checkers != VARIANTS["backgammon"].checkers:
                msg = (
                    f"gnubg knows backgammon from any start with {VARIANTS['backgammon'].checkers} checkers, not {variant.name}"
                )
                raise SettingsError(msg)
            self._rules = settings.record()

    def bind(self, settings: Settings) -> GnubgPlayer:
        """The player under these settings."""
        return self if settings == self.settings else GnubgPlayer(self.plies, settings=settings)

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - draws nothing
        """The steps of its best play for each state (phase CHECKER); see `PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        settings = self._need_settings()
        check_states(states, self._rules, playing=True)
        plain = plain_rules(settings.variant)
        offsets, actions, after = plays(states, plain)
        payoffs = np.empty((len(states), 2, 6), np.float32)
        write_payoffs(states, self._rules, payoffs)
        steps = np.empty((len(states), 4), np.int64)
        with _LOCK:
            try:
                for i, (first, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
                    n = 0 if end - first == 1 else self._best(states[i], after[first:end], payoffs[i])
                    steps[i] = actions[first + n]
            finally:
                self._gnubg.set.score(0, 0)
        return steps

    def _best(self, state: np.void, after: States, payoffs: npt.NDArray[np.float32]) -> int:
        """The index in `after` of gnubg's best play."""
        mover, dice = int(state["turn"]), state["dice"].tolist()
        whole = sum(state["left"].tolist()) == (4 if dice[0] == dice[1] else 2)
        if not whole or (self._rules[0]["jacoby"] and state["owner"] == -1):  # beyond best_move
            return int(np.argmax([self._value(after[n], mover, payoffs[mover]) for n in range(len(after))]))
        board = _board(state["points"], mover)
        self._set(state, mover)
        theirs, ours = (np.array(side, np.int8) for side in board)
        for source, target in self._gnubg.best_move(board, *dice, self.plies):
            ours[source - 1] -= 1
            if target:
                ours[target - 1] += 1
                theirs[24] += theirs[24 - target]
                theirs[24 - target] = 0
        same = (after["points"][:, mover, 1:] == ours) & (after["points"][:, 1 - mover, 1:] == theirs)
        return int(np.argmax(same.all(axis=1)))

    def _value(self, after: np.void, mover: int, payoffs: npt.NDArray[np.float32]) -> float:
        """The value of a play to the mover by gnubg's probabilities and the payoffs of the outcomes."""
        if after["winner"] >= 0:
            return float(payoffs[after["level"] - 1])
        of_other = self._probabilities(after["points"], 1 - mover)
        return float(np.dot(of_other[3:], payoffs[:3]) + np.dot(of_other[:3], payoffs[3:]))

    def probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """The probabilities of the six outcomes before a roll, cubeless, as the player on roll sees them.

        Args:
            states: STATE records (n,) with a player on roll, no dice in hand.

        Returns:
            float64 (n, 6): to win 1, 2, 3 points and to lose 1, 2, 3.

        Raises:
            OrderError: the player is bound to no settings.
            PositionError: `states` are not sound, or nobody is on roll in one.
        """
        self._need_settings()
        check_states(states, self._rules)
        if (states["turn"] < 0).any():
            msg = f"state {int(np.argmax(states['turn'] < 0))} has nobody to roll: probabilities are those before a roll"
            raise PositionError(msg)
        found = np.empty((len(states), 6), np.float64)
        with _LOCK:
            for i, turn in enumerate(states["turn"].tolist()):
                found[i] = self._probabilities(states[i]["points"], turn)
        return found

    def _probabilities(self, points: npt.NDArray[np.int8], roller: int) -> npt.NDArray[np.float64]:
        """The probabilities of the player on roll to win 1, 2, 3 points and to lose 1, 2, 3: float64 (6,)."""
        win, gammon, backgammon, lost, lost_more = self._gnubg.probabilities(_board(points, roller), self.plies)
        found = np.array([win - gammon, gammon - backgammon, backgammon, 1 - win - lost, lost - lost_more, lost_more])
        np.maximum(found, 0.0, out=found)
        return found

    def _set(self, state: np.void, mover: int) -> None:
        """Set the engine's score and cube, `mover` being gnubg's O."""
        settings = self.settings
        if settings is None or settings.money:
            return
        own, other = (min(settings.match_length - int(state["score"][seat]), FARTHEST) for seat in (mover, 1 - mover))
        self._gnubg.set.score(own, other, int(state["crawford"]))
        if state["cube"] > 0 and state["owner"] >= 0:
            self._gnubg.set.cube(1 << int(state["cube"]), b"O" if state["owner"] == mover else b"X")

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Its action for each state; of a play, the first step. See `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        settings = self._need_settings()
        check_states(states, self._rules)
        actions = np.empty(len(states), np.int64)
        moving = states["phase"] == Phase.CHECKER
        if moving.any():
            actions[moving] = self.choose_plays(states[moving], words[moving])[:, 0]
        far = settings.match_length - states["score"].min(axis=1) > FARTHEST if settings.match_length else np.True_
        by_model = ~moving & far
        if by_model.any():
            actions[by_model] = self._by_model(states[by_model])
        rest = np.flatnonzero(~moving & ~by_model)
        with _LOCK:
            try:
                for i in rest.tolist():
                    actions[i] = self._in_match(states[i])
            finally:
                self._gnubg.set.score(0, 0)
        return actions

    def _by_model(self, states: States) -> npt.NDArray[np.int64]:
        """Cube decisions by Janowski's model from the cubeless probabilities."""
        actions = np.empty(len(states), np.int64)
        choose_cube(states, self._rules, self.probabilities(states), CUBE_LIFE, cube_lines(), actions)
        return actions

    def _in_match(self, state: np.void) -> int:
        """A cube decision in a match: the engine evaluates it for the player who doubles or may."""
        turn = int(state["turn"])
        self._set(state, turn)
        key = self._gnubg.key_of_board(_board(state["points"], turn))
        double, take, *_ = self._gnubg.evaluate_cube_decision(key, n=self.plies, v=self.plies, i=1)
        if state["phase"] == Phase.TAKE_OR_DROP:
            return TAKE if take else DROP
        return DOUBLE if double else ROLL

    def _need_settings(self) -> Settings:
        if self.settings is None:
            msg = "gnubg must know the settings: use GnubgPlayer(settings=settings) or GnubgPlayer().bind(settings)"
            raise OrderError(msg)
        return self.settings

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.plies, self.settings)

    def __repr__(self) -> str:
        bound = f", settings={str(self.settings)!r}" if self.settings is not None else ""
        return f"GnubgPlayer({self.plies}{bound})"


def _unpickled(plies: int, settings: Settings | None) -> GnubgPlayer:
    return GnubgPlayer(plies, settings=settings)
