"""Records of the episodes that an environment plays, for `.mat`, `.sgf` and JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bg_env.envs.episode import OneGame
from bg_env.errors import OrderError
from bg_env.records.files import write_records
from bg_env.records.record import Record
from bg_env.records.write import session

__all__ = ["Recorder", "save_records"]


class Recorder:
    """What an environment of one game has for recording; for a batch there is `bg_env.envs.batch_recording`."""

    _one: OneGame

    def start_recording(self) -> None:
        """Make a record of each episode that begins from now on, that is from the next `reset`; a step then takes longer."""
        self._one.record_from_now()

    @property
    def records(self) -> Sequence[Record]:
        """The records of the episodes that have ended since `start_recording`."""
        return tuple(self._one.records or ())

    def save_records(self, path: str | Path, players: tuple[str, str] = ("player_0", "player_1")) -> None:
        """Write the records: `.jsonl` takes any; `.mat` and `.sgf` take one match, or money games as one session.

        Args:
            path: a file that ends with .jsonl, .mat or .sgf; it is replaced.
            players: names of player_0 and player_1.

        Raises:
            OrderError: no episode has been recorded.
            NotationError: the format cannot hold what happened (a match among others, an illegal action, ...).
            OSError: it cannot be written.
        """
        save_records(path, self.records, players)


def save_records(path: str | Path, records: Sequence[Record], players: tuple[str, str]) -> None:
    """Write records with the players' names; see `Recorder.save_records`."""
    named = [replace(record, players=players) for record in records]
    if not named:
        msg = "no episode has been recorded: begin with start_recording() or a BatchRecorder, then reset() and play to the end"
        raise OrderError(msg)
    one = Path(path).suffix.lower() != ".jsonl" and len(named) > 1
    write_records(path, [session(named)] if one else named)
