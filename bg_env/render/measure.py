"""Widths of texts in pictures, estimated for letters of any script, and texts made to fit.

A picture in SVG does not know the font that will paint it. The estimates are those of a wide sans-serif font (DejaVu Sans), so
that a text that fits here fits with any usual one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

__all__ = ["columns", "cut", "fitted", "text_width", "wrapped"]

_DOTS: Final = "..."
_WIDE: Final = frozenset("MWmw@%&")
_NARROW: Final = frozenset("iljtfrI.,:;'!|()[]{}/\\-`\" ")
_BOLD: Final = 1.1
_LEAST: Final = 0.75


def _em(letter: str) -> float:
    """The width of a letter as a part of the size of its font."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.0
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE:
        return 0.98
    return 0.7 if letter.isupper() or not letter.isascii() else 0.62


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a line of text in pixels at scale 1."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1.0)


def columns(text: str) -> int:
    """The columns of a terminal that a text takes: two for a wide letter, none for a mark on the one before."""
    return sum(0 if (em := _em(letter)) == 0 else 1 + (em == 1.0) for letter in text)


def cut(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, cut so that it fits into `room` pixels; "..." stands for the rest."""
    if text_width(text, size, bold=bold) <= room:
        return text
    left = room - text_width(_DOTS, size, bold=bold)
    kept = ""
    for letter in text:
        if kept and text_width(kept + letter, size, bold=bold) > left:
            break
        kept += letter
    return kept.rstrip() + _DOTS


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> tuple[str, float]:
    """The text and the size at which it fits into `room` pixels: down to three quarters of `size`, then cut."""
    wide = text_width(text, 1, bold=bold) or 1.0
    fitting = min(size, max(room / wide, _LEAST * size))
    fitting = int(fitting * 10) / 10
    return cut(text, fitting, room, bold=bold), fitting


def _words(text: str) -> Iterator[str]:
    """The pieces of a text between which a line may end: words with the space after them, and wide letters."""
    piece = ""
    for letter in text:
        piece += letter
        if letter == " " or unicodedata.east_asian_width(letter) in ("W", "F"):
            yield piece
            piece = ""
    yield piece


def wrapped(text: str, size: float, room: float, *, bold: bool = False, lines: int = 2) -> list[str]:
    """The text in at most so many lines of `room` pixels; the last one is cut if the rest does not fit."""
    found = [""]
    for piece in _words(text):
        if found[-1] and len(found) < lines and text_width((found[-1] + piece).rstrip(), size, bold=bold) > room:
            found.append("")
        found[-1] += piece
    return [cut(line.rstrip(), size, room, bold=bold) for line in found]
