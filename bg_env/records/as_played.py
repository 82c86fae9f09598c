"""Records completed by a replay: everything that a record leaves open and the game shows."""

from __future__ import annotations

from dataclasses import replace

from bg_env.errors import NotationError
from bg_env.records.check import replay
from bg_env.records.record import Entry, GameRecord, Record
from bg_env.records.report import GameReplay, Replay
from bg_env.rules import END_FINISHED, Phase

__all__ = ["as_played", "with_players"]


def as_played(record: Record) -> Record:
    """The record with what a replay finds in it; what follows a fault is left as it is.

    Found are the Crawford game, the acceptance of a beaver after which the game goes on, the resignation where an award
    follows a game that is not over, and whether Jacoby is played, where a game shows it.
    """
    try:
        found = replay(record)
    except NotationError:
        return record
    pairs = zip(record.games, found.games, strict=True)
    games = tuple(_game(_with_players(game, played), played, found) for game, played in pairs)
    return replace(record, games=games, jacoby=record.jacoby if record.jacoby is not None or record.length else _jacoby(found))


def with_players(record: Record) -> Record:
    """The record with every entry given to the player that a replay finds for it.

    The reader corrects cells alone in their line, and awards beside another cell; other records are not replayed.
    """
    entries = [entry for game in record.games for entry in game.entries]
    open_cells = any(entry.alone for entry in entries if entry.kind != "win")
    open_awards = record.settings is None and any(not entry.alone for entry in entries if entry.kind == "win")
    if not open_cells and not open_awards:
        return record
    try:
        found = replay(record)
    except NotationError:
        return record
    return replace(record, games=tuple(map(_with_players, record.games, found.games)))


def _with_players(game: GameRecord, played: GameReplay) -> GameRecord:
    """The game with the players that its events have; what follows a fault is left as it is."""
    entries = list(game.entries)
    for k, (entry, moment) in enumerate(zip(entries, played.moments[1:], strict=False)):
        if moment.player is not None and moment.player != entry.player:
            entries[k] = replace(entry, player=moment.player)
    return replace(game, entries=tuple(entries))


def _game(game: GameRecord, played: GameReplay, found: Replay) -> GameRecord:
    entries: list[Entry] = []
    for entry in game.entries:
        before = entries[-1] if entries else None
        if entry.kind == "roll" and before and before.kind in ("double", "beaver") and _is_beaver(entries):
            entries.append(Entry("take", 1 - (before.player or 0), number=entry.number))
        if entry.kind == "win" and before and before.kind != "resign" and _given_up(played, found):
            entries.append(Entry("resign", 1 - (entry.player or 0), number=entry.number))
        entries.append(entry)
    first = found.states[played.moments[0].index] if played.moments else None
    crawford = game.crawford if first is None or not found.settings.match_length else bool(first["crawford"])
    return replace(game, entries=tuple(entries), crawford=crawford)


def _is_beaver(entries: list[Entry]) -> bool:
    """Whether the last entry turns the cube again at once."""
    return entries[-1].kind == "beaver" or (len(entries) > 1 and entries[-2].kind in ("double", "beaver"))


def _given_up(played: GameReplay, found: Replay) -> bool:
    """Whether the game was not over before its award."""
    if played.faults or len(played.moments) < 2:
        return False
    before = found.states[played.moments[-2].index]
    return bool(before["phase"] != Phase.OVER and before["winner"] < 0 and before["ending"] <= END_FINISHED)


def _jacoby(found: Replay) -> bool | None:
    """Whether Jacoby is played (R8.5), which a gammon with the centred cube shows; None if no game does."""
    for played in found.games:
        if played.winner is None or played.faults or len(played.moments) < 2 or not found.settings.cube:
            continue
        state = found.states[played.moments[-2].index]
        if state["owner"] == -1 and state["level"] > 1 and state["phase"] == Phase.OVER:
            return played.points < int(state["level"]) << int(state["cube"])
    return None
