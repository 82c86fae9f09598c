"""The text format of match records, `.mat`: two columns of rolls, plays and turns of the cube; read in its dialects.

What programs and servers write differs: headers (`; [Name "Value"]`) or none, ratings after names, 25 and 0 or bar and
off, hits or none, steps or ways, `Cannot Move` or nothing, awards in full or cut to the match, `????`, `Concedes`, `Losses`,
`Resigns` or nothing for a resignation, the acceptance of a beaver unwritten, tabs for spaces, several matches in one file,
and "16 point match" for money play without end. Where the reader departs from the literal text, the record has a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bg_env.errors import NotationError, SettingsError
from bg_env.records.mat_cells import (
    Columns,
    Heading,
    Line,
    entries_of,
    find_columns,
    names_of,
    read_heading,
    read_line,
    without_names,
)
from bg_env.records.mat_write import write_mat
from bg_env.records.record import MOST_GAMES, GameRecord, Note, Record, checked_text
from bg_env.rules import VARIANTS, Variant

__all__ = ["read_mat", "write_mat"]

_HEADER = re.compile(r"\s*(?:[;#]\s*)?\[([^\"\]]*)\"(.*)\"\s*\]\s*")
_LENGTH = re.compile(
    r"\s*(\d{1,5}|unlimited|money)[\s-]+(?:points?\s+)?(?:match|session|game)s?\s*(?:\([^)]*\)\s*)?", re.IGNORECASE
)
_GAME = re.compile(r"\s*Game\s+(\d{1,5})\s*[:.]?\s*", re.IGNORECASE)
_LINE_ENDS = re.compile(r"\r\n?")

_LONGEST: Final = 400
"""Characters of a line that are read; no record needs more."""
_GALAXY: Final = "galaxy"
_GALAXY_CUBE: Final = "1024"
_GALAXY_MONEY: Final = 16
_VARIATIONS: Final = {
    "backgammon": "backgammon",
    "standard": "backgammon",
    "nackgammon": "nackgammon_ballard",
    "hypergammon": "hypergammon",
    "hypergammon3": "hypergammon",
    "longgammon": "longgammon",
}
_FLAGS: Final = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}


def read_mat(text: str) -> Record:
    """The record written in `text`; cells that cannot be read become entries of kind "unreadable".

    Raises:
        NotationError: this is not a `.mat` record (no line "N point match", no game, or an unknown variation), it holds several
            matches, or it has more than 2**26 characters or 100,000 games.
    """
    records = read_mats(text)
    if len(records) > 1:
        msg = f"this text holds {len(records)} matches: read_mat reads one, parse_records reads them all"
        raise NotationError(msg)
    return records[0]


def read_mats(text: str) -> list[Record]:
    """The records written in `text`, one for each line "N point match"; the rest as in `read_mat`."""
    lines = [line[:_LONGEST] for line in _LINE_ENDS.sub("\n", checked_text(text)).split("\n")]
    lengths = [k for k, line in enumerate(lines) if _LENGTH.fullmatch(line)]
    if not lengths:
        msg = "this is not a .mat record: a line such as '7 point match' is missing"
        raise NotationError(msg)
    starts = [0, *(_above(lines, k) for k in lengths[1:])]
    found = sum(_GAME.fullmatch(line) is not None for line in lines)
    if found > MOST_GAMES:
        msg = f"this is not a .mat record: it holds {found:,} games, and at most {MOST_GAMES:,} are read"
        raise NotationError(msg)
    records = [
        _match(lines[start:end], at - start, at + 1)
        for start, at, end in zip(starts, lengths, [*starts[1:], len(lines)], strict=True)
    ]
    if len(records) > 1:
        note = Note(0, 0, f"the file holds {len(records)} matches")
        records = [replace(record, notes=(note, *record.notes)) for record in records]
    return records


def _above(lines: Sequence[str], at: int) -> int:
    """The first line of the headers above line `at`; `at` without headers."""
    while at and (
        not lines[at - 1].strip() or lines[at - 1].lstrip().startswith((";", "#")) or _HEADER.fullmatch(lines[at - 1])
    ):
        at -= 1
    return at


def _match(lines: Sequence[str], at: int, place: int) -> Record:
    """One match: its headers, its length in line `at` of `lines` (`place` in the text, from 1), and its games."""
    found = _LENGTH.fullmatch(lines[at])
    length = int(found[1]) if found and found[1].isdigit() else 0
    starts = [k for k in range(at + 1, len(lines)) if _GAME.fullmatch(lines[k])]
    if not starts:
        msg = f"this .mat record holds no game: a line such as 'Game 1' is missing below line {place}, {lines[at].strip()!r}"
        raise NotationError(msg)
    headers = _headers(lines[: starts[0]])
    parts = [read_line(line) for line in lines[starts[0] :]]
    columns = find_columns(parts)
    cubes = _start_cubes(headers)
    notes: list[Note] = []
    games: list[GameRecord] = []
    headings: list[Heading | None] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        game, heading, said = _game(parts[start - starts[0] : end - starts[0]], columns, headers)
        games.append(replace(game, cube=_start_cube(game, cubes.get(game.number, 1))))
        headings.append(heading)
        notes += said
    players, told = _players(headers, [heading.names for heading in headings if heading])
    loose = length == _GALAXY_MONEY and _is_money(headers, games)
    if loose:
        told.append(Note(0, 0, "a game of Backgammon Galaxy with 16 points is money play"))
    limit = _value(headers, "cubelimit") == "1"
    if limit:
        told.append(Note(0, 0, "the cube's limit is 1: no cube is in play"))
    if any("\t" in line for line in lines[starts[0] :]):
        told.append(Note(0, 0, "tabs divide the columns"))
    return Record(
        players=players,
        variant=_variant(headers),
        length=0 if loose else length,
        games=tuple(games),
        jacoby=_flag(headers, "jacoby"),
        crawford=_flag(headers, "crawford"),
        cube=False if limit else _flag(headers, "cube"),
        loose=loose,
        headers=headers,
        notes=(*told, *notes),
    )


# Headers and names


def _headers(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        header = _HEADER.fullmatch(line.strip())
        if header:
            found.setdefault(header[1].strip(), header[2])
    return found


def _value(headers: Mapping[str, str], name: str) -> str:
    """The value of a header, in lower case, whatever the case and the spaces of its name are; "" if it is absent."""
    return next((value.strip().lower() for key, value in headers.items() if "".join(key.lower().split()) == name), "")


def _flag(headers: Mapping[str, str], name: str) -> bool | None:
    return _FLAGS.get(_value(headers, name))


def _is_money(headers: Mapping[str, str], games: Sequence[GameRecord]) -> bool:
    """Whether a record is of Backgammon Galaxy, and of one game that does not stand within a match."""
    site = _value(headers, "site")
    galaxy = _GALAXY in site if site else _value(headers, "cubelimit") == _GALAXY_CUBE
    return galaxy and len(games) == 1 and games[0].score in (None, (0, 0))


def _players(headers: Mapping[str, str], headings: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], list[Note]]:
    """The names of the left and the right column, in the words of the headers where these name the same players."""
    names = next((pair for pair in headings if all(pair)), next((pair for pair in headings if any(pair)), ("", "")))
    said = tuple(
        next((v for k, v in headers.items() if "".join(k.lower().split()) == f"player{n}"), "").strip() for n in (1, 2)
    )
    notes: list[Note] = []
    straight = sum(_same(a, b) for a, b in zip(names, said, strict=True))
    crossed = sum(_same(a, b) for a, b in zip(names, said[::-1], strict=True))
    if crossed > straight and any(names):
        notes.append(Note(0, 0, f"the headers name the right column's player first; player_0 is the left column, {names[0]}"))
        said = said[::-1]
    fits = max(straight, crossed) > 1 or not any(
        names
    )  # a player without a name keeps none, unless the headers name it beside one that fits
    left, right = (b if (b and a and _same(a, b)) or (not a and fits) else a for a, b in zip(names, said, strict=True))
    for player, name in enumerate((left, right)):
        if not name:
            notes.append(Note(0, 0, f"player_{player} has no name; the columns show whose an entry is"))
    return (left, right), notes


def _same(name: str, said: str) -> int:
    """2 if a name in a heading equals one of the headers, 1 if it is a shortened form or has a rating after it, else 0."""
    if name == said:
        return 2
    return int(bool(name) and bool(said) and (name.startswith(said) or said.startswith(name)))


def has_variation(headers: Mapping[str, str]) -> bool:
    """Whether the headers name the variant."""
    return any(key.strip().lower() == "variation" for key in headers)


def _variant(headers: Mapping[str, str]) -> Variant:
    said = next((value.strip() for key, value in headers.items() if key.strip().lower() == "variation"), "backgammon")
    word = re.sub(r"[\s()-]", "", said.lower())
    if word in ("hypergammon1", "hypergammon2"):
        return Variant(word, {24 - k: 1 for k in range(int(word[-1]))})
    try:
        return VARIANTS[_VARIATIONS[word]] if word in _VARIATIONS else Variant.parse(said)
    except SettingsError as error:
        msg = f"the record's variation {said[:60]!r} is unknown: {error}"
        raise NotationError(msg) from error


def _start_cubes(headers: Mapping[str, str]) -> dict[int, int]:
    """Our own header: the games that automatic doubles began with a higher cube, "3:2 7:4"."""
    found = re.findall(r"(\d{1,5}):(\d{1,5})", headers.get("InitialCube", ""))
    return {int(game): int(cube) for game, cube in found if int(cube) > 1 and not int(cube) & (int(cube) - 1)}


def _start_cube(game: GameRecord, cube: int) -> int:
    """The cube that our header gives a game, unless its first double shows that other programs have played on without it."""
    first = next((entry.value for entry in game.entries if entry.kind == "double" and entry.value), 2 * cube)
    return cube if first == 2 * cube else 1


def _game(lines: Sequence[Line], columns: Columns, headers: Mapping[str, str]) -> tuple[GameRecord, Heading | None, list[Note]]:
    """The game in `lines`, the first of which is 'Game N', and its heading."""
    found = _GAME.fullmatch(lines[0].text)
    number = int(found[1]) if found else 0
    heading, first = None, 1
    for k in range(1, len(lines)):
        text = lines[k].text.strip()
        if text.startswith((";", "#")):  # a comment, unless a name begins so
            heading = heading or read_heading(lines[k].text)
        elif text:
            said = read_heading(lines[k].text)
            heading, first = said or heading, k + 1 if said else k
            break
    names = names_of(heading, headers)
    entries, notes = entries_of([without_names(line, names) for line in lines[first:]], columns, number)
    return GameRecord(number, heading.score if heading else None, entries), heading, notes
