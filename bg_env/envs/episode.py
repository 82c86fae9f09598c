"""A batch of one game, episode by episode: the engine of the environments of one game.

Every environment plays by `bg_env.batch`, so a game is the same alone and in any batch; `bg_env.envs.vector` has the order in
which random words are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.actions import Event, why_illegal_text
from bg_env.batch.batch import Games
from bg_env.batch.info import Info, info_dict
from bg_env.batch.layout import OTHER_OPPONENT, RANDOM_OPPONENT
from bg_env.batch.one_game import FINISH, GAME, WAITING, random_step, roll_once, step_once
from bg_env.batch.opponents import opponent_kind, reply_once
from bg_env.checks import checked_seed
from bg_env.errors import BgEnvError, IllegalActionError
from bg_env.game import Game
from bg_env.observations import default_seat, write_rows
from bg_env.options import EnvOptions
from bg_env.records.record import Record
from bg_env.records.write import record_of
from bg_env.reset_options import Start, start_from
from bg_env.rules import COPY, END_TRUNCATED, STATE, Phase, Settings, States, apply, illegal_reason, word

__all__ = ["Episode"]

_SEATS = (np.zeros(1, np.int8), np.ones(1, np.int8))
_ALL = np.ones(1, np.bool_)
_NO_REPORT: Final[Any] = None
_NO_VIEW: Final[Any] = None


class Episode(Games):
    """The game of an environment, the opponent included; player 1's reward is the negative of player 0's.

    Args:
        options: of the environment.
        opponent: None for self-play; see `bg_env.batch.opponents.batch_opponent`.
        seat: the learner's: 0, 1, or None for a bit of each episode's key.

    Attributes:
        player: who acts next; -1 before the first episode and when the episode is over.
        records: of the episodes that have ended; None if none are made.
    """

    def __init__(self, options: EnvOptions, *, opponent: Any = None, seat: int | None = None) -> None:
        self._actions: list[int] | None = None
        self._start: Start | None = None
        self._drawn = options.render_mode in ("rgb_array", "human")
        self._copies = 0
        super().__init__(options, 1, opponent=opponent, seat=seat, same_step=False, limit=0, threads=1)
        self.player = -1
        self.records: list[Record] | None = None
        self._memory = np.zeros(1, GAME)
        for name in ("states", "slots", "rules", "plan", "sets"):
            self._memory[name] = getattr(self, name)
        self._memory["ended"]["winner"] = -1
        self._mask = np.zeros((1, options.settings.actions), np.int8)
        self._raises = options.illegal == "raise"
        encoder = options.encoder
        self._rows, self._flat = (1, encoder.size), len(encoder.shape) == 1
        self._link()

    def _link(self) -> None:
        """Let the arrays of the batch, and others that are used in every step, be views of the game's memory."""
        memory = self._memory
        self.states, self.slots, self.plan = memory["states"], memory["slots"], memory["plan"]
        self.sets: npt.NDArray[np.int32] = memory["sets"]
        self.start = memory["start"]
        self.ended = memory["ended"][: len(self.ended)]
        self._info, self._bytes = memory["info"][0], memory.view(np.int8)
        self._values, self._legal = self._info[:, 0], self._mask[0]
        self._write = self.options.encoder.kernel

    def __getstate__(self) -> dict[str, Any]:
        views = ("states", "slots", "plan", "sets", "start", "_info", "_bytes", "_values", "_legal", "_write")
        return {name: value for name, value in super().__getstate__().items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._link()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.options.settings

    # What happens ---

    def set_opponent(self, opponent: Any) -> None:
        """Play against `opponent` from its next decision on."""
        super().set_opponent(opponent)
        self._find_way()

    def _find_way(self) -> None:
        """Choose how the opponent is asked: by `reply_once` where its actions are kept, else by a kernel if there is one."""
        keeps, custom = self._actions is not None, len(self.ended) > 0
        kind = OTHER_OPPONENT if keeps and self.opponent is not None else opponent_kind(self.opponent)
        self.plan["opponent"] = kind
        self._asks = kind == OTHER_OPPONENT
        self._random = kind == RANDOM_OPPONENT and not custom
        self._careful = self._asks or keeps or custom

    def save(self) -> tuple[Any, ...]:
        """Everything that a step or a reset changes, for `restore`."""
        return self._memory.tobytes(), self._mask.tobytes(), self.player, self._flags()

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Return to the moment when `saved` was saved."""
        self.torn, self.begun = True, False
        memory, mask, self.player, flags = saved
        self._bytes[:], self._legal[:] = np.frombuffer(memory, np.int8), np.frombuffer(mask, np.int8)
        self._put_back(flags)

    def mark(self) -> tuple[Any, ...]:
        """All that `act` changes, for `go_back`."""
        actions = None if self._actions is None else len(self._actions)
        records = None if self.records is None else len(self.records)
        return self.save(), actions, records

    def go_back(self, mark: tuple[Any, ...]) -> None:
        """Return to the moment when `mark` was made, before one `act`."""
        self.torn, self.begun = True, False
        saved, actions, records = mark
        if self._actions is not None:
            del self._actions[actions:]
        if self.records is not None:
            del self.records[records:]
        self.restore(saved)

    def record_from_now(self) -> None:
        """Make a record of each episode that begins from now on."""
        if self.records is None:
            self.records = []

    def go_to(self, seed: int, episode: int) -> None:
        """Let the next `reset` without a seed begin the episode number `episode` of `seed`."""
        self.slots["seed"], self.slots["episode"] = seed, episode - 1

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode; the opponent acts if it is its turn.

        Args:
            seed: 0 to 2**64 - 1. None: the next episode since the last seed (a random one if there was none).
            options: see `bg_env.reset_options.start_from`.

        Raises:
            BgEnvError: the seed or an option is refused, or the opponent chose something illegal; nothing has changed.
        """
        keeps = self.records is not None or self._drawn
        start = start_from(options, self.settings) if keeps else None
        if seed is not None:
            seed = checked_seed(seed)
        actions = self._actions
        try:
            self._actions = [] if keeps else None
            self._find_way()
            self.begin(_ALL, seed, {} if options is None else options, _NO_REPORT, _NO_VIEW)
            self._start, self._copies = start, 0
            self._record()
        except BaseException as error:
            as_before = self.undone is error
            flags = self.begun, self.torn
            self.torn, self.begun = True, False
            if as_before or isinstance(error, BgEnvError):
                self._actions = actions
                self._find_way()
                self.begun, self.torn = flags
                self.undone = error
            raise

    def _begin_due(self, actions: Any, report: Any, view: Any) -> None:  # noqa: ARG002 - the game has its own
        self._turn(0)
        if self.custom_view:  # a trial: what is wrong with it is to be found while the game can be put back
            self._try_encoder()

    def _turn(self, action: int) -> float:
        """Do an action or begin an episode that is due, let the opponent answer; player 0's reward."""
        step = random_step if self._random else step_once
        reward, player = step(self._bytes, self.dice, action, self._mask)
        if player == WAITING:
            self._reply(self._info)
            reward, player = step_once(self._bytes, self.dice, FINISH, self._mask)
        self.player = player
        return reward

    def act(self, action: int) -> float:
        """Take an action of the player who decides, and let the opponent answer; returns player 0's reward.

        An action that is not legal loses the game, and so the episode. After an end that nobody has seen (the learner had no
        decision) the action is ignored and the reward of that end returned.

        Raises:
            IllegalActionError: under `illegal="raise"`, the action is not legal; or the opponent chose an illegal one; nothing
                has changed.
            BaseException: an interrupt; the environment must take the game for torn, unless this is `undone`.
        """
        if self._raises and self.player >= 0 and not self._legal[action]:
            raise IllegalActionError(why_illegal_text(self.states, 0, self.settings, action, self.rules))
        if self._careful:
            return self._act_carefully(action)
        return self._turn(action)

    def _act_carefully(self, action: int) -> float:
        """`act` where the actions are kept or the opponent may fail."""
        before, player = self.mark(), self.player
        try:
            if self._actions is not None and player >= 0:
                self._actions.append(action)
            reward = self._turn(action)
            if player >= 0:
                self._record()
        except BaseException as error:
            self.torn, self.begun = True, False
            self.go_back(before)
            self.undone = error
            raise
        return reward

    def _ask_opponent(self, info: Info) -> None:
        if self.opponent is None or not self._asks:
            super()._ask_opponent(info)
            return
        while (choices := reply_once(self._batch, self.opponent, self.options, info, 0, 1)) is not None:
            if self._actions is not None:
                self._actions += choices.only()

    # What is seen ---

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return self.player < 0

    @property
    def truncated(self) -> bool:
        """Whether the cap on turns has ended it (R11.1)."""
        return bool(self.states["ending"][0] == END_TRUNCATED)

    @property
    def seat(self) -> int | None:
        """The learner's seat in this episode; None in self-play and before the first one."""
        return int(self.slots["seat"][0]) if self.begun and self.opponent is not None else None

    @property
    def viewer(self) -> int:
        """The seat that observations are for: the learner's; in self-play the one that decides, at the end the winner's."""
        seat = self.seat
        return int(default_seat(self.states, 0)) if seat is None else seat

    def observation(self, seat: int) -> npt.NDArray[np.float32]:
        """A new array: the board as `seat` sees it, at any time.

        Raises:
            SettingsError: a user's encoder raised an error.
        """
        out = np.empty(self._rows, np.float32)
        if self.custom_view:
            write_rows(self.options.encoder, self.states, self.rules, _SEATS[seat], out)
        else:
            self._write(self.states, self.rules, _SEATS[seat], out)
        return out[0] if self._flat else out.reshape(self.options.encoder.shape)

    def mask(self, seat: int) -> npt.NDArray[np.int8]:
        """A new array, int8 (actions,): the legal actions of `seat`; zeros while the other decides, ones at the end."""
        if self.player == seat:
            legal: npt.NDArray[np.int8] = self._legal.copy()
            return legal
        return np.ones(len(self._legal), np.int8) if self.player < 0 else np.zeros(len(self._legal), np.int8)

    def infos(self) -> dict[str, Any]:
        """A new dict of INFO_KEYS."""
        return info_dict(self._values.tolist())

    # What has happened ---

    def _first(self, start: Start) -> States:
        """The state in which the episode began, before its opening throw."""
        states = np.zeros(1, STATE)
        start.make(states, self.rules, self.settings, int(self.states["key"][0]))
        return states

    @property
    def events(self) -> list[Event]:
        """The rolls and actions of the episode, in order; [] where actions are not kept (`record_from_now`).

        The rolls are thrown again: they follow from the dice given in advance, from the episode's stream and from the actions.
        """
        if self._actions is None or self._start is None:
            return []
        start, memory = self._start, np.zeros(1, GAME)
        memory["states"], memory["rules"] = self._first(start), self.rules
        dice = np.array(start.dice, np.int64).reshape(-1, 2)
        states, slots = memory["states"], memory["slots"]
        slots["queue_end"], slots["starter"] = len(dice), -1 if start.starter is None else start.starter
        events: list[Event] = []
        for action in (*self._actions, None):
            while states["phase"][0] in (Phase.OPENING, Phase.ROLL):
                opening, turn = states["phase"][0] == Phase.OPENING, int(states["turn"][0])
                d1, d2 = roll_once(memory.view(np.int8), dice)
                starter = None if d1 == d2 else int(d2 > d1)
                events.append(Event(starter if opening else turn, roll=(d1, d2)))
            if action is None:
                break
            events.append(Event(int(states["decider"][0]), action=action))
            if illegal_reason(states, 0, self.rules, action):
                break
            apply(states, 0, self.rules, action)
        return events

    def _record(self) -> None:
        """Add the record of the episode, if it is over and was followed from its beginning."""
        if self.over and self.records is not None and self._actions is not None and self._start is not None:
            self.records.append(record_of(self._first(self._start), self.settings, self.events))

    def game(self) -> Game:
        """A `Game` of the present state; its dice to come are its own, and differ at each access (see `Game.copy`)."""
        states = self.states.copy()
        states["key"] = word(states["key"][0], np.uint64(COPY), np.uint64(self._copies))
        self._copies += 1
        first = None if self._start is None else self._first(self._start)
        return Game.from_states(states, self.settings, seeded=True, events=self.events, first=first)
