"""Games in a terminal, as text: a person against a player, or two players to watch."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bg_env import actions
from bg_env.cli.hint import hint_lines
from bg_env.cli.story import LEVELS, Story
from bg_env.errors import BgEnvError, IllegalActionError, NotationError
from bg_env.game import Game
from bg_env.notation.moves import find_play, format_actions
from bg_env.players import Player, PlayPlayer, ask
from bg_env.render.text import board_text
from bg_env.rules import CHOICE, Phase, States, plays, word

__all__ = ["Screen", "Story", "choose", "play", "watch"]

HELP: Final = """\
Plays:       8/5 6/5   24/18*/13   8/5(2)   bar/22   6/off  also 8-5, 8 5 6 5
             whole or one step at a time; list numbers them, #3 plays the third
Undo:        undo takes back the steps of a roll; before the first step, your
             last decision and all that followed it (the same dice come again)
The cube:    roll (or Enter), double, take, drop, beaver
Information: hint, board, pips, id
The end:     resign, resign gammon, resign backgammon (it asks again), quit"""

_SHORT: Final = {"r": "roll", "d": "double", "t": "take", "y": "take", "yes": "take", "n": "drop", "no": "drop", "pass": "drop"}
_HINTS: Final = 5
"""Choices of a hint, with their equities."""


class _Quit(Exception):  # noqa: N818 - not an error
    """The person leaves the game."""


@dataclass
class Screen:
    """Input and output of a game, and how boards are drawn.

    Attributes:
        print: prints a text.
        ask: prints a prompt and returns the answer; raises EOFError at the end of the input.
        names: names of players 0 and 1.
        seat: the player at the bottom of the board; None for the player on roll.
        colour: whether to use colour.
        unicode: whether to draw with characters beyond ASCII.
        width: characters in a line of prose; None for no limit.
    """

    print: Callable[[str], object]
    ask: Callable[[str], str]
    names: tuple[str, str]
    seat: int | None = None
    colour: bool = False
    unicode: bool = True
    width: int | None = None

    def say(self, text: str) -> None:
        """Print prose, with line breaks between words only."""
        if self.width is not None:
            text = "\n".join(_wrapped(line, self.width) for line in text.split("\n"))
        self.print(text)

    def board(self, game: Game) -> None:
        """Print the board without the result, which the story prints."""
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
        self.print(f"\n{text}\n")


def _wrapped(line: str, width: int) -> str:
    """A line broken between words, the rest indented as it is; words that are longer stay whole."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


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
                if person.decide():
                    story = Story(start, game.settings, screen.names)
                    story.news(game)  # which has been printed
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
        self._asked: list[int] = []

    def decide(self) -> bool:
        """Ask for one decision, or for the play of a whole roll; whether an earlier decision was taken back instead."""
        now = len(self.game.history)
        self._asked = [*(before for before in self._asked if before < now), now]
        self.screen.board(self.game)
        if self.game.phase == Phase.CHECKER:
            self._roll()
        else:
            self._decision()
        return len(self.game.history) < now

    def _take_back(self) -> bool:
        """Take back the last decision and all that followed it; whether there was one."""
        if len(self._asked) < 2:
            self.screen.say("nothing to take back: you have decided nothing yet")
            return False
        before = self._asked[-2]
        while len(self.game.history) > before:
            self.game.undo()
        self.screen.say("taken back: your last decision, and all that followed it")
        return True

    def _decision(self) -> None:
        """Ask for one action other than a step."""
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
                if self._take_back():
                    return
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
                if not done:
                    if self._take_back():
                        return
                    continue
                self.screen.say("taken back")
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
        """Carry out a command that is not a move of the game; returns whether `text` was such a command."""
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
            elif self.screen.ask(f"resign {LEVELS[level]}? yes or no> ").strip().lower() in ("yes", "y"):
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
            would = f"{name} would play {format_actions(chosen, ahead.states, 0)}"
        else:
            would = f"{name} would {actions.action_text(chosen[0])}"
        try:
            best = ahead.hints(self.adviser)[:_HINTS]
        except BgEnvError:  # a player without values
            return would
        return "\n".join([would, *hint_lines(best)])


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
