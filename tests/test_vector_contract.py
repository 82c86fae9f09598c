"""The batch against Gymnasium's own vector environment, and what it refuses, saves, shares and survives."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import re
import threading
import time

import gymnasium as gym
import numba
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

import bg_env
from bg_env.batch import batch as games
from bg_env.batch import kernels as batch
from bg_env.batch.afterstates import best
from bg_env.batch.threads import Slices
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import IllegalActionError, OrderError, SettingsError
from bg_env.observations import ENCODERS
from bg_env.registration import IDS
from bg_env.rules import CHOICE, SEAT, episode_key, word


@pytest.fixture(autouse=True)
def small_batches_have_threads_too(monkeypatch):
    monkeypatch.setattr(games, "FEWEST", 1)


MODES = ("next_step", "same_step", "disabled")


def assert_same(one, other):
    """Equal in value, form and type, through dicts and arrays of objects."""
    if isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, np.ndarray) and one.dtype == object:
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif one is None:
        assert other is None
    else:
        assert one.dtype.kind == other.dtype.kind
        assert np.array_equal(one, other)


def assert_infos(ours, theirs):
    """Gymnasium's infos, but for its masks of what every game has, and for our statistics."""
    for name, value in theirs.items():
        if isinstance(value, dict):
            assert_infos(ours[name], value)
        elif name == "action_mask" and "_action_mask" in ours:  # final masks: what stands where no episode ended is nobody's
            assert_same(ours[name][ours["_action_mask"]], value[ours["_action_mask"]])
        elif name in ours or name in ("final_obs", "_final_obs", "_final_info"):
            assert_same(ours[name], value)
        else:
            assert name[0] == "_"
            assert value.all()
    assert set(ours) - set(theirs) <= {"episode", "_episode"}


@pytest.mark.parametrize("mask", ["both", "observation", "info"])
@pytest.mark.parametrize("mode", MODES)
def test_all_modes_are_those_of_gymnasium(mode, mask):
    options = {"variant": "hypergammon", "cube": False, "mask": mask, "opponent": "random"}
    ours = VectorEnv(7, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: SingleEnv(**options)] * 7, autoreset_mode=AutoresetMode[mode.upper()])
    assert ours.metadata["autoreset_mode"] is ours.autoreset_mode is theirs.metadata["autoreset_mode"]
    assert "autoreset_mode" not in VectorEnv.metadata
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, space) == getattr(theirs, space)
    one, other = ours.reset(seed=4), theirs.reset(seed=4)
    assert_same(one[0], other[0])
    assert_infos(one[1], other[1])
    ended = 0
    for _ in range(160):
        actions = ours.action_masks().argmax(1)
        one, other = ours.step(actions), theirs.step(actions)
        for a, b in zip(one[:4], other[:4], strict=True):
            assert_same(a, b)
        assert_infos(one[4], other[4])
        assert ours.observation_space.contains(one[0])
        done = one[2] | one[3]
        ended += done.sum()
        if mode == "disabled" and done.any():
            one, other = (env.reset(options={"reset_mask": done}) for env in (ours, theirs))
            assert_same(one[0], other[0])
    assert ended > 10


@pytest.mark.parametrize("name", IDS)
def test_every_id_is_made(name):
    env = gym.make_vec(name, num_envs=3, opponent=None, autoreset_mode="SameStep", max_turns=4)
    assert isinstance(env, VectorEnv)
    assert env.spec.id == name
    assert env.autoreset_mode is AutoresetMode.SAME_STEP
    observation, infos = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert env.num_envs == len(infos["player"]) == 3
    assert list(observation) == ["observation", "action_mask"]
    assert infos["action_mask"] is observation["action_mask"]
    for _ in range(60):
        *_, infos = env.step(env.sample())
    env.close()


def test_seeds_of_games_and_episodes():
    env = VectorEnv(3, opponent="random", max_turns=3)
    env.reset(seed=8)
    for episode in range(3):
        keys = [int(episode_key(np.uint64(8 + i), np.uint64(episode))) for i in range(3)]
        assert env.states["key"].tolist() == keys
        assert env.seats.tolist() == [int(word(np.uint64(key), SEAT, 0)) & 1 for key in keys]
        env.reset()
    env.reset(seed=[5, None, 2**64 - 1])
    assert env.states["key"].tolist() == [
        int(episode_key(np.uint64(s), np.uint64(k))) for s, k in ((5, 0), (9, 4), (2**64 - 1, 0))
    ]
    env.reset(seed=2**64 - 3)
    assert env.states["key"][2] == episode_key(np.uint64(2**64 - 1), np.uint64(0))
    before = env.states.copy()
    with pytest.raises(SettingsError, match=r"seed is at most 2\*\*64 - 3 for 3 games"):
        env.reset(seed=2**64 - 2)
    assert (env.states == before).all()
    one, other = VectorEnv(2), VectorEnv(2)
    one.reset()
    other.reset()
    assert not (one.states["key"] == other.states["key"]).any()


def test_the_opponent_takes_one_word_a_decision():
    seen = []

    class Spy:
        def choose_plays(self, states, words):
            for state, bits in zip(states, words, strict=True):
                assert bits == word(state["key"], CHOICE, state["choices"] - np.uint32(1))
                seen.append(int(state["choices"]))
            offsets, actions, _ = bg_env.rules.plays(states, bg_env.rules.Settings().record())
            return actions[offsets[:-1]]

    env = VectorEnv(2, opponent=Spy(), cube=False, seat=0)
    env.reset(seed=1)
    for _ in range(40):
        env.step(env.action_masks().argmax(1))
    assert max(seen) > 5
    assert env.states["choices"].max() == max(seen)


BAD = [
    ([0, 0], "not 2: game 2 gets none"),
    ([0] * 4, "not 4: there is no game 3"),
    ([0, 1.0, 2], "game 1 is an integer"),
    ([0, 1, None], "game 2 is an integer, not None"),
    (np.zeros(3), "game 0 is an integer"),
    (np.zeros(3, bool), "game 0 is an integer"),
    (np.zeros((3, 1), int), "game 0 is an integer"),
    ([[0], [1, 2], [3]], "game 0 is an integer"),
    ([0, 154, 0], "game 1 is out of range: 154 is not one of 0 to 153"),
    ([0, 0, -1], "game 2 is out of range: -1"),
    (np.array([0, 2**64 - 1, 0], np.uint64), "game 1 is out of range"),
    (7, "3 integers, one for each game, not int"),
    (None, "3 integers, one for each game, not NoneType"),
]


@pytest.mark.parametrize(("actions", "said"), BAD)
def test_wrong_actions_name_the_game_and_change_nothing(actions, said):
    env = VectorEnv(3, opponent=None)
    env.reset(seed=3)
    before = env.save()
    with pytest.raises(IllegalActionError, match=said):
        env.step(actions)
    assert_same({k: v for k, v in env.save().items() if k != "settings"}, {k: v for k, v in before.items() if k != "settings"})


@pytest.mark.parametrize("kind", [list, tuple, np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_of_every_kind_are_actions(kind):
    env = VectorEnv(3, opponent=None, cube=False)
    env.reset(seed=3)
    actions = env.action_masks().argmax(1)
    env.step(actions.astype(np.uint8).astype(kind) if isinstance(kind, type) and issubclass(kind, np.number) else kind(actions))


def test_illegal_actions_end_the_game_or_raise():
    env = VectorEnv(3, opponent=None, cube=False, autoreset_mode="disabled")
    env.reset(seed=3)
    masks = env.action_masks()
    actions = masks.argmax(1)
    actions[1] = masks[1].argmin()
    _, rewards, terminated, truncated, infos = env.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert rewards.tolist() == [0, -3, 0]
    assert infos["illegal"].tolist() == [0, 1, 0]
    assert infos["level"].tolist() == [0, 3, 0]
    assert infos["action_mask"][1].all()
    assert infos["player"][1] == -1
    env = VectorEnv(3, opponent=None, cube=False, illegal="raise")
    env.reset(seed=3)
    before = env.states.copy()
    with pytest.raises(IllegalActionError, match=r"^game 1: .*illegal"):
        env.step(actions)
    assert (env.states == before).all()


def test_calls_out_of_order():
    env = VectorEnv(3, opponent=None, autoreset_mode="disabled", render_mode="ansi")
    for call in (lambda: env.step([0, 0, 0]), env.action_masks, env.sample, env.save, env.render):
        with pytest.raises(OrderError, match="call reset"):
            call()
    with pytest.raises(OrderError, match="game 0 has never been reset"):
        env.reset(options={"reset_mask": np.array([False, True, True])})
    env.reset(seed=1)
    assert len(env.render()) == 3
    env.step([153] * 3)  # illegal: all games end
    with pytest.raises(OrderError, match="game 0 is over"):
        env.step([0] * 3)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(OrderError, match="game 1 is over"):
        env.step([0] * 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reset_mask": [True, False, True]}, "bool array of shape"),
        ({"reset_mask": np.ones(2, bool)}, "bool array of shape"),
        ({"reset_mask": np.ones(3)}, "bool array of shape"),
        ({"reset_mask": np.zeros(3, bool)}, "marks no game"),
        ({"no_such_option": 1}, "no_such_option"),
        ({"score": (1, 1)}, "match_length"),
    ],
)
def test_reset_refuses_and_changes_nothing(options, said):
    env = VectorEnv(3)
    env.reset(seed=3)
    before = env.states.copy()
    with pytest.raises(bg_env.BgEnvError, match=said):
        env.reset(options=options)
    for seed in (-1, 2**64, 1.5, "1", [1, 2], [1, 2, "3"], np.array(3), np.zeros((3, 1), int), [[1], [2], [3, 4]]):
        with pytest.raises(SettingsError, match="seed"):
            env.reset(seed=seed)
    for wrong in (5, "dice", [("dice", [(3, 1)])]):
        with pytest.raises(SettingsError, match="options is a dict"):
            env.reset(options=wrong)
    assert (env.states == before).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_envs": 0},
        {"num_envs": True},
        {"num_envs": 2**48},
        {"num_threads": 2**31},
        {"max_episode_steps": 2**63},
        {"max_episode_steps": True},
        {"seat": 1.0},
        {"copy": "no"},
        {"statistics": 1},
        {"opponent": bg_env.players.RandomPlayer},
        {"num_threads": 0},
        {"max_episode_steps": 0},
        {"autoreset_mode": "soon"},
        {"seat": 2},
        {"seat": 0, "opponent": None},
        {"opponent": "nobody"},
        {"opponent": 3},
        {"mask": "none"},
        {"match_length": 3, "jacoby": True},
    ],
)
def test_settings_that_are_refused(wrong):
    with pytest.raises(SettingsError):
        VectorEnv(**{"num_envs": 2, **wrong})


@pytest.mark.parametrize(
    "options",
    [
        {"dice": [(3, 1), (6, 5), (2, 2)]},
        {"starter": 1},
        {"position": "4HPwATDgc/ABMA", "starter": 1, "score": (2, 4)},
        {"score": (6, 4), "crawford": False},
        {"dice": [(1, 3), (4, 4)], "score": (3, 4)},
    ],
)
@pytest.mark.parametrize("opponent", [None, "random", "pubeval"])
def test_reset_options_are_those_of_the_single_environment(options, opponent):
    vec = VectorEnv(4, match_length=7, opponent=opponent)
    singles = [SingleEnv(match_length=7, opponent=opponent) for _ in range(4)]
    observation, _ = vec.reset(seed=2, options=options)
    views = [env.reset(seed=2 + i, options=options)[0] for i, env in enumerate(singles)]
    for _ in range(30):
        for i in range(4):
            assert_same({name: value[i] for name, value in observation.items()}, views[i])
        actions = vec.action_masks().argmax(1)
        observation, *_ = vec.step(actions)
        views = [env.step(int(action))[0] for env, action in zip(singles, actions, strict=True)]


def test_given_dice_last_beyond_the_reset_of_other_games():
    env = VectorEnv(2, opponent=None, cube=False)
    rolls = [(3, 1), (5, 5), (6, 4), (2, 1)]
    env.reset(seed=1, options={"dice": rolls})
    env.reset(options={"dice": [(2, 1), (6, 6)], "reset_mask": np.array([False, True])})
    seen = [[tuple(env.states[i]["dice"])] for i in range(2)]
    for _ in range(16):
        env.step(env.action_masks().argmax(1))
        for i in range(2):
            now = tuple(env.states[i]["dice"])
            if now != seen[i][-1]:
                seen[i].append(now)
    assert seen[0][:4] == rolls
    assert seen[1][:2] == [(2, 1), (6, 6)]


def test_save_and_restore_go_on_bit_for_bit():
    env = VectorEnv(6, opponent="random", autoreset_mode="same_step", max_turns=15, num_threads=2)
    env.reset(seed=4, options={"dice": [(3, 1)] * 9})
    saved, played = None, []
    for k in range(80):
        if k == 20:
            saved = pickle.loads(pickle.dumps(env.save()))  # noqa: S301 - our own
        actions = env.action_masks().argmax(1)
        result = env.step(actions)
        if k >= 20:
            played.append((actions, result))
    for other in (env, VectorEnv(6, opponent="random", autoreset_mode="same_step", max_turns=15)):
        observation, infos = other.restore(saved)
        assert infos["player"].min() >= 0
        assert other.observation_space.contains(observation)
        for actions, result in played:
            again = other.step(actions)
            assert_same({str(k): v for k, v in enumerate(again)}, {str(k): v for k, v in enumerate(result)})
    for wrong in (VectorEnv(5, opponent="random"), VectorEnv(6, match_length=3)):
        with pytest.raises(SettingsError, match="6 games of backgammon, max_turns=15"):
            wrong.restore(saved)


SAVED = [
    (lambda s: None, "takes the return value of save"),
    (lambda s: [], "takes the return value of save"),
    (lambda s: {}, "has no settings, plan, states, slots, dice"),
    (lambda s: s | {"states": s["states"].tolist()}, "states is something else"),
    (lambda s: s | {"states": s["states"]["points"]}, "states is something else"),
    (lambda s: s | {"slots": None}, "slots is something else"),
    (lambda s: s | {"slots": s["slots"][:3]}, "not complete"),
    (lambda s: s | {"plan": s["plan"][:0]}, "not complete"),
    (lambda s: s | {"dice": [(3, 1)]}, "dice that are not pairs"),
    (lambda s: s | {"dice": np.array([[3, 7]])}, "dice that are not pairs"),
    (lambda s: s | {"dice": np.zeros((0, 2), np.int64)}, "wrong queue of dice in game 0"),
    (lambda s: with_field(s, "states", "phase", 9), "wrong phase in game 2"),
    (lambda s: with_field(s, "states", "points", 1), "wrong number of checkers in game 2"),
    (lambda s: with_field(s, "states", "cube", 7), "wrong cube in game 2"),
    (lambda s: with_field(s, "states", "decider", -1), "wrong decider in game 2"),
    (lambda s: with_field(s, "slots", "seat", -1), "wrong seat in game 2"),
    (lambda s: with_field(s, "slots", "over", 3), "wrong over in game 2"),
    (lambda s: with_field(s, "slots", "gain", np.nan), "wrong reward in game 2"),
    (lambda s: with_field(s, "slots", "queue_end", 10**6), "wrong queue of dice in game 2"),
]


def with_field(saved, part, field, value):
    changed = saved[part].copy()
    changed[field][2] = value
    return saved | {part: changed}


@pytest.mark.parametrize(("change", "said"), SAVED)
def test_what_was_not_saved_is_refused_and_changes_nothing(change, said):
    env = VectorEnv(4, opponent="random")
    env.reset(seed=4, options={"dice": [(3, 1)] * 9})
    for _ in range(5):
        env.step(env.action_masks().argmax(1))
    saved = env.save()
    with pytest.raises(SettingsError, match=said) as caught:
        env.restore(change(saved))
    assert "\n" not in str(caught.value)
    assert_same({k: v for k, v in env.save().items() if k != "settings"}, {k: v for k, v in saved.items() if k != "settings"})
    env.restore(saved)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"opponent": None}, "with seat=None, .*: this environment has opponent=None"),
        ({"seat": 1}, "this environment has seat=1"),
        ({"reward": "win"}, "reward=points.*reward=win"),
        ({"autoreset_mode": "same_step"}, "next_step or disabled.*same_step"),
        ({"max_episode_steps": 9}, "max_episode_steps=None.*max_episode_steps=9"),
    ],
)
def test_a_batch_of_another_kind_is_not_restored(other, said):
    env, another = VectorEnv(3), VectorEnv(3, **other)
    env.reset(seed=4)
    with pytest.raises(SettingsError, match=said):
        another.restore(env.save())
    another.reset(seed=1)
    with pytest.raises(SettingsError, match="saved was a batch with"):
        env.restore(another.save())
    pubeval = VectorEnv(3, opponent="pubeval")  # the opponent may be another
    pubeval.restore(env.save())
    pubeval.step(pubeval.action_masks().argmax(1))


def test_copies_and_pickles_go_on_alike():
    env = VectorEnv(4, opponent="random", autoreset_mode="same_step", num_threads=2)
    env.reset(seed=4)
    env.step(env.action_masks().argmax(1))
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - our own
    for _ in range(50):
        actions = env.action_masks().argmax(1)
        result = env.step(actions)
        for other in others:
            assert_same(other.step(actions)[0], result[0])


def played(env, steps):
    """A digest of a batch's play."""
    total = 0.0
    for k in range(steps):
        actions = env.sample(np.random.default_rng(k))
        observation, rewards, *_ = env.step(actions)
        total += float(observation["observation"].sum()) + float(rewards.sum())
    return total


def _child(env, steps, queue):
    queue.put(played(env, steps))


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning", "ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
def test_children_of_every_kind_play_the_same_games(method):
    env = VectorEnv(8, opponent="pubeval", autoreset_mode="same_step", num_threads=2)
    env.reset(seed=4)
    env.step(env.action_masks().argmax(1))  # the threads are there now
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child, args=(env, 40, queue))
    child.start()
    assert queue.get(timeout=120) == played(env, 40)
    child.join(30)
    assert child.exitcode == 0


def test_small_batches_are_left_to_one_thread(monkeypatch):
    monkeypatch.undo()
    assert [len(VectorEnv(n, num_threads=4).games.ranges) for n in (1, 2047, 2048, 4096)] == [1, 1, 2, 4]


@pytest.mark.parametrize("opponent", ["pubeval", "random", None])
def test_threads_and_sizes_change_nothing(opponent):
    plays = []
    for threads in (1, 2, 3):
        env = VectorEnv(33, opponent=opponent, num_threads=threads, autoreset_mode="same_step", max_turns=30)
        env.reset(seed=9)
        plays.append(played(env, 150))
        env.close()
    assert plays[0] == plays[1] == plays[2]


def arrays_of(value):
    if isinstance(value, dict):
        return [array for part in value.values() for array in arrays_of(part)]
    if isinstance(value, tuple | list):
        return [array for part in value for array in arrays_of(part)]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return arrays_of([part for part in value if part is not None])
    return [value]


def test_no_array_is_handed_out_twice():
    env = VectorEnv(4, opponent="random", autoreset_mode="same_step", max_turns=5)
    kept = [(array, array.copy()) for array in arrays_of(env.reset(seed=1))]
    before = env.save()
    for _ in range(30):
        kept += [(array, array.copy()) for array in arrays_of(env.step(env.action_masks().argmax(1)))]
    for array, was in kept:
        assert np.array_equal(array, was)
    for array, _ in kept:
        if array.flags.writeable:
            array.fill(1)  # writing to them changes no game
    kept = env.save()
    env.restore(before)
    for _ in range(30):
        env.step(env.action_masks().argmax(1))
    assert (env.save()["states"] == kept["states"]).all()
    with pytest.raises(ValueError, match="read-only"):
        env.states["turn"] = 0


def test_without_copies_the_arrays_are_the_same():
    env = VectorEnv(4, opponent="random", copy=False)
    first, infos = env.reset(seed=1)
    second, *_, later = env.step(env.action_masks().argmax(1))
    assert np.shares_memory(first["observation"], second["observation"])
    assert np.shares_memory(infos["player"], later["player"])


def test_opponents_can_be_changed():
    env = VectorEnv(64, opponent="random", cube=False)
    env.reset(seed=1)
    env.set_opponent("pubeval")
    assert env.opponent.name == "pubeval"
    total = sum(float(env.step(env.sample())[1].sum()) for _ in range(250))
    assert total < -64
    with pytest.raises(SettingsError, match="self-play"):
        env.set_opponent(None)
    with pytest.raises(SettingsError, match="self-play"):
        VectorEnv(2, opponent=None).set_opponent("random")


class Cheat:
    def __init__(self, answer):
        self.answer = answer

    def choose(self, states, words):
        return self.answer(states)


class Blunder:
    def __init__(self, answer):
        self.answer = answer

    def choose_plays(self, states, words):
        return self.answer(states)


@pytest.mark.parametrize(
    ("opponent", "said"),
    [
        (Cheat(lambda states: np.full(len(states), 151)), r"action 151 in game \d is illegal: double is illegal"),
        (Cheat(lambda states: np.full(len(states), 999)), r"999 in game"),
        (Cheat(lambda states: np.zeros(len(states))), "integers of shape"),
        (Cheat(lambda states: [1] * (len(states) + 1)), "integers of shape"),
        (Blunder(lambda states: np.full((len(states), 4), -1)), "is not legal"),
        (Blunder(lambda states: np.full((len(states), 4), 3)), "is not legal"),
        (Blunder(lambda states: np.zeros((len(states), 3), int)), "integers of shape"),
        (lambda observation: observation["action_mask"].argmin(1), "is illegal"),
    ],
)
def test_an_opponent_that_cheats_is_told_and_nothing_has_happened(opponent, said):
    env = VectorEnv(4, opponent="random", cube=False, seat=0)
    env.reset(seed=6)
    env.set_opponent(opponent)
    for _ in range(9):
        before = env.save()
        try:
            env.step(env.action_masks().argmax(1))
        except IllegalActionError as error:
            assert re.search(said, str(error))  # noqa: PT017 - the step before it matters as well
            break
    else:
        pytest.fail("nothing was said")
    assert (env.save()["states"] == before["states"]).all()
    assert (env.save()["slots"] == before["slots"]).all()
    env.set_opponent("random")
    env.step(env.action_masks().argmax(1))


def test_every_game_is_drawn():
    text, pixels = VectorEnv(3, render_mode="ansi"), VectorEnv(3, render_mode="rgb_array")
    for env in (text, pixels):
        env.reset(seed=1)
    assert all("White" in board for board in text.render())
    assert {(image.dtype, image.ndim, image.shape[2]) for image in pixels.render()} == {(np.dtype(np.uint8), 3, 3)}
    silent = VectorEnv(2)
    silent.reset()
    assert silent.render() is None
    with pytest.raises(SettingsError, match="render_mode"):
        VectorEnv(2, render_mode="human")


def test_a_limit_of_steps_truncates():
    env = gym.make_vec("bg_env/Backgammon-v0", num_envs=3, max_episode_steps=5, autoreset_mode="same_step")
    env.reset(seed=1)
    for k in range(1, 11):
        _, rewards, terminated, truncated, infos = env.step(env.unwrapped.action_masks().argmax(1))
        assert truncated.tolist() == [k % 5 == 0] * 3
        assert not terminated.any()
        assert not rewards.any()
        if k % 5 == 0:
            assert infos["episode"]["l"].tolist() == [5] * 3
            assert infos["final_info"]["winner"].tolist() == [-1] * 3


def test_gymnasium_wrappers_work_on_it():
    options = {"variant": "hypergammon", "opponent": "random", "autoreset_mode": "same_step"}
    env = RecordEpisodeStatistics(VectorEnv(4, statistics=False, **options))
    ours = VectorEnv(4, **options)
    env.reset(seed=1)
    ours.reset(seed=1)
    ended = 0
    for _ in range(120):
        actions = ours.action_masks().argmax(1)
        *_, infos = env.step(actions)
        *_, own = ours.step(actions)
        assert ("episode" in infos) == own["_episode"].any()
        if "episode" in infos:
            ended += 1
            assert np.array_equal(infos["episode"]["r"], own["episode"]["r"])
            assert np.array_equal(infos["episode"]["l"], own["episode"]["l"])
    assert ended > 2
    counted = RecordEpisodeStatistics(VectorEnv(4, **options))  # with our own statistics, which are left to it
    assert "episode" not in counted.reset(seed=1)[1]
    counts = [counted.step(counted.unwrapped.action_masks().argmax(1))[4].get("episode") for _ in range(120)]
    assert sum(count is not None for count in counts) == ended
    assert "episode" in counted.unwrapped.reset(seed=1)[1]
    other = RecordEpisodeStatistics(counted.unwrapped, stats_key="counted")
    assert "episode" in other.reset(seed=1)[1]
    listed = DictInfoToList(VectorEnv(4, **options))
    listed.reset(seed=1)
    *_, infos = listed.step(listed.unwrapped.action_masks().argmax(1))
    assert [info["turns"] for info in infos] == listed.unwrapped.states["turns"].tolist()


def test_memory_of_a_game():
    env = VectorEnv(512)
    observation, _ = env.reset(seed=1)
    own = sum(array.nbytes for array in vars(env.games).values() if isinstance(array, np.ndarray))
    shown = sum(array.nbytes for array in observation.values())
    assert env.states.nbytes + shown <= 1.2 * 1000 * 512
    assert own <= 220 * 512


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_do_not_count_references():
    """Numba's switch for that is not public: were it gone, steps would take several times as long and nothing would tell."""
    assert batch.step_games.targetoptions["_nrt"] is False


class Sum:
    """Calls of every kind: quick, slow, asleep at either end, and failing."""

    def __init__(self, size):
        self.total = np.zeros(size, np.int64)

    def __call__(self, lo, hi, counter, count):
        self.total[lo:hi] += count
        if lo == self.sleeper:
            time.sleep(0.001)
        if lo == self.failing:
            msg = f"part {lo}"
            raise ValueError(msg)

    sleeper = failing = -1


def test_threads_meet_whoever_is_late():
    slices, work, rng = Slices(12, 3), Sum(12), np.random.default_rng(1)
    lows = [lo for lo, _ in slices.ranges]
    expected = 0
    for k in range(1, 400):
        work.sleeper = int(rng.choice([-1, -1, *lows]))
        work.failing = int(rng.choice([-1, -1, *lows])) if k % 7 == 0 else -1
        if work.failing >= 0:
            with pytest.raises(ValueError, match=f"part {work.failing}"):
                slices.run(work)
        else:
            slices.run(work)
        expected += k
        assert (work.total == expected).all()
        if k % 50 == 0:
            time.sleep(0.002)  # so that the threads have gone to sleep
    before = threading.active_count()
    slices.close()
    for _ in range(200):
        if threading.active_count() == before - 2:
            break
        time.sleep(0.01)
    assert threading.active_count() == before - 2
    slices.run(Sum(12))
    threads = threading.active_count()
    del slices
    gc.collect()
    time.sleep(0.05)
    assert threading.active_count() < threads


@pytest.mark.parametrize("observation", [*ENCODERS, None])
def test_threads_that_take_games_in_turns_do_and_show_the_same(observation):
    """More games than a thread takes at a time, so that one helps with what the others have left; every encoder."""
    given = {"mask": "info"} if observation is None else {"observation": observation}
    one, several = (VectorEnv(700, num_threads=threads, autoreset_mode="same_step", **given) for threads in (1, 3))
    for env in (one, several):
        env.reset(seed=8)
    for k in range(40):
        rng = np.random.default_rng(k)
        actions = one.sample(rng)
        told = [env.step(actions) for env in (one, several)]
        for mine, theirs in zip(*(each[:4] for each in told), strict=True):
            assert_same(mine, theirs)
        assert (one.states == several.states).all()
    whole = [env.afterstates() for env in (one, several)]
    index = best(np.random.default_rng(1).random(whole[0].offsets[-1]), whole[0].offsets)
    for mine, theirs in zip(*(env.step_plays(index)[:4] for env in (one, several)), strict=True):
        assert_same(mine, theirs)


@pytest.mark.parametrize("over", [0, 1])
def test_the_end_of_a_game_in_the_last_step_of_the_limit_is_both_as_under_time_limit(over):
    def ends(env, steps):
        observation, _ = env.reset(seed=3)
        for _ in range(steps):
            action = np.argmax(observation["action_mask"], axis=-1)
            observation, _, terminated, truncated, _ = env.step(action if action.ndim else int(action))
            if np.any(terminated) or np.any(truncated):
                break
        return bool(np.all(terminated)), bool(np.all(truncated))

    env = SingleEnv()
    observation, _ = env.reset(seed=3)
    length, terminated = 0, False
    while not terminated:
        observation, _, terminated, _, _ = env.step(int(np.argmax(observation["action_mask"])))
        length += 1
    limited = gym.wrappers.TimeLimit(SingleEnv(), length + over)
    expected = (True, not over)
    assert ends(limited, length) == expected
    assert ends(VectorEnv(1, max_episode_steps=length + over), length) == expected


def test_dice_that_are_used_are_dropped_and_what_was_saved_is_restored():
    env, plain = VectorEnv(3, opponent=None), VectorEnv(3, opponent=None)
    first, others = np.array([True, False, False]), np.array([False, True, True])
    for one in (env, plain):
        one.reset(seed=1, options={"dice": [(3, 1), (6, 5)]})
    for k in range(40):  # game 0 begins anew and again; what the others wait for stays
        env.reset(options={"reset_mask": first, "dice": [(2, 1)] * (k + 1)})
        assert len(env.save()["dice"]) <= k + 1 + 2
        env.restore(env.save())
        if k % 10 == 0:
            env.step(env.action_masks().argmax(axis=1))
            plain.step(plain.action_masks().argmax(axis=1))
        assert (env.states[1:] == plain.states[1:]).all()
    assert plain.states["turns"].min() > 1  # the dice given in advance are used
    env.reset(options={"reset_mask": first})
    assert len(env.save()["dice"]) == 0
    env.reset(options={"reset_mask": others, "dice": [(4, 1)]})
    assert env.states["dice"][1:].tolist() == [[4, 1]] * 2
    env.reset(options={"reset_mask": first})
    env.restore(env.save())
    env.close()
    plain.close()
