"""A replay buffer for the TD learner."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._renamed import old_names
from bg_env.rules import STATE, States

__all__ = ["SIZE", "ReplayBuffer"]

SIZE: Final = 1 << 18
"""Positions that are kept; the oldest are replaced."""

__getattr__ = old_names(__name__, Store="ReplayBuffer", STORED="SIZE")


class ReplayBuffer:
    """The newest positions and their targets.

    Args:
        outputs: numbers in a target: 6 or 1.
        size: positions that are kept.
    """

    def __init__(self, outputs: int, size: int = SIZE) -> None:
        self._states = np.zeros(size, STATE)
        self._seats = np.zeros(size, np.int8)
        self._targets = np.zeros((size, outputs), np.float32)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._seats))

    def add(self, states: States, seats: npt.NDArray[np.int8], targets: npt.NDArray[np.float32]) -> None:
        """Add positions: states (n,), the seats that see them, int8 (n,), and their targets, float32 (n, outputs)."""
        at = (self._added + np.arange(len(seats))) % len(self._seats)
        self._states[at], self._seats[at], self._targets[at] = states, seats, targets
        self._added += len(seats)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[States, npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Draw `n` positions uniformly at random, with replacement: states (n,), seats (n,), targets (n, outputs)."""
        at = rng.integers(len(self), size=n)
        return self._states[at], self._seats[at], self._targets[at]

    def content(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays that `restore` takes."""
        n = len(self)
        return {
            "stored_states": self._states[:n],
            "stored_seats": self._seats[:n],
            "stored_targets": self._targets[:n],
            "stored": np.array(self._added),
        }

    def restore(self, content: dict[str, npt.NDArray[Any]]) -> None:
        """Take over the positions of the buffer that gave this `content`."""
        self._added = int(content["stored"])
        n = len(self)
        self._states[:n], self._seats[:n] = content["stored_states"], content["stored_seats"]
        self._targets[:n] = content["stored_targets"]
