"""Players by name: the table, what may stand behind a name, and every name in every environment and the arena."""

from __future__ import annotations

import re
import subprocess
import sys

import gymnasium as gym
import nets
import numpy as np
import pytest

import bg_env
from bg_env import arena, players
from bg_env.errors import MissingDependencyError, SettingsError
from bg_env.players import PLAYERS, ValuePlayer, player
from bg_env.rules import Settings

SETTINGS = Settings()


@pytest.fixture(scope="module")
def net_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("nets") / "net.npz"
    nets.random_net(1).save(path)
    return path


def test_the_table_in_the_documentation_is_complete():
    rows = re.findall(r"^\| ([a-z0-9-]+)(:FILE)? \| .* \|$", players.__doc__, re.MULTILINE)
    assert [name for name, _ in rows if name != "name"] == list(PLAYERS)
    for name, file in rows:
        assert name == "name" or (PLAYERS[name].argument == "FILE") == bool(file)


def test_names_and_what_they_make(net_file):
    made = {name: player(name, SETTINGS) for name in ("td", "td:1", f"greedy:{net_file}", f"expectimax:{net_file}")}
    assert [(item.name, item.plies) for item in made.values()] == [
        ("td", 0),
        ("td:1", 1),
        ("greedy:net.npz", 0),
        ("expectimax:net.npz", 1),
    ]
    assert all(item.settings == SETTINGS for item in made.values())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "no player is called 'nobody': choose from random, pubeval, td, td-cube, greedy:FILE, expectimax:FILE,"),
        ("", "no player is called ''"),
        ("Random", "no player is called 'Random'"),
        ("random:1", "player 'random' takes nothing after its name, not '1'"),
        ("pubeval:x", "player 'pubeval' takes nothing after its name"),
        ("greedy", "player 'greedy' needs a file: write 'greedy:PATH'"),
        ("expectimax:", "player 'expectimax' needs a file"),
        ("sb3", "player 'sb3' needs a file"),
        ("td:deep", "player 'td' takes plies of look-ahead, such as 'td:1', not 'deep'"),
        ("td:-1", "such as 'td:1', not '-1'"),
        ("gnubg:x", "player 'gnubg' takes plies of look-ahead"),
        ("greedy:nowhere.npz", "nowhere.npz is not a file of a value net"),
    ],
)
def test_names_that_are_refused(name, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        player(name, SETTINGS)


def test_td_looks_one_roll_ahead_at_most():
    with pytest.raises(SettingsError, match="plies is 0 or 1, not 2"):
        player("td:2", SETTINGS)


@pytest.mark.parametrize(("name", "kind"), [("td", "odds"), ("td:1", "odds"), ("td-cube", "cube")])
def test_the_shipped_nets_tell_how_they_were_made(name, kind):
    made = player(name, SETTINGS)
    assert isinstance(made, ValuePlayer)
    assert (made.name, made.net.kind) == (name, kind)
    assert {"seed", "games", "hidden", "minutes"} <= set(made.net.about)
    assert made.net.about["cube"] == (kind == "cube")
    assert made.net is player(name, SETTINGS).net


def names(net_file):
    found = ["random", "pubeval", "td", "td-cube", f"greedy:{net_file}", f"expectimax:{net_file}"]
    try:
        player("gnubg", SETTINGS)
    except MissingDependencyError:
        return found
    return [*found, "gnubg"]


def first_legal(observation):
    return observation["action_mask"].argmax(axis=-1)


def test_every_name_in_every_environment(net_file):
    for name in names(net_file):
        for settings in ({}, {"match_length": 2}, {"jacoby": True, "beavers": 1}):
            env = gym.make("bg_env/Backgammon-v0", opponent=name, max_turns=20, **settings)
            observation, _ = env.reset(seed=3)
            over = False
            while not over:
                observation, _, ended, cut, _ = env.step(int(first_legal(observation)))
                over = ended or cut
        batch = gym.make_vec("bg_env/Backgammon-v0", num_envs=6, opponent=name, num_threads=2)
        observation, _ = batch.reset(seed=5)
        for _ in range(25):
            observation, *_ = batch.step(first_legal(observation))
        batch.close()


def test_every_name_in_the_arena(net_file):
    for name in names(net_file):
        result = arena.play(name, "random", games=4, seed=2, match_length=1)
        assert result.complete
        again = arena.play(name, "random", games=4, seed=2, match_length=1)
        assert again.points == result.points


@pytest.mark.parametrize("variant", list(bg_env.VARIANTS))
def test_value_nets_play_every_variant(net_file, variant):
    result = arena.play(f"greedy:{net_file}", "random", games=4, seed=2, variant=variant, cube=True)
    assert result.complete


def test_the_batch_and_a_single_game_meet_the_same_opponent(net_file):
    """Nets may differ in ties only; here there are none."""
    one = gym.make("bg_env/BackgammonCubeless-v0", opponent=f"greedy:{net_file}")
    batch = gym.make_vec("bg_env/BackgammonCubeless-v0", num_envs=3, opponent=f"greedy:{net_file}")
    seen, _ = batch.reset(seed=11)
    single, _ = one.reset(seed=12)
    for _ in range(40):
        assert np.array_equal(single["observation"], seen["observation"][1])
        action = first_legal(seen)
        single, _, ended, _, _ = one.step(int(first_legal(single)))
        seen, *_ = batch.step(action)
        if ended:
            break


def test_nothing_optional_is_imported_by_the_players():
    code = "import sys, bg_env.players; print([n for n in ('gnubg_nn', 'stable_baselines3', 'torch') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
