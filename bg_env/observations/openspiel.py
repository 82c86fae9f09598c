"""`openspiel`, the 200 values of OpenSpiel's backgammon, bit for bit; player_0 is its player 0 (x), player_1 its player 1 (o).

First the viewer's checkers on 24 points, then the opponent's, four values a point: n = 1, n = 2, n = 3, and n - 3 beyond. The
points are OpenSpiel's, the same for both: x's 24 comes first, x's 1 last. Then for the viewer and for the opponent: checkers on
the bar, checkers borne off, and a flag for the player who decides; last the dice, lower first. In chance phases and at the end
nobody decides and the dice are 0. (At the end OpenSpiel keeps the dice in one case: a double whose first half bore off the last
checker.)

OpenSpiel takes two steps of a roll as one action. Where only one step is left, its die comes first and 0 after it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats, labelled
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["OPENSPIEL", "encode_openspiel"]

SIDE = 96
"""Values of one side's points."""

_1 = np.float32(1)
_0 = np.float32(0)


@kernel
def _write_x(states: States, i: int, out: Floats, at: int) -> None:
    """Four values a point for player 0, which counts down its own numbering."""
    for p in range(24):
        n = states[i]["points"][0, 24 - p]
        out[i, at + 4 * p] = _1 if n == 1 else _0
        out[i, at + 4 * p + 1] = _1 if n == 2 else _0
        out[i, at + 4 * p + 2] = _1 if n == 3 else _0
        out[i, at + 4 * p + 3] = np.float32(n - 3) if n > 3 else _0


@kernel
def _write_o(states: States, i: int, out: Floats, at: int) -> None:
    """Four values a point for player 1, which counts up."""
    for p in range(24):
        n = states[i]["points"][1, p + 1]
        out[i, at + 4 * p] = _1 if n == 1 else _0
        out[i, at + 4 * p + 1] = _1 if n == 2 else _0
        out[i, at + 4 * p + 2] = _1 if n == 3 else _0
        out[i, at + 4 * p + 3] = np.float32(n - 3) if n > 3 else _0


@kernel
def encode_openspiel(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:  # noqa: ARG001 - every kernel takes rules
    """Write (n, 200) float32 values; see `Encoder.kernel`."""
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        if seat == 0:  # constant columns: so the points are written by vector code
            _write_x(states, i, out, 0)
            _write_o(states, i, out, SIDE)
        else:
            _write_o(states, i, out, 0)
            _write_x(states, i, out, SIDE)
        for k in range(2):
            side = seat if k == 0 else 1 - seat
            at = 2 * SIDE + 3 * k
            out[i, at] = states[i]["points"][side, BAR]
            out[i, at + 1] = states[i]["points"][side, OFF]
            out[i, at + 2] = _1 if states[i]["decider"] == side else _0
        high = states[i]["dice"][0]
        low = states[i]["dice"][1]
        if high == low:
            out[i, 198] = high if states[i]["left"][0] > 0 else 0
            out[i, 199] = high if states[i]["left"][0] > 1 else 0
        elif states[i]["left"][1] > 0:
            out[i, 198] = low
            out[i, 199] = high if states[i]["left"][0] > 0 else 0
        else:
            out[i, 198] = high if states[i]["left"][0] > 0 else 0
            out[i, 199] = 0


_LABELS, _HIGH = labelled(
    *(
        (f"{side} checkers on x's point {point}: {unit}", high)
        for side in ("own", "opponent's")
        for point in range(24, 0, -1)
        for unit, high in (("n = 1", 1), ("n = 2", 1), ("n = 3", 1), ("n - 3", MAX_CHECKERS - 3))
    ),
    *(
        (f"{side}: {what}", high)
        for side in ("own", "opponent's")
        for what, high in (("checkers on the bar", MAX_CHECKERS), ("checkers borne off", MAX_CHECKERS), ("decision", 1))
    ),
    ("die: the lower, or the one left", 6),
    ("die: the higher, if two steps are left", 6),
)

OPENSPIEL = Encoder(
    name="openspiel",
    labels=_LABELS,
    low=np.zeros(len(_LABELS), np.float32),
    high=_HIGH,
    function=encode_openspiel,
    standard_only=True,
)
