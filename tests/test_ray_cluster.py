"""Many machines by Ray: the arena, the TD learner's self-play and RLlib with several worker processes, some of them killed."""

from __future__ import annotations

import os
import pickle
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="needs the extra bg_env[rllib]")

import ray
import torch
from ray.tune.registry import register_env
from test_examples import EXAMPLES

from bg_env import IllegalActionError, Settings, SettingsError, arena
from bg_env.adapters.rllib import Greedy, actor_of, give_opponent_again, native, set_opponent
from bg_env.arena.on_ray import play_on_ray
from bg_env.players import RandomPlayer, ValueNet, ValuePlayer
from bg_env.train.ppo.on_ray import OpponentPoolOnRay
from bg_env.train.ppo.opponent_pool import OpponentPool
from bg_env.train.td.learner import TDLearner, TDSettings
from bg_env.train.td.on_ray import TDLearnerOnRay

pytestmark = pytest.mark.filterwarnings("default")  # Ray warns by itself
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers have no folder of tests
CUBELESS = Settings(cube=False)
SMALL = {"hidden": (24, 12), "batch": 24, "minibatch": 64, "turns": 4}


@pytest.fixture(scope="module")
def workers():
    """Two processors of one machine, and so two workers."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2 * 10**8)
    yield
    ray.shutdown()


def titles():
    """The processes of this test that are workers of Ray: process id to what Ray has it called, which tells the task."""
    parents, found = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat, line = (folder / "stat").read_text(), (folder / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
        found[int(folder.name)] = line.rstrip(b"\0").decode(errors="replace")

    def ours(pid):
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return {pid: title for pid, title in found.items() if title.startswith("ray::") and ours(pid)}


class Killer(threading.Thread):
    """Kills one worker that is busy with a task of some name, once."""

    def __init__(self, task):
        super().__init__(daemon=True)
        self.task, self.killed, self.over = re.compile(task), None, threading.Event()

    def run(self):
        while self.killed is None and not self.over.wait(0.002):
            for pid, title in titles().items():
                if self.task.search(title):
                    os.kill(pid, signal.SIGKILL)
                    self.killed = pid
                    break

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


class Doomed(RandomPlayer):
    """The random player, whose process is killed in the middle of the games, the first time that it is anywhere."""

    name = "doomed"

    def __init__(self, mark):
        self.mark, self.calls, self.home = mark, 0, os.getpid()

    def choose(self, states, words):
        self.calls += 1
        if self.calls > 50 and os.getpid() != self.home and not self.mark.exists():
            self.mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(states, words)


def divides(seen):
    raise ZeroDivisionError("the player's own")


# The arena


@pytest.mark.parametrize("rules", [{"cube": False}, {"variant": "hypergammon", "match_length": 3}])
@pytest.mark.parametrize("tasks", [1, 3, None])
def test_the_arena_gives_the_same_result_on_ray(workers, tasks, rules):
    told = []
    result = play_on_ray("pubeval", "random", games=46, seed=7, tasks=tasks, progress=told.append, **rules)
    assert result == arena.play("pubeval", "random", games=46, seed=7, **rules)
    assert sum(told) == 46
    assert len(told) == (tasks or 8)


def test_luck_is_the_same_on_ray(workers):
    how = {"games": 12, "seed": 7, "variant": "hypergammon", "cube": False, "luck": "td"}
    result = play_on_ray("pubeval", "random", tasks=3, **how)
    assert result == arena.play("pubeval", "random", **how)
    assert result.luck.evaluator == "td"


def test_players_of_all_kinds_go_to_the_workers(workers, tmp_path):
    net = ValueNet.load(Path(arena.__file__).parents[1] / "data" / "td.npz")
    net.save(tmp_path / "net.npz")
    last = lambda seen: seen["action_mask"].shape[1] - 1 - seen["action_mask"][:, ::-1].argmax(axis=1)  # noqa: E731
    for player in (f"greedy:{tmp_path / 'net.npz'}", ValuePlayer(net), last):
        how = {"games": 20, "seed": 2, "settings": CUBELESS, "names": ("one", "other")}
        assert play_on_ray(player, RandomPlayer(), **how) == arena.play(player, RandomPlayer(), **how)


def test_a_killed_worker_loses_no_game(workers, tmp_path):
    mark = tmp_path / "killed"
    result = play_on_ray(Doomed(mark), "random", games=40, seed=3, tasks=4, settings=CUBELESS)
    assert int(mark.read_text()) != os.getpid()
    assert result == arena.play(Doomed(mark), "random", games=40, seed=3, settings=CUBELESS)
    assert result.complete


def test_errors_of_tasks_are_those_of_the_arena(workers):
    with pytest.raises(IllegalActionError, match="chose an illegal action in game"):
        play_on_ray(lambda seen: np.full(len(seen["observation"]), -1), "random", games=8)
    with pytest.raises(ZeroDivisionError, match=r"^the player's own$") as caught:
        play_on_ray(divides, "random", games=8)
    assert caught.type is ZeroDivisionError
    with pytest.raises(SettingsError, match="no player is called 'nobody'"):
        play_on_ray("nobody", "random", games=8)
    with pytest.raises(SettingsError, match=r"games must be even"):
        play_on_ray("random", "random", games=7)
    for words, wrong in (
        ("tasks is a whole number of at least 1, or None", {"tasks": 0}),
        ("cpus is a number of processors, at least 0, not 'x'", {"cpus": "x"}),
        ("a task asks for 64 processors, and no machine of the cluster has more than 2", {"cpus": 64}),
        ("retries is a whole number of at least -1, not -2", {"retries": -2}),
        ("names are two names, one for each player, not", {"names": ("a",)}),
        ("settings", {"settings": 3}),
    ):
        with pytest.raises(SettingsError, match=words):
            play_on_ray("random", "random", games=8, **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tasks": 0}, "tasks is a whole number of at least 1, or None for 2 for each processor, not 0"),
        ({"retries": -2}, "retries is a whole number of at least -1, not -2"),
    ],
)
def test_arguments_of_a_learner_are_checked_when_it_is_made(wrong, words):
    with pytest.raises(SettingsError, match=words):
        TDLearnerOnRay(TDSettings(**SMALL), **wrong)


def test_ctrl_c_leaves_what_was_played(workers):
    def stop(_games):
        raise KeyboardInterrupt

    result = play_on_ray("random", "pubeval", games=40, seed=4, tasks=4, progress=stop, settings=CUBELESS)
    assert not result.complete
    assert result.episodes in (0, 10)
    assert [side.name for side in result.sides] == ["random", "pubeval"]


# The TD learner


def content(learner, path):
    learner.save(path)
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name != "seconds"}


@pytest.mark.parametrize("more", [{}, {"cube": True}, {"targets": "rolls"}])
def test_the_learner_on_ray_has_the_same_curve(workers, tmp_path, more):
    settings = TDSettings(seed=5, **SMALL, **more)
    here, there = TDLearner(settings, threads=2), TDLearnerOnRay(settings, tasks=3)
    for share in (0.0, 0.2, 0.6, 0.9):
        here.round(share)
        there.round(share)
        assert there.games == here.games
        assert there.loss == here.loss or here.rounds == 1
    one, other = content(here, tmp_path / "here.npz"), content(there, tmp_path / "there.npz")
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def test_a_worker_killed_in_the_middle_changes_no_weight(workers, tmp_path):
    settings = TDSettings(seed=6, **SMALL | {"batch": 96, "turns": 40})
    here, there = TDLearner(settings), TDLearnerOnRay(settings)
    there.round()
    with Killer("^ray::bg_env td") as killer:
        for _ in range(8):
            there.round()
    assert killer.killed is not None
    assert killer.killed not in titles()
    for _ in range(9):
        here.round()
    assert here.games == there.games > 0
    one, other = content(here, tmp_path / "here.npz"), content(there, tmp_path / "there.npz")
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def test_a_run_goes_on_from_its_file_here_and_there(workers, tmp_path):
    settings = TDSettings(seed=7, **SMALL)
    whole, begun = TDLearnerOnRay(settings, tasks=2), TDLearner(settings)
    for _ in range(2):
        whole.round()
        begun.round()
    begun.save(tmp_path / "run.npz")
    resumed = TDLearnerOnRay.load(tmp_path / "run.npz", tasks=4)
    for _ in range(2):
        whole.round()
        resumed.round()
    assert resumed.rounds == whole.rounds == 4
    assert all(torch.equal(one, other) for one, other in zip(resumed._weights, whole._weights, strict=True))
    assert resumed.against_pubeval(4) == whole.against_pubeval(4)


# RLlib and its opponent


def net(seed=0, features=197, actions=150):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, actions))


def waiting(n, seed):
    """States of games in which a player is to act, and words."""
    env = native({"num_envs": n, "cube": False, "opponent": None})
    seen, _ = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        seen, *_ = env.step([rng.choice(np.flatnonzero(mask)) for mask in seen["action_mask"]])
    return env.unwrapped.states.copy(), rng.integers(2**64, size=n, dtype=np.uint64)


@ray.remote
def chosen(pool, states, words):
    return pool.choose(states.copy(), words.copy())  # kernels would be compiled for arrays that cannot be written to


def test_the_pool_on_ray_plays_as_the_pool_does(workers, tmp_path):
    features = native({"cube": False}).observation_space["observations"].shape[0]
    plain, shared = OpponentPool(net(0, features), CUBELESS, seed=1), OpponentPoolOnRay(net(0, features), CUBELESS, seed=1)
    for pool in (plain, shared):
        for k in range(4):
            pool.add(net(k, features), 10 * k)
    states, words = waiting(64, 3)
    assert plain.draw(5) == shared.draw(5)
    expected = plain.choose(states, words)
    assert np.array_equal(shared.choose(states, words), expected)
    assert np.array_equal(ray.get(chosen.remote(shared, states, words)), expected)
    assert 0 < plain.plays_older(states).sum() < 64
    for pool, name in ((plain, "plain.npz"), (shared, "shared.npz")):
        with (tmp_path / name).open("wb") as file:
            pool.dump(file)
    again = OpponentPoolOnRay(net(9, features), CUBELESS, seed=1)
    with (tmp_path / "plain.npz").open("rb") as file:
        again.restore(file, 20)
    with (tmp_path / "shared.npz").open("rb") as file:
        plain.restore(file, 20)
    assert again.steps == plain.steps == [0, 10, 20]
    assert again.draw(6) == plain.draw(6)
    assert np.array_equal(ray.get(chosen.remote(again, states, words)), plain.choose(states, words))


def test_a_pool_that_has_drawn_nobody_is_not_sent(workers):
    with pytest.raises(Exception, match=r"call it before the pool is sent"):
        pickle.dumps(OpponentPoolOnRay(net(), CUBELESS))


@pytest.fixture
def configured(monkeypatch):
    """The example's settings of PPO, small."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import rllib_cluster

    register_env("bg_env", native)
    config = rllib_cluster.configure(2, 0, 16, 1, 512)
    assert config.callbacks_on_env_runners_recreated is give_opponent_again
    return config


def steps_of_opponents(algorithm):
    found = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: (os.getpid(), list(runner.env.unwrapped.opponent.steps)), local_env_runner=False
    )
    return dict(found)


def test_a_killed_env_runner_is_replaced_and_nothing_is_lost(workers, tmp_path, configured):
    algorithm = configured.build_algo()
    pool = OpponentPoolOnRay(actor_of(algorithm.get_module()), CUBELESS, seed=1)
    pool.add(actor_of(algorithm.get_module()), 3)
    pool.draw(0)
    set_opponent(algorithm, pool)
    algorithm.train()
    before = steps_of_opponents(algorithm)
    assert list(before.values()) == [[3, 3]] * 2
    with Killer(r"^ray::SingleAgentEnvRunner\.") as killer:
        killed = algorithm.train()
    assert killer.killed in before
    due = time.monotonic() + 120
    while algorithm.env_runner_group.num_healthy_remote_workers() < 2 or killer.killed in steps_of_opponents(algorithm):
        assert time.monotonic() < due
        after = algorithm.train()
    after = algorithm.train()
    now = steps_of_opponents(algorithm)
    assert len(now) == 2
    assert len(now.keys() & before.keys()) == 1
    assert list(now.values()) == [[3, 3]] * 2, "the new one has the opponent of the others"
    assert after["num_env_steps_sampled_lifetime"] >= 512 * algorithm.iteration > killed["num_env_steps_sampled_lifetime"] - 512
    weights, iteration = actor_of(algorithm.get_module()), algorithm.iteration
    algorithm.save_to_path(tmp_path / "checkpoint")
    algorithm.stop()
    again = configured.build_algo()
    again.restore_from_path(tmp_path / "checkpoint")
    assert again.iteration == iteration
    for one, other in zip(weights.parameters(), actor_of(again.get_module()).parameters(), strict=True):
        assert torch.equal(one, other)
    player = Greedy(actor_of(again.get_module()))
    result = play_on_ray(player, "random", games=20, seed=1, cpus=0.5, settings=CUBELESS)
    assert result.sides[0].name == "ppo"
    assert result.episodes == 20
    again.stop()
