"""Games in a terminal, as text: a person against a player, or two players to watch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from bg_env import actions
from bg_env.actions import Event
from bg_env.errors import BgEnvError, IllegalActionError, NotationError
from bg_env.game import Game
from bg_env.notation.moves import find_play, format_actions
from bg_env.players import Player, PlayPlayer, ask
from bg_env.render.text import board_text
from bg_env.rules import CHOICE, Phase, Settings, States, apply, apply_roll, plays, resign, word

__all__ = ["Screen", "Story", "choose", "play", "watch"]

HELP: Final = """\
Plays:       8/5 6/5   24/18*/13   8/5(2)   bar/22   6/off   also 8-5, or 8 5 6 5; whole or one step at a time
The cube:    roll (or Enter), double, take, drop, beaver
The roll:    undo takes back its steps; list numbers the legal plays, and #3 plays the third
Information: hint, board, pips, id
The end:     resign, resign gammon, resign backgammon (with a question before), quit"""

_LEVELS: Final = ("", "a single game", "a gammon", "a backgammon")
_YOU: Final = "you"
"""The name of the person at the terminal, who is addressed in the second person."""
_SHORT: Final = {"r": "roll", "d": "double", "t": "take", "y": "take", "yes": "take", "n": "drop", "no": "drop", "pass": "drop"}


class _Quit(Exception):  # noqa: N818 - not an error
    """The person leaves the game."""


@dataclass
class Screen:
    """Input and output of a game, and how boards are drawn.

    Attributes:
        say: prints a text.
        ask: prints a prompt and returns the answer; raises EOFError at the end of the input.
        names: names of players 0 and 1.
        seat: the player at the bottom of the board; None for the player on roll.
        colour: whether to use colour.
        unicode: whether to draw with characters beyond ASCII.
    """

    say: Callable[[str], object]
    ask: Callable[[str], str]
    names: tuple[str, str]
    seat: int | None = None
    colour: bool = False
    unicode: bool = True

    def board(self, game: Game) -> None:
        """Print the board; the story prints how the game ended."""
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
        return [f"{self._does(player, 'resigns')} {_LEVELS[level]}", *self._won()]

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


def choose(player: Player | PlayPlayer, game: Game) -> list[int]:
    """The choice of a bound player: one action, or the steps of a whole play. Its random words come from the game's key."""
    states = game.states
    words = np.array([word(states[0]["key"], np.uint64(CHOICE), np.uint64(len(game.history)))], np.uint64)
    return ask(player, states, words).only()


def watch(
    game: Game, start: States, players: Sequence[Player | PlayPlayer], screen: Screen, pause: Callable[[], object]
) -> None:
    """Play a game between two players, and print the board after each turn.

    Args:
        game: a game with a seed.
        start: the state at the start of its history.
        players: players 0 and 1, bound to the game's settings.
        screen: where to print.
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


def play(
    game: Game,
    start: States,
    human: int,
    opponent: Player | PlayPlayer,
    screen: Screen,
    adviser: Player | PlayPlayer | None = None,
) -> bool:
    """Play a game between a person and a player.

    Args:
        game: a game with a seed.
        start: the state at the start of its history.
        human: the person's seat.
        opponent: a player that is bound to the game's settings.
        screen: input and output.
        adviser: a bound player that gives hints; None for no hints.

    Returns:
        Whether the game was finished; False if the person left.
    """
    story = Story(start, game.settings, screen.names)
    person = _Person(game, human, screen, adviser)

    def print_news() -> None:
        for line in story.news(game):
            screen.say(line)

    try:
        print_news()
        while game.phase != Phase.OVER:
            if game.player == human:
                person.decide()
            else:
                for action in choose(opponent, game):
                    game.apply(action)
            print_news()
    except (_Quit, EOFError):
        return False
    screen.board(game)
    return True


class _Person:
    """The decisions of a person."""

    def __init__(self, game: Game, seat: int, screen: Screen, adviser: Player | PlayPlayer | None) -> None:
        self.game = game
        self.seat = seat
        self.screen = screen
        self.adviser = adviser
        self._rules = game.settings.record()

    def decide(self) -> None:
        """Ask for one decision, or for the play of a whole roll."""
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
                self.screen.say(f"{error} (type help for the commands)")
            else:
                return

    def _roll(self) -> None:
        """Ask for the play of a roll; steps are made on a copy until the play is complete."""
        done: list[int] = []
        before = len(self.game.history)
        while True:
            ahead = self.game.copy()
            for action in done:
                ahead.apply(action)
            finished = bool(done) and not self._goes_on(ahead)
            prompt = "Enter confirms it, undo takes it back> " if finished else f"{' '.join(map(str, ahead.dice))}> "
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
                self.screen.say(f"{error} (type help for the commands)")
                continue
            if finished:
                self.screen.say("the roll is played already: Enter confirms it, undo takes it back")
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
        """Whether the roll has more steps to play in the copy."""
        rolls = sum(event.roll is not None for event in ahead.history)
        same = rolls == sum(event.roll is not None for event in self.game.history)
        return same and ahead.phase == Phase.CHECKER and ahead.player == self.seat

    def _steps(self, text: str, ahead: Game) -> list[int]:
        """The steps of a play that was typed.

        Raises:
            BgEnvError: `text` is not a legal play.
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
        """Do what is not a move of the game; whether `text` was such a command."""
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
            say(f"pips: {mine} for the player on roll, {theirs} for the other")
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
    """A play with slashes, from one typed with hyphens or as pairs of numbers."""
    place = r"(?:bar|off|\d{1,2})"
    words = re.split(r"[\s,;]+", text.strip())
    if len(words) % 2 == 0 and all(re.fullmatch(rf"{place}\*?", one) for one in words):
        return " ".join(f"{start}/{end}" for start, end in zip(words[::2], words[1::2], strict=True))
    return re.sub(rf"({place}\*?)\s*[->]+\s*(?={place})", r"\1/", text)
