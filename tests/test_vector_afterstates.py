"""Whole plays in the batch: the same as step by step, for every phase, and as `Position.legal_plays` has them."""

from __future__ import annotations

import numpy as np
import pytest

import bg_env
from bg_env.batch import batch as games
from bg_env.batch.afterstates import best
from bg_env.envs.vector import VectorEnv
from bg_env.errors import IllegalActionError, OrderError, SettingsError
from bg_env.observations import encoder
from bg_env.rules import Phase, Settings, apply, legal_mask
from bg_env.rules.candidates import candidates


@pytest.fixture(autouse=True)
def small_batches_have_threads_too(monkeypatch):
    monkeypatch.setattr(games, "FEWEST", 1)


SETTINGS = [
    {"variant": "backgammon"},
    {"variant": "acey_deucey", "cube": True, "beavers": 2},
    {"variant": "hypergammon", "match_length": 3},
    {"variant": "nackgammon_ballard", "cube": False, "reward": "win"},
]


def later(env, steps, seed=0):
    """Play some random steps."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        env.step(env.sample(rng))


@pytest.mark.parametrize("options", SETTINGS)
def test_candidates_are_what_steps_reach(options):
    env = VectorEnv(32, opponent=None, max_turns=60, **options)
    rules, phases = env.settings.record(), set()
    env.reset(seed=1)
    for k in range(25):
        later(env, 9, k)
        found = env.afterstates()
        before = env.states.copy()
        for i in range(32):
            phases.add(int(before[i]["phase"]))
            mask = np.zeros((1, env.settings.actions), np.int8)
            legal_mask(before, i, rules, mask, 0)
            span = range(found.offsets[i], found.offsets[i + 1])
            assert set(found.actions[list(span), 0].tolist()) <= set(np.flatnonzero(mask).tolist())
            assert (len(span) > 0) == (mask.sum() > 0)
            if before[i]["phase"] != Phase.CHECKER:
                assert found.actions[list(span), 0].tolist() == np.flatnonzero(mask).tolist()
            results = set()
            for c in span:
                state = before[i : i + 1].copy()
                for action in found.actions[c].tolist():
                    if action >= 0:
                        apply(state, 0, rules, action)
                assert state[0] == found.states[c]
                results.add(state["points"].tobytes() + state["phase"].tobytes() + state["dice"].tobytes())
                assert found.seats[c] == before[i]["decider"]
                assert found.over[c] == (state[0]["phase"] == Phase.OVER)
            if before[i]["phase"] == Phase.CHECKER:
                assert len(results) == len(span)  # R11.2
    assert phases >= {int(Phase.CHECKER)} | ({int(Phase.TAKE_OR_DROP)} if env.settings.cube else set())


def test_plays_are_those_of_the_position():
    env = VectorEnv(64, opponent=None, cube=False)
    env.reset(seed=5)
    seen = 0
    for k in range(4):
        later(env, 31, k)
        states, found = env.states, env.afterstates()
        for i in range(64):
            state = states[i]
            if state["left"].sum() != (4 if state["dice"][0] == state["dice"][1] else 2):
                continue
            side = state["turn"]
            mover, opponent = state["points"][side].tolist(), state["points"][1 - side].tolist()
            plays = bg_env.Position(mover, opponent).legal_plays(*map(int, state["dice"]))
            ours = found.states[found.offsets[i] : found.offsets[i + 1]]["points"][:, [1 - side, side]].tolist()
            assert ours == [[list(play.result.mover), list(play.result.opponent)] for play in plays]
            seen += 1
    assert seen > 60


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("opponent", [None, "random", "pubeval"])
@pytest.mark.parametrize("options", SETTINGS)
def test_a_play_is_its_steps(options, opponent, mode):
    """Batches of one, since the steps of different games' plays are as many as they are."""
    options = {**options, "opponent": opponent, "autoreset_mode": mode, "max_turns": 25}
    for seed in range(6):
        whole, steps = VectorEnv(1, **options), VectorEnv(1, **options)
        for env in (whole, steps):
            env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(40):
            found = whole.afterstates()
            n = int(found.offsets[-1])
            if n == 0:  # over: it begins anew
                result, result2 = whole.step_plays([-5]), steps.step([0])
            else:
                index = int(rng.integers(n))
                result = whole.step_plays(np.array([index]))
                for action in found.actions[index].tolist():
                    if action >= 0:
                        result2 = steps.step([action])
                own = found.rewards[index]
                if opponent is None:
                    assert result[1][0] == own
                if found.over[index]:
                    assert result[2][0] or result[3][0]
            assert np.array_equal(result[0]["observation"], result2[0]["observation"])
            for name in ("player", "winner", "points", "level", "turns", "cube"):
                assert result[4][name] == result2[4][name], name
            for k in (1, 2, 3):
                assert result[k] == result2[k]
            assert result[4]["episode"]["r"] == result2[4]["episode"]["r"]
            assert (whole.states == steps.states).all()


def test_rewards_of_candidates_are_the_choosers():
    env = VectorEnv(256, opponent=None)
    env.reset(seed=2)
    ended = 0
    for k in range(120):
        found = env.afterstates()
        ends = np.flatnonzero(found.over)
        ended += len(ends)
        for c in ends.tolist():
            state, seat = found.states[c], found.seats[c]
            assert found.rewards[c] == (1 if state["winner"] == seat else -1) * state["won"]
        assert not found.rewards[~found.over].any()
        later(env, 1, k)
    assert ended > 100


def test_observations_are_written_where_asked():
    env = VectorEnv(40, opponent="random", num_threads=3)
    env.reset(seed=2)
    later(env, 20)
    found = env.afterstates(observation="tesauro198")
    m = len(found.states)
    expected = encoder("tesauro198").encode(found.states, env.settings.record(), seats=found.seats)
    assert np.array_equal(found.observations, expected)
    out = np.full((m + 5, 198), 7, np.float32)
    again = env.afterstates(observation="tesauro198", out=out)
    assert np.shares_memory(again.observations, out)
    assert np.array_equal(out[:m], expected)
    assert (out[m:] == 7).all()
    assert env.afterstates().observations is None
    assert env.afterstates(observation="planes").observations.shape == (m, 45, 24)
    single = VectorEnv(40, opponent="random")
    single.restore(env.save())
    for one, other in zip(single.afterstates(observation="tesauro198"), found, strict=True):
        assert (one == other).all()
    locked = np.zeros((m, 198), np.float32)
    locked.flags.writeable = False
    thin = np.zeros((m, 396), np.float32)[:, ::2]
    for wrong in (out[: m - 1], np.zeros((m, 197), np.float32), np.zeros((m, 198)), thin, locked, 5, [0.0], np.float32(1)):
        with pytest.raises(SettingsError, match="out "):
            env.afterstates(observation="tesauro198", out=wrong)
    with pytest.raises(SettingsError, match="name the encoder"):
        env.afterstates(out=out)
    with pytest.raises(SettingsError, match="no observation is called"):
        env.afterstates(observation="nothing")


def test_choosing_is_checked_and_nothing_happens():
    env = VectorEnv(4, opponent="random", cube=False)
    env.reset(seed=2)
    with pytest.raises(OrderError, match="call that first"):
        env.step_plays([0] * 4)
    found = env.afterstates()
    found.states.fill(0)  # what was handed out is a copy
    good = found.offsets[:-1]
    before = env.save()
    for wrong, said in (
        (good[:3], "4 integers"),
        (good.astype(float), "4 integers"),
        ([[1], [1, 2], 3, 4], "4 integers"),
        (found.offsets[1:], r"is not one of game 0: it has 0 to"),
        (np.where(np.arange(4) == 2, good[1], good), "of game 2"),
    ):
        with pytest.raises(IllegalActionError, match=said):
            env.step_plays(wrong)
    assert (env.save()["states"] == before["states"]).all()
    env.step_plays(good)
    with pytest.raises(OrderError, match="call that first"):
        env.step_plays(good)


def test_best_is_the_first_of_the_highest():
    offsets = np.array([0, 3, 3, 4, 8])
    assert best([1, 5, 5, 0, 2, 9, 1, 9], offsets).tolist() == [1, -1, 3, 5]
    with pytest.raises(SettingsError, match="8 candidates"):
        best([1.0], offsets)


def test_the_same_for_one_game():
    game = bg_env.Game.new(seed=3)
    for _ in range(60):
        if game.winner is not None:
            break
        offsets, actions, after = candidates(game.states, game.settings.record())
        assert offsets.tolist() == [0, len(after)]
        assert set(actions[:, 0].tolist()) <= set(game.legal_actions())
        other = game.copy()
        choice = len(after) // 2
        for action in actions[choice].tolist():
            if action >= 0:
                game.apply(action)
        assert other.player in (0, 1)
    offsets, actions, after = candidates(np.zeros(0, bg_env.rules.STATE), Settings().record())
    assert offsets.tolist() == [0]
    assert len(actions) == len(after) == 0


def test_a_limit_of_steps_leaves_no_candidates():
    env = VectorEnv(3, opponent=None, max_episode_steps=2)
    env.reset(seed=1)
    for _ in range(2):
        found = env.afterstates()
        env.step_plays(found.offsets[:-1])
    assert env.afterstates().offsets.tolist() == [0, 0, 0, 0]
    env.step_plays([9, 9, 9])
    assert env.states["turns"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "offsets", "words"),
    [
        (np.zeros(3), np.array([0, 10**12, 3]), "ascend from 0"),
        (np.zeros(3), np.array([-(10**12), 3]), "ascend from 0"),
        (np.zeros(3), np.array([0.0, 3.0]), "integer array"),
        (np.zeros(3), [0, 3], "integer array"),
        (np.zeros(3), np.zeros(0, np.int64), "integer array"),
        (np.array([0.0, np.nan, 1.0]), np.array([0, 3]), "candidate 1 is NaN"),
        (np.zeros((3, 1)), np.array([0, 3]), r"shape \(3, 1\)"),
        ("abc", np.array([0, 3]), "values are numbers"),
        ([object()] * 3, np.array([0, 3]), "values are numbers"),
    ],
)
def test_best_refuses_what_no_afterstates_are(values, offsets, words):
    with pytest.raises(SettingsError, match=words):
        best(values, offsets)


def test_best_takes_minus_infinity_for_what_is_not_to_be_chosen():
    assert best([-np.inf, 1.0, -np.inf], np.array([0, 3], np.int32)).tolist() == [1]
