"""What all environments take: the arguments of their constructors and the options of `reset`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from bg_env.checks import is_player
from bg_env.errors import SettingsError, known_names, quoted
from bg_env.observations import Encoder, encoder
from bg_env.rewards import reward as reward_named
from bg_env.rules import Settings, Variant

__all__ = [
    "INFO_KEYS",
    "EnvOptions",
    "known_options",
    "read_options",
    "read_seat",
]

MASKS: Final = ("both", "observation", "info")
ILLEGAL: Final = ("terminate", "raise")
INFO_KEYS: Final = ("player", "points", "level", "cube", "winner", "illegal", "turns")
"""The numeric keys of every info: see `bg_env.envs.episode.info_of`."""
known_options: Final = known_names("option")
"""Decorates the constructors of environments, see `known_names`."""


def _one_of(name: str, value: Any, known: Sequence[Any]) -> Any:
    if not any(value is item or (isinstance(value, str) and value == item) for item in known):
        msg = f"{name} is one of {', '.join(map(repr, known))}, not {quoted(value)}"
        raise SettingsError(msg)
    return value


def read_seat(seat: Any, opponent: Any) -> int | None:
    """The learner's seat that an environment with this opponent is asked for.

    Raises:
        SettingsError: it is none, or there is no opponent to sit on the other.
    """
    if seat is None:
        return None
    if not is_player(seat):
        msg = f"seat is 0, 1 or None (a bit of the episode's key), not {quoted(seat)}"
        raise SettingsError(msg)
    if opponent is None:
        msg = f"seat={seat} needs an opponent: with opponent=None one agent plays both seats"
        raise SettingsError(msg)
    return int(seat)


@dataclass(frozen=True)
class EnvOptions:
    """The checked arguments of an environment.

    Attributes:
        settings: what is played for.
        encoder: the observation.
        reward: number of the reward in `bg_env.rewards`.
        mask: where the action mask is: "both", "observation" or "info".
        illegal: what an illegal action does: "terminate" or "raise".
        render_mode: None or one of the environment's render modes.
    """

    settings: Settings
    encoder: Encoder
    reward: int
    mask: str
    illegal: str
    render_mode: str | None

    @property
    def in_observation(self) -> bool:
        """Whether the observation is a Dict that holds the mask."""
        return self.mask != "info"

    @property
    def in_info(self) -> bool:
        """Whether the info holds the mask."""
        return self.mask != "observation"

    def observation_space(self) -> spaces.Space[Any]:
        """A new space of one game's observation."""
        board = spaces.Box(self.encoder.low.copy(), self.encoder.high.copy(), dtype=np.float32)
        if not self.in_observation:
            return board
        return spaces.Dict(observation=board, action_mask=spaces.Box(0, 1, (self.settings.actions,), np.int8))

    def action_space(self) -> spaces.Discrete:
        """A new space of one game's actions."""
        return spaces.Discrete(self.settings.actions)


def read_options(
    variant: str | Variant,
    *,
    observation: str = "tesauro",
    mask: str = "both",
    reward: str = "points",
    illegal: str = "terminate",
    render_mode: str | None = None,
    render_modes: Sequence[str] = (),
    **settings: Any,
) -> EnvOptions:
    """Check an environment's arguments; `settings` are those of `bg_env.Settings`.

    Raises:
        SettingsError: one of them is unknown, out of range, or contradicts another.
    """
    chosen = Settings(variant, **settings)
    view = encoder(observation)
    view.check(chosen)
    wanted = reward_named(reward)
    wanted.check(chosen)
    return EnvOptions(
        settings=chosen,
        encoder=view,
        reward=wanted.kind,
        mask=_one_of("mask", mask, MASKS),
        illegal=_one_of("illegal", illegal, ILLEGAL),
        render_mode=_one_of("render_mode", render_mode, (None, *render_modes)),
    )
