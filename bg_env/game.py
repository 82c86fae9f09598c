"""`Game`: one game or match to look at, to play on, to take back and to search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bg_env import actions
from bg_env.actions import Event
from bg_env.checks import checked_die, checked_seed, is_player, is_whole
from bg_env.errors import IllegalActionError, OrderError, PositionError, SettingsError, quoted
from bg_env.game_history import Known, Past, flattened, history_of, last_move, linked, roll_event
from bg_env.game_state import (
    DONE,
    ILLEGAL,
    SIZE,
    Bytes,
    advance,
    roll_on,
    with_key_of,
    with_other_stream,
)
from bg_env.game_view import PHASE, Fixed, GameView, rules_of, why_illegal
from bg_env.notation.gnubg_ids import read_ids
from bg_env.notation.moves import find_play
from bg_env.notation.xgid import read_xgid
from bg_env.outcome import Ending, Outcome, outcome_of
from bg_env.position import Play, Position
from bg_env.records.record import Record
from bg_env.records.write import record_of
from bg_env.render.svg import board_svg
from bg_env.rules import (
    ACTIONS,
    OFF,
    STATE,
    Phase,
    Settings,
    States,
    Variant,
    episode_key,
    new_episode,
    resign,
    set_up,
    settle,
    variant_of,
)

__all__ = ["Ending", "Event", "Game", "Outcome", "last_move", "why_illegal"]


def _key(seed: int | None) -> np.uint64:
    """The random stream of an environment's first episode with this seed; 0 without a seed."""
    key: np.uint64 = np.uint64(0 if seed is None else episode_key(np.uint64(checked_seed(seed)), np.uint64(0)))
    return key


class Game(GameView):
    """One game, or one match, with its cube, score, dice and history.

    A game with a seed rolls its own dice as soon as they are due; a game without one waits in the chance phases for
    `apply_roll`. Players are 0 and 1; None stands for neither. Games are equal if their states (the random stream included) and
    their settings are; they can be copied and pickled, and copying is cheap.

    Args:
        variant: a variant or its name, or the settings to play under.
        seed: seed of its dice, 0 to 2**64 - 1: the game of an environment's first episode with that seed. None: no dice of its
            own.
        **settings: see `bg_env.Settings`; with a `Settings` value, the settings to change in it.

    Raises:
        SettingsError: the settings or the seed are refused.
    """

    __slots__ = ("_copies", "_known", "_others", "_past", "_seeded")
    _seeded: bool
    _past: Past | None
    _others: Past | None  # the last thing that was done before this copy was made, with another random stream
    _known: Known  # events that were asked for before
    _copies: int  # copies made, each of which gets another random stream

    def __init__(self, variant: str | Variant | Settings = "backgammon", *, seed: int | None = None, **settings: Any) -> None:
        if isinstance(variant, Settings):
            chosen = variant.but(**settings) if settings else variant
        else:
            chosen = Settings(variant, **settings)
        states = np.zeros(1, STATE)
        new_episode(states, 0, rules_of(chosen)[0], _key(seed))
        self._begin(states, chosen, seed is not None)

    def _begin(
        self, states: States, settings: Settings, seeded: bool, events: Sequence[Event] = (), first: States | None = None
    ) -> None:
        self._state = states.view(np.int8).copy()
        recorded_from, first = (len(events), self.states) if first is None else (0, first)
        self._fixed = Fixed(settings, *rules_of(settings), first, tuple(events), recorded_from)
        self._seeded = seeded
        self._past = self._others = None
        self._known = (None, ())
        self._copies = 0
        self._throw()

    @classmethod
    def new(cls, variant: str | Variant | Settings = "backgammon", *, seed: int | None = None, **settings: Any) -> Game:
        """The same as `Game(variant, seed=seed, **settings)`."""
        return cls(variant, seed=seed, **settings)

    @classmethod
    def from_position(
        cls, position: Position, dice: tuple[int, int] | None = None, *, seed: int | None = None, **settings: Any
    ) -> Game:
        """A game that goes on from a position; the mover is player 1, as at the bottom of an XGID.

        Args:
            position: where the checkers stand, which also gives the variant.
            dice: the roll that the mover has thrown; if it cannot play any of it, the turn passes (R3.3). None: its turn
                begins, so it may double first where the settings allow that, else its roll is due.
            seed: of the dice that follow; None: no dice of its own.
            **settings: see `bg_env.Settings`.

        Raises:
            PositionError: this is not a Position.
            IllegalActionError: these are not two dice.
            SettingsError: the settings or the seed are refused.
        """
        if not isinstance(position, Position):
            msg = f"a game starts from a bg_env.Position, not from {quoted(position)}"
            raise PositionError(msg)
        if variant_of(settings.setdefault("variant", position.variant)) != position.variant:
            msg = f"the position is one of {position.variant.name}: leave variant out, or give a position of the other"
            raise SettingsError(msg)
        chosen = Settings(**settings)
        try:
            d1, d2 = (0, 0) if dice is None else map(checked_die, dice)
        except (TypeError, ValueError) as error:
            if isinstance(error, IllegalActionError):
                raise
            msg = f"a roll is two dice from 1 to 6, not {quoted(dice)}"
            raise IllegalActionError(msg) from None
        states, rules = np.zeros(1, STATE), rules_of(chosen)[0]
        new_episode(states, 0, rules, _key(None))
        states["points"][0] = position.opponent, position.mover
        states["turn"] = 1
        set_up(states, 0, rules, d1, d2)
        return cls.from_states(states, chosen, seed=seed)

    @classmethod
    def from_xgid(cls, text: str, variant: str | Variant = "backgammon", *, seed: int | None = None) -> Game:
        """The game of an XGID; all settings come from it (field 10 is the cap).

        Raises:
            NotationError: this is not an XGID, or its game is impossible.
        """
        return cls.from_states(*read_xgid(text, variant), seed=seed)

    @classmethod
    def from_ids(
        cls, position_id: str, match_id: str, variant: str | Variant = "backgammon", *, seed: int | None = None
    ) -> Game:
        """The game of GNU Backgammon's position id and match id.

        Raises:
            NotationError: these are not such ids, or their game is impossible.
        """
        return cls.from_states(*read_ids(position_id, match_id, variant), seed=seed)

    @classmethod
    def from_states(
        cls,
        states: States,
        settings: Settings,
        *,
        seed: int | None = None,
        seeded: bool = False,
        events: Sequence[Event] = (),
        first: States | None = None,
    ) -> Game:
        """The game of a STATE record, of which a copy is taken; nothing is checked (see `bg_env.rules.check_state`).

        Args:
            states: STATE records (n,), of which the first is the game.
            settings: the settings in force.
            seed: seed of its dice from now on; None for the stream of the state if `seeded`, else for no dice of its own.
            seeded: whether it throws its own dice.
            events: the history before this state.
            first: the state with which `events`, and the match record, begin; None for this state.
        """
        states = states[:1].copy()
        if seed is not None:
            states["key"] = _key(seed)
        game = object.__new__(cls)
        game._begin(states, settings, seeded or seed is not None, events, first)
        return game

    # The past

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the game or match; None while it is in progress."""
        if not self.over:
            return None
        last = next((event for event in reversed(self.history) if event.roll is None), None)
        return outcome_of(self._states, self.settings, last)

    @property
    def history(self) -> tuple[Event, ...]:
        """The rolls, actions and resignations since the game was made, in order."""
        self._known = history_of(self._past, self._state, self._fixed.rules, self._known)
        return self._fixed.events + self._known[1]

    def record(self, players: tuple[str, str] = ("player_0", "player_1")) -> Record:
        """The record of the game or match from where it was made, for `.mat`, `.sgf` and JSON lines.

        See `bg_env.records.write_records`.

        Raises:
            OrderError: the game is over and its history is not known, as for an environment that did not record.
        """
        seen = self.history[self._fixed.recorded_from :]
        if self.over and not seen:
            msg = "nothing of this game was seen: call the environment's start_recording() before reset()"
            raise OrderError(msg)
        return record_of(self._fixed.first, self.settings, seen, players)

    # Actions, rolls and resignations

    def apply(self, action: int) -> None:
        """Take an action for the player who must act; a game with a seed then rolls the dice that are due.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
        """
        self._apply(action)

    def _apply(self, action: int, part: bool = False) -> int:
        """`apply`, `part` of a play; returns DONE, or ROLL_GOES_ON if there is more of the roll to play."""
        before, fixed = self._state, self._fixed
        number = action
        if type(action) is not int or not 0 <= action < ACTIONS:
            number = actions.checked(action, ACTIONS, fixed.settings.actions)
        after: Bytes = np.empty(SIZE, np.int8)
        done = advance(before, after, fixed.rule_bytes, number, self._seeded)
        if done == ILLEGAL:
            raise IllegalActionError(actions.why_illegal_text(self._states, 0, fixed.settings, number, fixed.rules))
        self._past = Past(self._past, before, number, part)
        self._state = after
        return done

    def apply_roll(self, d1: int, d2: int) -> None:
        """Give the dice of a chance phase; in OPENING `d1` is player 0's die.

        Raises:
            IllegalActionError: no dice are due, a die is not from 1 to 6, or a tie is thrown again (R2.1).
        """
        d1, d2 = checked_die(d1), checked_die(d2)
        phase = self._state.item(PHASE)
        if phase not in (Phase.OPENING, Phase.ROLL):
            msg = "no dice are due: the game is over" if self.over else f"no dice are due in {self.phase}: act first"
            raise IllegalActionError(msg)
        before, fixed = self._state, self._fixed
        after: Bytes = np.empty(SIZE, np.int8)
        if not roll_on(before, after, fixed.rule_bytes, d1, d2):
            msg = f"the opening throw {d1}-{d2} is a tie and is thrown again: give unequal dice (R2.1)"
            raise IllegalActionError(msg)
        self._past = Past(self._past, before, roll_event(self._states, d1, d2))
        self._state = after

    def _throw(self) -> None:
        """Throw the dice that are due, if the game has a stream of its own."""
        if self._seeded and self._state.item(PHASE) in (Phase.OPENING, Phase.ROLL):
            after = self.states
            settle(after, 0, self._fixed.rules)
            self._past = Past(self._past, self._state, None)
            self._state = after.view(np.int8)

    def play(self, play: Play | str) -> None:
        """Make a whole play, the next part of one, or a cube decision.

        Args:
            play: one of `legal_plays()`, or text: a whole play such as "8/5 6/5" or its beginning such as "13/11", in any
                order and style; or, where the phase asks for it, "roll", "double", "take", "drop", "beaver" or "3-3".

        Raises:
            NotationError: the text is neither.
            IllegalActionError: it is not legal; nothing has changed.
        """
        whole = isinstance(play, Play)
        if isinstance(play, Play):
            numbers = self._steps_of(play)
        elif self.phase == Phase.CHECKER:
            numbers = find_play(play, self._states, 0, self._fixed.rules)
        else:
            numbers = [actions.parse_action(play, self._states, 0)]
        before = self._state, self._past
        try:
            done = ILLEGAL
            for k, number in enumerate(numbers):
                done = self._apply(number, part=k > 0)
            if whole and done != DONE:
                msg = f"{quoted(str(play))} is only a part of the roll: a Play must finish it"
                raise IllegalActionError(msg)
        except IllegalActionError:
            self._state, self._past = before
            raise

    def _steps_of(self, play: Play) -> list[int]:
        """The actions of a play, if it leads from the present board to its result."""
        numbers = [step.action for step in play.steps]
        position = self.position
        own, other = list(position.mover), list(position.opponent)
        for source, die in map(actions.step_of, numbers):
            target = max(source - die, OFF)
            own[source] -= 1
            own[target] += 1
            if target > OFF and other[25 - target] == 1:
                other[25 - target] = 0
                other[25] += 1
        if (tuple(other), tuple(own), position.variant) != (play.result.mover, play.result.opponent, play.result.variant):
            msg = f"{quoted(str(play))} does not lead from here to the result that it states: take one of legal_plays()"
            raise IllegalActionError(msg)
        return numbers

    def resign(self, level: int, player: int | None = None) -> None:
        """Give up the game at `level` (1 single, 2 gammon, 3 backgammon) times the cube.

        Args:
            level: 1, 2 or 3; under Jacoby with a centred cube any level counts 1 (R8.5).
            player: the player who resigns, 0 or 1; None for `self.player`.

        Raises:
            IllegalActionError: there is no such level or player, nobody is on turn, or the game is over.
        """
        loser = self.player if player is None else player
        if self.over:
            msg = "nobody can resign: the game is over"
        elif not is_whole(level, 1, 3):
            msg = f"a game is resigned at level 1, 2 or 3, not {quoted(level)}"
        elif not is_player(loser):
            msg = f"player 0 or 1 resigns, not {quoted(loser)}; before the opening throw give player=0 or player=1"
        else:
            loser, after, rules = int(loser or 0), self.states, self._fixed.rules
            resign(after, 0, rules, loser, int(level))
            if self._seeded:
                settle(after, 0, rules)
            self._past = Past(self._past, self._state, Event(loser, level=int(level)))
            self._state = after.view(np.int8)
            return
        raise IllegalActionError(msg)

    def undo(self) -> None:
        """Take back the last call of `play`, `apply`, `apply_roll` or `resign`, with the dice that the game rolled after it.

        The same dice come again. (In a copy that takes back actions from before it was made, other dice come: a search must
        not see those of the game.)

        Raises:
            OrderError: nothing has been done since the game was made.
        """
        last, others = self._past, False
        while last is not None:
            others = others or last is self._others
            if last.done is not None and not last.part:
                break
            last = last.earlier
        if last is None:
            msg = "nothing can be taken back: nothing has been done since the game was made"
            raise OrderError(msg)
        state = last.state
        if others:
            state, self._others = with_key_of(state, self._state), last.earlier
        self._state, self._past = state, last.earlier

    # Copies

    def copy(self, seed: int | None = None) -> Game:
        """An independent copy; a search must not see the real dice, so the copy has another random stream.

        Args:
            seed: seed of the copy's dice. None: the copy of a game without a seed has none either; that of another game gets a
                stream derived from the game's, a different one for each copy.
        """
        twin = self.__copy__()
        twin._copies = 0
        if seed is None and not self._seeded:
            return twin
        twin._others = self._past
        if seed is None:
            twin._state = np.empty(SIZE, np.int8)
            with_other_stream(self._state, twin._state, self._copies)
            self._copies += 1
            return twin
        states = self.states
        states["key"] = _key(seed)
        twin._state, twin._seeded = states.view(np.int8), True
        twin._throw()
        return twin

    def __copy__(self) -> Game:
        """An equal but independent game, with the same dice to come; `copy` returns one with other dice."""
        twin = object.__new__(type(self))
        twin._fixed = self._fixed
        twin._state = self._state
        twin._seeded = self._seeded
        twin._past = self._past
        twin._others = self._others
        twin._known = self._known
        twin._copies = self._copies
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        fixed = self._fixed
        others, here = 0, self._others
        while here is not None:
            others, here = others + 1, here.earlier
        begun = fixed.settings, fixed.first, fixed.events, fixed.recorded_from
        return _restored, (type(self), begun, self._state, self._seeded, self._copies, others, *flattened(self._past))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        same = self.settings == other.settings and self._seeded == other._seeded
        return same and self._state.tobytes() == other._state.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def _repr_svg_(self) -> str:
        return board_svg(self._states, 0, self.settings, arrows=last_move(self.history))


def _restored(
    cls: type[Game],
    begun: tuple[Settings, States, tuple[Event, ...], int],
    state: Bytes,
    seeded: bool,
    copies: int,
    others: int,
    states: Bytes,
    done: list[tuple[int | Event | None, bool]],
) -> Game:
    """A game that was pickled; `others` is how many of the things done were done before the copy was made."""
    settings, first, events, recorded_from = begun
    game = object.__new__(cls)
    game._fixed = Fixed(settings, *rules_of(settings), first, events, recorded_from)
    steps = linked(states, done)
    game._state, game._seeded, game._copies, game._known = state, seeded, copies, (None, ())
    game._past = steps[-1] if steps else None
    game._others = steps[others - 1] if others else None
    return game
