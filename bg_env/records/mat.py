"""The text format of match records, `.mat`: two columns of rolls, plays and turns of the cube; read in its dialects.

What programs and servers write differs: headers (`; [Name "Value"]`) or none, ratings behind names, 25 and 0 or bar and
off, hits or none, steps or ways, `Cannot Move` or nothing, awards in either column, `Losses`, `Resigns` or nothing for a
resignation, the acceptance of a beaver unwritten, and "16 point match" for money play without end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from bg_env.errors import NotationError, SettingsError
from bg_env.records.record import MOST_GAMES, Entry, GameRecord, Kind, Record, checked_text, plain_text
from bg_env.rules import VARIANTS, Variant

__all__ = ["read_mat", "write_mat"]

_HEADER = re.compile(r";\s*\[([^\"\]]*)\"(.*)\"\s*\]\s*")
_LENGTH = re.compile(r"\s*(\d{1,5}|unlimited|money)\s+(?:point\s+)?(?:match|session|game)s?\s*", re.IGNORECASE)
_GAME = re.compile(r"\s*Game\s+(\d{1,5})\s*", re.IGNORECASE)
_FIRST_SCORE = re.compile(r":\s*(\d{1,9})\s+")
_LAST_SCORE = re.compile(r"\s*(\d{1,9})\s*")
_LINE = re.compile(r"\s*(\d{1,5})\)(.*)")
_CELL = re.compile(
    r"(?<!\S)(?:\d\d:|(?:(?:re)?doubles?|beavers?|raccoons?|takes?|accepts?|drops?|passes|rejects?|wins?|los\w*|resign\w*)\b)",
    re.IGNORECASE,
)
_ROLL = re.compile(r"([1-6])([1-6]):(.*)")
_TURN = re.compile(r"([a-z]+)(?:\s*(?:=>|to)\s*(\d{1,9}))?\s*", re.IGNORECASE)
_POINTS = re.compile(r"([a-z]+)(?:\s+(\d{1,9})(?:\s+points?)?)?(?:\s+and\s+the\s+match\.?)?\s*", re.IGNORECASE)

_TURNS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "double": ("doub", "redo"),
    "beaver": ("beav", "racc"),
    "take": ("take", "acce"),
    "drop": ("drop", "pass", "reje"),
}
_LONGEST: Final = 400
"""Characters of a line that are read; no record needs more."""
_GALAXY_CUBE: Final = "1024"
_GALAXY_MONEY: Final = (16, 17)
_VARIATIONS: Final = {
    "backgammon": "backgammon",
    "nackgammon": "nackgammon_ballard",
    "hypergammon": "hypergammon",
    "longgammon": "longgammon",
}
_NAMES_OF: Final = {"backgammon": "Backgammon", "nackgammon_ballard": "NackGammon", "hypergammon": "HyperGammon"}
_FLAGS: Final = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


class _Heading(NamedTuple):
    """The line with the names and the scores of both players."""

    names: tuple[str, str]
    score: tuple[int, int]
    at: int
    """Where the second name begins."""


def _heading(line: str) -> _Heading | None:
    """The line "NAME : SCORE   NAME : SCORE" in its parts, None if it is not one; the time is linear in its length."""
    head, colon, tail = line.rpartition(":")
    last = _LAST_SCORE.fullmatch(tail)
    first = _FIRST_SCORE.search(head) if colon and last else None
    if first is None or last is None:
        return None
    names = head[: first.start()].strip(), head[first.end() :].strip()
    return _Heading(names, (int(first[1]), int(last[1])), first.end())


def _headers(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.lstrip().startswith(";"):
            header = _HEADER.fullmatch(line.strip())
            if header:
                found.setdefault(header[1].strip(), header[2])
    return found


def _flag(headers: dict[str, str], name: str) -> bool | None:
    values = {key.lower(): value for key, value in headers.items()}
    return _FLAGS.get(values.get(name.lower(), "").strip().lower())


def _variant(headers: dict[str, str]) -> Variant:
    said = {key.lower(): value for key, value in headers.items()}.get("variation", "backgammon").strip()
    try:
        return VARIANTS[_VARIATIONS[said.lower()]] if said.lower() in _VARIATIONS else Variant.parse(said)
    except SettingsError as error:
        msg = f"the record's variation {said[:60]!r} is unknown: {error}"
        raise NotationError(msg) from error


def read_mat(text: str) -> Record:
    """The record written in `text`; cells that cannot be read become entries of kind "unreadable".

    Raises:
        NotationError: this is not a `.mat` record (no line "N point match", no game, or an unknown variation), or it has more
            than 2**26 characters or 100,000 games.
    """
    lines = [line[:_LONGEST] for line in checked_text(text).splitlines()]
    found = [(k, match) for k, line in enumerate(lines) if (match := _LENGTH.fullmatch(line))]
    if not found:
        msg = "this is not a .mat record: a line such as '7 point match' is missing"
        raise NotationError(msg)
    first, match = found[0]
    length = int(match[1]) if match[1].isdigit() else 0
    headers = _headers(lines[:first])
    loose = length in _GALAXY_MONEY and {k.lower(): v for k, v in headers.items()}.get("cubelimit") == _GALAXY_CUBE
    starts = [k for k in range(first + 1, len(lines)) if _GAME.fullmatch(lines[k])]
    if not starts:
        msg = "this .mat record holds no game: a line such as 'Game 1' is missing"
        raise NotationError(msg)
    if len(starts) > MOST_GAMES:
        msg = f"this is not a .mat record: it holds {len(starts):,} games, and at most {MOST_GAMES:,} are read"
        raise NotationError(msg)
    second = _second_column(lines)
    cubes = _start_cubes(headers)
    games: list[GameRecord] = []
    names: tuple[str, str] = ("", "")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        game, named = _game(lines[start:end], second)
        games.append(replace(game, cube=cubes.get(game.number, 1)))
        names = names if any(names) else named
    return Record(
        players=(headers.get("Player 1") or names[0], headers.get("Player 2") or names[1]),
        variant=_variant(headers),
        length=0 if loose else length,
        games=tuple(games),
        jacoby=_flag(headers, "Jacoby"),
        crawford=_flag(headers, "Crawford"),
        cube=_flag(headers, "Cube"),
        loose=loose,
        headers=headers,
    )


def _start_cubes(headers: dict[str, str]) -> dict[int, int]:
    """Our own header: the games that automatic doubles began with a higher cube, "3:2 7:4"."""
    found = re.findall(r"(\d{1,5}):(\d{1,5})", headers.get("InitialCube", ""))
    return {int(game): int(cube) for game, cube in found if int(cube) > 1 and not int(cube) & (int(cube) - 1)}


def _second_column(lines: list[str]) -> float:
    """Where the second column begins is where most second cells do; a cell left of half of that is in the first."""
    seconds: Counter[int] = Counter()
    for line in lines:
        numbered = _LINE.fullmatch(line)
        if numbered:
            cells = [numbered.start(2) + cell.start() for cell in _CELL.finditer(numbered[2])]
            if len(cells) == 2:
                seconds[cells[1]] += 1
        else:
            heading = None if seconds else _heading(line)
            if heading and heading.names[1]:
                seconds[heading.at] += 1
    return (seconds.most_common(1)[0][0] if seconds else 33) / 2 + 2


def _game(lines: list[str], second: float) -> tuple[GameRecord, tuple[str, str]]:
    """The game in `lines`, the first of which is 'Game N', and the players' names."""
    heading = _GAME.fullmatch(lines[0])
    number = int(heading[1]) if heading else 0
    score, names = None, ("", "")
    entries: list[Entry] = []
    move = 0
    for line in lines[1:]:
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        named = _heading(line) if score is None and not entries else None
        if named:
            score, names = named.score, named.names
            if not all(names):  # then the place of the second column is unknown
                entries.append(Entry("unreadable", None, text=f"the heading {line.strip()!r} names one player only"))
            continue
        numbered = _LINE.fullmatch(line)
        at = numbered.start(2) if numbered else 0
        move = int(numbered[1]) if numbered else move
        entries += _cells(line, at, second, move)
    return GameRecord(number, score, tuple(entries)), names


def _cells(line: str, at: int, second: float, move: int) -> Iterator[Entry]:
    found = list(_CELL.finditer(line, at))
    before = line[at : found[0].start() if found else len(line)].strip()
    if before:
        yield Entry("unreadable", int(len(line) - len(line.lstrip()) >= second), text=before, number=move)
    for k, cell in enumerate(found):
        end = found[k + 1].start() if k + 1 < len(found) else len(line)
        text = line[cell.start() : end].strip()
        right = cell.start() >= second
        player = k if len(found) == 2 and not text.lower().startswith("wins") else int(right)
        yield _cell(text, player, move, alone=len(found) == 1)


def _cell(text: str, player: int, move: int, *, alone: bool) -> Entry:
    """One cell as an entry."""
    roll = _ROLL.fullmatch(text)
    if roll:
        dice = max(int(roll[1]), int(roll[2])), min(int(roll[1]), int(roll[2]))
        play = roll[3].strip()
        return Entry("roll", player, dice, plain_text(play), number=move, alone=alone, played=bool(play))
    word = text.lower()
    turn = _TURN.fullmatch(text)
    if turn:
        value = int(turn[2] or 0)
        for kind, starts in _TURNS.items():
            if word.startswith(starts) and (not value or kind in ("double", "beaver")):
                return Entry(kind, player, value=value, number=move, alone=alone)
    points = _POINTS.fullmatch(text)
    if points and word.startswith("win") and points[2]:
        return Entry("win", player, value=int(points[2]), number=move, alone=alone)
    if points and word.startswith(("los", "resign")):
        return Entry("resign", player, value=int(points[2] or 0), number=move, alone=alone)
    return Entry("unreadable", player, text=text, number=move, alone=alone)


# Writing

_WIDTH: Final = 27


def write_mat(record: Record) -> str:
    """The record as `.mat` text, laid out as GNU Backgammon does.

    Automatic doubles, which other programs leave out, stand in a header of our own, `InitialCube`; a variant that has no
    name there stands in `Variation` as its own text. The dice of an opening throw that only decides who starts are not kept.

    Raises:
        NotationError: a game starts from a position, or was ended by an illegal action: the format cannot hold that.
    """
    for game in record.games:
        if game.start or game.state:
            msg = f".mat cannot hold that game {game.number} starts from a position: write .sgf or JSON lines"
            raise NotationError(msg)
        if any(entry.kind == "illegal" for entry in game.entries):
            msg = f".mat cannot hold that an illegal action ended game {game.number}: write JSON lines"
            raise NotationError(msg)
    names = tuple(_name(name, k) for k, name in enumerate(record.players))
    lines = [f'; [{name} "{value}"]' for name, value in _headers_of(record, names).items()]
    lines += ["", f" {record.length} point match", ""]
    for game in record.games:
        score = game.score or (0, 0)
        lines.append(f" Game {game.number}")
        lines.append(f" {f'{names[0]} : {score[0]}':<31}{names[1]} : {score[1]}")
        lines += _rows(game, record.length)
        lines.append("")
    return "\n".join(lines)


def _name(name: str, player: int) -> str:
    """A name that the format can hold: no line breaks, colons or double quotes, no runs of spaces, not empty."""
    return " ".join(re.sub(r"[:;\"\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", name).split()) or f"player_{player}"


def _headers_of(record: Record, names: tuple[str, ...]) -> dict[str, str]:
    name = record.variant.name
    known = VARIANTS.get(name) == record.variant and name in _NAMES_OF
    headers = {"Player 1": names[0], "Player 2": names[1], "Variation": _NAMES_OF[name] if known else str(record.variant)}
    for key, flag in (("Crawford", record.crawford), ("Jacoby", record.jacoby), ("Cube", record.cube)):
        if flag is not None:
            headers[key] = "On" if flag else "Off"
    cubes = {game.number: game.cube << sum(entry.kind == "tie" for entry in game.entries) for game in record.games}
    if any(cube > 1 for cube in cubes.values()):
        headers["InitialCube"] = " ".join(f"{number}:{cube}" for number, cube in cubes.items() if cube > 1)
    return headers


def _rows(game: GameRecord, length: int) -> Iterator[str]:
    """The numbered lines: the first cell is player 0's; a cell that would be out of turn leaves one empty before it."""
    cells: list[str] = []
    for entry in game.entries:
        if entry.kind in ("tie", "throw") or (entry.kind == "resign" and game.award):
            continue  # a resignation is the award that nothing explains
        if entry.kind == "win":
            break
        if len(cells) % 2 != (entry.player or 0):
            cells.append("")
        cells.append(_cell_text(entry))
    for k in range(0, len(cells), 2):
        right = cells[k + 1] if k + 1 < len(cells) else ""
        yield f"{k // 2 + 1:3d}) {cells[k]:<{_WIDTH}} {right}".rstrip()
    award = game.award
    if award:
        ends = length and max(award.value + (game.score or (0, 0))[award.player or 0], 0) >= length
        said = f"Wins {award.value} point{'s' * (award.value != 1)}{' and the match' * bool(ends)}"
        yield f"{' ' * (34 if award.player else 6)}{said}"


def _cell_text(entry: Entry) -> str:
    if entry.kind == "roll" and entry.dice:
        return f"{entry.dice[0]}{entry.dice[1]}: {plain_text(entry.text)}".rstrip()
    if entry.kind in ("double", "beaver"):
        word = {"double": "Doubles", "beaver": "Beavers"}[entry.kind]
        return f" {word} => {entry.value}" if entry.value else f" {word}"
    if entry.kind in ("take", "drop"):
        return f" {entry.kind.capitalize()}s"
    if entry.kind == "resign":
        return f" Resigns {entry.value} point{'s' * (entry.value != 1)}" if entry.value else " Resigns"
    msg = f"this cannot be written: {entry.text[:60]!r} was not understood when it was read"
    raise NotationError(msg)
