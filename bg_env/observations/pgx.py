"""`pgx`, the 34 values of Pgx's backgammon (v2), as float32.

The board is as the player who decides sees it (its own checkers positive, the other's negative), for either viewer: its points
24 to 1, both bars, both sides' checkers borne off. Then the steps left with each number 1-6, shown to that player only.

The player who decides is the default seat of `Encoder.encode`: Pgx rolls at once and has no cube. After a game won with
dice to spare no steps are left (R3.4); Pgx still counts them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats, default_seat, labelled
from bg_env.rules.settings import Rules
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, MAX_CHECKERS, OFF

__all__ = ["PGX", "encode_pgx"]


@kernel
def encode_pgx(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:  # noqa: ARG001 - every kernel takes rules
    """Write (n, 34) float32 values; see `Encoder.kernel`."""
    for i in range(len(states)):
        mover = default_seat(states, i)
        other = 1 - mover
        for p in range(24):
            out[i, p] = states[i]["points"][mover, 24 - p] - states[i]["points"][other, p + 1]
        out[i, 24] = states[i]["points"][mover, BAR]
        out[i, 25] = -states[i]["points"][other, BAR]
        out[i, 26] = states[i]["points"][mover, OFF]
        out[i, 27] = -states[i]["points"][other, OFF]
        for k in range(6):
            out[i, 28 + k] = 0
        if seats[i] == mover:
            for k in range(2):
                if states[i]["left"][k] > 0:
                    out[i, 27 + np.int64(states[i]["dice"][k])] = states[i]["left"][k]


_LABELS, _HIGH = labelled(
    *((f"checkers on the mover's point {point}, the opponent's negative", MAX_CHECKERS) for point in range(24, 0, -1)),
    ("the mover's checkers on the bar", MAX_CHECKERS),
    ("minus the opponent's checkers on the bar", 0),
    ("the mover's checkers borne off", MAX_CHECKERS),
    ("minus the opponent's checkers borne off", 0),
    *((f"steps left with a {die}, for the mover", 4) for die in range(1, 7)),
)
_LOW = np.zeros(len(_LABELS), np.float32)
_LOW[[*range(24), 25, 27]] = -MAX_CHECKERS

PGX = Encoder(name="pgx", labels=_LABELS, low=_LOW, high=_HIGH, function=encode_pgx, standard_only=True)
