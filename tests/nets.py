"""Small random value nets, and what they answer by plain numpy."""

from __future__ import annotations

import numpy as np

from bg_env.observations import encoder
from bg_env.players import ValueNet
from bg_env.rules import STATE, Phase, Settings


def random_net(seed: int = 0, h1: int = 24, h2: int = 16, kind: str = "odds") -> ValueNet:
    rng = np.random.default_rng(seed)
    extra, outputs = {"odds": (0, 6), "cube": (3, 1), "match": (40, 1)}[kind]
    layers = ((198 + extra, h1, 0.4), (h1, h2, 0.4), (h2, outputs, 0.6))
    arrays = [array for n, m, size in layers for array in (rng.normal(0, size, (n, m)), rng.normal(0, 0.2, m))]
    return ValueNet(*arrays)


def plain_odds(net: ValueNet, positions: list, variant: str = "backgammon") -> np.ndarray:
    """The six chances of the player on roll in each position (`Position`), before the roll."""
    states = np.zeros(len(positions), STATE)
    for k, position in enumerate(positions):
        states[k]["points"] = position.mover, position.opponent
    states["phase"] = Phase.ROLL
    return plain_forward(net, encoder("tesauro198").encode(states, Settings(variant).record(), seats=0))


def plain_forward(net: ValueNet, inputs: np.ndarray) -> np.ndarray:
    first = np.maximum(inputs.astype(np.float64) @ net.w1 + net.b1, 0)
    out = np.maximum(first @ net.w2 + net.b2, 0) @ net.w3 + net.b3
    if net.kind != "odds":
        return out
    out = np.exp(out - out.max(axis=1, keepdims=True))
    return out / out.sum(axis=1, keepdims=True)
