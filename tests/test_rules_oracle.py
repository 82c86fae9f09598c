"""The oracle itself: its shortcut against its definition, and the few figures that others have published."""

from __future__ import annotations

from itertools import islice

import oracle
import positions
import pytest

from bg_env.rules import VARIANTS

START = VARIANTS["backgammon"].start


@pytest.mark.parametrize("name", VARIANTS)
def test_remembering_by_board_changes_nothing(name):
    """`legal_steps`, repeated, plays the very sequences that trying all orders finds, R5 applied to them word for word."""
    variant = VARIANTS[name]

    def played(board, dice):
        steps = oracle.legal_steps(board, dice)
        if not steps:
            yield (), board
        for one, after, left in steps:
            for rest, end in played(after, left):
                yield (one, *rest), end

    play = [case for case in islice(positions.random_play(variant.start, 9), 400) if case[1][0] != case[1][1]][:100]
    placed = islice(positions.placements(variant.checkers, 9), 100)
    for board, roll in (*play, *placed):
        if sum(board[0][1:]) > 6 and roll[0] == roll[1]:
            continue  # too many orders
        dice = oracle.roll_of(*roll)
        brute = oracle.sequences(board, dice)
        assert sorted(brute) == sorted(played(board, dice)), (board, roll)
        assert {end for _, end in brute} == oracle.results(board, dice), (board, roll)


def test_any_maximal_order_of_a_double_plays_as_many_steps():
    """R5.3's remark, which lets the engine do without look-ahead."""

    def lengths(board, dice):
        found = {0} if not list(oracle.single_steps(board, dice)) else set()
        for _, after, left in oracle.single_steps(board, dice):
            found |= {1 + n for n in lengths(after, left)}
        return found

    for board, roll in islice(positions.placements(15, 4), 1_000):
        if roll[0] == roll[1] and sum(board[0][1:]) <= 6:
            assert len(lengths(board, oracle.roll_of(*roll))) == 1, (board, roll)


def test_plays_of_the_first_roll_that_are_published():
    """GNU Backgammon's counts for the standard start: 190 over the 15 rolls without doubles, 447 over all 21."""
    counts = {roll: len(oracle.results((START, START), oracle.roll_of(*roll))) for roll in oracle.ROLLS}
    assert sum(n for (a, b), n in counts.items() if a != b) == 190
    assert sum(counts.values()) == oracle.perft((START, START), 1) == 447
    assert {counts[6, 5], counts[2, 2], counts[1, 1]} == {7, 75, 42}


@pytest.mark.parametrize(("loser", "level"), [({0: 1, 25: 14}, 1), ({18: 15}, 2), ({19: 1, 1: 14}, 3), ({25: 1, 1: 14}, 3)])
def test_levels(loser, level):
    side = [0] * 26
    for point, n in loser.items():
        side[point] = n
    assert oracle.level((15,) + (0,) * 25, tuple(side)) == level
