"""Replay of records with the engine: every roll, play, turn of the cube, award and score is checked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bg_env.errors import BgEnvError, NotationError
from bg_env.records.check_game import GameCheck
from bg_env.records.files import read_records
from bg_env.records.record import GameRecord, Record
from bg_env.records.report import FileReplay, Kept, Replay
from bg_env.rules import Settings

__all__ = ["replay", "replay_files", "replay_settings"]

_MOST: Final = 15
"""Beavers and automatic doubles allowed in money play where the record does not give their number."""


def replay_settings(record: Record) -> Settings:
    """The settings that a record is checked under: its own where it has them all, else the widest that fit it.

    The widest have no cap of the cube and allow dead cubes (R9.3), and in money play 15 beavers and automatic doubles.
    """
    if record.settings is not None:
        return record.settings
    money = record.length == 0
    cube = record.cube is not False
    return Settings(
        record.variant,
        cube=cube,
        match_length=record.length,
        crawford=record.crawford is not False,
        allow_dead_cube=True,
        cube_cap=None,
        jacoby=money and record.jacoby is True,
        beavers=_MOST if money and cube else 0,
        auto_doubles=_MOST if money and cube else 0,
    )


def replay(record: Record) -> Replay:
    """Play a record again with the engine, and check it.

    Raises:
        NotationError: the record's settings cannot stand.
    """
    try:
        settings = replay_settings(record)
    except BgEnvError as error:
        msg = f"the record cannot be played: {error}"
        raise NotationError(msg) from error
    kept = Kept()
    games = []
    expected: set[tuple[int, int]] = set()
    crawford_is_over = False
    for k, game in enumerate(record.games):
        crawford = _is_crawford(record, settings, game, over=crawford_is_over)
        check = GameCheck(record, settings, game, kept, number=k + 1, crawford=crawford, last=k + 1 == len(record.games))
        games.append(check.run(expected))
        if game.score and record.length:
            crawford_is_over = crawford_is_over or max(game.score) >= record.length - 1
        expected = check.next_scores()
    return Replay(record, settings, tuple(games), kept.states[: kept.n])


def _is_crawford(record: Record, settings: Settings, game: GameRecord, *, over: bool) -> bool:
    """R9.2: as in the record, or the first game in which exactly one player has N - 1 points."""
    if game.crawford is not None:
        return game.crawford
    if game.score is None or over or not settings.crawford or not settings.cube or record.length < 2:
        return False
    return sum(points == record.length - 1 for points in game.score) == 1


def replay_files(paths: Iterable[str | Path]) -> list[FileReplay]:
    """Read and replay files; their faults are in the results, and raise nothing."""
    return [_replay_file(path) for path in paths]


def _replay_file(path: str | Path) -> FileReplay:
    try:
        return FileReplay(str(path), tuple(replay(record) for record in read_records(path)))
    except OSError as error:
        return FileReplay(str(path), error=f"it cannot be read: {error.strerror or error}")
    except NotationError as error:
        return FileReplay(str(path), error=str(error))
