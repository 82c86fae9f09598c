"""What a net is told of a position besides where the checkers are: shots, freedom to move, the race. Compiled.

The 198 inputs of `tesauro198` say where the checkers are, and a small net finds it hard to see from them which rolls hit. These
numbers are counted over the 36 rolls with whole points as sets of bits, as the board stands, for either side as if it were on
roll. They describe, and decide nothing: what may be played is in `bg_env.rules` alone.

| input, of own side 0 to 14, the opponent's 15 to 29 | |
|---|---|
| 0, 1 | share of the rolls that hit a blot; that hit with both dice, on the way or by two checkers |
| 2 | pips that the opponent loses so, a roll, the farthest blot counted, over 10 |
| 3 | share of the rolls of which the last checker can play both dice |
| 4 | the same for all checkers behind a block, weighted by how far they have to go, over 40 |
| 5 | the least share of rolls, as of 3, over the places where an opponent behind might stand |
| 6 | chance to enter a checker from the bar |
| 7 | pips over 100 |
| 8 | place of the last checker over 25 |
| 9 | pips over 100 to be played until there is no contact any more |
| 10 | pips over 50 that checkers may play before the home points are given up |
| 11 | blots over 4 that can be hit by one die or both |
| 12, 13 | share of the rolls that make another point on 3 to 8; on 18 to 22 |
| 14 | share of the rolls that make a point on a blot on 1 to 8 |

Then 30: no contact; 31: the lead in pips over the sum of both counts.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel

__all__ = ["TACTICS", "tactics", "tactics_of"]

_SIDE: Final = 15
TACTICS: Final = 2 * _SIDE + 2
"""How many inputs these are."""

_BOARD: Final = (1 << 25) - 2
_NEAR: Final = (1 << 9) - (1 << 3)
_FAR: Final = (1 << 23) - (1 << 18)
_ATTACK: Final = (1 << 9) - 2
_AHEAD: Final = 12
_LOW: Final = (1 << 13) - 1
_ONE = np.int64(1)
_NONE = np.int64(0)


def _ways() -> Any:
    """For each set of blocked points of the 12 ahead (bit 12 - d: d pips ahead): rolls of 36 that one checker can play."""
    ways = np.zeros(1 << _AHEAD, np.int8)
    for blocked in range(1 << _AHEAD):
        free = [True] + [not blocked >> (_AHEAD - d) & 1 for d in range(1, _AHEAD + 1)]
        for a in range(1, 7):
            for b in range(1, 7):
                ways[blocked] += free[a + b] and (free[a] or free[b])
    return ways


_WAYS = _ways()
_TOP = np.array([max(n.bit_length() - 1, 0) for n in range(_LOW + 1)], np.int8)
"""The highest bit of 13."""
_COUNT = np.array([n.bit_count() for n in range(_LOW + 1)], np.int8)


@kernel
def _top(bits: Any) -> Any:
    high = bits >> 13
    return 13 + np.int64(_TOP[high]) if high != 0 else np.int64(_TOP[bits & _LOW])


@kernel
def _count(bits: Any) -> Any:
    return np.int64(_COUNT[bits & _LOW]) + np.int64(_COUNT[bits >> 13])


@kernel
def _ways_from(blocked: Any, place: Any) -> Any:
    """Rolls of 36 of which a checker on `place` can play both dice; off the board is open."""
    if place >= _AHEAD:
        return np.int64(_WAYS[(blocked >> (place - _AHEAD)) & 4095])
    return np.int64(_WAYS[(blocked << (_AHEAD - place)) & 4095])


@kernel
def _points(own: Any, made: Any, blots: Any, blocked: Any, out: Any, at: Any) -> None:
    """New points of a side with nobody on the bar, checkers on the places `own`, two and more on `made`."""
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
def _hits_of_two(own: Any, made: Any, bar: Any, a: Any, b: Any, blots: Any, free: Any) -> Any:
    """The blots that the roll of `a` and `b` hits, and whether it hits with both dice."""
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
def _hits_of_double(own: Any, bar: Any, a: Any, blots: Any, free: Any) -> Any:
    """The blots that the double of `a` hits."""
    hit = _NONE
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
def _hits(own: Any, made: Any, bar: Any, blots: Any, blocked: Any, out: Any, at: Any) -> None:
    """Shots of a side with `bar` checkers on the bar, checkers on the places `own` (25: the bar), two and more on `made`."""
    free = _BOARD & ~blocked
    one = 0
    two = 0
    lost = 0
    exposed = _NONE
    for a in range(1, 7):
        for b in range(1, a + 1):
            if a == b:
                hit = _hits_of_double(own, bar, a, blots, free)
                pair = hit & (hit - 1) != 0
            else:
                hit, pair = _hits_of_two(own, made, bar, a, b, blots, free)
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
def _side(states: Any, i: Any, who: Any) -> Any:
    """Places held, held by two and more, both on the other side's numbering (blots apart), pips, the last place."""
    held = _NONE
    made = _NONE
    points = _NONE
    blots = _NONE
    pips = _NONE
    last = _NONE
    for p in range(1, 26):
        n = np.int64(states[i]["points"][who, p])
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
    return held, made, points, blots, pips, last


@kernel
def _freedom(states: Any, i: Any, who: Any, side: Any, other: Any, out: Any, at: Any) -> None:
    """The inputs of a side that are no shots, where there is contact; `side` and `other` are of `_side`."""
    blocked = other[2]
    last = side[5]
    behind = other[5]
    moves = 0
    spare = 0
    to_play = 0
    for p in range(1, last + 1):
        n = np.int64(states[i]["points"][who, p])
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
        least = min(least, _ways_from(side[2], p))
    closed = np.int64(_COUNT[(blocked >> 19) & 63])
    out[at + 3] = np.float32(_ways_from(blocked, last)) / np.float32(36)
    out[at + 4] = np.float32(moves) / np.float32(36 * 40)
    out[at + 5] = np.float32(least) / np.float32(36)
    out[at + 6] = np.float32(36 - closed * closed) / np.float32(36)
    out[at + 9] = np.float32(to_play) / np.float32(100)
    out[at + 10] = np.float32(spare) / np.float32(50)


@kernel
def tactics(states: Any, i: Any, seat: Any, out: Any) -> None:
    """The inputs of state `i`, as `seat` sees it who is on roll, into `out`, float32 (at least `TACTICS`)."""
    own = _side(states, i, seat)
    theirs = _side(states, i, 1 - seat)
    contact = own[5] + theirs[5] > 25
    for k in range(TACTICS):
        out[k] = np.float32(0)
    for k in range(2):
        at = k * _SIDE
        who = seat if k == 0 else 1 - seat
        side = own if k == 0 else theirs
        other = theirs if k == 0 else own
        out[at + 7] = np.float32(side[4]) / np.float32(100)
        out[at + 8] = np.float32(side[5]) / np.float32(25)
        if contact:
            bar = np.int64(states[i]["points"][who, 25])
            if other[3] != 0:
                _hits(side[0], side[1], bar, other[3], other[2], out, at)
            if bar == 0:
                _points(side[0], side[1], other[3], other[2], out, at)
            _freedom(states, i, who, side, other, out, at)
    out[2 * _SIDE] = np.float32(0 if contact else 1)
    both = own[4] + theirs[4]
    if both > 0:
        out[2 * _SIDE + 1] = np.float32(theirs[4] - own[4]) / np.float32(both)


@kernel
def _tactics_of(states: Any, seats: Any, out: Any, row: Any) -> None:
    for i in range(states.shape[0]):
        tactics(states, i, np.int64(seats[i]), row)
        for k in range(row.shape[0]):
            out[i, k] = row[k]


def tactics_of(states: Any, seats: Any) -> Any:
    """The inputs of every state as player `seats[i]` sees it who is on roll: float32 (len(states), TACTICS)."""
    out = np.empty((len(states), TACTICS), np.float32)
    _tactics_of(states, seats, out, np.empty(TACTICS, np.float32))
    return out
