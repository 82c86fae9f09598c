"""Encoders and rewards of users in play: every environment, one thread and two, the arena, players and Stable-Baselines3."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
from env_cases import play, seldom_cube
from own_values import QUICK, QUICK_COMPILED, RACE, RACE_COMPILED

from bg_env import BackgammonEnv, Encoder, Reward, Settings, SettingsError, SingleEnv, VectorEnv, arena, backgammon_v0
from bg_env.players import FunctionPlayer
from bg_env.testing import check_env

ENCODERS = pytest.mark.parametrize("item", [RACE, RACE_COMPILED], ids=["numpy", "numba"])
REWARDS = pytest.mark.parametrize("item", [QUICK, QUICK_COMPILED], ids=["numpy", "numba"])
MANY = 2048
"""Enough games for two threads."""


def steps(env, n):
    """Random legal steps."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        masks = env.action_masks()
        env.step(int(rng.choice(np.flatnonzero(masks))) if masks.ndim == 1 else env.sample(rng))


def left_unwritten(states, rules, seats, out):
    out[:, 0] = 1


WRONG = Encoder("wrong", ["one", "two"], 0, 1, left_unwritten)


@ENCODERS
def test_the_two_agent_environment_shows_an_encoder(item):
    env = backgammon_v0.env(observation=item, variant="hypergammon")
    env.reset(seed=3)
    choose = seldom_cube(1)
    while not any(env.terminations.values()):
        for seat, agent in enumerate(env.possible_agents):
            assert env.observation_space(agent)["observation"].contains(env.observe(agent)["observation"])
            shown = item.encode(env.game.states, env.settings.record(), seats=seat)[0]
            assert np.array_equal(env.observe(agent)["observation"], shown)
        env.step(choose(env.observe(env.agent_selection)["action_mask"]))


@ENCODERS
@pytest.mark.parametrize("opponent", ["random", None])
def test_the_environment_of_one_game_shows_an_encoder(item, opponent):
    env = SingleEnv("hypergammon", observation=item, mask="info", opponent=opponent)
    rng = np.random.default_rng(2)
    seen, _ = env.reset(seed=3)
    for _ in range(60):
        who = env.seat if opponent else max(env.game.player or 0, 0)
        if env.game.player is not None:
            assert np.array_equal(seen, item.encode(env.game.states, env.settings.record(), seats=who)[0])
        seen, _, over, cut, _ = env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
        if over or cut:
            seen, _ = env.reset()


@ENCODERS
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("opponent", ["random", "pubeval", None])
def test_a_batch_shows_an_encoder_on_any_number_of_threads(item, mode, opponent):
    batches = [
        VectorEnv(MANY, "hypergammon", observation=item, opponent=opponent, autoreset_mode=mode, num_threads=n) for n in (1, 2)
    ]
    shown = [batch.reset(seed=1)[0] for batch in batches]
    rng, ended = np.random.default_rng(0), 0
    for _ in range(25):
        assert np.array_equal(shown[0]["observation"], shown[1]["observation"])
        going = batches[0].states["decider"] >= 0
        states = batches[0].states[going]
        expected = item.encode(states, batches[0].settings.record(), seats=states["decider"].copy())
        assert np.array_equal(shown[0]["observation"][going], expected)
        actions = batches[0].sample(rng)
        steps = [batch.step(actions) for batch in batches]
        shown = [step[0] for step in steps]
        ended += int(steps[0][2].sum())
        if "final_obs" in steps[0][4]:
            finals = [np.concatenate([f["observation"] for f in step[4]["final_obs"] if f is not None]) for step in steps]
            assert np.array_equal(*finals)
    assert ended > 10


@ENCODERS
def test_afterstates_are_shown_by_an_encoder(item):
    env = VectorEnv(64, "hypergammon", opponent=None, cube=False)
    env.reset(seed=1)
    found = env.afterstates(observation=item)
    assert np.array_equal(found.observations, item.encode(found.states, env.settings.record(), seats=found.seats))


def test_an_encoder_is_checked_at_the_first_look():
    words = "encoder wrong: feature 'two' is NaN or was not written"
    aec = BackgammonEnv(observation=WRONG)
    with pytest.raises(SettingsError, match=words):
        (aec.reset(seed=1), aec.observe("player_0"))
    for env in (
        SingleEnv(observation=WRONG),
        VectorEnv(3, observation=WRONG),
        VectorEnv(MANY, observation=WRONG, num_threads=2),
    ):
        with pytest.raises(SettingsError, match=words):
            env.reset(seed=1)
    right = VectorEnv(3, opponent=None)
    right.reset(seed=1)
    with pytest.raises(SettingsError, match=words):
        right.afterstates(observation=WRONG)


@pytest.mark.parametrize("settings", [Settings("hypergammon"), Settings("hypergammon", match_length=3)], ids=str)
@REWARDS
def test_the_two_agent_environment_gives_a_reward(item, settings):
    """As `win` does, with what the function makes of the number of turns."""
    for seed in range(6):
        envs = [backgammon_v0.env(settings=settings, reward=reward) for reward in ("win", item)]
        for env in envs:
            env.reset(seed=seed)
        choose, games = seldom_cube(seed), 0
        while not any(envs[0].terminations.values()):
            action = choose(envs[0].observe(envs[0].agent_selection)["action_mask"])
            for env in envs:
                env.step(action)
            won, got = (env.rewards["player_0"] for env in envs)
            factor = 1.0 if envs[0].infos["player_0"]["turns"] <= 20 else 0.5
            if settings.money:
                assert got == won * factor
            assert (got == 0) == (won == 0)
            assert envs[1].rewards["player_1"] == -got
            games += won != 0
        assert games >= 1


@REWARDS
@pytest.mark.parametrize("illegal", [False, True])
def test_the_environment_of_one_game_gives_a_reward(item, illegal):
    envs = [SingleEnv("hypergammon", reward=reward, opponent="random") for reward in ("win", item)]
    rng, seen = np.random.default_rng(4), set()
    for seed in range(12):
        for env in envs:
            env.reset(seed=seed)
        over = False
        while not over:
            mask = envs[0].action_masks()
            wrong = illegal and rng.random() < 0.05 and not mask.all()
            action = int(rng.choice(np.flatnonzero(~mask if wrong else mask)))
            (_, won, over, _, info), (_, got, *_) = (env.step(action) for env in envs)
            assert got == won * (1.0 if info["turns"] <= 20 else 0.5)
            seen.add(got)
    assert {-1, 1} & seen


@REWARDS
@pytest.mark.parametrize("opponent", ["random", "pubeval", None, lambda seen: seen["action_mask"].argmax(axis=1)])
def test_a_batch_gives_a_reward_on_any_number_of_threads(item, opponent):
    settings = {"variant": "hypergammon", "opponent": opponent, "autoreset_mode": "same_step"}
    batches = [VectorEnv(MANY, reward=reward, num_threads=n, **settings) for reward, n in (("win", 1), (item, 1), (item, 2))]
    for batch in batches:
        batch.reset(seed=1)
    rng, seen = np.random.default_rng(0), set()
    returns = np.zeros(MANY)
    for _ in range(40):
        actions = batches[0].sample(rng)
        (_, won, over, _, info), (_, got, _, _, told), (_, other, *_) = (batch.step(actions) for batch in batches)
        assert np.array_equal(got, other)
        turns = info["final_info"]["turns"] if over.any() else info["turns"]
        assert np.array_equal(got, won * np.where(turns <= 20, 1.0, 0.5))
        seen |= set(np.unique(got).tolist())
        returns += got
        if over.any() and opponent is not None:
            assert np.allclose(told["episode"]["r"][over], returns[over])
            returns[over] = 0
    assert seen >= {-1, 0, 1}


def test_a_reward_out_of_its_bound_is_refused_where_it_is_given():
    wild = Reward("wild", function=lambda states, rules: np.full(len(states), 9.0), bound=1)
    for env in (SingleEnv("hypergammon", reward=wild, opponent=None), VectorEnv(4, "hypergammon", reward=wild, opponent=None)):
        env.reset(seed=1)
        with pytest.raises(SettingsError, match="reward wild: its function returned 9 for state 0, not from -1 to 1"):
            steps(env, 2000)


def test_a_saved_batch_knows_its_reward():
    env = VectorEnv(3, reward=QUICK)
    env.reset(seed=1)
    saved = env.save()
    env.restore(saved)
    with pytest.raises(SettingsError, match="reward"):
        VectorEnv(3).restore(saved)


def test_players_and_the_arena_show_an_encoder():
    shapes = set()

    def first(seen):
        shapes.add(seen["observation"].shape[1:])
        return seen["action_mask"].argmax(axis=1)

    assert arena.play(first, "random", games=4, observation=RACE, variant="hypergammon").complete
    assert arena.play(FunctionPlayer(first, RACE), "random", games=4, variant="hypergammon").complete
    env = VectorEnv(4, "hypergammon", observation=RACE, opponent=first)
    env.reset(seed=1)
    env.step(env.sample(np.random.default_rng(0)))
    assert shapes == {(2,)}


def test_stable_baselines_sees_an_encoder_and_a_reward():
    pytest.importorskip("sb3_contrib", reason="needs the extra bg_env[train]")
    from sb3_contrib import MaskablePPO

    from bg_env.adapters.sb3 import make_sb3
    from bg_env.players import ModelPlayer

    games = make_sb3("bg_env/Hypergammon-v0", 8, observation=RACE, reward=QUICK, seed=1, cube=False)
    assert games.observation_space.shape == (2,)
    model = MaskablePPO("MlpPolicy", games, n_steps=8, batch_size=64, device="cpu", seed=1)
    model.learn(64)
    assert arena.play(ModelPlayer(model, RACE), "random", games=4, variant="hypergammon", cube=False).complete


@pytest.mark.parametrize(
    "make", [BackgammonEnv, SingleEnv, lambda **given: VectorEnv(3, **given)], ids=["aec", "single", "vector"]
)
def test_environments_with_own_values_are_pickled(make):
    env = make(observation=RACE_COMPILED, reward=QUICK_COMPILED)
    env.reset(seed=1)
    again = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own bytes
    assert again.settings == env.settings


def test_the_contract_holds_with_own_values():
    check_env("hypergammon", episodes=1, observation=RACE, reward=QUICK)


def test_gymnasium_carries_own_values_to_workers():
    def made():
        return gymnasium.make("bg_env:bg_env/Hypergammon-v0", observation=RACE, reward=QUICK)

    envs = gymnasium.vector.AsyncVectorEnv([made, made])
    try:
        seen, _ = envs.reset(seed=1)
        assert seen["observation"].shape == (2, 2)
    finally:
        envs.close()


def test_a_playthrough_is_the_same_with_own_values():
    plain, own = backgammon_v0.env(), backgammon_v0.env(observation=RACE, reward=QUICK)
    for env in (plain, own):
        env.reset(seed=7)
    moves = [[turn[:2] for turn in play(env, seldom_cube(7))] for env in (plain, own)]
    assert len(moves[0]) == len(moves[1]) > 20
