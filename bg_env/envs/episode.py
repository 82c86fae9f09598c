"""One game in an environment: episodes, seeds, dice given in advance, and one compiled call a step.

Order of draws, the same in every environment: an episode's key is `episode_key(seed, k)`, k counting the episodes since
that seed was given; domain DICE of the key gives the rolls in order, SEAT word 0 the learner's seat (its lowest bit, where
none is asked for), and CHOICE one word for each decision of an opponent.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import Event, why_illegal_text
from bg_env.checks import checked_seed
from bg_env.errors import IllegalActionError
from bg_env.game import Game
from bg_env.observations import default_seat
from bg_env.options import EnvOptions
from bg_env.records.record import Record
from bg_env.records.write import record_of
from bg_env.reset_options import Start, start_from
from bg_env.rewards import reward_of
from bg_env.rules import (
    END_ILLEGAL,
    SEAT,
    STATE,
    Phase,
    States,
    apply,
    apply_roll,
    at_stake,
    draw,
    episode_key,
    forfeit,
    legal_mask,
    settle,
    ties_double,
    word,
)

__all__ = ["OneGame", "info_of"]

_SEATS = (np.zeros(1, np.int8), np.ones(1, np.int8))


@kernel
def info_of(states: Any, i: Any) -> Any:
    """The values of INFO_KEYS after the last action, as seven integers.

    player: who acts next, -1 if nobody does. points, level, winner: of the game that the last action ended (0, 0, -1 if it
    ended none). cube: what a single game is worth now. illegal: 1 after an illegal action. turns: turns begun.
    """
    return (  # int: what runs without compilation gives Python's integers as well
        int(np.int64(states[i]["decider"])),
        int(np.int64(states[i]["won"])),
        int(np.int64(states[i]["level"])),
        int(np.int64(1) << at_stake(states, i)),
        int(np.int64(states[i]["winner"])),
        int(np.int64(states[i]["ending"] == END_ILLEGAL)),
        int(np.int64(states[i]["turns"])),
    )


@kernel
def _look(states: Any, rules: Any, mask: Any) -> Any:
    legal_mask(states, 0, rules, mask, 0)
    return info_of(states, 0)


@kernel
def _act(states: Any, rules: Any, action: Any, kind: Any, throw: Any, mask: Any) -> Any:
    """Apply a legal action; the reward of player 0, then as `_look`."""
    apply(states, 0, rules, action)
    reward = reward_of(states, 0, rules, kind)
    if throw:
        settle(states, 0, rules)
    legal_mask(states, 0, rules, mask, 0)
    return reward, info_of(states, 0)


@kernel
def _forfeit(states: Any, rules: Any, kind: Any, mask: Any) -> Any:
    forfeit(states, 0, rules, states[0]["decider"])
    legal_mask(states, 0, rules, mask, 0)
    return reward_of(states, 0, rules, kind), info_of(states, 0)


class OneGame:
    """The state, the dice and the mask of one game of an environment; player 0's reward is the negative of player 1's.

    Attributes:
        states: the state, an array of one STATE record.
        mask: int8 (1, actions), of the player who decides; never handed out.
        info: the values of INFO_KEYS, see `info_of`.
        events: the rolls and actions of the episode, or None where they are not kept (they make a step several times slower).
        records: of the episodes that have ended, or None where none are made.
    """

    def __init__(self, options: EnvOptions) -> None:
        self.options = options
        self.settings = options.settings
        self.rules = options.settings.record()
        self.states = np.zeros(1, STATE)
        self.mask = np.zeros((1, options.settings.actions), np.int8)
        self.info: tuple[int, ...] = (-1, 0, 0, 1, -1, 0, 0)
        self._seed = 0
        self._seeded = False
        self._episode = 0
        self._dice: list[tuple[int, int]] = []
        self._starter: int | None = None
        self.events: list[Event] | None = None if options.render_mode in (None, "ansi") else []
        self.records: list[Record] | None = None
        self._first: States | None = None
        encoder = options.encoder
        self._encode, self._features, self._flat = encoder.kernel, encoder.size, len(encoder.shape) == 1
        self._reward = options.reward.kind

    def record_from_now(self) -> None:
        """Make a record of each episode that begins from now on."""
        self.records = self.records or []
        self.events = self.events or []

    def _record(self) -> None:
        """Add the record of the episode, if it has just ended and has been followed from its beginning."""
        if self.records is not None and self._first is not None and self.events is not None and self.over:
            self.records.append(record_of(self._first, self.settings, self.events))
            self._first = None

    def save(self) -> tuple[Any, ...]:
        """All that an action changes, for `restore`."""
        events = None if self.events is None else list(self.events)
        return self.states.copy(), list(self._dice), self._starter, self.info, events

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Be as when `saved` was saved."""
        self.states[:] = saved[0]
        self._dice, self._starter, self.info, self.events = saved[1:]
        legal_mask(self.states, 0, self.rules, self.mask, 0)

    def save_all(self) -> tuple[Any, ...]:
        """All that a new episode changes, for `restore_all`."""
        return (*self.save(), self._first, self._seed, self._episode, self._seeded)

    def restore_all(self, saved: tuple[Any, ...]) -> None:
        """Be as when `saved` was saved."""
        self.restore(saved[:5])
        self._first, self._seed, self._episode, self._seeded = saved[5:]

    @property
    def fresh(self) -> bool:
        """Whether no episode has begun yet."""
        return bool(self.states[0]["games"] == 0)

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Begin an episode: the first of `seed`, or the next one since the last seed.

        Raises:
            BgEnvError: the seed or an option is refused (`start_from`); nothing has changed.
        """
        start = start_from(options, self.settings)
        if seed is not None:
            self._seed, self._episode, self._seeded = checked_seed(seed), 0, True
        elif not self._seeded:
            self._seed, self._episode, self._seeded = secrets.randbits(63), 0, True
        else:
            self._episode += 1
        self._begin(start)

    def begin_at(self, seed: int, episode: int, options: Mapping[str, Any] | None = None) -> None:
        """Begin episode number `episode` of `seed`."""
        self._seed, self._episode, self._seeded = seed, episode, True
        self._begin(start_from(options, self.settings))

    def _begin(self, start: Start) -> None:
        key = episode_key(np.uint64(self._seed), np.uint64(self._episode))
        start.make(self.states, self.rules, self.settings, key)
        self._dice = list(start.dice)[::-1]
        self._starter = start.starter
        self._first = None
        if self.events is not None:
            self.events, self._first = [], self.states.copy()
        self._throw()
        self.look()

    def _throw(self) -> None:
        """Throw the dice that are due: those given in advance first, then the stream's.

        A tie given in advance for the opening throw of a later game of a match is thrown again (R2.1).
        """
        s, rules = self.states, self.rules
        while s[0]["phase"] in (Phase.OPENING, Phase.ROLL):
            opening = s[0]["phase"] == Phase.OPENING
            if self._dice:
                d1, d2 = self._dice.pop()
                if opening and d1 == d2 and not ties_double(s, 0, rules):
                    continue
            else:
                d1, d2 = draw(s[0]["key"], s[0]["rolls"], bool(opening and not ties_double(s, 0, rules)))
                s["rolls"] += 1
                if opening and self._starter is not None and (d2 > d1) != self._starter:
                    d1, d2 = d2, d1
            if opening and d1 != d2:
                self._starter = None
            if self.events is not None:
                starter = None if d1 == d2 else int(d2 > d1)
                self.events.append(Event(starter if opening else int(s[0]["turn"]), roll=(int(d1), int(d2))))
            apply_roll(s, 0, rules, d1, d2)

    @property
    def plain(self) -> bool:
        """Whether all dice are the stream's and nobody keeps the events, so that kernels may go on by themselves."""
        return self.events is None and not self._dice and self._starter is None

    def look(self, ended: tuple[int, int, int] | None = None) -> None:
        """Renew `mask` and `info`; `ended` is (points, level, winner) of an earlier game to tell of instead of the last."""
        info = _look(self.states, self.rules, self.mask)
        self.info = info if ended is None else (info[0], ended[0], ended[1], info[3], ended[2], info[5], info[6])

    def act(self, action: int) -> float:
        """Do a legal action and throw the dice that are due; the reward of player 0."""
        if self.events is None and not self._dice and self._starter is None:
            reward, self.info = _act(self.states, self.rules, action, self._reward, True, self.mask)
            return float(reward)
        if self.events is not None:
            self.events.append(Event(self.info[0], action=action))
        reward, _ = _act(self.states, self.rules, action, self._reward, False, self.mask)
        self._throw()
        self.look()
        self._record()
        return float(reward)

    def illegal(self, action: int) -> float:
        """An illegal action: it ends the episode; the reward of player 0.

        Raises:
            IllegalActionError: under `illegal="raise"`; nothing has changed.
        """
        if self.options.illegal == "raise":
            reason = why_illegal_text(self.states, 0, self.settings, action, self.rules)
            raise IllegalActionError(reason)
        if self.events is not None:
            self.events.append(Event(self.info[0], action=action))
        reward, self.info = _forfeit(self.states, self.rules, self._reward, self.mask)
        self._record()
        return float(reward)

    def observation(self, seat: int) -> npt.NDArray[np.float32]:
        """A new array: the board as `seat` sees it, at any time."""
        out = np.empty((1, self._features), np.float32)
        self._encode(self.states, self.rules, _SEATS[seat], out)
        return out[0] if self._flat else out.reshape(self.options.encoder.shape)

    def mask_of(self, seat: int) -> npt.NDArray[np.int8]:
        """A new array, int8 (actions,): the legal actions of `seat`; zeros while the other decides, ones at the end."""
        if self.info[0] == seat:
            mask: npt.NDArray[np.int8] = self.mask[0].copy()
            return mask
        return np.full(self.mask.shape[1], self.over, np.int8)

    def infos(self) -> dict[str, Any]:
        """A new dict of INFO_KEYS."""
        player, points, level, cube, winner, illegal, turns = self.info
        return {
            "player": player,
            "points": points,
            "level": level,
            "cube": cube,
            "winner": winner,
            "illegal": illegal,
            "turns": turns,
        }

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return bool(self.info[0] < 0)

    @property
    def viewer(self) -> int:
        """Who looks where nobody is named: who decides, at the end the winner."""
        return int(default_seat(self.states, 0))

    @property
    def seat_bit(self) -> int:
        """The learner's seat by the episode's key, where none is asked for."""
        return int(word(self.states[0]["key"], np.uint64(SEAT), np.uint64(0))) & 1

    @property
    def truncated(self) -> bool:
        """Whether the cap on turns has ended it (R11.1)."""
        return bool(self.states[0]["ending"] == 3)

    def game(self) -> Game:
        """A `Game` of the present state; its dice are not the environment's (see `Game.copy`)."""
        history = self.events or ()
        return Game.from_states(self.states, self.settings, seeded=True, events=history, first=self._first).copy()
