"""GNU Backgammon's text export: a board and a line for each move and turn of the cube, one game a file or several.

Each game begins with "The score (after N games) is: ..."; lines such as `* White moves 8/5 6/5` are read, and the ids of the
first board for the variant, the position that the game starts from and the Jacoby rule. Analysis and statistics are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bg_env.errors import NotationError
from bg_env.notation.gnubg_ids import MatchId, decode_match_id, encode_position_id
from bg_env.records.record import MOST_GAMES, Entry, GameRecord, Kind, Note, Record, checked_text, plain_text
from bg_env.rules import VARIANTS, Variant

__all__ = ["OPENING", "read_gnubg_texts"]

OPENING: Final = "The score (after "
"""The words that each game begins with."""
_SCORE = re.compile(
    r"The score \(after (\d{1,6}) games?\) is: (.*?)(?: \(match to (\d{1,5}) points?\))?"
    r"(?:, (Crawford game|post-Crawford play))?\s*"
)
_POINTS = re.compile(r"(.*) (\d{1,9}), (.*) (\d{1,9})")
_MOVE = re.compile(r"Move number (\d{1,6}): +(.*?)(?: to play ([1-6])([1-6])| doubles to (\d{1,6})| on roll.*| .*)\s*")
_POSITION = re.compile(r".*Position ID: (\S{14})\s*")
_MATCH = re.compile(r".*Match ID +: (\S{12})\s*")
_NAME = re.compile(r"[ +|v^].{20,}     ([OX]): (.*?)\s*")
_WINS = re.compile(r"(.*) wins (\d{1,9}) points?\s*")
_ACTIONS: Final[Sequence[tuple[str, Kind]]] = (
    ("moves", "roll"),
    ("cannot move", "roll"),
    ("redoubles", "double"),
    ("doubles", "double"),
    ("beavers", "beaver"),
    ("raccoons", "beaver"),
    ("accepts", "take"),
    ("takes", "take"),
    ("rejects", "drop"),
    ("drops", "drop"),
    ("passes", "drop"),
    ("resigns", "resign"),
)
_LONGEST: Final = 400
_HYPERGAMMON: Final = tuple(Variant(f"hypergammon{n}", {24 - k: 1 for k in range(n)}) for n in (1, 2))


class _Seen(NamedTuple):
    """The contents of the first board of a game."""

    names: tuple[str, str]
    position: str
    match: MatchId | None
    match_id: str


def read_gnubg_texts(text: str) -> list[Record]:
    """The records written in `text`; lines that cannot be read become entries of kind "unreadable".

    Games of one match or session, with the same players and length, are one record; a game after no game begins another.

    Raises:
        NotationError: this is not GNU Backgammon's text, or it has more than 2**26 characters or 100,000 games.
    """
    lines = [line[:_LONGEST] for line in re.sub(r"\r\n?", "\n", checked_text(text)).split("\n")]
    starts = [k for k, line in enumerate(lines) if _SCORE.fullmatch(line)]
    if not starts:
        msg = f"this is not GNU Backgammon's text export: a line '{OPENING}0 games) is: ...' is missing"
        raise NotationError(msg)
    if len(starts) > MOST_GAMES:
        msg = f"this is not a record: it holds {len(starts):,} games, and at most {MOST_GAMES:,} are read"
        raise NotationError(msg)
    records: list[Record] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        record = _game(lines[start:end], start + 1)
        before = records[-1] if records else None
        if before and record.games[0].number > 1 and _same(before, record):
            records[-1] = replace(before, games=before.games + record.games)
        else:
            records.append(record)
    if len(records) > 1:
        note = Note(0, 0, f"the file holds {len(records)} matches")
        records = [replace(record, notes=(note,)) for record in records]
    return records


def _same(one: Record, other: Record) -> bool:
    return (one.players, one.length, one.variant) == (other.players, other.length, other.variant)


def _game(lines: Sequence[str], place: int) -> Record:
    """A game as a record of its own."""
    heading = _SCORE.fullmatch(lines[0])
    if heading is None:
        msg = f"line {place} begins no game"
        raise NotationError(msg)
    seen = _first_board(lines)
    points = _POINTS.fullmatch(heading[2])
    names = seen.names
    if points and not all(names):
        names = names[0] or points[1], names[1] or points[3]
    score = _score(heading[2], names) or (None if points is None else (int(points[2]), int(points[4])))
    length = int(heading[3] or 0)
    variant, start = _start(seen)
    fields = seen.match
    number = int(heading[1]) + 1
    game = GameRecord(
        number=number,
        score=score,
        entries=tuple(_entries(lines, names)),
        crawford=heading[4] == "Crawford game" if length else False,
        cube=1 << fields.cube_log2 if fields and start is None and fields.owner is None else 1,
        start=start,
    )
    jacoby = None if length or fields is None else not fields.no_jacoby
    return Record(names, variant, length, (game,), jacoby=jacoby)


def _score(text: str, names: tuple[str, str]) -> tuple[int, int] | None:
    """The score "NAME 3, NAME 2" of two names that are known."""
    if not text.startswith(f"{names[0]} "):
        return None
    first, comma, rest = text[len(names[0]) + 1 :].partition(f", {names[1]} ")
    return (int(first), int(rest)) if comma and re.fullmatch(r"\d{1,9} \d{1,9}", f"{first} {rest}", re.ASCII) else None


def _first_board(lines: Sequence[str]) -> _Seen:
    """The names of the players (O is player 0) and the ids of the first board."""
    names, position, match_id = ["", ""], "", ""
    for line in lines:
        if found := _NAME.fullmatch(line):
            names["OX".index(found[1])] = found[2]
        elif not position and (found := _POSITION.fullmatch(line)):
            position = found[1]
        elif not match_id and (found := _MATCH.fullmatch(line)):
            match_id = found[1]
        if all(names) and position and match_id:
            break
    try:
        return _Seen((names[0], names[1]), position, decode_match_id(match_id) if match_id else None, match_id)
    except NotationError:
        return _Seen((names[0], names[1]), position, None, "")


def _start(seen: _Seen) -> tuple[Variant, str | None]:
    """The variant whose start the first board shows; else the standard game, and the id of the position that it starts from."""
    for variant in (*VARIANTS.values(), *_HYPERGAMMON):
        if not seen.position or (not variant.start[-1] and encode_position_id(variant.start, variant.start) == seen.position):
            return variant, None
    return VARIANTS["backgammon"], f"{seen.position}:{seen.match_id}" if seen.match_id else seen.position


def _entries(lines: Sequence[str], names: tuple[str, str]) -> list[Entry]:
    entries: list[Entry] = []
    waits: Entry | None = None  # a roll whose play has not come yet
    number = 0
    for line in lines:
        if found := _MOVE.fullmatch(line):
            entries += [waits] if waits else []
            number, waits = int(found[1]), None
            if found[3]:
                dice = max(int(found[3]), int(found[4])), min(int(found[3]), int(found[4]))
                waits = Entry("roll", _player(found[2], names), dice, number=number, played=False)
            elif found[5] and entries and entries[-1].kind in ("double", "beaver"):
                entries[-1] = replace(entries[-1], value=int(found[5]))
        elif line.startswith("* ") and not line.startswith("*  "):  # more spaces: an analysed play
            entry = _action(
                line[2:].rstrip(), names, waits, number, turned=bool(entries) and entries[-1].kind in ("double", "beaver")
            )
            waits = waits if entry.kind != "roll" else None
            entries.append(entry)
        elif (found := _WINS.fullmatch(line)) and found[1] in names:
            entries += [waits] if waits else []
            entries.append(Entry("win", names.index(found[1]), value=int(found[2]), number=number, alone=True))
            return entries
    return entries + ([waits] if waits else [])


def _player(name: str, names: tuple[str, str]) -> int | None:
    """The player of that name; None if both have it, or neither."""
    return names.index(name) if name in names and names[0] != names[1] else None


def _action(text: str, names: tuple[str, str], waits: Entry | None, number: int, *, turned: bool) -> Entry:
    """The entry for a line "NAME moves 8/5 6/5"; a double while another one waits for its answer is a beaver."""
    for player in sorted((0, 1), key=lambda player: -len(names[player])):
        if not text.startswith(f"{names[player]} "):
            continue
        said = text[len(names[player]) + 1 :].lstrip()
        for word, kind in _ACTIONS:
            if not re.match(rf"{word}\b", said):
                continue
            mover = _player(names[player], names)
            alone = mover is None
            if kind != "roll":
                return Entry("beaver" if turned and kind == "double" else kind, mover, number=number, alone=alone)
            if waits is None:
                break
            play = plain_text(said[len(word) :].strip())
            return replace(waits, player=mover, text=play, played=bool(play), alone=alone)
    return Entry("unreadable", None, text=text, number=number)
