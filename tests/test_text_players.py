"""Agents that read and write text in the arena and in the Gymnasium environment."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bg_env import BgEnvError, Game, IllegalActionError, NotationError, OrderError, Settings, SettingsError, SingleEnv, arena
from bg_env.players import FORFEIT
from bg_env.rules import Phase
from bg_env.text import TextEnv, TextPlayer, again, parse_reply, prompt
from bg_env.text.answers import LONGEST_REPLY


def first_legal(text):
    """A reply with the first of the legal choices that a prompt lists."""
    line = next(line for line in text.splitlines() if line.startswith("Legal ("))
    return f"I think about it.\nMove: {line.split(': ', 1)[1].split(';')[0].rstrip('.')}"


class First:
    """The same choices without text."""

    def bind(self, settings):
        self.settings = settings
        return self

    def choose_plays(self, states, words):
        chosen = np.full((len(states), 4), -1)
        for i in range(len(states)):
            steps = Game.from_states(states[i : i + 1], self.settings).legal_plays()[0].steps
            chosen[i, : len(steps)] = [step.action for step in steps]
        return chosen

    def choose(self, states, words):
        games = [Game.from_states(states[i : i + 1], self.settings) for i in range(len(states))]
        return np.array([game.legal_actions()[0] for game in games])


@pytest.mark.parametrize("batch", [False, True])
def test_a_text_player_plays_as_the_same_choices_without_text(batch):
    def function(given):
        return [first_legal(text) for text in given] if batch else first_legal(given)

    player = TextPlayer(function, legal=True, batch=batch, name="first")
    options = {"games": 4, "seed": 5, "boards": 4, "match_length": 2}
    result = arena.play(player, "random", **options)
    expected = arena.play(First(), "random", names=("first", "random"), **options)
    assert result == expected
    assert player.counts.decisions == player.counts.replies > 20
    assert (player.counts.refused, player.counts.forfeits) == ({}, 0)
    assert str(player.counts).endswith("replies, 0 forfeits")


def test_a_refused_reply_is_followed_by_the_reason():
    asked = []

    def function(text):
        asked.append(text)
        return first_legal(text) if "Your reply was refused." in text else "Move: 24/20/off"

    player = TextPlayer(function, legal=3, retries=1)
    arena.play(player, "random", games=2, max_turns=6)
    counts = player.counts
    assert counts.replies == 2 * counts.decisions
    assert counts.refused["illegal"] == counts.decisions
    assert counts.forfeits == 0
    assert "Reply: Move: 24/20/off\nReason: " in asked[1]
    assert asked[1] == again(asked[0], "Move: 24/20/off", asked[1].split("Reason: ")[1].split("\n")[0])


@pytest.mark.parametrize("match_length", [0, 3])
def test_forfeits_lose_three_times_the_stake_and_are_counted_apart(match_length):
    player = TextPlayer(lambda _: "I do not know", retries=2, name="mute")
    result = arena.play(player, "random", games=6, match_length=match_length)
    mute, other = result.sides
    assert (mute.forfeits, other.forfeits) == (6, 0)
    assert (mute.wins.value, other.wins.value) == (0, 1)
    assert (mute.won, other.won) == ((0, 0, 0), (0, 0, 0))
    assert result.points.value == -3
    assert player.counts.forfeits == 6
    assert player.counts.refused == {"unclear": 18}
    unit = "games" if not match_length else "matches"
    assert f"mute forfeited 6 of 6 {unit}: no legal action" in result.text()
    assert result.to_dict()["sides"][0]["forfeits"] == 6


def test_some_games_are_forfeited_and_the_others_are_as_they_would_be():
    """Dice and the other games do not depend on a forfeit, and the luck of the games is measured to their end."""
    rng = random.Random(1)
    plain = TextPlayer(first_legal, legal=True, name="text")
    weak = TextPlayer(lambda text: first_legal(text) if rng.random() < 0.99 else "", legal=True, retries=0, name="text")
    options = {"games": 12, "seed": 3, "boards": 12, "luck": "td", "variant": "hypergammon"}
    one, other = (arena.play_part(player, "random", **options) for player in (plain, weak))
    lost = other.tally["forfeits"][:, 0] == 1
    assert 0 < lost.sum() < 12
    assert (other.tally[~lost] == one.tally[~lost]).all()
    assert (other.luck[~lost] == one.luck[~lost]).all()
    assert (other.tally["net"][lost] < 0).all()
    assert (other.tally["winner"][lost] == 1).all()
    assert np.isfinite(other.luck).all()


def test_a_random_choice_may_stand_in_or_an_error_be_raised():
    player = TextPlayer(lambda _: None, retries=0, forfeit="random")
    result = arena.play(player, "random", games=4, seed=2)
    assert result.sides[0].forfeits == 0
    assert player.counts.forfeits == player.counts.decisions > 50
    again = arena.play(TextPlayer(lambda _: None, retries=0, forfeit="random"), "random", games=4, seed=2)
    assert again.points == result.points
    with pytest.raises(IllegalActionError, match="mute gave no legal reply in 1: the reply is empty"):
        arena.play(TextPlayer(lambda _: "", retries=0, forfeit="raise", name="mute"), "random", games=2)


def play_on(env):
    """Play some games until the opponent has had a decision."""
    for seed in range(20):
        env.reset(seed=seed)


def test_a_text_player_as_an_opponent():
    env = SingleEnv("hypergammon", opponent=TextPlayer(first_legal, legal=True, retries=0), seat=0, mask="info")
    _, info = env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        done = terminated or truncated
    assert info["winner"] in (0, 1)
    env = SingleEnv("hypergammon", opponent=TextPlayer(lambda _: "", retries=0, name="mute"), seat=0)
    with pytest.raises(IllegalActionError, match=r"the opponent's play .* is not legal"):
        play_on(env)


def test_single_decisions_of_a_text_player():
    game = Game(seed=3, cube=False)
    bound = TextPlayer(first_legal, legal=True).bind(game.settings)
    action = int(bound.choose(game.states, np.zeros(1, np.uint64))[0])
    assert action in game.legal_actions()
    mute = TextPlayer(lambda _: "", retries=0).bind(game.settings)
    assert mute.choose(game.states, np.zeros(1, np.uint64)).tolist() == [FORFEIT]
    with pytest.raises(OrderError, match="must know the settings"):
        TextPlayer(first_legal).choose(game.states, np.zeros(1, np.uint64))
    with pytest.raises(NotationError, match="a reply is text, not int"):
        TextPlayer(lambda _: 5).bind(game.settings).choose(game.states, np.zeros(1, np.uint64))
    with pytest.raises(BgEnvError, match="a list of 1 replies"):
        TextPlayer(lambda _: "8/5", batch=True).bind(game.settings).choose(game.states, np.zeros(1, np.uint64))


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"retries": -1}, "retries is a whole number from 0 to 100"),
        ({"forfeit": "lose"}, "forfeit is one of 'game', 'random', 'raise'"),
        ({"legal": "all"}, "legal is a whole number"),
        ({"board": None}, "board"),
        ({"batch": 2}, "batch"),
        ({"name": "two\nlines"}, "name is text"),
    ],
)
def test_bad_options_of_a_text_player(options, part):
    with pytest.raises(SettingsError, match=part):
        TextPlayer(first_legal, **options)


def test_a_text_player_needs_a_function():
    with pytest.raises(SettingsError, match="a function from a prompt to a reply"):
        TextPlayer("gpt")


def test_gymnasium_accepts_the_environment_of_text():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(TextEnv("hypergammon", legal=True), skip_render_check=True)


def test_an_episode_by_text_is_that_of_the_actions():
    """Whole plays by text give the rewards, dice and observations of the same steps in the environment of actions."""
    env = TextEnv("hypergammon", opponent="pubeval", legal=True)
    plain = SingleEnv("hypergammon", opponent="pubeval", illegal="raise")
    rng = random.Random(4)
    for seed in range(3):
        text, info = env.reset(seed=seed)
        plain.reset(seed=seed)
        done = False
        while not done:
            assert env.observation_space.contains(text)
            choice = rng.choice(env.legal_texts())
            total, reply = 0.0, parse_reply(env.game, choice)
            for action in reply.actions:
                _, reward, ended, cut, _ = plain.step(action)
                total += reward
            text, reward, terminated, truncated, info = env.step(f"<think>{text}</think>\nMove: {choice}")
            done = terminated or truncated
            assert (reward, terminated, truncated) == (total, ended, cut)
            assert (info["reply"], info["fault"], info["reason"], info["refused"]) == (choice, "", "", 0)
            assert done or env.game.key == plain.game.key
        assert "The game is over: you have " in text
        assert ("won" in text.splitlines()[-1]) == (reward > 0)


def test_refusals_are_shown_counted_and_end_the_episode():
    env = TextEnv(retries=1, refused_reward=-0.1, opponent="random", seat=0)
    first, _ = env.reset(seed=3)
    before = env.game
    text, reward, terminated, truncated, info = env.step("I am thinking of 24/1")
    assert (reward, terminated, truncated, info["refused"], info["fault"]) == (-0.1, False, False, 1, "illegal")
    assert text == f"Your reply was refused: {info['reason']}\n\n{first}"
    assert env.game.key == before.key
    env.step(env.legal_texts()[0])
    assert env.step("hm")[4]["refused"] == 1  # refusals in a row count
    text, reward, terminated, _, info = env.step("hm")
    assert (reward, terminated, info["fault"], info["refused"]) == (-3.0, True, "unclear", 2)
    assert text.endswith("The game is over: you have lost 3 points.")
    with pytest.raises(OrderError, match="call reset"):
        env.step("roll")


def test_self_play_and_steps_by_text():
    env = TextEnv(opponent=None, unit="step", legal=True, cube=False)
    text, info = env.reset(seed=1)
    for _ in range(30):
        assert f"You are {'OX'[info['player']]}" in text
        legal = text.splitlines()[-2].split(": ", 1)[1].rstrip(".").split("; ")
        text, _, terminated, _, info = env.step(legal[0])
        assert not terminated
        assert not info["fault"]


def test_the_cube_by_text():
    env = TextEnv(opponent=None, legal=True, match_length=3)
    text, _ = env.reset(seed=1)
    while env.game.phase != Phase.ROLL_OR_DOUBLE:
        text, *_ = env.step(env.legal_texts()[0])
    assert "Before your roll: roll, or double." in text
    text, *_ = env.step("I double.")
    assert env.game.phase == Phase.TAKE_OR_DROP
    env.step("take")
    assert env.game.cube == 2
    assert "match" in env.instructions


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"observation": "tesauro"}, "TextEnv shows text and takes text: observation cannot be given"),
        ({"unit": "game"}, "unit is 'play'"),
        ({"retries": 1.5}, "retries is a whole number"),
        ({"refused_reward": 1}, "refused_reward is a number from -1000 to 0"),
        ({"legal": None}, "legal is a whole number"),
        ({"opponent": "gpt"}, "no player is called 'gpt'"),
        ({"opponents": 1}, "unexpected keyword argument 'opponents'"),
    ],
)
def test_bad_options_of_the_environment(options, part):
    with pytest.raises(SettingsError, match=part):
        TextEnv(**options)
    assert LONGEST_REPLY >= 10_000
    assert prompt(Game(Settings(), seed=1))
