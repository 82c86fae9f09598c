"""Outcome of a game or match, a small frozen value."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from bg_env.actions import DROP, Event
from bg_env.rules import END_ILLEGAL, END_TRUNCATED, OFF, Phase, Settings, States

__all__ = ["Ending", "Outcome", "outcome_of"]


class Ending(enum.Enum):
    """The way in which a game ended."""

    BORNE_OFF = "borne off"
    """The winner has borne off all its checkers (R3.4)."""
    DROPPED = "dropped"
    """The loser has dropped a double (R8.3)."""
    RESIGNED = "resigned"
    """The loser has resigned."""
    ILLEGAL_ACTION = "illegal action"
    """The loser has acted illegally in an environment with `illegal="terminate"`."""
    TURN_LIMIT = "turn limit"
    """The cap on turns is reached (R11.1); nobody has won."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a finished game or, in match play, of the match, with the level and the points of its last game.

    Attributes:
        winner: 0 or 1; None if the cap on turns ended it.
        points: points won in the last game, the cube counted; 0 without a winner.
        level: 1 a single game, 2 a gammon, 3 a backgammon, as it counts (R8.5); 0 without a winner.
        cube: the value of the cube, which `points` is a multiple of.
        score: points of player 0 and 1 in the match; (0, 0) in money play.
        ending: the way in which the last game ended; None if that is not known: in a finished game that was set up, or taken
            from an environment that keeps no history, a drop and a resignation look alike.
    """

    winner: int | None
    points: int
    level: int
    cube: int
    score: tuple[int, int]
    ending: Ending | None

    def __str__(self) -> str:
        how = f" ({self.ending.value})" if self.ending else ""
        if self.winner is None:
            return f"no winner{how}"
        return f"player_{self.winner} wins {self.points} point{'s' * (self.points != 1)}{how}"


def outcome_of(states: States, settings: Settings, last: Event | None) -> Outcome | None:
    """The outcome of state 0; None while it goes on. `last` is the last action or resignation, if it is known."""
    s = states[0]
    if s["phase"] != Phase.OVER:
        return None
    score = int(s["score"][0]), int(s["score"][1])
    cube = 1 << int(s["cube"])
    if s["ending"] == END_TRUNCATED or s["winner"] < 0:
        return Outcome(None, 0, 0, cube, score, Ending.TURN_LIMIT)
    winner = int(s["winner"])
    ending = None
    if s["ending"] == END_ILLEGAL:
        ending = Ending.ILLEGAL_ACTION
    elif s["points"][winner, OFF] == settings.variant.checkers:
        ending = Ending.BORNE_OFF
    elif last is not None and last.level:
        ending = Ending.RESIGNED
    elif last is not None and last.action == DROP:
        ending = Ending.DROPPED
    return Outcome(winner, int(s["won"]), int(s["level"]), cube, score, ending)
