"""Perft: how many plays there are, turn by turn, from the start of every variant.

A position's count at depth 1 is the sum over the 21 rolls of its distinct whole plays, a dance being one; at depth n it is
the sum over those plays of the counts at depth n - 1. The bonus of Acey-Deucey is no part of it: a 1-2 is two steps.
Engine and oracle agree on every figure; here the oracle counts the smaller ones again.
"""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from bg_env import rules as engine
from bg_env.rules import STATE, VARIANTS, Phase, Settings

PERFT = {
    "backgammon": [447, 202_782],
    "nackgammon": [614, 340_621],
    "nackgammon_ballard": [547, 324_161],
    "acey_deucey": [21, 441, 9_261, 194_481],
    "hypergammon": [195, 38_017, 6_645_799],
    "longgammon": [59, 3_484, 713_141],
}
AGAIN = [
    ("backgammon", 2),
    ("nackgammon", 1),
    ("nackgammon_ballard", 1),
    ("acey_deucey", 3),
    ("hypergammon", 2),
    ("longgammon", 2),
]
"""(variant, depth) that the oracle counts again."""


def perft(settings, depth):
    """The engine's counts at depths 1 to `depth`: all positions of a depth are gone through together."""
    rules, counts = settings.record(), []
    checkers = settings.variant.checkers
    boards = np.array([[settings.variant.start] * 2], np.int8)  # (n, mover or opponent, 26)
    weights = np.ones(1, np.int64)
    while True:
        ends, times = [], []
        for roll in oracle.ROLLS:
            states = np.zeros(len(boards), STATE)
            states["points"] = boards
            for i in range(len(states)):
                engine.set_up(states, i, rules, *roll)
            offsets, _, after = engine.plays(states, rules)
            played = states["phase"] == Phase.CHECKER
            assert (np.diff(offsets) > 0).tolist() == played.tolist()
            if len(counts) < depth - 1:
                ends += [after["points"], boards[~played]]
            times += [np.repeat(weights, np.diff(offsets)), weights[~played]]
        counts.append(int(np.concatenate(times).sum()))
        if len(counts) == depth:
            return counts
        results = np.concatenate(ends)[:, ::-1]  # turned: the other side on roll
        assert (results[:, 1, 0] < checkers).all(), "nobody can have won so early"
        boards, index = np.unique(results, axis=0, return_inverse=True)
        weights = np.bincount(index.ravel(), np.concatenate(times)).astype(np.int64)


@pytest.mark.parametrize("name", PERFT)
def test_perft_of_the_engine(name):
    assert perft(Settings(name, cube=False), len(PERFT[name])) == PERFT[name]


@pytest.mark.parametrize(("name", "depth"), AGAIN)
def test_perft_of_the_oracle(name, depth):
    start = VARIANTS[name].start
    assert oracle.perft((start, start), depth) == PERFT[name][depth - 1]
