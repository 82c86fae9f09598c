"""The folder of a training run, which never overwrites another run unless asked to."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from zipfile import BadZipFile, ZipFile

from bg_env.errors import SettingsError
from bg_env.files import is_leftover, read_arrays, read_bytes, replacing, temporary_name

__all__ = ["RunFolder", "checkpoint", "last_checkpoint"]


@contextmanager
def checkpoint(out: Path, number: int) -> Iterator[Path]:
    """A folder in `out` to write a checkpoint into; it gets its name when it is complete, so that none is lost by a stop.

    Args:
        out: the folder of the run.
        number: number of the checkpoint, 0 to 99,999,999; one with the same number is replaced.
    """
    part = out / temporary_name()
    part.mkdir()
    try:
        yield part
        whole = out / f"checkpoint_{number:08d}"
        if whole.is_dir():
            old = out / temporary_name()
            whole.rename(old)
            part.rename(whole)
            shutil.rmtree(old, ignore_errors=True)
        else:
            part.rename(whole)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def last_checkpoint(out: Path) -> Path | None:
    """The checkpoint in `out` with the highest number; None if there is no checkpoint."""
    return max(out.glob("checkpoint_[0-9]*"), default=None)


class RunFolder:
    """The folder of one run.

    It holds `games.npz`, the checkpoint, from which a resumed run continues exactly: games in progress, random states, model,
    optimizer, opponent pool, curve and notes, in one file that is replaced as a whole. The other files are copies of its
    parts: `model.zip`, `curve.csv`, `run.json` (options and results) and, in self-play, `pool.npz` (the opponent pool);
    `curve.png` and TensorBoard's event files are drawn from the curve. They are written after it, and again when a run is
    resumed, so that a stop at any moment loses nothing.

    Args:
        path: the folder; nothing is written before `start`.
        overwrite: whether to replace the run in the folder.
        resume: whether to continue the run in the folder.

    Raises:
        SettingsError: the folder is not empty and neither is asked for, or it has no run to resume, or what has
            the name of a file of a run is another kind of file.
    """

    NAMES: ClassVar[tuple[str, ...]] = (
        "model.zip",
        "run.json",
        "games.npz",
        "pool.npz",
        "curve.csv",
        "curve.png",
        "events.out.tfevents.*",
    )
    """Patterns of the names of files that a run writes."""
    NEEDED: ClassVar[tuple[str, ...]] = ("model.zip", "run.json")
    """Files that a run needs to be resumed, if its checkpoint does not hold them."""
    CHECKPOINT: ClassVar[str] = "games.npz"
    """The file that holds everything."""

    def __init__(self, path: str | Path, *, overwrite: bool = False, resume: bool = False) -> None:
        self.path = Path(path)
        if overwrite and resume:
            msg = "overwrite and resume exclude each other: the one replaces the run in the folder, the other continues it"
            raise SettingsError(msg)
        if self.path.exists() and not self.path.is_dir():
            msg = f"{self.path} is a file: give a folder for the run"
            raise SettingsError(msg)
        for file in (file for name in self.NAMES * (overwrite or resume) for file in self.path.glob(name)):
            if file.exists() and not file.is_file():
                msg = f"{file} is not a regular file, so it is no part of a run: move it away"
                raise SettingsError(msg)
        if resume:
            missing = [name for name in self.NEEDED if not (self.path / name).is_file()]
            if missing and not self._holds(self.NEEDED):
                msg = f"there is no run to resume in {self.path}: it has no {' and no '.join(missing)}"
                raise SettingsError(msg)
        elif not overwrite and self.path.is_dir() and not all(is_leftover(file) for file in self.path.iterdir()):
            msg = (
                f"{self.path} exists already and is not empty: choose another folder with --out, continue its run with "
                "--resume, or replace it with --overwrite"
            )
            raise SettingsError(msg)
        self._clear = overwrite
        self._saved = False

    def _holds(self, names: tuple[str, ...]) -> bool:
        """Whether the checkpoint holds the files of these names."""
        with contextlib.suppress(OSError, BadZipFile), ZipFile(self.games) as kept:
            return {f"{name}.npy" for name in names} <= set(kept.namelist())
        return False

    def start(self) -> None:
        """Make the folder, check that it can be written to, and remove what a killed process has left; no run is touched.

        Raises:
            OSError: it cannot be made or written to.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self.path):
            pass
        for file in self.path.iterdir():
            if is_leftover(file) and file.is_file() and not file.is_symlink():
                file.unlink(missing_ok=True)

    def make(self) -> None:
        """Make the folder, and delete the files of a run that is to be replaced, but the checkpoint of the new one.

        Raises:
            OSError: it cannot be made or written to.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if self._clear:
            self._clear = False
            for name in self.NAMES:
                for file in self.path.glob(name):
                    if not (self._saved and name == self.CHECKPOINT):
                        file.unlink()

    def save(self, put: Callable[[BinaryIO], object], copies: Mapping[str, bytes]) -> None:
        """Replace the checkpoint as a whole, then delete the run that is to be replaced, then write the copies.

        Args:
            put: writes the checkpoint to an open file.
            copies: as of `write_copies`.
        """
        self.write(self.path / self.CHECKPOINT, put)
        self._saved = True
        self.make()
        self.write_copies(copies)

    def write_copies(self, copies: Mapping[str, bytes]) -> None:
        """Write the files that are parts of the checkpoint, by name, where their content differs."""
        for name, content in copies.items():
            path = self.path / name
            if not path.is_file() or path.read_bytes() != content:
                with replacing(path) as file:
                    file.write(content)

    @property
    def model(self) -> Path:
        """The model, as Stable-Baselines3 saves it."""
        return self.path / "model.zip"

    @property
    def games(self) -> Path:
        """The checkpoint, arrays without pickle."""
        return self.path / self.CHECKPOINT

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

    def write(self, path: Path, put: Callable[[BinaryIO], object]) -> None:
        """Write a file by `put`, which is given an open file, so that it is complete or not changed at all."""
        with replacing(path) as file:
            put(file)

    def write_notes(self, notes: dict[str, Any]) -> None:
        """Write `run.json`."""
        self.write(self.notes, lambda file: file.write(notes_text(notes)))

    def read_notes(self) -> dict[str, Any]:
        """The notes in the checkpoint; those in `run.json`, where the checkpoint has none (from version 0.1).

        Raises:
            SettingsError: they are not those of a training run.
        """
        if self._holds(("run.json",)):
            return parsed_notes(read_arrays(self.games, "checkpoint of a training run")["run.json"].tobytes(), self.games)
        return self.read_copied_notes()

    def read_copied_notes(self) -> dict[str, Any]:
        """Read `run.json`.

        Raises:
            SettingsError: it is not the file of a training run.
        """
        return parsed_notes(read_bytes(self.notes), self.notes)


def notes_text(notes: dict[str, Any]) -> bytes:
    """The content of `run.json`."""
    return (json.dumps(notes, indent=1) + "\n").encode()


def parsed_notes(content: bytes, path: Path) -> dict[str, Any]:
    """The notes in the content of `run.json`, or of the file at `path` that holds it.

    Raises:
        SettingsError: they are not those of a training run.
    """
    try:
        notes = json.loads(content)
    except (ValueError, RecursionError):
        notes = None
    if not isinstance(notes, dict) or not isinstance(notes.get("options"), dict):
        msg = f"{path} is not the file of a training run: this folder cannot be resumed"
        raise SettingsError(msg)
    return notes
