"""The options of every environment: one list, `EnvOptions`, and the constructor signatures made from it."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast, get_type_hints

import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from bg_env.checks import is_player
from bg_env.errors import SettingsError, quoted, unexpected
from bg_env.observations import Encoder, encoder
from bg_env.rewards import Reward
from bg_env.rewards import reward as reward_named
from bg_env.rules import Settings, SettingsKeywords, SettingsLike, VariantLike, read_settings
from bg_env.rules.settings import OLD_NAMES

__all__ = [
    "OPTIONS",
    "EnvKeywords",
    "EnvOptions",
    "JsonSpec",
    "read_luck",
    "read_options",
    "read_seat",
    "takes_options",
]

MASKS: Final = ("both", "observation", "info")
ILLEGAL: Final = ("terminate", "raise")

Taker = TypeVar("Taker", bound=Callable[..., Any])


def _one_of(name: str, value: Any, known: Sequence[Any]) -> Any:
    if not any(value is item or (isinstance(value, str) and value == item) for item in known):
        msg = f"{name} is one of {', '.join(map(repr, known))}, not {quoted(value)}"
        raise SettingsError(msg)
    return value


def read_seat(seat: Any, opponent: Any) -> int | None:
    """The learner's seat that an environment with this opponent is asked for.

    Raises:
        SettingsError: it is not a seat, or there is no opponent to sit on the other.
    """
    if seat is None:
        return None
    if not is_player(seat):
        msg = f"seat is 0, 1 or None (drawn anew for each episode), not {quoted(seat)}"
        raise SettingsError(msg)
    if opponent is None:
        msg = f"seat={seat} needs an opponent: with opponent=None one agent plays both seats"
        raise SettingsError(msg)
    return int(seat)


def read_luck(luck: Any) -> Any:
    """The evaluator of luck that was asked for, or None.

    Raises:
        SettingsError: it is neither None nor a name nor a player.
    """
    if luck is None or isinstance(luck, str) or any(hasattr(luck, name) for name in ("net", "choose", "choose_plays")):
        return luck
    msg = f"luck is a player with a value net, or its name, such as 'td', or None, not {quoted(luck)}"
    raise SettingsError(msg)


@dataclass(frozen=True)
class EnvOptions:
    """The options of an environment: `Settings`, and the options for observations, rewards and pictures.

    The constructors of all environments take the fields of `Settings` and these by name, see `takes_options`.

    Attributes:
        settings: a `bg_env.Settings` (or its printed text, or a mapping of its fields); fields given by name override
            its own. None: the fields given by name, and the defaults.
        observation: name of an encoder (`bg_env.ENCODERS`), or a `bg_env.Encoder` of your own.
        mask: where the int8 action mask is returned: in a Dict observation and in the info ("both"), only in the observation
            ("observation"), or only in the info ("info"; the observation is then a plain Box).
        reward: name of a reward (`bg_env.REWARDS`), or a `bg_env.Reward` of your own.
        illegal: the effect of an illegal action: "terminate" (the offender loses three times the cube) or "raise".
        render_mode: None, "ansi" (text), "rgb_array" (pixels) or, for one game, "human" (a window, drawn after each step); the
            last two need the extra `render`.
        luck: a player with a value net, or its name ("td", "fast"), by which the luck of the dice is measured and subtracted
            from the rewards, see `bg_env.envs.luck`; None for rewards as they are. With it the reward is "points" or
            "normalized" in money play, "match" or "mwc" in matches. Infos and the returns of `episode` stay without it.

    Raises:
        SettingsError: an option is unknown, out of range, or contradicts the settings.
    """

    settings: Settings
    observation: Encoder
    mask: str
    reward: Reward
    illegal: str
    render_mode: str | None
    luck: Any

    def __init__(
        self,
        settings: Settings,
        *,
        observation: str | Encoder = "tesauro",
        mask: str = "both",
        reward: str | Reward = "points",
        illegal: str = "terminate",
        render_mode: str | None = None,
        luck: Any = None,
    ) -> None:
        put = object.__setattr__
        put(self, "settings", settings)
        put(self, "observation", encoder(observation))
        put(self, "mask", _one_of("mask", mask, MASKS))
        put(self, "reward", reward_named(reward))
        put(self, "illegal", _one_of("illegal", illegal, ILLEGAL))
        put(self, "render_mode", render_mode)
        put(self, "luck", read_luck(luck))
        self.observation.check(settings)
        self.reward.check(settings)

    @property
    def encoder(self) -> Encoder:
        """The observation."""
        return self.observation

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
        board = spaces.Box(self.observation.low.copy(), self.observation.high.copy(), dtype=np.float32)
        if not self.in_observation:
            return board
        return spaces.Dict(observation=board, action_mask=spaces.Box(0, 1, (self.settings.actions,), np.int8))

    def action_space(self) -> spaces.Discrete:
        """A new space of one game's actions."""
        return spaces.Discrete(self.settings.actions)


class EnvKeywords(SettingsKeywords, total=False):
    """The options of every environment as keyword arguments; `Settings` and `EnvOptions` have their meaning and defaults."""

    settings: SettingsLike | None
    observation: str | Encoder
    mask: str
    reward: str | Reward
    illegal: str
    render_mode: str | None
    luck: Any


def read_options(variant: VariantLike | None, options: Mapping[str, Any], render_modes: Sequence[str] = ()) -> EnvOptions:
    """The options of an environment, checked.

    Args:
        variant: the variant; None: that of `options["settings"]`, or backgammon without them.
        options: those of `EnvKeywords`, any of them.
        render_modes: the environment's render modes, beside None.

    Raises:
        SettingsError: one of them is unknown, out of range, or contradicts another.
    """
    given = {"variant": variant, **options}
    shown = {name: given.pop(name) for name in _SHOWN if name in given}
    _one_of("render_mode", shown.get("render_mode"), (None, *render_modes))
    return EnvOptions(read_settings(**given), **shown)


class JsonSpec:
    """An environment whose `spec` can be written as JSON, also if its options were given as NumPy numbers."""

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The `EnvSpec` that Gymnasium made the environment of, with Python's numbers in place of NumPy's."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = copy.copy(spec)
        if self._spec is not None:
            self._spec.kwargs = _plain(self._spec.kwargs)


def _plain(value: Any) -> Any:
    """A keyword argument, or a dict, list or tuple of such, as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, AutoresetMode):
        return value.value
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return {name: _plain(one) for name, one in value.items()} if type(value) is dict else value


# The one list, out of the signatures and docstrings of `Settings` and `EnvOptions`


def documented(owner: Any) -> dict[str, str]:
    """The descriptions in the section Attributes of a docstring, by name, each on one line."""
    text = inspect.cleandoc(owner.__doc__ or "") + "\n\nEnd:"
    section = re.search(r"^Attributes:\n(.*?)(?=^\S)", text, re.DOTALL | re.MULTILINE)
    found = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z)", section[1] if section else "", re.DOTALL | re.MULTILINE)
    return {name: " ".join(said.split()) for name, said in found}


def _parameters() -> dict[str, inspect.Parameter]:
    """Every option by name, `variant` first: its default, and its type as `EnvKeywords` has it."""
    stakes, shown = (dict(inspect.signature(owner).parameters) for owner in (Settings, EnvOptions))
    settings = shown.pop("settings").replace(default=None)
    order = {"variant": stakes.pop("variant"), "settings": settings, **stakes, **shown}
    hints = get_type_hints(EnvKeywords)
    return {
        name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(name, one.annotation))
        for name, one in order.items()
    }


OPTIONS: Final[Mapping[str, inspect.Parameter]] = MappingProxyType(_parameters())
"""Every option of an environment, by name."""
_SHOWN: Final = tuple(
    name for name in EnvKeywords.__annotations__ if name not in SettingsKeywords.__annotations__ | {"settings": 0}
)


def takes_options(taker: Taker) -> Taker:
    """Decorates a class or function that takes `variant` and `**options: Unpack[EnvKeywords]`, and may take more by name.

    Its signature shows every option with its default, and so does the docstring of a class, in the place of the entry
    `**options`. An unknown name is an `UnknownOptionError`.
    """
    if not isinstance(taker, type):
        return cast("Taker", _checked(taker, taker.__name__))
    taker.__init__ = _checked(taker.__init__, taker.__name__)  # type: ignore[misc] # the class is its own here
    if taker.__doc__ is not None:  # python -OO has none
        said = documented(Settings) | documented(EnvOptions)
        entries = "".join(_entry(name, said[name]) for name in OPTIONS if name != "variant")
        taker.__doc__ = re.sub(r"^ *\*\*options: .*\n", lambda _: entries, taker.__doc__, flags=re.MULTILINE)
    return taker


def _entry(name: str, said: str) -> str:
    return textwrap.fill(f"{name}: {said}", 124, initial_indent=" " * 8, subsequent_indent=" " * 12) + "\n"


def _checked(function: Callable[..., Any], called: str) -> Callable[..., Any]:
    """The function with the signature that shows every option; a name that is not in it is an error."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    first = [one for one in own if one.kind is not one.KEYWORD_ONLY]
    rest = [one for name, one in OPTIONS.items() if name != "variant"]
    shown = [*first, *rest, *(one for one in own if one.kind is one.KEYWORD_ONLY)]
    known = [one.name for one in shown if one.name != "self"]

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        unknown = given.keys() - known - OLD_NAMES
        if unknown:
            raise unexpected(called, unknown, known)
        return function(*args, **given)

    checked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined] # inspect looks for it
    checked.__annotations__ = {one.name: one.annotation for one in shown if one.annotation is not one.empty}
    return checked
