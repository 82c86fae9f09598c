"""Report of a replayed match record: its states, its events, and its faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bg_env.actions import Step
from bg_env.notation.moves import format_steps, steps_of
from bg_env.records.record import Entry, Note, Record
from bg_env.rules import STATE, Settings, States

__all__ = ["Fault", "FileReplay", "GameReplay", "Kept", "Moment", "Replay"]


@dataclass(frozen=True)
class Fault:
    """A fault of a record.

    Attributes:
        game: the number of the game.
        move: the number of the move in the record; 0 for the heading of the game.
        what: the fault, in one line.
    """

    game: int
    move: int
    what: str

    def __str__(self) -> str:
        return f"game {self.game} move {self.move}: {self.what}"


@dataclass(frozen=True, eq=False)
class Moment:
    """One event of a replayed game.

    Attributes:
        index: of the state after it in `Replay.states`.
        entry: the entry of the record; None for the start of a game.
        player: the player who acted; None for neither.
        words: the event in words ("doubles to 2"); of a roll without the play ("31:").
        actions: the checker steps that were made.
    """

    index: int
    entry: Entry | None
    player: int | None
    words: str
    actions: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class GameReplay:
    """One game, replayed.

    Attributes:
        number: the game's number in the record.
        moments: its events up to the first fault; the first is the start.
        faults: its faults.
        winner: 0 or 1; None if it is unfinished.
        points: the points of the award.
    """

    number: int
    moments: tuple[Moment, ...]
    faults: tuple[Fault, ...]
    winner: int | None
    points: int


@dataclass(frozen=True, eq=False)
class Replay:
    """A record, replayed.

    Attributes:
        record: the record.
        settings: the settings it was checked under.
        games: its games.
        states: array of STATE records, every one that is met; `Moment.index` points into it.
        notes: where the record is written in a dialect, and how it was read.
    """

    record: Record
    settings: Settings
    games: tuple[GameReplay, ...]
    states: States = field(repr=False)
    notes: tuple[Note, ...] = ()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All faults, in order."""
        return tuple(fault for game in self.games for fault in game.faults)

    def steps(self, moment: Moment) -> tuple[Step, ...]:
        """The checker steps of a moment, on the numbering of the player who made them."""
        if moment.player is None or not moment.actions:
            return ()
        return steps_of(moment.actions, self.states, moment.index - 1, side=moment.player)

    def text(self, moment: Moment) -> str:
        """The event in words, the play of a roll included ("31: 8/5 6/5")."""
        return f"{moment.words} {format_steps(self.steps(moment))}" if moment.actions else moment.words


@dataclass(frozen=True, eq=False)
class FileReplay:
    """The replay of a file.

    Attributes:
        path: the file, as it was given.
        replays: its records, replayed (a `.jsonl` file may hold several).
        error: the reason why it cannot be read as a record; None if it can.
    """

    path: str
    replays: tuple[Replay, ...] = ()
    error: str | None = None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All faults, in order."""
        return tuple(fault for replay in self.replays for fault in replay.faults)

    @property
    def lines(self) -> list[str]:
        """A line for each fault, `FILE: game G move M: fault`; or one, `FILE: error`, if it is not a record."""
        if self.error is not None:
            return [f"{self.path}: {self.error}"]
        return self._lines([replay.faults for replay in self.replays])

    @property
    def note_lines(self) -> list[str]:
        """A line for each note, `FILE: game G move M: dialect`."""
        return self._lines([replay.notes for replay in self.replays])

    def _lines(self, found: Sequence[Sequence[object]]) -> list[str]:
        many = len(found) > 1
        return [
            f"{self.path}: {what}" + (f" (record {k} of the file)" if many else "")
            for k, items in enumerate(found, 1)
            for what in items
        ]

    def as_dict(self) -> dict[str, Any]:
        """The results as plain values, for JSON."""
        return {
            "file": self.path,
            "ok": self.error is None and not self.faults,
            "error": self.error,
            "records": [_summary(replay) for replay in self.replays],
        }


def _summary(replay: Replay) -> dict[str, Any]:
    record = replay.record
    return {
        "players": list(record.players),
        "variant": record.variant.name,
        "length": record.length,
        "games": [
            {
                "game": game.number,
                "winner": game.winner,
                "points": game.points,
                "moves": len(game.moments) - 1,
                "faults": [{"move": fault.move, "what": fault.what} for fault in game.faults],
            }
            for game in replay.games
        ],
        "notes": [{"game": note.game, "move": note.move, "what": note.what} for note in replay.notes],
    }


class Kept:
    """The states that were met: an array that grows."""

    def __init__(self) -> None:
        self.states = np.zeros(256, STATE)
        self.n = 0

    def reserve(self, n: int) -> None:
        """Make room for `n` states more."""
        if self.n + n > len(self.states):
            more = np.zeros(2 * (self.n + n), STATE)
            more[: self.n] = self.states[: self.n]
            self.states = more

    def add(self, states: States) -> None:
        """Keep a copy of the one state."""
        self.reserve(1)
        self.states[self.n] = states[0]
        self.n += 1
