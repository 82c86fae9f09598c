"""Positions to test on, seeded: out of random play from a variant's start, and random legal placements.

Every one is (board, roll): the board as in `oracle`, the mover first, neither side with all checkers off, and a roll,
the higher number first. A quarter of the rolls are doubles.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import oracle
from oracle import Board, Dice

KINDS = ("bear-off", "bar", "crowded", "contact", "last checkers")
"""The kinds of placement, in the order in which `placements` goes round them."""


def random_roll(rng: random.Random) -> Dice:
    """Two dice, a double one time in four."""
    if rng.random() < 0.25:
        return (rng.randrange(1, 7),) * 2
    first, second = rng.sample(range(1, 7), 2)
    return max(first, second), min(first, second)


def random_play(start: tuple[int, ...], seed: int) -> Iterator[tuple[Board, Dice]]:
    """Games from the start, one after another without end: every turn's board and roll; plays are chosen uniformly."""
    rng = random.Random(f"random play {start} {seed}")
    while True:
        board: Board = (start, start)
        while True:
            roll = random_roll(rng)
            yield board, roll
            end = rng.choice(sorted(oracle.results(board, oracle.roll_of(*roll))))
            if oracle.won(end):
                break
            board = oracle.turned(end)


def _place(rng: random.Random, count: int, points: list[int], stack: int = 1) -> list[int]:
    """A side with `count` checkers on some of `points`, at least `stack` at a time where they last."""
    side = [0] * 26
    while count:
        n = min(count, rng.randrange(stack, stack + 2))
        side[rng.choice(points)] += n
        count -= n
    return side


def _make(rng: random.Random, checkers: int, points: list[int]) -> list[int]:
    """A side that makes `points` in turn with two checkers each while they last, a blot here and there."""
    side = [0] * 26
    for point in points:
        side[point] = min(2 if rng.random() < 0.9 else 1, checkers - sum(side))
    return side


def _free(side: list[int], points: range) -> list[int]:
    """Those of `points`, on the other's numbering, that `side` does not hold."""
    return [point for point in points if point == 25 or not side[25 - point]]


def placement(rng: random.Random, checkers: int, kind: str) -> Board:
    """One placement of a kind; see `KINDS`."""
    while True:
        few = rng.randrange(1, checkers + 1)
        if kind == "bear-off":  # mover at home, the opponent anywhere, at times behind
            mover = _place(rng, few, list(range(1, 7)))
            opponent = _place(rng, rng.randrange(1, checkers + 1), _free(mover, range(1, 25)) + [25] * 3, rng.choice((1, 2)))
        elif kind == "bar":  # mover on the bar before points made at random
            opponent = _make(rng, checkers, rng.sample(range(1, 7), rng.randrange(6)) + rng.sample(range(7, 25), 3))
            mover = _place(rng, few, [25] * rng.choice((2, 8, 40)) + _free(opponent, range(1, 25)))
            mover[25] = mover[25] or 1
        elif kind == "crowded":  # few ways for few checkers
            opponent = _make(rng, checkers, rng.sample(range(1, 25), rng.randrange(4, 9)))
            mover = _place(rng, min(few, rng.randrange(1, 5)), _free(opponent, range(1, 26)))
        elif kind == "contact":  # anything anywhere
            mover = _place(rng, few, list(range(1, 26)))
            opponent = _place(rng, rng.randrange(1, checkers + 1), [*_free(mover, range(1, 25)), 25])
        else:  # "last checkers": one to three of the mover's, at home or nearly
            mover = _place(rng, min(few, rng.randrange(1, 4)), list(range(1, 9)))
            opponent = _place(rng, rng.randrange(1, checkers + 1), _free(mover, range(1, 25)), rng.choice((1, 2)))
        for side in (mover, opponent):
            side[0] = checkers - sum(side[1:])
        shut = [a[25] > 0 and all(n >= 2 for n in b[1:7]) for a, b in ((mover, opponent), (opponent, mover))]
        if min(mover[0], opponent[0]) >= 0 and max(mover[0], opponent[0]) < checkers and not all(shut):
            return tuple(mover), tuple(opponent)


def placements(checkers: int, seed: int) -> Iterator[tuple[Board, Dice]]:
    """Random legal placements without end, going round the kinds."""
    rng = random.Random(f"placements {checkers} {seed}")
    while True:
        for kind in (*KINDS, "crowded"):
            yield placement(rng, checkers, kind), random_roll(rng)
