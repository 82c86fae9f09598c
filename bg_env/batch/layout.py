"""The records of a batch beside the STATE records: one SLOT a game, and one PLAN for what is the same for all of them."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

__all__ = [
    "ENDED",
    "ENDED_UNSEEN",
    "INFO",
    "NO_OPPONENT",
    "OTHER_OPPONENT",
    "PLAN",
    "PUBEVAL_OPPONENT",
    "RANDOM_OPPONENT",
    "RUNNING",
    "SEAT_BY_KEY",
    "SLOT",
    "Batch",
]

Batch: TypeAlias = tuple[Any, Any, Any, Any, Any, Any]
"""States, slots, rules, plan, dice and sets, as the kernels take them, in this order.

Sets are the legal sources of the two dice left, int32 (n, 2), kept up to date for the games that go on (`legal_sets`).
"""

SLOT: Final = np.dtype(
    [
        ("seed", np.uint64),
        ("episode", np.int64),
        ("total", np.float64),
        ("gain", np.float64),
        ("length", np.int32),
        ("queued", np.int32),
        ("queue_end", np.int32),
        ("seat", np.int8),
        ("actor", np.int8),
        ("over", np.int8),
        ("fresh", np.int8),
        ("starter", np.int8),
    ],
    align=True,
)
"""What a batch knows of a game beside its state.

seed, episode: of the random stream. total, length: rewards and steps of the episode so far (player 0's rewards in
self-play). gain: player 0's reward that is not reported yet. queued, queue_end: the rolls
given in advance that are still to come, as a range of the array of such rolls. seat: the
learner's, -1 in self-play. actor: who acted last. over: RUNNING, ENDED or ENDED_UNSEEN. fresh: 1 or 2 within a call that
began an episode. starter: who must win the opening throw, or -1.
"""

PLAN: Final = np.dtype(
    [("reward", np.int64), ("seat", np.int64), ("opponent", np.int64), ("same_step", np.int64), ("limit", np.int64)]
)
"""What is the same for all games of a batch: reward kind, seat (-1 self-play, 0, 1, SEAT_BY_KEY), *_OPPONENT, whether
episodes begin anew in the step that ends them, and the most steps of an episode (0: no limit)."""

RUNNING: Final = 0
ENDED: Final = 1
ENDED_UNSEEN: Final = 2
"""The episode ended before the learner could act (it danced all along): the next step, whatever the action, tells so."""


NO_OPPONENT: Final = 0
RANDOM_OPPONENT: Final = 1
OTHER_OPPONENT: Final = 2
PUBEVAL_OPPONENT: Final = 3

SEAT_BY_KEY: Final = 2

INFO: Final = 7
"""Rows of an info array, in the order of INFO_KEYS."""
