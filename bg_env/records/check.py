"""Replay of records with the engine: every roll, play, turn of the cube, award and score is checked."""

from __future__ import annotations

from typing import Final

from bg_env.errors import BgEnvError, NotationError
from bg_env.records.check_game import GameCheck
from bg_env.records.record import GameRecord, Note, Record, checked_record
from bg_env.records.report import Kept, Replay
from bg_env.rules import Settings

__all__ = ["replay", "replay_settings", "stated_settings"]

_MOST: Final = 15
"""Beavers and automatic doubles allowed in money play where the record does not give their number."""


def replay_settings(record: Record) -> Settings:
    """The settings that a record is checked under: its own where it has them all, else the widest that fit it.

    The widest have no cap of the cube and allow dead cubes (R9.3), and in money play 15 beavers and automatic doubles.
    """
    checked_record(record)
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


def stated_settings(record: Record) -> Settings:
    """The settings that a record states, to be shown: without those that `replay_settings` widens where it says nothing."""
    settings = replay_settings(record)
    if record.settings is not None:
        return settings
    return Settings(
        record.variant,
        cube=settings.cube,
        match_length=settings.match_length,
        crawford=settings.crawford,
        jacoby=settings.jacoby,
    )


def replay(record: Record) -> Replay:
    """Play a record again with the engine, and check it.

    Raises:
        NotationError: it is not a Record, or its settings contradict each other.
    """
    checked_record(record)
    try:
        settings = replay_settings(record)
    except BgEnvError as error:
        msg = f"the record cannot be played: {error}"
        raise NotationError(msg) from error
    kept = Kept()
    games, notes = [], list(record.notes)
    expected: set[tuple[int, int]] = set()
    crawford_is_over = False
    for k, game in enumerate(record.games):
        crawford = _is_crawford(record, settings, game, over=crawford_is_over)
        if crawford and k == 0 and game.crawford is None and _trailing_player_doubles(game):
            crawford = False
            notes.append(Note(game.number, 0, "the record begins after the Crawford game, for the player behind doubles"))
        check = GameCheck(record, settings, game, kept, number=k + 1, crawford=crawford, last=k + 1 == len(record.games))
        games.append(check.run(expected))
        notes += check.notes
        if game.score and record.length:
            crawford_is_over = crawford_is_over or max(game.score) >= record.length - 1
        expected = check.next_scores()
    return Replay(record, settings, tuple(games), kept.states[: kept.n], tuple(notes))


def _is_crawford(record: Record, settings: Settings, game: GameRecord, *, over: bool) -> bool:
    """R9.2: as in the record, or the first game in which exactly one player has N - 1 points."""
    if game.crawford is not None:
        return game.crawford
    if game.score is None or over or not settings.crawford or not settings.cube or record.length < 2:
        return False
    return sum(points == record.length - 1 for points in game.score) == 1


def _trailing_player_doubles(game: GameRecord) -> bool:
    """Whether the first double of a game at N - 1 points is by the other player, who has won points.

    At N - 1 to 0 a game is always the Crawford game: one more won by the player behind is a point.
    """
    behind = min((0, 1), key=lambda player: (game.score or (0, 0))[player])
    doubles = [entry.player for entry in game.entries if entry.kind == "double"]
    return bool(game.score and min(game.score) and doubles and doubles[0] == behind)
