"""An encoder and a reward as a user writes them, outside of the package: in NumPy and compiled."""

from __future__ import annotations

import numba
import numpy as np

from bg_env.observations import Encoder
from bg_env.rewards import Reward


def write_race(states, rules, seats, out):
    pips = states["points"] @ np.arange(26)  # (n, 2)
    rows = np.arange(len(states))
    out[:, 0], out[:, 1] = pips[rows, seats], pips[rows, 1 - seats]


@numba.njit(nogil=True)
def write_race_compiled(states, rules, seats, out):
    for i in range(states.shape[0]):
        for k in range(2):
            side = seats[i] if k == 0 else 1 - seats[i]
            pips = 0
            for point in range(26):
                pips += point * states[i]["points"][side, point]
            out[i, k] = pips


def quick(states, rules):
    """1 for a win within 20 turns, else a half."""
    sign = np.where(states["winner"] == 0, 1.0, -1.0)
    return np.where(states["turns"] <= 20, sign, sign / 2)


@numba.njit(nogil=True)
def quick_compiled(states, rules):
    rewards = np.empty(states.shape[0])
    for i in range(states.shape[0]):
        sign = 1.0 if states[i]["winner"] == 0 else -1.0
        rewards[i] = sign if states[i]["turns"] <= 20 else sign / 2
    return rewards


LABELS = ("own pips", "opponent's pips")
RACE = Encoder("race", LABELS, 0, 375, write_race)
RACE_COMPILED = Encoder("race", LABELS, 0, 375, write_race_compiled)
QUICK = Reward("quick", function=quick, bound=1)
QUICK_COMPILED = Reward("quick", function=quick_compiled, bound=1)
