"""Errors of bg_env: every one is a `BgEnvError`, with a message of one line that says what is wrong and what would be right.

After an error the state, environment or file is as it was before the call.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, ParamSpec, TypeVar

__all__ = [
    "BgEnvError",
    "IllegalActionError",
    "MissingDependencyError",
    "NotationError",
    "OrderError",
    "PositionError",
    "SettingsError",
    "UnknownOptionError",
    "UntrustedCodeWarning",
    "known_names",
    "needs",
    "printable",
    "quoted",
    "unexpected",
]

_LONGEST: Final = 80
"""Characters of a value that are quoted at most."""

P = ParamSpec("P")
R = TypeVar("R")


class BgEnvError(Exception):
    """Base class of all errors that bg_env raises."""


class IllegalActionError(BgEnvError, ValueError):
    """An action, a roll or a play that the rules do not allow now, or a value that is not an action."""


class PositionError(BgEnvError, ValueError):
    """An impossible placement of checkers, or an impossible state set up by hand."""


class SettingsError(BgEnvError, ValueError):
    """Settings, options or a variant that contradict themselves or each other."""


class UnknownOptionError(SettingsError, TypeError):
    """A keyword argument of an unknown name; the message has Python's usual words and suggests similar names."""


class NotationError(BgEnvError, ValueError):
    """Text that is not in the expected notation, or a state that the notation cannot hold."""


class MissingDependencyError(BgEnvError, ImportError):
    """An optional library that is needed but not installed; the message has the line that installs it."""


class OrderError(BgEnvError, RuntimeError):
    """A call out of order: an environment that was not reset, or an agent that is done."""


class UntrustedCodeWarning(UserWarning):
    """A model file is about to be loaded that can only be loaded by running code stored in it."""


def printable(text: str) -> str:
    """Text for a line of a terminal: characters that are not printable are written as Python escapes them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def quoted(value: object) -> str:
    """A value as an error quotes it: its `repr` on one line, cut where it is long."""
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except Exception:  # noqa: BLE001 - anybody's repr may fail, and that of an int with thousands of digits does
        text = "a number of thousands of digits" if isinstance(value, int) else f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def needs(what: str, extra: str) -> MissingDependencyError:
    """The error for `what` needs ("training needs PyTorch") where `extra` is not installed, with the lines that install it."""
    return MissingDependencyError(f'{what}: pip install "bg_env[{extra}]", or in a clone pip install -e ".[{extra}]"')


def unexpected(called: str, unknown: Iterable[str], known: Sequence[str]) -> UnknownOptionError:
    """The error for keyword arguments of unknown names.

    Args:
        called: the name of what was called, "Settings".
        unknown: the unknown names, at least one.
        known: all names that it takes.
    """
    from difflib import get_close_matches  # only where it is needed: importing it costs a few milliseconds

    names = sorted(unknown)
    close = list(dict.fromkeys(match for name in names for match in get_close_matches(name, known)))
    words = " and ".join(f"an unexpected keyword argument {quoted(name)}" for name in names)
    meant = f"did you mean {' or '.join(close)}? It takes" if close else "it takes"
    return UnknownOptionError(f"{called}() got {words}: {meant} {', '.join(known)}")


def known_names(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate an `__init__` so that an unknown argument raises an `UnknownOptionError`, which lists the known ones."""
    known = tuple(inspect.signature(function).parameters)[1:]
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        unknown = given.keys() - known
        if unknown:
            raise unexpected(called, unknown, known)
        return function(*args, **given)

    return checked
