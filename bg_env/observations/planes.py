"""`planes`, an encoder for convolutions: 45 channels over the viewer's points 1 to 24.

Channels 0-3 are the viewer's four units of each point (n >= 1, n >= 2, n >= 3, (n - 3) / 2), 4-7 the opponent's. The others are
the same on all points: both sides' bar / 2 and share borne off, then the 33 of the context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats
from bg_env.observations.board import MOST
from bg_env.observations.context import CONTEXT, CONTEXT_HIGH, CONTEXT_LABELS, write_context
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["PLANES", "encode_planes"]

POINTS = 24
UNITS = 8
OTHERS = 4
CHANNELS = UNITS + OTHERS + CONTEXT

_1 = np.float32(1)
_0 = np.float32(0)
_HALF = np.float32(0.5)


@kernel
def _write_points(states: States, i: int, side: int, out: Floats) -> None:
    """The viewer's four channels."""
    for p in range(POINTS):
        n = states[i]["points"][side, p + 1]
        out[i, p] = _1 if n >= 1 else _0
        out[i, POINTS + p] = _1 if n >= 2 else _0
        out[i, 2 * POINTS + p] = _1 if n >= 3 else _0
        out[i, 3 * POINTS + p] = np.float32(n - 3) * _HALF if n > 3 else _0


@kernel
def _write_points_turned(states: States, i: int, side: int, out: Floats) -> None:
    """The opponent's four channels."""
    for p in range(POINTS):
        n = states[i]["points"][side, 24 - p]
        out[i, 4 * POINTS + p] = _1 if n >= 1 else _0
        out[i, 5 * POINTS + p] = _1 if n >= 2 else _0
        out[i, 6 * POINTS + p] = _1 if n >= 3 else _0
        out[i, 7 * POINTS + p] = np.float32(n - 3) * _HALF if n > 3 else _0


@kernel
def encode_planes(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Write (n, 45 * 24) float32 values; see `Encoder.kernel`."""
    checkers = np.float32(rules[0]["checkers"])
    at = CHANNELS * POINTS - OTHERS - CONTEXT  # the single values wait at the end of the row until they fill their channels
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        _write_points(states, i, seat, out)
        _write_points_turned(states, i, 1 - seat, out)
        for k in range(2):
            side = seat if k == 0 else 1 - seat
            out[i, at + 2 * k] = states[i]["points"][side, BAR] * _HALF
            out[i, at + 2 * k + 1] = np.float32(states[i]["points"][side, OFF]) / checkers
        write_context(states, i, rules, seat, out, i, at + OTHERS)
        for k in range(OTHERS + CONTEXT):
            value = out[i, at + k]
            for p in range(POINTS):
                out[i, (UNITS + k) * POINTS + p] = value


_CHANNELS = (
    *(
        (f"{side} checkers: {unit}", high)
        for side in ("own", "opponent's")
        for unit, high in (("n >= 1", 1.0), ("n >= 2", 1.0), ("n >= 3", 1.0), ("(n - 3) / 2", MOST))
    ),
    ("own checkers on the bar / 2", MAX_CHECKERS / 2),
    ("own share of checkers borne off", 1.0),
    ("opponent's checkers on the bar / 2", MAX_CHECKERS / 2),
    ("opponent's share of checkers borne off", 1.0),
    *zip(CONTEXT_LABELS, CONTEXT_HIGH.tolist(), strict=True),
)

PLANES = Encoder(
    name="planes",
    labels=tuple(f"{channel}, point {point}" for channel, _ in _CHANNELS for point in range(1, POINTS + 1)),
    low=np.zeros((CHANNELS, POINTS), np.float32),
    high=np.repeat(np.array([high for _, high in _CHANNELS], np.float32), POINTS),
    function=encode_planes,
    shape=(CHANNELS, POINTS),
)
