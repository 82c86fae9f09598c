"""Checker steps: the legal ones (R4 to R7, with the duty to play of R5), and the board after a step.

Everything is on the mover's own numbering. A set of points is an int64 with bit p set for point p (25 the bar), so that
the legal sources of a die take a few shifts and masks.
"""

from __future__ import annotations

import numpy as np

from bg_env._jit import inlined
from bg_env.rules.bits import highest, lowest, opposed_points, own_points
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, OFF

__all__ = ["blocked_points", "held_points", "play_step", "sources", "step_sets"]

_BAR_BIT = 1 << BAR
_HOME_END = 1 << 7  # a set below this holds points of the home board only


@inlined
def held_points(states: States, i: int, side: int) -> int:
    """The set of points, bar included, on which `side` has checkers."""
    return own_points(states, i, side, 1)


@inlined
def blocked_points(states: States, i: int, side: int) -> int:
    """The set of points where `side` may not land: two or more opposing checkers (R4.1)."""
    return opposed_points(states, i, 1 - side, 2)


@inlined
def sources(held: int, blocked: int, die: int) -> int:
    """The set of points from which `die` can be played, R5 aside."""
    movable = np.int64(_BAR_BIT) if held & _BAR_BIT else held  # R6.1
    found = ((movable & ~(blocked << die)) >> (die + 1)) << (die + 1)
    if held < _HOME_END:  # R7.1
        found |= held & (np.int64(1) << die)
        if held < (np.int64(1) << die) and held:  # R7.2: none stands higher
            found |= np.int64(1) << highest(held)
    return found


@inlined
def _goes_on(states: States, i: int, side: int, held: int, blocked: int, p: int, die: int, other: int) -> bool:
    """Whether the die `other` can be played after the step of `die` from `p`, or nothing is left to play (R5.4)."""
    after = held
    if states[i]["points"][side, p] == 1:
        after &= ~(np.int64(1) << p)
    if p > die:
        after |= np.int64(1) << (p - die)
    return after == 0 or sources(after, blocked, other) != 0


@inlined
def _completing(
    states: States, i: int, side: int, held: int, blocked: int, first: int, die: int, second: int, other: int
) -> int:
    """The subset of `first` (the sources of `die`) after which `other` can be played (R5.1); `second` are its sources now.

    A source of `other` stays one whatever another checker does (landing is never blocked by own checkers, and a step
    never makes bearing off harder), so only steps of its last checker need a look ahead.
    """
    if held & _BAR_BIT or second == 0:
        doubtful = first
    elif second & (second - 1):
        return first
    else:
        doubtful = first & second
    sure = first & ~doubtful
    while doubtful:
        p = lowest(doubtful)
        if _goes_on(states, i, side, held, blocked, p, die, other):
            sure |= np.int64(1) << p
        doubtful &= doubtful - 1
    return sure


@inlined
def step_sets(states: States, i: int) -> tuple[int, int]:
    """The legal sources (sets) of the first and of the second of `dice`, empty for a die that has been played.

    R5 holds in full. A double needs no look-ahead: its steps can be made in any order, and as many of them (R5.3).
    """
    state = states[i]
    side = np.int64(state["turn"])
    held = held_points(states, i, side)
    blocked = blocked_points(states, i, side)
    none = np.int64(0)
    high = np.int64(state["dice"][0])
    low = np.int64(state["dice"][1])
    if state["left"][0] == 0:
        if state["left"][1] == 0:
            return none, none
        return none, sources(held, blocked, low)
    highs = sources(held, blocked, high)
    if state["left"][1] == 0:
        return highs, none
    lows = sources(held, blocked, low)
    both_high = _completing(states, i, side, held, blocked, highs, high, lows, low)
    both_low = _completing(states, i, side, held, blocked, lows, low, highs, high)
    if both_high | both_low:
        return both_high, both_low  # R5.1
    if highs:
        return highs, none  # R5.2
    return none, lows


@inlined
def play_step(states: States, i: int, side: int, p: int, die: int) -> bool:
    """Move one checker of `side` from `p` by `die`; returns whether it hit (R4.2)."""
    state = states[i]
    q = max(p - die, OFF)
    hit = bool(q > 0 and state["points"][1 - side, 25 - q] == 1)
    state["points"][side, p] -= 1
    state["points"][side, q] += 1
    if hit:
        state["points"][1 - side, 25 - q] = 0
        state["points"][1 - side, BAR] += 1
    return hit
