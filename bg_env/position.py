"""The friendly objects: an immutable `Position` with its whole plays, and a `Game` over one STATE record."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env import actions
from bg_env.actions import Step
from bg_env.errors import IllegalActionError, PositionError, SettingsError
from bg_env.notation import ids, position_id, xgid
from bg_env.notation.moves import find_play, format_steps, steps_of
from bg_env.render.text import board_text, position_text
from bg_env.rules import (
    OFF,
    STATE,
    Phase,
    Settings,
    States,
    Variant,
    apply,
    apply_roll,
    check_board,
    episode_key,
    new_episode,
    plays,
    resign,
    set_up,
    settle,
    ties_double,
    variant_of,
    word,
)

__all__ = ["Event", "Game", "Play", "Position", "why_illegal"]

_COPY = 4
"""Domain of the keys of copies; see `rules.dice` for the others."""
MAX_SEED = 2**64 - 1


@functools.lru_cache(maxsize=64)
def _cubeless(variant: Variant) -> tuple[Settings, Any]:
    settings = Settings(variant, cube=False)
    return settings, settings.record()


def checked_die(die: Any) -> int:
    """A die as an int.

    Raises:
        IllegalActionError: not a number from 1 to 6.
    """
    if isinstance(die, (bool, np.bool_)) or not isinstance(die, (int, np.integer)) or not 1 <= die <= 6:
        msg = f"a die shows a number from 1 to 6, not {die!r}"
        raise IllegalActionError(msg)
    return int(die)


def checked_seed(seed: Any) -> int:
    """A seed as an int.

    Raises:
        SettingsError: not a number from 0 to 2**64 - 1.
    """
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        msg = f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}"
        raise SettingsError(msg)
    return int(seed)


@dataclass(frozen=True)
class Play:
    """A whole play of a roll.

    Attributes:
        steps: its checker steps in an order in which they are legal; empty if the player dances.
        result: the position after it, turned: the other side on roll.
    """

    steps: tuple[Step, ...]
    result: Position

    def __str__(self) -> str:
        return format_steps(self.steps)


class Position:
    """Where the checkers stand, seen by the player on roll; immutable, equal by value, hashable.

    Args:
        mover: 26 counts of the player on roll on its own numbering: index 0 borne off, 1-24 the points, 25 the bar.
        opponent: 26 counts of the other player on *its* own numbering.
        variant: a Variant or its name; it gives the number of checkers.

    Raises:
        PositionError: the placement cannot stand (see `rules.check_board`).
        SettingsError: no such variant.
    """

    __slots__ = ("_mover", "_opponent", "_variant")
    _mover: tuple[int, ...]
    _opponent: tuple[int, ...]
    _variant: Variant

    def __init__(self, mover: Sequence[int], opponent: Sequence[int], variant: str | Variant = "backgammon") -> None:
        chosen = variant_of(variant)
        try:
            sides = tuple(mover), tuple(opponent)
        except TypeError:
            msg = f"mover and opponent are sequences of 26 counts, not {type(mover).__name__} and {type(opponent).__name__}"
            raise PositionError(msg) from None
        check_board(*sides, chosen.checkers)
        self._fill(tuple(map(int, sides[0])), tuple(map(int, sides[1])), chosen)

    def _fill(self, mover: tuple[int, ...], opponent: tuple[int, ...], variant: Variant) -> None:
        for name, value in (("_mover", mover), ("_opponent", opponent), ("_variant", variant)):
            object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, mover: tuple[int, ...], opponent: tuple[int, ...], variant: Variant) -> Position:
        """A position that comes from the engine and needs no check."""
        position = cls.__new__(cls)
        position._fill(mover, opponent, variant)
        return position

    @classmethod
    def start(cls, variant: str | Variant = "backgammon") -> Position:
        """The start of a variant (R10)."""
        chosen = variant_of(variant)
        return cls._made(chosen.start, chosen.start, chosen)

    @classmethod
    def from_id(cls, text: str, variant: str | Variant = "backgammon") -> Position:
        """The position with this GNU Backgammon position id (14 characters).

        Raises:
            NotationError: no such id, or one that cannot stand in this variant.
        """
        chosen = variant_of(variant)
        return cls._made(*position_id.decode(text, chosen), chosen)

    @property
    def mover(self) -> tuple[int, ...]:
        """26 counts of the player on roll, on its own numbering (0 off, 25 the bar)."""
        return self._mover

    @property
    def opponent(self) -> tuple[int, ...]:
        """26 counts of the other player, on its own numbering."""
        return self._opponent

    @property
    def variant(self) -> Variant:
        """The variant, which gives the number of checkers and the start."""
        return self._variant

    @property
    def id(self) -> str:
        """The GNU Backgammon position id, seen by the player on roll.

        Raises:
            NotationError: a side has more than 15 checkers on the board.
        """
        return position_id.encode(self._mover, self._opponent)

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts of the player on roll and of the other."""
        return tuple(sum(point * n for point, n in enumerate(side)) for side in (self._mover, self._opponent))  # type: ignore[return-value]

    def turned(self) -> Position:
        """The same checkers with the other side on roll; turned twice it is the same position."""
        return self._made(self._opponent, self._mover, self._variant)

    def legal_plays(self, d1: int, d2: int) -> tuple[Play, ...]:
        """The distinct whole plays of a roll (R11.2), never empty: a dance is one play without steps.

        Of a 1-2 in Acey-Deucey these are the plays of the 1 and the 2 alone (R10.6).

        Raises:
            IllegalActionError: a die is not from 1 to 6, or the game is over.
        """
        d1, d2 = checked_die(d1), checked_die(d2)
        if self._mover[OFF] == self._variant.checkers or self._opponent[OFF] == self._variant.checkers:
            msg = "no roll can be played: a side has borne off all its checkers"
            raise IllegalActionError(msg)
        states = np.zeros(1, STATE)
        states["points"][0, 0], states["points"][0, 1] = self._mover, self._opponent
        _, rules = _cubeless(self._variant)
        set_up(states, 0, rules, d1, d2)
        if states[0]["phase"] != Phase.CHECKER:
            return (Play((), self.turned()),)
        _, steps, after = plays(states, rules)
        results = zip(steps.tolist(), after["points"].tolist(), strict=True)
        return tuple(self._play(states, row, points) for row, points in results)

    def _play(self, states: States, numbers: list[int], points: list[list[int]]) -> Play:
        return Play(steps_of(numbers, states, 0), self._made(tuple(points[1]), tuple(points[0]), self._variant))

    def _key(self) -> tuple[Any, ...]:
        return self._mover, self._opponent, self._variant

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Position) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a Position is immutable: {name} cannot be set"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"a Position is immutable: {name} cannot be deleted"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return Position._made, self._key()

    def __repr__(self) -> str:
        return f"<Position {self.id} of {self._variant.name}>"

    def __str__(self) -> str:
        return position_text(self._mover, self._opponent, self._variant)


class Event(NamedTuple):
    """One thing that happened in a game.

    Attributes:
        player: who rolled or acted; None for an opening tie (R2.2).
        roll: the dice of a roll, in the opening player 0's die first; None for an action.
        action: the action number; None for a roll, and for a resignation.
        level: the level resigned at; 0 for anything else.
    """

    player: int | None
    roll: tuple[int, int] | None = None
    action: int | None = None
    level: int = 0


_UNSEEDED = object()


class Game:
    """One game, or one match, with its cube, score and dice: a STATE record and the settings it is played under.

    Make one with `Game.new`, `Game.from_xgid` or `Game.from_ids`. A game with a seed throws its own dice at once whenever
    they are due; one without waits in the chance phases for `apply_roll`. Players are 0 and 1, None where nobody.

    Two games are equal when state (its random stream included) and settings are; they can be copied and pickled.
    """

    def __init__(self, states: States, settings: Settings, *, seeded: bool, history: Sequence[Event] = ()) -> None:
        self._states = states
        self._settings = settings
        self._rules = settings.record()
        self._seeded = seeded
        self._history = list(history)
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
        chosen = cls._settings_of(variant, settings)
        states = np.zeros(1, STATE)
        key = 0 if seed is None else int(episode_key(np.uint64(checked_seed(seed)), np.uint64(0)))
        new_episode(states, 0, chosen.record(), np.uint64(key))
        return cls(states, chosen, seeded=seed is not None)

    @staticmethod
    def _settings_of(variant: str | Variant, settings: dict[str, Any]) -> Settings:
        try:
            return Settings(variant, **settings)
        except TypeError:
            from bg_env.rules.variant import settings_names

            known = [name for name in settings_names() if name != "variant"]
            unknown = ", ".join(sorted(set(settings) - set(known)))
            msg = f"no setting is called {unknown}: choose from {', '.join(known)}"
            raise SettingsError(msg) from None

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
        return self._states.copy()

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
        number = actions.checked(action, 161)
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
            msg = f"no dice are due in phase {self.phase}: act first" if self.phase != Phase.OVER else "no dice are due: the game is over"
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
        from bg_env.rules import draw

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
        elif isinstance(level, bool) or level not in (1, 2, 3):
            msg = f"a game is resigned at level 1, 2 or 3, not {level!r}"
        elif loser not in (0, 1):
            msg = f"player 0 or 1 resigns, not {loser!r}; before the opening throw say which"
        else:
            self._history.append(Event(int(loser), level=int(level)))
            resign(self._states, 0, self._rules, int(loser), int(level))
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
        return Game(states, self._settings, seeded=self._seeded or seed is not None, history=self._history)

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


def why_illegal(game: Game, action: int) -> str | None:
    """Why `action` is illegal in `game` now, as a sentence that names the rule's clause; None if it is legal.

    Raises:
        IllegalActionError: `action` is no integer.
    """
    if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
        msg = f"an action is an integer, not {action!r}"
        raise IllegalActionError(msg)
    return actions.why_illegal_text(game._states, 0, game._settings, int(action), game._rules)
