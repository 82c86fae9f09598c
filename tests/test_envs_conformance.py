"""The checkers of PettingZoo, Gymnasium and Stable-Baselines3, for every module, id and kind of option."""

from __future__ import annotations

import io
import json
import pickle
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from env_cases import (
    IDS,
    MODULES,
    OPTIONS,
    api_test,
    make,
    play,
    play_single,
    render_test,
    same,
    seed_test,
    seldom_cube,
    twin,
    uniform,
)
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from bg_env.batch.one_game import step_once as step_kernel
from bg_env.envs import rendering as view
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import OrderError
from bg_env.observations.tesauro import encode_tesauro as view_kernel
from bg_env.registration import AEC_IDS, register_all
from bg_env.rules import VARIANTS, Settings

modules = pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
ids = pytest.mark.parametrize("name", IDS)
options = pytest.mark.parametrize("given", OPTIONS.values(), ids=[name.replace(" ", "-") for name in OPTIONS])

SAID_OF_EVERY_DICT = ("Observation is not a NumPy array", "Observation space for each agent probably")
"""PettingZoo warns so of each environment with a Dict observation that is not one of its own."""


def fits(preset, given):
    """Whether the options can stand together: Jacoby, beavers and automatic doubles belong to money play."""
    both = {**preset, **given}
    return not (both.get("match_length") and both.get("jacoby"))


# PettingZoo


@modules
@options
def test_the_api_is_pettingzoos(module, given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if given.get("mask") != "info":
            for text in SAID_OF_EVERY_DICT:
                warnings.filterwarnings("ignore", message=text)
        api_test(module.env(**given), num_cycles=300)


@modules
@options
def test_the_same_seed_gives_the_same_games(module, given):
    seed_test(lambda: module.env(**given), num_cycles=60)


@modules
def test_it_renders_in_every_mode(module, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(view, "RENDER_FPS", 0)  # a window waits for nobody here
    render_test(module.env)


@pytest.mark.parametrize("kind", ["aec", "single"])
@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array", "human"])
def test_what_each_render_mode_gives(kind, mode, monkeypatch):
    """Also at the end of the episode; and `close` may be called twice."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(view, "RENDER_FPS", 0)  # a window waits for nobody here
    env = (BackgammonEnv if kind == "aec" else SingleEnv)("hypergammon", render_mode=mode, max_turns=6)
    env.reset(seed=1)
    assert mode in (None, *env.metadata["render_modes"])
    game = env.game
    for played in (False, True):
        if played and kind == "aec":
            play(env, uniform(1))
        elif played:
            play_single(env, uniform(1), None, {"action_mask": env.action_masks()})
        drawn = env.render()
        if mode == "rgb_array":
            assert drawn.dtype == np.uint8
            assert drawn.ndim == 3
            assert drawn.shape[2] == 3
            assert drawn.min() < drawn.max()
        elif mode == "ansi":
            assert drawn == str(env.game)
        else:
            assert drawn is None
    assert env.game.position != game.position
    env.close()
    env.close()


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_copy_does_not_compile_the_kernels_again(way):
    """A record that is read-only here and writable there is another type to Numba: every kernel would be compiled anew."""
    if not hasattr(step_kernel, "signatures"):
        pytest.skip("kernels are not compiled here (NUMBA_DISABLE_JIT)")
    aec, single = MODULES["backgammon_v0"].env(), make("bg_env/Backgammon-v0")
    for env in (aec, single):
        env.reset(seed=1)
    play(aec, uniform(1))
    before = set(step_kernel.signatures), set(view_kernel.signatures)
    aec, single = twin(aec, way), twin(single, way)
    aec.reset(seed=1)
    play(aec, uniform(1))
    observation, info = single.reset(seed=1)
    play_single(single, uniform(1), observation, info)
    assert (set(step_kernel.signatures), set(view_kernel.signatures)) == before


@modules
def test_the_modules_are_what_they_say(module):
    name = module.__name__.removeprefix("bg_env.")
    for made in (module.env(), module.raw_env()):
        assert made.metadata["name"] == name
        assert made.metadata["is_parallelizable"] is False
        assert made.possible_agents == ["player_0", "player_1"]
        assert made.settings.variant.name == name.removesuffix("_v0")
        assert made.render_mode is None
    assert str(module.env()) == name


@modules
@options
@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_copied_game_goes_on_identically(module, given, way):
    env = module.env(**given)
    env.reset(seed=5, options={"dice": [(3, 1), (2, 1), (6, 4)]})
    choose = seldom_cube(1)
    for _ in range(7):
        if env.agents and not env.terminations[env.agent_selection] and not env.truncations[env.agent_selection]:
            mask = env.last()[4].get("action_mask")
            env.step(choose(env.observe(env.agent_selection)["action_mask"] if mask is None else mask))
    other = twin(env, way)
    assert same(play(other, seldom_cube(2)), play(env, seldom_cube(2)))
    for each in (env, other):
        each.reset()
    assert same(play(other, seldom_cube(3)), play(env, seldom_cube(3)))


def test_a_copy_that_is_played_leaves_the_original_alone():
    env = MODULES["backgammon_v0"].env()
    env.reset(seed=3)
    before = env.observe("player_0")
    play(twin(env, "deepcopy"), uniform(1))
    assert same(env.observe("player_0"), before)


# Gymnasium


@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name in IDS for given in OPTIONS.values() if fits(IDS[name], given)]
)
def test_gymnasiums_checker_is_content(name, given):
    check_env(make(name, **given), skip_render_check=False)


@ids
def test_gymnasiums_checker_is_content_in_self_play(name):
    check_env(make(name, opponent=None), skip_render_check=True)


@ids
def test_gymnasiums_checker_is_content_as_made(name):
    with gymnasium.make(name) as env, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")  # it is what is tested here
        check_env(env, skip_render_check=True)


@ids
@pytest.mark.parametrize("given", [{}, {"mask": "info"}, {"observation": "counts"}], ids=["default", "info", "counts"])
def test_stable_baselines3s_checker_is_content(name, given):
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs stable-baselines3 (extra sb3)")
    checker.check_env(make(name, **given), warn=True, skip_render_check=True)


@ids
@pytest.mark.parametrize("worker", [False, True], ids=["", "by-module"])
def test_the_ids_are_made_as_they_are_registered(name, worker):
    env = gymnasium.make(f"bg_env:{name}" if worker else name)
    assert env.spec is not None
    assert env.spec.id == name
    for option, value in IDS[name].items():
        of = env.unwrapped.settings
        assert of.variant.name == value if option == "variant" else getattr(of, option) == value
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert not play_single(env, uniform(1), observation, info)[-1][4]["illegal"]
    env.close()


def test_a_time_limit_is_gymnasiums_own():
    env = gymnasium.make("bg_env/Backgammon-v0", max_episode_steps=5)
    env.reset(seed=1)
    ends = []
    for _ in range(5):
        mask = env.unwrapped.action_masks()
        ends.append(env.step(int(mask.argmax()))[2:4])
    assert ends == [(False, False)] * 4 + [(False, True)]


@ids
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"opponent": "random", "seat": 1, "observation": "counts", "mask": "info", "reward": "win", "illegal": "raise"},
        {"variant": "tiny(24:1 13:2)", "cube": True, "cube_cap": 8, "max_turns": 50, "allow_dead_cube": True},
        {"opponent": None, "render_mode": "ansi"},
    ],
    ids=["default", "words", "numbers", "nothing"],
)
def test_a_spec_survives_json(name, given):
    env = gymnasium.make(name, **given)
    text = env.spec.to_json()
    json.loads(text)
    again = gymnasium.make(EnvSpec.from_json(text))
    assert again.unwrapped.settings == env.unwrapped.settings
    assert again.observation_space == env.observation_space
    one, other = env.reset(seed=4), again.reset(seed=4)
    assert same(one, other)


@ids
@pytest.mark.parametrize(
    "given", [{}, {"opponent": None}, {"mask": "info", "cube": True}], ids=["default", "self-play", "info"]
)
@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_copied_episode_goes_on_identically(name, given, way):
    env = make(name, **given)
    observation, info = env.reset(seed=8)
    choose = seldom_cube(1)
    for _ in range(9):
        observation, _, terminated, _, info = env.step(choose(env.action_masks()))
        if terminated:
            observation, info = env.reset()
    other = twin(env, way)
    seen = play_single(env, seldom_cube(2), observation, info)
    assert same(play_single(other, seldom_cube(2), observation, info), seen)
    assert same(other.reset(), env.reset())


@pytest.mark.parametrize("given", [{}, {"mask": "info"}], ids=["default", "info"])
def test_workers_of_gymnasiums_own_vector_envs_can_make_it(given):
    envs = gymnasium.make_vec("bg_env:bg_env/Hypergammon-v0", num_envs=2, vectorization_mode="sync", **given)
    observations, _ = envs.reset(seed=3)
    assert observations in envs.observation_space
    envs.close()


class _Kernels(pickle.Pickler):
    """A pickler that keeps the names of the compiled functions that it meets."""

    def __init__(self):
        super().__init__(io.BytesIO())
        self.met = []

    def reducer_override(self, thing):
        """Pickle as ever, and look."""
        if hasattr(thing, "py_func"):
            self.met.append(thing.py_func.__qualname__)
        return NotImplemented


@pytest.mark.parametrize("observation", ["tesauro", "planes"])
@pytest.mark.parametrize(
    "make",
    [BackgammonEnv, SingleEnv, lambda **given: VectorEnv(3, opponent="pubeval", **given)],
    ids=["aec", "single", "vector"],
)
def test_no_compiled_function_goes_to_workers(make, observation):
    """Numba would pickle it by value where it stores kernels itself, and each worker compile it and all that it calls anew."""
    env = make(observation=observation)
    env.reset(seed=1)
    pickler = _Kernels()
    pickler.dump(env)
    assert pickler.met == []
    assert len(pickle.dumps(env)) < 40_000


@pytest.mark.skipif(not hasattr(pettingzoo, "aec_registry"), reason="this version of PettingZoo has no registry")
@pytest.mark.parametrize("name", AEC_IDS)
def test_pettingzoo_makes_it_by_its_id(name):
    env = pettingzoo.make("aec", name, cube=False, mask="info")
    module, given = AEC_IDS[name]
    assert env.metadata["name"] == module
    assert env.settings == Settings(given.get("variant", module.removesuffix("_v0")), cube=False)
    env.reset(seed=1)
    assert env.observe("player_0").shape == (229,)


def test_pettingzoo_knows_every_variant():
    made = {given.get("variant", module.removesuffix("_v0")) for module, given in AEC_IDS.values()}
    assert made == set(VARIANTS)
    before = dict(gymnasium.registry)
    register_all()  # a second time: nothing is overridden
    assert gymnasium.registry == before


@modules
@pytest.mark.parametrize("given", [{}, {"mask": "info", "observation": "planes"}], ids=["default", "planes"])
def test_the_state_is_what_player_0_sees(module, given):
    env = module.env(**given)
    with pytest.raises(OrderError, match="reset"):
        env.state()
    for seed in (1, 2):
        env.reset(seed=seed)
        state, seen = env.state(), env.observe("player_0")
        assert np.array_equal(state, seen if given else seen["observation"])
        assert env.state_space.contains(state)
        state[:] = 9
        assert not np.array_equal(env.state(), state)
