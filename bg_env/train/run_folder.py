"""The folder of a training run, which never overwrites another run unless asked to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any, ClassVar

from bg_env.errors import SettingsError

__all__ = ["RunFolder", "checkpoint", "last_checkpoint"]


@contextmanager
def checkpoint(out: Path, number: int) -> Iterator[Path]:
    """A folder in `out` to write a checkpoint into; it gets its name when it is complete, so that none is lost by a stop.

    Args:
        out: the folder of the run.
        number: number of the checkpoint, 0 to 99,999,999; one with the same number is replaced.
    """
    part = out / "checkpoint.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    yield part
    whole = out / f"checkpoint_{number:08d}"
    shutil.rmtree(whole, ignore_errors=True)
    part.rename(whole)


def last_checkpoint(out: Path) -> Path | None:
    """The checkpoint in `out` with the highest number; None if there is no checkpoint."""
    return max(out.glob("checkpoint_[0-9]*"), default=None)


class RunFolder:
    """The folder of one run.

    It holds `model.zip`, `curve.csv`, `curve.png`, `run.json` (options and results) and `games.npz` (the games in progress and
    the random numbers, so that a resumed run continues exactly); in self-play also `pool.npz` (the opponent pool). Files are
    written under another name and then renamed, so that a stop at any moment leaves complete ones.

    Args:
        path: the folder; nothing is written before `make`.
        overwrite: whether to replace the run in the folder.
        resume: whether to continue the run in the folder.

    Raises:
        SettingsError: the folder is not empty and neither is asked for, or it has no run to resume.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("model.zip", "run.json", "games.npz", "pool.npz", "curve.csv", "curve.png")
    """Patterns of the names of files that a run writes."""
    NEEDED: ClassVar[tuple[str, ...]] = ("model.zip", "run.json")
    """Files that a run needs to be resumed."""

    def __init__(self, path: str | Path, *, overwrite: bool = False, resume: bool = False) -> None:
        self.path = Path(path)
        if overwrite and resume:
            msg = "overwrite and resume exclude each other: the one replaces the run in the folder, the other continues it"
            raise SettingsError(msg)
        if self.path.exists() and not self.path.is_dir():
            msg = f"{self.path} is a file: give a folder for the run"
            raise SettingsError(msg)
        if resume:
            missing = [name for name in self.NEEDED if not (self.path / name).is_file()]
            if missing:
                msg = f"there is no run to resume in {self.path}: it has no {' and no '.join(missing)}"
                raise SettingsError(msg)
        elif not overwrite and self.path.is_dir() and any(self.path.iterdir()):
            msg = (
                f"{self.path} exists already and is not empty: choose another folder with --out, continue its run with "
                "--resume, or replace it with --overwrite"
            )
            raise SettingsError(msg)
        self._clear = overwrite

    def make(self) -> None:
        """Make the folder, and delete the files of a run that is to be replaced.

        Raises:
            OSError: it cannot be made or written to.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if self._clear:
            for name in self.NAMES:
                for file in self.path.glob(name):
                    file.unlink()

    @property
    def model(self) -> Path:
        """The model, as Stable-Baselines3 saves it."""
        return self.path / "model.zip"

    @property
    def games(self) -> Path:
        """The games in progress and the random numbers, arrays without pickle."""
        return self.path / "games.npz"

    @property
    def pool(self) -> Path:
        """The opponent pool of self-play, weights only."""
        return self.path / "pool.npz"

    @property
    def curve(self) -> Path:
        """The learning curve, one line per rollout."""
        return self.path / "curve.csv"

    @property
    def picture(self) -> Path:
        """The learning curve, drawn."""
        return self.path / "curve.png"

    @property
    def notes(self) -> Path:
        """Options and results."""
        return self.path / "run.json"

    def write(self, path: Path, put: Callable[[BufferedWriter], object]) -> None:
        """Write a file by `put`, which is given an open file, so that it is complete or not changed at all."""
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            put(file)
        part.replace(path)

    def write_notes(self, notes: dict[str, Any]) -> None:
        """Write `run.json`."""
        text = json.dumps(notes, indent=1) + "\n"
        self.write(self.notes, lambda file: file.write(text.encode()))

    def read_notes(self) -> dict[str, Any]:
        """Read `run.json`.

        Raises:
            SettingsError: it is not the file of a training run.
        """
        try:
            notes = json.loads(self.notes.read_text(encoding="utf-8"))
        except ValueError:
            notes = None
        if not isinstance(notes, dict) or not isinstance(notes.get("options"), dict):
            msg = f"{self.notes} is not the file of a training run: this folder cannot be resumed"
            raise SettingsError(msg)
        return notes
