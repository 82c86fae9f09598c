"""Functions from text to text, such as language models, as players of the arena and of environments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_flag, checked_name, checked_whole
from bg_env.errors import BgEnvError, IllegalActionError, OrderError, SettingsError, quoted
from bg_env.game import Game
from bg_env.players.protocol import FORFEIT
from bg_env.rules import Phase, Settings, States
from bg_env.text.choices import Unit
from bg_env.text.prompts import prompt
from bg_env.text.reply import Reply, parse_reply

__all__ = ["Counts", "TextPlayer", "again"]

_FORFEITS: Final = ("game", "random", "raise")
_STEPS: Final = 4
_SHOWN: Final = 200
_MOST_RETRIES: Final = 100

Words = npt.NDArray[np.uint64]


@dataclass
class Counts:
    """Numbers of a text player's decisions and replies, to be read at any time.

    Attributes:
        decisions: plays and actions that it was asked for.
        replies: replies that it gave, the refused ones included.
        refused: refused replies by kind of fault, see `Reply.fault`.
        forfeits: decisions without a legal reply after all retries.
    """

    decisions: int = 0
    replies: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    forfeits: int = 0

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(self.refused.items()))
        refused = f", {self.refused.total():,} refused ({kinds})" if kinds else ""
        return f"{self.decisions:,} decisions, {self.replies:,} replies{refused}, {self.forfeits:,} forfeits"


def again(asked: str, reply: str | None, reason: str) -> str:
    """A prompt with a refused reply and the reason, which asks for another.

    Args:
        asked: the prompt.
        reply: the refused reply, of which the end is shown.
        reason: `Reply.reason`.
    """
    end = (reply or "").strip()
    shown = end if len(end) <= _SHOWN else f"...{end[-_SHOWN:]}"
    return f"{asked}\n\nYour reply was refused.\nReply: {shown}\nReason: {reason}\nReply again."


class TextPlayer:
    """A function from a prompt to a reply as a player.

    A reply that is refused is followed by the same prompt with the reason, `retries` times at most. Then the player forfeits.

    Args:
        function: called with a prompt, see `bg_env.text.prompt`; returns the reply, or None for no reply. With `batch`, called
            with a list of prompts, of all games that wait at the same time, and returns a list of as many replies.
        retries: further replies after a refused one, 0 to 100.
        forfeit: the effect of a forfeit: "game" (in the arena the player loses three times the stake, and the result counts
            such games apart), "random" (a random legal choice is made for it), or "raise" (an IllegalActionError). Environments
            know no forfeits of an opponent: give it "random" there.
        legal: as of `prompt`.
        board: as of `prompt`.
        batch: whether the function takes and returns lists.
        name: the player's name; None for that of the function.
        settings: the settings in force; None until `bind` is called.

    Attributes:
        counts: its `Counts`, shared with the players that `bind` returns.

    Raises:
        SettingsError: an argument is something else.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        retries: int = 2,
        forfeit: str = "game",
        legal: bool | int = False,
        board: bool = True,
        batch: bool = False,
        name: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        if not callable(function):
            msg = f"a function from a prompt to a reply is needed, not {quoted(function)}"
            raise SettingsError(msg)
        if not isinstance(forfeit, str) or forfeit not in _FORFEITS:
            msg = f"forfeit is one of {', '.join(map(repr, _FORFEITS))}, not {quoted(forfeit)}"
            raise SettingsError(msg)
        self.function = function
        self.retries = checked_whole("retries", retries, 0, _MOST_RETRIES)
        self.forfeit = forfeit
        self.legal = legal if isinstance(legal, (bool, np.bool_)) else checked_whole("legal", legal, 0)
        self.board = checked_flag("board", board)
        self.batch = checked_flag("batch", batch)
        given = name or getattr(function, "name", None) or getattr(function, "__name__", None) or type(function).__name__
        self.name = checked_name("the player's", given)
        self.settings = settings
        self.counts = Counts()

    def bind(self, settings: Settings) -> TextPlayer:
        """The player under these settings, with the same counts."""
        bound = TextPlayer(
            self.function,
            retries=self.retries,
            forfeit=self.forfeit,
            legal=self.legal,
            board=self.board,
            batch=self.batch,
            name=self.name,
            settings=settings,
        )
        bound.counts = self.counts
        return bound

    def choose_plays(self, states: States, words: Words) -> npt.NDArray[np.int64]:
        """Whole plays by the replies; see `bg_env.PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
            IllegalActionError: a forfeit, under `forfeit="raise"`.
            NotationError: the function returned something else than text.
        """
        chosen = np.full((len(states), _STEPS), -1, np.int64)
        for i, actions in enumerate(self._decide(states, words, "play")):
            chosen[i, : len(actions)] = actions
        return chosen

    def choose(self, states: States, words: Words) -> npt.NDArray[np.int64]:
        """Actions by the replies, where a roll waits single steps; see `bg_env.Player.choose`.

        Raises:
            BgEnvError: as of `choose_plays`.
        """
        return np.array([actions[0] for actions in self._decide(states, words, "step")], np.int64)

    def _decide(self, states: States, words: Words, unit: Unit) -> list[tuple[int, ...]]:
        """The actions of each choice; (FORFEIT,) for a forfeit."""
        if self.settings is None:
            msg = f"player {self.name} must know the settings: give them to it, or use what its bind(settings) returns"
            raise OrderError(msg)
        games = [Game.from_states(states[i : i + 1], self.settings) for i in range(len(states))]
        asked = [prompt(game, legal=self.legal, board=self.board, unit=unit) for game in games]
        todo = dict(enumerate(asked))
        found: dict[int, Reply] = {}
        self.counts.decisions += len(games)
        for _ in range(1 + self.retries):
            if not todo:
                break
            replies = self._replies(list(todo.values()))
            for i, text in zip(list(todo), replies, strict=True):
                reply = found[i] = parse_reply(games[i], text, unit=unit)
                self.counts.replies += 1
                if reply.legal:
                    del todo[i]
                else:
                    self.counts.refused[str(reply.fault)] += 1
                    todo[i] = again(asked[i], text, str(reply.reason))
        self.counts.forfeits += len(todo)
        if todo and self.forfeit == "raise":
            first = next(iter(todo))
            msg = f"{self.name} gave no legal reply in {1 + self.retries}: {found[first].reason}"
            raise IllegalActionError(msg)
        return [found[i].actions if found[i].legal else self._forfeited(games[i], words[i], unit) for i in range(len(games))]

    def _replies(self, prompts: list[str]) -> Sequence[Any]:
        if not self.batch:
            return [self.function(text) for text in prompts]
        replies = self.function(prompts)
        if not isinstance(replies, (list, tuple)) or len(replies) != len(prompts):
            got = f"{len(replies)}" if isinstance(replies, (list, tuple)) else quoted(replies)
            msg = f"{self.name} must return a list of {len(prompts)} replies, one for each prompt, not {got}"
            raise BgEnvError(msg)
        return replies

    def _forfeited(self, game: Game, word: Any, unit: Unit) -> tuple[int, ...]:
        if self.forfeit == "game":
            return (FORFEIT,)
        if unit == "play" and game.phase == Phase.CHECKER:
            plays = game.legal_plays()
            return tuple(step.action for step in plays[int(word) % len(plays)].steps)
        legal = game.legal_actions()
        return (legal[int(word) % len(legal)],)

    def __repr__(self) -> str:
        return f"<TextPlayer {self.name}: {self.counts}>"
