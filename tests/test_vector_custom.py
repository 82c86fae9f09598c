"""Encoders and rewards of users in the batch: the same numbers as built-in ones, and refusals that change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from bg_env import Variant
from bg_env.batch import batch as games
from bg_env.batch import shared_step
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import SettingsError
from bg_env.observations import ENCODERS, Encoder
from bg_env.rewards import MWC, POINTS, Reward, rewards_of


@pytest.fixture(autouse=True)
def small_batches_have_threads_too(monkeypatch):
    monkeypatch.setattr(games, "FEWEST", 1)


ACE = Variant("ace", {1: 1})
"""Whoever rolls bears off its only checker: an opponent that rolls first wins many games of a match in one step."""
HYPER = "hypergammon"


def lowest(observation, mask=None):
    return (observation["action_mask"] if mask is None else mask).argmax(1)


def twin(name):
    """The encoder called `name` as a user would bring it: another name, and a function of plain Python."""
    known = ENCODERS[name]

    def function(states, rules, seats, out):
        known.kernel(states.copy(), rules, seats, out)

    return Encoder(f"my-{name}", known.labels, known.low, known.high, function, known.shape)


def compiled_twin(name):
    known = ENCODERS[name]
    return Encoder(f"my-{name}", known.labels, known.low, known.high, known.kernel, known.shape)


def pips(states, rules, seats, out):
    points = states["points"].astype(np.float32) @ np.arange(26, dtype=np.float32)
    rows = np.arange(len(states))
    out[:, 0], out[:, 1] = points[rows, seats], points[rows, 1 - seats]


PIPS = Encoder("pips", ("own", "other"), 0, 375, pips)


def points_of(states, _rules):
    assert (states["winner"] >= 0).all()
    return np.where(states["winner"] == 0, 1.0, -1.0) * states["won"]


POINTS_TWIN = Reward("my-points", function=points_of)
MWC_TWIN = Reward("my-mwc", function=lambda states, rules: rewards_of(states, rules, MWC))


def same(mine, theirs):
    if isinstance(mine, dict):
        assert mine.keys() == theirs.keys()
        for key in mine:
            same(mine[key], theirs[key])
    elif isinstance(mine, tuple) or (isinstance(mine, np.ndarray) and mine.dtype == object):
        for a, b in zip(mine, theirs, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                same(a, b)
    else:
        assert np.array_equal(mine, theirs)


def side_by_side(mine, theirs, steps, seed=3, **reset):
    """Play two environments by the same actions; all that they return is the same. Yields what `theirs` returned."""
    same(mine.reset(seed=seed, **reset), theirs.reset(seed=seed, **reset))
    rng = np.random.default_rng(seed)
    for k in range(steps):
        if k % 5 == 4:
            ours, known = mine.afterstates(), theirs.afterstates()
            for a, b in zip(ours, known, strict=True):
                same(a, b) if a is not None else None
            index = ours.offsets[:-1]
            returned = mine.step_plays(index), theirs.step_plays(index)
        else:
            actions = theirs.sample(rng)
            returned = mine.step(actions), theirs.step(actions)
        for a, b in zip(*returned, strict=True):
            same(a, b)
        assert (mine.states == theirs.states).all()
        assert (mine.save()["slots"] == theirs.save()["slots"]).all()
        ends = returned[0][2] | returned[0][3]
        if theirs.autoreset_mode.value == "Disabled" and ends.any():
            options = {"options": {"reset_mask": ends}}
            same(mine.reset(**options), theirs.reset(**options))
        yield returned[1]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("make", [twin, compiled_twin])
@pytest.mark.parametrize(
    ("name", "opponent", "mode"),
    [
        ("counts", None, "same_step"),
        ("counts", "random", "next_step"),
        ("planes", "pubeval", "same_step"),
        ("counts", lowest, "disabled"),
    ],
)
def test_an_encoder_of_a_user_shows_what_its_built_in_twin_shows(name, opponent, mode, make, threads):
    options = {"variant": HYPER, "opponent": opponent, "autoreset_mode": mode, "num_threads": threads}
    if opponent is lowest:  # it sees what the learner sees
        options["max_turns"] = 8
    mine, theirs = (VectorEnv(7, observation=item, **options) for item in (make(name), name))
    ended = sum(int((step[2] | step[3]).sum()) for step in side_by_side(mine, theirs, 60))
    assert ended > 3
    whole = mine.afterstates(observation=make(name)), theirs.afterstates(observation=name)
    assert np.array_equal(whole[0].observations, whole[1].observations)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_encoder_in_numpy_writes_every_row_for_any_number_of_threads(threads):
    env = VectorEnv(700, observation=PIPS, num_threads=threads, opponent=None, cube=False)
    observation, _ = env.reset(seed=1)
    assert (observation["observation"] == 167).all()
    for _ in range(20):
        observation = env.step(env.sample())[0]["observation"]
        seats, points = env.states["decider"], env.states["points"] @ np.arange(26)
        assert np.array_equal(observation[:, 0], points[np.arange(700), seats])
        assert np.array_equal(observation[:, 1], points[np.arange(700), 1 - seats])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("opponent", [None, "random", "pubeval", lowest])
def test_a_reward_of_a_user_gives_what_its_built_in_twin_gives(opponent, mode, threads):
    options = {"variant": HYPER, "opponent": opponent, "autoreset_mode": mode, "num_threads": threads, "match_length": 3}
    mine, theirs = (VectorEnv(6, reward=item, max_turns=60, **options) for item in (MWC_TWIN, "mwc"))
    rewards = np.array([step[1] for step in side_by_side(mine, theirs, 120)])
    assert np.count_nonzero(rewards) > 10
    assert (rewards > 0).any()
    assert (rewards < 0).any()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("opponent", ["random", "pubeval", lowest])
def test_every_game_that_ends_within_a_step_is_rewarded(opponent, mode, threads):
    """Also those that an opponent ends one after the other, and those that end before the learner has acted."""
    options = {"variant": ACE, "opponent": opponent, "autoreset_mode": mode, "num_threads": threads, "match_length": 9}
    mine, theirs = (VectorEnv(40, reward=item, **options) for item in (POINTS_TWIN, "points"))
    several, unseen, before = 0, 0, 0
    for step in side_by_side(mine, theirs, 60):
        played = theirs.states["games"].copy()
        several += int(((played - before > 2) & (step[1] != 0)).sum())
        unseen += int((mine.save()["slots"]["over"] == 2).sum())
        before = played
    assert several > 10
    assert unseen > 10


def test_a_reward_of_a_user_with_dice_given_in_advance():
    options = {"variant": HYPER, "opponent": "random", "match_length": 5}
    mine, theirs = (VectorEnv(5, reward=item, **options) for item in (POINTS_TWIN, "points"))
    given = {"dice": [(6, 1), *[(6, 6), (5, 5)] * 12], "starter": 0}
    rewards = [step[1] for step in side_by_side(mine, theirs, 60, options=given)]
    assert np.count_nonzero(rewards) > 3


def test_a_batch_with_a_reward_of_a_user_goes_on_from_where_it_was_saved():
    env = VectorEnv(6, variant=ACE, opponent="random", autoreset_mode="same_step", match_length=9, reward=POINTS_TWIN)
    env.reset(seed=2)
    for _ in range(3):
        env.step(env.sample())
    saved = env.save()
    first = [env.step(np.argmax(env.action_masks(), 1))[1].tolist() for _ in range(20)]
    env.restore(saved)
    assert [env.step(np.argmax(env.action_masks(), 1))[1].tolist() for _ in range(20)] == first
    with pytest.raises(SettingsError, match=r"reward=a user's own.*reward=points"):
        VectorEnv(6, variant=ACE, opponent="random", autoreset_mode="same_step", match_length=9).restore(saved)


def broken(what):
    """An encoder of two features, wrong in its second one."""

    def function(states, rules, seats, out):
        out[:, 0] = 1
        if what == "raises":
            msg = "no\nsuch thing"
            raise KeyError(msg)
        if what != "unwritten":
            out[:, 1] = {"high": 3, "nan": np.nan}[what]

    return Encoder("mine", ("first", "second"), 0, 2, function)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("unwritten", "feature 'second' is NaN or was not written"),
        ("nan", "feature 'second' is NaN or was not written"),
        ("high", "feature 'second' is 3, not from 0 to 2"),
        ("raises", "KeyError"),
    ],
)
def test_an_encoder_that_is_wrong_is_refused_by_the_first_reset(what, said, threads):
    env = VectorEnv(4, observation=broken(what), num_threads=threads)
    with pytest.raises(SettingsError, match=said) as error:
        env.reset(seed=1)
    assert "\n" not in str(error.value)
    assert "encoder mine" in str(error.value)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.zeros(4, int))  # as before: no episode has begun


class Moody:
    """Right at first, then wrong once."""

    def __init__(self, fails):
        self.wrong, self.fails = False, fails

    def __call__(self, *given):
        if self.wrong:
            self.wrong = False
            return self.fails(*given)
        return self.right(*given)

    def right(self, states, rules, seats=None, out=None):
        if out is None:
            return points_of(states, rules)
        out[:] = 1
        return None


def tried(env, actions):
    """The rewards of a step, and the message where it is refused."""
    try:
        return env.step(actions)[1], ""
    except SettingsError as error:
        return None, str(error)


def too_high(states, rules, seats, out):
    out[:] = 9


def raises(*given):
    msg = "not today"
    raise ZeroDivisionError(msg)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("opponent", [None, "random", "pubeval", lowest])
@pytest.mark.parametrize(("fails", "error"), [(too_high, SettingsError), (raises, (SettingsError, ZeroDivisionError))])
def test_an_encoder_that_goes_wrong_in_a_step_leaves_the_games_as_they_were(fails, error, opponent, threads):
    function = Moody(fails)
    options = {"opponent": opponent, "num_threads": threads, "autoreset_mode": "same_step", "mask": "info"}
    env = VectorEnv(4, observation=Encoder("moody", ("one",), 0, 2, function), **options)
    other = VectorEnv(4, **options)
    env.reset(seed=1)
    other.reset(seed=1)
    function.wrong = True
    before = env.save()
    with pytest.raises(error):
        env.step(env.action_masks().argmax(1))
    after = env.save()
    assert (after["states"] == before["states"]).all()
    assert (after["slots"] == before["slots"]).all()
    for _ in range(20):
        actions = env.action_masks().argmax(1)
        env.step(actions)
        other.step(actions)
    assert (env.states == other.states).all()


def test_an_encoder_that_fails_in_a_restore_leaves_the_games_as_they_were():
    function = Moody(raises)
    env = VectorEnv(4, observation=Encoder("moody", ("one",), 0, 2, function))
    env.reset(seed=1)
    saved = env.save()
    for _ in range(3):
        env.step(env.action_masks().argmax(1))
    before, found = env.save(), env.afterstates()
    function.wrong = True
    with pytest.raises(SettingsError):
        env.restore(saved)
    assert (env.save()["states"] == before["states"]).all()
    assert (env.save()["slots"] == before["slots"]).all()
    env.step_plays(found.offsets[:-1])
    env.restore(saved)
    assert (env.states == saved["states"]).all()


def test_every_reset_looks_at_what_an_encoder_writes():
    function = Moody(too_high)
    encoder = Encoder("moody", ("one",), 0, 2, function)
    for env in (VectorEnv(4, observation=encoder), SingleEnv(observation=encoder)):
        for seed in range(3):
            env.reset(seed=seed)
            env.step(env.action_masks().argmax(-1))
        function.wrong = True
        with pytest.raises(SettingsError, match="feature 'one' is 9"):
            env.reset()


def test_games_with_another_reward_of_a_user_are_not_restored():
    env = VectorEnv(2, reward=POINTS_TWIN)
    env.reset(seed=1)
    for reward in ("points", Reward("other", function=points_of)):
        other = VectorEnv(2, reward=reward)
        with pytest.raises(SettingsError, match="reward"):
            other.restore(env.save())
    saved = {name: part for name, part in env.save().items() if name != "reward"}  # as version 0.1 saved it
    VectorEnv(2, reward=Reward("my-points", function=points_of)).restore(saved)
    VectorEnv(2, reward=Reward("my-points", function=points_of)).restore(env.save())


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_an_encoder_that_is_wrong_at_the_end_of_an_episode_is_refused_there(mode):
    def function(states, rules, seats, out):
        out[:] = np.where(states["phase"] == 6, 7, 1)[:, None]

    env = VectorEnv(
        4,
        variant=ACE,
        observation=Encoder("mine", ("one",), 0, 2, function),
        opponent=None,
        cube=False,
        autoreset_mode=mode,
    )
    env.reset(seed=1)
    before = env.save()
    with pytest.raises(SettingsError, match="feature 'one' is 7"):
        env.step(env.sample())
    assert (env.save()["states"] == before["states"]).all()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("opponent", [None, "random", "pubeval", lowest])
@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (raises, "ZeroDivisionError: not today"),
        (lambda states, rules: np.full(len(states), np.nan), "nan"),
        (lambda states, rules: np.ones(len(states) + 1), "must return"),
        (lambda states, rules: ["a"] * len(states), "must return"),
        (lambda states, rules: None, "must return"),
    ],
)
def test_a_reward_that_goes_wrong_leaves_the_games_as_they_were(fails, said, opponent, threads):
    function = Moody(fails)
    options = {"variant": HYPER, "opponent": opponent, "num_threads": threads, "autoreset_mode": "same_step"}
    env = VectorEnv(4, reward=Reward("moody", function=function), **options)
    other = VectorEnv(4, **options)
    env.reset(seed=1)
    other.reset(seed=1)
    refused = 0
    for _ in range(120):
        function.wrong = True
        before, actions = env.save(), env.action_masks().argmax(1)
        rewards, message = tried(env, actions)
        if message:
            assert said in message
            assert message.startswith("reward moody")
            assert "\n" not in message
            refused += 1
            after = env.save()
            assert (after["states"] == before["states"]).all()
            assert (after["slots"] == before["slots"]).all()
            rewards, _ = tried(env, actions)
        assert np.array_equal(rewards, other.step(actions)[1])
        if refused > 2:
            break
    assert refused > 2


def test_a_reward_that_goes_wrong_in_a_reset_leaves_the_games_as_they_were():
    function = Moody(raises)
    env = VectorEnv(8, variant=ACE, opponent="random", match_length=9, reward=Reward("moody", function=function))
    env.reset(seed=1)
    before = env.save()
    function.wrong = True
    with pytest.raises(SettingsError, match="not today"):
        env.reset(seed=5)
    assert (env.save()["states"] == before["states"]).all()
    assert (env.save()["slots"] == before["slots"]).all()


def test_the_twins_are_no_built_in_ones():
    """Else the tests above would compare a thing with itself."""
    assert POINTS_TWIN.kind not in (POINTS, MWC)
    assert all(ENCODERS.get(make("counts").name) is None for make in (twin, compiled_twin))


def test_an_encoder_that_is_no_part_of_the_step_on_several_threads_is_called_after_it(monkeypatch):
    """A built-in encoder needs no branch in the kernels of several threads: without one its observations are the same."""
    seen = {}
    for part in (True, False):
        if not part:
            monkeypatch.delitem(shared_step.NUMBERS, "counts")
        envs = VectorEnv(num_envs=4096, opponent=None, observation="counts", mask="both", num_threads=2)
        observations, _ = envs.reset(seed=1)
        seen[part] = [observations["observation"]]
        for _ in range(3):
            seen[part].append(envs.step(envs.sample())[0]["observation"])
        envs.close()
    for one, other in zip(seen[True], seen[False], strict=True):
        np.testing.assert_array_equal(one, other)
