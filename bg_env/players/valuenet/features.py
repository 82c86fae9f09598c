"""Features of a position beside the places of the checkers: shots, freedom to move, the race; as kernels.

The 198 inputs of `tesauro198` give the places of the checkers, from which a small net can hardly tell which rolls hit. These
features are counted over the 36 rolls with whole points as sets of bits, as the board stands, for either side as if it were on
roll. They describe and decide nothing: which plays are legal is decided in `bg_env.rules` alone.

| input, of own side 0 to 14, the opponent's 15 to 29 | |
|---|---|
| 0, 1 | share of the rolls that hit a blot; that hit with both dice, on the way or with two checkers |
| 2 | mean pips per roll that the opponent loses by hits, counting the farthest blot, over 10 |
| 3 | share of the rolls with which the last checker can play both dice |
| 4 | the same for all checkers outside home, weighted by their distance from it, over 40 |
| 5 | the least share of rolls, as of 3, over the places from the opponent's last checker back |
| 6 | probability to enter a checker from the bar |
| 7 | pip count over 100 |
| 8 | place of the last checker over 25 |
| 9 | pips to play until there is no more contact, over 100 |
| 10 | pips that can be played before points at home are given up, over 50 |
| 11 | opposing blots that can be hit with one die or both, over 4 |
| 12, 13 | share of the rolls that make another point on 3 to 8; on 18 to 22 |
| 14 | share of the rolls that make a point on a blot on 1 to 8 |

Then 30: no contact; 31: the lead in pips over the sum of both counts.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules import States

__all__ = ["TACTICS", "tactics", "tactics_of"]

_SIDE: Final = 15
TACTICS: Final = 2 * _SIDE + 2
"""The number of these inputs."""

_BOARD: Final = (1 << 25) - 2
_NEAR: Final = (1 << 9) - (1 << 3)
_FAR: Final = (1 << 23) - (1 << 18)
_ATTACK: Final = (1 << 9) - 2
_AHEAD: Final = 12
_LOW: Final = (1 << 13) - 1
_ONE = np.int64(1)
_NONE = np.int64(0)


def _ways() -> npt.NDArray[np.int8]:
    """By the set of blocked points among the 12 ahead (bit 12 - d: d pips ahead), the rolls of 36 that one checker can play."""
    ways = np.zeros(1 << _AHEAD, np.int8)
    for blocked in range(1 << _AHEAD):
        free = [True] + [not blocked >> (_AHEAD - d) & 1 for d in range(1, _AHEAD + 1)]
        for a in range(1, 7):
            for b in range(1, 7):
                ways[blocked] += free[a + b] and (free[a] or free[b])
    return ways


_WAYS = _ways()
_TOP = np.array([max(n.bit_length() - 1, 0) for n in range(_LOW + 1)], np.int8)
"""The highest bit of a set of 13."""
_COUNT = np.array([n.bit_count() for n in range(_LOW + 1)], np.int8)
"""The number of bits of a set of 13."""

Floats = npt.NDArray[np.float32]
Seats = npt.NDArray[np.integer[Any]]


class _Side(NamedTuple):
    """The checkers of a side.

    Attributes:
        held: places with checkers on its own numbering, as bits; 25 is the bar.
        made: those with two checkers or more.
        points: points with two or more on the other side's numbering.
        blots: points with one on the other side's numbering.
        pips: pip count.
        last: the farthest place.
    """

    held: int
    made: int
    points: int
    blots: int
    pips: int
    last: int


@kernel
def _top(bits: int) -> int:
    """The highest bit."""
    high = bits >> 13
    top: int = 13 + np.int64(_TOP[high]) if high != 0 else np.int64(_TOP[bits & _LOW])
    return top


@kernel
def _count(bits: int) -> int:
    """The number of bits."""
    count: int = np.int64(_COUNT[bits & _LOW]) + np.int64(_COUNT[bits >> 13])
    return count


@kernel
def _ways_from(blocked: int, place: int) -> int:
    """The rolls of 36 with which a checker on `place` can play both dice; places off the board are open."""
    ahead = blocked >> (place - _AHEAD) if place >= _AHEAD else blocked << (_AHEAD - place)
    ways: int = np.int64(_WAYS[ahead & 4095])
    return ways


@kernel
def _write_points(side: _Side, other: _Side, out: Floats, at: int) -> None:
    """The inputs for new points of `side`, which has no checker on the bar, against `other`, into `out` from `at` on."""
    own, made, blots, blocked = side.held, side.made, other.blots, other.points
    free = _BOARD & ~blocked & ~made
    single = own & ~made
    near = 0
    far = 0
    attack = 0
    for a in range(1, 7):
        to_a = own >> a
        two = made >> a
        for b in range(1, a + 1):
            if a == b:
                new = (two | (single & to_a) | ((two & ~blocked) >> a)) & free
            else:
                to_b = own >> b
                new = ((to_a & to_b) | (single & (to_a | to_b))) & free
            weight = 1 if a == b else 2
            if new & _NEAR != 0:
                near += weight
            if new & _FAR != 0:
                far += weight
            if new & blots & _ATTACK != 0:
                attack += weight
    out[at + 12] = np.float32(near) / np.float32(36)
    out[at + 13] = np.float32(far) / np.float32(36)
    out[at + 14] = np.float32(attack) / np.float32(36)


@kernel
def _hits_of_two(side: _Side, bar: int, a: int, b: int, blots: int, free: int) -> tuple[int, bool]:
    """The blots that the roll of `a` and `b` hits, and whether it hits with both dice."""
    own, made = side.held, side.made
    if bar == 0:
        to_a = (own >> a) & free
        to_b = (own >> b) & free
        then_b = to_a >> b
        then_a = to_b >> a
    else:
        to_a = (_ONE << (25 - a)) & free
        to_b = (_ONE << (25 - b)) & free
        then_b = (to_a | (own & _BOARD)) >> b if bar == 1 and to_a != 0 else _NONE
        then_a = (to_b | (own & _BOARD)) >> a if bar == 1 and to_b != 0 else _NONE
    by_a = to_a & blots
    by_b = to_b & blots
    far_a = then_a & blots
    far_b = then_b & blots
    both = by_a | by_b
    hit = both | far_a | far_b
    if bar == 1:
        return hit, both != 0 and (far_a | far_b) != 0
    if ((by_a >> b) & far_b) != 0 or ((by_b >> a) & far_a) != 0:
        return hit, True
    sources = ((by_a << a) | (by_b << b)) & own
    alone = sources & (sources - 1) == 0 and sources & made == 0
    return hit, by_a != 0 and by_b != 0 and both & (both - 1) != 0 and not alone


@kernel
def _hits_of_double(own: int, bar: int, a: int, blots: int, free: int) -> int:
    """The blots that the double of `a` hits."""
    hit: int = _NONE
    now = own
    if bar > 0:
        now = (_ONE << (25 - a)) & free
        if now == 0:
            return hit
        hit = now & blots
        now |= own & _BOARD
    for _ in range(4 - bar):
        now = (now >> a) & free
        hit |= now & blots
    return hit


@kernel
def _write_hits(side: _Side, bar: int, other: _Side, out: Floats, at: int) -> None:
    """The inputs for shots of `side`, with `bar` checkers on the bar, at the blots of `other`, into `out` from `at` on."""
    blots = other.blots
    free = _BOARD & ~other.points
    one = 0
    two = 0
    lost = 0
    exposed = _NONE
    for a in range(1, 7):
        for b in range(1, a + 1):
            if a == b:
                hit = _hits_of_double(side.held, bar, a, blots, free)
                pair = hit & (hit - 1) != 0
            else:
                hit, pair = _hits_of_two(side, bar, a, b, blots, free)
            if hit != 0:
                weight = 1 if a == b else 2
                one += weight
                lost += weight * _top(hit)
                exposed |= hit
                if pair:
                    two += weight
    out[at] = np.float32(one) / np.float32(36)
    out[at + 1] = np.float32(two) / np.float32(36)
    out[at + 2] = np.float32(lost) / np.float32(360)
    out[at + 11] = np.float32(_count(exposed)) / np.float32(4)


@kernel
def _side(states: States, i: int, player: int) -> _Side:
    """The checkers of `player` in state `i`."""
    held = _NONE
    made = _NONE
    points = _NONE
    blots = _NONE
    pips = _NONE
    last = _NONE
    for p in range(1, 26):
        n = np.int64(states[i]["points"][player, p])
        if n > 0:
            held |= _ONE << p
            pips += n * p
            last = np.int64(p)
            if n > 1:
                made |= _ONE << p
            if p < 25:
                if n > 1:
                    points |= _ONE << (25 - p)
                else:
                    blots |= _ONE << (25 - p)
    return _Side(held, made, points, blots, pips, last)


@kernel
def _write_freedom(states: States, i: int, player: int, side: _Side, other: _Side, out: Floats, at: int) -> None:
    """The other inputs of `player`, whose checkers `side` has contact with those of `other`, into `out` from `at` on."""
    blocked = other.points
    last = side.last
    behind = other.last
    moves = 0
    spare = 0
    to_play = 0
    for p in range(1, last + 1):
        n = np.int64(states[i]["points"][player, p])
        if n == 0:
            continue
        if p > 6:
            moves += n * (p - 6) * _ways_from(blocked, p)
            spare += n * (p - 6)
        else:
            spare += max(n - 2, 0) * (p - 1)
        to_play += n * max(p + behind - 25, 0)
    least = 36
    for p in range(behind, 26):
        least = min(least, _ways_from(side.points, p))
    closed = np.int64(_COUNT[(blocked >> 19) & 63])
    out[at + 3] = np.float32(_ways_from(blocked, last)) / np.float32(36)
    out[at + 4] = np.float32(moves) / np.float32(36 * 40)
    out[at + 5] = np.float32(least) / np.float32(36)
    out[at + 6] = np.float32(36 - closed * closed) / np.float32(36)
    out[at + 9] = np.float32(to_play) / np.float32(100)
    out[at + 10] = np.float32(spare) / np.float32(50)


@kernel
def tactics(states: States, i: int, seat: int, out: Floats) -> None:
    """The inputs of state `i`, as the player on roll, `seat`, sees it, into `out`, float32 (at least `TACTICS`)."""
    own = _side(states, i, seat)
    theirs = _side(states, i, 1 - seat)
    contact = own.last + theirs.last > 25
    for k in range(TACTICS):
        out[k] = np.float32(0)
    for k in range(2):
        at = k * _SIDE
        player = seat if k == 0 else 1 - seat
        side = own if k == 0 else theirs
        other = theirs if k == 0 else own
        out[at + 7] = np.float32(side.pips) / np.float32(100)
        out[at + 8] = np.float32(side.last) / np.float32(25)
        if contact:
            bar = np.int64(states[i]["points"][player, 25])
            if other.blots != 0:
                _write_hits(side, bar, other, out, at)
            if bar == 0:
                _write_points(side, other, out, at)
            _write_freedom(states, i, player, side, other, out, at)
    out[2 * _SIDE] = np.float32(0 if contact else 1)
    both = own.pips + theirs.pips
    if both > 0:
        out[2 * _SIDE + 1] = np.float32(theirs.pips - own.pips) / np.float32(both)


@kernel
def _write_tactics(states: States, seats: Seats, out: Floats, row: Floats) -> None:
    for i in range(states.shape[0]):
        tactics(states, i, np.int64(seats[i]), row)
        for k in range(row.shape[0]):
            out[i, k] = row[k]


def tactics_of(states: States, seats: Seats) -> Floats:
    """The inputs of every state, as the player on roll, `seats[i]`, sees it.

    Args:
        states: STATE records (n,).
        seats: integers (n,), 0 or 1.

    Returns:
        float32 (n, TACTICS).
    """
    out = np.empty((len(states), TACTICS), np.float32)
    _write_tactics(states, seats, out, np.empty(TACTICS, np.float32))
    return out
