"""The TD learner on many machines by Ray: its self-play as tasks.

    import ray
    from bg_env.train.td.on_ray import TDLearnerOnRay
    from bg_env.train.td.learner import TDSettings

    ray.init()  # this machine only; ray.init(address="HOST:6379") for a cluster
    learner = TDLearnerOnRay(TDSettings(total=300_000))
    while learner.done < 1:
        learner.round()
    learner.net().save("net.npz")

In each round the games are divided among tasks, and the net is fitted in this process while they are played. A task is given
the states of its games and the net, and returns the states after its turns and the positions of those turns. So the task of a
lost worker is repeated by another without any difference: the learning curve is that of `TDLearner`, bit for bit, on
processors of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from bg_env._renamed import old_names
from bg_env.arena.on_ray import checked_retries, checked_tasks, cuts, outcome, packed, unpacked
from bg_env.train.td.learner import TDLearner, TDSettings

import ray  # isort: skip - after bg_env.arena.on_ray, whose error names the package to install

__all__ = ["TDLearnerOnRay"]

__getattr__ = old_names(__name__, PastSelvesOnRay="bg_env.train.ppo.on_ray:OpponentPoolOnRay")

_SHARE: Final = 2
"""Tasks for each processor; few, since every round waits for all of them."""
_STAY: Final = {"_weights", "_average", "_optimizers", "_record", "_buffer", "_pool", "_sent", "_net", "tasks", "retries"}
"""Attributes of a learner that are not sent, because self-play does not need them."""


class TDLearnerOnRay(TDLearner):
    """A `TDLearner` whose self-play runs in tasks of Ray, with the same learning curve.

    Args:
        settings: see `TDLearner`; with many workers, `batch` should be some hundreds of games for each.
        threads: of this process, for the games against pubeval.
        tasks: tasks in which the games of a round are played; None: two for each processor of the cluster.
        retries: times that a task is repeated because its worker was lost; -1 for no limit.

    Raises:
        SettingsError: `tasks` or `retries` is out of range.
    """

    def __init__(
        self, settings: TDSettings | None = None, *, threads: int = 1, tasks: int | None = None, retries: int = -1
    ) -> None:
        super().__init__(settings, threads=threads)
        self.tasks, self.retries = checked_tasks(tasks, _SHARE), checked_retries(retries)
        self._sent: list[tuple[int, int, Any]] | None = None
        self._net: tuple[Any, Any] = None, None

    @classmethod
    def load(cls, path: str | Path, *, threads: int = 1, tasks: int | None = None, retries: int = -1) -> TDLearnerOnRay:
        """Read a run that `save` of this class or of `TDLearner` wrote; it continues as if it had not stopped.

        Raises:
            SettingsError: the file is not a saved run, or it is damaged.
        """
        learner = super().load(path, threads=threads)
        assert isinstance(learner, cls)  # noqa: S101 - for the types: the inherited method makes one of this class
        learner.tasks, learner.retries = checked_tasks(tasks, _SHARE), checked_retries(retries)
        return learner

    def _share_out(self, work: Callable[[int, int], None], n: int, meanwhile: Callable[[], None] | None = None) -> None:
        if meanwhile is None:  # the games against pubeval
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
        """Within a round, send the games from `lo` to `hi` to a task."""
        if self._sent is None:
            super()._play(lo, hi, arrays, look)
            return
        if self._net[0] is not arrays:
            self._net = arrays, ray.put(packed(arrays))
        part = TDLearner.__new__(TDLearner)
        vars(part).update({name: value for name, value in vars(self).items() if name not in _STAY})
        part._states, part._seeds, part._episodes = self._states[lo:hi], self._seeds[lo:hi], self._episodes[lo:hi]
        part._next = tuple(rows[[0, -1], lo:hi] for rows in self._next)  # self-play overwrites the rows between
        play = _TASK.options(max_retries=self.retries, name="bg_env td")
        self._sent.append((lo, hi, play.remote(packed(part), self._net[1], look)))


def _played(content: bytes, net: bytes, look: bool) -> tuple[Any, Any, Any]:
    """The task: the states after its turns, the episodes, and the record of the turns."""
    part: TDLearner = unpacked(content)
    room = [np.repeat(rows[1:], part.settings.turns + 1, axis=0) for rows in part._next]
    for rows, ends in zip(room, part._next, strict=True):
        rows[0] = ends[0]
    part._next = tuple(room)
    part._play(0, len(part._states), unpacked(net), look)
    return part._states, part._episodes, part._next


_TASK: Final = ray.remote(_played)
