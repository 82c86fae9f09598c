"""Records as `.mat` text, laid out as GNU Backgammon lays it out, which reads it back as the same games."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bg_env.errors import NotationError
from bg_env.records.as_played import with_players
from bg_env.records.record import Entry, GameRecord, Record, checked_record, plain_text, unwritable
from bg_env.rules import VARIANTS

__all__ = ["write_mat"]

_NAMES_OF: Final = {"backgammon": "Backgammon", "nackgammon_ballard": "NackGammon", "hypergammon": "HyperGammon (3)"}
_WIDTH: Final = 27
_LOOSE_SITE: Final = "Backgammon Galaxy"
_LOOSE_LENGTH: Final = 16
"""The length by which that server's money play, a game a file, is known."""


def write_mat(record: Record) -> str:
    """The record as `.mat` text, laid out as GNU Backgammon does.

    Automatic doubles, which other programs leave out, stand in a header of our own, `InitialCube`; a variant that has no
    name there stands in `Variation` as its own text. Money play that a server scores as a match is written as the server
    does. The dice of an opening throw that only decides who starts are not kept.

    Raises:
        NotationError: a game starts from a position, was ended by an illegal action, or is one of several of money play that
            a server writes as a match: the format cannot hold that.
    """
    record = with_players(checked_record(record))
    if record.loose and (len(record.games) != 1 or record.games[0].score not in (None, (0, 0))):
        msg = "money play that is scored as a match stands in .mat as one game at 0-0: write JSON lines"
        raise NotationError(msg)
    for game in record.games:
        if game.start or game.state:
            msg = f".mat cannot hold that game {game.number} starts from a position: write .sgf or JSON lines"
            raise NotationError(msg)
        if any(entry.kind == "illegal" for entry in game.entries):
            msg = f".mat cannot hold that an illegal action ended game {game.number}: write JSON lines"
            raise NotationError(msg)
    names = tuple(_name(name, k) for k, name in enumerate(record.players))
    lines = [f'; [{name} "{value}"]' for name, value in _headers_of(record, names).items()]
    lines += ["", f" {_LOOSE_LENGTH if record.loose else record.length} point match", ""]
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
    if record.loose:
        headers["Site"] = _LOOSE_SITE
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
    for player, text in _cells(game):
        if len(cells) % 2 != player:
            cells.append("")
        cells.append(text)
    award = game.award
    said = "" if award is None else _award(award, game, length)
    dropped = len(game.entries) > 1 and game.entries[-2].kind == "drop"
    if award and dropped and award.player == len(cells) % 2 == 1:
        cells.append(f" {said}")  # elsewhere GNU Backgammon takes the double for a beaver
        said = ""
    for k in range(0, len(cells), 2):
        right = cells[k + 1] if k + 1 < len(cells) else ""
        yield f"{k // 2 + 1:3d}) {cells[k]:<{_WIDTH}} {right}".rstrip()
    if award and said:
        yield f"{' ' * (34 if award.player else 6)}{said}"


def _cells(game: GameRecord) -> Iterator[tuple[int, str]]:
    """The player and the text of each cell, without the award.

    The acceptance of a beaver is not written where a roll follows. GNU Backgammon adds it there, and after the word
    "Beavers" it adds it to the next roll even if that is of another game; so a beaver that is dropped is called a raccoon.
    """
    entries = [entry for entry in game.entries if entry.kind not in ("tie", "throw", "win")]
    if game.award:  # a resignation is the award that nothing explains
        entries = [entry for entry in entries if entry.kind != "resign"]
    kinds = [entry.kind for entry in entries] + [""] * 2
    for k, entry in enumerate(entries):
        if entry.kind == "take" and k and kinds[k - 1] == "beaver" and kinds[k + 1] == "roll":
            continue
        goes_on = kinds[k + 1] in ("roll", "beaver") or kinds[k + 1 : k + 3] == ["take", "roll"]
        if entry.kind == "unreadable":
            raise unwritable(entry, game)
        yield entry.player or 0, _cell_text(entry, "Beavers" if goes_on else "Raccoons")


def _award(award: Entry, game: GameRecord, length: int) -> str:
    ends = length and max(award.value + (game.score or (0, 0))[award.player or 0], 0) >= length
    return f"Wins {award.value} point{'s' * (award.value != 1)}{' and the match' * bool(ends)}"


def _cell_text(entry: Entry, beaver: str) -> str:
    if entry.kind == "roll" and entry.dice:
        return f"{entry.dice[0]}{entry.dice[1]}: {plain_text(entry.text)}".rstrip()
    if entry.kind in ("double", "beaver"):
        word = "Doubles" if entry.kind == "double" else beaver
        return f" {word} => {entry.value}" if entry.value else f" {word}"
    if entry.kind in ("take", "drop"):
        return f" {entry.kind.capitalize()}s"
    return f" Resigns {entry.value} point{'s' * (entry.value != 1)}" if entry.value else " Resigns"
