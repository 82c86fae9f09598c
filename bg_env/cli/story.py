"""The course of a game in sentences, as it is printed in a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bg_env import actions
from bg_env.actions import Event
from bg_env.game import Game
from bg_env.notation.moves import format_actions
from bg_env.rules import Phase, Settings, States, apply, apply_roll, resign

__all__ = ["LEVELS", "Story"]

LEVELS: Final = ("", "a single game", "a gammon", "a backgammon")
"""Names of the levels at which a game is won or resigned."""
_YOU: Final = "you"
"""The name of the person at the terminal, who is addressed in the second person."""


@dataclass
class _Roll:
    """A roll that is being played: the player, its text, the state before it, and the steps so far."""

    player: int
    text: str
    before: States
    steps: list[int] = field(default_factory=list)


class Story:
    """The course of a game in sentences.

    Args:
        start: the state at the start of the game's history, an array of one.
        settings: settings of the game.
        names: names of players 0 and 1.
    """

    def __init__(self, start: States, settings: Settings, names: tuple[str, str]) -> None:
        self._states = start.copy()
        self._rules = settings.record()
        self._names = names
        self._seen = 0
        self._roll: _Roll | None = None
        if start[0]["phase"] == Phase.CHECKER:
            self._roll = _Roll(int(start[0]["turn"]), f"{start[0]['dice'][0]}-{start[0]['dice'][1]}", start.copy())

    def news(self, game: Game) -> list[str]:
        """Sentences on what has happened since the last call; a roll is included when it has been played."""
        lines: list[str] = []
        for event in game.history[self._seen :]:
            if event.level and event.player is not None:
                lines += self._resigned(event.player, event.level)
            else:
                lines += self._sentences(event)
        self._seen = len(game.history)
        return [f"You{line[len(_YOU) :]}" if line.startswith(f"{_YOU} ") else line for line in lines]

    def _does(self, player: int, verb: str) -> str:
        """A player and a verb: "pubeval takes", "you take"."""
        name = self._names[player]
        return f"{name} {verb.removesuffix('s') if name == _YOU else verb}"

    def _sentences(self, event: Event) -> list[str]:
        """Sentences on a roll or an action."""
        lines: list[str] = []
        if event.roll is not None:
            lines += self._rolled(event.player, *event.roll)
        elif event.action is not None and event.player is not None:
            lines += self._acted(event.player, int(event.action))
        roll, states = self._roll, self._states
        if roll is not None and (states[0]["phase"] != Phase.CHECKER or states[0]["turn"] != roll.player):
            self._roll = None
            played = format_actions(roll.steps, roll.before, 0) if roll.steps else "cannot move"
            lines.append(f"{self._names[roll.player]} {roll.text}: {played}")
        return lines + self._won()

    def _rolled(self, player: int | None, d1: int, d2: int) -> list[str]:
        states, lines = self._states, []
        opening = states[0]["phase"] == Phase.OPENING
        if player is None:
            lines.append(f"Both throw {d1}: the cube is doubled")
        elif opening:
            lines.append(f"{self._does(0, 'throws')} {d1}, {self._names[1]} {d2}: {self._does(player, 'begins')}")
        apply_roll(states, 0, self._rules, d1, d2)
        if player is not None and not (opening and self._rules[0]["fresh_first_roll"]):
            self._roll = _Roll(player, f"{max(d1, d2)}-{min(d1, d2)}", states.copy())
        return lines

    def _acted(self, player: int, action: int) -> list[str]:
        lines = []
        if action < actions.STEPS and self._roll is not None:
            self._roll.steps.append(action)
        elif action != actions.ROLL:
            verb, more = self._words(action)
            lines.append(self._does(player, verb) + more)
        apply(self._states, 0, self._rules, action)
        if action >= actions.FIRST_NAMED:
            self._roll = _Roll(player, actions.action_text(action), self._states.copy())
        return lines

    def _words(self, action: int) -> tuple[str, str]:
        """The verb of an action other than a step, and the words after it."""
        value = 1 << (int(self._states[0]["cube"]) + int(self._states[0]["chain"]))
        return {
            actions.DOUBLE: ("doubles", f" to {2 * value}"),
            actions.BEAVER: ("turns", f" the cube again, to {2 * value}"),
            actions.TAKE: ("takes", f", the cube stands at {value}"),
            actions.DROP: ("drops", ""),
        }.get(action, ("names", f" {actions.action_text(action)}"))

    def _resigned(self, player: int, level: int) -> list[str]:
        resign(self._states, 0, self._rules, player, level)
        self._roll = None
        return [f"{self._does(player, 'resigns')} {LEVELS[level]}", *self._won()]

    def _won(self) -> list[str]:
        s = self._states[0]
        if s["winner"] < 0:
            return []
        points, winner = int(s["won"]), int(s["winner"])
        line = f"{self._does(winner, 'wins')} {LEVELS[int(s['level'])]}, {points} point{'s' * (points > 1)}"
        if s["phase"] == Phase.OVER and self._rules[0]["match_length"]:
            line += f", and the match {int(s['score'][winner])}-{int(s['score'][1 - winner])}"
        elif self._rules[0]["match_length"]:
            line += f"; the score is {int(s['score'][0])}-{int(s['score'][1])}"
        return [line]
