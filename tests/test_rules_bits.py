"""Sets of points by machine instructions: what plain loops say, on any board, and the same without compilation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bg_env._jit import kernel
from bg_env.rules import STATE
from bg_env.rules.bits import highest, lowest, opposed_points, own_points, size


@kernel
def of_set(found):
    return lowest(found), highest(found), size(found)


@kernel
def of_board(states, i, side, n):
    return own_points(states, i, side, n), opposed_points(states, i, side, n)


def boards(count, seed=1):
    """States whose bytes are all drawn, so that a look past the checkers would be seen; counts are 0 to 15."""
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 256, count * STATE.itemsize, np.uint8).view(STATE)
    states["points"] = rng.integers(0, 4, (count, 2, 26)) * rng.integers(0, 6, (count, 2, 26))
    return states


def wanted(points, n):
    """The sets of `of_board` by loops over the points of one side."""
    return sum(1 << p for p in range(1, 26) if points[p] >= n), sum(1 << (25 - p) for p in range(1, 25) if points[p] >= n)


@pytest.mark.parametrize("n", [1, 2, 3, 15])
def test_sets_of_a_board_are_those_of_loops(n):
    states = boards(500)
    for i, side in np.ndindex(len(states), 2):
        assert of_board(states, i, side, n) == wanted(states[i]["points"][side].tolist(), n)


def test_a_board_in_an_array_with_gaps_or_that_cannot_be_written():
    """A slice with a step, a field of larger records, and an array that is read only are other types to the compiler."""
    states = boards(40)
    wide = np.zeros(40, [("before", np.int8, 3), ("state", STATE), ("after", np.int64)])
    wide["state"] = states
    locked = states.copy()
    locked.flags.writeable = False
    for array, of in ((states[::3], states[::3]), (states[::-1], states[::-1]), (wide["state"], states), (locked, states)):
        for i, side in np.ndindex(len(of), 2):
            assert of_board(array, i, side, 1) == wanted(of[i]["points"][side].tolist(), 1)


def test_the_ends_and_the_size_of_every_kind_of_set():
    rng = np.random.default_rng(2)
    sets = [1 << p for p in range(26)] + [(1 << 26) - 1] + rng.integers(1, 1 << 26, 500).tolist()
    for found in sets:
        points = [p for p in range(26) if found >> p & 1]
        assert of_set(np.int64(found)) == (min(points), max(points), len(points))
    assert of_set(np.int64(1))[2] == 1


ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
import test_rules_bits as t
for n in (1, 2, 3, 15):
    t.test_sets_of_a_board_are_those_of_loops(n)
t.test_a_board_in_an_array_with_gaps_or_that_cannot_be_written()
t.test_the_ends_and_the_size_of_every_kind_of_set()
"""


def test_the_same_without_compilation():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    here = str(Path(__file__).resolve().parent)
    subprocess.run([sys.executable, "-W", "error", "-c", ALONE, here], env=environment, check=True, timeout=120)
