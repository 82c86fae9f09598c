"""Records and arrays of a batch: one SLOT a game, one PLAN for all games, and the named tuples that kernels take."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env.batch.info import INFO, Info
from bg_env.rules import STATE, Rules, States

__all__ = [
    "DUE",
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
    "START",
    "STAY",
    "STAYED",
    "Arrays",
    "Batch",
    "Finals",
    "Info",
    "Plan",
    "Report",
    "Slots",
    "View",
    "copied",
]

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
"""A game's record beside its STATE.

| field | meaning |
|---|---|
| seed, episode | of the random stream: episode k of a seed has the key `episode_key(seed, k)` |
| total, length | rewards and steps of the episode so far (in self-play player_0's rewards) |
| gain | player_0's reward that is not reported yet |
| queued, queue_end | the rolls given in advance that are still to come, as a range of `Batch.dice` |
| seat | the learner's seat, -1 in self-play |
| actor | who acted last |
| over | RUNNING, ENDED or ENDED_UNSEEN; DUE within a reset |
| fresh | within a call: 1 in a step or reset that began an episode, 2 after the end of another one, STAYED, else 0 |
| starter | who must win the opening throw, or -1 |
"""

PLAN: Final = np.dtype(
    [("reward", np.int64), ("seat", np.int64), ("opponent", np.int64), ("same_step", np.int64), ("limit", np.int64)]
)
"""The settings of a batch that its kernels read.

| field | meaning |
|---|---|
| reward | `Reward.kind` |
| seat | the learner's: -1 self-play, 0, 1 or SEAT_BY_KEY |
| opponent | one of the `*_OPPONENT` numbers |
| same_step | 1 if an episode begins in the step that ends the one before it |
| limit | most steps of an episode, 0: no limit |
"""

START: Final = np.dtype([("state", STATE), ("given", np.int64), ("first_roll", np.int64), ("starter", np.int64)], align=True)
"""The beginning of the episodes of a reset.

| field | meaning |
|---|---|
| state | the state that they begin with, if one is given |
| given | whether one is; if not, they begin as every episode does |
| first_roll | their first rolls are those of `Batch.dice` from here on |
| starter | who must win the opening throw, or -1 |
"""

RUNNING: Final = 0
ENDED: Final = 1
ENDED_UNSEEN: Final = 2
"""The episode ended before the learner could act (it danced all along): the next step reports it, whatever the action."""

DUE: Final = 3
"""A reset begins an episode, as START has it, instead of an action."""
STAY: Final = -1
"""Instead of an action, in a reset: the game is left as it is."""
STAYED: Final = 3
"""`fresh` of a game that was left as it is."""

NO_OPPONENT: Final = 0
RANDOM_OPPONENT: Final = 1
OTHER_OPPONENT: Final = 2
PUBEVAL_OPPONENT: Final = 3

SEAT_BY_KEY: Final = 2


def copied(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """A copy, by bytes: NumPy takes twenty times as long field by field."""
    copy: npt.NDArray[np.void] = records.view(np.int8).copy().view(records.dtype)
    return copy


Slots: TypeAlias = npt.NDArray[np.void]
"""A 1-D array of SLOT records."""
Plan: TypeAlias = npt.NDArray[np.void]
"""An array of one PLAN record."""

Arrays: TypeAlias = tuple[Any, ...]
"""The fields of one of the named tuples below, as a plain tuple.

That is how Python hands them to a kernel, which makes the named tuple at once: a named tuple itself costs a call half a
microsecond more for each one (a plain one costs no more than its arrays, one by one), as much as many a step of one game.
"""


class Batch(NamedTuple):
    """Games, and what they are played by."""

    states: States
    """(n,)."""
    slots: Slots
    """(n,)."""
    rules: Rules
    plan: Plan
    dice: npt.NDArray[np.int64]
    """(m, 2): rolls given in advance; see `queued` of SLOT."""
    sets: npt.NDArray[np.int32]
    """(n, 2): the legal sources of the two dice left, as sets of points (`legal_sets`); kept for the games that go on."""
    ended: States
    """(n,) with a user's reward, which no kernel knows: the state in which a game has just ended, before dice that are due
    then. Until its reward has been added (and `winner` set to -1 here), nobody acts in it. (0,) with any other reward."""
    start: npt.NDArray[np.void]
    """(1,): a START record."""


class Report(NamedTuple):
    """The outcome of a step."""

    info: Info
    rewards: npt.NDArray[np.float64]
    """(2, n): reward, and the return of the episode that ended."""
    lengths: npt.NDArray[np.int32]
    """(n,): length of the episode that ended."""
    ends: npt.NDArray[np.bool_]
    """(2, n): terminated, truncated."""


class Finals(NamedTuple):
    """Episodes that ended in the step that began the next ones (PLAN same_step); written where a step ends one."""

    states: States
    """(n,): the last states."""
    info: npt.NDArray[np.int32]
    """(INFO + 1, n): the last infos, and the seat that looks at the last state."""


class View(NamedTuple):
    """Masks and observations of the games."""

    mask: npt.NDArray[np.int8]
    """(n, actions)."""
    flat: npt.NDArray[np.float32] | None
    """(n, size): the observations; None where they are not wanted."""
