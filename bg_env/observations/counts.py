"""`counts`, a compact encoder: checkers as shares of the variant's number, 26 places for each side, and the context.

The viewer's places come first: points 1 to 24, the bar, off. The opponent's follow in the same order, on the same
numbering. The last 33 values are those of `context`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats
from bg_env.observations.context import CONTEXT_HIGH, CONTEXT_LABELS, write_context
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["COUNTS", "encode_counts"]

PLACES = 26


@kernel
def encode_counts(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Write (n, 85) float32 values; see `Encoder.kernel`."""
    share = np.empty(MAX_CHECKERS + 1, np.float32)
    for n in range(MAX_CHECKERS + 1):
        share[n] = n / rules[0]["checkers"]
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        other = 1 - seat
        for p in range(24):
            out[i, p] = share[states[i]["points"][seat, p + 1]]
        for p in range(24):
            out[i, PLACES + p] = share[states[i]["points"][other, 24 - p]]
        out[i, 24] = share[states[i]["points"][seat, BAR]]
        out[i, 25] = share[states[i]["points"][seat, OFF]]
        out[i, PLACES + 24] = share[states[i]["points"][other, BAR]]
        out[i, PLACES + 25] = share[states[i]["points"][other, OFF]]
        write_context(states, i, rules, seat, out, i, 2 * PLACES)


_LABELS = tuple(
    f"{side} share of checkers {place}"
    for side in ("own", "opponent's")
    for place in (*(f"on point {point}" for point in range(1, 25)), "on the bar", "borne off")
)

COUNTS = Encoder(
    name="counts",
    labels=_LABELS + CONTEXT_LABELS,
    low=np.zeros(2 * PLACES + len(CONTEXT_LABELS), np.float32),
    high=np.concatenate([np.ones(2 * PLACES, np.float32), CONTEXT_HIGH]),
    function=encode_counts,
)
