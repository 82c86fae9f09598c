"""Python threads over slices of a batch: kernels release the GIL, so they run side by side on one array.

The cost is not in the work of the threads but in their meetings: to wake a thread takes tens of microseconds on many machines,
and so does a wait for the GIL. So a thread that waits first looks for its next call in a kernel, without the GIL, for as long
as waking it would take; and the kernel that the calling thread runs on its own range starts the other threads, when the GIL is
free.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import config
from numba.extending import intrinsic

from bg_env._jit import inlined, kernel

__all__ = ["Call", "Slices", "signal", "take"]

Counter = npt.NDArray[np.int64]
"""An array of one number, which threads write and read without the GIL."""
Call = Callable[[int, int, Counter, int], Any]
"""`call(lo, hi, counter, count)` does the games from `lo` to `hi`; its first kernel may begin with `signal(counter, count)`."""

SPINS: Final = 200_000
"""How often a thread looks before it goes to sleep: some 50 microseconds."""

if config.DISABLE_JIT:

    def _read(counter: Counter) -> int:
        return int(counter[0])

    def _write(counter: Counter, count: int) -> None:
        counter[0] = count

    _ADDING = threading.Lock()

    def _add(counters: npt.NDArray[np.int64], place: int, n: int) -> int:
        with _ADDING:
            before = int(counters[place])
            counters[place] = before + n
        return before

else:

    def _reading(_typing: Any, counter: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.load_atomic(array.data, "acquire", 8)

        return types.int64(counter), generate

    def _writing(_typing: Any, counter: Any, _count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            builder.store_atomic(args[1], array.data, "release", 8)
            return context.get_dummy_value()

        return types.none(counter, types.int64), generate

    def _adding(_typing: Any, counters: Any, _place: Any, _n: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            return builder.atomic_rmw("add", builder.gep(array.data, [args[1]]), args[2], "monotonic")

        return types.int64(counters, types.int64, types.int64), generate

    _read, _write, _add = intrinsic(_reading), intrinsic(_writing), intrinsic(_adding)


@inlined
def signal(counter: Counter, count: int) -> None:
    """Set `counter` (int64, an array of one) to `count`, for other threads to see."""
    _write(counter, np.int64(count))


@inlined
def take(counters: npt.NDArray[np.int64], place: int, n: int) -> int:
    """Add `n` to `counters[place]`, atomically, and return its value before."""
    before: int = _add(counters, np.int64(place), np.int64(n))
    return before


@kernel
def _look_for(counter: Counter, count: int, spins: int) -> bool:
    """Look at a counter that another thread moves on until it is `count`; whether it came to that."""
    for _ in range(spins):
        if _read(counter) >= count:
            return True
    return False


@kernel
def _end_and_look(ends: Counter, count: int, counter: Counter, spins: int) -> bool:
    """Signal that `count` calls are done, now that the GIL is free; then look for the next one."""
    signal(ends, count)
    for _ in range(spins):
        if _read(counter) > count:
            return True
    return False


class _Worker(threading.Thread):
    """A thread that does calls on its range, one after the other.

    Calls and their ends go through two queues, which put everything in order. Two counters, written and read without the GIL,
    only show when there is something in them, so that no thread need go to sleep in `get`: one of calls given (set by the
    calling thread's kernel, after the call was put) and one of calls done (set after the end was put).
    """

    def __init__(self, lo: int, hi: int, counter: Counter) -> None:
        super().__init__(name="bg_env", daemon=True)
        self._range, self._counter, self._ends = (lo, hi), counter, np.zeros(1, np.int64)
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._errors: SimpleQueue[BaseException | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        """Work until there is no call."""
        for count in itertools.count():
            _end_and_look(self._ends, count, self._counter, SPINS)
            call = self._calls.get()
            if call is None:
                return
            error: BaseException | None = None
            try:
                call(*self._range, self._counter, count + 1)
            except BaseException as raised:  # noqa: BLE001 - it is raised where the call was given
                error = raised
            del call
            self._errors.put(error)

    def give(self, call: Call | None) -> None:
        """Give it a call, or its end."""
        self._calls.put(call)

    def wait(self, count: int) -> BaseException | None:
        """Wait until call number `count` is done; what it raised."""
        _look_for(self._ends, count, SPINS)
        return self._errors.get()


def _end(workers: list[_Worker], counter: Counter, pid: int) -> None:
    if pid == os.getpid():
        for worker in workers:
            worker.give(None)
        counter += 1
    workers.clear()


class Slices:
    """Splits 0 to `size` into `threads` ranges and calls a function for each, on threads made when they are first needed.

    The threads belong to the process that made them (after a fork a child has none of its parent's, and makes its own), are
    left out of pickles, and end with the object.

    Args:
        size: number of games.
        threads: how many ranges, at least 1; not more than one a game.

    Attributes:
        ranges: (lo, hi) of each thread.
    """

    def __init__(self, size: int, threads: int) -> None:
        threads = min(threads, size)
        bounds = [size * k // threads for k in range(threads + 1)]
        self.ranges = list(itertools.pairwise(bounds))
        self._forget()

    def _forget(self) -> None:
        self._workers: list[_Worker] = []
        self._counter, self._count = np.zeros(1, np.int64), 0
        self._pid = -1
        self._finalizer: weakref.finalize[..., Slices] | None = None

    def run(self, call: Call, *, signals: bool = False) -> None:
        """Call it for every range and wait for all; the calling thread does the first.

        Args:
            call: see `Call`.
            signals: whether it starts the other threads by `signal`, which saves them a wait for the GIL.

        Raises:
            BaseException: what one of the calls raised.
        """
        if len(self.ranges) == 1:
            call(*self.ranges[0], self._counter, 0)
            return
        if self._pid != os.getpid():
            self._forget()
            self._workers = [_Worker(lo, hi, self._counter) for lo, hi in self.ranges[1:]]
            self._pid = os.getpid()
            self._finalizer = weakref.finalize(self, _end, self._workers, self._counter, self._pid)
        self._count += 1
        for worker in self._workers:
            worker.give(call)
        if not signals:
            self._counter[0] = self._count
        try:
            call(*self.ranges[0], self._counter, self._count)
        finally:
            self._counter[0] = self._count  # if it failed before it signalled
            errors = self._wait()
        for error in errors:
            if error is not None:
                raise error

    def _wait(self) -> list[BaseException | None]:
        try:
            return [worker.wait(self._count) for worker in self._workers]
        except BaseException:  # an interrupt: threads that are still at it cannot be given anything again
            self._pid = -1
            raise

    def close(self) -> None:
        """End the threads; the next `run` makes new ones."""
        if self._finalizer is not None:
            self._finalizer()
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        return {"ranges": self.ranges}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ranges = state["ranges"]
        self._forget()
