"""Small random value nets, and what they answer by plain numpy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bg_env.observations import encoder
from bg_env.players import ValueNet
from bg_env.players.valuenet.features import TACTICS, tactics_of
from bg_env.players.valuenet.sorting import Sorter
from bg_env.rules import STATE, Phase, Settings


def random_net(
    seed: int = 0, h1: int = 24, h2: int = 16, kind: str = "odds", *, tactics: bool = True, more: tuple[int, ...] = ()
) -> ValueNet:
    rng = np.random.default_rng(seed)
    extra, outputs = {"odds": (0, 6), "cube": (3, 1), "match": (40, 1)}[kind]
    inputs = 198 + (TACTICS if tactics else 0) + extra
    sizes = (inputs, h1, h2, *more)
    layers = [*((n, m, 0.4) for n, m in pairwise(sizes)), (sizes[-1], outputs, 0.6)]
    arrays = [array for n, m, size in layers for array in (rng.normal(0, size, (n, m)), rng.normal(0, 0.2, m))]
    return ValueNet(*arrays)


def random_sorter(seed: int = 0, h: int = 12) -> Sorter:
    rng = np.random.default_rng(seed)
    arrays = rng.normal(0, 0.1, (198, h)), rng.normal(0, 0.1, h), rng.normal(0, 0.1, h)
    return Sorter(*(array.astype(np.float32) for array in arrays))


def plain_inputs(net: ValueNet, states: np.ndarray, rules: np.ndarray, seats: np.ndarray, extra: int = 0) -> np.ndarray:
    """The inputs of states, less the `extra` ones of cube and match."""
    seats = np.broadcast_to(seats, len(states))
    inputs = encoder("tesauro198").encode(states, rules, seats=seats)
    return np.hstack([inputs, tactics_of(states, seats)]) if len(net.w1) - extra > inputs.shape[1] else inputs


def plain_odds(net: ValueNet, positions: list, variant: str = "backgammon") -> np.ndarray:
    """The six chances of the player on roll in each position (`Position`), before the roll."""
    states = np.zeros(len(positions), STATE)
    for k, position in enumerate(positions):
        states[k]["points"] = position.mover, position.opponent
    states["phase"] = Phase.ROLL
    return plain_forward(net, plain_inputs(net, states, Settings(variant).record(), np.zeros(1, np.int8)))


def plain_forward(net: ValueNet, inputs: np.ndarray) -> np.ndarray:
    layer = inputs.astype(np.float64)
    for matrix, constants in zip(net.weights[:-2:2], net.weights[1:-2:2], strict=True):
        layer = np.maximum(layer @ matrix + constants, 0)
    out = layer @ net.weights[-2] + net.weights[-1]
    if net.kind != "odds":
        return out
    out = np.exp(out - out.max(axis=1, keepdims=True))
    return out / out.sum(axis=1, keepdims=True)
