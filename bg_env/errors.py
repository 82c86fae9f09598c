"""The errors of bg_env: every one is a `BgEnvError`, each says in one line what is wrong and what would be right.

An error loses nothing: the state, the environment or the file it speaks of is as it was before the call.
"""

from __future__ import annotations

__all__ = [
    "BgEnvError",
    "IllegalActionError",
    "MissingDependencyError",
    "NotationError",
    "OrderError",
    "PositionError",
    "SettingsError",
]


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
