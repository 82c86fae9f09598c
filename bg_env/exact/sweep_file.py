"""The file of a solution: finished sweeps while it is computed, memory-mapped values when it is done.

A line of JSON says what is solved. Two headers and two places for values follow, which sweeps take in turns: a sweep first
writes its values, then its header, so that a stop at any moment leaves the sweep before as it was. The space for both places is
taken at the beginning, and a disk that becomes full later does no harm. A finished file keeps the first place only.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.errors import BgEnvError, SettingsError, printable
from bg_env.files import check_regular, checked_path, temporary_name
from bg_env.rules import Variant

__all__ = ["Contents", "Kind", "Saved", "SweepFile", "read_contents"]

Floats = npt.NDArray[np.float64]

_PAGE: Final = 4096
_VALUES: Final = 3 * _PAGE
_FORMAT: Final = "bg_env exact solution 1"


class Kind(NamedTuple):
    """The game that a file is for.

    Attributes:
        variant: the variant.
        cube: whether the values are those with the cube.
        shape: of the values.
    """

    variant: Variant
    cube: bool
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The size of the values in bytes."""
        return 8 * int(np.prod(self.shape))

    def line(self) -> bytes:
        """The first page of the file."""
        text = json.dumps({"format": _FORMAT, "variant": str(self.variant), "cube": self.cube, "shape": self.shape})
        return text.encode().ljust(_PAGE - 1) + b"\n"


class Saved(NamedTuple):
    """A sweep that a file has.

    Attributes:
        sweeps: the number of sweeps finished.
        change: the largest change of a value in the last one.
        residual: the residual of the finished solution; None while it is not finished.
        place: the place of its values, 0 or 1.
        digest: SHA-256 of the values.
    """

    sweeps: int
    change: float
    residual: float | None
    place: int
    digest: str

    def page(self) -> bytes:
        """The header, with its own digest."""
        text = json.dumps(self._asdict()).encode()
        return (hashlib.sha256(text).hexdigest().encode() + text).ljust(_PAGE - 1) + b"\n"


class Contents(NamedTuple):
    """What a file holds.

    Attributes:
        kind: the game that it is for.
        saved: its last sweep; None if none was finished.
        values: the values of that sweep, mapped into memory, read only; None without one.
    """

    kind: Kind
    saved: Saved | None
    values: Floats | None


def _damaged(path: Path) -> SettingsError:
    what = "is not a file of exact.solve or bg-env solve, or it is damaged: give another path, or remove it"
    return SettingsError(f"{printable(str(path))} {what}")


def _kind_of(page: bytes, path: Path) -> Kind:
    """The game that a file is for, by its first page."""
    try:
        found = json.loads(page)
        kind = Kind(Variant.parse(found["variant"]), found["cube"], tuple(found["shape"]))
    except (ValueError, KeyError, TypeError, BgEnvError, RecursionError):
        raise _damaged(path) from None
    whole = type(kind.cube) is bool and all(type(n) is int and 0 < n < 1 << 20 for n in kind.shape)
    if not whole or kind.line() != page:
        raise _damaged(path)
    return kind


def _saved_of(page: bytes) -> Saved | None:
    """The sweep that a header is for; None if it is no header."""
    text = page[64:].rstrip()
    if hashlib.sha256(text).hexdigest().encode() != page[:64]:
        return None
    return Saved(**json.loads(text))


def read_contents(path: Path) -> Contents:
    """The last sweep that a file has, whose digest is right.

    Raises:
        SettingsError: it is not such a file, or it is damaged.
        OSError: it cannot be read.
    """
    check_regular(path)
    with path.open("rb") as file:
        kind = _kind_of(file.read(_PAGE), path)
        found = [saved for saved in (_saved_of(file.read(_PAGE)) for _ in range(2)) if saved is not None]
    for saved in sorted(found, key=lambda saved: (saved.residual is not None, saved.sweeps), reverse=True):
        start = _VALUES + saved.place * kind.size
        if path.stat().st_size >= start + kind.size:
            values = np.memmap(path, np.float64, "r", start, kind.shape)
            if _digest(values) == saved.digest:
                return Contents(kind, saved, values)
    if found:
        raise _damaged(path)
    return Contents(kind, None, None)


def _digest(values: Floats) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).data.cast("B")).hexdigest()


class SweepFile:
    """The file of a solution while it is computed.

    Args:
        path: of the file; one that is there is continued, and must be for the same game.
        kind: the game.

    Attributes:
        path: of the file.
        contents: what it held.

    Raises:
        SettingsError: the file is for another game, is not of this kind, or is damaged.
        OSError: it cannot be read or written, or there is not enough space.
    """

    def __init__(self, path: Any, kind: Kind) -> None:
        self.path = checked_path(path)
        self._kind = kind
        self._place = 0
        if not os.path.lexists(self.path):
            self._make()
        self.contents = read_contents(self.path)
        found, saved = self.contents.kind, self.contents.saved
        if found != kind:
            played = f"{found.variant}, {'with' if found.cube else 'without'} the cube"
            msg = f"{printable(str(self.path))} is for {played}: give another path"
            raise SettingsError(msg)
        if saved is not None:
            self._place = 1 - saved.place

    def _make(self) -> None:
        """Make the file, with all the space that it will need."""
        part = self.path.with_name(temporary_name())
        try:
            with part.open("xb") as file:
                _reserve(file, _VALUES + 2 * self._kind.size)
                file.seek(0)
                file.write(self._kind.line())
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            error.filename, error.filename2 = str(self.path), None
            raise
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def save(self, values: Floats, sweeps: int, change: float, residual: float | None = None) -> None:
        """Save a finished sweep, or with its residual the solution.

        Raises:
            OSError: it cannot be written; the sweep before is still there.
        """
        place = 0 if residual is not None else self._place
        saved = Saved(sweeps, change, residual, place, _digest(values))
        try:
            with self.path.open("r+b") as file:
                file.seek(_VALUES + place * self._kind.size)
                file.write(values.data.cast("B"))
                file.flush()
                os.fsync(file.fileno())
                file.seek(_PAGE + place * _PAGE)
                file.write(saved.page())
                file.flush()
                os.fsync(file.fileno())
                if residual is not None:
                    file.seek(2 * _PAGE)
                    file.write(bytes(_PAGE))
                    file.truncate(_VALUES + self._kind.size)
        except OSError as error:
            error.filename = str(self.path)
            raise
        self._place = 1 - place


def _reserve(file: BinaryIO, size: int) -> None:
    """Give a new file its size on the disk."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that cannot
                raise
        else:
            return
    file.writelines(bytes(min(1 << 24, size - start)) for start in range(0, size, 1 << 24))
