"""Perfect play by a table of exact values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.errors import OrderError
from bg_env.exact.phases import PhaseValues, cube_columns
from bg_env.exact.sides import sides_of
from bg_env.rules import DOUBLE, DROP, ROLL, TAKE, Phase, Settings, States
from bg_env.rules.sound import check_sound

__all__ = ["ExactPlayer"]


class ExactPlayer:
    """A player that decides by exact values: among equal plays it chooses the first, and it doubles only where that gains.

    Args:
        table: the values.
        name: the player's name.
        settings: the settings in force; None until `bind` is called.

    Raises:
        SettingsError: the values do not hold for the settings.
    """

    def __init__(self, table: PhaseValues, name: str, settings: Settings | None = None) -> None:
        self.table, self.name, self.settings = table, name, settings
        if settings is not None:
            table._check_settings(settings)  # noqa: SLF001 - of this package
            self._rules = settings.record()

    def bind(self, settings: Settings) -> ExactPlayer:
        """The player under these settings.

        Raises:
            SettingsError: the values do not hold for them.
        """
        return self if settings == self.settings else ExactPlayer(self.table, self.name, settings)

    def choose_plays(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:  # noqa: ARG002 - draws nothing
        """The steps of the best play for each state (phase CHECKER); see `PlayPlayer.choose_plays`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        settings = self._bound()
        check_sound(states, self._rules, playing=True)
        offsets, steps, values = self.table._after(states, settings)  # noqa: SLF001
        return steps[first_best(offsets, values)].astype(np.int64)

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The best action for each state, in any phase; of a play, its first step. See `Player.choose`.

        Raises:
            OrderError: the player is bound to no settings.
        """
        settings, table = self._bound(), self.table
        check_sound(states, self._rules)
        actions = np.empty(len(states), np.int64)
        moving = states["phase"] == Phase.CHECKER
        if moving.any():
            actions[moving] = self.choose_plays(states[moving], words[moving])[:, 0]
        if not moving.all():
            asked = states[~moving]
            sides = sides_of(asked)
            stays = table._look_up(sides, cube_columns(asked, settings))  # noqa: SLF001
            taken = table._taken(asked, sides, settings)  # noqa: SLF001
            turned = np.where(np.minimum(taken, 1) > stays, DOUBLE, ROLL)
            answers = np.where(taken <= 1, TAKE, DROP)
            actions[~moving] = np.where(asked["phase"] == Phase.TAKE_OR_DROP, answers, turned)
        return actions

    def _bound(self) -> Settings:
        if self.settings is None:
            msg = f"{self.name} must know the settings: use what its bind(settings) returns"
            raise OrderError(msg)
        return self.settings

    def __repr__(self) -> str:
        return f"<ExactPlayer {self.name}>"


def first_best(offsets: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The index of the first highest value of each part from offsets[k] to offsets[k + 1] - 1, none of them empty."""
    best = np.maximum.reduceat(values, offsets[:-1])
    hits = np.flatnonzero(values == np.repeat(best, np.diff(offsets)))
    found: npt.NDArray[np.int64] = hits[np.searchsorted(hits, offsets[:-1])]
    return found
