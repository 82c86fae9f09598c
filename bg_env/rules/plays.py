"""Whole plays: every distinct result of a roll (R11.2), as step actions and as the state that follows.

What follows a play is the same for all plays of a roll but those that end the game, so it is found once, in a record that
is copied for every play; on the copy only the last step is made. Boards are looked at once: the sets of points are kept up
to date step by step.

For a double the steps of a play are listed from the highest source down. Any legal set of equal steps can be played in
that order (landing does not depend on own checkers, and moving higher checkers first never hinders bearing off), and
different sets of sources have different results, so nothing is met twice.

A play of two dice is a pair of sources, one for each die, and its result does not depend on their order. Different pairs have
the same result in two cases only, in which the one met first is kept: one checker makes both steps, by way of either point
between, and hits on neither; or both steps bear off, whichever die takes which.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import inlined, kernel
from bg_env.rules.actions import step_number
from bg_env.rules.bits import highest, lowest, opposed_points
from bg_env.rules.game import apply_finished_play
from bg_env.rules.moves import blocked_points, held_points, play_step, sources, step_sets
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import BAR, OFF

__all__ = ["MAX_PLAYS", "plays", "plays_into", "plays_scratch"]

MAX_PLAYS = 3060
"""No roll has more distinct plays: four equal steps shared among 15 checkers can be shared in C(18, 4) = 3060 ways."""

_CHECKER = int(Phase.CHECKER)
_START = np.int64(0)
"""The record of `work` before any step. (For a literal 0 Numba would compile much of the engine once more.)"""
_SPARE = 4
"""The record of `work` that no depth uses."""


def plays_scratch() -> tuple[Any, Any, Any, Any]:
    """The arrays `work`, `path`, `sets` and `pairs` that `plays_into` works in: one set for each thread.

    `work` are STATE records (5,), the state after so many steps; `path` int64 (4,) the actions that led there; `sets` int64
    (3, 5) the sets held, open to hits, and still to be tried there; `pairs` int64 (2, 26) the pairs of sources met: row 0 by
    the source of the first die, row 1 by that of the second.
    """
    return np.empty(5, STATE), np.zeros(4, np.int64), np.zeros((3, 5), np.int64), np.zeros((2, 26), np.int64)


@inlined
def _one(p: Any) -> Any:
    """The set of point `p` alone."""
    return np.int64(1) << p


@inlined
def _held_after(work: Any, k: Any, side: Any, held: Any, p: Any, q: Any) -> Any:
    """What `side` holds after a step from `p` to `q` (0: off) in `work[k]`, where it holds `held`."""
    if work[k]["points"][side, p] == 1:
        held &= ~_one(p)
    return (held | _one(q)) & ~np.int64(1)


@inlined
def _moved(work: Any, k: Any, side: Any, p: Any, q: Any, hit: Any, out: Any, n: Any) -> None:
    """Make `out[n]` what `work[k]` is after a step of `side` from `p` to `q` (0: off) that hits `hit` checkers, 0 or 1.

    Indices are unsigned here: of others Numba asks whether they are negative.
    """
    k = np.uint64(k)
    n = np.uint64(n)
    own = np.uint64(side)
    other = np.uint64(1 - side)
    source = np.uint64(p)
    target = np.uint64(q)
    turned = np.uint64(25 - q)
    bar = np.uint64(BAR)
    out[n] = work[k]
    out[n]["points"][own, source] = work[k]["points"][own, source] - 1
    out[n]["points"][own, target] = work[k]["points"][own, target] + 1
    out[n]["points"][other, turned] = work[k]["points"][other, turned] - hit
    out[n]["points"][other, bar] = work[k]["points"][other, bar] + hit


@kernel
def _end_won(states: Any, i: Any, rules: Any, side: Any, work: Any, after: Any, n: Any) -> None:
    """If play `n` bears off the last checker of `side`, make its state that of a game that has ended (R3.4)."""
    if after[n]["points"][side, OFF] == rules[0]["checkers"]:
        work[_SPARE] = after[n]
        after[n] = states[i]
        for who in range(2):
            for p in range(26):
                after[n]["points"][who, p] = work[_SPARE]["points"][who, p]
        apply_finished_play(after, n, rules, np.int64(0))


@inlined
def _last_steps(
    states: Any,
    i: Any,
    rules: Any,
    side: Any,
    work: Any,
    path: Any,
    depth: Any,
    found: Any,
    die: Any,
    blots: Any,
    last: Any,
    after: Any,
    actions: Any,
    n: Any,
) -> Any:
    """Write the plays that end with a step of `die` from one of `found` in `work[depth]`; returns the index after the last.

    `last` says whether a play may be the game's last.
    """
    while found:
        p = highest(found)
        found ^= _one(p)
        q = max(p - die, OFF)
        _moved(work, depth, side, p, q, (blots >> q) & 1, after, n)
        path[depth] = step_number(p, die)
        row = np.uint64(n)
        for k in range(4):
            actions[row, np.uint64(k)] = path[np.uint64(k)]
        if last:
            _end_won(states, i, rules, side, work, after, n)
        n += 1
    return n


@inlined
def _most(work: Any, rules: Any, side: Any, blocked: Any, die: Any, left: Any) -> Any:
    """How many steps of `die` can be made in `work[0]`, at most `left`: any order reaches the same number (R5.3)."""
    steps = 0
    while steps < left and work[0]["points"][side, OFF] < rules[0]["checkers"]:
        found = sources(held_points(work, _START, side), blocked, die)
        if found == 0:
            break
        play_step(work, _START, side, highest(found), die)
        steps += 1
    return steps


@inlined
def _begin(states: Any, i: Any, rules: Any, work: Any, path: Any, steps: Any) -> None:
    """Make `work[0]` the state after a play of `steps` steps, but with none of them made on the board."""
    work[0] = states[i]
    apply_finished_play(work, _START, rules, steps)
    for k in range(4):
        path[k] = -1


@inlined
def _doubles(states: Any, i: Any, rules: Any, work: Any, path: Any, sets: Any, after: Any, actions: Any, n: Any) -> Any:
    """All plays of a double, depth first."""
    side = np.int64(states[i]["turn"]) & 1
    die = np.int64(states[i]["dice"][0])
    blocked = blocked_points(states, i, side)
    held = held_points(states, i, side)
    work[0] = states[i]
    most = _most(work, rules, side, blocked, die, np.int64(states[i]["left"][0]))
    last = np.int64(states[i]["points"][side, OFF]) + most >= rules[0]["checkers"]
    _begin(states, i, rules, work, path, most)
    sets[0, 0] = held
    sets[1, 0] = opposed_points(states, i, 1 - side, 1) & ~blocked
    sets[2, 0] = sources(held, blocked, die)
    depth = _START
    while True:
        found = sets[2, depth]
        if depth + 1 == most:
            n = _last_steps(states, i, rules, side, work, path, depth, found, die, sets[1, depth], last, after, actions, n)
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
        path[depth] = step_number(p, die)
        held = _held_after(work, depth, side, sets[0, depth], p, q)
        sets[0, depth + 1] = held
        sets[1, depth + 1] = sets[1, depth] & ~_one(q)
        sets[2, depth + 1] = sources(held, blocked, die) & ((np.int64(2) << p) - 1)
        depth += 1


@inlined
def _unmet(pairs: Any, order: Any, x: Any, a: Any, b: Any, blots: Any, found: Any) -> Any:
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
def _order(
    states: Any,
    i: Any,
    rules: Any,
    side: Any,
    work: Any,
    path: Any,
    pairs: Any,
    order: Any,
    firsts: Any,
    a: Any,
    b: Any,
    held: Any,
    blocked: Any,
    blots: Any,
    last: Any,
    after: Any,
    actions: Any,
    n: Any,
) -> Any:
    """The new plays that begin with a step of `a` from one of `firsts` and go on with `b`; `order` says which die is `a`."""
    while firsts:
        x = highest(firsts)
        firsts ^= _one(x)
        y = max(x - a, OFF)
        then = _held_after(work, _START, side, held, x, y)
        found = sources(then, blocked, b) if then else np.int64(1)  # nothing left: the play ends here, as if from 0
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
            _moved(work, _START, side, x, y, (blots >> y) & 1, work, _START + 1)
            path[0] = step_number(x, a)
        else:
            depth, die, hits, new = _START, a, blots, _one(x)
            path[1] = -1
        n = _last_steps(states, i, rules, side, work, path, depth, new, die, hits, last, after, actions, n)
    return n


@inlined
def _two_dice(states: Any, i: Any, rules: Any, work: Any, path: Any, pairs: Any, after: Any, actions: Any, n: Any) -> Any:
    """All plays of two different dice, or of the last die of a roll."""
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
    _begin(states, i, rules, work, path, steps)
    for x in range(26):
        pairs[0, x] = 0
        pairs[1, x] = 0
    for order in range(2):
        firsts, a, b = (low, d1, d0) if order else (high, d0, d1)
        if steps == 1:
            n = _last_steps(states, i, rules, side, work, path, _START, firsts, a, blots, last, after, actions, n)
        else:
            n = _order(
                states, i, rules, side, work, path, pairs, order, firsts, a, b, held, blocked, blots, last, after, actions, n
            )
    return n


@kernel
def plays_into(
    states: Any, i: Any, rules: Any, work: Any, path: Any, sets: Any, pairs: Any, after: Any, actions: Any, n: Any
) -> Any:
    """Write the distinct plays of state `i` (phase CHECKER) from index `n` on; returns the index after the last.

    `after` (STATE records) and `actions` (int16, 4 a play, -1 behind the last step) must have room for MAX_PLAYS more;
    `work`, `path`, `sets`, `pairs` are `plays_scratch()`.
    """
    if states[i]["left"][0] > 1:
        return _doubles(states, i, rules, work, path, sets, after, actions, n)
    return _two_dice(states, i, rules, work, path, pairs, after, actions, n)


@kernel
def _plays(
    states: Any,
    start: Any,
    rules: Any,
    work: Any,
    path: Any,
    sets: Any,
    pairs: Any,
    offsets: Any,
    after: Any,
    actions: Any,
) -> Any:
    """Fill plays for the states from `start` on while there is room; returns the index of the first state not done."""
    for i in range(start, states.shape[0]):
        n = offsets[i]
        if states[i]["phase"] == _CHECKER:
            if n + MAX_PLAYS > after.shape[0]:
                return i
            n = plays_into(states, i, rules, work, path, sets, pairs, after, actions, n)
        offsets[i + 1] = n
    return states.shape[0]


def plays(states: States, rules: Any) -> tuple[Any, Any, Any]:
    """Every distinct whole play (R11.2) of every state that waits for a checker step.

    Args:
        states: 1-D array of STATE records, of length n; a roll partly played is completed.
        rules: the RULES record, `settings.record()`.

    Returns:
        offsets: int64 (n + 1,); state i has the plays offsets[i] to offsets[i + 1] - 1, none in other phases than CHECKER.
        actions: int16 (m, 4); a play's steps as action numbers in an order in which they are legal, then -1.
        after: STATE (m,); the state after the play, before any dice that are due then.
    """
    n = len(states)
    offsets = np.zeros(n + 1, np.int64)
    room = MAX_PLAYS + 32 * n + 64 * int(np.count_nonzero(states["left"] > 1))
    after = np.empty(room, STATE)
    actions = np.empty((room, 4), np.int16)
    scratch = plays_scratch()
    done = _plays(states, 0, rules, *scratch, offsets, after, actions)
    while done < n:
        room = 2 * room
        after = np.concatenate([after, np.empty(room - len(after), STATE)])
        actions = np.concatenate([actions, np.empty((room - len(actions), 4), np.int16)])
        done = _plays(states, done, rules, *scratch, offsets, after, actions)
    m = int(offsets[n])
    if 8 * m < room:  # a few plays would hold on to the room for many
        return offsets, actions[:m].copy(), after[:m].copy()
    return offsets, actions[:m], after[:m]
