"""Variants of the game as frozen values: a start and a few switches (R10), equal, hashable, printable and parsable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias

import numpy as np

from bg_env._renamed import warn_renamed
from bg_env.checks import is_whole
from bg_env.errors import SettingsError, known_names, quoted

__all__ = ["BAR", "OFF", "VARIANTS", "Variant", "VariantLike", "variant_of"]

OFF: Final = 0
"""Index of the checkers borne off in `points[side]`."""
BAR: Final = 25
"""Index of the checkers on the bar in `points[side]`."""
MAX_CHECKERS: Final = 15
MAX_NAME: Final = 80

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def _layout(start: Mapping[int, int] | Sequence[int]) -> tuple[int, ...]:
    """The start as 26 counts, index 25 the bar; `start` may name only the points that are held."""
    if isinstance(start, Mapping):
        counts = [0] * 26
        for point, n in start.items():
            if not is_whole(point, 1, BAR):
                msg = f"start names point {quoted(point)}: points are 1-24 and 25 for the bar"
                raise SettingsError(msg)
            counts[point] = n
    elif not isinstance(start, (Sequence, np.ndarray)) or isinstance(start, (str, bytes)) or np.ndim(start) == 0:
        msg = f"start is 26 counts or a mapping from point to count, not {quoted(start)}"
        raise SettingsError(msg)
    else:
        counts = list(start)
        if len(counts) != 26:
            msg = f"start has {len(counts)} entries: give 26 (index 0 off, 1-24 the points, 25 the bar) or a mapping"
            raise SettingsError(msg)
    for point, n in enumerate(counts):
        if not is_whole(n, 0):
            msg = f"start has {quoted(n)} checkers on point {point}: counts are integers from 0 to {MAX_CHECKERS}"
            raise SettingsError(msg)
    return tuple(int(n) for n in counts)


@dataclass(frozen=True)
class Variant:
    """A variant of the game as a value (R10.7).

    Attributes:
        name: letters, digits, `_`, `.` or `-`, beginning with a letter; at most 80.
        start: the checkers of each side on its own numbering, as 26 counts (index 0 off: must be 0, 1-24 the points, 25
            the bar) or as a mapping from point to count; stored as the tuple.
        fresh_first_roll: the winner of the opening throw rolls two fresh dice (R2.3).
        acey_deucey: a roll of 1-2 earns a double of the player's choice and another roll (R10.6).
        cube: whether the doubling cube is in play unless the settings say otherwise.
        checkers: checkers a side, 1 to 15; counted from `start` where not given, and refused where it disagrees.

    Raises:
        SettingsError: the start is no start (R10.7, R3.5), or a field has the wrong type.
    """

    name: str
    start: tuple[int, ...] = field()
    fresh_first_roll: bool = False
    acey_deucey: bool = False
    cube: bool = True
    checkers: int = 0

    @known_names
    def __init__(
        self,
        name: str,
        start: Mapping[int, int] | Sequence[int],
        *,
        fresh_first_roll: bool = False,
        acey_deucey: bool = False,
        cube: bool = True,
        checkers: int | None = None,
    ) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            msg = f"a variant's name is letters, digits, '_', '.' or '-', beginning with a letter, not {quoted(name)}"
            raise SettingsError(msg)
        layout = _layout(start)
        total = sum(layout)
        if checkers is not None and not is_whole(checkers):
            msg = f"variant {name}: checkers is a whole number from 1 to {MAX_CHECKERS}, not {quoted(checkers)}"
            raise SettingsError(msg)
        if checkers is not None and checkers != total:
            msg = f"variant {name}: the start places {quoted(total)} checkers, not the {quoted(checkers)} asked for"
            raise SettingsError(msg)
        if layout[OFF]:
            msg = f"variant {name}: no checker can start borne off (index 0 of start must be 0)"
            raise SettingsError(msg)
        if not 1 <= total <= MAX_CHECKERS:
            msg = f"variant {name}: the start places {quoted(total)} checkers a side: 1 to {MAX_CHECKERS} are possible"
            raise SettingsError(msg)
        for point in range(1, 13):
            if layout[point] and layout[25 - point]:
                msg = f"variant {name}: point {point} would hold checkers of both players (own {point} and {25 - point})"
                raise SettingsError(msg)
        if layout[BAR] and all(n >= 2 for n in layout[1:7]):
            msg = f"variant {name}: both players would start on the bar before closed boards (R3.5)"
            raise SettingsError(msg)
        for key, flag in (("fresh_first_roll", fresh_first_roll), ("acey_deucey", acey_deucey), ("cube", cube)):
            if not isinstance(flag, bool):
                msg = f"variant {name}: {key} is True or False, not {quoted(flag)}"
                raise SettingsError(msg)
            object.__setattr__(self, key, flag)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "start", layout)
        object.__setattr__(self, "checkers", total)

    def __str__(self) -> str:
        places = [f"{point}:{self.start[point]}" for point in range(BAR, 0, -1) if self.start[point]]
        flags = [key for key in ("fresh_first_roll", "acey_deucey") if getattr(self, key)]
        return f"{self.name}({' '.join(places + flags + ([] if self.cube else ['cubeless']))})"

    @classmethod
    def parse(cls, text: str) -> Variant:
        """The variant printed as `text`, or the named one.

        Raises:
            SettingsError: `text` is neither.
        """
        if not isinstance(text, str):
            msg = f"a variant is written as text, not as {quoted(text)}"
            raise SettingsError(msg)
        if text in VARIANTS:
            return VARIANTS[text]
        match = re.fullmatch(rf"({_NAME.pattern})\(([^()]*)\)", text)
        if match and len(match[1]) > MAX_NAME:
            match = None
        if not match:
            msg = f"no variant is called {quoted(text)}: choose from {', '.join(VARIANTS)}, or write 'name(24:2 13:5 ...)'"
            raise SettingsError(msg)
        start: dict[int, int] = {}
        flags: dict[str, Any] = {}
        for word in match[2].split():
            place = re.fullmatch(r"(\d{1,2}):(\d{1,2})", word)
            if place and int(place[1]) not in start:
                start[int(place[1])] = int(place[2])
            elif word in ("fresh_first_roll", "acey_deucey"):
                flags[word] = True
            elif word == "cubeless":
                flags["cube"] = False
            else:
                msg = f"variant {match[1]}: {quoted(word)} is neither point:count nor fresh_first_roll, acey_deucey, cubeless"
                raise SettingsError(msg)
        return cls(match[1], start, **flags)


_TABLE = (
    Variant("backgammon", {24: 2, 13: 5, 8: 3, 6: 5}),  # R10.1
    Variant("nackgammon", {24: 4, 23: 1, 13: 2, 8: 3, 6: 5}),  # R10.2
    Variant("nackgammon_ballard", {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}),  # R10.3
    Variant("acey_deucey", {BAR: 15}, fresh_first_roll=True, acey_deucey=True, cube=False),  # R10.6
    Variant("hypergammon", {24: 1, 23: 1, 22: 1}),  # R10.4
    Variant("longgammon", {24: 15}),  # R10.5
)
VARIANTS: Final[Mapping[str, Variant]] = {variant.name: variant for variant in _TABLE}
"""The named variants (R10), by name."""


VariantLike: TypeAlias = Variant | str | Mapping[str, Any]
"""A variant, its name or printed text, or a mapping of its fields, which it becomes in JSON."""


def variant_of(variant: VariantLike) -> Variant:
    """The variant itself, or the one that is named, printed or mapped so.

    Raises:
        SettingsError: `variant` is neither a Variant nor text or a mapping that describes one.
    """
    if isinstance(variant, Variant):
        return variant
    if isinstance(variant, Mapping) and {"name", "start"} <= variant.keys() <= {item.name for item in fields(Variant)}:
        return Variant(**variant)
    if not isinstance(variant, str):
        msg = f"a variant is a name or a bg_env.Variant, not {quoted(variant)}"
        raise SettingsError(msg)
    return Variant.parse(variant)


def __getattr__(name: str) -> Any:
    """A name that stood here in version 0.1."""
    if name in ("LIFTED_CAP", "RULES", "Settings"):
        from bg_env.rules import settings

        warn_renamed(f"bg_env.rules.variant.{name} is now bg_env.rules.{name}")
        return getattr(settings, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
