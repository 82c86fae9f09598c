"""The opponent pool of self-play on many machines by Ray."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.arena.on_ray import packed, unpacked
from bg_env.errors import OrderError
from bg_env.rules import States
from bg_env.train.ppo.opponent_pool import OpponentPool

import ray  # isort: skip - after bg_env.arena.on_ray, whose error names the package to install

__all__ = ["OpponentPoolOnRay"]


class OpponentPoolOnRay(OpponentPool):
    """An `OpponentPool` whose weights are objects of Ray: sent to env runners, it takes references along instead of weights.

    Each machine fetches the weights of the two snapshots that play once, when a game first waits for them. A copy that was sent
    plays as drawn at that time: add and draw in this process, and send the pool again. The objects live as long as this
    process; after it was lost, `restore` makes them anew from what `dump` wrote. For the arguments see `OpponentPool`.
    """

    def __init__(self, net: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(net, *arguments, **options)
        self._shape = ray.put(packed(net))

    def _put(self, vector: npt.NDArray[np.float32]) -> Any:
        return ray.put(vector)

    def _got(self, kept: Any) -> npt.NDArray[np.float32]:
        return np.array(ray.get(kept))  # arrays of Ray are read-only

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self) | {"_nets": None, "_rules": None}
        if self._older < 0:
            msg = "draw() chooses the snapshots that play: call it before the pool is sent"
            raise OrderError(msg)
        playing = [self._older, len(self) - 1]
        state["steps"] = [self.steps[place] for place in playing]
        state["_weights"] = [self._weights[place] for place in playing]
        return state

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Choose actions; see `OpponentPool.choose`."""
        if self._nets is None:  # just received
            net = unpacked(ray.get(self._shape))
            self._nets, self._rules = (copy.deepcopy(net), copy.deepcopy(net)), self.settings.record()
            self.draw(0)
        return super().choose(states, words)
