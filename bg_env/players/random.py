"""The player `random`, which plays at random; it never turns the cube and always takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.players.protocol import check_states
from bg_env.rules import ACTIONS, FIRST_NAMED, ROLL, TAKE, Phase, Settings, States, pick_action
from bg_env.rules.actions import step_number
from bg_env.rules.bits import lowest
from bg_env.rules.moves import step_sets

__all__ = ["RandomPlayer"]


@kernel
def _choose(states: States, words: npt.NDArray[np.uint64], actions: npt.NDArray[np.int64]) -> None:
    for i in range(states.shape[0]):
        actions[i] = pick_action(states, i, words[i])


@kernel
def _write_shares(states: States, shares: npt.NDArray[np.float64]) -> None:
    numbers = np.int64(0)
    for i in range(states.shape[0]):
        phase = states[i]["phase"]
        if phase == Phase.ROLL_OR_DOUBLE:
            shares[i, ROLL] = 1.0
        elif phase == Phase.TAKE_OR_DROP:
            shares[i, TAKE] = 1.0
        elif phase == Phase.CHOOSE_DOUBLE:
            shares[i, FIRST_NAMED:] = 1.0 / 6.0
        elif phase == Phase.CHECKER:
            high, low = step_sets(states, i)
            numbers = np.int64(0)
            for k in range(2):
                found = low if k else high
                while found:
                    shares[i, step_number(lowest(found), np.int64(states[i]["dice"][k]))] = 1.0
                    found &= found - 1
                    numbers += 1
            for action in range(shares.shape[1]):
                shares[i, action] /= numbers


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

    def action_probabilities(self, states: States) -> npt.NDArray[np.float64]:
        """The probabilities with which it chooses each action.

        Args:
            states: STATE records (n,) in which it has the decision.

        Returns:
            float64 (n, 161), one column for each action of the whole layout.

        Raises:
            PositionError: `states` is not a 1-D array of STATE records.
        """
        check_states(states)
        shares = np.zeros((len(states), ACTIONS))
        _write_shares(states, shares)
        return shares
