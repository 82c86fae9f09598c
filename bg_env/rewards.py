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

Over a match `mwc` sums to 1 less the chance that the winner had at the start (a half, from 0-0). The table describes play with
a cube; in matches without one the chances where a player needs 1 are those of the Crawford game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import found, kernel, picklable
from bg_env.checks import checked_name, checked_number, is_whole, takes
from bg_env.equity import LONGEST, MATCH_EQUITY
from bg_env.errors import SettingsError, known_names, quoted
from bg_env.rules import END_FINISHED, END_ILLEGAL, Rules, Settings, States

__all__ = [
    "CUSTOM",
    "MATCH",
    "MWC",
    "NORMALIZED",
    "POINTS",
    "REWARDS",
    "WIN",
    "Reward",
    "match_chance",
    "reward",
    "reward_of",
    "rewards_of",
]

CUSTOM: Final = -1
"""The kind of a user's own reward, which no kernel knows: `Reward.of` computes it."""
POINTS: Final = 0
WIN: Final = 1
NORMALIZED: Final = 2
MATCH: Final = 3
MWC: Final = 4

HIGHEST_LEVEL = 3


@dataclass(frozen=True, init=False, repr=False)
class Reward:
    """A way to reward as a value: built in and known by name, or a user's own.

    A `Reward` is accepted wherever a reward is chosen by name (`reward="points"`).

    Args:
        name: its name, which must not be that of a built-in reward.
        kind: the number of a built-in reward, as `reward_of` takes it; CUSTOM for one with a function.
        function: `function(states, rules)`, plain Python or compiled by Numba: of n STATE records, in each of which a game has
            just ended, and an array of one RULES record the rewards of player_0, floats (n,); player_1 receives the
            negatives. It may be called by several threads at once.
        bound: the most that it can return, in absolute value; None for no limit.

    Attributes:
        function: the function of a user's own reward; None of a built-in one.

    Raises:
        SettingsError: an argument has the wrong type, or the function does not fit the kind.
    """

    name: str
    kind: int
    function: Callable[[States, Rules], npt.ArrayLike] | None
    bound: float | None

    @known_names
    def __init__(
        self,
        name: str,
        kind: int = CUSTOM,
        *,
        function: Callable[[States, Rules], npt.ArrayLike] | None = None,
        bound: float | None = None,
    ) -> None:
        checked_name("a reward's", name)
        if not is_whole(kind, CUSTOM, MWC):
            msg = f"reward {name}: kind is a number from {CUSTOM} to {MWC}, not {quoted(kind)}"
            raise SettingsError(msg)
        if not takes(function, 2) if kind == CUSTOM else function is not None:
            msg = f"reward {name}: give function=function(states, rules), not {quoted(function)}"
            raise SettingsError(msg)
        put = object.__setattr__
        put(self, "name", name)
        put(self, "kind", int(kind))
        put(self, "function", function)
        put(self, "bound", None if bound is None else checked_number(f"reward {name}: bound", bound, 0, math.inf))

    def __repr__(self) -> str:
        return f"Reward({self.name!r})"

    def __copy__(self) -> Reward:
        return self

    def __deepcopy__(self, memo: object) -> Reward:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.function is None:
            return reward, (self.name,)
        return _loaded, (self.name, picklable(self.function), self.bound)

    def of(self, states: States, rules: Rules) -> npt.NDArray[np.float64]:
        """The rewards of player_0 for the last action or roll of each state; 0 where it ended no game.

        Args:
            states: n STATE records; for a user's own reward each of a game that has just ended.
            rules: the RULES record that they are played by.

        Returns:
            float64 (n,), a new array.

        Raises:
            SettingsError: the function of a user's own reward raised an error, or returned something else than n finite
                numbers within its bound.
        """
        if self.function is None:
            return rewards_of(states, rules, self.kind)
        try:
            given = np.asarray(self.function(states, rules))
        except Exception as error:
            msg = f"reward {self.name}: its function raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise SettingsError(msg) from error
        if given.shape != (len(states),) or given.dtype.kind not in "iuf":
            msg = (
                f"reward {self.name}: its function must return {len(states)} numbers, not {given.dtype} of shape {given.shape}"
            )
            raise SettingsError(msg)
        rewards = given.astype(np.float64)
        most = math.inf if self.bound is None else self.bound
        if not (np.isfinite(rewards) & (np.abs(rewards) <= most)).all():
            k = int(np.argmin(np.isfinite(rewards) & (np.abs(rewards) <= most)))
            allowed = "a finite number" if self.bound is None else f"from {-most:g} to {most:g}"
            msg = f"reward {self.name}: its function returned {rewards[k]:g} for state {k}, not {allowed}"
            raise SettingsError(msg)
        return rewards

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
        """The highest reward of one game (for `match` and `mwc`: of the match); the lowest is its negative.

        Raises:
            SettingsError: under these settings the reward has no meaning, see `check`.
        """
        self.check(settings)
        if self.kind == CUSTOM:
            return math.inf if self.bound is None else self.bound
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


def reward(name: str | Reward) -> Reward:
    """The built-in reward called `name`, or the reward itself.

    Raises:
        SettingsError: no built-in reward has that name, or another reward was given the name of one.
    """
    if isinstance(name, Reward):
        if (name.name in REWARDS or name.kind != CUSTOM) and REWARDS.get(name.name) != name:
            msg = f"reward {name.name} is not the built-in one: a reward of your own has a name of its own, and a function"
            raise SettingsError(msg)
        return name
    if not isinstance(name, str) or name not in REWARDS:
        msg = f"no reward is called {quoted(name)}: choose from {', '.join(REWARDS)}, or give a bg_env.Reward"
        raise SettingsError(msg)
    return REWARDS[name]


def _loaded(name: str, function: Any, bound: float | None) -> Reward:
    return Reward(name, function=found(function), bound=bound)


@kernel
def match_chance(rules: Rules, own: int, other: int, crawford: int) -> float:
    """The table's match winning chance of a player with `own` points against `other`; `crawford`: in the Crawford game."""
    length = np.int64(rules[0]["match_length"])
    a = min(max(length - own, 0), LONGEST)
    b = min(max(length - other, 0), LONGEST)
    after = 1 if rules[0]["cube"] and not crawford else 0  # makes a difference only where one needs 1
    chance: float = MATCH_EQUITY[after, a, b]
    return chance


@kernel
def _grown(states: States, i: int, rules: Rules) -> float:
    """The gain in match winning chance of the winner of the game that state `i` ended with."""
    winner = states[i]["winner"]
    own = np.int64(states[i]["score"][winner])
    other = np.int64(states[i]["score"][1 - winner])
    before = match_chance(rules, own - states[i]["won"], other, states[i]["was_crawford"])
    ending = states[i]["ending"]
    if ending == END_FINISHED or ending == END_ILLEGAL:
        return 1.0 - before
    return match_chance(rules, own, other, states[i]["crawford"]) - before


@kernel
def reward_of(states: States, i: int, rules: Rules, kind: int) -> float:
    """The reward of player_0 (float64) for the last action or roll of state `i`; `kind` is a `Reward.kind`, 0 for CUSTOM."""
    winner = states[i]["winner"]
    if winner < 0:
        return 0.0
    sign = 1.0 if winner == 0 else -1.0
    won: int = states[i]["won"]
    if kind == POINTS:
        return sign * won
    if kind == WIN:
        return sign
    if kind == NORMALIZED:
        cap = np.int64(rules[0]["cube_cap"]) if rules[0]["cube"] else np.int64(0)
        scaled: float = sign * won / (HIGHEST_LEVEL << cap)
        return scaled
    if kind == MWC:
        return sign * _grown(states, i, rules)
    ending = states[i]["ending"]
    if kind == MATCH and (ending == END_FINISHED or ending == END_ILLEGAL):
        return sign
    return 0.0


@kernel
def rewards_of(states: States, rules: Rules, kind: int) -> npt.NDArray[np.float64]:
    """`reward_of` for every state: float64 (n,)."""
    rewards = np.empty(len(states), np.float64)
    for i in range(len(states)):
        rewards[i] = reward_of(states, i, rules, kind)
    return rewards
