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
"""The number of looks before a thread goes to sleep: some 50 microseconds."""
_APART: Final = 8
"""Numbers of different threads lie so far apart that no two share a line of a cache."""

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


@kernel
def _wait_until_idle(busy: Counter) -> None:
    """Wait until no thread has a call in hand; `busy` has a number for each, `_APART` from the next.

    Nothing can interrupt this: Python's handlers of signals run when a kernel has returned.
    """
    for k in range(0, busy.shape[0], _APART):
        while _read(busy[k:]) != 0:
            pass


class _Board:
    """The place where the calling thread puts the call that is to be done, for the other threads to see."""

    def __init__(self, threads: int) -> None:
        self.job: tuple[int, Call] | None = None
        """The number of the call, from 1, and the call; None between calls."""
        self.counter: Counter = np.zeros(1, np.int64)
        """The number of the last call that has been signalled."""
        self.busy: Counter = np.zeros(_APART * threads, np.int64)
        """For each thread whether it has a call in hand, `_APART` numbers apart."""


def _raised_by(call: Call, lo: int, hi: int, counter: Counter, count: int) -> BaseException | None:
    """Make a call; what it raised, which is to be raised when the other threads are done."""
    try:
        call(lo, hi, counter, count)
    except BaseException as error:  # noqa: BLE001 - see above
        return error
    return None


class _Worker(threading.Thread):
    """A thread that does calls on its range, one after the other.

    A token wakes it, then it looks at the board for a call that it has not done yet. So a token too many does no harm, and a
    call that was taken off the board is not begun, because a worker is busy before it looks. Two counters, written and read
    without the GIL, only save threads a sleep: that of the board shows when there is a call (set by the kernel of the calling
    thread, after the tokens were given), and one of each worker which call it has done (set after the outcome was put).
    """

    def __init__(self, lo: int, hi: int, board: _Board, place: int) -> None:
        super().__init__(name="bg_env", daemon=True)
        self._range, self._board, self._ends = (lo, hi), board, np.zeros(1, np.int64)
        self._busy = board.busy[_APART * place :]
        self._tokens: SimpleQueue[bool] = SimpleQueue()
        self._outcomes: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()

    def run(self) -> None:
        """Work until the token is False."""
        done = 0
        while True:
            _end_and_look(self._ends, done, self._board.counter, SPINS)
            if not self._tokens.get():
                return
            self._busy[0] = 1
            job = self._board.job
            if job is not None and job[0] > done:
                done, call = job
                self._outcomes.put((done, _raised_by(call, *self._range, self._board.counter, done)))
                del call
            del job
            self._busy[0] = 0

    def wake(self, token: bool = True) -> None:
        """Let it look at the board, or end."""
        self._tokens.put(token)

    def wait(self, count: int) -> BaseException | None:
        """Wait until call number `count` is done; what it raised."""
        _look_for(self._ends, count, SPINS)
        while True:
            number, error = self._outcomes.get()
            if number == count:  # not of one that was interrupted
                return error


def _end(workers: list[_Worker], board: _Board, pid: int) -> None:
    if pid == os.getpid():
        for worker in workers:
            worker.wake(False)
        board.counter += 1
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
        self._board, self._count = _Board(len(self.ranges)), 0
        self._pid = -1
        self._finalizer: weakref.finalize[..., Slices] | None = None

    def _make_threads(self) -> None:
        self.close()  # those of another process, or some that were made before an interrupt
        self._finalizer = weakref.finalize(self, _end, self._workers, self._board, os.getpid())
        _wait_until_idle(self._board.busy)  # so that it is compiled
        for place, (lo, hi) in enumerate(self.ranges[1:]):
            worker = _Worker(lo, hi, self._board, place)
            self._workers.append(worker)
            worker.start()
        self._pid = os.getpid()

    def run(self, call: Call, *, signals: bool = False) -> None:
        """Call it for every range and wait for all; the calling thread does the first.

        No thread is at work when this returns or raises. After an interrupt some ranges are done and others not begun.

        Args:
            call: see `Call`.
            signals: whether it starts the other threads by `signal`, which saves them a wait for the GIL.

        Raises:
            BaseException: what one of the calls raised.
        """
        if len(self.ranges) == 1:
            call(*self.ranges[0], self._board.counter, 0)
            return
        if self._pid != os.getpid():
            self._make_threads()
        board, count = self._board, self._count + 1
        self._count = count
        try:
            board.job = count, call
            for worker in self._workers:
                worker.wake()
            if not signals:
                board.counter[0] = count
            errors = [_raised_by(call, *self.ranges[0], board.counter, count)]
            errors += [worker.wait(count) for worker in self._workers]
            board.job = None
        except BaseException:
            board.job = None
            _wait_until_idle(board.busy)  # one call, so that a second interrupt comes after it
            raise
        for error in errors:
            if error is not None:
                raise error

    def close(self) -> None:
        """End the threads; the next `run` makes new ones."""
        self._pid = -1
        if self._finalizer is not None:
            self._finalizer()
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        return {"ranges": self.ranges}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ranges = state["ranges"]
        self._forget()
