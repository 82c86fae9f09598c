"""Context of the board in 33 values, with which several encoders end: dice, turn, phase, bonus, cube, match, stakes.

All values are as the viewer sees them, and the layout is the same under all settings. The cube shows the value that a drop
would lose, which is the one before the take; `ties` and the cap need no feature of their own.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bg_env._jit import inlined
from bg_env.observations.base import Floats, labelled
from bg_env.rules.settings import LIFTED_CAP, MAX_CHAIN, Rules
from bg_env.rules.state import STAGE_BONUS, STAGE_DOUBLE, STAGE_EXTRA, Phase, States

__all__ = ["CONTEXT", "CONTEXT_HIGH", "CONTEXT_LABELS", "write_context"]

FACES = 6
"""The cube's printed faces end at 2 ** 6, which gives 1."""
TURNS = 4
"""A chain of so many turns of the cube gives 1, and so do so many beavers."""
LONG = 25
"""Points needed are n / 25, at most 1; the value 1 / n beside it distinguishes the last few."""

CONTEXT_LABELS, CONTEXT_HIGH = labelled(
    *((f"die {die} left to play", 1) for die in range(1, 7)),
    ("steps left / 4", 1),
    ("own turn", 1),
    ("opponent's turn", 1),
    ("own decision", 1),
    ("phase: dice are to be rolled", 1),
    ("phase ROLL_OR_DOUBLE", 1),
    ("phase TAKE_OR_DROP: just doubled", 1),
    ("phase CHECKER", 1),
    ("phase CHOOSE_DOUBLE", 1),
    ("phase OVER", 1),
    ("bonus: 1-2 played or its double to be named", 1),
    ("bonus: named double being played", 1),
    ("bonus: extra roll", 1),
    ("cube in play", 1),
    (f"cube: log2 of the value before the take / {FACES}", (LIFTED_CAP.bit_length() - 1) / FACES),
    ("cube owned", 1),
    ("cube owned by the opponent", 1),
    ("cube centred", 1),
    (f"cube: turns that wait for an answer / {TURNS}", (MAX_CHAIN + 1) / TURNS),
    ("match play", 1),
    (f"points needed / {LONG}, at most 1", 1),
    ("1 / points needed", 1),
    (f"points needed by the opponent / {LONG}, at most 1", 1),
    ("1 / points needed by the opponent", 1),
    ("Crawford game", 1),
    ("Jacoby rule", 1),
    (f"beavers still allowed / {TURNS}", MAX_CHAIN / TURNS),
)
CONTEXT: Final = len(CONTEXT_LABELS)
"""Number of values: 33."""

_1 = np.float32(1)
_0 = np.float32(0)


@inlined
def _write_dice(states: States, i: int, out: Floats, row: int, at: int) -> None:
    """Seven values: a flag for each number that is left to play, and the steps left as a share of four."""
    state = states[i]
    for k in range(6):
        out[row, at + k] = _0
    for k in range(2):
        if state["left"][k] > 0:
            out[row, at + np.int64(state["dice"][k]) - 1] = _1
    out[row, at + 6] = (state["left"][0] + state["left"][1]) / 4


@inlined
def _write_cube(states: States, i: int, rules: Rules, seat: int, out: Floats, row: int, at: int) -> None:
    """Six values of the cube; all 0 where no cube is in play."""
    state = states[i]
    cube = rules[0]["cube"] != 0
    chain = np.int64(state["chain"])
    owner = state["owner"]
    out[row, at] = _1 if cube else _0
    out[row, at + 1] = (state["cube"] + (chain - 1 if chain > 1 else 0)) / FACES
    out[row, at + 2] = _1 if cube and owner == seat else _0
    out[row, at + 3] = _1 if cube and owner == 1 - seat else _0
    out[row, at + 4] = _1 if cube and owner < 0 else _0
    out[row, at + 5] = chain / TURNS


@inlined
def _write_match(states: States, i: int, rules: Rules, seat: int, out: Floats, row: int, at: int) -> None:
    """Six values of the match; all 0 in money play."""
    state = states[i]
    length = np.int64(rules[0]["match_length"])
    out[row, at] = _1 if length > 0 else _0
    for k in range(2):
        needed = length - state["score"][seat if k == 0 else 1 - seat]
        if length == 0 or needed < 0:
            needed = 0
        out[row, at + 1 + 2 * k] = min(needed, LONG) / LONG
        out[row, at + 2 + 2 * k] = 1 / needed if needed > 0 else 0.0
    out[row, at + 5] = _1 if state["crawford"] != 0 else _0


@inlined
def write_context(states: States, i: int, rules: Rules, seat: int, out: Floats, row: int, at: int) -> None:
    """Write the 33 values of state `i` as `seat` sees it into `out[row, at:at + 33]`."""
    phase = states[i]["phase"]
    stage = states[i]["stage"]
    turn = np.int64(-1) if phase == Phase.OVER else np.int64(states[i]["turn"])
    _write_dice(states, i, out, row, at)
    out[row, at + 7] = _1 if turn == seat else _0
    out[row, at + 8] = _1 if turn == 1 - seat else _0
    out[row, at + 9] = _1 if states[i]["decider"] == seat else _0
    out[row, at + 10] = _1 if phase == Phase.ROLL or phase == Phase.OPENING else _0
    out[row, at + 11] = _1 if phase == Phase.ROLL_OR_DOUBLE else _0
    out[row, at + 12] = _1 if phase == Phase.TAKE_OR_DROP else _0
    out[row, at + 13] = _1 if phase == Phase.CHECKER else _0
    out[row, at + 14] = _1 if phase == Phase.CHOOSE_DOUBLE else _0
    out[row, at + 15] = _1 if phase == Phase.OVER else _0
    out[row, at + 16] = _1 if stage == STAGE_BONUS else _0
    out[row, at + 17] = _1 if stage == STAGE_DOUBLE else _0
    out[row, at + 18] = _1 if stage == STAGE_EXTRA else _0
    _write_cube(states, i, rules, seat, out, row, at + 19)
    _write_match(states, i, rules, seat, out, row, at + 25)
    out[row, at + 31] = _1 if rules[0]["jacoby"] != 0 else _0
    chain = np.int64(states[i]["chain"])
    out[row, at + 32] = max(rules[0]["beavers"] - (chain - 1 if chain > 1 else 0), 0) / TURNS
