"""Numbers of all boards of one side with few checkers, and the plays between them.

A board is one side's checkers on the 26 places of its own numbering: 0 borne off, 1 to 24, 25 the bar. Boards are numbered by
their pips, so 0 is the board of a side that has borne off everything. With up to three checkers the plays of a roll depend on
the other side only by the one point that it may block, and by which of its blots they touch, so that a short list for each
board, roll and blocked point serves all positions.
"""

from __future__ import annotations

import functools
from math import comb
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined
from bg_env.exact.numbering import ROLLS
from bg_env.rules import BAR, OFF, STATE, Settings, States, Variant, new_episode, plays, set_up

__all__ = [
    "MOST_CHECKERS",
    "TOUCHED",
    "Boards",
    "Plays",
    "board_numbers",
    "boards_of",
    "in_hand",
    "plays_of",
    "rolled",
    "standing",
]

MOST_CHECKERS: Final = 3
"""The most checkers a side: with four, a side can block two points, and there are 564 million positions."""
TOUCHED: Final = 25
"""Bits of an entry of `Plays` for the points that the play touches; the number of the board after it is above them."""
_SET: Final = (1 << TOUCHED) - 1
_NOWHERE: Final = 31
"""The place of a blot that there is not: no play touches it."""
_CHUNK: Final = 500

Integers = npt.NDArray[np.int64]


class Boards(NamedTuple):
    """All m boards of a side, in the order of their numbers. "Turned" points are on the other side's numbering.

    Attributes:
        counts: int8 (m, 26), the checkers.
        pips: int64 (m,), ascending.
        first: int64; boards of p pips are first[p] to first[p + 1] - 1.
        held: int64 (m,), the set of points 1 to 24 with checkers.
        turned: int64 (m,), the same set, turned.
        blocked: int64 (m,), the turned point with two or more checkers; 0 for none.
        blots: int64 (m, 3), the turned points with one checker, ascending, then `_NOWHERE`.
        hits: int64 (m, 8), the board after the blots of a set have been hit: bit n stands for blot n.
        lost: float64 (m,), the points that the side loses if the other bears off its last checker: 1, 2 or 3 (R7.4).
        farthest: int64 (m,), the highest place with a checker.
        order: int64 (m,), the boards but 0 in the order of the point that they block, which is good for the processor's cache.
    """

    counts: npt.NDArray[np.int8]
    pips: Integers
    first: Integers
    held: Integers
    turned: Integers
    blocked: Integers
    blots: Integers
    hits: Integers
    lost: npt.NDArray[np.float64]
    farthest: Integers
    order: Integers


class Plays(NamedTuple):
    """The plays of every board, roll and blocked point.

    Attributes:
        offsets: int64 (25, 21 m + 1); where the other side blocks point b, roll r of board i has the entries from
            offsets[b, 21 i + r] to offsets[b, 21 i + r + 1] - 1. One entry, for the board itself, where nothing can be played.
        entries: int64; the number of the board after the play, times 2^25, and the set of points where it would hit a blot.
    """

    offsets: Integers
    entries: Integers


@functools.cache
def _terms(checkers: int) -> Integers:
    """What s checkers on place p and above add to a number by combinations: int64 (26, checkers + 1); nothing for place 0."""
    found = [[comb(s + BAR - p, BAR + 1 - p) if p else 0 for s in range(checkers + 1)] for p in range(BAR + 1)]
    return np.array(found)


def _combined(counts: npt.NDArray[Any]) -> Integers:
    """The numbers of boards by combinations, without regard to pips."""
    above = np.cumsum(counts[:, ::-1], axis=1, dtype=np.int64)[:, ::-1]
    terms = _terms(int(above[0, 0]) if len(above) else 1)
    found: Integers = terms[np.arange(BAR + 1), above].sum(axis=1)
    return found


@functools.cache
def _ranks(checkers: int) -> tuple[npt.NDArray[np.int8], Integers]:
    """The boards in the order of their numbers, and the number of each by its number by combinations."""
    found = np.zeros((1, BAR + 1), np.int8)
    for _ in range(checkers):
        found = np.unique((found[:, None, :] + np.eye(BAR + 1, dtype=np.int8)).reshape(-1, BAR + 1), axis=0)
    numbers = _combined(found)
    order = np.lexsort((numbers, found.astype(np.int64) @ np.arange(BAR + 1)))
    ranks = np.empty(len(found), np.int64)
    ranks[numbers[order]] = np.arange(len(found))
    return found[order], ranks


def board_numbers(counts: npt.NDArray[Any]) -> Integers:
    """The numbers of boards.

    Args:
        counts: integers (n, 26), the checkers of a side, the same sum in each row, 1 to 3.

    Returns:
        int64 (n,).
    """
    if not len(counts):
        return np.zeros(0, np.int64)
    return _ranks(int(counts[0].sum()))[1][_combined(counts)]


@functools.cache
def boards_of(checkers: int) -> Boards:
    """All boards of a side with so many checkers, 1 to 3."""
    counts, _ = _ranks(checkers)
    wide = counts.astype(np.int64)
    m = len(wide)
    pips = wide @ np.arange(BAR + 1)
    bits = np.int64(1) << np.arange(BAR + 1)
    bits[OFF] = bits[BAR] = 0
    back = wide[:, ::-1]  # place 25 - p of the side is place p of the other
    single, several = back == 1, back > 1
    single[:, [0, BAR]] = several[:, [0, BAR]] = False
    blots = np.full((m, 3), _NOWHERE)
    hits = np.tile(np.arange(m)[:, None], (1, 8))
    for i in range(m):
        places = np.flatnonzero(single[i])
        blots[i, : len(places)] = places
        for chosen in range(1, 8):
            after = wide[i].copy()
            for n, p in enumerate(places):
                if chosen >> n & 1:
                    after[BAR - p] = 0
                    after[BAR] += 1
            hits[i, chosen] = board_numbers(after[None])[0]
    far = (wide[:, 19:] > 0).any(axis=1)
    blocked = np.where(several.any(axis=1), np.argmax(several, axis=1), 0)
    return Boards(
        counts=counts,
        pips=pips,
        first=np.searchsorted(pips, np.arange(int(pips[-1]) + 2)),
        held=((wide > 0) * bits).sum(axis=1),
        turned=((back > 0) * bits).sum(axis=1),
        blocked=blocked,
        blots=blots,
        hits=hits,
        lost=np.where(wide[:, OFF] > 0, 1.0, np.where(far, 3.0, 2.0)),
        farthest=BAR - np.argmax(wide[:, ::-1] > 0, axis=1),
        order=1 + np.argsort(blocked[1:], kind="stable"),
    )


def standing(boards: Boards) -> int:
    """The number of pairs that can stand: both sides with checkers left, on no common point."""
    return sum(int(np.count_nonzero(boards.held[1:] & turned == 0)) for turned in boards.turned[1:])


def rolled(variant: Variant, *, rolled: bool = True) -> States:
    """A STATE record for each of the 21 rolls, in which player 0 has rolled it, or is to roll; the board is to be set."""
    rules = Settings(variant, cube=False).record()
    states = np.zeros(len(ROLLS), STATE)
    for i, (high, low) in enumerate(ROLLS):
        new_episode(states, i, rules, np.uint64(0))
        states[i]["points"] = 0
        states[i]["points"][:, 12] = variant.checkers  # here every roll can be played
        states[i]["turn"] = 0
        set_up(states, i, rules, high * rolled, low * rolled)
    return states


def in_hand(template: States, boards: Boards, own: Integers, other: Integers, rolls: Integers) -> States:
    """STATE records in which player 0 has board `own`, player 1 board `other`, and player 0 has rolled roll number `rolls`."""
    states = template[rolls]
    states["points"][:, 0] = boards.counts[own]
    states["points"][:, 1] = boards.counts[other]
    return states


@functools.cache
def plays_of(checkers: int) -> Plays:
    """The plays of every board, roll and blocked point, of sides with so many checkers, as the rules list them.

    Every free point is given a blot, so that the rules' lists show which of them a play would hit.
    """
    variant = Variant("few", {12: checkers})
    rules = Settings(variant, cube=False).record()
    template, boards = rolled(variant), boards_of(checkers)
    m, rolls = len(boards.counts), len(ROLLS)
    offsets = np.zeros((BAR, rolls * m + 1), np.int64)
    found: list[Integers] = []
    end = 0
    for blocked in range(BAR):
        # no list for boards that hold the blocked point, nor for the one without checkers
        possible = np.flatnonzero((boards.held >> blocked & 1 == 0) & (np.arange(m) > 0)) if blocked else np.arange(1, m)
        sizes = np.zeros(m * rolls, np.int64)
        for part in np.array_split(possible, -(-len(possible) // _CHUNK)):
            counts, entries = _listed(part, blocked, template, boards, rules)
            sizes[(part[:, None] * rolls + np.arange(rolls)).ravel()] = counts
            found.append(entries)
        offsets[blocked] = end + np.concatenate(([0], np.cumsum(sizes)))
        end = int(offsets[blocked, -1])
    return Plays(offsets, np.concatenate(found))


def _listed(part: Integers, blocked: int, template: States, boards: Boards, rules: Any) -> tuple[Integers, Integers]:
    """For each of some boards and each roll the number of plays, and the entries of `Plays` of all of them."""
    rolls = len(template)
    states = np.tile(template, len(part))
    own = np.repeat(part, rolls)
    states["points"][:, 0] = boards.counts[own]
    free = (boards.counts[own] == 0)[:, ::-1].astype(np.int8)  # on the other's numbering
    free[:, [OFF, BAR]] = 0
    if blocked:
        free[:, BAR - blocked] = 2
    states["points"][:, 1] = free
    listed, _, after = plays(states, rules)
    counts = np.diff(listed)
    none = counts == 0  # nothing can be played: one entry for the board itself
    offsets = np.concatenate(([0], np.cumsum(np.maximum(counts, 1))))
    entries = np.empty(offsets[-1], np.int64)
    entries[offsets[:-1][none]] = own[none] << TOUCHED
    source = np.repeat(np.arange(len(states)), counts)
    places = np.repeat(offsets[:-1] - listed[:-1], counts) + np.arange(len(after))
    touched = (free[source][:, ::-1] == 1) & (after["points"][:, 1, ::-1] == 0)  # on the mover's numbering
    sets = touched[:, :BAR] @ (np.int64(1) << np.arange(BAR))
    entries[places] = board_numbers(after["points"][:, 0]) << TOUCHED | sets
    return np.maximum(counts, 1), entries


@inlined
def result_of(entry: int, j: int, touchable: int, boards: Boards) -> int:
    """The board of the other side after a play, if it was j; `touchable` is the set of its blots on the mover's numbering."""
    touched = entry & touchable
    if touched == 0:
        return j
    blots = boards.blots
    hit = (touched >> blots[j, 0]) & 1 | ((touched >> blots[j, 1]) & 1) << 1 | ((touched >> blots[j, 2]) & 1) << 2
    return int(boards.hits[j, hit])


@inlined
def touchable_of(j: int, boards: Boards) -> int:
    """The set of points, on the other side's numbering, where board j has a blot."""
    blots = boards.blots
    found: int = (np.int64(1) << blots[j, 0] | np.int64(1) << blots[j, 1] | np.int64(1) << blots[j, 2]) & _SET
    return found
