"""Positions that the TD learner goes back to."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.rules import STATE

__all__ = ["STORED", "Store"]

STORED: Final = 1 << 18
"""How many positions are kept; the oldest make room for new ones."""


class Store:
    """The newest positions and what they were fitted to.

    Args:
        outputs: numbers of a target: 6 or 1.
        size: how many positions are kept.
    """

    def __init__(self, outputs: int, size: int = STORED) -> None:
        self._states = np.zeros(size, STATE)
        self._seats = np.zeros(size, np.int8)
        self._targets = np.zeros((size, outputs), np.float32)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._seats))

    def add(self, states: Any, seats: Any, targets: Any) -> None:
        """Keep positions (STATE) as players `seats` (int8) see them, with their targets: float32 (n, outputs)."""
        at = (self._added + np.arange(len(seats))) % len(self._seats)
        self._states[at], self._seats[at], self._targets[at] = states, seats, targets
        self._added += len(seats)

    def draw(self, n: int, random: np.random.Generator) -> tuple[Any, Any, Any]:
        """`n` of them by chance, each as likely every time: states, seats, targets."""
        at = random.integers(len(self), size=n)
        return self._states[at], self._seats[at], self._targets[at]

    def content(self) -> dict[str, npt.NDArray[Any]]:
        """What `restore` needs."""
        n = len(self)
        return {
            "stored_states": self._states[:n],
            "stored_seats": self._seats[:n],
            "stored_targets": self._targets[:n],
            "stored": np.array(self._added),
        }

    def restore(self, content: dict[str, npt.NDArray[Any]]) -> None:
        """Be as the store was whose `content` this is."""
        self._added = int(content["stored"])
        n = len(self)
        self._states[:n], self._seats[:n] = content["stored_states"], content["stored_seats"]
        self._targets[:n] = content["stored_targets"]
