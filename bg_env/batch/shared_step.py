"""A step of a batch on several threads, masks and observations included, in one kernel, the games taken in turns.

A kernel that returns to Python asks for the GIL, and of two threads that ask at once one goes to sleep for longer than a
thousand games take; so a step and its observations are one call here. And threads never run alike: each does its own range
first, some games at a time, then helps with what is left of the others'. Which thread does a game makes no difference to it.

A batch on one thread calls the parts of `bg_env.batch.kernels`, which saves it the compilation of all encoders.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.batch.kernels import step_games, step_plays
from bg_env.batch.layout import Arrays, Batch
from bg_env.batch.threads import signal, take
from bg_env.observations.counts import encode_counts
from bg_env.observations.openspiel import encode_openspiel
from bg_env.observations.pgx import encode_pgx
from bg_env.observations.planes import encode_planes
from bg_env.observations.pubeval import encode_pubeval
from bg_env.observations.tesauro import encode_tesauro
from bg_env.observations.tesauro198 import encode_tesauro198
from bg_env.rules import States

__all__ = ["NOTHING", "NO_TURNS", "NUMBERS", "Shown", "Turns", "all_or_none", "play_in_turns", "step_in_turns", "turns_of"]

NOTHING: Final = -1
"""No observation is wanted."""
_TESAURO, _TESAURO198, _COUNTS, _PLANES, _PUBEVAL, _OPENSPIEL, _PGX = range(7)
NUMBERS: Final = {
    "tesauro": _TESAURO,
    "tesauro198": _TESAURO198,
    "counts": _COUNTS,
    "planes": _PLANES,
    "pubeval": _PUBEVAL,
    "openspiel": _OPENSPIEL,
    "pgx": _PGX,
}
"""The numbers of the encoders that are part of the step on several threads, by name; the others are called after it."""
NO_TURNS: Final = np.zeros(1, np.int64), np.zeros(0, np.int64)
"""Bounds and counters of no threads."""
_AT_ONCE: Final = 128
"""Games that a thread takes at a time: some ten microseconds."""
_APART: Final = 8
"""Counters lie so far apart that no two share a line of a cache."""


class Turns(NamedTuple):
    """The progress of the threads in the games of each range."""

    bounds: npt.NDArray[np.int64]
    """(threads + 1,): where each range begins, and where the last one ends."""
    counters: npt.NDArray[np.int64]
    """(_APART * threads,): the next game of range k that no thread has taken is counters[_APART * k]."""
    started: npt.NDArray[np.int64]
    """(1,): the number of the last step that has been signalled to the threads."""


class Shown(NamedTuple):
    """Seats, masks and observations after a step."""

    viewers: npt.NDArray[np.int8]
    """(n,): the seat that looks."""
    mask: npt.NDArray[np.int8]
    """(n, actions)."""
    flat: npt.NDArray[np.float32]
    """(n, size): the observations."""
    encoder: int
    """One of NUMBERS, or NOTHING."""


def turns_of(ranges: list[tuple[int, int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Bounds and counters of a step that is about to begin, for threads with these ranges (lo, hi)."""
    bounds = np.array([lo for lo, _ in ranges] + [ranges[-1][1]], np.int64)
    counters = np.zeros(_APART * len(ranges), np.int64)
    counters[::_APART] = bounds[:-1]
    return bounds, counters


def all_or_none(bounds: npt.NDArray[np.int64], counters: npt.NDArray[np.int64]) -> bool:
    """Whether all games of a step were done or none begun, when no thread is at work any more."""
    begun = counters[::_APART] > bounds[:-1]
    return not begun.any() or bool((counters[::_APART] >= bounds[1:]).all())


@kernel
def _next(turns: Turns, lo: int, place: int) -> tuple[int, int, int]:
    """The next games for the thread that begins at `lo`, which did those of range `place` last: first, end, range.

    The first is -1 when all games are done. A `place` of -1: none so far.
    """
    bounds = turns.bounds
    ranges = bounds.shape[0] - 1
    own = 0
    while bounds[own] != lo:
        own += 1
    k = own if place < 0 else place
    while True:
        first = take(turns.counters, k * _APART, _AT_ONCE)
        if first < bounds[k + 1]:
            return first, min(first + _AT_ONCE, bounds[k + 1]), k
        k = (k + 1) % ranges
        if k == own:
            return np.int64(-1), np.int64(-1), k


@kernel
def _observe(batch: Arrays, shown: Shown, lo: int, hi: int) -> None:
    """Write the observations of the games `lo` to `hi`, if they are wanted and the encoder is known."""
    if shown.encoder == NOTHING:
        return
    games = Batch(*batch)
    states = games.states[lo:hi]
    seats = shown.viewers[lo:hi]
    out = shown.flat[lo:hi]
    if shown.encoder == _TESAURO:
        encode_tesauro(states, games.rules, seats, out)
    elif shown.encoder == _TESAURO198:
        encode_tesauro198(states, games.rules, seats, out)
    elif shown.encoder == _COUNTS:
        encode_counts(states, games.rules, seats, out)
    elif shown.encoder == _PLANES:
        encode_planes(states, games.rules, seats, out)
    elif shown.encoder == _PUBEVAL:
        encode_pubeval(states, games.rules, seats, out)
    elif shown.encoder == _OPENSPIEL:
        encode_openspiel(states, games.rules, seats, out)
    elif shown.encoder == _PGX:
        encode_pgx(states, games.rules, seats, out)


@kernel
def step_in_turns(
    batch: Arrays,
    actions: npt.NDArray[np.int64],
    report: Arrays,
    finals: Arrays,
    shown: Arrays,
    turns: Arrays,
    lo: int,
    count: int,
) -> None:
    """`bg_env.batch.kernels.step_games`, then masks and observations, of games that no thread has done yet.

    Args:
        batch: see `step_games`, as for the next three.
        actions: likewise.
        report: likewise.
        finals: likewise.
        shown: the fields of a `Shown`, written.
        turns: the fields of a `Turns`; the threads share it.
        lo: the first game of the thread's own range.
        count: number of the step; it begins with `signal(turns.started, count)`.
    """
    view, parts = Shown(*shown), Turns(*turns)
    signal(parts.started, count)
    first, end, place = _next(parts, lo, np.int64(-1))
    while first >= 0:
        step_games(batch, actions, report, finals, (view.viewers, view.mask), first, end)
        _observe(batch, view, first, end)
        first, end, place = _next(parts, lo, place)


@kernel
def play_in_turns(
    batch: Arrays,
    after: States,
    index: npt.NDArray[np.int64],
    report: Arrays,
    finals: Arrays,
    shown: Arrays,
    turns: Arrays,
    lo: int,
    count: int,
) -> None:
    """`step_in_turns` with candidates of `after`, chosen by `index`, instead of actions."""
    view, parts = Shown(*shown), Turns(*turns)
    signal(parts.started, count)
    first, end, place = _next(parts, lo, np.int64(-1))
    while first >= 0:
        step_plays(batch, after, index, report, finals, (view.viewers, view.mask), first, end)
        _observe(batch, view, first, end)
        first, end, place = _next(parts, lo, place)
