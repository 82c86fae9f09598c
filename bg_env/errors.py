"""The errors of bg_env: every one is a `BgEnvError`, each says in one line what is wrong and what would be right.

An error loses nothing: the state, the environment or the file it speaks of is as it was before the call.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

__all__ = [
    "BgEnvError",
    "IllegalActionError",
    "MissingDependencyError",
    "NotationError",
    "OrderError",
    "PositionError",
    "SettingsError",
    "known_names",
    "quoted",
]

_LONGEST: Final = 80
"""So many characters of a value are quoted."""

P = ParamSpec("P")
R = TypeVar("R")


class BgEnvError(Exception):
    """Base class of all errors that bg_env raises on purpose."""


class IllegalActionError(BgEnvError, ValueError):
    """An action, a roll or a play that the rules do not allow now, or that is no action at all."""


class PositionError(BgEnvError, ValueError):
    """A placement of checkers, or a state set up by hand, that cannot stand."""


class SettingsError(BgEnvError, ValueError):
    """Settings, options or a variant that contradict themselves or each other."""


class NotationError(BgEnvError, ValueError):
    """Text that is not in the notation asked for, or a state that the notation cannot hold."""


class MissingDependencyError(BgEnvError, ImportError):
    """An optional library is needed and absent; the message has the line that installs it."""


class OrderError(BgEnvError, RuntimeError):
    """A call out of order: an environment that was not reset, or an agent that is done."""


def quoted(value: object) -> str:
    """A value as an error quotes it: its `repr` on one line, cut where it is long."""
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except Exception:  # noqa: BLE001 - anybody's repr may fail, and that of an int with thousands of digits does
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def known_names(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates an `__init__`: an argument of another name is a SettingsError that tells the known ones, no TypeError.

    Args:
        what: what an argument is called in the message: "setting".
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = tuple(inspect.signature(function).parameters)[1:]

        @functools.wraps(function)
        def checked(*args: P.args, **given: P.kwargs) -> R:
            unknown = sorted(given.keys() - known)
            if unknown:
                msg = f"no {what} is called {', '.join(map(quoted, unknown))}: choose from {', '.join(known)}"
                raise SettingsError(msg)
            return function(*args, **given)

        return checked

    return decorate
