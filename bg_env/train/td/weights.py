"""First weights of a value net, and the optimizers that fit them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

import torch

from bg_env.players.valuenet.features import TACTICS
from bg_env.players.valuenet.net import LAYOUTS, ValueNet
from bg_env.train.td.muon import Muon
from bg_env.train.td.settings import TDSettings

__all__ = ["first_weights", "make_optimizers", "one_thread", "optimizer_of", "outputs_of", "weights_from"]

_ADAM_SHARE: Final = 1 / 3
"""Learning rate of Adam in units of Muon's, which has the matrices of the hidden layers."""


def first_weights(sizes: tuple[int, ...], generator: torch.Generator) -> list[torch.Tensor]:
    """Weights (in, out) and biases (out,) of each layer in turn, drawn uniformly from within 1 / sqrt(inputs) of 0."""
    weights = []
    for n, m in pairwise(sizes):
        bound = n**-0.5
        weights.append((torch.rand(n, m, generator=generator) * 2 - 1) * bound)
        weights.append((torch.rand(m, generator=generator) * 2 - 1) * bound)
    return weights


def weights_from(first: list[torch.Tensor], net: ValueNet, tactics: bool) -> list[torch.Tensor]:
    """`first` with the layers of `net` instead, up to the first layer of another size; inputs that the net lacks weigh 0.

    Where the nets have different inputs, the 198 are taken over, and those of `tactics` if both nets have them.
    """
    old_w1, *others = net.weights
    if others[0].size != len(first[1]):
        return first
    w1 = torch.zeros_like(first[0])
    shared = 198 + (TACTICS if tactics and LAYOUTS[net.layout][1] else 0)
    rows = len(old_w1) if old_w1.shape == first[0].shape else shared
    w1[:rows] = torch.from_numpy(old_w1[:rows])
    weights = [w1, *(torch.from_numpy(w.copy()) for w in others)]
    same = [old.shape == new.shape for old, new in zip(first, weights, strict=False)]
    kept = same.index(False) if False in same else len(same)
    return [*weights[:kept], *first[kept:]]


def make_optimizers(weights: list[torch.Tensor], settings: TDSettings) -> list[torch.optim.Optimizer]:
    """The optimizers of a run; each group's learning rate is its `share` of the run's."""
    if settings.optimizer == "adam":
        return [torch.optim.Adam([{"params": weights, "share": 1.0}], lr=settings.lr)]
    matrices = [{"params": weights[:-2:2], "share": 1.0}]
    others = [{"params": [*weights[1:-2:2], *weights[-2:]], "share": _ADAM_SHARE}]
    return [Muon(matrices, lr=settings.lr), torch.optim.Adam(others, lr=settings.lr)]


def optimizer_of(optimizers: list[torch.optim.Optimizer], weight: torch.Tensor) -> torch.optim.Optimizer:
    """The optimizer that fits `weight`."""
    return next(one for one in optimizers if any(w is weight for group in one.param_groups for w in group["params"]))


def outputs_of(weights: list[torch.Tensor], inputs: torch.Tensor) -> torch.Tensor:
    """The outputs of a net, before the softmax of probabilities, (n, outputs) at inputs (n, inputs)."""
    layer = inputs
    for matrix, constants in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        layer = torch.relu(torch.addmm(constants, layer, matrix))
    return torch.addmm(weights[-1], layer, weights[-2])


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: more would take processors from self-play, and could round sums differently."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
