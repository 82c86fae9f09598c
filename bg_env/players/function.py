"""Callables as players: they are shown what an environment would show an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import OrderError, SettingsError, quoted
from bg_env.observations import Encoder, encoder
from bg_env.players.protocol import check_states
from bg_env.rules import Rules, Settings, States, legal_mask

__all__ = ["FunctionPlayer", "checked_mask", "legal_masks"]

_MASKS: Final = ("both", "observation", "info")


@kernel
def _write_masks(states: States, rules: Rules, out: npt.NDArray[np.int8]) -> None:
    for i in range(states.shape[0]):
        legal_mask(states, i, rules, out, i)


def legal_masks(states: States, rules: Rules, actions: int) -> npt.NDArray[np.int8]:
    """The legal actions of every state: int8 (n, actions), 1 for legal."""
    out = np.empty((len(states), actions), np.int8)
    _write_masks(states, rules, out)
    return out


def checked_mask(mask: Any) -> str:
    """The place of the action mask for a callable: "both", "observation" or "info".

    Raises:
        SettingsError: it is something else.
    """
    if not isinstance(mask, str) or mask not in _MASKS:
        msg = f"mask is one of {', '.join(map(repr, _MASKS))}, not {quoted(mask)}"
        raise SettingsError(msg)
    return mask


class FunctionPlayer:
    """A callable as a player, from observations and action masks of a batch of games to an action for each.

    Args:
        function: called with `{"observation": ..., "action_mask": ...}` (float32 (n, ...), int8 (n, actions)); under
            `mask="info"` with the two as arguments. It returns integers (n,); for a single game a plain integer will do.
        observation: the encoder of the observations, by name or as an `Encoder`.
        mask: "both" or "observation" for the dict, "info" for two arguments.
        name: the player's name; None for that of the callable.
        settings: the settings in force; None until `bind` is called.

    Raises:
        SettingsError: an argument is unknown, or the encoder cannot show the settings.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        observation: str | Encoder = "tesauro",
        mask: str = "both",
        *,
        name: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        if not callable(function):
            msg = f"a callable from observations to actions is needed, not {quoted(function)}"
            raise SettingsError(msg)
        self.function, self.mask = function, checked_mask(mask)
        self.name = name or str(getattr(function, "name", None) or getattr(function, "__name__", type(function).__name__))
        self.settings = settings
        self._encoder = encoder(observation)
        if settings is not None:
            self._encoder.check(settings)
            self._rules = settings.record()

    def bind(self, settings: Settings) -> FunctionPlayer:
        """The player under these settings."""
        return FunctionPlayer(self.function, self._encoder, self.mask, name=self.name, settings=settings)

    def choose(self, states: States, words: npt.NDArray[np.uint64]) -> Any:  # noqa: ARG002 - a callable draws as it likes
        """The actions that the callable returns; see `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        if self.settings is None:
            msg = f"player {self.name} must know the settings: give them to it, or use what its bind(settings) returns"
            raise OrderError(msg)
        check_states(states, self._rules)
        mask = legal_masks(states, self._rules, self.settings.actions)
        view = self._encoder.encode(states, self._rules)  # as the player who decides sees them
        shown = (view, mask) if self.mask == "info" else ({"observation": view, "action_mask": mask},)
        chosen = self.function(*shown)
        single = isinstance(chosen, (int, np.generic)) or (isinstance(chosen, np.ndarray) and chosen.ndim == 0)
        return np.reshape(chosen, 1) if single else chosen

    def __repr__(self) -> str:
        return f"<FunctionPlayer {self.name}: observation={self._encoder.name!r}, mask={self.mask!r}>"
