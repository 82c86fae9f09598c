"""Text files written so that a failure loses nothing, and files of arrays read."""

from __future__ import annotations

import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from bg_env.errors import NotationError, SettingsError, quoted

__all__ = ["checked_path", "read_arrays", "read_text", "replacing", "write_whole"]


def checked_path(path: Any) -> Path:
    """The path of a file.

    Raises:
        SettingsError: `path` is neither text nor a path.
    """
    try:
        return Path(path)
    except TypeError:
        msg = f"a file is named by a path, text or a pathlib.Path, not by {quoted(path)}"
        raise SettingsError(msg) from None


def read_text(path: Any, most: int) -> str:
    """The text of a file, UTF-8, else Latin-1.

    Raises:
        NotationError: it has more than `most` bytes.
        OSError: it cannot be read.
        SettingsError: `path` is not a path.
    """
    with checked_path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        msg = f"it has more than {most:,} bytes"
        raise NotationError(msg)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_arrays(file: Any, what: str) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an .npz file, without pickle.

    Args:
        file: its path, or an open file.
        what: the kind of file expected, for messages: "file of a value net".

    Raises:
        SettingsError: the file cannot be read, is not an .npz file, or is damaged.
    """
    is_open = hasattr(file, "read")
    name = getattr(file, "name", "the file") if is_open else file
    try:
        with nullcontext(file) if is_open else Path(file).open("rb") as opened:
            found = np.load(opened, allow_pickle=False)
            if isinstance(found, np.ndarray):
                msg = f"{name} is not a {what}: it is a single array, not an .npz file"
                raise SettingsError(msg)
            return {key: found[key] for key in found.files}
    except SettingsError:
        raise
    except OSError as error:
        msg = f"{name} is not a {what}: {error}"
        raise SettingsError(msg) from error
    except (BadZipFile, EOFError, KeyError, RuntimeError, ValueError, zlib.error) as error:
        msg = f"{name} is not a {what}: it is not an .npz file, or it is damaged"
        raise SettingsError(msg) from error


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of the one at `path` when the block ends without an error.

    A stop at any moment leaves either the old file or the new one. A link at `path` stays, and the file that it leads to is
    replaced; the mode of a file stays. A device or a pipe is written to directly.

    Raises:
        OSError: the file cannot be written; one that was there is unchanged.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".bg_env-{secrets.token_hex(8)}.part")  # a name that nobody can have planted a link at
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        with part.open("xb") as file:
            try:
                if target.exists() and os.name == "posix":
                    os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                yield file
                file.close()
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        if error.filename is None or str(error.filename) == str(part):  # a full disk does not say where it is
            error.filename = str(path)
        raise


def write_whole(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8 to a file, as `replacing` does.

    Raises:
        NotationError: the text has characters that no file can hold.
        OSError: the file cannot be written; one that was there is unchanged.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        msg = f"the text for {path} has {text[error.start]!r}, which no file can hold: leave it out of the names"
        raise NotationError(msg) from None
    with replacing(path) as file:
        file.write(content)
