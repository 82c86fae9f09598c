"""Python threads over slices of a batch: kernels drop the GIL, so they run side by side on one array."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["Slices"]


class Slices:
    """Splits 0 to `size` into `threads` ranges and calls a function for each, on a pool made when it is first needed.

    The pool belongs to the process that made it: one that was made before a fork would hang the child, so a child makes
    its own; and it is left out of pickles.

    Args:
        size: number of games.
        threads: how many ranges, at least 1; not more than one a game.
    """

    def __init__(self, size: int, threads: int) -> None:
        threads = min(threads, size)
        bounds = [size * k // threads for k in range(threads + 1)]
        self.ranges = list(itertools.pairwise(bounds))
        self._pool: ThreadPoolExecutor | None = None
        self._pid = -1

    def run(self, call: Callable[[int, int], Any]) -> None:
        """Call `call(lo, hi)` for every range and wait for all; the calling thread does the first."""
        if len(self.ranges) == 1:
            call(*self.ranges[0])
            return
        if self._pool is None or self._pid != os.getpid():
            self._pool = ThreadPoolExecutor(len(self.ranges) - 1, thread_name_prefix="bg_env")
            self._pid = os.getpid()
        waiting = [self._pool.submit(call, lo, hi) for lo, hi in self.ranges[1:]]
        try:
            call(*self.ranges[0])
        finally:
            for future in waiting:
                future.result()

    def close(self) -> None:
        """End the threads; the next `run` makes new ones."""
        if self._pool is not None and self._pid == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_pid": -1}
