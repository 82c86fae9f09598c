"""`tesauro198`, an encoder for value nets: the 196 board inputs of TD-Gammon and two for the turn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.observations.base import Encoder, Floats
from bg_env.observations.board import BOARD, BOARD_HIGH, BOARD_LABELS, SIDE, write_trays, write_units, write_units_turned
from bg_env.rules.settings import Rules
from bg_env.rules.state import Phase, States

__all__ = ["TESAURO198", "encode_tesauro198"]

_1 = np.float32(1)
_0 = np.float32(0)


@kernel
def encode_tesauro198(states: States, rules: Rules, seats: npt.NDArray[np.int8], out: Floats) -> None:
    """Write (n, 198) float32 values; see `Encoder.kernel`."""
    checkers = np.float32(rules[0]["checkers"])
    for i in range(len(states)):
        seat = np.int64(seats[i]) & 1
        turn = np.int64(-1) if states[i]["phase"] == Phase.OVER else np.int64(states[i]["turn"])
        write_units(states, i, seat, out, i, 0)
        write_units_turned(states, i, 1 - seat, out, i, SIDE)
        write_trays(states, i, checkers, seat, out, i)
        out[i, BOARD] = _1 if turn == seat else _0
        out[i, BOARD + 1] = _1 if turn == 1 - seat else _0


TESAURO198 = Encoder(
    name="tesauro198",
    labels=(*BOARD_LABELS, "own turn", "opponent's turn"),
    low=np.zeros(BOARD + 2, np.float32),
    high=np.append(BOARD_HIGH, np.ones(2, np.float32)),
    function=encode_tesauro198,
)
