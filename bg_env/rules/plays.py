"""Whole plays: every distinct result of a roll (R11.2), as step actions and as the state that follows.

For a double the steps of a play are listed from the highest source down. Any legal set of equal steps can be played in
that order (landing does not depend on own checkers, and moving higher checkers first never hinders bearing off), and
different sets of sources have different results, so nothing is met twice. For two dice both orders are walked and what
was met already is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import inlined, kernel
from bg_env.rules.bits import highest
from bg_env.rules.game import apply_finished_play
from bg_env.rules.moves import blocked_points, held_points, play_step, sources, step_sets, undo_step
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import OFF

__all__ = ["MAX_PLAYS", "plays", "plays_into"]

MAX_PLAYS = 3060
"""No roll has more distinct plays: four equal steps shared among 15 checkers can be shared in C(18, 4) = 3060 ways."""

_CHECKER = int(Phase.CHECKER)

_FIVES = 4 * 5 ** np.arange(26, dtype=np.int64)
"""Two steps change the number of checkers on a point by at most two: numbers to the base of five tell all results apart.

The factor leaves room to tell whether a checker hit where it did not stay, with the first or with the second order of dice:
what it hit where it stayed is told by the board.
"""


@inlined
def _emit(states: Any, i: Any, rules: Any, work: Any, path: Any, depth: Any, after: Any, actions: Any, n: Any) -> Any:
    """Write play `n`: the `depth` actions of `path` and the state after them, on the board of `work`. Returns n + 1.

    What follows a play is the same for all plays of a roll that bear not everything off, but for the board: it is found
    out once, and from then on `work` is the state that follows.
    """
    for k in range(4):
        actions[n, k] = path[k] if k < depth else -1
    if work[0]["points"][states[i]["turn"], OFF] == rules[0]["checkers"]:
        after[n] = states[i]
        for side in range(2):
            for p in range(26):
                after[n]["points"][side, p] = work[0]["points"][side, p]
        apply_finished_play(after, n, rules, depth)
    else:
        after[n] = work[0]
        if work[0]["phase"] == _CHECKER:
            apply_finished_play(after, n, rules, depth)
            work[0] = after[n]
    return n + 1


@inlined
def _emit_step(
    states: Any, i: Any, rules: Any, work: Any, path: Any, depth: Any, p: Any, die: Any, after: Any, actions: Any, n: Any
) -> Any:
    """`_emit` for the play that goes on from the board of `work` with a last step, of `die` from `p`, as action `depth`."""
    side = states[i]["turn"]
    path[depth] = 6 * p + die - 7
    if work[0]["phase"] != _CHECKER and work[0]["points"][side, OFF] + 1 < rules[0]["checkers"]:
        for k in range(4):
            actions[n, k] = path[k] if k <= depth else -1
        after[n] = work[0]
        play_step(after, n, side, p, die)
        return n + 1
    hit = play_step(work, 0, side, p, die)
    n = _emit(states, i, rules, work, path, depth + 1, after, actions, n)
    undo_step(work, 0, side, p, die, hit)
    return n


@inlined
def _held_after(work: Any, side: Any, held: Any, p: Any, die: Any) -> Any:
    """The set `held` after the step of `die` from `p` has been played on the board of `work`."""
    if work[0]["points"][side, p] == 0:
        held &= ~(np.int64(1) << p)
    if p > die:
        held |= np.int64(1) << (p - die)
    return held


@kernel
def _doubles(
    states: Any, i: Any, rules: Any, work: Any, path: Any, hits: Any, keys: Any, after: Any, actions: Any, n: Any
) -> Any:
    """All plays of a double, depth first; `keys[depth]` has the sources still to try at a depth, and the points held."""
    side = states[i]["turn"]
    die = np.int64(states[i]["dice"][0])
    steps = np.int64(states[i]["left"][0])
    blocked = blocked_points(states, i, side)
    held = held_points(states, i, side)
    depth = 0
    keys[0, 0] = sources(held, blocked, die)
    keys[0, 1] = held
    if keys[0, 0] == 0:
        return _emit(states, i, rules, work, path, 0, after, actions, n)
    while True:
        todo = keys[depth, 0]
        if todo == 0:
            if depth == 0:
                return n
            depth -= 1
            undo_step(work, 0, side, path[depth] // 6 + 1, die, hits[depth])
            continue
        if depth + 1 == steps:
            keys[depth, 0] = 0
            while todo:
                p = highest(todo)
                todo &= ~(np.int64(1) << p)
                n = _emit_step(states, i, rules, work, path, depth, p, die, after, actions, n)
            continue
        p = highest(todo)
        bit = np.int64(1) << p
        keys[depth, 0] = todo & ~bit
        hits[depth] = play_step(work, 0, side, p, die)
        path[depth] = 6 * p + die - 7
        held = _held_after(work, side, keys[depth, 1], p, die)
        depth += 1
        found = np.int64(0) if held == 0 else sources(held, blocked, die)
        keys[depth, 0] = found & ((bit << 1) - 1)
        keys[depth, 1] = held
        if found == 0:
            n = _emit(states, i, rules, work, path, depth, after, actions, n)


@inlined
def _moved(p: Any, q: Any) -> Any:
    """What a step from `p` to `q` (0 and below: off) adds to the key of a result."""
    return (_FIVES[q] if q > 0 else 0) - _FIVES[p]


@inlined
def _new(keys: Any, first: Any, n: Any, key: Any) -> Any:
    """Whether no play from `first` to `n` has this key; it is entered as that of play `n`."""
    for k in range(n - first):
        if keys[k, 0] == key:
            return False
    keys[n - first, 0] = key
    return True


@kernel
def _order(
    states: Any,
    i: Any,
    rules: Any,
    work: Any,
    path: Any,
    keys: Any,
    after: Any,
    actions: Any,
    first: Any,
    n: Any,
    held: Any,
    blocked: Any,
    firsts: Any,
    die: Any,
    other: Any,
    mark: Any,
) -> Any:
    """The plays that begin with a step of `die` from one of `firsts` and go on with `other` where it can be played."""
    side = states[i]["turn"]
    while firsts:
        p = highest(firsts)
        firsts &= ~(np.int64(1) << p)
        hit = play_step(work, 0, side, p, die)
        path[0] = 6 * p + die - 7
        key = _moved(p, p - die)
        then = _held_after(work, side, held, p, die)
        seconds = np.int64(0) if other == 0 or then == 0 else sources(then, blocked, other)
        if seconds == 0 and _new(keys, first, n, key):
            n = _emit(states, i, rules, work, path, 1, after, actions, n)
        while seconds:
            q = highest(seconds)
            seconds &= ~(np.int64(1) << q)
            whole = key + _moved(q, q - other)
            if hit and q == p - die:
                whole += mark
            if _new(keys, first, n, whole):
                n = _emit_step(states, i, rules, work, path, 1, q, other, after, actions, n)
        undo_step(work, 0, side, p, die, hit)
    return n


@kernel
def plays_into(
    states: Any, i: Any, rules: Any, work: Any, path: Any, hits: Any, keys: Any, after: Any, actions: Any, n: Any
) -> Any:
    """Write the distinct plays of state `i` (phase CHECKER) from index `n` on; returns the index after the last.

    `after` (STATE records) and `actions` (int16, 4 a play, -1 behind the last step) must have room for MAX_PLAYS more;
    `work` (one STATE), `path` and `hits` (4 int64), `keys` (MAX_PLAYS x 2 int64) are scratch.
    """
    work[0] = states[i]
    if states[i]["left"][0] > 1:
        return _doubles(states, i, rules, work, path, hits, keys, after, actions, n)
    side = states[i]["turn"]
    held = held_points(states, i, side)
    blocked = blocked_points(states, i, side)
    high, low = step_sets(states, i)
    d0 = np.int64(states[i]["dice"][0])
    d1 = np.int64(states[i]["dice"][1])
    first = n
    other0 = d1 if states[i]["left"][1] else np.int64(0)
    other1 = d0 if states[i]["left"][0] else np.int64(0)
    n = _order(states, i, rules, work, path, keys, after, actions, first, n, held, blocked, high, d0, other0, 1)
    return _order(states, i, rules, work, path, keys, after, actions, first, n, held, blocked, low, d1, other1, 2)


@kernel
def _plays(states: Any, start: Any, rules: Any, offsets: Any, after: Any, actions: Any, scratch: Any) -> Any:
    """Fill plays for the states from `start` on while there is room; returns the index of the first state not done."""
    work, path, hits, keys = scratch
    for i in range(start, states.shape[0]):
        n = offsets[i]
        if states[i]["phase"] == _CHECKER:
            if n + MAX_PLAYS > after.shape[0]:
                return i
            n = plays_into(states, i, rules, work, path, hits, keys, after, actions, n)
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
    room = MAX_PLAYS + 32 * n
    after = np.empty(room, STATE)
    actions = np.empty((room, 4), np.int16)
    scratch = (np.empty(1, STATE), np.zeros(4, np.int64), np.zeros(4, np.int64), np.empty((MAX_PLAYS, 2), np.int64))
    done = _plays(states, 0, rules, offsets, after, actions, scratch)
    while done < n:
        room = 2 * room
        after = np.concatenate([after, np.empty(room - len(after), STATE)])
        actions = np.concatenate([actions, np.empty((room - len(actions), 4), np.int16)])
        done = _plays(states, done, rules, offsets, after, actions, scratch)
    m = int(offsets[n])
    return offsets, actions[:m], after[:m]
