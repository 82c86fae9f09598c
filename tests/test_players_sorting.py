"""Sorters: small nets that leave few plays of a roll for the net to evaluate."""

from __future__ import annotations

from itertools import pairwise

import nets
import numpy as np
import pytest

from bg_env.errors import SettingsError
from bg_env.observations import encoder
from bg_env.players import ValueNet, ValuePlayer
from bg_env.players.valuenet.evaluate import Evaluator, evaluate_best, evaluate_plays, new_scratch
from bg_env.players.valuenet.sorting import MOST, WITHIN, Sorter
from bg_env.rules import STATE, Phase, Settings, apply_roll, episode_key, new_episode, plays, settle

SETTINGS = Settings(cube=False)
RULES = SETTINGS.record()
PAYOFFS = np.array([[[1, 2, 3, -1, -2, -3]] * 2], np.float32)


def rolled(n: int) -> np.ndarray:
    """The first two turns of `n` games, a play at random between them."""
    rng = np.random.default_rng(4)
    states = np.zeros(n, STATE)
    for i in range(n):
        new_episode(states, i, RULES, np.uint64(episode_key(np.uint64(3), np.uint64(i))))
        for _ in range(1 + i % 9):
            settle(states, i, RULES)
            after = plays(states[i : i + 1], RULES)[2]
            states[i] = after[rng.integers(len(after))]
        settle(states, i, RULES)
    return states[states["phase"] == Phase.CHECKER]


def sorted_with(net: ValueNet, sorter: Sorter | None) -> ValueNet:
    return ValueNet(*net.weights, about=net.about, sorter=sorter)


def left(state: np.ndarray, sorter: Sorter) -> np.ndarray:
    """The plays that a sorter leaves, by plain numpy."""
    after = plays(state, RULES)[2]
    seats = (1 - np.repeat(state["turn"], len(after))).astype(np.int8)
    inputs = encoder("tesauro198").encode(after, RULES, seats=seats).astype(np.float64)
    values = -np.maximum(inputs @ sorter.first + sorter.constants, 0) @ sorter.last
    order = np.argsort(-values)
    return np.array([n for n in order[:MOST] if values[n] >= values[order[0]] - WITHIN]) if len(after) > 2 else order


def test_the_best_play_is_the_best_of_those_that_the_sorter_leaves() -> None:
    sorter = nets.random_sorter(1)
    net = sorted_with(nets.random_net(1), sorter)
    evaluator = Evaluator(net.kernel_arrays(RULES), RULES, PAYOFFS)
    scratch = new_scratch(evaluator.net)
    differ = fewer = 0
    for state in rolled(70):
        one = np.array([state])
        best, end = evaluate_plays(one, 0, evaluator, 0, scratch)
        values = scratch.values[:end].copy()
        kept = left(one, sorter)
        chosen = evaluate_best(one, 0, evaluator, 0, scratch)
        assert chosen == kept[np.argmax(values[kept])]
        assert scratch.values[chosen] == values[chosen]
        differ += chosen != best
        fewer += len(kept) < end
    assert differ > 5
    assert fewer > 20


def test_a_net_that_sorts_looks_ahead_by_the_plays_that_are_left() -> None:
    net = nets.random_net(2)
    states = rolled(12)
    states["phase"], states["dice"], states["left"] = Phase.ROLL, 0, 0
    exact = ValuePlayer(net, 1, settings=SETTINGS).probabilities(states)
    sorting = sorted_with(net, nets.random_sorter(2))
    assert not np.allclose(ValuePlayer(sorting, 1, settings=SETTINGS).probabilities(states), exact, atol=1e-4)
    every = ValuePlayer(sorting, 1, number=None, margin=None, settings=SETTINGS)
    assert every.probabilities(states).tobytes() == exact.tobytes()
    assert every.net.sorter is not None


def test_no_play_that_ends_the_game_is_left_out() -> None:
    states = np.zeros(1, STATE)
    states["points"][0, 0, [0, 1, 2]] = 13, 1, 1
    states["points"][0, 1, [0, 24]] = 14, 1
    states["phase"] = Phase.ROLL
    apply_roll(states, 0, RULES, 2, 1)
    sorting = sorted_with(nets.random_net(3), nets.random_sorter(3))
    evaluator = Evaluator(sorting.kernel_arrays(RULES), RULES, PAYOFFS)
    scratch = new_scratch(evaluator.net)
    best = evaluate_best(states, 0, evaluator, 0, scratch)
    assert scratch.plays.after[best]["winner"] == 0


def test_a_sorter_is_kept_in_the_file_of_its_net(tmp_path) -> None:
    path = tmp_path / "net.npz"
    net = sorted_with(nets.random_net(4), nets.random_sorter(4))
    net.save(path)
    loaded = ValueNet.load(path)
    assert loaded.sorter is not None
    assert all(np.array_equal(one, other) for one, other in zip(loaded.sorter, net.sorter, strict=True))
    with np.load(path, allow_pickle=False) as file:
        content = dict(file)
    np.savez(path, **{name: array for name, array in content.items() if name != "sort2"})
    with pytest.raises(SettingsError, match="is not a value net: its sorter has no array 'sort2'"):
        ValueNet.load(path)
    np.savez(path, **{**content, "sort3": np.zeros(5, np.float32)})
    with pytest.raises(SettingsError, match=r"is not a value net: the arrays of a sorter have the shapes \(198, h\)"):
        ValueNet.load(path)


def test_a_sorter_learns_the_order_of_a_nets_values() -> None:
    pytest.importorskip("torch", reason="sorters are fitted by torch")
    from bg_env.train.td.sorter import fit_sorter, rolls_of_self_play, with_sorter

    net = nets.random_net(6)
    sorter = fit_sorter(net, units=8, rolls=3000, seed=1)
    assert [array.tobytes() for array in fit_sorter(net, units=8, rolls=3000, seed=1)] == [array.tobytes() for array in sorter]
    assert with_sorter(net, sorter).sorter is not None
    assert net.sorter is None
    inputs, values, owners = rolls_of_self_play(net, 500, seed=2)
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= 3
    seen = np.maximum(inputs @ sorter.first + sorter.constants, 0) @ sorter.last
    starts = np.append(np.flatnonzero(np.diff(owners, prepend=-1)), len(owners))
    lost, mean = [], []
    for lo, hi in pairwise(starts):
        if hi - lo > 3:
            first = np.argsort(seen[lo:hi])[:3]
            lost.append(values[lo:hi][first].min() - values[lo:hi].min())
            mean.append(np.sort(values[lo:hi])[[1, 2, 3]].mean() - values[lo:hi].min())
    assert np.mean(lost) < 0.4 * np.mean(mean)
    with pytest.raises(SettingsError, match="a sorter is for a net of kind 'odds', not 'cube'"):
        fit_sorter(nets.random_net(0, kind="cube"))
