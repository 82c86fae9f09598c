"""Rewards by name: the reward of player_0 at the end of a game; player_1 receives its negative in the same step.

| name | reward of the winner of a game |
|---|---|
| points | the default: 1, 2 or 3 times the cube; in a match the full points, even past the match length |
| win | 1 |
| normalized | points divided by 3 times the cube cap, so at most 1 |
| match | 1 at the end of the match, 0 before |
| mwc | the winner's gain in match winning chance, by the match equity table of `bg_env.equity` |

Steps that end no game give 0, and so does a game cut off by the limit on turns (R11.1). An illegal action loses the game at the
highest level and the episode, so it costs the same as the worst loss at the present cube; under
`match` and `mwc` it loses the match.

Over a match `mwc` sums to 1 less the chance that the winner had at the start (a half, from 0-0). The table tells of play with a
cube; in matches without one the chances where a player needs 1 are those of the Crawford game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.equity import LONGEST, MATCH_EQUITY
from bg_env.errors import SettingsError, quoted
from bg_env.rules import END_FINISHED, END_ILLEGAL, Settings

__all__ = ["MATCH", "MWC", "NORMALIZED", "POINTS", "REWARDS", "WIN", "Reward", "match_chance", "reward", "reward_of"]

POINTS: Final = 0
WIN: Final = 1
NORMALIZED: Final = 2
MATCH: Final = 3
MWC: Final = 4

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
            SettingsError: `normalized` with the cube's cap lifted, `match` or `mwc` without a match, or `mwc` in a match longer
                than the table.
        """
        if self.kind == NORMALIZED and settings.cube and settings.cube_cap is None:
            msg = "reward 'normalized' needs a highest value of the cube: give cube_cap, or cube=False, or another reward"
            raise SettingsError(msg)
        if self.kind in (MATCH, MWC) and settings.money:
            msg = f"reward {self.name!r} needs a match: give match_length, or choose reward 'win'"
            raise SettingsError(msg)
        if self.kind == MWC and settings.match_length > LONGEST:
            msg = f"reward 'mwc' knows matches up to {LONGEST} points, not {settings.match_length}: choose reward 'match'"
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
        for item in (
            Reward("points", POINTS),
            Reward("win", WIN),
            Reward("normalized", NORMALIZED),
            Reward("match", MATCH),
            Reward("mwc", MWC),
        )
    }
)
"""The rewards by name."""


def reward(name: str) -> Reward:
    """The reward called `name`.

    Raises:
        SettingsError: there is none of that name.
    """
    if not isinstance(name, str) or name not in REWARDS:
        msg = f"no reward is called {quoted(name)}: choose from {', '.join(REWARDS)}"
        raise SettingsError(msg)
    return REWARDS[name]


@kernel
def match_chance(rules: Any, own: Any, other: Any, crawford: Any) -> Any:
    """The table's chance of a player with `own` points against `other`; `crawford`: the game there is the Crawford game."""
    length = np.int64(rules[0]["match_length"])
    a = min(max(length - own, 0), LONGEST)
    b = min(max(length - other, 0), LONGEST)
    after = 1 if rules[0]["cube"] and not crawford else 0  # makes a difference only where one needs 1
    return MATCH_EQUITY[after, a, b]


@kernel
def _grown(states: Any, i: Any, rules: Any) -> Any:
    """What the winner's chance to win the match grew by through the game that state `i` ended with."""
    winner = states[i]["winner"]
    own = np.int64(states[i]["score"][winner])
    other = np.int64(states[i]["score"][1 - winner])
    before = match_chance(rules, own - states[i]["won"], other, states[i]["was_crawford"])
    ending = states[i]["ending"]
    if ending == END_FINISHED or ending == END_ILLEGAL:
        return 1.0 - before
    return match_chance(rules, own, other, states[i]["crawford"]) - before


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
    if kind == MWC:
        return sign * _grown(states, i, rules)
    ending = states[i]["ending"]
    if ending == END_FINISHED or ending == END_ILLEGAL:
        return sign
    return 0.0
