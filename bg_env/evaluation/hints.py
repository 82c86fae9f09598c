"""Evaluations of positions, and hints: the choices of a decision with their equities, best first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.actions import action_text
from bg_env.errors import OrderError
from bg_env.evaluation.candidates import EXACT, Judge
from bg_env.notation.moves import steps_of
from bg_env.position import Play, Position
from bg_env.rules import Phase, Settings, States, apply, apply_roll, ties_double

if TYPE_CHECKING:
    from bg_env.game_view import GameView

__all__ = ["Evaluation", "Hint", "Outcomes", "evaluate", "hints", "judge_for"]

_HALF: Final = 3
_LEVELS: Final = np.array([1, 2, 3, -1, -2, -3])


class Outcomes(NamedTuple):
    """Cubeless probabilities of the results of a game, each 0 to 1; gammons include backgammons.

    Attributes:
        win: to win.
        win_gammon: to win a gammon or a backgammon.
        win_backgammon: to win a backgammon.
        lose: to lose.
        lose_gammon: to lose a gammon or a backgammon.
        lose_backgammon: to lose a backgammon.
    """

    win: float
    win_gammon: float
    win_backgammon: float
    lose: float
    lose_gammon: float
    lose_backgammon: float

    @property
    def equity(self) -> float:
        """The cubeless equity: points a game at a cube of 1, gammons 2 and backgammons 3."""
        return sum(self[:_HALF]) - sum(self[_HALF:])


@dataclass(frozen=True)
class Evaluation:
    """The value of a game to a player.

    Equities are normalised: with the cube of the moment, winning a single game now is 1 and losing it -1. In money play that is
    points divided by the cube, in a match it is linear in the chance to win the match.

    Attributes:
        player: who it belongs to, 0 or 1: the player who decides, or rolls; before the opening throw, and after the end, player
            0.
        evaluator: the name of the player that evaluated.
        equity: of the game as it stands: with the cube where it is in play, the best play of dice in hand, the best answer to a
            double. At the end it is the result.
        cubeless: the equity by the probabilities alone, gammons 2 and backgammons 3; None where the evaluator knows no
            probabilities.
        cubeful: the equity with the cube, equal to `equity`; None where no cube is in play.
        probabilities: None where the evaluator knows no probabilities.
        exact: whether the value is known exactly: after the end of the game, and from the tables of `bg_env.exact`.
    """

    player: int
    evaluator: str
    equity: float
    cubeless: float | None
    cubeful: float | None
    probabilities: Outcomes | None
    exact: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, for JSON."""
        return {**self.__dict__, "probabilities": self.probabilities and self.probabilities._asdict()}


@dataclass(frozen=True)
class Hint:
    """A choice of a decision.

    Attributes:
        play: the whole play; None of a decision about the cube, and of a double to name (R10.6).
        action: its number, of a play that of its first step.
        text: the choice in words, as `Game.play` reads it.
        equity: to the player who decides, normalised, see `Evaluation`.
        loss: equity of the best choice less this one's, at least 0.
        probabilities: of the results of the game after it; None where the evaluator knows none.
        plies: rolls of look-ahead of the equity; -1 where it is exact.
    """

    play: Play | None
    action: int
    text: str
    equity: float
    loss: float
    probabilities: Outcomes | None
    plies: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Everything but the play as plain numbers and text, for JSON."""
        names = ("action", "text", "equity", "loss", "plies")
        chances = self.probabilities and self.probabilities._asdict()
        return {name: getattr(self, name) for name in names} | {"probabilities": chances}


@lru_cache(maxsize=8)
def _named_judge(player: str, settings: Settings) -> Judge:
    return Judge(player, settings)


def judge_for(player: Any, settings: Settings) -> Judge:
    """A `Judge`; of names that need no file, the same for the same settings."""
    if isinstance(player, str) and player.partition(":")[0] in ("td", "td-cube", "gnubg"):
        return _named_judge(player, settings)
    return Judge(player, settings)


def _outcomes(row: npt.NDArray[Any], *, turned: bool = False) -> Outcomes | None:
    """Probabilities of 1, 2, 3 points won and lost as `Outcomes`."""
    if np.isnan(row[0]):
        return None
    a, b, c, d, e, f = (min(max(float(p), 0.0), 1.0) for p in (np.roll(row, _HALF) if turned else row))
    return Outcomes(a + b + c, b + c, c, d + e + f, e + f, f)


def hints_of(states: States, judge: Judge) -> list[list[Hint]]:
    """The hints of many decisions, one list for each state; see `hints`."""
    found = judge.candidates(states)
    variant = judge.settings.variant
    lists = []
    for i, (lo, hi) in enumerate(zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)):
        one = states[i : i + 1]
        moving, side = one[0]["phase"] == Phase.CHECKER, int(one[0]["decider"])
        order = lo + np.argsort(-found.equities[lo:hi], kind="stable")
        best = float(found.equities[order[0]])
        row = []
        for k in order.tolist():
            actions = found.actions[k].tolist()
            play = None
            if moving:
                points = found.after[k]["points"].tolist()
                result = Position.unchecked(tuple(points[1 - side]), tuple(points[side]), variant)
                play = Play(steps_of(actions, one, 0), result)
            text = str(play) if play is not None else action_text(actions[0])
            equity = float(found.equities[k])
            row.append(
                Hint(play, actions[0], text, equity, best - equity, _outcomes(found.probabilities[k]), int(found.plies[k]))
            )
        lists.append(row)
    return lists


def hints(game: GameView, player: Any = "td") -> list[Hint]:
    """All choices of the decision that a game waits for, best first; see `Game.hints`."""
    if game.player is None:
        waits = "is over" if game.over else "waits for dice: roll, or give apply_roll(d1, d2)"
        msg = f"there are hints for a decision, but the game {waits}"
        raise OrderError(msg)
    judge = judge_for(player, game.settings)
    return hints_of(np.ascontiguousarray(game.states), judge)[0]


def evaluate(game: GameView, player: Any = "td") -> Evaluation:
    """The value of a game in any phase; see `Game.evaluate`."""
    judge = judge_for(player, game.settings)
    return _evaluated(np.ascontiguousarray(game.states).copy(), judge)


def _evaluated(states: States, judge: Judge) -> Evaluation:
    settings, s = judge.settings, states[0]
    live = bool(settings.cube) and not s["crawford"]
    phase = int(s["phase"])
    if phase == Phase.OVER or s["winner"] >= 0:
        return _ended(states, judge)
    if phase == Phase.OPENING:
        return _before_opening(states, judge, live=live)
    if phase in (Phase.CHECKER, Phase.CHOOSE_DOUBLE, Phase.TAKE_OR_DROP):
        return _of_best(states, judge, live=live)
    row = judge.probabilities(states)
    cube = judge.cube(states, row)
    equity = float(cube.stands[0])
    if phase == Phase.ROLL_OR_DOUBLE:
        equity = max(equity, min(float(cube.taken[0]), float(cube.dropped[0])))
    return _made(int(s["turn"]), judge, equity, _outcomes(row[0]), live=live, exact=False)


def _of_best(states: States, judge: Judge, *, live: bool) -> Evaluation:
    """The value of a game that waits for a decision: that of the best choice; of a play, with the cube after it."""
    found = judge.candidates(states)
    best, player = int(np.argmax(found.equities)), int(states[0]["decider"])
    equity, exact = float(found.equities[best]), bool(found.plies[best] == EXACT)
    if states[0]["phase"] == Phase.CHECKER and live and judge.kind == "odds" and not exact:
        rules, after = judge.settings.record(), states.copy()
        for action in found.actions[best].tolist():
            if action >= 0:
                apply(after, 0, rules, action)
        if after[0]["phase"] in (Phase.ROLL, Phase.ROLL_OR_DOUBLE):
            one = _evaluated(after, judge)
            equity = one.equity if one.player == player else -one.equity
    return _made(player, judge, equity, _outcomes(found.probabilities[best]), live=live, exact=exact)


def _made(player: int, judge: Judge, equity: float, chances: Outcomes | None, *, live: bool, exact: bool) -> Evaluation:
    cubeless = None if chances is None else chances.equity
    return Evaluation(player, judge.name, equity, cubeless, equity if live else None, chances, exact)


def _ended(states: States, judge: Judge) -> Evaluation:
    """The value of a game that is over, to player 0."""
    s, row = states[0], np.zeros(2 * _HALF)
    if s["winner"] < 0:
        return Evaluation(0, judge.name, 0.0, 0.0, None, None, exact=True)
    won = s["winner"] == 0
    row[int(s["level"]) - 1 + (0 if won else _HALF)] = 1
    stake = 1 << int(s["cube"])
    points = int(s["won"]) / stake
    equity = points if won else -points
    return Evaluation(
        0, judge.name, equity, float(row @ _LEVELS), equity if judge.settings.cube else None, _outcomes(row), exact=True
    )


def _before_opening(states: States, judge: Judge, *, live: bool) -> Evaluation:
    """The mean over the opening throws, to player 0."""
    rules = judge.settings.record()
    ties = bool(ties_double(states, 0, rules))
    total, chances, known = 0.0, np.zeros(2 * _HALF), True
    throws = [(a, b) for a in range(1, 7) for b in range(1, 7) if a != b]
    for a, b in throws:
        after = states.copy()
        apply_roll(after, 0, rules, a, b)
        one = _evaluated(after, judge)
        sign = 1 if one.player == 0 else -1
        total += sign * one.equity
        if one.probabilities is None:
            known = False
        else:
            row = np.array(one.probabilities)
            chances += row if one.player == 0 else np.roll(row, _HALF)
    n = len(throws) + 6 * ties  # ties leave an even game, at twice the cube
    if ties:
        chances += 6 * chances / len(throws)
    return _made(0, judge, total / n, Outcomes(*(chances / n).tolist()) if known else None, live=live, exact=False)
