"""GNU Backgammon's ids: the position id of 14 characters, and the match id of 12 with everything but the checkers.

The 80 bits of a position id are for the player not on roll and then for the one on roll: for each own point from 1 to 24
and then the bar as many ones as there are checkers, then a zero; the rest is zeros. Those of a match id are

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

Both are written in base64 without padding, the least significant bit of the first byte first. (GNU Backgammon manual, "A
technical description of the Position ID" and "... of the Match ID"; bit 66 as GNU Backgammon 1.0 and later writes it.)
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bg_env.errors import NotationError, PositionError
from bg_env.notation.state_of_id import (
    ImpossibleIdError,
    Setup,
    all_off,
    default_cap,
    kept_alive,
    least_cap,
    refuse_unsayable,
    same_after_reading,
    settle_settings,
    stand,
    viewer,
)
from bg_env.rules import BAR, OFF, Phase, Settings, States, Variant, check_board, variant_of

__all__ = [
    "DROPPED",
    "MATCH_ID_LENGTH",
    "NO_GAME",
    "OVER",
    "PLAYING",
    "POSITION_ID_LENGTH",
    "RESIGNED",
    "MatchId",
    "decode_match_id",
    "decode_position_id",
    "encode_match_id",
    "encode_position_id",
    "read_ids",
    "read_position_id",
    "write_match_id",
    "write_position_id",
]

POSITION_ID_LENGTH: Final = 14
"""Characters of a position id."""
MATCH_ID_LENGTH: Final = 12
"""Characters of a match id."""

NO_GAME: Final = 0
PLAYING: Final = 1
OVER: Final = 2
RESIGNED: Final = 3
DROPPED: Final = 4

_POSITION_BITS: Final = 80
_MATCH_BITS: Final = 67
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")
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
_MATCH_ID: Final = "a match id"


def _text_of_bits(bits: int, n_bytes: int) -> str:
    """The base64 text, without padding, of `n_bytes` bytes with the number `bits`, least significant byte first."""
    return base64.b64encode(bits.to_bytes(n_bytes, "little")).decode("ascii").rstrip("=")


def _bits_of_text(text: str, length: int, n_bits: int, what: str, decode: Callable[[str], object]) -> int:
    """The number written in `text`; for the message, `what` is the name of the id, and `decode` reads another one.

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
    if bits >> n_bits or _text_of_bits(bits, (length * 3) // 4) != text:
        without = _text_of_bits(bits & ((1 << n_bits) - 1), (length * 3) // 4)
        msg = f"{what} {text!r}: bits are set beyond its end"
        with suppress(NotationError):  # only what is an id itself is suggested
            decode(without)
            msg += f"; without them it is {without!r}"
        raise NotationError(msg)
    return bits


def encode_position_id(mover: Sequence[int], opponent: Sequence[int]) -> str:
    """The position id of a placement, seen by the player on roll.

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
    if at > _POSITION_BITS:
        msg = f"a position id has room for 30 checkers on the board, not for {at - 50}"
        raise NotationError(msg)
    return _text_of_bits(bits, _POSITION_BITS // 8)


def decode_position_id(text: str, variant: str | Variant = "backgammon") -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The placement of a position id, seen by the player on roll.

    Args:
        text: 14 characters.
        variant: gives the number of checkers; those that are not on the board are borne off.

    Returns:
        mover, opponent: 26 counts each, as `encode_position_id` takes them.

    Raises:
        NotationError: `text` is not a position id; if it is one of an impossible position (too many checkers, a point
            held by both, ...), the error is a PositionError as well.
    """
    checkers = variant_of(variant).checkers
    bits = _bits_of_text(
        text, POSITION_ID_LENGTH, _POSITION_BITS, "position id", lambda other: decode_position_id(other, variant)
    )
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
        msg = f"position id {text!r}: bits are set beyond its 50 places, so it is not one"
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


@dataclass(frozen=True)
class MatchId:
    """The fields of a match id, as they stand in it.

    Attributes:
        cube_log2: 0-15.
        owner: 0 or 1, None centred.
        move: the player on roll, 0 or 1, by whom the position id is seen.
        crawford: 1 in the Crawford game.
        state: NO_GAME, PLAYING, OVER, RESIGNED or DROPPED.
        turn: the player to decide.
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


def encode_match_id(fields: MatchId) -> str:
    """The match id with these fields.

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
    return _text_of_bits(bits, 9)


def decode_match_id(text: str) -> MatchId:
    """The fields of a match id.

    Raises:
        NotationError: `text` is not a match id, or a field has a value without a meaning.
    """
    rest = _bits_of_text(text, MATCH_ID_LENGTH, _MATCH_BITS, "match id", decode_match_id)
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


def read_position_id(
    text: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from a position id alone: player 0 on roll, cube in the middle, score 0-0.

    Raises:
        NotationError: see `decode_position_id`.
    """
    chosen = settings or Settings(variant)
    mover, opponent = decode_position_id(text, chosen.variant)
    return stand(Setup((mover, opponent), 0, what=f"position id {text!r}"), chosen), chosen


def read_ids(
    position: str, match: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from a position id and a match id.

    Args:
        position: the position id, seen by the player on roll (of a finished game: the winner).
        match: the match id.
        variant: the variant played, which no id holds.
        settings: the settings in force, whose match length and Jacoby the ids must not contradict. None: they are made of
            the id. The cube is then in play as in the variant by default, or where the id shows it turned, and capped at 64
            unless the id has it higher.

    Returns:
        states: an array of one STATE.
        settings: the settings in force.

    Raises:
        NotationError: these are not such ids, or their game is impossible (then a PositionError as well).
    """
    chosen = settings.variant if settings else variant_of(variant)
    mover, opponent = decode_position_id(position, chosen)
    fields = decode_match_id(match)
    what = f"match id {match!r}"
    _check(fields, what)
    length = fields.length
    turned = fields.cube_log2 > 0 or fields.owner is not None
    said = {"match_length": length}
    if not length:
        said["jacoby"] = not fields.no_jacoby
    rest = {
        "variant": chosen,
        "cube": True if turned or fields.double else None,
        "cube_cap": default_cap(fields.cube_log2 + fields.double),
        "allow_dead_cube": kept_alive(length, fields.cube_log2, (fields.score0, fields.score1)[fields.move], fields.double),
    }
    settled = settle_settings(what, said, settings, rest)
    finished = fields.state in (RESIGNED, DROPPED)
    setup = Setup(
        points=(opponent, mover) if fields.move else (mover, opponent),
        turn=fields.move,
        dice=(fields.die1, fields.die2),
        cube=fields.cube_log2,
        owner=-1 if fields.owner is None else fields.owner,
        crawford=bool(fields.crawford),
        score=(fields.score0, fields.score1),
        chain=fields.double,
        given_up=(fields.resign or 1) if finished else 0,
        what=what,
    )
    states = stand(setup, settled)
    if fields.state == OVER and states["phase"][0] != Phase.OVER:
        msg = f"{what} says that the game is over, but in the position nobody has borne off all checkers"
        raise NotationError(msg)
    return states, settled


def _check(fields: MatchId, what: str) -> None:
    if fields.state not in (NO_GAME, PLAYING):
        return
    if fields.resign:
        msg = f"{what} says that a resignation waits for an answer; here it ends the game at once: give an id from before it"
    elif fields.double and fields.turn == fields.move:
        msg = f"{what} says that the doubler must answer, as after a beaver, which it cannot hold: give an XGID"
    elif fields.double and fields.die1:
        msg = f"{what} says that a double waits for an answer after the dice were rolled (R8.2)"
    elif not fields.double and fields.turn != fields.move:
        msg = f"{what} says that player {fields.turn} decides while player {fields.move} is on roll and no double waits"
    else:
        return
    raise NotationError(msg)


def write_position_id(states: States, i: int) -> str:
    """The position id of state `i`, seen by the player on roll, at the end by the winner."""
    side = viewer(states, i)
    points = states[i]["points"]
    return encode_position_id(points[side].tolist(), points[1 - side].tolist())


def write_match_id(states: States, i: int, settings: Settings) -> str:
    """The match id of state `i` (state 1 while playing; bit 66 set in matches and where Jacoby is not played).

    No match id holds the cube's highest value: give `read_ids` the settings to read a cube at 64 under a higher one.

    Raises:
        NotationError: the id cannot hold the state.
    """
    refuse_unsayable(states, i, _MATCH_ID)
    s = states[i]
    if s["chain"] > 1:
        msg = "a match id cannot hold a beaver or raccoon: write an XGID"
        raise NotationError(msg)
    side = viewer(states, i)
    jacoby = settings.jacoby and settings.cube
    score = [int(n) for n in s["score"]]
    fields = {
        "cube_log2": int(s["cube"]),
        "owner": None if s["owner"] < 0 else int(s["owner"]),
        "move": side,
        "turn": side,
        "crawford": int(s["crawford"]),
        "length": settings.match_length,
        "score0": score[0],
        "score1": score[1],
        "no_jacoby": int(not jacoby),
    }
    if s["phase"] == Phase.OVER:
        fields["state"] = OVER
        if not all_off(states, i, side, settings):
            dropped = settings.cube and s["level"] == 1
            fields.update(state=DROPPED if dropped else RESIGNED, turn=1 - side)
            fields["resign"] = 0 if dropped else int(s["level"])
    else:
        fields.update(turn=1 - side if s["chain"] else side, double=int(s["chain"]))
        fields.update(die1=int(s["dice"][0]), die2=int(s["dice"][1]))
    text = encode_match_id(MatchId(**fields))  # type: ignore[arg-type] # only the owner may be None
    position = write_position_id(states, i)
    made = read_ids(position, text, settings.variant)[1]
    same_after_reading(states, i, read_ids(position, text, settings=least_cap(made, settings))[0], _MATCH_ID)
    return text
