"""GNU Backgammon's Position ID: 14 characters that say where the checkers of both players are (not the ones borne off).

The 80 bits, least significant bit of the first byte first, are for the player not on roll and then for the one on roll:
for each own point from 1 to 24 and then the bar as many ones as there are checkers, then a zero; the rest is zeros. They
are written in base64 without padding. (GNU Backgammon manual, "A technical description of the Position ID".)
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Final

from bg_env.errors import NotationError, PositionError
from bg_env.rules import BAR, OFF, Variant, check_board, variant_of

__all__ = ["LENGTH", "ImpossibleIdError", "decode", "encode", "key_bits", "key_text"]

LENGTH: Final = 14
"""Characters of a Position ID."""
_BITS: Final = 80
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")


class ImpossibleIdError(NotationError, PositionError):
    """A well-formed id of a position or a state that cannot stand."""


def key_text(bits: int, n_bytes: int) -> str:
    """The base64 text, without padding, of `n_bytes` bytes with the number `bits`, least significant byte first."""
    return base64.b64encode(bits.to_bytes(n_bytes, "little")).decode("ascii").rstrip("=")


def key_bits(text: str, length: int, n_bits: int, what: str) -> int:
    """The number written in `text`; `what` is the name of the id, for the message.

    Raises:
        NotationError: other than `length` characters of base64, or bits set beyond `n_bits`.
    """
    if not isinstance(text, str):
        msg = f"a {what} is text of {length} characters, not {type(text).__name__}"
        raise NotationError(msg)
    if len(text) != length:
        msg = f"a {what} has {length} characters, and {text[:40]!r} has {len(text)}"
        raise NotationError(msg)
    if not _ALPHABET.fullmatch(text):
        wrong = next(c for c in text if not _ALPHABET.fullmatch(c))
        msg = f"{what} {text!r}: {wrong!r} is not one of the letters, digits, '+' and '/' that it is made of"
        raise NotationError(msg)
    try:
        bits = int.from_bytes(base64.b64decode(text + "=" * (-length % 4)), "little")
    except binascii.Error as error:  # a length that no padding mends: `length` is wrong
        msg = f"{what} {text!r}: {error}"
        raise NotationError(msg) from error
    if bits >> n_bits or key_text(bits, (length * 3) // 4) != text:
        without = key_text(bits & ((1 << n_bits) - 1), (length * 3) // 4)
        msg = f"{what} {text!r}: bits are set behind its end; without them it is {without!r}"
        raise NotationError(msg)
    return bits


def encode(mover: Sequence[int], opponent: Sequence[int]) -> str:
    """The Position ID of a placement, seen by the player on roll.

    Args:
        mover: 26 counts of the player on roll on its own numbering (index 0 off, 1-24 the points, 25 the bar).
        opponent: the same of the other player.

    Raises:
        NotationError: more checkers than an id has room for (30 on the board and the bars).
    """
    bits = 0
    at = 0
    for side in (opponent, mover):
        for point in range(1, BAR + 1):
            n = int(side[point])
            bits |= ((1 << n) - 1) << at
            at += n + 1
    if at > _BITS:
        msg = f"a position id has room for 30 checkers on the board, not for {at - 50}"
        raise NotationError(msg)
    return key_text(bits, _BITS // 8)


def decode(text: str, variant: str | Variant = "backgammon") -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The placement that a Position ID tells, seen by the player on roll.

    Args:
        text: 14 characters.
        variant: gives the number of checkers; those that are not on the board are borne off.

    Returns:
        mover, opponent: 26 counts each, as `encode` takes them.

    Raises:
        NotationError: `text` is no Position ID; where it names a position that cannot stand (too many checkers, a point
            held by both, ...) the error is a PositionError as well.
    """
    checkers = variant_of(variant).checkers
    bits = key_bits(text, LENGTH, _BITS, "position id")
    sides = []
    rest = bits
    for _ in range(2):
        side = [0] * 26
        for point in range(1, BAR + 1):
            n = ((rest + 1) & ~rest).bit_length() - 1  # ones below the lowest zero
            side[point] = n
            rest >>= n + 1
        sides.append(side)
    if rest:
        msg = f"position id {text!r}: bits are set behind its 50 places, so it is not one"
        raise NotationError(msg)
    for name, side in zip(("player not on roll", "player on roll"), sides, strict=True):
        if sum(side) > checkers:
            msg = f"position id {text!r}: the {name} has {sum(side)} checkers, and there are {checkers} a side"
            raise ImpossibleIdError(msg)
        side[OFF] = checkers - sum(side)
    opponent, mover = sides
    try:
        check_board(mover, opponent, checkers)
    except PositionError as error:
        msg = f"position id {text!r}: {error}"
        raise ImpossibleIdError(msg) from error
    return tuple(mover), tuple(opponent)
