"""Whole plays: every distinct result of a roll (R11.2), as step actions and as the state that follows.

For a double the steps of a play are listed from the highest source down. Any legal set of equal steps can be played in
that order (landing does not depend on own checkers, and moving higher checkers first never hinders bearing off), and
different sets of sources have different results, so nothing is met twice. For two dice both orders are walked and what
was met already is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.rules.game import apply_finished_play
from bg_env.rules.moves import blocked_points, held_points, play_step, sources, step_sets, undo_step
from bg_env.rules.state import STATE, Phase, States
from bg_env.rules.variant import OFF

__all__ = ["MAX_PLAYS", "plays", "plays_into"]

MAX_PLAYS = 3060
"""No roll has more distinct plays: four equal steps shared among 15 checkers can be shared in C(18, 4) = 3060 ways."""

_CHECKER = int(Phase.CHECKER)


@kernel
def _emit(work: Any, rules: Any, path: Any, depth: Any, after: Any, actions: Any, n: Any) -> Any:
    """Write play `n`: the `depth` actions of `path` and the state after them. Returns n + 1."""
    for k in range(4):
        actions[n, k] = path[k] if k < depth else -1
    after[n] = work[0]
    apply_finished_play(after, n, rules, depth)
    return n + 1


@kernel
def _doubles(work: Any, rules: Any, path: Any, hits: Any, after: Any, actions: Any, n: Any) -> Any:
    """All plays of a double, depth first; `work` is as before when it returns."""
    side = work[0]["turn"]
    die = np.int64(work[0]["dice"][0])
    steps = np.int64(work[0]["left"][0])
    blocked = blocked_points(work, 0, side)
    todo = np.empty(5, np.int64)  # sources still to try at each depth
    todo[0] = sources(held_points(work, 0, side), blocked, die)
    depth = 0
    if todo[0] == 0:
        return _emit(work, rules, path, 0, after, actions, n)
    while True:
        if todo[depth] == 0:
            if depth == 0:
                return n
            depth -= 1
            undo_step(work, 0, side, path[depth] // 6 + 1, die, hits[depth])
            continue
        p = 25
        while not (todo[depth] >> p) & 1:
            p -= 1
        todo[depth] &= ~(np.int64(1) << p)
        hits[depth] = play_step(work, 0, side, p, die)
        path[depth] = (p - 1) * 6 + die - 1
        depth += 1
        done = depth == steps or work[0]["points"][side, OFF] == rules[0]["checkers"]
        found = np.int64(0) if done else sources(held_points(work, 0, side), blocked, die)
        todo[depth] = found & ((np.int64(1) << (p + 1)) - 1)
        if found == 0:
            n = _emit(work, rules, path, depth, after, actions, n)


@kernel
def _shift(p: Any) -> Any:
    """Where point `p` counts in the low or high half of a result's key: four bits a point, the bar above the hits."""
    if p < 13:
        return 4 * (p - 1)
    return 4 * (p - 13) if p < 25 else 60


@kernel
def _key(p: Any, q: Any, hit: Any, low: Any, high: Any) -> Any:
    """The key (low, high) of a result after one more step from `p` to `q` (<= 0: off): own counts, and the points hit."""
    if p < 13:
        low -= np.int64(1) << _shift(p)
    else:
        high -= np.int64(1) << _shift(p)
    if q > 0:
        if q < 13:
            low += np.int64(1) << _shift(q)
        else:
            high += np.int64(1) << _shift(q)
        if hit and q < 13:
            low += np.int64(1) << (48 + q - 1)
        elif hit:
            high += np.int64(1) << (48 + q - 13)
    return low, high


@kernel
def _new(keys: Any, first: Any, n: Any, low: Any, high: Any) -> Any:
    """Whether no play from `first` to `n` has this key; it is entered as that of play `n`."""
    for k in range(first, n):
        if keys[k - first, 0] == low and keys[k - first, 1] == high:
            return False
    keys[n - first, 0] = low
    keys[n - first, 1] = high
    return True


@kernel
def _order(
    work: Any, rules: Any, path: Any, keys: Any, after: Any, actions: Any, first: Any, n: Any, firsts: Any, die: Any, other: Any
) -> Any:
    """The plays that begin with a step of `die` from one of `firsts` and go on with `other` where it can be played."""
    side = work[0]["turn"]
    blocked = blocked_points(work, 0, side)
    for p in range(25, 0, -1):
        if not (firsts >> p) & 1:
            continue
        hit = play_step(work, 0, side, p, die)
        path[0] = (p - 1) * 6 + die - 1
        low, high = _key(p, p - die, hit, np.int64(0), np.int64(0))
        done = other == 0 or work[0]["points"][side, OFF] == rules[0]["checkers"]
        seconds = np.int64(0) if done else sources(held_points(work, 0, side), blocked, other)
        if seconds == 0 and _new(keys, first, n, low, high):
            n = _emit(work, rules, path, 1, after, actions, n)
        for q in range(25, 0, -1):
            if not (seconds >> q) & 1:
                continue
            hit2 = play_step(work, 0, side, q, other)
            path[1] = (q - 1) * 6 + other - 1
            low2, high2 = _key(q, q - other, hit2, low, high)
            if _new(keys, first, n, low2, high2):
                n = _emit(work, rules, path, 2, after, actions, n)
            undo_step(work, 0, side, q, other, hit2)
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
    if work[0]["left"][0] > 1:
        return _doubles(work, rules, path, hits, after, actions, n)
    high, low = step_sets(work, 0)
    d0 = np.int64(work[0]["dice"][0])
    d1 = np.int64(work[0]["dice"][1])
    first = n
    other0 = d1 if work[0]["left"][1] else np.int64(0)
    other1 = d0 if work[0]["left"][0] else np.int64(0)
    n = _order(work, rules, path, keys, after, actions, first, n, high, d0, other0)
    return _order(work, rules, path, keys, after, actions, first, n, low, d1, other1)


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
