"""Backgammon in a terminal: playing against a player, and watching two of them; text in, text out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bg_env import actions
from bg_env.errors import BgEnvError, IllegalActionError, NotationError
from bg_env.game import Game
from bg_env.notation.moves import find_play, format_actions
from bg_env.players import ask
from bg_env.render.text import board_text
from bg_env.rules import CHOICE, Phase, Settings, States, apply, apply_roll, plays, resign, word

__all__ = ["Screen", "Story", "choose", "play", "watch"]

HELP: Final = """\
A play:      8/5 6/5   24/18*/13   8/5(2)   bar/22   6/off   also 8-5, or 8 5 6 5; one step at a time is fine
The cube:    roll (or Enter), double, take, drop, beaver
A turn:      undo takes back the steps of this roll; list numbers the legal plays, and #3 plays the third
To look:     hint, board, pips, id
To stop:     resign, resign gammon, resign backgammon (you are asked again), quit"""

_LEVELS: Final = ("", "a single game", "a gammon", "a backgammon")
_YOU: Final = "you"
"""A player of this name is spoken to."""
_SHORT: Final = {"r": "roll", "d": "double", "t": "take", "y": "take", "yes": "take", "n": "drop", "no": "drop", "pass": "drop"}


class _Quit(Exception):  # noqa: N818 - no error: the user has had enough
    """The user leaves."""


@dataclass
class Screen:
    """Where text goes and comes from.

    Attributes:
        say: shows lines.
        ask: shows a prompt and gives the answer; EOFError at the end of the input.
        names: of player 0 and 1.
        seat: who sits below; None for whoever is on roll.
        colour: whether boards are painted.
        unicode: whether boards are drawn with lines beyond ASCII.
    """

    say: Callable[[str], object]
    ask: Callable[[str], str]
    names: tuple[str, str]
    seat: int | None = None
    colour: bool = False
    unicode: bool = True

    def board(self, game: Game) -> None:
        """Show the board; how the game ended is for the story to tell."""
        text = board_text(
            game.states,
            0,
            game.settings,
            seat=self.seat,
            names=self.names,
            colour=self.colour,
            unicode=self.unicode,
            message=game.phase != Phase.OVER,
        )
        self.say(f"\n{text}\n")


@dataclass
class _Roll:
    """A roll that is being played: who, what, from which state, and the steps so far."""

    player: int
    what: str
    before: States
    steps: list[int] = field(default_factory=list)


class Story:
    """Tells what has happened in a game since it was last asked, in sentences.

    Args:
        start: the state that the game's history begins with, an array of one.
        settings: of the game.
        names: of player 0 and 1.
    """

    def __init__(self, start: States, settings: Settings, names: tuple[str, str]) -> None:
        self._states = start.copy()
        self._rules = settings.record()
        self._names = names
        self._told = 0
        self._roll: _Roll | None = None
        if start[0]["phase"] == Phase.CHECKER:
            self._roll = _Roll(int(start[0]["turn"]), f"{start[0]['dice'][0]}-{start[0]['dice'][1]}", start.copy())

    def news(self, game: Game) -> list[str]:
        """The sentences; of a roll only when it has been played."""
        lines: list[str] = []
        for event in game.history[self._told :]:
            lines += self._level(event) if event.level else self._tell(event)
        self._told = len(game.history)
        return [f"You{line[len(_YOU) :]}" if line.startswith(f"{_YOU} ") else line for line in lines]

    def _does(self, player: int, verb: str) -> str:
        """Who does what: "pubeval takes", "you take"."""
        name = self._names[player]
        return f"{name} {verb.removesuffix('s') if name == _YOU else verb}"

    def _tell(self, event: Any) -> list[str]:
        states, lines = self._states, []
        if event.roll is not None:
            opening = states[0]["phase"] == Phase.OPENING
            d1, d2 = event.roll
            if opening and event.player is None:
                lines.append(f"Both throw {d1}: the cube is doubled")
            elif opening:
                lines.append(f"{self._does(0, 'throws')} {d1}, {self._names[1]} {d2}: {self._does(event.player, 'begins')}")
            apply_roll(states, 0, self._rules, d1, d2)
            if d1 != d2 if opening and not self._rules[0]["fresh_first_roll"] else not opening:
                self._roll = _Roll(event.player, f"{max(d1, d2)}-{min(d1, d2)}", states.copy())
        else:
            action = int(event.action)
            if action < actions.STEPS and self._roll is not None:
                self._roll.steps.append(action)
            elif action != actions.ROLL:
                verb, more = self._words(action)
                lines.append(self._does(event.player, verb) + more)
            apply(states, 0, self._rules, action)
            if action >= actions.FIRST_NAMED:
                name = actions.action_text(action)
                self._roll = _Roll(event.player, name, states.copy())
        if self._roll is not None and (states[0]["phase"] != Phase.CHECKER or states[0]["turn"] != self._roll.player):
            roll, self._roll = self._roll, None
            told = format_actions(roll.steps, roll.before, 0) if roll.steps else "cannot move"
            lines.append(f"{self._names[roll.player]} {roll.what}: {told}")
        return lines + self._won()

    def _words(self, action: int) -> tuple[str, str]:
        """The verb of an action that is no step, and what follows it."""
        value = 1 << (int(self._states[0]["cube"]) + int(self._states[0]["chain"]))
        return {
            actions.DOUBLE: ("doubles", f" to {2 * value}"),
            actions.BEAVER: ("turns", f" the cube again, to {2 * value}"),
            actions.TAKE: ("takes", f", the cube stands at {value}"),
            actions.DROP: ("drops", ""),
        }.get(action, ("names", f" {actions.action_text(action)}"))

    def _level(self, event: Any) -> list[str]:
        resign(self._states, 0, self._rules, event.player, event.level)
        self._roll = None
        return [f"{self._does(event.player, 'resigns')} {_LEVELS[event.level]}", *self._won()]

    def _won(self) -> list[str]:
        s = self._states[0]
        if s["winner"] < 0:
            return []
        points, winner = int(s["won"]), int(s["winner"])
        line = f"{self._does(winner, 'wins')} {_LEVELS[int(s['level'])]}, {points} point{'s' * (points > 1)}"
        if s["phase"] == Phase.OVER and self._rules[0]["match_length"]:
            line += f", and the match {int(s['score'][winner])}-{int(s['score'][1 - winner])}"
        elif self._rules[0]["match_length"]:
            line += f"; the score is {int(s['score'][0])}-{int(s['score'][1])}"
        return [line]


def choose(player: Any, game: Game) -> list[int]:
    """What a bound player does now: one action, or the steps of a whole play. Its words come from the game's key."""
    states = game.states
    words = np.array([word(states[0]["key"], np.uint64(CHOICE), np.uint64(len(game.history)))], np.uint64)
    return ask(player, states, words).only()


def watch(game: Game, start: States, players: Sequence[Any], screen: Screen, pause: Callable[[], object]) -> None:
    """Let two players play, with the board shown after each turn.

    Args:
        game: with a seed.
        start: the state that its history begins with.
        players: of seat 0 and 1, bound to the game's settings.
        screen: where to show it.
        pause: called after each turn.
    """
    story = Story(start, game.settings, screen.names)
    for line in story.news(game):
        screen.say(line)
    screen.board(game)
    while (mover := game.player) is not None:
        for action in choose(players[mover], game):
            game.apply(action)
        news = story.news(game)
        if news:
            for line in news:
                screen.say(line)
            screen.board(game)
            pause()


def play(game: Game, start: States, human: int, opponent: Any, screen: Screen, adviser: Any = None) -> bool:
    """Let a person play against a player.

    Args:
        game: with a seed.
        start: the state that its history begins with.
        human: the person's seat.
        opponent: bound to the game's settings.
        screen: to talk to the person.
        adviser: a bound player that gives hints; None for none.

    Returns:
        Whether the game came to its end; False if the person left.
    """
    story = Story(start, game.settings, screen.names)
    person = _Person(game, human, screen, adviser)

    def tell() -> None:
        for line in story.news(game):
            screen.say(line)

    try:
        tell()
        while game.phase != Phase.OVER:
            if game.player == human:
                person.decide()
            else:
                for action in choose(opponent, game):
                    game.apply(action)
            tell()
    except (_Quit, EOFError):
        return False
    screen.board(game)
    return True


class _Person:
    """Asks a person for one decision after another."""

    def __init__(self, game: Game, seat: int, screen: Screen, adviser: Any) -> None:
        self.game = game
        self.seat = seat
        self.screen = screen
        self.adviser = adviser
        self._rules = game.settings.record()

    def decide(self) -> None:
        """One decision, or a whole roll."""
        self.screen.board(self.game)
        if self.game.phase == Phase.CHECKER:
            self._roll()
            return
        question, default = {
            Phase.ROLL_OR_DOUBLE: ("roll or double", "roll"),
            Phase.TAKE_OR_DROP: ("take or drop" + " or beaver" * (actions.BEAVER in self.game.legal_actions()), ""),
            Phase.CHOOSE_DOUBLE: ("name a double", ""),
        }[self.game.phase]
        before = len(self.game.history)
        while True:
            text = self.screen.ask(f"{question}> ").strip().lower() or default
            if not text or self._asked_for(text, self.game):
                if len(self.game.history) > before:
                    return  # resigned
                continue
            if text in ("undo", "u"):
                self.screen.say("nothing to take back: undo takes back the steps of a roll that is being played")
                continue
            text = _SHORT.get(text, text)
            if self.game.phase == Phase.CHOOSE_DOUBLE and re.fullmatch("[1-6]", text):
                text += text
            try:
                self.game.play(text)
            except BgEnvError as error:
                self.screen.say(f"{error} (help tells more)")
            else:
                return

    def _roll(self) -> None:
        """The steps of a roll; they are made on a copy until the roll is done."""
        done: list[int] = []
        before = len(self.game.history)
        while True:
            ahead = self.game.copy()
            for action in done:
                ahead.apply(action)
            finished = bool(done) and not self._goes_on(ahead)
            prompt = "Enter plays it, undo takes it back> " if finished else f"{' '.join(map(str, ahead.dice))}> "
            text = self.screen.ask(prompt).strip().lower()
            if finished and text in ("", "y", "yes", "ok"):
                break
            if text in ("undo", "u"):
                self.screen.say("nothing to take back" if not done else "taken back")
                done = []
                self.screen.board(self.game)
                continue
            if not text or self._asked_for(text, ahead):
                if len(self.game.history) > before:
                    return  # resigned
                continue
            try:
                chosen = self._steps(text, ahead)
            except BgEnvError as error:
                self.screen.say(f"{error} (help tells more)")
                continue
            if finished:
                self.screen.say("this roll is played: Enter plays it, undo takes it back")
                continue
            whole = not done
            done += chosen
            for action in chosen:
                ahead.apply(action)
            if not self._goes_on(ahead):
                if whole:
                    break
                self.screen.say(f"this makes {format_actions(done, self.game.states, 0)}")
            else:
                self.screen.board(ahead)
        for action in done:
            self.game.apply(action)

    def _goes_on(self, ahead: Game) -> bool:
        """Whether steps of the same roll are left in the copy."""
        rolls = sum(event.roll is not None for event in ahead.history)
        same = rolls == sum(event.roll is not None for event in self.game.history)
        return same and ahead.phase == Phase.CHECKER and ahead.player == self.seat

    def _steps(self, text: str, ahead: Game) -> list[int]:
        """The steps that `text` tells.

        Raises:
            BgEnvError: it tells none.
        """
        number = re.fullmatch(r"#\s*(\d{1,4})", text)
        if number:
            found = self._plays(ahead)
            if not 1 <= int(number[1]) <= len(found):
                msg = f"there is no play {text}: list numbers them from 1 to {len(found)}"
                raise IllegalActionError(msg)
            return found[int(number[1]) - 1]
        return find_play(_tidy(text), ahead.states, 0, self._rules)

    def _plays(self, ahead: Game) -> list[list[int]]:
        _, steps, _ = plays(ahead.states, self._rules)
        return [[int(action) for action in row if action >= 0] for row in steps]

    def _asked_for(self, text: str, ahead: Game) -> bool:
        """Do what is no move of the game; whether it was such."""
        say, first, *rest = self.screen.say, *text.split()
        if first in ("help", "?", "h"):
            say(HELP)
        elif first in ("quit", "q", "exit"):
            raise _Quit
        elif first == "board":
            self.screen.board(ahead)
        elif first == "id":
            say(_id(ahead))
        elif first == "pips":
            mine, theirs = ahead.position.pips
            say(f"on roll {mine}, the other {theirs}")
        elif first == "list" and ahead.phase == Phase.CHECKER:
            for k, steps in enumerate(self._plays(ahead), 1):
                say(f"  #{k:<4} {format_actions(steps, ahead.states, 0)}")
        elif first in ("hint", "list"):
            say(self._hint(ahead))
        elif first == "resign":
            levels = {"": 1, "single": 1, "1": 1, "gammon": 2, "2": 2, "backgammon": 3, "3": 3}
            level = levels.get(" ".join(rest))
            if level is None:
                say("resign, resign gammon or resign backgammon")
            elif self.screen.ask(f"resign {_LEVELS[level]}? yes or no> ").strip().lower() in ("yes", "y"):
                self.game.resign(level, self.seat)
            else:
                say("the game goes on")
        else:
            return False
        return True

    def _hint(self, ahead: Game) -> str:
        if self.adviser is None or ahead.player != self.seat:
            return f"possible: {', '.join(actions.action_text(action) for action in ahead.legal_actions())}"
        chosen = choose(self.adviser, ahead)
        name = getattr(self.adviser, "name", type(self.adviser).__name__)
        if ahead.phase == Phase.CHECKER:
            return f"{name} would play {format_actions(chosen, ahead.states, 0)}"
        return f"{name} would {actions.action_text(chosen[0])}"


def _id(game: Game) -> str:
    try:
        return game.xgid
    except NotationError as error:
        return str(error)


def _tidy(text: str) -> str:
    """Moves as people type them: hyphens or bare pairs of numbers instead of slashes."""
    place = r"(?:bar|off|\d{1,2})"
    words = re.split(r"[\s,;]+", text.strip())
    if len(words) % 2 == 0 and all(re.fullmatch(rf"{place}\*?", one) for one in words):
        return " ".join(f"{start}/{end}" for start, end in zip(words[::2], words[1::2], strict=True))
    return re.sub(rf"({place}\*?)\s*[->]+\s*(?={place})", r"\1/", text)
