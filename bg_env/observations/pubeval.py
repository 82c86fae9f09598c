"""`pubeval`, the 122 inputs of Tesauro's public benchmark player, for the position that the viewer has just played.

For each of the viewer's points from 24 to 1: an opposing blot, then n = 1, n >= 2, n = 3 and (n - 3) / 2 for n >= 4 of its own
n checkers; then the opponent's bar / 2 and the viewer's checkers borne off / the variant's number (15 in the original).
(G. Tesauro, pubeval.c, rec.games.backgammon, 1993.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats, labelled
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["PUBEVAL", "encode_pubeval"]

_1 = np.float32(1)
_0 = np.float32(0)
_HALF = np.float32(0.5)


@kernel
def encode_pubeval(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Write (n, 122) float32 values; see `Encoder.kernel`."""
    checkers = np.float32(rules[0]["checkers"])
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        other = 1 - seat
        for p in range(24):
            n = states[i]["points"][seat, 24 - p]
            out[i, 5 * p] = _1 if states[i]["points"][other, p + 1] == 1 else _0
            out[i, 5 * p + 1] = _1 if n == 1 else _0
            out[i, 5 * p + 2] = _1 if n >= 2 else _0
            out[i, 5 * p + 3] = _1 if n == 3 else _0
            out[i, 5 * p + 4] = np.float32(n - 3) * _HALF if n > 3 else _0
        out[i, 120] = np.float32(states[i]["points"][other, BAR]) * _HALF
        out[i, 121] = np.float32(states[i]["points"][seat, OFF]) / checkers


_LABELS, _HIGH = labelled(
    *(
        (f"point {point}: {what}", high)
        for point in range(24, 0, -1)
        for what, high in (
            ("an opposing blot", 1),
            ("own n = 1", 1),
            ("own n >= 2", 1),
            ("own n = 3", 1),
            ("own (n - 3) / 2", (MAX_CHECKERS - 3) / 2),
        )
    ),
    ("opponent's checkers on the bar / 2", MAX_CHECKERS / 2),
    ("own share of checkers borne off", 1),
)

PUBEVAL = Encoder(name="pubeval", labels=_LABELS, low=np.zeros(len(_LABELS), np.float32), high=_HIGH, function=encode_pubeval)
