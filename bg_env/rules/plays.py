"""Whole plays: every distinct result of a roll (R11.2), as step actions and as the state that follows.

What follows a play is the same for all plays of a roll but those that end the game, so it is found once, in a record that
is copied for every play; on the copy only the last step is made. The board is read once: the sets of points are kept up to
date step by step.

For a double the steps of a play are listed from the highest source down. Any legal set of equal steps can be played in
that order (landing does not depend on own checkers, and moving higher checkers first never hinders bearing off), and
different sets of sources have different results, so no result is met twice.

A play of two dice is a pair of sources, one for each die, and its result does not depend on their order. Different pairs have
the same result in two cases only, in which the one met first is kept: one checker makes both steps, by way of either point
between, and hits on neither; or both steps bear off, whichever die takes which checker.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.rules.actions import step_number
from bg_env.rules.bits import highest, lowest, opposed_points
from bg_env.rules.game import apply_finished_play
from bg_env.rules.moves import blocked_points, held_points, play_step, sources, step_sets
from bg_env.rules.settings import Rules
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import BAR, OFF

__all__ = ["MAX_PLAYS", "PlayBuffer", "grown", "list_plays", "play_buffer", "plays"]

MAX_PLAYS = 3060
"""No roll has more distinct plays: four equal steps shared among 15 checkers can be shared in C(18, 4) = 3060 ways."""

_START: int = np.int64(0)
"""The record of `work` before any step. (For a literal 0 Numba would compile much of the engine once more.)"""
_NO_STEPS: int = np.int64(0)
_SPARE = 4
"""The record of `work` that is for no depth."""


class PlayBuffer(NamedTuple):
    """The arrays that plays are listed in, and scratch for that: one buffer for each thread.

    Attributes:
        work: STATE records (5,), the states after so many steps.
        path: int64 (4,), the actions that lead there.
        sets: int64 (3, 5), the sets of points held, open to hits, and still to be tried as sources there.
        pairs: int64 (2, 26), the pairs of sources met: row 0 by the source of the first die, row 1 by that of the second.
        after: STATE records, the states after the plays, before any dice that are due then.
        actions: int16 (len(after), 4), the steps of the plays as action numbers, -1 after the last step.
    """

    work: States
    path: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]
    after: States
    actions: npt.NDArray[np.int16]


class _Roll(NamedTuple):
    """A roll of state `i`: the mover, its points held, closed to it and open to hits, and whether a play may end the game."""

    states: States
    i: int
    rules: Rules
    side: int
    held: int
    blocked: int
    blots: int
    last: bool


def play_buffer(size: int = MAX_PLAYS) -> PlayBuffer:
    """A new buffer for so many plays."""
    work, path, sets, pairs = np.empty(5, STATE), np.zeros(4, np.int64), np.zeros((3, 5), np.int64), np.zeros((2, 26), np.int64)
    return PlayBuffer(work, path, sets, pairs, np.empty(size, STATE), np.empty((size, 4), np.int16))


@inlined
def _one(p: int) -> int:
    """The set of point `p` alone."""
    one: int = np.int64(1) << p
    return one


@inlined
def _held_after(states: States, k: int, side: int, held: int, p: int, q: int) -> int:
    """The points held by `side` after a step from `p` to `q` (0: off) in `states[k]`, where it holds `held`."""
    if states[k]["points"][side, p] == 1:
        held &= ~_one(p)
    return (held | _one(q)) & ~1


@inlined
def _moved(states: States, k: int, side: int, p: int, q: int, hit: int, out: States, n: int) -> None:
    """Make `out[n]` the state after a step of `side` from `p` to `q` (0: off) in `states[k]` that hits `hit` checkers, 0 or 1.

    Indices are unsigned here, because Numba looks at the sign of any other.
    """
    source = np.uint64(k)
    target = np.uint64(n)
    own = np.uint64(side)
    other = np.uint64(1 - side)
    start = np.uint64(p)
    end = np.uint64(q)
    turned = np.uint64(25 - q)
    bar = np.uint64(BAR)
    out[target] = states[source]
    out[target]["points"][own, start] = states[source]["points"][own, start] - 1
    out[target]["points"][own, end] = states[source]["points"][own, end] + 1
    out[target]["points"][other, turned] = states[source]["points"][other, turned] - hit
    out[target]["points"][other, bar] = states[source]["points"][other, bar] + hit


@kernel
def _end_won(states: States, i: int, rules: Rules, work: States, after: States, n: int) -> None:
    """If play `n` bears off the mover's last checker, make its state that of a game that has ended (R3.4)."""
    if after[n]["points"][states[i]["turn"], OFF] == rules[0]["checkers"]:
        work[_SPARE] = after[n]
        after[n] = states[i]
        for who in range(2):
            for p in range(26):
                after[n]["points"][who, p] = work[_SPARE]["points"][who, p]
        apply_finished_play(after, n, rules, _NO_STEPS)


@inlined
def _last_steps(roll: _Roll, buffer: PlayBuffer, depth: int, found: int, die: int, blots: int, n: int) -> int:
    """Write the plays that end with a step of `die` from one of `found` in `work[depth]`; returns the index after the last."""
    while found:
        p = highest(found)
        found ^= _one(p)
        q = max(p - die, OFF)
        _moved(buffer.work, depth, roll.side, p, q, (blots >> q) & 1, buffer.after, n)
        buffer.path[depth] = step_number(p, die)
        row = np.uint64(n)
        for k in range(4):
            buffer.actions[row, np.uint64(k)] = buffer.path[np.uint64(k)]
        if roll.last:
            _end_won(roll.states, roll.i, roll.rules, buffer.work, buffer.after, n)
        n += 1
    return n


@inlined
def _most(work: States, rules: Rules, side: int, blocked: int, die: int, left: int) -> int:
    """The number of steps of `die` that can be made in `work[0]`, at most `left`: any order reaches the same (R5.3)."""
    steps = 0
    while steps < left and work[0]["points"][side, OFF] < rules[0]["checkers"]:
        found = sources(held_points(work, _START, side), blocked, die)
        if found == 0:
            break
        play_step(work, _START, side, highest(found), die)
        steps += 1
    return steps


@inlined
def _begin(states: States, i: int, rules: Rules, buffer: PlayBuffer, steps: int) -> None:
    """Make `work[0]` the state after a play of `steps` steps, but with none of them made on the board."""
    buffer.work[0] = states[i]
    apply_finished_play(buffer.work, _START, rules, steps)
    for k in range(4):
        buffer.path[k] = -1


@inlined
def _doubles(states: States, i: int, rules: Rules, buffer: PlayBuffer, n: int) -> int:
    """Write all plays of a double, depth first."""
    work, sets = buffer.work, buffer.sets
    side = np.int64(states[i]["turn"]) & 1
    die = np.int64(states[i]["dice"][0])
    blocked = blocked_points(states, i, side)
    held = held_points(states, i, side)
    blots = opposed_points(states, i, 1 - side, 1) & ~blocked
    work[0] = states[i]
    most = _most(work, rules, side, blocked, die, np.int64(states[i]["left"][0]))
    last = np.int64(states[i]["points"][side, OFF]) + most >= rules[0]["checkers"]
    _begin(states, i, rules, buffer, most)
    roll = _Roll(states, i, rules, side, held, blocked, blots, last)
    sets[0, 0] = held
    sets[1, 0] = blots
    sets[2, 0] = sources(held, blocked, die)
    depth = _START
    while True:
        found = sets[2, depth]
        if depth + 1 == most:
            n = _last_steps(roll, buffer, depth, found, die, sets[1, depth], n)
            found = np.int64(0)
        if found == 0:
            if depth == 0:
                return n
            depth -= 1
            continue
        p = highest(found)
        sets[2, depth] = found ^ _one(p)
        q = max(p - die, OFF)
        _moved(work, depth, side, p, q, (sets[1, depth] >> q) & 1, work, depth + 1)
        buffer.path[depth] = step_number(p, die)
        held = _held_after(work, depth, side, sets[0, depth], p, q)
        sets[0, depth + 1] = held
        sets[1, depth + 1] = sets[1, depth] & ~_one(q)
        sets[2, depth + 1] = sources(held, blocked, die) & ((np.int64(2) << p) - 1)
        depth += 1


@inlined
def _unmet(pairs: npt.NDArray[np.int64], order: int, x: int, a: int, b: int, blots: int, found: int) -> int:
    """The subset of `found` whose plays are new: a step of `a` from `x`, then one of `b` from there.

    Row `order` of `pairs` is by the source of `a`, the other by that of `b`.
    """
    found &= ~pairs[order, x]
    y = max(x - a, OFF)
    z = max(x - b, OFF)
    if (pairs[1 - order, x] >> z) & 1 and blots & (_one(y) | _one(z)) == 0:
        found &= ~_one(y)  # the checker from x goes on from y, and would get there by way of z
    z = x + b - a
    if x + b <= BAR and z > 0 and (pairs[order, x + b] >> z) & 1 and (blots >> z) & 1 == 0:
        found &= ~_one(x + b)  # a checker from x + b comes by way of x, and would get there by way of z
    off = min(a, b)
    if x <= off:
        near = found & ((np.int64(2) << off) - 2) & ~_one(x)
        while near:
            s = lowest(near)
            near &= near - 1
            if (pairs[order, s] >> x) & 1:
                found &= ~_one(s)  # both bear off, each by the other's die
    return found


@inlined
def _order(roll: _Roll, buffer: PlayBuffer, order: int, firsts: int, a: int, b: int, n: int) -> int:
    """Write the new plays of a step of `a` from one of `firsts`, then one of `b`; `order` is the index of die `a`."""
    pairs, side, blots = buffer.pairs, roll.side, roll.blots
    while firsts:
        x = highest(firsts)
        firsts ^= _one(x)
        y = max(x - a, OFF)
        then = _held_after(buffer.work, _START, side, roll.held, x, y)
        found = sources(then, roll.blocked, b) if then else np.int64(1)  # nothing left: the play ends here, as if from 0
        new = _unmet(pairs, order, x, a, b, blots, found)
        if new == 0:
            continue
        pairs[order, x] |= found
        met = new
        while met:
            pairs[1 - order, lowest(met)] |= _one(x)
            met &= met - 1
        depth, die, hits = _START + 1, b, blots & ~_one(y)
        if then:
            _moved(buffer.work, _START, side, x, y, (blots >> y) & 1, buffer.work, _START + 1)
            buffer.path[0] = step_number(x, a)
        else:
            depth, die, hits, new = _START, a, blots, _one(x)
            buffer.path[1] = -1
        n = _last_steps(roll, buffer, depth, new, die, hits, n)
    return n


@inlined
def _two_dice(states: States, i: int, rules: Rules, buffer: PlayBuffer, n: int) -> int:
    """Write all plays of two different dice, or of the last die of a roll."""
    side = np.int64(states[i]["turn"]) & 1
    high, low = step_sets(states, i)
    held = held_points(states, i, side)
    blocked = blocked_points(states, i, side)
    blots = opposed_points(states, i, 1 - side, 1) & ~blocked
    d0 = np.int64(states[i]["dice"][0])
    d1 = np.int64(states[i]["dice"][1])
    steps = 1
    if states[i]["left"][0] and states[i]["left"][1] and high | low:
        x = highest(high) if high else highest(low)
        then = _held_after(states, i, side, held, x, max(x - (d0 if high else d1), OFF))
        steps = 2 if then == 0 or sources(then, blocked, d1 if high else d0) else 1
    last = np.int64(states[i]["points"][side, OFF]) + steps >= rules[0]["checkers"]
    _begin(states, i, rules, buffer, steps)
    roll = _Roll(states, i, rules, side, held, blocked, blots, last)
    for x in range(26):
        buffer.pairs[0, x] = 0
        buffer.pairs[1, x] = 0
    for order in range(2):
        firsts, a, b = (low, d1, d0) if order else (high, d0, d1)
        if steps == 1:
            n = _last_steps(roll, buffer, _START, firsts, a, blots, n)
        else:
            n = _order(roll, buffer, order, firsts, a, b, n)
    return n


@kernel
def list_plays(states: States, i: int, rules: Rules, buffer: PlayBuffer, n: int) -> int:
    """Write the distinct plays of state `i` (phase CHECKER) into `buffer` from index `n` on; returns the index after the last.

    `buffer.after` and `buffer.actions` must have room for MAX_PLAYS more.
    """
    if states[i]["left"][0] > 1:
        return _doubles(states, i, rules, buffer, n)
    return _two_dice(states, i, rules, buffer, n)


@kernel
def _plays(states: States, start: int, rules: Rules, arrays: tuple[Any, ...], offsets: npt.NDArray[np.int64]) -> int:
    """List plays of the states from `start` on while there is room; returns the index of the first state not done."""
    buffer = PlayBuffer(*arrays)
    for i in range(start, len(states)):
        n = offsets[i]
        if states[i]["phase"] == Phase.CHECKER:
            if n + MAX_PLAYS > buffer.after.shape[0]:
                return i
            n = list_plays(states, i, rules, buffer, n)
        offsets[i + 1] = n
    return len(states)


def plays(states: States, rules: Rules) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], States]:
    """Every distinct whole play (R11.2) of every state that waits for a checker step.

    Args:
        states: STATE records (n,); a roll partly played is completed.
        rules: the RULES record, `settings.record()`.

    Returns:
        offsets: int64 (n + 1,); state i has the plays offsets[i] to offsets[i + 1] - 1; none outside phase CHECKER.
        actions: int16 (m, 4); a play's steps as action numbers in an order in which they are legal, then -1.
        after: STATE records (m,); the states after the plays, before any dice that are due then.
    """
    n = len(states)
    offsets = np.zeros(n + 1, np.int64)
    buffer = play_buffer(MAX_PLAYS + 32 * n + 64 * int(np.count_nonzero(states["left"] > 1)))
    done = _plays(states, 0, rules, tuple(buffer), offsets)
    while done < n:
        buffer = grown(buffer, int(offsets[done]))
        done = _plays(states, done, rules, tuple(buffer), offsets)
    m = int(offsets[n])
    after, actions = buffer.after[:m], buffer.actions[:m]
    if 8 * m < len(buffer.after):  # a few plays would hold on to the memory for many
        return offsets, actions.copy(), after.copy()
    return offsets, actions, after


def grown(buffer: PlayBuffer, n: int) -> PlayBuffer:
    """The buffer with room for twice as many plays; the first `n` are kept."""
    larger = play_buffer(2 * len(buffer.after))
    larger.after[:n], larger.actions[:n] = buffer.after[:n], buffer.actions[:n]
    return larger
