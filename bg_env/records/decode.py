"""Bytes of a file of records as text: UTF-8 or UTF-16, each with or without a byte order mark, else Latin-1."""

from __future__ import annotations

import codecs
from typing import Final

from bg_env.errors import NotationError

__all__ = ["decoded"]

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT: Final = 1024
"""The bytes at the beginning that decide whether text without a mark is UTF-16."""


def decoded(data: bytes) -> str:
    """The text in `data`.

    UTF-16 without a mark is known by its zeros: text in Latin letters has one beside every letter, on the same side.

    Raises:
        NotationError: it begins as UTF-16 and does not go on as UTF-16.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text(data[len(mark) :], encoding)
    begin = data[:_LOOKED_AT]
    pairs = len(begin) // 2
    first, second = begin[0 : 2 * pairs : 2].count(0), begin[1 : 2 * pairs : 2].count(0)
    if pairs and max(first, second) > pairs // 2 and min(first, second) <= pairs // 8:
        return _text(data, "utf-16-be" if first > second else "utf-16-le")
    return _text(data, "utf-8")


def _text(data: bytes, encoding: str) -> str:
    if encoding == "utf-8":
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            return data.decode("latin-1")
    if len(data) % 2 and not data[-1:].strip(b"\x00\r\n\x1a"):
        data = data[:-1]  # half a line end, which some editors leave
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        place = data[: error.start].decode(encoding, "replace").count("\n") + 1
        msg = f"this is not a record: it is UTF-16 text that breaks off or is spoilt in line {place}"
        raise NotationError(msg) from error
