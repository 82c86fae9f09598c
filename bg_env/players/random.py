"""The random player: never turns the cube, always takes, names any double, steps at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules import Settings, States, pick_action

__all__ = ["RandomPlayer"]


@kernel
def _choose(states: Any, words: Any, actions: Any) -> None:
    for i in range(states.shape[0]):
        actions[i] = pick_action(states, i, words[i])


class RandomPlayer:
    """Plays a legal step drawn uniformly from the legal (source, die) pairs; rolls, takes, names a double uniformly."""

    name = "random"

    def bind(self, settings: Settings) -> RandomPlayer:  # noqa: ARG002 - it needs no rules beyond the state
        """The same player."""
        return self

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """One action for each state, from its word alone; see `Player.choose`."""
        actions = np.empty(len(states), np.int64)
        _choose(states, words, actions)
        return actions
