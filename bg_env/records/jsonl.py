"""Records as JSON lines: an object a game, with everything that was played here, so that it reads back the same.

`{"format": "bg_env", "version": 1, "match": 1, "game": 1, "players": [..], "settings": "..", "score": [0, 0], "crawford":
false, "events": [[0, "31: 8/5 6/5"], [1, "double 2"], [0, "take"], ...], "result": {"winner": 0, "points": 2}}`

| event | meaning |
|---|---|
| `31: 8/5 6/5` | a roll and its play; `66:` could not be played |
| `double 2`, `beaver 4`, `take`, `drop` | turns of the cube, to what value, and the answers |
| `resign 2` | gives the game up for so many points |
| `tie 33`, `throw 62` | opening throws: one that doubled the cube, one that only says who starts (player 0's die first) |
| `illegal 17` | an illegal action, which ended the game |

The first of a pair is the player, or null. `start` is the id, and `state` the STATE record by field, that a game starts from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from bg_env.checks import is_whole
from bg_env.errors import NotationError, SettingsError
from bg_env.records.as_played import with_players
from bg_env.records.record import (
    MOST_BYTES,
    Entry,
    GameRecord,
    Kind,
    Record,
    checked_records,
    checked_text,
    plain_text,
    unwritable,
)
from bg_env.rules import VARIANTS, Settings

__all__ = ["read_jsonl", "write_jsonl"]

_FORMAT: Final = "bg_env"
_VERSION: Final = 1
_ROLL = re.compile(r"([1-6])([1-6]):(.*)", re.ASCII)
_WORD = re.compile(r"(double|beaver|take|drop|resign|illegal|tie|throw)(?: (-?\d{1,9}))?", re.ASCII)
_MOST: Final = 2**31 - 1
_LONGEST_LINE: Final = 2**24
"""The most characters of a line, which holds a game: a long one has a few thousand."""


def write_jsonl(records: Iterable[Record]) -> str:
    """The records as JSON lines.

    Raises:
        NotationError: something in them was not understood when it was read.
    """
    return "".join(line + "\n" for number, record in enumerate(checked_records(records), 1) for line in _lines(record, number))


def _lines(record: Record, number: int) -> Iterator[str]:
    record = with_players(record)
    settings = record.settings
    for game in record.games:
        said: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "match": number, "game": game.number}
        said |= {"players": list(record.players), "variant": _name(record), "length": record.length}
        said["settings"] = None if settings is None else str(settings)
        said |= {"jacoby": record.jacoby, "crawford_rule": record.crawford, "cube_in_play": record.cube}
        said |= {"headers": dict(record.headers)} if record.headers else {}
        said |= {"loose": True} if record.loose else {}
        said |= {"score": None if game.score is None else list(game.score), "crawford": game.crawford}
        said |= {"cube": game.cube} if game.cube > 1 else {}
        said |= {"start": game.start} if game.start is not None else {}
        said |= {"state": dict(game.state)} if game.state is not None else {}
        said["events"] = [[entry.player, _text(entry, game)] for entry in game.entries if entry.kind != "win"]
        award = game.award
        said["result"] = None if award is None else {"winner": award.player, "points": award.value}
        yield json.dumps(said, ensure_ascii=False)


def _name(record: Record) -> str:
    name = record.variant.name
    return name if VARIANTS.get(name) == record.variant else str(record.variant)


def _text(entry: Entry, game: GameRecord) -> str:
    if entry.kind == "unreadable":
        raise unwritable(entry, game)
    if entry.kind == "roll" and entry.dice:
        text = entry.text if entry.text or not entry.played else "no move"
        return f"{entry.dice[0]}{entry.dice[1]}: {text}".rstrip()
    if entry.dice:
        return f"{entry.kind} {entry.dice[0]}{entry.dice[1]}"
    return f"{entry.kind} {entry.value}" if entry.value or entry.kind == "illegal" else entry.kind


def read_jsonl(text: str) -> list[Record]:
    """The records written in `text`, one for each `match`.

    Raises:
        NotationError: a line, which the message names, is not a JSON object of this format or has more than 2**24 characters.
    """
    records: dict[int, Record] = {}
    games: dict[int, list[GameRecord]] = {}
    for k, line in enumerate(checked_text(text, MOST_BYTES).splitlines(), 1):
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE:
            msg = f"line {k} has {len(line):,} characters: a game has at most {_LONGEST_LINE:,}"
            raise NotationError(msg)
        try:
            said = json.loads(line)
            number, record = _record(said)
        except NotationError as error:
            msg = f"line {k}: {error}"
            raise NotationError(msg) from error
        except (ValueError, RecursionError) as error:
            msg = f"line {k} is not a JSON object: {str(error)[:80]}"
            raise NotationError(msg) from error
        one = replace(record, games=())
        if records.setdefault(number, one) != one:
            msg = f"line {k}: the games of match {number} have different players or settings"
            raise NotationError(msg)
        games.setdefault(number, []).extend(record.games)
    if not records:
        msg = "this is not a record: it has no line"
        raise NotationError(msg)
    return [replace(record, games=tuple(games[number])) for number, record in records.items()]


def _need(ok: Any, what: str) -> None:
    if not ok:
        raise NotationError(what)


def _flag(said: dict[str, Any], name: str) -> bool | None:
    value = said.get(name)
    _need(value is None or isinstance(value, bool), f"{name} is true, false or null, not {str(value)[:40]!r}")
    return None if value is None else bool(value)


def _record(said: Any) -> tuple[int, Record]:
    _need(isinstance(said, dict) and said.get("format") == _FORMAT, f'it is not an object with "format": "{_FORMAT}"')
    _need(said.get("version") == _VERSION, f"version {str(said.get('version'))[:20]} is unknown: {_VERSION} is known")
    number, players, headers = said.get("match", 1), said.get("players"), said.get("headers", {})
    _need(is_whole(number, 0, _MOST), "match is a number")
    named = isinstance(players, list) and len(players) == 2 and all(isinstance(name, str) for name in players)
    _need(named, "players are two names")
    texts = isinstance(headers, dict) and all(isinstance(value, str) for value in headers.values())
    _need(texts, "headers are texts by name")
    for name in ("settings", "variant"):
        _need(isinstance(said.get(name), str) or (name == "settings" and said.get(name) is None), f"{name} is text")
    try:
        variant = Settings(said["variant"]).variant
        settings = None if said.get("settings") is None else Settings.parse(said["settings"])
    except SettingsError as error:
        raise NotationError(str(error)) from error
    _need(is_whole(said.get("length"), 0, _MOST), "length is a number of points")
    _need(
        settings is None or (settings.variant, settings.match_length) == (variant, said["length"]),
        "the settings contradict the variant or the length",
    )
    return number, Record(
        players=(players[0], players[1]),
        variant=variant,
        length=said["length"],
        games=(_game(said),),
        jacoby=_flag(said, "jacoby"),
        crawford=_flag(said, "crawford_rule"),
        cube=_flag(said, "cube_in_play"),
        loose=bool(_flag(said, "loose")),
        headers=headers,
        settings=settings,
    )


def _game(said: dict[str, Any]) -> GameRecord:
    _need(is_whole(said.get("game"), 0, _MOST), "game is a number")
    score, cube, events, result = said.get("score"), said.get("cube", 1), said.get("events"), said.get("result")
    scored = score is None or (isinstance(score, list) and len(score) == 2 and all(is_whole(n, 0, 10**9) for n in score))
    _need(scored, "score is two numbers of points, or null")
    _need(is_whole(cube, 1, 1 << 15) and not cube & (cube - 1), "cube is a power of two")
    _need(isinstance(events, list), "events is a list")
    _need(isinstance(said.get("start"), (str, type(None))), "start is the text of an id")
    _need(isinstance(said.get("state"), (dict, type(None))), "state is an object")
    entries = [_entry(event, k) for k, event in enumerate(events or (), 1)]
    if result is not None:
        right = isinstance(result, dict) and is_whole(result.get("winner"), 0, 1) and is_whole(result.get("points"), 0, _MOST)
        _need(right, "result is a winner, 0 or 1, and points, or null")
        entries.append(Entry("win", result["winner"], value=result["points"], number=len(entries), alone=True))
    return GameRecord(
        number=said["game"],
        score=None if score is None else (score[0], score[1]),
        entries=tuple(entries),
        crawford=_flag(said, "crawford"),
        cube=cube,
        start=said.get("start"),
        state=said.get("state"),
    )


def _entry(event: Any, number: int) -> Entry:
    pair = isinstance(event, list) and len(event) == 2 and isinstance(event[1], str)
    _need(pair and (event[0] is None or is_whole(event[0], 0, 1)), f"event {number} is a player (0, 1 or null) and a text")
    player, text = event
    roll = _ROLL.fullmatch(text)
    if roll:
        dice = max(int(roll[1]), int(roll[2])), min(int(roll[1]), int(roll[2]))
        return Entry("roll", player, dice, plain_text(roll[3].strip()), number=number, played=bool(roll[3].strip()))
    word = _WORD.fullmatch(text)
    if not word:
        return Entry("unreadable", player, text=text, number=number)
    kind: Kind = word[1]  # type: ignore[assignment] # the pattern's alternatives are kinds
    if kind in ("tie", "throw"):
        thrown = re.fullmatch(r"[1-6]{2}", word[2] or "")
        if not thrown:
            return Entry("unreadable", player, text=text, number=number)
        return Entry(kind, player, (int(thrown[0][0]), int(thrown[0][1])), number=number)
    return Entry(kind, player, value=int(word[2] or 0), number=number)
