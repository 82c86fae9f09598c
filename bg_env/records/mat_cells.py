"""Lines of a game in `.mat` as entries: cells, their columns, and the words that programs write in them."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from bg_env.records.record import Entry, Kind, Note, plain_text

__all__ = ["Columns", "Heading", "Line", "entries_of", "find_columns", "names_of", "read_heading", "read_line", "without_names"]

_FIRST_SCORE = re.compile(r":\s*(\d{1,9})\s+")
_LAST_SCORE = re.compile(r"\s*(\d{1,9})\s*")
_TWO_ROLLS = re.compile(r"\s*(\d{1,5})\)\s*([1-6]{2}:[-0-9/*() barof]*)(?<= )([1-6]{2}:[-0-9/*() barof]*)")
_LINE = re.compile(r"\s*(\d{1,5})\)(.*)")
_RESIGNATION = r"\?{2,}|(?:los[es]\w*|lost|resign\w*|conced\w*|forfeit\w*)\b"
_CELL = re.compile(
    r"(?<!\S)(?:\d\d:|(?:(?:re)?doubles?|beavers?|raccoons?|takes?|accepts?|drops?|pass(?:es)?|rejects?|wins?)\b|"
    + _RESIGNATION
    + ")",
    re.IGNORECASE,
)
_ROLL = re.compile(r"([1-6])([1-6]):(.*)")
_BARE_ROLL = re.compile(r"[1-6]{2}:[ ]{0,4}")
_RESIGNS = re.compile(rf"(?:{_RESIGNATION})\D{{0,60}}?(\d{{1,9}})?[^\d:]{{0,60}}", re.IGNORECASE)
_TURN = re.compile(r"([a-z]+)(?:\s*(?:=>|to)\s*(\d{1,9}))?\s*", re.IGNORECASE)
_NAMED = re.compile(rf"wins?\s+\d|{_RESIGNATION}", re.IGNORECASE)
_WINS = re.compile(r"wins?\s+(\d{1,9})(?:\s+p\w*)?(?:\s+and\s+the\s+match)?\.?\s*", re.IGNORECASE)

_TURNS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "double": ("doub", "redo"),
    "beaver": ("beav", "racc"),
    "take": ("take", "acce"),
    "drop": ("drop", "pass", "reje"),
}
_USUAL_SECOND: Final = 33
"""The place where the second column begins if nothing in the text shows it."""
_TAB: Final = 8


class Heading(NamedTuple):
    """The line with the names and the scores of both players."""

    names: tuple[str, str]
    score: tuple[int, int]
    at: int
    """The place where the second name begins."""


def read_heading(line: str) -> Heading | None:
    """The line "NAME : SCORE   NAME : SCORE" in its parts, None if it is not one; the time is linear in its length."""
    head, colon, tail = line.rpartition(":")
    last = _LAST_SCORE.fullmatch(tail)
    first = _FIRST_SCORE.search(head) if colon and last else None
    if first is None or last is None:
        return None
    names = head[: first.start()].strip(), head[first.end() :].strip()
    return Heading(names, (int(first[1]), int(last[1])), first.end())


class Line(NamedTuple):
    """A line of a game in its parts.

    Attributes:
        text: the line.
        number: the number that it begins with, None without one.
        at: where its cells may begin.
        cells: where they do.
        named: the places of resignations and awards that a player's name stood before, and the player.
    """

    text: str
    number: int | None
    at: int
    cells: Sequence[int]
    named: Mapping[int, int] = MappingProxyType({})


def read_line(text: str) -> Line:
    """A line in its parts; the usual one, of two rolls, is found at once."""
    usual = _TWO_ROLLS.fullmatch(text)
    if usual:
        return Line(text, int(usual[1]), usual.start(2), (usual.start(2), usual.start(3)))
    numbered = _LINE.fullmatch(text)
    at = numbered.start(2) if numbered else 0
    return Line(text, int(numbered[1]) if numbered else None, at, _found(text, at))


def _found(line: str, at: int) -> list[int]:
    """The places from `at` on where cells begin; a resignation right after a roll without a play is part of the roll's cell."""
    found: list[int] = []
    for cell in _CELL.finditer(line, at):
        gives_up = cell[0][-1] != ":" and _RESIGNS.match(cell[0])
        if not (found and gives_up and _BARE_ROLL.fullmatch(line, found[-1], cell.start())):
            found.append(cell.start())
    return found


def names_of(heading: Heading | None, headers: Mapping[str, str]) -> Mapping[str, int]:
    """The names, in small letters, that may stand before a resignation or an award, and the player of each.

    Args:
        heading: of the game; a rating after a name may be absent further down.
        headers: of the record: they have the full name where the heading shortens it.
    """
    if heading is None:
        return {}
    found: list[set[str]] = []
    full = [value.strip() for key, value in headers.items() if "".join(key.lower().split()) in ("player1", "player2")]
    for name in heading.names:
        short = name.rstrip("0123456789.,() \t")
        short = short if name[len(short) : len(short) + 1] in ("", " ", "(", "\t") else name
        found.append({said.lower() for said in (name, short, *(said for said in full if short and said.startswith(short)))})
    exact = [name.lower() for name in heading.names]
    players = {name: k for k in (0, 1) for name in found[k] - found[1 - k]}
    players |= {exact[k]: k for k in (0, 1) if exact[0] != exact[1]}
    players.pop("", None)
    return players


def without_names(line: Line, players: Mapping[str, int]) -> Line:
    """The line without a player's own name before a resignation or an award, which says whose it is."""
    text, named = line.text, {}
    for start in line.cells:
        if text[start].isdigit() or not _NAMED.match(text, start):
            continue
        before = text[line.at : start].rstrip().lower()
        fits = [name for name in players if before.endswith(name) and not before[: -len(name)][-1:].strip(" \t)")]
        if fits and len(before) <= start - line.at:
            name = max(fits, key=len)
            at = line.at + len(before) - len(name)
            text = text[:at] + " " * (start - at) + text[start:]
            named[start] = players[name]
    return read_line(text)._replace(named=named) if named else line


@dataclass(frozen=True)
class Columns:
    """The place where the second column of a text begins.

    Attributes:
        limit: a cell from this place on is in the second column; tabs stand for the spaces up to the next multiple of 8.
        field: instead, in text whose cells are divided by single tabs, the number of tabs before the second column.
    """

    limit: float = _USUAL_SECOND / 2 + 2
    field: int | None = None

    def is_second(self, line: str, at: int) -> bool:
        """Whether the cell that begins at the character `at` of a line is in the second column."""
        tabs = line.count("\t", 0, at)
        if tabs and self.field is not None:
            return tabs >= self.field
        return (len(line[:at].expandtabs(_TAB)) if tabs else at) >= self.limit


def find_columns(lines: Iterable[Line]) -> Columns:
    """The columns of a text: the second begins where most second cells do, or after as many tabs.

    A cell left of half of that place is in the first.
    """
    places: Counter[int] = Counter()
    fields: Counter[int] = Counter()
    for line in lines:
        if line.number is not None:
            if len(line.cells) == 2:
                first, second = line.cells
                before = line.text[:second]
                places[len(before.expandtabs(_TAB)) if "\t" in before else second] += 1
                if "\t" in line.text[first:second]:
                    fields[before.count("\t")] += 1
        elif not places:
            heading = read_heading(line.text)
            if heading and heading.names[1]:
                places[len(line.text[: heading.at].expandtabs(_TAB))] += 0
    limit = (places.most_common(1)[0][0] if places else _USUAL_SECOND) / 2 + 2
    by_tabs = fields and fields.most_common(1)[0][1] > places.most_common(1)[0][1]
    return Columns(limit, fields.most_common(1)[0][0] if by_tabs else None)


class _Row(NamedTuple):
    """A line of a game: its entries, and whether it begins with a number."""

    entries: list[Entry]
    numbered: bool


def entries_of(lines: Sequence[Line], columns: Columns, game: int) -> tuple[tuple[Entry, ...], list[Note]]:
    """The entries of a game, and the dialects in them.

    Args:
        lines: the lines of the game below its heading.
        columns: of the text.
        game: the number of the game.
    """
    rows: list[_Row] = []
    move = 0
    for line in lines:
        if line.number is None and (not line.text.strip() or line.text.lstrip().startswith((";", "#"))):
            continue
        move = move if line.number is None else line.number
        rows.append(_Row(_row(line, columns, move), line.number is not None))
    _settle_first(rows)
    return _settled(rows, game)


def _row(line: Line, columns: Columns, move: int) -> list[Entry]:
    text, cells = line.text, line.cells
    entries = []
    before = text[line.at : cells[0] if cells else len(text)].strip()
    if before:
        start = text.index(before, line.at)
        entries.append(Entry("unreadable", int(columns.is_second(text, start)), text=before, number=move))
    two = len(cells) == 2
    for k, start in enumerate(cells):
        second = k == 1 if two else columns.is_second(text, start)
        if two and k and text[start : start + 3].lower() == "win":
            second = columns.is_second(text, start)
        for kind, dice, said, value, played in _cell(text[start : cells[k + 1] if k + 1 < len(cells) else len(text)].strip()):
            player, alone = int(second), len(cells) == 1
            if start in line.named:
                player, alone = line.named[start], kind == "win"
            entries.append(Entry(kind, player, dice, said, value, move, alone, played))
    return entries


_Cell = tuple[Kind, tuple[int, int] | None, str, int, bool]
"""Kind, dice, text, value and `played` of an entry."""


@functools.lru_cache(maxsize=32_768)
def _cell(text: str) -> tuple[_Cell, ...]:
    """A cell as the contents of entries; cached, because few different ones occur."""
    roll = _ROLL.fullmatch(text)
    if roll:
        dice = max(int(roll[1]), int(roll[2])), min(int(roll[1]), int(roll[2]))
        play = roll[3].strip()
        gives_up = _RESIGNS.fullmatch(play)
        if gives_up:
            return ("roll", dice, "", 0, False), ("resign", None, play, int(gives_up[1] or 0), True)
        return (("roll", dice, plain_text(play), 0, bool(play)),)
    word = text.lower()
    turn = _TURN.fullmatch(text)
    if turn:
        value = int(turn[2] or 0)
        for kind, starts in _TURNS.items():
            if word.startswith(starts) and (not value or kind in ("double", "beaver")):
                return ((kind, None, "", value, True),)
    wins = _WINS.fullmatch(text)
    if wins:
        return (("win", None, "", int(wins[1]), True),)
    gives_up = _RESIGNS.fullmatch(text)
    if gives_up:
        return (("resign", None, text, int(gives_up[1] or 0), True),)
    return (("unreadable", None, text, 0, True),)


def _settle_first(rows: list[_Row]) -> None:
    """Give the first roll, where it is alone in its line, to the player who does not act first in the next line.

    So it is known whatever the columns are.
    """
    acted = [row for row in rows if row.entries]
    if len(acted) < 2 or [entry.kind for entry in acted[0].entries] != ["roll"]:
        return
    following = acted[1].entries
    if len(following) == 2 and following[0].kind in ("roll", "double") and following[1].kind not in ("win", "resign"):
        acted[0].entries[0] = replace(acted[0].entries[0], player=1)


def _settled(rows: list[_Row], game: int) -> tuple[tuple[Entry, ...], list[Note]]:
    """The entries in order: resignations before the award and of the player who did not win, beavers accepted."""
    entries: list[Entry] = []
    notes: list[Note] = []
    for row in rows:
        for entry in row.entries:
            if entry.kind == "resign":
                free = not row.numbered and entry.alone
                entries.append(replace(entry, player=None) if free else entry)
            elif entry.kind == "roll" and entries and entries[-1].kind == "beaver":
                takes = Entry("take", 1 - (entries[-1].player or 0), number=entry.number)
                notes.append(Note(game, entry.number, "the acceptance of a beaver is not written, but the game goes on"))
                entries += [takes, entry]
            else:
                entries.append(entry)
    for k, entry in enumerate(entries):
        if entry.kind != "resign":
            continue
        last = all(other.kind in ("resign", "win") for other in entries[k + 1 :])
        if entry.text.startswith("?") and not last:
            notes.append(Note(game, entry.number, f"{entry.text} stands for a play that is not known"))
            continue
        notes.append(Note(game, entry.number, f"{' '.join(entry.text.split())!r} is a resignation"))
    return _in_order(entries), notes


def _in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    """The entries with one resignation at most, before the award; `????` within the game is not a resignation."""
    end = len(entries)
    while end and entries[end - 1].kind in ("resign", "win"):
        end -= 1
    game = [entry for entry in entries[:end] if not (entry.kind == "resign" and entry.text.startswith("?"))]
    resigned = [entry for entry in entries[end:] if entry.kind == "resign"]
    awards = [entry for entry in entries[end:] if entry.kind == "win"]
    if resigned:
        player = next((entry.player for entry in resigned if entry.player is not None), None)
        if awards and (player is None or resigned[0].text.startswith("?")):
            player = 1 - (awards[0].player or 0)
        game.append(replace(resigned[0], player=player, text=""))
    return (*game, *awards)
