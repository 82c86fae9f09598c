"""Files written so that a failure loses nothing, files of arrays read, and files that other users could have changed."""

from __future__ import annotations

import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from bg_env.errors import NotationError, SettingsError, quoted

__all__ = [
    "check_private",
    "check_regular",
    "checked_path",
    "is_leftover",
    "read_arrays",
    "read_bytes",
    "read_text",
    "replacing",
    "temporary_name",
    "write_whole",
]

_LEFTOVER: Final = re.compile(r"\.bg_env-[0-9a-f]{16}\.part")


def checked_path(path: Any) -> Path:
    """The path of a file.

    Raises:
        SettingsError: `path` is neither text nor a path, or has characters that no name of a file can have.
    """
    try:
        found = Path(path)
        possible = b"\0" not in os.fsencode(found)
    except TypeError:
        msg = f"a file is named by a path, text or a pathlib.Path, not by {quoted(path)}"
        raise SettingsError(msg) from None
    except UnicodeEncodeError:
        possible = False
    if not possible:
        msg = f"no file can be named {quoted(str(path))}: leave out NUL and lone surrogates"
        raise SettingsError(msg)
    return found


def check_regular(path: str | Path) -> None:
    """Refuse what is neither a regular file nor a folder: a pipe or a device, from which a read may wait for ever.

    Raises:
        SettingsError: it is there, and is another kind of file.
    """
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return  # the reader says what is wrong
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        msg = f"{path} is not a regular file: give a file"
        raise SettingsError(msg)


def read_bytes(path: str | Path) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: it cannot be read.
        SettingsError: it is not a regular file.
    """
    check_regular(path)
    return Path(path).read_bytes()


def read_text(path: Any, most: int) -> str:
    """The text of a file, UTF-8, else Latin-1.

    Raises:
        NotationError: it has more than `most` bytes.
        OSError: it cannot be read.
        SettingsError: `path` is not a path, or not that of a regular file.
    """
    check_regular(checked_path(path))
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
        SettingsError: the file cannot be read, is not a regular file, is not an .npz file, or is damaged.
    """
    is_open = hasattr(file, "read")
    name = getattr(file, "name", "the file") if is_open else file
    if not is_open:
        check_regular(file)
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


def temporary_name() -> str:
    """A name for a file or folder that is being written, unpredictable, so that nobody can have put a link there."""
    return f".bg_env-{secrets.token_hex(8)}.part"


def is_leftover(path: Path) -> bool:
    """Whether the path has a `temporary_name`, as left by a process that was killed while it wrote a file."""
    return _LEFTOVER.fullmatch(path.name) is not None


def check_private(path: str | Path, *, owned: bool = False) -> None:
    """Refuse a file that other users may change; on systems without POSIX modes nothing is checked.

    A file may be changed by whoever may write to it or replace it in its folder: everybody, or the members of a group, if the
    user database names other members than the user, the file's owner and the administrators.

    Args:
        path: of an existing file.
        owned: whether the file must also belong to the user or to an administrator.

    Raises:
        SettingsError: others may change it; the message names the command that prevents it.
        OSError: there is no such file.
    """
    if os.name != "posix":
        return
    file = Path(os.path.realpath(path))
    for place in (file, file.parent):
        found = place.stat()
        everybody = found.st_mode & stat.S_IWOTH
        group = found.st_mode & stat.S_IWGRP and _has_others(found.st_gid, found.st_uid)
        if (everybody or group) and not (place != file and found.st_mode & stat.S_ISVTX):
            msg = f"{path} can be changed by other users, so it is not loaded: chmod go-w {place}, if nobody has changed it"
            raise SettingsError(msg)
    if owned and file.stat().st_uid not in (0, os.getuid()):
        msg = f"{path} belongs to another user, whose code it would run, so it is not loaded: copy it if you trust it"
        raise SettingsError(msg)


def _has_others(group: int, owner: int) -> bool:
    """Whether the user database knows members of a group besides the user, the owner and the administrators."""
    import grp
    import pwd

    if group == 0:
        return False
    members = {entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == group}
    with suppress(KeyError):
        members |= set(grp.getgrgid(group).gr_mem)
    allowed = set()
    for user in (0, os.getuid(), owner):
        with suppress(KeyError):
            allowed.add(pwd.getpwuid(user).pw_name)
    return bool(members - allowed)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of the one at `path` when the block ends without an error.

    A stop at any moment leaves either the old file or the new one. A link at `path` stays, and the file that it leads to is
    replaced; the mode of a file stays. A device or a pipe is written to directly.

    Raises:
        OSError: the file cannot be written; one that was there is unchanged.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(temporary_name())
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe at /dev/stdout has no real path
            with Path(path).open("wb") as file:
                yield file
            return
        with part.open("xb") as file:
            try:
                if target.exists() and os.name == "posix":
                    os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())  # otherwise a machine that stops may keep the new name without the content
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
