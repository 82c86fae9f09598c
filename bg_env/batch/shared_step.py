"""A batch that several threads share: a step and all that it shows in one kernel, the games done in turns.

A kernel that returns to Python asks for the GIL, and of two threads that ask at once one goes to sleep for longer than a
thousand games take; so a step and what it shows are one call here. And threads never run alike: each does its own range
first, some games at a time, then helps with what is left of the others'. Who does a game makes no difference to it.

A batch on one thread calls the parts of `bg_env.batch.kernels`, which saves it the compilation of all encoders.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.batch.kernels import look, step_games, step_plays
from bg_env.batch.threads import signal, take
from bg_env.observations import ENCODERS
from bg_env.observations.counts import encode_counts
from bg_env.observations.openspiel import encode_openspiel
from bg_env.observations.pgx import encode_pgx
from bg_env.observations.planes import encode_planes
from bg_env.observations.pubeval import encode_pubeval
from bg_env.observations.tesauro import encode_tesauro
from bg_env.observations.tesauro198 import encode_tesauro198

__all__ = ["NOTHING", "NUMBERS", "Turns", "play_in_turns", "step_in_turns"]

NOTHING: Final = -1
"""No observation is wanted."""
NUMBERS: Final = {name: k for k, name in enumerate(ENCODERS)}
"""Encoders by name, as numbers for the kernels."""

_TESAURO, _TESAURO198, _COUNTS, _PLANES, _PUBEVAL, _OPENSPIEL, _PGX = (
    NUMBERS[name] for name in ("tesauro", "tesauro198", "counts", "planes", "pubeval", "openspiel", "pgx")
)
_AT_ONCE: Final = 128
"""Games that a thread takes at a time: some ten microseconds."""
_APART: Final = 8
"""Counters lie so far apart that no two share a line of a cache."""


class Turns:
    """Where each range of games begins and ends, and how far the threads have come in it.

    Args:
        ranges: (lo, hi) of each thread.
    """

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self.bounds = np.array([lo for lo, _ in ranges] + [ranges[-1][1]], np.int64)
        self.counters = np.zeros(_APART * len(ranges), np.int64)

    def begin(self) -> tuple[Any, Any]:
        """Before a step: nothing is done. The arrays, as the kernels take them."""
        self.counters[::_APART] = self.bounds[:-1]
        return self.bounds, self.counters


@kernel
def _next(bounds: Any, counters: Any, lo: Any, place: Any) -> Any:
    """The next games to be done by the thread that begins at `lo`, which did those of range `place` last: first, end, range.

    The first is -1 when all is done. A `place` of -1: none so far.
    """
    ranges = bounds.shape[0] - 1
    own = 0
    while bounds[own] != lo:
        own += 1
    k = own if place < 0 else place
    while True:
        first = take(counters, k * _APART, _AT_ONCE)
        if first < bounds[k + 1]:
            return first, min(first + _AT_ONCE, bounds[k + 1]), k
        k = (k + 1) % ranges
        if k == own:
            return np.int64(-1), np.int64(-1), k


@kernel
def _show(
    states: Any, slots: Any, rules: Any, sets: Any, viewers: Any, mask: Any, flat: Any, number: Any, lo: Any, hi: Any
) -> None:
    """Write masks, seats that look and the observations of encoder `number`, of the games `lo` to `hi`."""
    look(states, slots, rules, sets, viewers, mask, lo, hi)
    if number == NOTHING:
        return
    some = states[lo:hi]
    seats = viewers[lo:hi]
    out = flat[lo:hi]
    if number == _TESAURO:
        encode_tesauro(some, rules, seats, out)
    elif number == _TESAURO198:
        encode_tesauro198(some, rules, seats, out)
    elif number == _COUNTS:
        encode_counts(some, rules, seats, out)
    elif number == _PLANES:
        encode_planes(some, rules, seats, out)
    elif number == _PUBEVAL:
        encode_pubeval(some, rules, seats, out)
    elif number == _OPENSPIEL:
        encode_openspiel(some, rules, seats, out)
    elif number == _PGX:
        encode_pgx(some, rules, seats, out)


@kernel
def step_in_turns(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    actions: Any,
    info: Any,
    rewards: Any,
    lengths: Any,
    ends: Any,
    finals: Any,
    final_info: Any,
    viewers: Any,
    mask: Any,
    flat: Any,
    number: Any,
    bounds: Any,
    counters: Any,
    lo: Any,
    _hi: Any,
    counter: Any,
    count: Any,
) -> None:
    """A step, and what it shows, of games that nobody has done yet, until there are none; see `batch.step_games`."""
    signal(counter, count)
    first, end, place = _next(bounds, counters, lo, np.int64(-1))
    while first >= 0:
        step_games(
            states, slots, rules, plan, dice, sets, actions, info, rewards, lengths, ends, finals, final_info, first, end
        )
        _show(states, slots, rules, sets, viewers, mask, flat, number, first, end)
        first, end, place = _next(bounds, counters, lo, place)


@kernel
def play_in_turns(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    after: Any,
    index: Any,
    info: Any,
    rewards: Any,
    lengths: Any,
    ends: Any,
    finals: Any,
    final_info: Any,
    viewers: Any,
    mask: Any,
    flat: Any,
    number: Any,
    bounds: Any,
    counters: Any,
    lo: Any,
    _hi: Any,
    counter: Any,
    count: Any,
) -> None:
    """`step_in_turns` with candidates of `after` chosen by `index` instead of actions."""
    signal(counter, count)
    first, end, place = _next(bounds, counters, lo, np.int64(-1))
    while first >= 0:
        step_plays(
            states, slots, rules, plan, dice, sets, after, index, info, rewards, lengths, ends, finals, final_info, first, end
        )
        _show(states, slots, rules, sets, viewers, mask, flat, number, first, end)
        first, end, place = _next(bounds, counters, lo, place)
