"""Nets that have learnt the cube and the score: their inputs, their plays and turns of the cube against plain Python."""

from __future__ import annotations

from itertools import product

import nets
import numpy as np
import pytest

from bg_env import arena
from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.equity import match_equity
from bg_env.errors import OrderError, SettingsError
from bg_env.players import RandomPlayer, ValueNet, ValuePlayer
from bg_env.players.valuenet.cube_inputs import encode_cube
from bg_env.rules import STATE, Phase, Settings, episode_key, may_turn_again, new_episode, pick_action, settle, word
from bg_env.rules import apply as do
from bg_env.rules.candidates import candidates

KINDS = {
    "cube": [Settings(), Settings(beavers=2, jacoby=True), Settings("hypergammon"), Settings("acey_deucey", cube=True)],
    "match": [Settings(match_length=5), Settings("nackgammon", match_length=3), Settings(match_length=7, cube=False)],
}
CASES = [(kind, settings) for kind, some in KINDS.items() for settings in some]
NAMES = [f"{kind}-{settings}" for kind, settings in CASES]


def played_states(settings: Settings, n: int, seed: int = 3) -> np.ndarray:
    """States that wait for somebody, from random play with much cube."""
    rules, found = settings.record(), []
    state, episode = np.zeros(1, STATE), 0
    while len(found) < n:
        if state[0]["games"] == 0 or state[0]["phase"] == Phase.OVER:
            new_episode(state, 0, rules, np.uint64(episode_key(np.uint64(seed), np.uint64(episode))))
            settle(state, 0, rules)
            episode += 1
        bits = np.uint64(word(state[0]["key"], np.uint64(2), np.uint64(state[0]["choices"])))
        full = state[0]["left"].sum() in (0, 4 if np.ptp(state[0]["dice"]) == 0 else 2)
        if full and int(bits) % 3 == 0:
            found.append(state[0].copy())
        state["choices"] += 1
        action = pick_action(state, 0, bits)
        if state[0]["phase"] == Phase.ROLL_OR_DOUBLE and int(bits) % 5 == 0:
            action = DOUBLE
        elif state[0]["phase"] == Phase.TAKE_OR_DROP and int(bits) % 2 and may_turn_again(state, 0, rules):
            action = BEAVER
        do(state, 0, rules, action)
        settle(state, 0, rules)
    return np.array(found, STATE)


def plain_extra(state, seat: int, settings: Settings, kind: str) -> np.ndarray:
    own, theirs = state["owner"] == seat, state["owner"] == 1 - seat
    inputs = [own, theirs, state["phase"] == Phase.ROLL_OR_DOUBLE]
    if kind == "match":
        needs = [settings.match_length - int(state["score"][who]) for who in (seat, 1 - seat)]
        for need in needs:
            inputs += [need == k for k in range(1, 15)] + [need >= 15]
        inputs += [bool(state["crawford"]), min(needs) == 1 and not state["crawford"]]
        inputs += [state["cube"] == k for k in range(4)] + [state["cube"] >= 4]
    return np.array(inputs, np.float32)


def plain_worth(net: ValueNet, state, seat: int, settings: Settings) -> float:
    """The value of a state without a decision before the next roll, in money play at the present cube."""
    stake = 1 if settings.match_length else 2 ** int(state["cube"])
    if state["winner"] >= 0:
        sign = 1 if state["winner"] == seat else -1
        if not settings.match_length:
            return sign * int(state["level"]) * stake
        own, other = (settings.match_length - int(state["score"][who]) for who in (seat, 1 - seat))
        if min(own, other) < 1:
            return 1.0 if own < 1 else -1.0
        post = settings.cube and not state["crawford"]
        return 2 * match_equity(own, other, post_crawford=bool(post)) - 1
    turn = int(state["turn"])
    one = np.array([state], STATE)
    extra = plain_extra(state, turn, settings, net.kind)
    seen = np.hstack([nets.plain_inputs(net, one, settings.record(), np.array([turn]), len(extra))[0], extra])
    answer = float(nets.plain_forward(net, seen[None])[0, 0]) * stake
    return answer if turn == seat else -answer


def plain_answer(net: ValueNet, state, settings: Settings, deep: int = 1) -> tuple[int, float]:
    """The best answer to a turned cube and its worth; a beaver is answered by take or drop."""
    seat = int(state["decider"])
    best = (DROP, -np.inf)
    for action in (TAKE, DROP, BEAVER):
        if action == BEAVER and (
            not deep or state["chain"] > settings.beavers or state["cube"] + state["chain"] >= settings.cap_log2
        ):
            continue
        after = np.array([state], STATE)
        do(after, 0, settings.record(), action)
        worth = -plain_answer(net, after[0], settings, 0)[1] if action == BEAVER else plain_worth(net, after[0], seat, settings)
        if worth > best[1]:
            best = action, worth
    return best


@pytest.mark.parametrize(("kind", "settings"), CASES, ids=NAMES)
def test_the_inputs_besides_the_board(kind, settings):
    states = played_states(settings, 150)
    for seat in range(2):
        got = encode_cube(states, np.full(len(states), seat), settings.record(), {"cube": 3, "match": 40}[kind])
        want = [plain_extra(state, seat, settings, kind) for state in states]
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("kind", "settings"), CASES, ids=NAMES)
def test_every_choice_is_the_best_by_plain_python(kind, settings):
    states = played_states(settings, 120)
    net = nets.random_net(4, kind=kind, tactics=settings.match_length != 3 and not settings.jacoby)
    player = ValuePlayer(net, settings=settings)
    chosen = player.choose(states, np.zeros(len(states), np.uint64))
    seen = set()
    for state, action in zip(states, chosen, strict=True):
        seat, one = int(state["decider"]), np.array([state], STATE)
        seen.add(Phase(int(state["phase"])))
        if state["phase"] == Phase.TAKE_OR_DROP:
            assert action == plain_answer(net, state, settings)[0]
        elif state["phase"] == Phase.ROLL_OR_DOUBLE:
            rolled, doubled = one.copy(), one.copy()
            do(rolled, 0, settings.record(), ROLL)
            do(doubled, 0, settings.record(), DOUBLE)
            better = -plain_answer(net, doubled[0], settings)[1] > plain_worth(net, rolled[0], seat, settings)
            assert action == (DOUBLE if better else ROLL)
        elif state["phase"] == Phase.CHECKER:
            _, actions, after = candidates(one, settings.record())
            worth = np.array([plain_worth(net, each, seat, settings) for each in after])
            assert worth[actions[:, 0] == action].max() >= worth.max() - 1e-4 * (1 + abs(worth.max()))
    assert Phase.CHECKER in seen
    assert not settings.cube or {Phase.ROLL_OR_DOUBLE, Phase.TAKE_OR_DROP} <= seen


@pytest.mark.parametrize(("kind", "settings"), CASES, ids=NAMES)
def test_it_plays_whole_games(kind, settings):
    result = arena.play(ValuePlayer(nets.random_net(1, kind=kind)), RandomPlayer(), games=8, seed=1, settings=settings)
    assert result.episodes == 8


def test_what_it_cannot_do_is_refused():
    cube, match = nets.random_net(kind="cube"), nets.random_net(kind="match")
    with pytest.raises(SettingsError, match="only a net of kind 'odds' looks ahead"):
        ValuePlayer(cube, 1)
    with pytest.raises(SettingsError, match="net for matches"):
        ValuePlayer(match, settings=Settings())
    with pytest.raises(OrderError, match="has no probabilities of outcomes"):
        ValuePlayer(cube, settings=Settings()).probabilities(np.zeros(1, STATE))


def test_the_old_name_of_probabilities_warns():
    player = ValuePlayer(nets.random_net(1), settings=Settings())
    states = played_states(Settings(), 3)
    states = states[states["phase"] == Phase.ROLL_OR_DOUBLE]
    assert len(states)
    with pytest.warns(DeprecationWarning, match="ValuePlayer.odds is now probabilities"):
        old = player.odds(states)
    assert np.array_equal(old, player.probabilities(states))
    assert old.sum(axis=1) == pytest.approx(1)


def test_files_tell_their_kind(tmp_path):
    layouts = {
        "odds": ("tesauro198-6-v0", "tactics230-6-v0"),
        "cube": ("tesauro198-cube-1-v0", "tactics230-cube-1-v0"),
        "match": ("tesauro198-match-1-v0", "tactics230-match-1-v0"),
    }
    for kind, tactics in product(layouts, (False, True)):
        layout = layouts[kind][tactics]
        net = nets.random_net(kind=kind, tactics=tactics)
        assert (net.kind, net.layout) == (kind, layout)
        net.save(tmp_path / f"{kind}.npz")
        assert ValueNet.load(tmp_path / f"{kind}.npz").kind == kind
    with np.load(tmp_path / "cube.npz", allow_pickle=False) as file:
        content = dict(file)
    np.savez(tmp_path / "wrong.npz", **{**content, "layout": np.array("tesauro198-6-v0")})
    with pytest.raises(SettingsError, match="has the sizes of tactics230-cube-1-v0"):
        ValueNet.load(tmp_path / "wrong.npz")
