"""Settings of a training run as dataclass fields that carry their range and their description.

The description stands in one place: `described` puts it into the class's docstring, and the command line shows it as the help
of the option.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from bg_env._renamed import renamed_argument, warn_renamed
from bg_env.checks import is_flag, is_number, is_whole
from bg_env.errors import SettingsError, quoted

__all__ = ["Setting", "check_fields", "described", "renamed_fields", "setting", "settings_of_class"]

_KEY: Final = "setting"
_LARGEST_SEED: Final = 2**32 - 1
C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Setting:
    """The type, range and description of one setting.

    Attributes:
        help: what it is, as a phrase that ends with a full stop.
        kind: int, float, bool, str, or tuple for two whole numbers.
        low: the lowest number; of a float with `above` it is excluded.
        high: the highest number.
        above: whether `low` itself is excluded.
        even: whether only even numbers are allowed.
        many: whether the value is a tuple of any number of such values.
        optional: whether it may be None.
        choices: the words of which it is one; () for any.
        option: the name of the command-line option, without dashes, where it differs from the field's name.
        metavar: the word that stands for the value in help; "" for its type.
        shown_default: the default as help shows it; "" for none.
    """

    help: str
    kind: type
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    even: bool = False
    many: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    option: str = ""
    metavar: str = ""
    shown_default: str = ""

    @property
    def allowed(self) -> str:
        """The values that are allowed, in words."""
        if self.choices:
            return " or ".join(map(repr, self.choices))
        if self.kind is bool:
            return "True or False"
        if self.kind is str:
            return "text"
        word = {float: "a number", int: "an even number" if self.even else "a whole number", tuple: "two whole numbers"}[
            self.kind
        ]
        if self.above:
            return f"{word} above {self.low:g}"
        high = "2**32 - 1" if self.high == _LARGEST_SEED else f"{self.high:g}"
        return f"{word} of at least {self.low:g}" if self.high == math.inf else f"{word} from {self.low:g} to {high}"

    def checked(self, name: str, value: Any, shown: str = "") -> Any:
        """The value as a plain Python value.

        Args:
            name: what the error calls the setting.
            value: to check.
            shown: the value as the error quotes it; its repr if empty.

        Raises:
            SettingsError: it has the wrong type or is out of range.
        """
        if self.optional and value is None:
            return None
        if not self._allows(value):
            msg = f"{name} is {self.allowed}, not {shown or quoted(value)}"
            raise SettingsError(msg)
        if self.many:
            return tuple(value)
        return (int(value[0]), int(value[1])) if self.kind is tuple else self.kind(value)

    def _allows(self, value: Any) -> bool:
        if self.many:
            return True  # names of players, which depend on what is played
        if self.kind is tuple:
            return (
                isinstance(value, (tuple, list))
                and len(value) == 2
                and all(is_whole(one, self.low, self.high) for one in value)
            )
        if self.kind is bool:
            return is_flag(value)
        if self.kind is str:
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if self.kind is int:
            return is_whole(value, self.low, self.high) and not (self.even and value % 2)
        return self._is_number(value)

    def _is_number(self, value: Any) -> bool:
        if not is_number(value) or not math.isfinite(value):
            return False
        return bool(self.low < value <= self.high if self.above else self.low <= value <= self.high)


def setting(default: Any, help: str, *, kind: type | None = None, **more: Any) -> Any:  # noqa: A002 - as click names it
    """A dataclass field with a `Setting`; its kind is the default's type unless it is given."""
    shown = "" if default in (None, "", ()) else " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    return field(default=default, metadata={_KEY: Setting(help, kind or type(default), **{"shown_default": shown} | more)})


def settings_of_class(cls: type) -> Mapping[str, Setting]:
    """The settings of a dataclass by the names of their fields, in order."""
    return {item.name: item.metadata[_KEY] for item in fields(cls) if _KEY in item.metadata}


def check_fields(value: Any) -> None:
    """Check every field of a frozen dataclass value that has a `Setting`, and make its value a plain one.

    Raises:
        SettingsError: a field has the wrong type or is out of range.
    """
    for name, one in settings_of_class(type(value)).items():
        object.__setattr__(value, name, one.checked(name, getattr(value, name)))


def described(cls: C) -> C:
    """Decorate a dataclass: its docstring gets a section with the description of every field."""
    if cls.__doc__ is not None:  # python -OO
        lines = [f"    {name}: {one.help[0].lower()}{one.help[1:]}" for name, one in settings_of_class(cls).items()]
        cls.__doc__ = "\n".join([inspect.cleandoc(cls.__doc__), "", "Attributes:", *lines])
    return cls


def renamed_fields(**new_names: str) -> Callable[[C], C]:
    """Decorate a dataclass: old names of fields still work, as arguments and as attributes, with a DeprecationWarning.

    Args:
        **new_names: the new name of each old one.
    """

    def old_attribute(cls: type, old: str, new: str) -> property:
        def get(value: Any) -> Any:
            warn_renamed(f"{cls.__name__}.{old} is now {new}")
            return getattr(value, new)

        return property(get)

    def decorate(cls: C) -> C:
        for old, new in new_names.items():
            cls.__init__ = renamed_argument(old, new)(vars(cls)["__init__"])  # type: ignore[misc]
            setattr(cls, old, old_attribute(cls, old, new))
        return cls

    return decorate
