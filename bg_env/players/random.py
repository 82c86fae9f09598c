"""The player `random`, which plays at random; it never turns the cube and always takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.players.protocol import check_states
from bg_env.rules import Settings, States, pick_action

__all__ = ["RandomPlayer"]


@kernel
def _choose(states: States, words: npt.NDArray[np.uint64], actions: npt.NDArray[np.int64]) -> None:
    for i in range(states.shape[0]):
        actions[i] = pick_action(states, i, words[i])


class RandomPlayer:
    """A player at random: a step is drawn uniformly from the legal (source, die) pairs, a named double from all six.

    It never turns the cube, and always takes.
    """

    name = "random"

    def bind(self, settings: Settings) -> RandomPlayer:  # noqa: ARG002 - it needs no rules beyond the state
        """The player itself."""
        return self

    def choose(self, states: States, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """An action for each state, from its word alone; see `Player.choose`.

        Raises:
            PositionError: `states` is not a 1-D array of STATE records.
        """
        check_states(states)
        if not isinstance(words, np.ndarray) or words.dtype != np.uint64 or words.shape != states.shape:
            msg = f"words are uint64 numbers, one for each of the {len(states)} states"
            raise SettingsError(msg)
        actions = np.empty(len(states), np.int64)
        _choose(states, words, actions)
        return actions
