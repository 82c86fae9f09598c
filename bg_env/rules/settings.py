"""Settings as a frozen value: a variant with the stakes that it is played for (R8, R9, R11), and the RULES record made of them.

Settings are equal, hashable, printable and parsable: `Settings.parse(str(settings)) == settings`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from bg_env._renamed import warn_renamed
from bg_env.checks import checked_flag, checked_whole, is_flag
from bg_env.errors import SettingsError, known_names, quoted, unexpected
from bg_env.rules.actions import ACTIONS, BEAVER, DROP, STEPS
from bg_env.rules.variant import VARIANTS, Variant, VariantLike, variant_of

__all__ = ["LIFTED_CAP", "RULES", "Rules", "Settings", "SettingsKeywords", "SettingsLike", "read_settings"]

LIFTED_CAP: Final = 32768
"""The cube's highest value with `cube_cap=None` (R8.4)."""
MAX_MATCH_LENGTH: Final = 32767
MAX_TURNS: Final = 2**31 - 1
MAX_CHAIN: Final = 15

_VALUES: Final[Mapping[str, bool | None]] = {"True": True, "False": False, "None": None}
"""Values of settings in text, beside numbers."""
OLD_NAMES: Final = frozenset({"dead_cube"})
"""Names of settings in version 0.1, which `current_names` translates."""

RULES: Final = np.dtype(
    [
        ("start", np.int8, (26,)),
        ("checkers", np.int8),
        ("fresh_first_roll", np.int8),
        ("acey_deucey", np.int8),
        ("cube", np.int8),
        ("crawford", np.int8),
        ("allow_dead_cube", np.int8),
        ("cube_cap", np.int8),
        ("jacoby", np.int8),
        ("beavers", np.int8),
        ("auto_doubles", np.int8),
        ("actions", np.int16),
        ("match_length", np.int32),
        ("max_turns", np.int32),
    ],
    align=True,
)
"""The settings as kernels take them, beside the states: the numbers of a `Settings` (cube_cap as log2, max_turns 0 for no
limit)."""
Rules: TypeAlias = npt.NDArray[np.void]
"""An array of one RULES record, `settings.record()`."""


def current_names(given: Mapping[str, Any], *, warn: bool = True) -> dict[str, Any]:
    """Settings by name, those with a name of version 0.1 under their present one.

    Args:
        given: the settings; nothing but old names is checked.
        warn: whether an old name is a DeprecationWarning; what was saved may have it.

    Raises:
        SettingsError: a setting is given under both names, or the old one is neither True nor False.
    """
    named = dict(given)
    if "dead_cube" not in named:
        return named
    forbids = checked_flag("dead_cube", named.pop("dead_cube"))
    if "allow_dead_cube" in named:
        msg = "dead_cube is the old name of allow_dead_cube, with the opposite meaning: give allow_dead_cube alone"
        raise SettingsError(msg)
    if warn:
        warn_renamed(f"dead_cube={forbids} is now allow_dead_cube={not forbids}")
    return {**named, "allow_dead_cube": not forbids}


def _with_old_names(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def renamed(*args: Any, **given: Any) -> None:
        function(*args, **(current_names(given) if "dead_cube" in given else given))

    return renamed


class SettingsKeywords(TypedDict, total=False):
    """The settings beside the variant, as keyword arguments; `Settings` has their meaning and defaults."""

    cube: bool | None
    match_length: int
    crawford: bool
    allow_dead_cube: bool
    cube_cap: int | None
    jacoby: bool
    beavers: int
    auto_doubles: int
    max_turns: int | None


@dataclass(frozen=True)
class Settings:
    """A variant and the stakes it is played for: everything that stays the same during an episode.

    Attributes:
        variant: a name (`bg_env.VARIANTS`) or a `bg_env.Variant`.
        cube: whether the doubling cube is in play; None takes the variant's default.
        match_length: points to win the match, 0 for money play, at most 32,767 (R9.1).
        crawford: whether a match has a Crawford game (R9.2).
        allow_dead_cube: whether a cube that could win its owner nothing more in the match may be turned (R9.3).
        cube_cap: highest value of the cube, a power of two from 1 to 32,768; None for 32,768 (R8.4).
        jacoby: whether gammons count 1 while the cube is centred (R8.5); money play only.
        beavers: number of beavers and raccoons that may follow a double, 0 to 15 (R8.6); money play with a cube only.
        auto_doubles: number of opening ties that double the cube, 0 to 15 (R2.2); money play with a cube only.
        max_turns: number of turns after which an episode is truncated (R11.1); None for no limit.

    Raises:
        SettingsError: a value is out of range, or two contradict each other (R9.1, R2.2, R8.6).
    """

    variant: Variant
    cube: bool
    match_length: int
    crawford: bool
    allow_dead_cube: bool
    cube_cap: int | None
    jacoby: bool
    beavers: int
    auto_doubles: int
    max_turns: int | None

    @_with_old_names
    @known_names
    def __init__(
        self,
        variant: VariantLike = "backgammon",
        *,
        cube: bool | None = None,
        match_length: int = 0,
        crawford: bool = True,
        allow_dead_cube: bool = False,
        cube_cap: int | None = 64,
        jacoby: bool = False,
        beavers: int = 0,
        auto_doubles: int = 0,
        max_turns: int | None = None,
    ) -> None:
        chosen = variant_of(variant)
        put = object.__setattr__
        put(self, "variant", chosen)
        flags = {"cube": chosen.cube if cube is None else cube, "crawford": crawford, "jacoby": jacoby}
        for name, flag in {**flags, "allow_dead_cube": allow_dead_cube}.items():
            if not is_flag(flag):
                msg = f"{name} is True or False{' (or None)' if name == 'cube' else ''}, not {quoted(flag)}"
                raise SettingsError(msg)
            put(self, name, bool(flag))
        put(self, "match_length", checked_whole("match_length", match_length, 0, MAX_MATCH_LENGTH))
        put(self, "beavers", checked_whole("beavers", beavers, 0, MAX_CHAIN))
        put(self, "auto_doubles", checked_whole("auto_doubles", auto_doubles, 0, MAX_CHAIN))
        put(self, "max_turns", None if max_turns is None else checked_whole("max_turns", max_turns, 1, MAX_TURNS))
        cap = None if cube_cap is None else checked_whole("cube_cap", cube_cap, 1, LIFTED_CAP)
        if cap is not None and cap & (cap - 1):
            msg = f"cube_cap is a power of two from 1 to {LIFTED_CAP}, or None, not {quoted(cube_cap)}"
            raise SettingsError(msg)
        put(self, "cube_cap", None if cap == LIFTED_CAP else cap)
        for name in ("jacoby", "beavers", "auto_doubles"):
            if getattr(self, name) and self.match_length:
                msg = f"{name} belongs to money play and cannot stand with match_length={self.match_length} (R9.1)"
                raise SettingsError(msg)
            if name != "jacoby" and getattr(self, name) and not self.cube:
                msg = f"{name}={getattr(self, name)} needs the cube: give cube=True or leave {name} at 0"
                raise SettingsError(msg)

    @property
    def cap_log2(self) -> int:
        """The highest power of two that the cube may show."""
        return (LIFTED_CAP if self.cube_cap is None else self.cube_cap).bit_length() - 1

    @property
    def actions(self) -> int:
        """Size of the action space: the shortest prefix of the action numbers that these rules need."""
        if self.variant.acey_deucey:
            return ACTIONS
        if self.cube:
            return BEAVER + 1 if self.beavers else DROP + 1
        return STEPS

    @property
    def money(self) -> bool:
        """Whether one game is the whole episode."""
        return self.match_length == 0

    def record(self) -> Rules:
        """These settings as a new array of one RULES record, as kernels take them."""
        rules = np.zeros(1, RULES)
        rules["start"] = self.variant.start
        for name in ("checkers", "fresh_first_roll", "acey_deucey"):
            rules[name] = getattr(self.variant, name)
        for name in ("cube", "crawford", "allow_dead_cube", "jacoby", "beavers", "auto_doubles", "actions", "match_length"):
            rules[name] = getattr(self, name)
        rules["cube_cap"] = self.cap_log2
        rules["max_turns"] = self.max_turns or 0
        return rules

    def __str__(self) -> str:
        shown = self.variant.name if VARIANTS.get(self.variant.name) == self.variant else str(self.variant)
        default = Settings(self.variant)
        words = [
            f"{item.name}={getattr(self, item.name)}"
            for item in fields(self)
            if item.name != "variant" and getattr(self, item.name) != getattr(default, item.name)
        ]
        return ", ".join([shown, *words])

    @classmethod
    def parse(cls, text: str) -> Settings:
        """The settings printed as `text`: a variant, then `name=value` for what is not the default, with commas.

        Text printed by version 0.1 is read as well.

        Raises:
            SettingsError: `text` is not such a line, or its settings are refused.
        """
        if not isinstance(text, str):
            msg = f"settings are written as text, not as {quoted(text)}"
            raise SettingsError(msg)
        first, *rest = text.split(", ")
        known = {*SettingsKeywords.__annotations__, *OLD_NAMES}
        given: dict[str, Any] = {}
        for word in rest:
            name, _, value = word.partition("=")
            if name not in known or name in given or not re.fullmatch(r"True|False|None|-?\d{1,4000}", value):
                names = ", ".join(SettingsKeywords.__annotations__)
                msg = f"settings: {quoted(word)} is not one of {names} once with True, False, None or a number"
                raise SettingsError(msg)
            given[name] = _VALUES[value] if value in _VALUES else int(value)
        return cls(first, **current_names(given, warn=False))

    @property
    def dead_cube(self) -> bool:
        """The opposite of `allow_dead_cube`, under its name of version 0.1."""
        warn_renamed("Settings.dead_cube is now Settings.allow_dead_cube, with the opposite meaning")
        return not self.allow_dead_cube

    def but(self, **changes: Any) -> Settings:
        """A copy with some settings changed and checked again.

        Raises:
            SettingsError: a value is refused.
            UnknownOptionError: a setting has an unknown name.
        """
        if "settings" in changes:
            raise unexpected(type(self).but.__name__, ["settings"], tuple(settings_names()))
        return read_settings(self, **changes)


SettingsLike: TypeAlias = Settings | str | Mapping[str, Any]
"""A `Settings`, its printed text, or a mapping of its fields (of all of them in JSON, or of some)."""


def stated(settings: SettingsLike) -> dict[str, Any]:
    """The fields that `settings` states, by name: of a Settings and of text all, of a mapping those that it has.

    Raises:
        SettingsError: it is not one of these, or the text is not a printed `Settings`.
    """
    if isinstance(settings, str):
        settings = Settings.parse(settings)
    if isinstance(settings, Settings):
        return {item.name: getattr(settings, item.name) for item in fields(Settings)}
    if isinstance(settings, Mapping) and all(isinstance(name, str) for name in settings):
        return current_names(settings)
    msg = f"settings are a bg_env.Settings, its text or a mapping of its fields, not {quoted(settings)}"
    raise SettingsError(msg)


def read_settings(settings: SettingsLike | None = None, **changes: Any) -> Settings:
    """A `Settings` made from a value and from single fields given by name.

    Args:
        settings: the settings to start from; None for the defaults.
        **changes: fields of `Settings` that replace those of `settings`; a field that neither a mapping nor an argument gives
            has the default of the variant. `variant=None` changes nothing.

    Raises:
        SettingsError: a value is refused, or `settings` is not a Settings nor text or a mapping that describes one.
        UnknownOptionError: a field has an unknown name.
    """
    wanted = current_names(changes)
    if wanted.get("variant", "") is None:
        del wanted["variant"]
    if isinstance(settings, Settings) and not wanted:
        return settings
    return Settings(**({} if settings is None else stated(settings)) | wanted)


def settings_names() -> Iterable[str]:
    """The names of all settings, in the order in which they are declared."""
    return (item.name for item in fields(Settings))
