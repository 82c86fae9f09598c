"""Rewards by name: what the end of a game is worth to player_0; player_1 gets the negative of it in the same step.

| name | reward of the winner of a game |
|---|---|
| points | the default: 1, 2 or 3 times the cube; in a match they count in full, also past its length |
| win | 1 |
| normalized | points / (3 times the highest value of the cube): at most 1 |
| match | 1 at the end of the match, nothing before |

Steps that end no game give 0, and so does a game cut off by the limit on turns (R11.1). An illegal action loses the game at the
highest level and the episode, so it costs the same as the worst loss at the present cube.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.errors import SettingsError
from bg_env.rules import END_FINISHED, END_ILLEGAL, Settings

__all__ = ["MATCH", "NORMALIZED", "POINTS", "REWARDS", "WIN", "Reward", "reward", "reward_of"]

POINTS: Final = 0
WIN: Final = 1
NORMALIZED: Final = 2
MATCH: Final = 3

HIGHEST_LEVEL = 3


@dataclass(frozen=True)
class Reward:
    """One way to reward.

    Attributes:
        name: its name in `REWARDS`.
        kind: its number, as `reward_of` takes it.
    """

    name: str
    kind: int

    def check(self, settings: Settings) -> None:
        """Refuse settings under which this reward has no meaning.

        Raises:
            SettingsError: `normalized` with the cube's cap lifted, or `match` without a match.
        """
        if self.kind == NORMALIZED and settings.cube and settings.cube_cap is None:
            msg = "reward 'normalized' needs a highest value of the cube: give cube_cap, or cube=False, or another reward"
            raise SettingsError(msg)
        if self.kind == MATCH and settings.money:
            msg = "reward 'match' needs a match: give match_length, or choose reward 'win'"
            raise SettingsError(msg)

    def most(self, settings: Settings) -> float:
        """The most that one game (for `match`: the match) can be worth: rewards lie between its negative and it."""
        self.check(settings)
        if self.kind == POINTS:
            return float(HIGHEST_LEVEL << settings.cap_log2 if settings.cube else HIGHEST_LEVEL)
        return 1.0


REWARDS: Final[Mapping[str, Reward]] = MappingProxyType(
    {
        item.name: item
        for item in (Reward("points", POINTS), Reward("win", WIN), Reward("normalized", NORMALIZED), Reward("match", MATCH))
    }
)
"""The rewards by name."""


def reward(name: str) -> Reward:
    """The reward called `name`.

    Raises:
        SettingsError: there is none of that name.
    """
    if name not in REWARDS:
        msg = f"no reward is called {name!r}: choose from {', '.join(REWARDS)}"
        raise SettingsError(msg)
    return REWARDS[name]


@kernel
def reward_of(states: Any, i: Any, rules: Any, kind: Any) -> Any:
    """The reward of player_0 (float64) for the last action or roll of state `i`; `kind` is a `Reward.kind`."""
    winner = states[i]["winner"]
    if winner < 0:
        return 0.0
    sign = 1.0 if winner == 0 else -1.0
    if kind == POINTS:
        return sign * states[i]["won"]
    if kind == WIN:
        return sign
    if kind == NORMALIZED:
        cap = np.int64(rules[0]["cube_cap"]) if rules[0]["cube"] else np.int64(0)
        return sign * states[i]["won"] / (HIGHEST_LEVEL << cap)
    ending = states[i]["ending"]
    if ending == END_FINISHED or ending == END_ILLEGAL:
        return sign
    return 0.0
