"""Decisions of a race by exact tables, in the place of a net's: plays, probabilities and the cube with both sides home.

With up to six checkers a side the two-sided table decides: in money play by the equity with the cube, else by the chance to
win. With more, the chance to win is taken from the two one-sided distributions, which is not exact, but closer than a net. In
all these positions both sides have borne off a checker, so there are no gammons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env import exact
from bg_env._jit import CACHE_DIR, inlined, kernel
from bg_env.actions import DOUBLE, DROP, ROLL, TAKE
from bg_env.exact.numbering import TERMS
from bg_env.exact.phases import CENTRED, CUBELESS, OPPONENT, OWNED
from bg_env.exact.two_sides import MOST
from bg_env.rules import OFF, Phase, PlayBuffer, Rules, Settings, States, list_plays, play_buffer

__all__ = ["best_steps", "cube_actions", "cube_values", "has_cube_decision", "in_bearoff", "play_values", "win_chances"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Tables = tuple[Integers, Floats, Floats]
"""Terms of the numbers of positions, the values of the two-sided table, the distributions of the one-sided one."""

_FIRST = np.int64(0)


@inlined
def _number(states: States, i: int, side: int, terms: Integers) -> int:
    """The number of a side's home position: see `bg_env.exact.numbering`."""
    above = np.int64(0)
    number: int = np.int64(0)
    for p in range(6, 0, -1):
        above += states[i]["points"][side, p]
        number += terms[p - 1, above]
    return number


@inlined
def _before_roll(own: int, other: int, column: int, tables: Tables) -> float:
    """The value to the player on roll, which may double, of one number against another: an equity, or 2 x chance - 1."""
    _, values, distributions = tables
    if max(own, other) < values.shape[0]:
        value = values[own, other, column]
        if column == OWNED or column == CENTRED:
            value = max(value, min(2.0 * values[own, other, OPPONENT], 1.0))
        return float(value)
    chance = 0.0
    not_before = 1.0  # the chance that the other side needs k rolls or more
    for k in range(distributions.shape[1]):
        chance += distributions[own, k] * not_before
        not_before -= distributions[other, k]
    return float(2.0 * chance - 1.0)


@kernel
def _write_values(
    states: States, rules: Rules, arrays: tuple[Any, ...], tables: Tables, columns: Integers, steps: Integers, values: Floats
) -> None:
    """The steps of the best play of every state into `steps`, and the values of all plays into `values`, as they come.

    The cube is where `columns` says, as the mover sees it.
    """
    buffer = PlayBuffer(*arrays)
    m = np.int64(0)
    for i in range(states.shape[0]):
        mover = np.int64(states[i]["turn"])
        other = _number(states, i, 1 - mover, tables[0])
        column = columns[i]
        if _number(states, i, mover, tables[0]) >= tables[1].shape[0]:
            column = CUBELESS  # not after every play is there a value with the cube
        if column == OWNED or column == OPPONENT:
            column = OWNED + OPPONENT - column
        best = np.int64(0)
        least = 9.0
        for n in range(list_plays(states, i, rules, buffer, _FIRST)):
            value = _before_roll(other, _number(buffer.after, n, mover, tables[0]), column, tables)
            if value < least:
                least = value
                best = n
            if values.shape[0] > 0:
                values[m] = -value
                m += 1
        for k in range(4):
            steps[i, k] = buffer.actions[best, k]


@kernel
def _look_up(states: States, tables: Tables, columns: Integers, out: Floats) -> None:
    """For every state the values before the roll into `out`, float64 (n, 3): cubeless; no double; double and take.

    The latter two, where the two-sided table has it.
    """
    values = tables[1]
    for i in range(states.shape[0]):
        mover = np.int64(states[i]["turn"])
        own = _number(states, i, mover, tables[0])
        other = _number(states, i, 1 - mover, tables[0])
        out[i, 0] = _before_roll(own, other, CUBELESS, tables)
        if max(own, other) < values.shape[0]:
            out[i, 1] = values[own, other, columns[i]]
            out[i, 2] = 2.0 * values[own, other, OPPONENT]


def _tables() -> Tables:
    return TERMS, exact.two_sided(MOST).values, exact.one_sided().distributions


def _columns(states: States, settings: Settings) -> Integers:
    """Where the cube is, as the player on roll sees it: a column of the two-sided table."""
    if not settings.money or not settings.cube:
        return np.zeros(len(states), np.int64)
    owner = states["owner"]
    found = np.where(owner == -1, CENTRED, np.where(owner == states["turn"], OWNED, OPPONENT))
    return np.where(states["cube"] >= settings.cap_log2, CUBELESS, found).astype(np.int64)


def in_bearoff(states: States, settings: Settings) -> npt.NDArray[np.bool_]:
    """Whether the tables decide in states: both sides have all checkers home or off, and at least one off.

    Never where a roll of 1-2 earns more (R10.6), nor without compilation (NUMBA_DISABLE_JIT=1), where a table takes hours to
    build.
    """
    points = states["points"]
    found: npt.NDArray[np.bool_] = np.logical_not(points[:, :, 7:].any(axis=(1, 2)))
    if not found.any() or settings.variant.acey_deucey or not CACHE_DIR:
        return np.zeros(len(states), np.bool_)
    return found & (points[:, :, OFF] > 0).all(axis=1) & (states["turn"] >= 0)


def _of_plays(states: States, settings: Settings, values: Floats) -> Integers:
    steps = np.empty((len(states), 4), np.int64)
    _write_values(states, settings.record(), tuple(play_buffer()), _tables(), _columns(states, settings), steps, values)
    return steps


def best_steps(states: States, settings: Settings) -> Integers:
    """The steps of the best play in states of `in_bearoff` (phase CHECKER): int64 (n, 4), -1 after the last step."""
    return _of_plays(states, settings, np.empty(0))


def play_values(states: States, settings: Settings, plays: int) -> Floats:
    """The values to the mover of all plays in states of `in_bearoff` (phase CHECKER), one state's after the other's.

    Args:
        states: STATE (n,).
        settings: the settings in force.
        plays: number of plays of all states.

    Returns:
        float64 (plays,): the equity at a cube of 1, in money play with the cube; where the two-sided table has it not, and in
        matches, 2 x chance to win - 1.
    """
    values = np.empty(plays)
    _of_plays(states, settings, values)
    return values


def win_chances(states: States) -> Floats:
    """The chance of the player on roll to win, before its roll, in states of `in_bearoff`: float64 (n,)."""
    out = np.empty((len(states), 3))
    _look_up(states, _tables(), np.zeros(len(states), np.int64), out)
    return np.clip((out[:, 0] + 1) / 2, 0, 1)


def has_cube_decision(states: States, settings: Settings) -> npt.NDArray[np.bool_]:
    """Which states of `in_bearoff` in phase ROLL_OR_DOUBLE or TAKE_OR_DROP have a decision that the two-sided table makes."""
    if not settings.money or settings.beavers:
        return np.zeros(len(states), np.bool_)
    found: npt.NDArray[np.bool_] = (states["points"][:, :, 1:7].sum(axis=2) <= MOST).all(axis=1)
    return found


def cube_values(states: States, settings: Settings) -> tuple[Floats, Floats]:
    """The equities of no double and of a double that is taken, in states of `has_cube_decision`: to who is on roll, cube 1."""
    out = np.empty((len(states), 3))
    _look_up(states, _tables(), _columns(states, settings), out)
    dead = states["cube"] + 1 >= settings.cap_log2  # after a double
    return out[:, 1], np.where(dead, 2 * out[:, 0], out[:, 2])


def cube_actions(states: States, settings: Settings) -> Integers:
    """The best action in states of `has_cube_decision`: int64 (n,)."""
    stands, taken = cube_values(states, settings)
    turned = np.where(np.minimum(taken, 1) > stands, DOUBLE, ROLL)
    return np.where(states["phase"] == Phase.TAKE_OR_DROP, np.where(taken <= 1, TAKE, DROP), turned)
