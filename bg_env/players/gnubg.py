"""The player `gnubg`: GNU Backgammon's nets, through the package gnubg-nn, which is imported when the player is made.

gnubg-nn is under the GPL and no dependency of bg_env: `pip install gnubg-nn`. Checker plays are its `best_move`, in matches
at the score and cube. Cube decisions in matches are its `evaluate_cube_decision` (with its own match equity table, up to 25
points away); it has none for money play, where, as in GNU Backgammon itself, Janowski's model (`bg_env.players.janowski`)
weighs its cubeless odds. Under Jacoby with a centred cube, and for a roll partly played, which `best_move` does not know,
its odds of every play are weighed here.

The package keeps score and cube in one place for the whole process: the player sets them under a lock and leaves them at
money play.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.checks import checked_whole
from bg_env.errors import MissingDependencyError, OrderError, SettingsError
from bg_env.players.janowski import choose_cube, cube_scratch, outcome_values
from bg_env.players.valuenet.search import plain_rules
from bg_env.rules import VARIANTS, Phase, Settings, States, plays

__all__ = ["GnubgPlayer"]

CUBE_LIFE: Final = 0.68
"""GNU Backgammon's cube-life index of positions with contact."""
MOST_PLIES: Final = 3
FARTHEST: Final = 25
"""The most points away that its match equity tables know."""

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
    """GNU Backgammon's nets; see the module.

    Args:
        plies: how far it looks ahead, as GNU Backgammon counts: 0 is none.
        settings: what is played; None: `bind` tells.

    Raises:
        MissingDependencyError: gnubg-nn is not installed.
        SettingsError: `plies` is out of range, or the variant is one that the nets do not know.
    """

    def __init__(self, plies: int = 0, *, settings: Settings | None = None) -> None:
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
        plain = plain_rules(settings.variant)
        offsets, actions, after = plays(states, plain)
        values = np.empty((len(states), 2, 6), np.float32)
        outcome_values(states, self._rules, values)
        steps = np.empty((len(states), 4), np.int64)
        with _LOCK:
            try:
                for i, (first, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
                    n = 0 if end - first == 1 else self._best(states[i], after[first:end], values[i])
                    steps[i] = actions[first + n]
            finally:
                self._gnubg.set.score(0, 0)
        return steps

    def _best(self, state: Any, after: States, values: npt.NDArray[Any]) -> int:
        """The index in `after` of the play that gnubg likes best."""
        mover, dice = int(state["turn"]), state["dice"].tolist()
        whole = sum(state["left"].tolist()) == (4 if dice[0] == dice[1] else 2)
        if not whole or (self._rules[0]["jacoby"] and state["owner"] == -1):  # what best_move knows nothing of
            worth = [self._worth(after[n], mover, values[mover]) for n in range(len(after))]
            return int(np.argmax(worth))
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

    def _worth(self, after: Any, mover: int, values: npt.NDArray[Any]) -> float:
        """What a play is worth to the mover by gnubg's odds and the values of the outcomes."""
        if after["winner"] >= 0:
            return float(values[after["level"] - 1])
        odds = self._odds(after["points"], 1 - mover)
        return float(np.dot(odds[3:], values[:3]) + np.dot(odds[:3], values[3:]))

    def _odds(self, points: npt.NDArray[Any], roller: int) -> npt.NDArray[np.float64]:
        """The chances of the player on roll to win 1, 2, 3 points and to lose 1, 2, 3."""
        win, gammon, backgammon, lost, lost_more = self._gnubg.probabilities(_board(points, roller), self.plies)
        odds = np.array([win - gammon, gammon - backgammon, backgammon, 1 - win - lost, lost - lost_more, lost_more])
        np.maximum(odds, 0.0, out=odds)
        return odds

    def _set(self, state: Any, mover: int) -> None:
        """Tell the engine score and cube, `mover` being gnubg's O."""
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
        actions = np.empty(len(states), np.int64)
        moving = states["phase"] == Phase.CHECKER
        if moving.any():
            actions[moving] = self.choose_plays(states[moving], words[moving])[:, 0]
        far = settings.match_length - states["score"].min(axis=1) > FARTHEST if settings.match_length else np.True_
        by_odds = ~moving & far
        if by_odds.any():
            actions[by_odds] = self._by_odds(states[by_odds])
        rest = np.flatnonzero(~moving & ~by_odds)
        with _LOCK:
            try:
                for i in rest.tolist():
                    actions[i] = self._in_match(states[i])
            finally:
                self._gnubg.set.score(0, 0)
        return actions

    def _by_odds(self, states: States) -> npt.NDArray[np.int64]:
        """Cube decisions by Janowski's model over the cubeless odds."""
        odds = np.empty((len(states), 6), np.float64)
        with _LOCK:
            for i, turn in enumerate(states["turn"].tolist()):
                odds[i] = self._odds(states[i]["points"], turn)
        actions = np.empty(len(states), np.int64)
        choose_cube(states, self._rules, odds, CUBE_LIFE, cube_scratch(), actions)
        return actions

    def _in_match(self, state: Any) -> int:
        """A cube decision in a match: the engine looks from the side of the player who doubles or might."""
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
