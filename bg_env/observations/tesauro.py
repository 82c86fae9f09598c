"""`tesauro`, the default encoder: the 196 board inputs of TD-Gammon, then the 33 values of the context."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats
from bg_env.observations.board import BOARD, BOARD_HIGH, BOARD_LABELS, SIDE, write_trays, write_units, write_units_turned
from bg_env.observations.context import CONTEXT_HIGH, CONTEXT_LABELS, write_context
from bg_env.rules.settings import Rules
from bg_env.rules.state import States

__all__ = ["TESAURO", "encode_tesauro"]


@kernel
def encode_tesauro(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Write (n, 229) float32 values; see `Encoder.kernel`."""
    checkers = np.float32(rules[0]["checkers"])
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        write_units(states, i, seat, out, i, 0)
        write_units_turned(states, i, 1 - seat, out, i, SIDE)
        write_trays(states, i, checkers, seat, out, i)
        write_context(states, i, rules, seat, out, i, BOARD)


TESAURO = Encoder(
    name="tesauro",
    labels=BOARD_LABELS + CONTEXT_LABELS,
    low=np.zeros(BOARD + len(CONTEXT_LABELS), np.float32),
    high=np.concatenate([BOARD_HIGH, CONTEXT_HIGH]),
    function=encode_tesauro,
)
