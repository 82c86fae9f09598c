"""Writing text files so that a failure loses nothing."""

from __future__ import annotations

from pathlib import Path

from bg_env.errors import NotationError

__all__ = ["write_whole"]


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
