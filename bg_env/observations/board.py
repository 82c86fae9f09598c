"""Board inputs of TD-Gammon: the 196 with which `tesauro` and `tesauro198` begin.

Each side has four units for each point, then one for its bar and one for its checkers borne off; the viewer's side first. A
point with n checkers is (n >= 1, n >= 2, n >= 3, (n - 3) / 2), the bar n / 2, off n / the variant's checkers. Points run from
the viewer's 1 to its 24 for both sides, so that unit 4 (p - 1) + k and unit 98 + 4 (p - 1) + k are the same place. (G. Tesauro,
"Practical issues in temporal difference learning", Machine Learning 8, 1992; "TD-Gammon", Neural Computation 6, 1994.)
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bg_env._jit import inlined
from bg_env.observations.base import Floats, labelled
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["BOARD", "BOARD_HIGH", "BOARD_LABELS", "SIDE", "write_trays", "write_units", "write_units_turned"]

SIDE: Final = 98
"""Inputs of one side."""
BOARD: Final = 2 * SIDE
"""Inputs of both sides: 196."""

_1 = np.float32(1)
_0 = np.float32(0)
_HALF = np.float32(0.5)

MOST = (MAX_CHECKERS - 3) / 2
"""The fourth unit with all checkers on one point."""

BOARD_LABELS, BOARD_HIGH = labelled(
    *(
        feature
        for side in ("own", "opponent's")
        for feature in (
            *(
                (f"{side} checkers on point {point}: {unit}", high)
                for point in range(1, 25)
                for unit, high in (("n >= 1", 1), ("n >= 2", 1), ("n >= 3", 1), ("(n - 3) / 2", MOST))
            ),
            (f"{side} checkers on the bar / 2", MAX_CHECKERS / 2),
            (f"{side} share of checkers borne off", 1),
        )
    )
)


# The arithmetic is plain on purpose: it compiles to vector code over points, five times as fast as look-up tables. And the
# encoders call these three one by one: called through one more helper they do not.
@inlined
def write_units(states: States, i: int, side: int, out: Floats, row: int, at: int) -> None:
    """Four units a point for `side`, from its own point 1 to 24."""
    for p in range(24):
        n = states[i]["points"][side, p + 1]
        out[row, at + 4 * p] = _1 if n >= 1 else _0
        out[row, at + 4 * p + 1] = _1 if n >= 2 else _0
        out[row, at + 4 * p + 2] = _1 if n >= 3 else _0
        out[row, at + 4 * p + 3] = np.float32(n - 3) * _HALF if n > 3 else _0


@inlined
def write_units_turned(states: States, i: int, side: int, out: Floats, row: int, at: int) -> None:
    """Four units a point for `side`, from the other side's point 1 (its own 24) to 24 (its own 1)."""
    for p in range(24):
        n = states[i]["points"][side, 24 - p]
        out[row, at + 4 * p] = _1 if n >= 1 else _0
        out[row, at + 4 * p + 1] = _1 if n >= 2 else _0
        out[row, at + 4 * p + 2] = _1 if n >= 3 else _0
        out[row, at + 4 * p + 3] = np.float32(n - 3) * _HALF if n > 3 else _0


@inlined
def write_trays(states: States, i: int, checkers: np.float32, seat: int, out: Floats, row: int) -> None:
    """Both sides' bar and share borne off (`checkers` is the variant's number, float32), in their places of the 196."""
    for k in range(2):
        side = seat if k == 0 else 1 - seat
        out[row, SIDE * (k + 1) - 2] = np.float32(states[i]["points"][side, BAR]) * _HALF
        out[row, SIDE * (k + 1) - 1] = np.float32(states[i]["points"][side, OFF]) / checkers
