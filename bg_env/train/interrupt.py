"""Ctrl-C and SIGTERM as a request to stop: one way for all commands."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

__all__ = ["FirstCtrlC", "sigterm_interrupts"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class FirstCtrlC(AbstractContextManager["FirstCtrlC"]):
    """A context in which the first Ctrl-C or SIGTERM only sets `asked`; the second does what it did before.

    A signal that the process ignores, as SIGINT is by jobs in the background of a script, stays ignored. Outside the main
    thread, which alone can handle signals, the context does nothing.

    Args:
        say: called with a message for the user at the first signal.

    Attributes:
        asked: whether there was a signal.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.asked = False
        self._say = say
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> FirstCtrlC:  # noqa: PYI034 - Self needs Python 3.11
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def _ask(self, *_: object) -> None:
        self.asked = True
        self._restore()
        self._say("Stopping after this rollout; Ctrl-C again stops at once.")

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __exit__(self, *_: object) -> None:
        self._restore()


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """A context in which SIGTERM raises KeyboardInterrupt in the main thread, as Ctrl-C does; a SIGTERM ignored stays so."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
