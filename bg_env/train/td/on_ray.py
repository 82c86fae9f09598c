"""The TD learner on many machines by Ray: its self-play as tasks.

    import ray
    from bg_env.train.td.on_ray import TDLearnerOnRay
    from bg_env.train.td.learner import TDSettings

    ray.init()  # this machine alone; ray.init(address="HOST:6379") for a cluster
    learner = TDLearnerOnRay(TDSettings(total=300_000))
    while learner.done < 1:
        learner.round()
    learner.net().save("net.npz")

Each round the games are shared out among tasks, and the net is fitted here while they are played. A task is sent where its
games stand and the net, and sends back where they then stand and the positions that they met, so what a lost worker had is
played again by another, and nothing changes: the curve is that of `TDLearner`, bit for bit, on processors of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from bg_env._renamed import old_names
from bg_env.arena.on_ray import cuts, outcome, packed, unpacked
from bg_env.train.td.learner import TDLearner, TDSettings

import ray  # isort: skip - behind the adapter, which says how to install it

__all__ = ["TDLearnerOnRay"]

__getattr__ = old_names(__name__, PastSelvesOnRay="bg_env.train.ppo.on_ray:OpponentPoolOnRay")

_SHARE: Final = 2
"""Tasks for each processor: each round is waited for, so few of them, and each worth its way."""
_STAY: Final = {"_weights", "_average", "_optimizers", "_record", "_buffer", "_pool", "_sent", "_net", "tasks", "retries"}
"""What of a learner its games do not need."""


class TDLearnerOnRay(TDLearner):
    """`TDLearner`, with the games of self-play played by tasks on Ray, each some of them; the same curve.

    Args:
        settings: see `TDLearner`; for many workers `batch` is some hundreds of games for each.
        threads: that measure here against pubeval.
        tasks: in how many tasks the games of a round are played; None: two for each processor that the cluster has then.
        retries: how often a task is given to another worker because the one that had it was lost; -1 without end.
    """

    def __init__(
        self, settings: TDSettings | None = None, *, threads: int = 1, tasks: int | None = None, retries: int = -1
    ) -> None:
        super().__init__(settings, threads=threads)
        self.tasks, self.retries = tasks, retries
        self._sent: list[tuple[int, int, Any]] | None = None
        self._net: tuple[Any, Any] = None, None

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1, tasks: int | None = None, retries: int = -1) -> TDLearnerOnRay:
        """The run that `save` has written, here or by `TDLearner`; it goes on as if it had not stopped.

        Raises:
            SettingsError: it is no such file.
        """
        learner = super().load(path, threads=threads)
        assert isinstance(learner, cls)  # noqa: S101 - for the types: the inherited method makes one of this class
        learner.tasks, learner.retries = tasks, retries
        return learner

    def _share_out(self, work: Callable[[int, int], None], n: int, meanwhile: Callable[[], None] | None = None) -> None:
        if meanwhile is None:  # measuring against pubeval
            super()._share_out(work, n)
            return
        sent: list[tuple[int, int, Any]] = []
        self._sent = sent
        try:
            for lo, hi in cuts(n, self.tasks, _SHARE):
                work(lo, hi)  # `_play`
        finally:
            self._sent = None
        meanwhile()
        for lo, hi, task in sent:
            states, episodes, record = outcome(task)
            self._states[lo:hi], self._episodes[lo:hi] = states, episodes
            for here, there in zip(self._next, record, strict=True):
                here[:, lo:hi] = there

    def _play(self, lo: int, hi: int, arrays: Any, look: bool) -> None:
        """Within a round, send the games from `lo` to `hi` off."""
        if self._sent is None:
            super()._play(lo, hi, arrays, look)
            return
        if self._net[0] is not arrays:
            self._net = arrays, ray.put(packed(arrays))
        part = TDLearner.__new__(TDLearner)
        vars(part).update({name: value for name, value in vars(self).items() if name not in _STAY})
        part._states, part._seeds, part._episodes = self._states[lo:hi], self._seeds[lo:hi], self._episodes[lo:hi]
        part._next = tuple(rows[[0, -1], lo:hi] for rows in self._next)  # the rows between are written anew
        play = _TASK.options(max_retries=self.retries, name="bg_env td")
        self._sent.append((lo, hi, play.remote(packed(part), self._net[1], look)))


def _played(content: bytes, net: bytes, look: bool) -> tuple[Any, Any, Any]:
    """The task: where the games then stand, their episodes, and the record."""
    part: TDLearner = unpacked(content)
    room = [np.repeat(rows[1:], part.settings.turns + 1, axis=0) for rows in part._next]
    for rows, ends in zip(room, part._next, strict=True):
        rows[0] = ends[0]
    part._next = tuple(room)
    part._play(0, len(part._states), unpacked(net), look)
    return part._states, part._episodes, part._next


_TASK: Final = ray.remote(_played)
