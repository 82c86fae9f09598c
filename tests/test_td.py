"""The TD learner and its value nets."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import nets
import numpy as np
import pytest

from bg_env import arena
from bg_env.errors import SettingsError
from bg_env.players.valuenet.evaluate import Evaluator, evaluate_plays, new_scratch
from bg_env.players.valuenet.net import BLOCK, FLIP, ValueNet, evaluate, new_layers, write_outputs
from bg_env.position import Position
from bg_env.rules import STATE, Phase, Settings, episode_key, new_episode, pick_action, plays, settle, word
from bg_env.rules import apply as do
from bg_env.train.td.self_play import BROKEN, GOES_ON, PAYOFFS, TERMINAL

pytest.importorskip("torch", reason="the TD learner needs torch")

import torch

from bg_env.train.td.learner import TDLearner, TDSettings
from bg_env.train.td.muon import Muon, orthogonal
from bg_env.train.td.replay_buffer import ReplayBuffer
from bg_env.train.td.targets import td_targets

VALUES = PAYOFFS[0, 0]

SMALL = TDSettings(total=400, hidden=(24, 12), batch=16, turns=4, minibatch=32, seed=3)


def waiting_states(n: int, variant: str = "backgammon", seed: int = 5) -> tuple[np.ndarray, Settings]:
    """States that wait for a first checker step, from random play."""
    settings = Settings(variant, cube=False)
    rules, found = settings.record(), []
    state, episode = np.zeros(1, STATE), 0
    while len(found) < n:
        if state[0]["games"] == 0 or state[0]["phase"] == Phase.OVER:
            new_episode(state, 0, rules, np.uint64(episode_key(np.uint64(seed), np.uint64(episode))))
            settle(state, 0, rules)
            episode += 1
        if state[0]["phase"] == Phase.CHECKER and state[0]["left"].sum() == (4 if np.ptp(state[0]["dice"]) == 0 else 2):
            found.append(state[0].copy())
        bits = word(state[0]["key"], np.uint64(2), np.uint64(state[0]["choices"]))
        state["choices"] += 1
        do(state, 0, rules, pick_action(state, 0, np.uint64(bits)))
        settle(state, 0, rules)
    return np.array(found, STATE), settings


@pytest.mark.parametrize(
    ("variant", "tactics", "more"),
    [("backgammon", True, ()), ("backgammon", False, (9,)), ("backgammon", True, (33, 5)), ("hypergammon", True, (12,))],
)
def test_probabilities_are_those_of_the_formula(variant: str, tactics: bool, more: tuple[int, ...]) -> None:
    states, settings = waiting_states(60, variant)
    net, rules = nets.random_net(tactics=tactics, more=more), settings.record()
    assert net.hidden == (24, 16, *more)
    weights = net.kernel_arrays(rules)
    seats = states["turn"].copy()
    out = np.empty((len(states), 8), np.float32)
    layers = new_layers(weights)
    for i, seat in enumerate(seats):
        evaluate(states, i, np.int64(seat), rules, weights, layers)
        out[i] = layers.outputs
    want = nets.plain_forward(net, nets.plain_inputs(net, states, rules, seats))
    np.testing.assert_allclose(out[:, :6], want, atol=2e-5)


@pytest.mark.parametrize("tactics", [True, False])
@pytest.mark.parametrize("variant", ["backgammon", "hypergammon", "acey_deucey"])
def test_the_best_play_is_the_one_that_the_formula_likes_best(variant: str, tactics: bool) -> None:
    states, settings = waiting_states(80, variant)
    net, rules = nets.random_net(1, tactics=tactics), settings.record()
    evaluator = Evaluator(net.kernel_arrays(rules), rules, PAYOFFS)
    scratch = new_scratch(evaluator.net)
    for i in range(len(states)):
        mover = int(states[i]["turn"])
        _, actions, after = plays(states[i : i + 1], rules)
        seen = after["turn"]
        odds = nets.plain_forward(net, nets.plain_inputs(net, after, rules, np.maximum(seen, 0)))
        worth = odds @ VALUES * np.where(seen == mover, 1, -1)
        over = after["winner"] >= 0
        worth[over] = after["level"][over]
        n, _ = evaluate_plays(states, i, evaluator, 0, scratch)
        assert worth[n] >= worth.max() - 1e-4
        assert scratch.plays.actions[n].tolist() == actions[n].tolist()
        got = scratch.layers.best[:6]
        if over[n]:
            assert got.tolist() == [float(o == after[n]["level"] - 1) for o in range(6)]
        else:
            np.testing.assert_allclose(got if seen[n] == mover else got[FLIP], odds[n], atol=2e-5)


def test_outputs_do_not_depend_on_what_is_evaluated_beside_them() -> None:
    """To the bit, whether positions are evaluated in fours or one by one."""
    weights = nets.random_net(2, 61, 40, more=(21,)).kernel_arrays(Settings(cube=False).record())
    rng = np.random.default_rng(0)
    sums, tactics = rng.normal(-1, 1, (BLOCK, 61)).astype(np.float32), rng.normal(0, 1, (BLOCK, 32)).astype(np.float32)
    tactics[:, ::3] = 0

    def outputs(chosen: list[int]) -> np.ndarray:
        layers = new_layers(weights)
        layers.units[0, : len(chosen), :61], layers.tactics[: len(chosen)] = sums[chosen], tactics[chosen]
        write_outputs(weights, layers, len(chosen))
        return layers.units[-1, : len(chosen), :8].copy()

    together = outputs(list(range(BLOCK)))
    assert len(np.unique(together[:, 0])) == BLOCK
    for chosen in ([5], [7, 2], [3, 1, 0, 6, 4], [2, 3, 4, 5, 6, 7, 0]):
        assert outputs(chosen).tobytes() == together[chosen].tobytes()


def test_flip_is_the_other_players_view() -> None:
    odds = np.arange(6, dtype=np.float32)
    assert (odds[FLIP] @ VALUES) == -(odds @ VALUES)
    assert odds[FLIP][FLIP].tolist() == odds.tolist()


def test_targets_by_hand() -> None:
    a, b, c = np.eye(6, dtype=np.float32)[[0, 1, 2]]
    odds = np.stack([a, b, c])[:, None]
    goes_on = np.full((3, 1), GOES_ON, np.int8)
    seen = np.array([[0], [1], [0]], np.int8)
    targets, known = td_targets(odds, seen, goes_on, 0.25)
    second = c[FLIP]
    first = (0.25 * second + 0.75 * b)[FLIP]
    assert known.all()
    np.testing.assert_allclose(targets[:, 0], [first, second])

    ended = goes_on.copy()
    ended[1] = TERMINAL
    targets, known = td_targets(odds, seen, ended, 0.25)
    assert known[:, 0].tolist() == [True, False]
    np.testing.assert_allclose(targets[0, 0], b[FLIP])

    cut = goes_on.copy()
    cut[1] = BROKEN
    targets, known = td_targets(odds, seen, cut, 0.25)
    assert known[:, 0].tolist() == [False, True]


def test_what_followed_corrects_exact_targets_by_its_surprise_alone() -> None:
    a, b, c, d = np.random.default_rng(1).dirichlet(np.ones(6), size=4).astype(np.float32)
    odds, seen, goes_on = np.stack([a, b, c])[:, None], np.array([[0], [1], [0]], np.int8), np.full((3, 1), GOES_ON, np.int8)
    exact = np.full_like(odds, np.nan)
    exact[0, 0] = d
    targets, known = td_targets(odds, seen, goes_on, 0.25, exact=exact)
    second = 0.25 * c[FLIP] + 0.75 * c[FLIP]
    np.testing.assert_allclose(targets[:, 0], [d + 0.25 * (second - b)[FLIP], second], atol=1e-6)
    exact[1, 0] = b  # as the net says: no surprise
    targets, _ = td_targets(odds, seen, goes_on, 0.25, exact=exact)
    np.testing.assert_allclose(targets[:, 0], [d, b], atol=1e-6)
    goes_on[1] = BROKEN  # the play went by chance: the mean stands alone
    exact[1] = np.nan
    targets, known = td_targets(odds, seen, goes_on, 0.25, exact=exact)
    assert known[:, 0].tolist() == [True, True]
    np.testing.assert_allclose(targets[0, 0], d, atol=1e-6)
    points = np.array([[[0.5]], [[0.25]], [[0.75]]], np.float32)
    mean = np.array([[[0.375]], [[np.nan]], [[np.nan]]], np.float32)
    targets, _ = td_targets(points, seen, np.full((3, 1), GOES_ON, np.int8), 0.5, np.array([[1], [2], [2]]), mean)
    assert targets[:, 0, 0].tolist() == [0.375 - 2 * 0.5 * (-0.75 - 0.25), -0.75]


@pytest.mark.parametrize("changed", [{}, {"optimizer": "adam"}, {"targets": "rolls", "exact_from": 0.0, "replay": 3}])
def test_the_curve_is_the_same_with_any_number_of_threads_and_after_a_stop(tmp_path, changed: dict[str, Any]) -> None:
    settings = replace(SMALL, **changed)
    whole, threaded, stopped = TDLearner(settings), TDLearner(settings, threads=3), TDLearner(settings)
    losses = []
    for _ in range(12):
        whole.round()
        threaded.round()
        losses.append(whole.loss)
    for _ in range(5):
        stopped.round()
    stopped.save(tmp_path / "run.npz")
    gone_on = TDLearner.load(tmp_path / "run.npz", threads=2)
    assert gone_on.settings == settings
    assert gone_on.rounds == 5
    for k in range(5, 12):
        gone_on.round()
        assert gone_on.loss == losses[k]
    for other in (threaded, gone_on):
        assert other.games == whole.games
        for name in ("w1", "b2", "w3"):
            np.testing.assert_array_equal(getattr(other.net(), name), getattr(whole.net(), name))
    assert TDLearner(replace(SMALL, seed=4)).net().w1.tobytes() != TDLearner(SMALL).net().w1.tobytes()


def test_the_replay_buffer_keeps_the_newest_positions() -> None:
    buffer = ReplayBuffer(1, size=10)
    for lo in range(0, 16, 4):
        buffer.add(np.zeros(4, STATE), np.zeros(4, np.int8), np.arange(lo, lo + 4, dtype=np.float32)[:, None])
    assert len(buffer) == 10
    drawn = buffer.sample(2000, np.random.default_rng(1))[2][:, 0]
    assert sorted(set(drawn.tolist())) == list(range(6, 16))
    again = ReplayBuffer(1, size=10)
    again.restore(buffer.content())
    assert again.sample(50, np.random.default_rng(2))[2].tolist() == buffer.sample(50, np.random.default_rng(2))[2].tolist()


def test_muon_goes_the_same_way_in_every_direction() -> None:
    random = np.random.default_rng(1)
    left, right = np.linalg.qr(random.normal(size=(30, 20)))[0], np.linalg.qr(random.normal(size=(20, 20)))[0]
    for slanted in (left @ np.diag(np.geomspace(0.02, 1, 20)) @ right, right @ np.diag(np.geomspace(0.02, 1, 20)) @ left.T):
        straight = orthogonal(torch.from_numpy(slanted.astype(np.float32))).numpy()
        u, _, v = np.linalg.svd(slanted, full_matrices=False)
        inside = u.T @ straight @ v.T  # the same directions, all about as long
        assert np.abs(inside - np.diag(np.diag(inside))).max() < 1e-3
        assert np.diag(inside).min() > 0.6
        assert np.diag(inside).max() < 1.3


def test_muon_steps_as_pytorchs_does() -> None:
    muon = pytest.importorskip("torch.optim._muon", reason="PyTorch has Muon from 2.9 on").Muon
    drawn = torch.Generator().manual_seed(1)
    first = torch.rand(40, 20, generator=drawn)
    one, other = first.clone().requires_grad_(), first.clone().requires_grad_()
    mine = Muon([one], lr=0.01)
    theirs = muon([other], lr=0.01, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    for _ in range(20):
        one.grad = torch.randn(40, 20, generator=drawn)
        other.grad = one.grad.clone()
        mine.step()
        theirs.step()
    assert (one - first).abs().max() > 0.05
    assert (one - other).abs().max() < 0.003  # it works in bfloat16


def test_twenty_thousand_games_of_self_play_beat_random(tmp_path) -> None:
    learner = TDLearner(TDSettings(total=20_000, hidden=(64, 32), batch=256, lr=3e-3, lam=0.9, seed=1), threads=2)
    while learner.done < 1:
        learner.round()
    learner.net().save(tmp_path / "net.npz")
    result = arena.play(f"greedy:{tmp_path / 'net.npz'}", "random", games=2000, seed=1, settings=Settings(cube=False))
    assert result.points.low > 1.0


def test_a_net_file_loads_and_another_is_refused(tmp_path) -> None:
    net = nets.random_net()
    path = tmp_path / "net.npz"
    ValueNet(net.w1, net.b1, net.w2, net.b2, net.w3, net.b3, {"games": 7}).save(path)
    loaded = ValueNet.load(path)
    assert loaded.about == {"games": 7}
    np.testing.assert_array_equal(loaded.w2, net.w2)
    with np.load(path, allow_pickle=False) as file:
        content = dict(file)
    np.savez(tmp_path / "other.npz", **{**content, "layout": np.array("tesauro198-5-v0")})
    whole = path.read_bytes()
    (tmp_path / "text.npz").write_text("no net")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "damaged.npz").write_bytes(whole[:3000] + bytes(100) + whole[3100:])
    np.save(tmp_path / "array.npz.npy", net.w1)
    (tmp_path / "array.npz.npy").rename(tmp_path / "array.npz")
    for bad, words in (
        ("other.npz", "tesauro198-5-v0"),
        ("text.npz", "not a file of a value net: it is not an .npz file, or it is damaged$"),
        ("empty.npz", "it is not an .npz file, or it is damaged$"),
        ("half.npz", "it is not an .npz file, or it is damaged$"),
        ("damaged.npz", "it is not an .npz file, or it is damaged$"),
        ("array.npz", "it is a single array"),
        ("none.npz", "not a file of a value net: .*No such file"),
    ):
        with pytest.raises(SettingsError, match=f"{re.escape(str(tmp_path / bad))} .*{words}"):
            ValueNet.load(tmp_path / bad)
    with pytest.raises(SettingsError, match="not a file of a TD run"):
        TDLearner.load(path)
    with pytest.raises(SettingsError, match="no layout has 10 inputs"):
        ValueNet(net.w1[:10], net.b1, net.w2, net.b2, net.w3, net.b3)
    with pytest.raises(SettingsError, match="w2 must have the shape"):
        ValueNet(net.w1, net.b1, net.w2[:5], net.b2, net.w3, net.b3)


def test_a_net_has_as_many_layers_as_its_file(tmp_path) -> None:
    path = tmp_path / "net.npz"
    net = nets.random_net(3, more=(7, 5))
    net.save(path)
    loaded = ValueNet.load(path)
    assert (loaded.hidden, loaded.layout) == ((24, 16, 7, 5), "tactics230-6-v0")
    assert all(np.array_equal(one, other) for one, other in zip(loaded.weights, net.weights, strict=True))
    np.testing.assert_array_equal(loaded.b5, net.weights[-1])
    with pytest.raises(AttributeError, match="no 'w6'"):
        _ = loaded.w6
    with np.load(path, allow_pickle=False) as file:
        content = dict(file)
    for gone in ("b2", "w5", "b5"):
        np.savez(path, **{name: array for name, array in content.items() if name != gone})
        with pytest.raises(SettingsError, match=f"{re.escape(str(path))} is not a value net: its arrays are w1, b1, w2"):
            ValueNet.load(path)
    np.savez(path, **{name: array for name, array in content.items() if name not in ("w5", "b5")})
    with pytest.raises(SettingsError, match="is not a value net: no layout has 230 inputs and 5 outputs"):
        ValueNet.load(path)
    with pytest.raises(SettingsError, match=r"two layers or more, not 2 without a name$"):
        ValueNet(net.w1, net.b1)


def test_a_third_layer_is_learnt_and_kept(tmp_path) -> None:
    settings = replace(SMALL, third=7)
    learner = TDLearner(settings)
    before = learner.net(averaged=False)
    assert before.hidden == (24, 12, 7)
    for _ in range(3):
        learner.round()
    learner.save(tmp_path / "run.npz")
    after = learner.net(averaged=False)
    assert all((one != other).any() for one, other in zip(after.weights, before.weights, strict=True))
    again = TDLearner.load(tmp_path / "run.npz")
    for one in (learner, again):
        one.round()
    assert again.net().w3.tobytes() == learner.net().w3.tobytes()
    learner.net().save(tmp_path / "net.npz")
    deeper = TDLearner(replace(settings, start=str(tmp_path / "net.npz"))).net(averaged=False)
    np.testing.assert_array_equal(deeper.w4, learner.net().w4)


def test_settings_are_checked() -> None:
    wrong = [{"total": 0}, {"hidden": (4,)}, {"lam": 1.5}, {"batch": 2.5}, {"batch": "x"}, {"hidden": ("x", 3)}, {"hidden": 3}]
    wrong += [{"lr": "x"}, {"match_length": "3"}, {"seed": None}, {"seed": 2**32}, {"targets": 3}, {"turns": True}]
    wrong += [{"optimizer": "sgd"}, {"replay": 0}, {"third": -1}]
    for one in wrong:
        (name,) = one
        with pytest.raises(SettingsError, match=f"^{name} is "):
            TDSettings(**one)


def test_the_start_is_worth_little_more_to_the_player_on_roll(tmp_path) -> None:
    """A net that knows nothing gives every outcome some chance, and they sum to 1."""
    states = np.zeros(1, STATE)
    start = Position.start()
    states["points"][0] = [start.mover, start.opponent]
    net = nets.random_net()
    rules = Settings(cube=False).record()
    weights = net.kernel_arrays(rules)
    layers = new_layers(weights)
    evaluate(states, 0, np.int64(0), rules, weights, layers)
    out = layers.outputs[:6]
    assert out.min() > 0
    assert out.sum() == pytest.approx(1, abs=1e-5)
