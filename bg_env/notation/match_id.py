"""GNU Backgammon's Match ID: 12 characters that say everything of a game but where the checkers are.

| bits | meaning |
|---|---|
| 0-3 | log2 of the cube |
| 4-5 | its owner: 0, 1, or 3 for centred |
| 6 | the player on roll |
| 7 | Crawford game |
| 8-10 | state: 0 none, 1 playing, 2 over, 3 resigned, 4 dropped |
| 11 | the player who decides |
| 12 | a double waits for an answer |
| 13-14 | a resignation: 0 none, 1 single, 2 gammon, 3 backgammon |
| 15-17, 18-20 | the dice, 0 0 before the roll |
| 21-35 | match length, 0 for money |
| 36-50, 51-65 | score of player 0, of player 1 |
| 66 | set where Jacoby is not played |

(GNU Backgammon manual, "A technical description of the Match ID"; bit 66 as GNU Backgammon 1.0 and later writes it.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bg_env.errors import NotationError
from bg_env.notation.position_id import key_bits, key_text

__all__ = ["DROPPED", "LENGTH", "NO_GAME", "OVER", "PLAYING", "RESIGNED", "MatchId", "decode", "encode"]

NO_GAME: Final = 0
PLAYING: Final = 1
OVER: Final = 2
RESIGNED: Final = 3
DROPPED: Final = 4

LENGTH: Final = 12
"""Characters of a Match ID."""
_BITS: Final = 67
_CENTRED: Final = 3
_WIDTHS: Final = (
    ("cube_log2", 4),
    ("owner", 2),
    ("move", 1),
    ("crawford", 1),
    ("state", 3),
    ("turn", 1),
    ("double", 1),
    ("resign", 2),
    ("die1", 3),
    ("die2", 3),
    ("length", 15),
    ("score0", 15),
    ("score1", 15),
    ("no_jacoby", 1),
)


@dataclass(frozen=True)
class MatchId:
    """The fields of a Match ID, as they are in it.

    Attributes:
        cube_log2: 0-15.
        owner: 0 or 1, None centred.
        move: the player on roll, 0 or 1; the Position ID is seen by it.
        crawford: 1 in the Crawford game.
        state: NO_GAME, PLAYING, OVER, RESIGNED or DROPPED.
        turn: the player who decides.
        double: 1 while a double waits for an answer.
        resign: level of a resignation, 0 none.
        die1: 1-6, 0 before the roll.
        die2: 1-6, 0 before the roll.
        length: points to win the match, 0 money.
        score0: points of player 0.
        score1: points of player 1.
        no_jacoby: 1 where Jacoby is not played.
    """

    cube_log2: int = 0
    owner: int | None = None
    move: int = 0
    crawford: int = 0
    state: int = PLAYING
    turn: int = 0
    double: int = 0
    resign: int = 0
    die1: int = 0
    die2: int = 0
    length: int = 0
    score0: int = 0
    score1: int = 0
    no_jacoby: int = 1


def encode(fields: MatchId) -> str:
    """The 12 characters.

    Raises:
        NotationError: a field is too large for its bits.
    """
    bits = 0
    at = 0
    for name, width in _WIDTHS:
        value = getattr(fields, name)
        if name == "owner" and value is None:
            value = _CENTRED
        if not 0 <= value < 1 << width:
            msg = f"a match id holds {name} from 0 to {(1 << width) - 1}, not {value}"
            raise NotationError(msg)
        bits |= int(value) << at
        at += width
    return key_text(bits, 9)


def decode(text: str) -> MatchId:
    """The fields of a Match ID.

    Raises:
        NotationError: no 12 characters of a Match ID, or a field that means nothing.
    """
    rest = key_bits(text, LENGTH, _BITS, "match id")
    found: dict[str, int | None] = {}
    for name, width in _WIDTHS:
        found[name] = rest & ((1 << width) - 1)
        rest >>= width
    if found["owner"] == _CENTRED:
        found["owner"] = None
    fields = MatchId(**found)  # type: ignore[arg-type] # only the owner may be None
    if fields.owner not in (None, 0, 1):
        msg = f"match id {text!r}: the cube's owner is 0, 1 or 3 for nobody, not {fields.owner}"
        raise NotationError(msg)
    if fields.state > DROPPED:
        msg = f"match id {text!r}: the state of a game is 0 to 4, not {fields.state}"
        raise NotationError(msg)
    if max(fields.die1, fields.die2) > 6 or (fields.die1 == 0) != (fields.die2 == 0):
        msg = f"match id {text!r}: the dice are two from 1 to 6, or 0 and 0, not {fields.die1} and {fields.die2}"
        raise NotationError(msg)
    return fields
