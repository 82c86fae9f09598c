"""The contract kit: everything that bg_env ships passes it, and whatever breaks the contract is caught."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from env_cases import IDS, MODULES, OPTIONS

from bg_env import SettingsError, Variant, backgammon_v0
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.envs.vector import VectorEnv
from bg_env.testing import EnvContract, check_aec, check_env, check_game, check_single, check_vector

TINY = Variant("tiny", {24: 1, 3: 2})


@pytest.mark.parametrize("name", IDS)
def test_every_id_keeps_the_contract(name):
    check_env(gymnasium.make(name), episodes=2)
    preset = dict(IDS[name])
    check_env(preset.pop("variant"), episodes=1, **preset)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_keeps_the_contract(name):
    for options in OPTIONS.values():
        check_env(MODULES[name].env(**options), episodes=1)
    check_env(MODULES[name].raw_env(), episodes=1)


@pytest.mark.parametrize(
    ("variant", "options"),
    [
        (TINY, {"match_length": 3, "reward": "match"}),
        (Variant("last", {1: 1}), {}),
        (Variant("bonus", {25: 2, 6: 2}, acey_deucey=True), {"beavers": 1, "jacoby": True}),
        ("mine(24:3 fresh_first_roll)", {"cube_cap": 2, "auto_doubles": 3}),
        ("backgammon", {"observation": "planes", "max_turns": 25, "mask": "info"}),
    ],
    ids=str,
)
def test_a_users_own_variant_keeps_the_contract(variant, options):
    check_env(variant, episodes=2, **options)


class TestTiny(EnvContract):
    """As a user writes it."""

    variant = TINY
    options = {"match_length": 2, "observation": "counts"}  # noqa: RUF012 - never changed
    episodes = 2


def test_what_cannot_be_checked():
    with pytest.raises(SettingsError, match="check_env takes"):
        check_env(3)
    with pytest.raises(SettingsError, match="already made"):
        check_env(backgammon_v0.env(), cube=False)
    with pytest.raises(SettingsError, match="no variant is called"):
        check_env("chess")


# Each fault is found. A mutant is an environment with one thing wrong.


def info_mutant(change):
    class Mutant(BackgammonEnv):
        def _info(self, agent):
            info = super()._info(agent)
            change(info)
            return info

    return Mutant


class Forgetful(BackgammonEnv):
    def observe(self, agent):
        self.kept = getattr(self, "kept", {})
        view = super().observe(agent)
        old = self.kept.setdefault(agent, view)
        for key, part in view.items():
            old[key][:] = part
        return old


class Eager(BackgammonEnv):
    def observe(self, agent):
        view = super().observe(agent)
        view["action_mask"][0] = 1
        return view


class Turned(BackgammonEnv):
    def observe(self, agent):
        return dict(reversed(super().observe(agent).items()))


class Wide(BackgammonEnv):
    def observe(self, agent):
        view = super().observe(agent)
        view["observation"][3] = 99
        return view


class Generous(BackgammonEnv):
    def step(self, action):
        super().step(action)
        if self.agents and any(self.rewards.values()):
            self.rewards = {agent: abs(reward) for agent, reward in self.rewards.items()}


class NumpyBools(BackgammonEnv):
    def _end(self):
        super()._end()
        self.terminations = {agent: np.bool_(flag) for agent, flag in self.terminations.items()}


class OneByOne(BackgammonEnv):
    def _end(self):
        super()._end()
        self.terminations = {"player_0": True, "player_1": False}


class NewSpaces(BackgammonEnv):
    def action_space(self, agent):
        return gymnasium.spaces.Discrete(154)


class Restless(BackgammonEnv):
    def reset(self, seed=None, options=None):
        super().reset(None, options)


class Shallow(BackgammonEnv):
    def __deepcopy__(self, memo):
        return self


AEC_MUTANTS = {
    "stale arrays": Forgetful,
    "mask": Eager,
    "key order": Turned,
    "bounds": Wide,
    "not zero-sum": Generous,
    "numpy bools": NumpyBools,
    "ends alone": OneByOne,
    "new space objects": NewSpaces,
    "no seed": Restless,
    "shallow copy": Shallow,
    "info key": info_mutant(lambda info: info.update(extra=1)),
    "info order": info_mutant(lambda info: info.update(player=info.pop("player"))),
    "info type": info_mutant(lambda info: info.update(cube=1.0)),
    "info player": info_mutant(lambda info: info.update(player=0)),
    "info level": info_mutant(lambda info: info.update(level=1)),
    "info turns": info_mutant(lambda info: info.update(turns=-info["turns"])),
}


@pytest.mark.parametrize("fault", AEC_MUTANTS)
def test_faults_of_a_pettingzoo_environment_are_found(fault):
    with pytest.raises(AssertionError) as caught:
        check_aec(AEC_MUTANTS[fault](), episodes=2)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 10


class Blind(SingleEnv):
    """Never shows a loss, as the known bad wrapper."""

    def step(self, action):
        view, reward, *rest = super().step(action)
        return view, max(reward, 0.0), *rest


class AllMasks(SingleEnv):
    def action_masks(self):
        return np.ones(self.action_space.n, np.bool_)


class IntMasks(SingleEnv):
    def action_masks(self):
        return super().action_masks().astype(np.int8)


NOISE = np.random.default_rng(1)


class Drifting(SingleEnv):
    def _seen(self):
        view, info = super()._seen()
        view["observation"][0] = NOISE.random()
        return view, info


@pytest.mark.parametrize("mutant", [Blind, AllMasks, IntMasks, Drifting])
def test_faults_of_a_gymnasium_environment_are_found(mutant):
    with pytest.raises(AssertionError):
        check_single(mutant(), episodes=3)


def test_a_learner_that_is_never_shown_a_loss_is_found_by_the_contract():
    class Mine(EnvContract):
        def make_single(self, **more):
            return Blind(self.variant, **{**self.options, **more})

    with pytest.raises(AssertionError):
        Mine().test_single()


def test_a_batch_that_is_not_its_games_is_found():
    batch = VectorEnv(num_envs=3, variant="hypergammon")
    check_vector(batch, lambda: SingleEnv("hypergammon"), steps=30)
    with pytest.raises(AssertionError, match="game 0"):
        check_vector(batch, lambda: SingleEnv("hypergammon", seat=1, opponent="pubeval"), steps=30)


def test_faults_of_the_rules_are_found(monkeypatch):
    from bg_env.game import Game
    from bg_env.position import Position

    check_game("hypergammon", episodes=1)
    plays = Position.legal_plays
    with monkeypatch.context() as patch:
        patch.setattr(Position, "legal_plays", lambda self, *roll: plays(self, *roll)[:1])
        with pytest.raises(AssertionError, match="steps and whole plays"):
            check_game("backgammon", episodes=1)
    with monkeypatch.context() as patch:
        legal = Game.legal_actions
        patch.setattr(Game, "legal_actions", lambda self: legal(self)[:1])
        with pytest.raises(AssertionError, match="mask and reasons"):
            check_game("backgammon", episodes=1)
