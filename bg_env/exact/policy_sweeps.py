"""Sweeps over all pairs of boards in which one side's plays are given.

The choice of a pair and roll is the place of its play in the list of `bg_env.exact.boards.Plays`, in an array uint8 (m, m, 21)
by the board of the other side, the one on roll, and the roll.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.exact.boards import TOUCHED, Boards, Plays, result_of, touchable_of
from bg_env.rules import Phase, Rules, States, apply, is_legal, legal_sets

__all__ = [
    "Choices",
    "add_losses",
    "choose_best",
    "find_choices",
    "follow",
    "list_decisions",
    "play_on",
    "visit",
    "write_losses",
]

Choices = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@kernel
def choose_best(boards: Boards, plays: Plays, rolls: int, part: tuple[int, int], values: Floats, choices: Choices) -> None:
    """Choose the first play after which `values`, (m, m) of the other side on roll, are least, for a part of the boards."""
    m = boards.pips.shape[0]
    for at in range(part[0], boards.order.shape[0], part[1]):
        j = boards.order[at]
        touchable = touchable_of(j, boards)
        blocked = boards.blocked[j]
        for i in range(1, m):
            if boards.held[i] & boards.turned[j]:
                continue
            for r in range(rolls):
                start = plays.offsets[blocked, i * rolls + r]
                least = 9.0
                best = 0
                for e in range(start, plays.offsets[blocked, i * rolls + r + 1]):
                    entry = plays.entries[e]
                    value = values[result_of(entry, j, touchable, boards), entry >> TOUCHED]
                    if value < least:
                        least = value
                        best = e - start
                choices[j, i, r] = best


@kernel
def follow(
    boards: Boards,
    plays: Plays,
    weights: Floats,
    stage: tuple[int, int, int, bool],
    choices: Choices,
    old: Floats,
    new: Floats,
    out: Floats,
) -> float:
    """As `bg_env.exact.sweeps` finds values of best play, those of the given choices; returns the largest change of `out`."""
    total, thread, threads, leave = stage
    rolls = weights.shape[0]
    most = np.int64(boards.first.shape[0] - 2)
    change = 0.0
    for at in range(thread, boards.order.shape[0], threads):
        j = boards.order[at]
        pips = total - boards.pips[j]
        if pips < 1 or pips > most:
            continue
        touchable = touchable_of(j, boards)
        blocked = boards.blocked[j]
        for i in range(boards.first[pips], boards.first[pips + 1]):
            if boards.held[i] & boards.turned[j] or (leave and boards.farthest[i] + boards.farthest[j] <= 25):
                continue
            value = 0.0
            for r in range(rolls):
                entry = plays.entries[plays.offsets[blocked, i * rolls + r] + choices[j, i, r]]
                k = np.uint64(entry >> TOUCHED)
                o = np.uint64(result_of(entry, j, touchable, boards))
                value -= weights[r] * (new[o, k] if boards.pips[k] + boards.pips[o] < total else old[o, k])
            change = max(change, abs(value - out[i, j]))
            out[i, j] = value
    return change


@kernel
def visit(
    boards: Boards, plays: Plays, weights: Floats, choices: Choices, flow: Floats, later: Floats, visits: Floats
) -> float:
    """Add the expected visits of games that begin as `flow` says, (m, m) by the boards on roll and not, to `visits`.

    Visits after a hit, or a roll that cannot be played, are left to the next call, in `later`; `flow` is zero afterwards.

    Returns:
        The sum of `later`.
    """
    rolls = weights.shape[0]
    most = np.int64(boards.first.shape[0] - 2)
    left = 0.0
    for total in range(2 * most, 1, -1):
        for at in range(boards.order.shape[0]):
            j = boards.order[at]
            pips = total - boards.pips[j]
            if pips < 1 or pips > most:
                continue
            touchable = touchable_of(j, boards)
            for i in range(boards.first[pips], boards.first[pips + 1]):
                x = flow[i, j]
                if x == 0.0:
                    continue
                visits[i, j] += x
                flow[i, j] = 0.0
                for r in range(rolls):
                    entry = plays.entries[plays.offsets[boards.blocked[j], i * rolls + r] + choices[j, i, r]]
                    k = entry >> TOUCHED
                    if k == 0:
                        continue
                    o = result_of(entry, j, touchable, boards)
                    if boards.pips[k] + boards.pips[o] < total:
                        flow[o, k] += weights[r] * x
                    else:
                        later[o, k] += weights[r] * x
                        left += weights[r] * x
    return left


@kernel
def add_losses(
    boards: Boards,
    plays: Plays,
    weights: Floats,
    part: tuple[int, int],
    choices: Choices,
    values: Floats,
    visits: Floats,
    sums: Floats,
) -> None:
    """Write sums over the decisions against each board j of a part into `sums`, float64 (m, 4).

    They are those of visits times losses, of visits, of losses, and of ones, all weighted by the probabilities of the rolls.
    """
    rolls = weights.shape[0]
    m = boards.pips.shape[0]
    for at in range(part[0], boards.order.shape[0], part[1]):
        j = boards.order[at]
        touchable = touchable_of(j, boards)
        blocked = boards.blocked[j]
        for i in range(1, m):
            if boards.held[i] & boards.turned[j]:
                continue
            for r in range(rolls):
                start = plays.offsets[blocked, i * rolls + r]
                first = plays.entries[start]
                least = values[result_of(first, j, touchable, boards), first >> TOUCHED]
                choice = False
                for e in range(start + 1, plays.offsets[blocked, i * rolls + r + 1]):
                    entry = plays.entries[e]
                    o = result_of(entry, j, touchable, boards)
                    choice = choice or entry >> TOUCHED != first >> TOUCHED or o != result_of(first, j, touchable, boards)
                    least = min(least, values[o, entry >> TOUCHED])
                if choice:
                    entry = plays.entries[start + choices[j, i, r]]
                    loss = values[result_of(entry, j, touchable, boards), entry >> TOUCHED] - least
                    sums[j, 0] += visits[i, j] * weights[r] * loss
                    sums[j, 1] += visits[i, j] * weights[r]
                    sums[j, 2] += weights[r] * loss
                    sums[j, 3] += weights[r]


@kernel
def list_decisions(boards: Boards, plays: Plays, rolls: int, j: int, own: Integers, rolled: Integers) -> int:
    """List the boards and rolls against board j that have two plays of different results; returns how many there are."""
    touchable = touchable_of(j, boards)
    blocked = boards.blocked[j]
    n = 0
    for i in range(1, boards.pips.shape[0]):
        if boards.held[i] & boards.turned[j]:
            continue
        for r in range(rolls):
            start = plays.offsets[blocked, i * rolls + r]
            first = plays.entries[start]
            for e in range(start + 1, plays.offsets[blocked, i * rolls + r + 1]):
                entry = plays.entries[e]
                o = result_of(entry, j, touchable, boards)
                if entry >> TOUCHED != first >> TOUCHED or o != result_of(first, j, touchable, boards):
                    own[n] = i
                    rolled[n] = r
                    n += 1
                    break
    return n


@kernel
def write_losses(
    boards: Boards,
    plays: Plays,
    rolls: int,
    asked: tuple[Integers, Integers, Integers],
    choices: Integers,
    values: Floats,
    out: Floats,
) -> None:
    """The losses of choices by `values`, (m, m) of the other side on roll after a play; -1 where all plays have one result.

    Args:
        boards: all boards.
        plays: their plays.
        rolls: 21.
        asked: int64 (n,) each, the boards on roll, the others, and the rolls.
        choices: int64 (n,), the places of the plays in their lists.
        values: of perfect play.
        out: float64 (n,).
    """
    for n in range(out.shape[0]):
        i, j, r = asked[0][n], asked[1][n], asked[2][n]
        touchable = touchable_of(j, boards)
        start = plays.offsets[boards.blocked[j], i * rolls + r]
        first = plays.entries[start]
        least = 9.0
        chosen = 9.0
        choice = False
        for e in range(start, plays.offsets[boards.blocked[j], i * rolls + r + 1]):
            entry = plays.entries[e]
            o = result_of(entry, j, touchable, boards)
            value = values[o, entry >> TOUCHED]
            least = min(least, value)
            if e - start == choices[n]:
                chosen = value
            choice = choice or entry >> TOUCHED != first >> TOUCHED or o != result_of(first, j, touchable, boards)
        out[n] = chosen - least if choice else -1.0


@kernel
def find_choices(
    boards: Boards,
    plays: Plays,
    rolls: int,
    asked: tuple[Integers, Integers, Integers],
    results: tuple[Integers, Integers],
    out: Integers,
) -> None:
    """The places of the plays with the given results in their lists, -1 where no play has them.

    Args:
        boards: all boards.
        plays: their plays.
        rolls: 21.
        asked: int64 (n,) each, the boards on roll, the others, and the rolls.
        results: int64 (n,) each, the boards after the plays, of the player and of the other side.
        out: int64 (n,).
    """
    for n in range(out.shape[0]):
        i, j, r = asked[0][n], asked[1][n], asked[2][n]
        touchable = touchable_of(j, boards)
        start = plays.offsets[boards.blocked[j], i * rolls + r]
        out[n] = -1
        for e in range(start, plays.offsets[boards.blocked[j], i * rolls + r + 1]):
            entry = plays.entries[e]
            if entry >> TOUCHED == results[0][n] and result_of(entry, j, touchable, boards) == results[1][n]:
                out[n] = e - start
                break


@kernel
def play_on(states: States, rules: Rules, steps: npt.NDArray[Any]) -> int:
    """Make steps, integers (n, m), -1 after the last; returns the index of the first state in which one is illegal, or -1."""
    actions = np.int64(rules[0]["actions"])
    for i in range(states.shape[0]):
        for k in range(steps.shape[1]):
            action = np.int64(steps[i, k])
            if action < 0:
                break
            high, low = legal_sets(states, i)
            if states[i]["phase"] != Phase.CHECKER or action >= actions or not is_legal(states, i, rules, high, low, action):
                return i
            apply(states, i, rules, action)
    return -1
