"""Callables and models of Stable-Baselines3 as players."""

from __future__ import annotations

import pickle
import sys

import gymnasium as gym
import numpy as np
import pytest

import bg_env  # noqa: F401 - registers the ids
from bg_env import arena
from bg_env import rules as engine
from bg_env.actions import ROLL, TAKE
from bg_env.errors import MissingDependencyError, OrderError, SettingsError
from bg_env.observations import encoder
from bg_env.players import FunctionPlayer, ModelPlayer, player
from bg_env.rules import STATE, Phase, Settings

CUBELESS = Settings(cube=False)


def waiting(settings, n, seed=0):
    """States that wait for a decision, out of random play."""
    rules, rng, found = settings.record(), np.random.default_rng(seed), []
    mask = np.zeros((1, settings.actions), np.int8)
    while len(found) < 20 * n:
        states = np.zeros(1, STATE)
        engine.new_episode(states, 0, rules, rng.integers(2**63, dtype=np.uint64))
        engine.settle(states, 0, rules)
        while states[0]["phase"] != Phase.OVER:
            found.append(states.copy())
            engine.legal_mask(states, 0, rules, mask, 0)
            engine.apply(states, 0, rules, int(rng.choice(np.flatnonzero(mask[0]))))
            engine.settle(states, 0, rules)
    return np.concatenate([found[k] for k in rng.permutation(len(found))[:n]])


def masks(states, settings):
    out = np.zeros((len(states), settings.actions), np.int8)
    for i in range(len(states)):
        engine.legal_mask(states, i, settings.record(), out, i)
    return out


def lowest(seen):
    return seen["action_mask"].argmax(axis=1)


def highest_two(observation, mask):
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


WORDS = np.zeros(1000, np.uint64)


@pytest.mark.parametrize("settings", [CUBELESS, Settings(), Settings("acey_deucey", cube=True)], ids=str)
def test_a_callable_gets_observations_and_masks(settings):
    states, shown = waiting(settings, 40), []

    def keep(seen):
        shown.append(seen)
        return lowest(seen)

    chosen = FunctionPlayer(keep, observation="counts", settings=settings)
    actions = chosen.choose(states, WORDS[:40])
    legal = masks(states, settings)
    assert actions.tolist() == legal.argmax(axis=1).tolist()
    assert list(shown[0]) == ["observation", "action_mask"]
    assert np.array_equal(shown[0]["action_mask"], legal)
    view = encoder("counts").encode(states, settings.record())
    assert np.array_equal(shown[0]["observation"], view)
    two = FunctionPlayer(highest_two, mask="info").bind(settings).choose(states, WORDS[:40])
    assert (legal[np.arange(40), two] == 1).all()


def test_a_callable_plays_whole_games():
    result = arena.play(FunctionPlayer(lowest), FunctionPlayer(highest_two, mask="info"), games=20, seed=3)
    assert result.complete
    env = gym.make("bg_env/Backgammon-v0", opponent=FunctionPlayer(lowest, observation="planes"))
    observation, _ = env.reset(seed=1)
    ended = False
    while not ended:
        observation, _, ended, _, info = env.step(int(np.flatnonzero(observation["action_mask"])[0]))
    assert info["winner"] in (0, 1)


def test_what_a_callable_must_be():
    with pytest.raises(SettingsError, match="a callable from observations to actions is needed, not 3"):
        FunctionPlayer(3)
    with pytest.raises(SettingsError, match="mask is one of 'both', 'observation', 'info', not 'none'"):
        FunctionPlayer(lowest, mask="none")
    with pytest.raises(SettingsError, match="no observation is called 'x'"):
        FunctionPlayer(lowest, observation="x")
    with pytest.raises(SettingsError, match="openspiel"):
        FunctionPlayer(lowest, observation="openspiel").bind(Settings("longgammon"))
    with pytest.raises(OrderError, match="player lowest must know the settings"):
        FunctionPlayer(lowest).choose(np.zeros(1, STATE), WORDS[:1])
    again = pickle.loads(pickle.dumps(FunctionPlayer(lowest, settings=CUBELESS)))  # noqa: S301 - our own bytes
    assert (again.name, again.settings) == ("lowest", CUBELESS)


@pytest.fixture(scope="module")
def sb3():
    return pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")


@pytest.fixture(scope="module")
def contrib(sb3):
    return pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")


TINY = {"net_arch": [8]}


def cubeless(**options):
    return gym.make("bg_env/BackgammonCubeless-v0", disable_env_checker=True, **{"mask": "info", **options})


def test_maskable_ppo_chooses_as_its_predict(contrib, tmp_path):
    model = contrib.MaskablePPO("MlpPolicy", cubeless(), policy_kwargs=TINY, n_steps=8, batch_size=8, device="cpu", seed=1)
    states = waiting(CUBELESS, 60)
    view, legal = encoder("tesauro").encode(states, CUBELESS.record()), masks(states, CUBELESS)
    want = model.predict(view, action_masks=legal, deterministic=True)[0].tolist()
    assert ModelPlayer(model, settings=CUBELESS).choose(states, WORDS[:60]).tolist() == want
    model.save(tmp_path / "model.zip")
    loaded = player(f"sb3:{tmp_path / 'model.zip'}", CUBELESS)
    assert loaded.name == "sb3:model.zip"
    assert loaded.choose(states, WORDS[:60]).tolist() == want
    drawn = ModelPlayer(model, deterministic=False, settings=CUBELESS).choose(states, WORDS[:60])
    assert (legal[np.arange(60), drawn] == 1).all()
    assert drawn.tolist() != want
    assert "tesauro" in repr(loaded)


def test_a_model_that_sees_the_dict(contrib):
    env = cubeless(mask="both", observation="counts")
    model = contrib.MaskablePPO("MultiInputPolicy", env, policy_kwargs=TINY, n_steps=8, batch_size=8, device="cpu", seed=2)
    states = waiting(CUBELESS, 30)
    legal = masks(states, CUBELESS)
    seen = {"observation": encoder("counts").encode(states, CUBELESS.record()), "action_mask": legal}
    want = model.predict(seen, action_masks=legal, deterministic=True)[0].tolist()
    assert ModelPlayer(model).bind(CUBELESS).choose(states, WORDS[:30]).tolist() == want


@pytest.mark.parametrize("name", ["PPO", "A2C", "DQN", "QRDQN"])
def test_models_without_masks_choose_the_best_legal_action(contrib, sb3, tmp_path, name):
    kind = getattr(sb3, name, None) or getattr(contrib, name)
    more = {"buffer_size": 100} if "DQN" in name else {}
    kind("MlpPolicy", cubeless(), policy_kwargs=TINY, device="cpu", seed=3, **more).save(tmp_path / "model.zip")
    chosen = player(f"sb3:{tmp_path / 'model.zip'}", CUBELESS)
    assert type(chosen.model) is kind
    states = waiting(CUBELESS, 60)
    legal = masks(states, CUBELESS)
    actions = chosen.choose(states, WORDS[:60])
    assert (legal[np.arange(60), actions] == 1).all()
    free = chosen.model.predict(encoder("tesauro").encode(states, CUBELESS.record()), deterministic=True)[0]
    allowed = legal[np.arange(60), free] == 1
    assert actions[allowed].tolist() == free[allowed].tolist()
    assert len(set(actions.tolist())) > 3


def test_a_cubeless_model_rolls_and_takes(contrib):
    model = contrib.MaskablePPO("MlpPolicy", cubeless(), policy_kwargs=TINY, n_steps=8, batch_size=8, device="cpu")
    for settings in (Settings(beavers=1), Settings("acey_deucey", cube=True)):
        states = waiting(settings, 80)
        actions = ModelPlayer(model, settings=settings).choose(states, WORDS[:80])
        legal = masks(states, settings)
        assert (legal[np.arange(80), actions] == 1).all()
        assert (actions[states["phase"] == Phase.ROLL_OR_DOUBLE] == ROLL).all()
        assert (actions[states["phase"] == Phase.TAKE_OR_DROP] == TAKE).all()
        assert (actions[states["phase"] == Phase.CHOOSE_DOUBLE] == 160).all()


def test_a_model_with_the_cube_plays_without_it(contrib):
    env = gym.make("bg_env/Backgammon-v0", disable_env_checker=True, mask="info")
    model = contrib.MaskablePPO("MlpPolicy", env, policy_kwargs=TINY, n_steps=8, batch_size=8, device="cpu")
    states = waiting(CUBELESS, 40)
    actions = ModelPlayer(model, settings=CUBELESS).choose(states, WORDS[:40])
    assert (masks(states, CUBELESS)[np.arange(40), actions] == 1).all()
    seen = []
    for opponent in (ModelPlayer(model), model):  # a model may be given as it is
        batch = gym.make_vec("bg_env/Backgammon-v0", num_envs=4, opponent=opponent)
        observation, _ = batch.reset(seed=1)
        for _ in range(30):
            observation, *_ = batch.step(observation["action_mask"].argmax(axis=1))
        seen.append(observation["observation"])
    assert np.array_equal(*seen)


def test_what_a_model_must_be(sb3, contrib, tmp_path):
    with pytest.raises(SettingsError, match="a model with predict and a Discrete action_space is needed, not str"):
        ModelPlayer("model.zip")
    other = sb3.PPO("MlpPolicy", "CartPole-v1", policy_kwargs=TINY, device="cpu")
    with pytest.raises(SettingsError, match=r"observation space Box.* fits no encoder: tesauro \(229,\)"):
        ModelPlayer(other)
    model = contrib.MaskablePPO("MlpPolicy", cubeless(), policy_kwargs=TINY, n_steps=8, batch_size=8, device="cpu")
    with pytest.raises(SettingsError, match=r"fits no encoder: counts \(85,\)"):
        ModelPlayer(model, observation="counts")
    with pytest.raises(OrderError, match="player MaskablePPO must know the settings"):
        ModelPlayer(model).choose(np.zeros(1, STATE), WORDS[:1])
    with pytest.raises(SettingsError, match=r"there is no file .*nothing.zip"):
        player(f"sb3:{tmp_path / 'nothing.zip'}", CUBELESS)
    (tmp_path / "other.zip").write_bytes(b"not a zip")
    with pytest.raises(SettingsError, match=r"other.zip is not a model of Stable-Baselines3"):
        player(f"sb3:{tmp_path / 'other.zip'}", CUBELESS)


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "bg_env\[sb3\]"'):
        player("sb3:model.zip", CUBELESS)
