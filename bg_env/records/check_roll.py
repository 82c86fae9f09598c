"""Rolls of a record on the engine's board: the player, the dice, and the legal play that is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bg_env.actions import FIRST_NAMED, ROLL, TAKE
from bg_env.errors import NotationError
from bg_env.notation.moves import Move, first_steps, format_actions, match_play, parse_moves
from bg_env.records.fast_roll import MOST_STEPS, play_ways, rows_of
from bg_env.records.record import Entry
from bg_env.rules import Phase, Rules, Settings, States, apply, apply_roll, plays

__all__ = ["Board", "FaultError", "Played", "play_roll", "player_of"]


class FaultError(Exception):
    """A fault of the record at the entry that is being played; it never leaves the check of a game."""


@dataclass
class Board:
    """A game of a record as it stands.

    Attributes:
        states: the state now, an array of one STATE record.
        settings: the settings that the record is checked under.
        rules: their RULES record.
        untouched: whether the game still stands where it began.
    """

    states: States
    settings: Settings
    rules: Rules
    untouched: bool = True

    @property
    def phase(self) -> int:
        """The phase of the state."""
        return int(self.states[0]["phase"])

    @property
    def turn(self) -> int:
        """The player on roll, -1 before the opening throw."""
        return int(self.states[0]["turn"])

    @property
    def over(self) -> bool:
        """Whether this game is over, even if the match goes on."""
        s = self.states[0]
        return bool(s["winner"] >= 0) or int(s["phase"]) == Phase.OVER


class Played(NamedTuple):
    """A roll that has been played: the player, words for it, and the actions of the steps."""

    player: int
    words: str
    actions: tuple[int, ...] = ()


def player_of(entry: Entry, due: int) -> int:
    """The player of an entry: `due`, the one whose turn it is, even where a cell alone in its line is in the other column.

    Raises:
        FaultError: the entry is the other player's.
    """
    if entry.player != due and not entry.alone:
        msg = f"player_{entry.player} is out of turn: player_{due} is due"
        raise FaultError(msg)
    return due


def play_roll(board: Board, entry: Entry, *, breaks_off: bool) -> Played:
    """Roll the dice of an entry and make its play.

    Args:
        board: the game, which is changed.
        entry: an entry of kind "roll".
        breaks_off: whether the roll need not be played in full, because a resignation, the award or the end of the record
            follows.

    Raises:
        FaultError: the roll is not due, or its play is not legal.
    """
    return _play(board, entry, _roll(board, entry), breaks_off=breaks_off)


def _play(board: Board, entry: Entry, player: int, *, breaks_off: bool) -> Played:
    """Make the play of the roll that `player` has thrown, or find that it cannot be played."""
    d1, d2 = entry.dice or (0, 0)
    try:
        moves = parse_moves(entry.text)
    except NotationError as error:
        msg = f"the play of {d1}{d2} cannot be read: {error}"
        raise FaultError(msg) from error
    if board.phase == Phase.CHECKER and board.turn == player and not board.over:
        return Played(player, f"{d1}{d2}:", _find(board, entry, moves, breaks_off=breaks_off))
    if moves:
        msg = f"{d1}{d2} cannot be played, but {entry.text} is written"
        raise FaultError(msg)
    return Played(player, f"{d1}{d2}: cannot move")


def _find(board: Board, entry: Entry, moves: tuple[Move, ...], *, breaks_off: bool) -> tuple[int, ...]:
    """Find the play among the legal ones, and make it; returns its actions."""
    d1, d2 = entry.dice or (0, 0)
    if entry.player is not None and moves:
        made = np.full((1, MOST_STEPS), -1, np.int64)
        rows = rows_of((entry,))
        rows[0, 0] = board.turn
        if play_ways(board.states, board.rules, rows, 0, made):
            return tuple(action for action in made[0].tolist() if action >= 0)
    _, numbers, after = plays(board.states, board.rules)
    if not moves:
        if breaks_off and not entry.played:
            return ()
        msg = f"no play of {d1}{d2} is written, but {format_actions(numbers[0].tolist(), board.states, 0)} is possible"
        raise FaultError(msg)
    found = match_play(moves, board.states, 0, numbers)
    if isinstance(found, int):
        board.states[0] = after[found]
        return tuple(action for action in numbers[found].tolist() if action >= 0)
    part = first_steps(moves, board.states, 0, board.rules) if breaks_off else []
    if not part:
        msg = f"{entry.text} with {d1}{d2}: {found}"
        raise FaultError(msg)
    for action in part:
        apply(board.states, 0, board.rules, action)
    return tuple(part)


def _roll(board: Board, entry: Entry) -> int:
    """Let the player on roll have the dice of an entry; returns the player."""
    states, rules = board.states, board.rules
    d1, d2 = entry.dice or (0, 0)
    if board.phase == Phase.OPENING:
        return _first_roll(board, entry)
    if board.phase == Phase.TAKE_OR_DROP:
        if states[0]["chain"] < 2:
            msg = f"player_{int(states[0]['decider'])} has not answered the double"
            raise FaultError(msg)
        apply(states, 0, rules, TAKE)  # the acceptance of a beaver is often not written
    phase, player = board.phase, player_of(entry, board.turn)
    if phase == Phase.CHECKER:
        if board.untouched and sorted(states[0]["dice"].tolist()) == sorted((d1, d2)):
            return player  # the game begins with a roll that is thrown
        msg = f"player_{player} rolls again, but has not played its roll"
        raise FaultError(msg)
    if phase == Phase.CHOOSE_DOUBLE:
        if d1 != d2:
            msg = f"{d1}{d2} is rolled, but the double that the 1-2 earns is not named (R10.6)"
            raise FaultError(msg)
        apply(states, 0, rules, FIRST_NAMED + d1 - 1)
        return player
    if phase == Phase.ROLL_OR_DOUBLE:
        apply(states, 0, rules, ROLL)
    apply_roll(states, 0, rules, d1, d2)
    return player


def _first_roll(board: Board, entry: Entry) -> int:
    """The first roll of a game, for which the record gives no opening throw; returns the player."""
    states, rules, player = board.states, board.rules, entry.player or 0
    d1, d2 = entry.dice or (0, 0)
    fresh = board.settings.variant.fresh_first_roll
    if fresh:
        apply_roll(states, 0, rules, 1 - player, player)  # any throw that this player wins
    elif d1 == d2:
        msg = f"the first roll of a game is {d1}{d2}, but it is never a double (R2.1)"
        raise FaultError(msg)
    high, low = max(d1, d2), min(d1, d2)
    first = (high, low) if fresh or player == 0 else (low, high)
    apply_roll(states, 0, rules, *first)
    return player
