"""Sorters, the small nets that leave few plays for a net to evaluate, fitted to the net's own values of plays in self-play.

    from bg_env.players import ValueNet
    from bg_env.train.td.sorter import fit_sorter, with_sorter

    net = ValueNet.load("net.npz")
    with_sorter(net, fit_sorter(net)).save("net.npz")

A sorter learns the differences of the plays of one roll, and the more of those that are close to the best.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.errors import SettingsError, needs
from bg_env.observations import encoder
from bg_env.players import ValueNet
from bg_env.players.valuenet.evaluate import new_scratch, plain
from bg_env.players.valuenet.search import write_probabilities
from bg_env.players.valuenet.sorting import Sorter
from bg_env.rules import STATE, Phase, Settings, States, VariantLike, episode_key, new_episode, plays, settle
from bg_env.train.td.muon import Muon
from bg_env.train.td.self_play import PAYOFFS

try:
    import torch
except ImportError as _error:
    _msg = "learning needs torch"
    raise needs(_msg, "train") from _error

from bg_env.train.td.weights import one_thread

__all__ = ["fit_sorter", "rolls_of_self_play", "with_sorter"]

_GAMES: Final = 256
"""Games played side by side."""
_EXPLORE: Final = 0.1
"""Share of the plays at random."""
_ROLLS: Final = 128
"""Rolls in an update."""
_EPOCHS: Final = 20
_RATE: Final = 0.01
_NEAR: Final = 0.1
"""The distance from the best play, in points, over which the weight of a play falls by a factor of e."""

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


def rolls_of_self_play(
    net: ValueNet, rolls: int, seed: int = 0, variant: VariantLike = "backgammon"
) -> tuple[Floats, Floats, Integers]:
    """All plays of rolls met in self-play of a net, a tenth of the plays at random; those that end the game are left out.

    Args:
        net: of kind "odds".
        rolls: at least so many.
        seed: of the dice and the plays at random.
        variant: that is played.

    Returns:
        float32 (n, 198), the inputs `tesauro198` of the positions after the plays, as the player on roll sees them.
        float32 (n,), their values to that player by the net, in points.
        int64 (n,), the numbers of the rolls that they belong to, ascending.
    """
    settings = Settings(variant, cube=False)
    rules = settings.record()
    arrays = net.kernel_arrays(rules, sorted_first=False)
    scratch = plain(new_scratch(arrays))
    rng = np.random.default_rng(seed)
    states, episodes = np.zeros(_GAMES, STATE), 0
    found: list[tuple[Floats, Floats, Integers]] = []
    met = 0
    states["phase"] = Phase.OVER
    while met < rolls:
        for i in range(_GAMES):
            while states[i]["phase"] != Phase.CHECKER:
                if states[i]["phase"] == Phase.OVER or states[i]["phase"] == Phase.CHOOSE_DOUBLE:
                    new_episode(states, i, rules, np.uint64(episode_key(np.uint64(seed), np.uint64(episodes))))
                    episodes += 1
                settle(states, i, rules)
        offsets, _, after = plays(states, rules)
        values = _values((tuple(arrays), rules), scratch, after)
        movers = np.repeat(states["turn"], np.diff(offsets))
        ended = (after["winner"] >= 0) | (after["turn"] == movers)
        kept = after[~ended]
        inputs = encoder("tesauro198").encode(kept, rules, seats=kept["turn"].astype(np.int8))
        found.append((inputs, values[~ended], np.repeat(np.arange(_GAMES), np.diff(offsets))[~ended] + met))
        met += _GAMES
        best = [lo + int(np.argmin(values[lo:hi])) for lo, hi in pairwise(offsets)]
        drawn = rng.integers(offsets[:-1], offsets[1:])
        states = after[np.where(rng.random(_GAMES) < _EXPLORE, drawn, best)].copy()
    inputs, values, owners = (np.concatenate(part) for part in zip(*found, strict=True))
    return inputs, values, owners


def _values(net: tuple[Any, Any], scratch: tuple[Any, ...], after: States) -> Floats:
    """Values of states after a play to the player on roll, in points; the lower, the better for the player who played."""
    values = np.empty(len(after), np.float32)
    ended = after["winner"] >= 0
    values[ended] = -after["level"][ended]
    rest = np.ascontiguousarray(after[~ended])
    outputs = np.empty((len(rest), 6))
    payoffs = np.repeat(PAYOFFS, len(rest), 0)
    write_probabilities(rest, (*net, payoffs), scratch, 0, outputs)
    values[~ended] = outputs @ PAYOFFS[0, 0]
    return values


def fit_sorter(
    net: ValueNet, units: int = 32, rolls: int = 60_000, seed: int = 0, variant: VariantLike = "backgammon"
) -> Sorter:
    """A sorter for a net, in a minute or two.

    Args:
        net: of kind "odds".
        units: of its layer.
        rolls: of self-play that it is fitted to.
        seed: of the weights and the games.
        variant: that is played.

    Raises:
        SettingsError: the net is of another kind.
    """
    if net.kind != "odds":
        msg = f"a sorter is for a net of kind 'odds', not {net.kind!r}"
        raise SettingsError(msg)
    inputs, values, owners = rolls_of_self_play(net, rolls, seed, variant)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    sizes = np.diff(starts, append=len(owners))
    best = np.repeat(np.minimum.reduceat(values, starts), sizes)
    near = np.exp((best - values) / _NEAR).astype(np.float32)
    generator = torch.Generator().manual_seed(seed)
    first = ((torch.rand(198, units, generator=generator) * 2 - 1) * 198**-0.5).requires_grad_()
    constants = torch.zeros(units, requires_grad=True)
    last = ((torch.rand(units, generator=generator) * 2 - 1) * units**-0.5).requires_grad_()
    optimizers = [Muon([first], lr=_RATE), torch.optim.Adam([constants, last], lr=_RATE / 3)]
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    rng = np.random.default_rng(seed)
    updates = _EPOCHS * max(len(sizes) // _ROLLS, 1)
    order = np.zeros(0, np.int64)
    with one_thread():
        for update in range(updates):
            if len(order) < min(_ROLLS, len(sizes)):
                order = rng.permutation(len(sizes))
            chosen, order = order[:_ROLLS], order[_ROLLS:]
            n = sizes[chosen]
            at = np.repeat(starts[chosen] - np.cumsum(n) + n, n) + np.arange(n.sum())
            owner = torch.from_numpy(np.repeat(np.arange(len(n)), n))
            output = torch.relu(torch.addmm(constants, torch.from_numpy(inputs[at]), first)) @ last
            miss = output - torch.from_numpy(values[at])
            mean = torch.zeros(len(n)).index_add(0, owner, miss) / torch.from_numpy(n.astype(np.float32))
            loss = (torch.square(miss - mean[owner]) * (0.1 + torch.from_numpy(near[at]))).mean()
            loss = loss + 0.05 * torch.square(miss).mean()
            for group, rate in zip(groups, rates, strict=True):
                group["lr"] = rate * max(1 - update / updates, 0.003)
            for optimizer in optimizers:
                optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            for optimizer in optimizers:
                optimizer.step()
    return Sorter(*(weights.detach().numpy() for weights in (first, constants, last)))


def with_sorter(net: ValueNet, sorter: Sorter) -> ValueNet:
    """The same net with another sorter."""
    return ValueNet(*net.weights, about=net.about, sorter=sorter)
