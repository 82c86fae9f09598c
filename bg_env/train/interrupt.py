"""Ctrl-C as a request to stop at the next good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

__all__ = ["FirstCtrlC"]


class FirstCtrlC(AbstractContextManager["FirstCtrlC"]):
    """A context in which the first Ctrl-C only sets `asked`; the second raises KeyboardInterrupt as usual.

    Args:
        say: called with a message for the user at the first Ctrl-C.

    Attributes:
        asked: whether there was a Ctrl-C.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.asked = False
        self._say = say
        self._before: Any = None

    def __enter__(self) -> FirstCtrlC:  # noqa: PYI034 - Self needs Python 3.11
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, *_: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
        self._say("Stopping after this rollout; Ctrl-C again stops at once.")

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
