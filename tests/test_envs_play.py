"""Whole games: how often random play ends how, and the same games in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from env_cases import AGENTS, make, seldom_cube

import bg_env
from bg_env import Game, Phase, backgammon_v0
from bg_env.rules import STATE, apply, new_episode, plays, settle

GAMES = 2000


def levels_of_whole_plays(games, seed):
    """Cubeless games in which each turn's whole play is drawn uniformly from the distinct ones: how many end at each level."""
    rng = np.random.default_rng(seed)
    rules = bg_env.Settings(cube=False).record()
    states = np.zeros(games, STATE)
    for i in range(games):
        new_episode(states, i, rules, np.uint64(seed * games + i))
        settle(states, i, rules)
    going = np.arange(games)
    while len(going):
        offsets, steps, _ = plays(states[going], rules)
        picks = offsets[:-1] + (rng.random(len(going)) * np.diff(offsets)).astype(np.int64)
        for i, play in zip(going.tolist(), steps[picks].tolist(), strict=True):
            for action in play:
                if action >= 0:
                    apply(states, i, rules, action)
            settle(states, i, rules)
        going = going[states["phase"][going] != Phase.OVER]
    return [int((states["level"] == level).sum()) for level in (1, 2, 3)]


def levels_of_steps(games, seed):
    """The same with each checker step drawn uniformly from the mask, through the PettingZoo environment."""
    rng = np.random.default_rng(seed)
    env = backgammon_v0.env(cube=False)
    count = [0, 0, 0]
    for episode in range(games):
        env.reset(seed=seed if episode == 0 else None)
        while not env.terminations[env.agent_selection]:
            env.step(bg_env.sample(env.observe(env.agent_selection)["action_mask"], rng))
        count[env.infos["player_0"]["level"] - 1] += 1
        assert sum(env.rewards.values()) == 0
    return count


def test_random_whole_plays_end_as_they_are_known_to():
    """37 % single, 37 % gammon, 26 % backgammon (shared/data/README.md); .03 is 2.8 standard errors or more."""
    shares = np.array(levels_of_whole_plays(GAMES, seed=1)) / GAMES
    assert shares.sum() == 1
    assert np.abs(shares - [0.37, 0.37, 0.26]).max() < 0.03, shares


def test_random_steps_end_a_little_otherwise():
    """Steps drawn from the mask weigh plays by the orders that lead to them: games end 40.1 / 35.7 / 24.2 %.

    Those are the shares over 40,000 games, measured here; the bound is four standard errors of these 2,000 games.
    """
    known = np.array(STEP_SHARES)
    shares = np.array(levels_of_steps(GAMES, seed=2)) / GAMES
    assert (np.abs(shares - known) < 4 * np.sqrt(known * (1 - known) / GAMES)).all(), shares


STEP_SHARES = (0.401, 0.357, 0.242)

GAMES_HERE = """
import hashlib, json
import numpy as np
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv

KINDS = [
    {},
    {"variant": "acey_deucey", "cube": True, "beavers": 1},
    {"variant": "hypergammon", "match_length": 2},
    {"auto_doubles": 2, "beavers": 2},
]


def pick(mask, n):
    legal = np.flatnonzero(mask)
    if legal[0] == 150:  # now and then a double
        return 151 if n % 11 == 0 else 150
    return int(legal[n * 7919 % len(legal)])


def digest(parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()


said = []
for kind in KINDS:
    env, parts, n = BackgammonEnv(max_turns=40, **kind), [], 0
    env.reset(seed=2**63 + 5)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        parts += [observation["observation"].tobytes(), observation["action_mask"].tobytes(), repr((agent, reward)).encode()]
        parts.append(repr([info[key] for key in sorted(info) if key != "action_mask"]).encode())
        assert {type(value) for key, value in info.items() if key != "action_mask"} == {int}
        n += 1
        env.step(None if terminated or truncated else pick(observation["action_mask"], n))
    said.append(digest(parts))
    for opponent in ("random", "pubeval"):
        env, parts, n = SingleEnv(opponent=opponent, max_turns=40, **kind), [], 0
        observation, info = env.reset(seed=6)
        while info["player"] >= 0:
            n += 1
            observation, reward, _, _, info = env.step(pick(observation["action_mask"], n))
            parts += [observation["observation"].tobytes(), observation["action_mask"].tobytes(), repr(reward).encode()]
            assert {type(value) for key, value in info.items() if key != "action_mask"} == {int}
        said.append(digest(parts))
print(json.dumps(said))
"""


def games_elsewhere(**environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:The old environment creation API:DeprecationWarning", "-c", GAMES_HERE],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def games_here():
    said = []
    exec(GAMES_HERE, {"print": said.append})  # noqa: S102 - the same text as in the other processes
    return json.loads(said[0])


@pytest.mark.parametrize("environment", [{"PYTHONHASHSEED": "7"}, {"NUMBA_DISABLE_JIT": "1"}], ids=["another", "uncompiled"])
def test_the_same_seed_gives_the_same_games_in_every_process(games_here, environment):
    assert len(set(games_here)) == len(games_here)
    assert games_elsewhere(**environment) == games_here


def test_games_of_one_process_do_not_depend_on_what_was_played_before(games_here):
    said = []
    exec(GAMES_HERE, {"print": said.append})  # noqa: S102
    assert json.loads(said[0]) == games_here


@pytest.mark.parametrize("name", ["bg_env/Backgammon-v0", "bg_env/BackgammonMatch-v0"])
def test_whoever_plays_at_random_wins_half(name):
    """Both seats, the first throw and the dice are fair: the learner's wins against its like within four standard errors."""
    env = make(name, max_turns=100 if name.endswith("Backgammon-v0") else None)
    choose = seldom_cube(1, 0.0)
    won, games = 0, 0
    for episode in range(400 if name.endswith("Backgammon-v0") else 60):
        _, info = env.reset(seed=3 if episode == 0 else None)
        terminated = truncated = False
        while not (terminated or truncated):
            _, _, terminated, truncated, info = env.step(choose(env.action_masks()))
        if terminated:
            games += 1
            won += info["winner"] == env.seat
    assert games > 50
    assert abs(won / games - 0.5) < 4 * 0.5 / games**0.5


def test_the_first_player_is_either_and_openings_are_fair():
    starts, rolls = [], {}
    for seed in range(3000):
        game = Game.new(seed=seed)
        starts.append(game.player)
        rolls[game.dice] = rolls.get(game.dice, 0) + 1
    assert abs(np.mean(starts) - 0.5) < 4 * 0.5 / 3000**0.5
    assert len(rolls) == 15
    assert max(abs(n - 200) for n in rolls.values()) < 4 * (200 * 14 / 15) ** 0.5
    assert tuple(backgammon_v0.env().possible_agents) == AGENTS
