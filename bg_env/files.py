"""Writing text files so that a failure loses nothing, and reading files of arrays."""

from __future__ import annotations

import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from bg_env.errors import NotationError, SettingsError

__all__ = ["read_arrays", "write_whole"]


def read_arrays(file: Any, what: str) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an .npz file, without pickle.

    Args:
        file: its path, or an open file.
        what: it should be: "file of a value net".

    Raises:
        SettingsError: it cannot be read, is no .npz file, or is damaged.
    """
    is_open = hasattr(file, "read")
    name = getattr(file, "name", "the file") if is_open else file
    try:
        with nullcontext(file) if is_open else Path(file).open("rb") as opened:
            found = np.load(opened, allow_pickle=False)
            if isinstance(found, np.ndarray):
                msg = f"{name} is no {what}: it is a single array, not an .npz file"
                raise SettingsError(msg)
            return {key: found[key] for key in found.files}
    except SettingsError:
        raise
    except OSError as error:
        msg = f"{name} is no {what}: {error}"
        raise SettingsError(msg) from error
    except (BadZipFile, EOFError, KeyError, RuntimeError, ValueError, zlib.error) as error:
        msg = f"{name} is no {what}: it is no .npz file, or damaged"
        raise SettingsError(msg) from error


def write_whole(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8 beside the file and move it to its place; what is no plain file is written to as it is.

    Raises:
        NotationError: the text has characters that no file can hold.
        OSError: it cannot be written; the file that was there is as it was.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        msg = f"the text for {path} has {text[error.start]!r}, which no file can hold: leave it out of the names"
        raise NotationError(msg) from None
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        part = target.with_name(target.name + ".part")
        try:
            part.write_bytes(content)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        if error.filename is None:  # a full disk does not say where it is
            error.filename = str(path)
        raise
