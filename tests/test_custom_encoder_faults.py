"""A user's encoder that fails later than at the first look: one line, and nothing has changed."""

from __future__ import annotations

import numpy as np
import pytest

from bg_env import BackgammonEnv, Encoder, SettingsError, SingleEnv, VectorEnv


def fails_late(states, rules, seats, out):
    out[:] = 0.5
    if (states["rolls"] > 4).any():
        msg = "late\ntrouble"
        raise ValueError(msg)


LATE = Encoder("mine", ["a", "b"], 0, 1, fails_late)
LINE = r"^encoder mine: its function raised ValueError: late trouble$"


@pytest.mark.parametrize("opponent", [None, "random", "pubeval"])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_single_environment_stays_as_it_was(opponent, recorded):
    env = SingleEnv(observation=LATE, opponent=opponent)
    if recorded:
        env.start_recording()
    env.reset(seed=5)
    for _ in range(60):
        before = env.game.position, env.game.dice, env.action_masks().tolist()
        action = int(np.argmax(env.action_masks()))
        try:
            env.step(action)
        except SettingsError as error:
            assert str(error) == "encoder mine: its function raised ValueError: late trouble"  # noqa: PT017 - after some steps
            assert (env.game.position, env.game.dice, env.action_masks().tolist()) == before
            with pytest.raises(SettingsError, match=LINE):  # it is still to be done
                env.step(action)
            return
    pytest.fail("the encoder has not failed")


def test_observing_two_agents_is_refused_in_one_line():
    env = BackgammonEnv(observation=LATE)
    env.reset(seed=5)

    def play():
        for _ in range(100):
            env.last()
            env.step(env.game.legal_actions()[0])

    with pytest.raises(SettingsError, match=LINE):
        play()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_stays_as_it_was(threads):
    envs = VectorEnv(num_envs=2048, num_threads=threads, observation=LATE, opponent=None)
    envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(100):
        before, actions = envs.states.tobytes(), envs.sample(rng)
        try:
            envs.step(actions)
        except SettingsError as error:
            assert str(error).startswith("encoder mine: its function raised ValueError")  # noqa: PT017
            assert envs.states.tobytes() == before
            return
    pytest.fail("the encoder has not failed")


def test_an_encoder_is_never_called_with_no_states():
    def touches_the_first(states, rules, seats, out):
        out[:] = states["points"][0, 0, 0] * 0
        out[0, 0] = 0

    for threads in (1, 2):
        encoder = Encoder("first", ["a"], 0, 1, touches_the_first)
        envs = VectorEnv(num_envs=2048, num_threads=threads, observation=encoder, opponent=None, autoreset_mode="same_step")
        envs.reset(seed=1)
        rng = np.random.default_rng(0)
        for _ in range(150):
            envs.step(envs.sample(rng))
