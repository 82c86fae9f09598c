"""A pool of opponents for self-play: snapshots of the learner's policy that play as one player.

Self-play against the newest snapshot alone can go in circles, and a learner whose opponent changes within a rollout learns
from a moving target. So every game is played against the newest snapshot or, less often, against an older one.
"""

from __future__ import annotations

import copy
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._renamed import old_names
from bg_env.errors import OrderError, SettingsError, needs
from bg_env.files import read_arrays
from bg_env.observations import Encoder, encoder
from bg_env.players.function import legal_masks
from bg_env.rules import Settings, States

try:
    import torch
    from torch import nn
    from torch.nn.utils import parameters_to_vector, vector_to_parameters
except ImportError as error:
    msg = "self-play with an opponent pool needs PyTorch"
    raise needs(msg, "train") from error

__all__ = ["EVERY", "NEWEST", "SIZE", "OpponentPool", "actor_of"]

EVERY: Final = 4
"""Rollouts between two snapshots."""
SIZE: Final = 32
"""Snapshots that are kept; the oldest goes first."""
NEWEST: Final = 0.75
"""Share of the games that the newest snapshot plays."""

__getattr__ = old_names(__name__, PastSelves="OpponentPool")


def actor_of(policy: Any) -> nn.Sequential:
    """A copy of the actor of an `MlpPolicy` (of SB3 or sb3-contrib): from flat observations to the logits of the actions."""
    layers = [*policy.mlp_extractor.policy_net, policy.action_net]
    return nn.Sequential(*(copy.deepcopy(layer) for layer in layers)).requires_grad_(requires_grad=False)


class OpponentPool:
    """A pool of snapshots of a policy, as one player.

    The seed, the number of the rollout and the key of the game's episode decide which snapshot plays: the newest, if the key
    as a share of 2**64 is below `newest`; else the one that is drawn for the rollout, uniformly from all older ones. So at
    most two nets are evaluated, each once for all games that wait. They sample their actions from their policy, among the
    legal ones, by the game's own random words: the same state and word give the same action.

    Args:
        net: the learner's net, from observations (n, features) to logits (n, actions); see `actor_of`. It is copied, and
            decides the shape of all nets that are added.
        settings: what is played.
        observation: the encoder of the net's observations, by name or an `Encoder`.
        seed: of the draws.
        size: snapshots kept at most.
        newest: share of the games that the newest snapshot plays, 0 to 1.

    Attributes:
        steps: when the snapshots were taken, the oldest first: the numbers that `add` was given.

    Raises:
        SettingsError: `size` or `newest` is out of range, or the encoder cannot show the settings.
    """

    name = "self"

    def __init__(
        self,
        net: nn.Module,
        settings: Settings,
        observation: str | Encoder = "tesauro",
        *,
        seed: int = 0,
        size: int = SIZE,
        newest: float = NEWEST,
    ) -> None:
        if size < 1 or not 0 <= newest <= 1:
            msg = f"a pool's size is at least 1 and newest is a share from 0 to 1, not {size} and {newest}"
            raise SettingsError(msg)
        self.settings, self.seed, self.size, self.newest = settings, seed, size, newest
        self.steps: list[int] = []
        self._weights: list[Any] = []
        self._nets = copy.deepcopy(net), copy.deepcopy(net)
        self._encoder = encoder(observation)
        self._encoder.check(settings)
        self._rules = settings.record()
        self._older = -1

    def __len__(self) -> int:
        return len(self.steps)

    def add(self, net: nn.Module, steps: int) -> None:
        """Add a snapshot of the weights of the learner's net after `steps` steps; the oldest goes if there are too many."""
        vector = parameters_to_vector(net.parameters()).detach().cpu().numpy()
        self._weights.append(self._put(np.array(vector, np.float32)))
        self.steps.append(int(steps))
        del self._weights[: -self.size], self.steps[: -self.size]

    def draw(self, rollout: int) -> int:
        """Choose the snapshots that play from now on, in rollout number `rollout`: the newest, and one of the older ones.

        Returns:
            The index in `steps` of the older one; that of the newest if there is no other.

        Raises:
            OrderError: the pool is empty.
        """
        if not self.steps:
            msg = "the pool is empty: add() a snapshot first"
            raise OrderError(msg)
        last = len(self) - 1
        self._older = int(np.random.default_rng((self.seed, rollout)).integers(last)) if last else 0
        for net, place in zip(self._nets, (last, self._older), strict=True):
            vector_to_parameters(torch.from_numpy(self._got(self._weights[place])), net.parameters())
        return self._older

    def _put(self, vector: npt.NDArray[np.float32]) -> Any:
        """The form in which a snapshot's weights are kept, here as they are."""
        return vector

    def _got(self, kept: Any) -> npt.NDArray[np.float32]:
        """The weights that `_put` was given."""
        vector: npt.NDArray[np.float32] = kept
        return vector

    def plays_older(self, states: States) -> npt.NDArray[np.bool_]:
        """Whether the older snapshot plays in each game, bool (n,)."""
        shares = (states["key"] >> np.uint64(11)) * 2.0**-53
        older: npt.NDArray[np.bool_] = shares >= self.newest
        return older

    def choose(self, states: States, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Choose actions, int64 (n,), for states (n,) by 64-bit random words (n,); see `bg_env.players.Player.choose`.

        Raises:
            OrderError: `draw` has not been called.
        """
        if self._older < 0:
            msg = "draw() chooses the snapshots that play: call it first"
            raise OrderError(msg)
        mask = legal_masks(states, self._rules, self.settings.actions)
        view = self._encoder.encode(states, self._rules, seats=states["decider"].copy()).reshape(len(states), -1)
        older = self.plays_older(states)
        actions = np.empty(len(states), np.int64)
        for net, part in zip(self._nets, (~older, older), strict=True):
            rows = np.flatnonzero(part)
            if len(rows):
                actions[rows] = _sampled(net, view[rows], mask[rows], words[rows])
        return actions

    def dump(self, file: IO[bytes]) -> None:
        """Write the pool as an .npz without pickle."""
        weights = [self._got(kept) for kept in self._weights]
        np.savez(file, steps=np.array(self.steps, np.int64), weights=np.array(weights, np.float32))

    def restore(self, file: IO[bytes], until: int) -> None:
        """Read the snapshots that `dump` wrote and that were taken after at most `until` steps; then call `draw`.

        Raises:
            SettingsError: the file is not a pool, or its nets have another shape.
        """
        kept = read_arrays(file, "pool of a training run")
        if not {"steps", "weights"} <= set(kept):
            msg = f"this is not the pool of a training run: it has {', '.join(kept)}, not steps and weights"
            raise SettingsError(msg)
        steps, weights = kept["steps"], kept["weights"]
        size = sum(part.numel() for part in self._nets[0].parameters())
        if steps.ndim != 1 or weights.shape != (len(steps), size) or weights.dtype != np.float32:
            msg = f"this is not the pool of such a net: it has weights {weights.dtype} {weights.shape}, not (n, {size})"
            raise SettingsError(msg)
        known = steps <= until
        self.steps = [int(step) for step in steps[known]][-self.size :]
        self._weights = [self._put(vector) for vector in list(weights[known])[-self.size :]]
        self._older = -1


@torch.inference_mode()
def _sampled(
    net: nn.Module, view: npt.NDArray[np.float32], mask: npt.NDArray[np.int8], words: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Sample an action for each row from the net's policy, among the legal ones, by the row's 64 random bits.

    Word 0 gives the first legal action with a positive probability, the highest word the last; illegal actions have none.
    """
    logits = net(torch.from_numpy(view)).masked_fill_(torch.from_numpy(mask == 0), -torch.inf)
    ends = torch.softmax(logits, dim=1).cumsum(dim=1, dtype=torch.float64)
    shares = torch.from_numpy((words >> np.uint64(11)) * 2.0**-53)
    actions: npt.NDArray[np.int64] = (ends <= shares[:, None] * ends[:, -1:]).sum(dim=1).numpy()
    return actions
