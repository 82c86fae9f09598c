"""Games of one and two checkers a side, solved once in a process."""

from __future__ import annotations

import functools

from bg_env import Variant

ONE = Variant("one", {24: 1})
TWO = Variant("two", {24: 1, 23: 1})
ROLLS = [((a, b), (1 if a == b else 2) / 36) for a in range(1, 7) for b in range(1, a + 1)]


@functools.cache
def solved(variant):
    from bg_env import exact  # only where it is used: the conftest imports this module

    return exact.solve(variant)
