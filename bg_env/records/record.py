"""Match records as values, for every format: the readers make them and the writers take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from bg_env.errors import NotationError, quoted
from bg_env.notation.moves import Move, parse_moves
from bg_env.rules import BAR, OFF, Settings, Variant

__all__ = [
    "MOST_BYTES",
    "MOST_GAMES",
    "Entry",
    "GameRecord",
    "Kind",
    "Note",
    "Record",
    "checked_record",
    "checked_records",
    "checked_text",
    "from_points",
    "plain_moves",
    "plain_text",
    "text_of_moves",
    "unwritable",
]

MOST_BYTES: Final = 2**30
"""The most bytes of a file of records."""
MOST_GAMES: Final = 100_000
"""The most games that are read from one `.mat` or `.sgf` record."""
_MOST_CHARACTERS: Final = 2**26
"""The most characters of a `.mat` or `.sgf` record: that of a long match has fewer than 2**20."""

Kind = Literal["tie", "throw", "roll", "double", "beaver", "take", "drop", "resign", "win", "illegal", "unreadable"]


@dataclass(frozen=True)
class Entry:
    """One entry of a record: a roll with its play, a turn of the cube, an answer, a resignation or an award.

    Attributes:
        kind: `roll`: dice and the play of them (also of a double that is named, R10.6); `double`, `beaver` (and raccoon
            ...), `take`, `drop`; `resign`; `win`: the award; `tie`: an opening tie that doubled the cube; `throw`: an
            opening throw that only decides who starts (R2.3); `illegal`: an action that the player tried and that ended the
            game; `unreadable`: text that cannot be read.
        player: 0 or 1; None for neither, or for a resignation of which only the award says whose it is.
        dice: of a roll, higher number first; of a tie or a throw, player 0's die first.
        text: the play of a roll, see `plain_text`; of an unreadable entry, the text itself.
        value: of a double or beaver, the value that the cube is turned to (0 if not given); of an award its points; of a
            resignation its points (0 if not given); of an illegal action its number.
        number: the move's number in the record, from 1.
        alone: whether no other entry stands beside it. Then its column may be wrong, except that of an award, which may be
            wrong where it stands beside another entry.
        played: of a roll, False if the dice are all that is written: nothing could be played, or the record ends there.
    """

    kind: Kind
    player: int | None
    dice: tuple[int, int] | None = None
    text: str = ""
    value: int = 0
    number: int = field(default=0, compare=False)
    alone: bool = field(default=False, compare=False)
    played: bool = True


@dataclass(frozen=True)
class Note:
    """A place where a record is sound but is written in a dialect, and the meaning that it was read with.

    Attributes:
        game: the number of the game; 0 for the record as a whole.
        move: the number of the move in the record; 0 for the heading of the game.
        what: the dialect and its reading, in one line.
    """

    game: int
    move: int
    what: str

    def __str__(self) -> str:
        return f"game {self.game} move {self.move}: {self.what}" if self.game else self.what


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        number: from 1.
        score: points of player 0 and 1 before it; None if not given.
        entries: in order; the award, if there is one, is the last.
        crawford: whether it is the Crawford game; None if not given.
        cube: the cube's value at the start, above 1 after automatic doubles whose ties are not written.
        start: an id of the state it starts from (see `notation.read_position`); None for the variant's start.
        state: instead of `start`, a whole STATE record by field, for a start that no id can hold.
    """

    number: int
    score: tuple[int, int] | None
    entries: tuple[Entry, ...]
    crawford: bool | None = None
    cube: int = 1
    start: str | None = None
    state: Mapping[str, object] | None = None

    @property
    def award(self) -> Entry | None:
        """The award, None if the game is unfinished."""
        return self.entries[-1] if self.entries and self.entries[-1].kind == "win" else None


@dataclass(frozen=True)
class Record:
    """A match, a money session or a single game.

    Attributes:
        players: names of player 0 and player 1.
        variant: the variant played.
        length: points to win the match, 0 for money.
        games: in order.
        jacoby: whether Jacoby is played (R8.5); None if not given.
        crawford: whether the match has a Crawford game; None if not given.
        cube: whether the cube is in play; None if not given.
        loose: whether it is money play that a server writes as a match; it may be scored and ended either way.
        headers: other information, by name.
        settings: all the settings, where the format holds them.
        notes: the dialects that the reader met, in order; they are no part of the record's value.

    Raises:
        NotationError: `players` are not two texts.
    """

    players: tuple[str, str]
    variant: Variant
    length: int
    games: tuple[GameRecord, ...]
    jacoby: bool | None = None
    crawford: bool | None = None
    cube: bool | None = None
    loose: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    settings: Settings | None = None
    notes: tuple[Note, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        players = self.players
        if not isinstance(players, (tuple, list)) or [type(name) for name in players] != [str, str]:
            msg = f"players are the names of both, such as ('White', 'Black'), not {quoted(players)}"
            raise NotationError(msg)
        object.__setattr__(self, "players", tuple(players))


def checked_text(text: Any, most: int = _MOST_CHARACTERS) -> str:
    """The text of a record, without byte order marks.

    Raises:
        NotationError: `text` is not text, or has more than `most` characters.
    """
    if not isinstance(text, str):
        msg = f"a record is read from text, not from {quoted(text)}"
        raise NotationError(msg)
    if len(text) > most:
        msg = f"this is not a record: it has {len(text):,} characters, and at most {most:,} are read"
        raise NotationError(msg)
    return text.lstrip("\ufeff").rstrip("\x1a\x00")


def checked_record(record: Any) -> Record:
    """The record.

    Raises:
        NotationError: it is not a Record.
    """
    if not isinstance(record, Record):
        msg = f"a record is a bg_env.records.Record, not {quoted(record)}"
        raise NotationError(msg)
    return record


def checked_records(records: Any) -> list[Record]:
    """The records in a sequence.

    Raises:
        NotationError: it is not a sequence of Record.
    """
    if isinstance(records, Record):
        msg = "records are a sequence of Record: write [record]"
        raise NotationError(msg)
    if isinstance(records, (str, bytes)) or not isinstance(records, Iterable):
        msg = f"records are a sequence of Record, not {quoted(records)}"
        raise NotationError(msg)
    return [checked_record(record) for record in records]


def plain_moves(text: str) -> tuple[Move, ...]:
    """The moves of a play, each between two points only: a way with points between is several moves."""
    moves: list[Move] = []
    for move in parse_moves(text):
        for k in range(len(move.places) - 1):
            end = move.places[k + 1]
            moves.append(Move(move.places[k : k + 2], (end,) if end in move.hits else ()))
    return tuple(moves)


def text_of_moves(moves: tuple[Move, ...]) -> str:
    """Moves between two points as text with numbers for bar and off."""
    return " ".join(f"{move.places[0]}/{move.places[-1]}{'*' if move.hits else ''}" for move in moves)


def plain_text(text: str) -> str:
    """A play as records keep it: every move by itself, bar and off as 25 and 0 ("25/22 13/7*"); "" for none.

    Text that is not move text is kept as it is.
    """
    try:
        return text_of_moves(plain_moves(text))
    except NotationError:
        return text


def unwritable(entry: Entry, game: GameRecord) -> NotationError:
    """The error of writing an unreadable entry."""
    said = f"{entry.text[:60]!r} was not understood when it was read"
    return NotationError(f"game {game.number} move {entry.number} cannot be written: {said}")


def from_points(source: int, target: int) -> Move:
    """The move from `source` (1-25) to `target` (0-24) on the mover's numbering.

    Raises:
        NotationError: not on the board, or not downwards.
    """
    if not OFF <= target < source <= BAR:
        msg = f"no checker moves from {source} to {target}: points go down from 25 (the bar) to 0 (off)"
        raise NotationError(msg)
    return Move((source, target))
