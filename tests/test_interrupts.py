"""Ctrl-C at every place of a step, a reset or a draw: it is done, not begun, or the environment says that it must be reset."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from interrupting import interrupted, places
from nets import random_net

from bg_env.batch import batch as games
from bg_env.batch.afterstates import best
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.errors import OrderError
from bg_env.players import ValuePlayer
from bg_env.rules import Settings, plays

TORN = "cannot go on, because a step or reset was interrupted when it was half done: call reset"
RULES = Settings(cube=False).record()


@pytest.fixture(autouse=True)
def small_batches_have_threads_too(monkeypatch):
    monkeypatch.setattr(games, "FEWEST", 1)


class First:
    """The first play, without a kernel for it."""

    def choose_plays(self, states, words):
        offsets, actions, _ = plays(states, RULES)
        return actions[offsets[:-1]]


def first_legal(seen):
    return seen["action_mask"].argmax(1)


OPPONENTS = {
    "none": lambda: None,
    "random": lambda: "random",
    "pubeval": lambda: "pubeval",
    "function": lambda: first_legal,
    "plays": First,
    "net": lambda: ValuePlayer(random_net(1)),
}


def content(value: Any) -> bytes:
    """All arrays and numbers in a result, as bytes."""
    return pickle.dumps(value)


def in_turn(values: Any, call: Any) -> None:
    for value in values:
        call(value)


class Vector:
    """A batch, how it came to where it is interrupted, and what may be seen afterwards."""

    def __init__(self, opponent: str, threads: int, mode: str = "next_step", n: int = 5, **options: Any) -> None:
        self.threads = threads
        given = {"num_threads": threads, "autoreset_mode": mode, "cube": False, "max_turns": 9, **options}
        self.env, self.twin = (VectorEnv(n, opponent=OPPONENTS[opponent](), **given) for _ in range(2))
        self.calls = [
            lambda env: env.step(np.zeros(n, np.int64)),
            lambda env: env.sample(),
            lambda env: env.action_masks(),
            lambda env: env.afterstates(),
            lambda env: env.step_plays(np.zeros(n, np.int64)),
            lambda env: env.save(),
            lambda env: env.render(),
            lambda env: env.states,
            lambda env: env.seats,
        ]

    def prepare(self, env: Any) -> None:
        env.reset(seed=7)
        env.step(env.sample(np.random.default_rng(1)))
        if env.autoreset_mode.value == "Disabled":
            env.reset(options={"reset_mask": np.arange(env.num_envs) % 2 == 0})
        env.afterstates()

    def step(self, env: Any) -> Any:
        actions = env.action_masks().argmax(1)
        actions[0] = 149  # illegal: an episode ends
        return lambda: env.step(actions)

    def step_plays(self, env: Any) -> Any:
        choice = env.afterstates()
        index = best(np.arange(len(choice.states)) % 3, choice.offsets)
        return lambda: env.step_plays(index)

    def reset(self, env: Any) -> Any:
        return lambda: env.reset(seed=5)

    def reset_some(self, env: Any) -> Any:
        options = {"reset_mask": np.arange(env.num_envs) % 2 == 0, "dice": [(3, 1), (2, 2)]}
        return lambda: env.reset(options=options)

    def restore(self, env: Any) -> Any:
        saved = env.save()
        env.step(env.action_masks().argmax(1))
        return lambda: env.restore(saved)

    def sample(self, env: Any) -> Any:
        return env.sample

    def afterstates(self, env: Any) -> Any:
        return env.afterstates

    def seen(self, env: Any) -> bytes:
        saved = env.save()
        return content([saved["states"].tobytes(), saved["slots"].tobytes(), saved["dice"], env.action_masks(), env.seats])

    def went_on(self, env: Any) -> bytes:
        """The results of the next steps."""
        out = []
        if env.autoreset_mode.value == "Disabled" and (over := env.games.slots["over"] == 1).any():
            env.reset(options={"reset_mask": over})
        out.append(env.step(env.action_masks().argmax(1)))
        choice = env.afterstates()
        out.append(env.step_plays(best(np.zeros(len(choice.states)), choice.offsets)))
        return content([out, self.seen(env)])


class Single(Vector):
    """An environment of one game."""

    def __init__(self, opponent: str, **options: Any) -> None:
        self.threads = 1
        self.record = options.pop("record", False)
        self.env, self.twin = (SingleEnv(opponent=OPPONENTS[opponent](), cube=False, **options) for _ in range(2))
        self.calls = [
            lambda env: env.step(0),
            lambda env: env.action_masks(),
            lambda env: env.game,
            lambda env: env.render(),
        ]

    def prepare(self, env: Any) -> None:
        if self.record:
            env._episode.records = []
        env.reset(seed=3)
        for _ in range(2):
            env.step(int(env.action_masks().argmax()))

    def step(self, env: Any) -> Any:
        action = int(env.action_masks().argmax())
        return lambda: env.step(action)

    def end(self, env: Any) -> Any:
        return lambda: env.step(149)

    def seen(self, env: Any) -> bytes:
        episode = env._episode
        return content([episode._memory.tobytes(), env.action_masks(), env.seat, env._going, episode.player, len(env.records)])

    def went_on(self, env: Any) -> bytes:
        out: list[Any] = []
        for _ in range(3):
            if env._going:
                out.append(env.step(int(env.action_masks().argmax())))
            else:
                with pytest.raises(OrderError, match="call reset"):
                    env.step(0)
        return content([out, self.seen(env), [repr(event) for event in env.game.history]])


class Aec(Single):
    """Two agents."""

    def __init__(self, opponent: str = "", **options: Any) -> None:
        self.threads = 1
        self.record = options.pop("record", False)
        self.env, self.twin = (BackgammonEnv(**options) for _ in range(2))
        self.calls = [
            lambda env: env.step(0),
            lambda env: env.step(None),
            lambda env: env.last(),
            lambda env: env.observe("player_0"),
            lambda env: env.agent_iter(),
            lambda env: env.game,
            lambda env: env.render(),
        ]

    def mask(self, env: Any) -> Any:
        return env._episode.mask(("player_0", "player_1").index(env.agent_selection))

    def prepare(self, env: Any) -> None:
        if self.record:
            env._episode.records = []
        env.reset(seed=3)
        for _ in range(3):
            env.step(int(self.mask(env).argmax()))

    def step(self, env: Any) -> Any:
        action = int(self.mask(env).argmax())
        return lambda: env.step(action)

    def step_out(self, env: Any) -> Any:
        env.step(149)
        return lambda: env.step(None)

    def last(self, env: Any) -> Any:
        return env.last

    def seen(self, env: Any) -> bytes:
        episode = env._episode
        views = [env.observe(agent) for agent in env.possible_agents]
        parts = [env.agent_selection, env.agents, env.rewards, env._cumulative_rewards, env.terminations, env.truncations]
        return content([episode._memory.tobytes(), views, parts, env.infos, episode.player, len(env.records)])

    def went_on(self, env: Any) -> bytes:
        out: list[Any] = []
        for _ in range(3):
            if not env.agents:
                break
            out.append(env.last())
            env.step(None if env._over else int(self.mask(env).argmax()))
        return content([out, self.seen(env), [repr(event) for event in env.game.history]])


def check(case: Any, name: str, again: int = 0) -> tuple[int, int, int]:
    """Interrupt a call at every place; how often it was done, not begun, and torn.

    Args:
        case: the environment.
        name: of the method that gives the call.
        again: interrupt it a second time, 1 to so many events later; 0 for never.
    """
    twin, env = case.twin, case.env
    for one in (twin, env):
        case.prepare(one)
        call = getattr(case, name)(one)
        call()  # so that all is compiled
        case.prepare(one)
    call = getattr(case, name)(twin)
    before = case.seen(twin)
    ahead = case.went_on(twin)
    case.prepare(twin)
    getattr(case, name)(twin)()
    after = case.seen(twin)
    further = case.went_on(twin)
    case.prepare(twin)
    ready = case.seen(twin)
    counts = [0, 0, 0]
    call = getattr(case, name)(env)
    every = not isinstance(case.env, VectorEnv) and name != "reset"  # of others there are too many
    for k, place in enumerate(places(call, every=every)):
        case.prepare(env)
        assert case.seen(env) == ready, place
        case.prepare(env)
        call = getattr(case, name)(env)
        assert interrupted(call, place, again and 1 + k % again, every=every) or case.threads > 1
        try:
            now = case.seen(env)
        except OrderError as error:
            assert TORN in str(error)  # noqa: PT017 - it need not be raised
            counts[2] += 1
            for refused in case.calls:
                with pytest.raises(OrderError, match=TORN) as caught:
                    refused(env)
                assert "\n" not in str(caught.value)
            continue
        assert now in (before, after), place
        counts[now == before] += 1
        assert case.went_on(env) == (ahead if now == before else further), place
    return tuple(counts)


@pytest.mark.parametrize(
    ("opponent", "threads"),
    [("none", 1), ("none", 2), ("random", 2), ("pubeval", 1), ("pubeval", 2), ("function", 2), ("plays", 1), ("net", 1)],
)
def test_a_step_of_a_batch(opponent, threads):
    done, not_begun, torn = check(Vector(opponent, threads, "same_step"), "step")
    assert done > 0
    assert not_begun > 0
    assert (torn > 0) == (opponent == "pubeval")


@pytest.mark.parametrize(
    ("call", "threads"),
    [("step_plays", 2), ("reset", 1), ("reset", 2), ("reset_some", 2), ("restore", 2), ("sample", 2), ("afterstates", 2)],
)
def test_other_calls_of_a_batch(call, threads):
    check(Vector("random", threads, "disabled" if call == "reset_some" else "next_step"), call)


@pytest.mark.parametrize("opponent", ["none", "random", "pubeval", "function", "net"])
@pytest.mark.parametrize("call", ["step", "reset", "end"])
def test_an_environment_of_one_game(opponent, call):
    check(Single(opponent), call)


@pytest.mark.parametrize("call", ["step", "reset", "step_out", "last"])
@pytest.mark.parametrize("record", [False, True])
def test_two_agents(call, record):
    check(Aec(record=record, mask="both"), call)


@pytest.mark.parametrize(
    ("case", "call"),
    [
        (lambda: Vector("random", 2, "same_step"), "step"),
        (lambda: Vector("pubeval", 2), "step"),
        (lambda: Vector("function", 2), "step"),
        (lambda: Single("function"), "step"),
        (lambda: Single("random"), "reset"),
        (lambda: Aec(record=True), "step"),
    ],
)
def test_a_second_interrupt(case, call):
    check(case(), call, again=12)
