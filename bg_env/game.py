"""A `Game`: the friendly object over one STATE record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bg_env import actions
from bg_env.actions import Event
from bg_env.checks import checked_die, checked_seed, is_player, is_whole
from bg_env.errors import IllegalActionError, OrderError, quoted
from bg_env.notation import ids, xgid
from bg_env.notation.moves import find_play
from bg_env.position import Position
from bg_env.records.record import Record
from bg_env.records.write import record_of
from bg_env.render.svg import board_svg
from bg_env.render.text import board_text
from bg_env.rules import (
    STATE,
    Phase,
    Settings,
    States,
    Variant,
    apply,
    apply_roll,
    draw,
    episode_key,
    new_episode,
    resign,
    ties_double,
    word,
)
from bg_env.rules.actions import ACTIONS

__all__ = ["Event", "Game", "last_move", "why_illegal"]

_COPY = 4
"""Domain of the keys of copies; see `rules.dice` for the others."""


class Game:
    """One game, or one match, with its cube, score and dice: a STATE record and the settings it is played under.

    Make one with `Game.new`, `Game.from_xgid` or `Game.from_ids`. A game with a seed throws its own dice at once whenever
    they are due; one without waits in the chance phases for `apply_roll`. Players are 0 and 1, None where nobody.

    Two games are equal when state (its random stream included) and settings are; they can be copied and pickled.
    """

    def __init__(
        self,
        states: States,
        settings: Settings,
        *,
        seeded: bool,
        history: Sequence[Event] = (),
        first: States | None = None,
    ) -> None:
        self._states = states
        self._settings = settings
        self._rules = settings.record()
        self._seeded = seeded
        self._history = list(history)
        self._first = states.copy() if first is None else first
        self._recorded_from = len(history) if first is None else 0
        self._copies = 0
        self._throw()

    @classmethod
    def new(cls, variant: str | Variant = "backgammon", *, seed: int | None = None, **settings: Any) -> Game:
        """A game or match from its opening throw.

        Args:
            variant: a Variant or its name.
            seed: of its dice, 0 to 2**64 - 1: the game of an environment's first episode with that seed. None: the game
                waits for `apply_roll` in chance phases.
            **settings: see `bg_env.Settings`.

        Raises:
            SettingsError: the settings or the seed are refused.
        """
        chosen = Settings(variant, **settings)
        states = np.zeros(1, STATE)
        key = 0 if seed is None else int(episode_key(np.uint64(checked_seed(seed)), np.uint64(0)))
        new_episode(states, 0, chosen.record(), np.uint64(key))
        return cls(states, chosen, seeded=seed is not None)

    @classmethod
    def from_xgid(cls, text: str, variant: str | Variant = "backgammon", *, seed: int | None = None) -> Game:
        """The game of an XGID; all settings come from it (field 10 is the cap).

        Raises:
            NotationError: no XGID, or one that cannot stand.
        """
        return cls._from_states(*xgid.read_xgid(text, variant), seed)

    @classmethod
    def from_ids(
        cls, position_id: str, match_id: str, variant: str | Variant = "backgammon", *, seed: int | None = None
    ) -> Game:
        """The game of GNU Backgammon's position id and match id.

        Raises:
            NotationError: no such ids, or a game that cannot stand.
        """
        return cls._from_states(*ids.read_ids(position_id, match_id, variant), seed)

    @classmethod
    def _from_states(cls, states: States, settings: Settings, seed: int | None) -> Game:
        if seed is not None:
            states["key"] = np.uint64(episode_key(np.uint64(checked_seed(seed)), np.uint64(0)))
        return cls(states, settings, seeded=seed is not None)

    # What it is

    @property
    def settings(self) -> Settings:
        """The settings it is played under."""
        return self._settings

    @property
    def states(self) -> States:
        """A copy of its state, as an array of one STATE record."""
        copied: States = self._states.copy()
        return copied

    @property
    def phase(self) -> Phase:
        """What it waits for; prints as its name."""
        return Phase(int(self._states[0]["phase"]))

    @property
    def player(self) -> int | None:
        """Who must act, or whose dice are due; None before the opening throw and at the end."""
        s = self._states[0]
        if s["phase"] == Phase.OVER or s["turn"] < 0:
            return None
        return int(s["decider"] if s["decider"] >= 0 else s["turn"])

    @property
    def _viewer(self) -> int:
        s = self._states[0]
        seen = int(s["winner"]) if s["phase"] == Phase.OVER and s["winner"] >= 0 else int(s["turn"])
        return max(seen, 0)

    @property
    def position(self) -> Position:
        """The checkers seen by the player on roll: player 0 before the opening throw, at the end the winner, not turned."""
        points, side = self._states[0]["points"].tolist(), self._viewer
        return Position._made(tuple(points[side]), tuple(points[1 - side]), self._settings.variant)

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice left to play, higher first."""
        s = self._states[0]
        return tuple(int(d) for d, n in zip(s["dice"], s["left"], strict=True) for _ in range(n))

    @property
    def cube(self) -> int:
        """What a single game is worth now: the cube's value, before its last turn while that waits for an answer."""
        s = self._states[0]
        return 1 << int(s["cube"]) + max(int(s["chain"]) - 1, 0)

    @property
    def cube_owner(self) -> int | None:
        """Who owns the cube; None while it is centred."""
        owner = int(self._states[0]["owner"])
        return None if owner < 0 else owner

    @property
    def score(self) -> tuple[int, int]:
        """Points of player 0 and 1 in the match; points beyond its length count in full."""
        return int(self._states[0]["score"][0]), int(self._states[0]["score"][1])

    @property
    def match_length(self) -> int:
        """Points to win the match; 0 in money play."""
        return self._settings.match_length

    @property
    def crawford(self) -> bool:
        """Whether this is the Crawford game (R9.2)."""
        return bool(self._states[0]["crawford"])

    @property
    def winner(self) -> int | None:
        """Who has won the game, of a match the match; None while it goes on and where the cap on turns ended it."""
        s = self._states[0]
        return int(s["winner"]) if s["phase"] == Phase.OVER and s["winner"] >= 0 and s["ending"] != 3 else None

    @property
    def points(self) -> int:
        """Points won by the winner in the last game; 0 while there is none."""
        return 0 if self.winner is None else int(self._states[0]["won"])

    @property
    def history(self) -> tuple[Event, ...]:
        """What has happened since the game was made, rolls and actions in order."""
        return tuple(self._history)

    @property
    def xgid(self) -> str:
        """The XGID; player 1 is its bottom player.

        Raises:
            NotationError: it cannot hold the state.
        """
        return xgid.write_xgid(self._states, 0, self._settings)

    @property
    def position_id(self) -> str:
        """GNU Backgammon's position id, seen by the player on roll."""
        return self.position.id

    @property
    def match_id(self) -> str:
        """GNU Backgammon's match id.

        Raises:
            NotationError: it cannot hold the state.
        """
        return ids.write_match_id(self._states, 0, self._settings)

    def record(self, players: tuple[str, str] = ("player_0", "player_1")) -> Record:
        """The record of the game or match from where it was made, for `.mat`, `.sgf` and JSON lines.

        See `bg_env.records.check.write_records`.

        Raises:
            OrderError: the game is over and nothing of it was seen, as of an environment that did not record.
        """
        if self.phase == Phase.OVER and len(self._history) == self._recorded_from:
            msg = "nothing of this game was seen: call the environment's start_recording() before reset()"
            raise OrderError(msg)
        return record_of(self._first, self._settings, self._history[self._recorded_from :], players)

    # What can happen

    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions, ascending; empty in chance phases and at the end."""
        return actions.legal_actions(self._states, 0, self._rules)

    def chance(self) -> list[tuple[tuple[int, int], float]]:
        """The rolls of a chance phase with their probabilities, which sum to 1; else [].

        ROLL: 21 rolls, higher die first. OPENING: 30 ordered pairs (player 0's die first), 36 while ties double the cube.
        """
        if self.phase == Phase.ROLL:
            return [((a, b), (1 if a == b else 2) / 36) for a in range(1, 7) for b in range(1, a + 1)]
        if self.phase == Phase.OPENING:
            ties = bool(ties_double(self._states, 0, self._rules))
            return [((a, b), 1 / (36 if ties else 30)) for a in range(1, 7) for b in range(1, 7) if ties or a != b]
        return []

    # What happens

    def apply(self, action: int) -> None:
        """Do an action for the player who must act; a game with a seed then throws the dice that are due.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
        """
        number = actions.checked(action, ACTIONS)
        reason = actions.why_illegal_text(self._states, 0, self._settings, number, self._rules)
        if reason is not None:
            raise IllegalActionError(reason)
        self._history.append(Event(int(self._states[0]["decider"]), action=number))
        apply(self._states, 0, self._rules, number)
        self._throw()

    def apply_roll(self, d1: int, d2: int) -> None:
        """Give the dice of a chance phase; in OPENING `d1` is player 0's die.

        Raises:
            IllegalActionError: no dice are due, a die is not from 1 to 6, or a tie is thrown again (R2.1).
        """
        d1, d2 = checked_die(d1), checked_die(d2)
        if self.phase not in (Phase.OPENING, Phase.ROLL):
            msg = (
                "no dice are due: the game is over"
                if self.phase == Phase.OVER
                else f"no dice are due in {self.phase}: act first"
            )
            raise IllegalActionError(msg)
        self._roll(d1, d2)
        self._throw()

    def _roll(self, d1: int, d2: int) -> None:
        opening = self.phase == Phase.OPENING
        if opening and d1 == d2 and not ties_double(self._states, 0, self._rules):
            msg = f"the opening throw {d1}-{d2} is a tie and is thrown again: give unequal dice (R2.1)"
            raise IllegalActionError(msg)
        starter = None if d1 == d2 else int(d2 > d1)
        player = starter if opening else int(self._states[0]["turn"])
        self._history.append(Event(player, roll=(d1, d2)))
        apply_roll(self._states, 0, self._rules, d1, d2)

    def _throw(self) -> None:
        """Throw the dice that are due, if the game has a stream of its own."""
        s = self._states
        while self._seeded and s[0]["phase"] in (Phase.OPENING, Phase.ROLL):
            unequal = s[0]["phase"] == Phase.OPENING and not ties_double(s, 0, self._rules)
            d1, d2 = draw(s[0]["key"], s[0]["rolls"], bool(unequal))
            s["rolls"] += 1
            self._roll(int(d1), int(d2))

    def play(self, text: str) -> None:
        """Do what `text` says: a whole play such as "8/5 6/5", or an action such as "double" or "13/8".

        Raises:
            NotationError: it is neither.
            IllegalActionError: it is not legal; nothing has changed.
        """
        if self.phase == Phase.CHECKER:
            numbers = find_play(text, self._states, 0, self._rules)
        else:
            numbers = [actions.parse_action(text, self._states, 0)]
        for number in numbers:
            self.apply(number)

    def resign(self, level: int, player: int | None = None) -> None:
        """Give up the game at `level` (1 single, 2 gammon, 3 backgammon) times the cube.

        Args:
            level: 1, 2 or 3; under Jacoby with a centred cube any level counts 1 (R8.5).
            player: who resigns, 0 or 1; None for `self.player`.

        Raises:
            IllegalActionError: no such level or player, nobody is on turn, or the game is over.
        """
        loser = self.player if player is None else player
        if self.phase == Phase.OVER:
            msg = "nobody can resign: the game is over"
        elif not is_whole(level, 1, 3):
            msg = f"a game is resigned at level 1, 2 or 3, not {quoted(level)}"
        elif not is_player(loser):
            msg = f"player 0 or 1 resigns, not {quoted(loser)}; before the opening throw say which"
        else:
            loser = int(loser or 0)
            self._history.append(Event(loser, level=int(level)))
            resign(self._states, 0, self._rules, loser, int(level))
            self._throw()
            return
        raise IllegalActionError(msg)

    def copy(self, seed: int | None = None) -> Game:
        """A copy that goes its own way: a search must not see the real dice, so its stream is another one.

        Args:
            seed: of the copy's dice. None: a game without a seed stays without; another gets a stream made from its own,
                a different one for each copy.
        """
        states = self._states.copy()
        if seed is not None:
            states["key"] = np.uint64(episode_key(np.uint64(checked_seed(seed)), np.uint64(0)))
        elif self._seeded:
            states["key"] = np.uint64(word(states[0]["key"], np.uint64(_COPY), np.uint64(self._copies)))
            self._copies += 1
        seeded = self._seeded or seed is not None
        copied = Game(states, self._settings, seeded=seeded, history=self._history, first=self._first)
        copied._recorded_from = self._recorded_from
        return copied

    def __copy__(self) -> Game:
        """An equal game that goes its own way, with the same dice to come; `copy` gives one with other dice."""
        twin: Game = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states, twin._history = self._states.copy(), list(self._history)
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        same = self._settings == other._settings and self._seeded == other._seeded
        return same and self._states.tobytes() == other._states.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Game of {self._settings}: {self.phase}, player {self.player}, score {self.score[0]}-{self.score[1]}>"

    def __str__(self) -> str:
        return board_text(self._states, 0, self._settings)

    def _repr_svg_(self) -> str:
        return board_svg(self._states, 0, self._settings, arrows=last_move(self._history))


def last_move(history: Sequence[Event]) -> tuple[tuple[int, int, int], ...]:
    """The checker steps of the turn that was played last: (player, from, to), 25 the bar, 0 off, for arrows in pictures."""
    arrows: list[tuple[int, int, int]] = []
    for event in reversed(history):
        if event.action is not None and event.action < actions.STEPS and event.player is not None:
            if arrows and arrows[0][0] != event.player:
                break
            source, die = actions.step_of(event.action)
            arrows.insert(0, (event.player, source, max(source - die, 0)))
        elif arrows and event.roll is not None:
            break
    return tuple(arrows)


def why_illegal(game: Game, action: int | str) -> str | None:
    """Why `action` is illegal in `game` now, as a sentence that names the rule's clause; None if it is legal.

    Args:
        game: the game.
        action: an action number, or its text: "8/4", "double".

    Raises:
        NotationError: the text is no action.
        IllegalActionError: `action` is neither text nor an integer.
    """
    if isinstance(action, str):
        action = actions.parse_action(action, game._states, 0)
    if not is_whole(action):
        msg = f"an action is an integer, not {quoted(action)}"
        raise IllegalActionError(msg)
    return actions.why_illegal_text(game._states, 0, game._settings, int(action), game._rules)
