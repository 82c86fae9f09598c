"""Files of exact tables, in a folder `tables` beside that of the compiled kernels.

A file is a SHA-256 digest and the arrays after it, in NumPy's format. One that is damaged, or of another layout, is built
again. A full disk, a folder that cannot be written and one that other users may change are not errors: the table stays in
memory.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import CACHE_DIR
from bg_env.errors import SettingsError
from bg_env.files import check_private, is_leftover, replacing

__all__ = ["kept", "tables_folder"]

Arrays = tuple[npt.NDArray[np.float64], ...]

_DIGEST: Final = 32
_OLD: Final = 3600.0
"""Seconds after which a file that was never completed is removed."""


def tables_folder() -> Path | None:
    """The folder of the tables; None where kernels are kept in no lasting folder, and so no tables either."""
    if not CACHE_DIR or Path(CACHE_DIR).name.startswith("bg_env-"):  # not compiled, or a temporary folder
        return None
    return Path(CACHE_DIR).parent / "tables"


def _read(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> Arrays | None:
    """The arrays of a file; None if there is no file that can be trusted."""
    try:
        check_private(path, owned=True)
        content = path.read_bytes()
        if hashlib.sha256(memoryview(content)[_DIGEST:]).digest() != content[:_DIGEST]:
            return None
        file = io.BytesIO(content)
        file.seek(_DIGEST)
        arrays = tuple(np.load(file, allow_pickle=False) for _ in shapes)
    except (OSError, ValueError, EOFError, SettingsError, MemoryError):
        return None
    fits = all(array.dtype == np.float64 and array.shape == shape for array, shape in zip(arrays, shapes.values(), strict=True))
    return arrays if fits else None


def _write(path: Path, arrays: Arrays) -> None:
    """Keep the arrays in a file, where that is possible."""
    try:
        path.parent.mkdir(mode=0o755, exist_ok=True)
        content = io.BytesIO()
        for array in arrays:
            np.save(content, array, allow_pickle=False)
        data = content.getbuffer()
        with replacing(path) as file:
            if os.name == "posix":
                os.fchmod(file.fileno(), 0o644)
            file.write(hashlib.sha256(data).digest())
            file.write(data)
        _remove_leftovers(path.parent)
    except OSError:
        pass


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes left that were killed while they wrote."""
    for path in folder.iterdir():
        with suppress(OSError):
            if is_leftover(path) and time.time() - path.stat().st_mtime > _OLD:
                path.unlink()


def kept(name: str, shapes: Mapping[str, tuple[int, ...]], build: Callable[[], Arrays]) -> Arrays:
    """The arrays of the table called `name`: from its file, else built and, where that is possible, kept in it.

    Args:
        name: of the file; one name is always the same content.
        shapes: the shape of each array.
        build: makes the arrays, float64.

    Returns:
        The arrays, read only.
    """
    folder = tables_folder()
    path = None if folder is None else folder / name
    arrays = None if path is None else _read(path, shapes)
    if arrays is None:
        arrays = build()
        if path is not None:
            _write(path, arrays)
    for array in arrays:
        array.flags.writeable = False
    return arrays
