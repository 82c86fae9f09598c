"""Arguments that are something else than is asked for: one line of an error of bg_env, whatever function it is."""

from __future__ import annotations

from importlib import resources

import click
import numpy as np
import pytest

import bg_env
from bg_env import Encoder, Game, Position, Reward, ValueNet, ValuePlayer, actions
from bg_env.arena import ratings, round_robin
from bg_env.batch.afterstates import best
from bg_env.cli.main import main
from bg_env.equity import match_equity
from bg_env.errors import BgEnvError, IllegalActionError, PositionError, SettingsError, needs, quoted
from bg_env.players import player, player_for
from bg_env.render.svg import board_svg
from bg_env.render.text import board_text, position_text
from bg_env.rules import STATE, VARIANTS, Settings

STATES = np.zeros(1, STATE)
FLOATS = np.zeros((1, 26))
BOARD = Game("backgammon", seed=1).states


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: player_for(np.zeros(3), Settings()), "an opponent is a name"),
        (lambda: match_equity(1.5, 2), "own is a whole number of points, not 1.5"),
        (lambda: match_equity(1, "2"), "other is a whole number of points, not '2'"),
        (lambda: round_robin(5), "at least two, not 5"),
        (lambda: round_robin("ab"), "at least two, not 'ab'"),
        (lambda: round_robin(["random"]), "at least two"),
        (lambda: round_robin(["random", "random"], ["one"]), "names are 2 names"),
        (lambda: ratings([]), "at least one Result"),
        (lambda: ratings([1]), "at least one Result"),
        (lambda: board_text(None, 0, Settings()), "states must be"),
        (lambda: board_svg(FLOATS, 0, Settings()), "states must be"),
        (lambda: board_svg(STATES, 1, Settings()), "index of one of 1 states, not 1"),
        (lambda: board_text(STATES, "0", Settings()), "not '0'"),
        (lambda: board_text(STATES, 0, "backgammon"), "settings are a bg_env.Settings"),
        (lambda: bg_env.Variant("x", np.array(3)), "start is 26 counts or a mapping"),
        (lambda: bg_env.Variant("x", np.zeros((26, 2))), "checkers on point 0"),
        (lambda: Game.from_position(Position.start(), variant=np.array([], dtype=object)), "a variant is a name"),
        (lambda: Game.from_position(Position.start(), variant="hypergammon"), "leave variant out"),
        (lambda: bg_env.Variant("x", {24: 2}, checkers=np.array([2, 2])), "checkers is a whole number"),
    ],
)
def test_the_error_is_one_line_of_ours(call, words):
    with pytest.raises(BgEnvError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, (SettingsError, PositionError))


BAD = {
    "None": None,
    "5": 5,
    "text": "x",
    "lines": "two\nlines",
    "array": np.zeros(3),
    "list": [],
    "dict": {},
    "digits": 10**5000,
    "large": -(10**400),
    "nan": float("nan"),
    "bytes": b"x",
    "object": object(),
    "true": True,
    "long": "y" * 5000,
}
TAKERS = {
    "board_text names": lambda bad: board_text(BOARD, 0, Settings(), names=bad),
    "board_text colour": lambda bad: board_text(BOARD, 0, Settings(), colour=bad),
    "board_svg arrows": lambda bad: board_svg(BOARD, 0, Settings(), arrows=bad),
    "board_svg arrow": lambda bad: board_svg(BOARD, 0, Settings(), arrows=[bad]),
    "position_text": lambda bad: position_text(bad, bad),
    "match_equity": lambda bad: match_equity(bad, 2),
    "save_records": lambda bad: recorded().save_records(bad),
    "Variant checkers": lambda bad: bg_env.Variant("x", {24: 2}, checkers=bad),
    "Variant count": lambda bad: bg_env.Variant("x", {24: bad}),
    "Variant name": lambda bad: bg_env.Variant(bad, {24: 16}),
    "Encoder name": lambda bad: Encoder(bad, ["one"], 0, 1, None),
    "Encoder low": lambda bad: Encoder("e", ["one"], bad, 1, lambda *given: None),
    "Encoder function": lambda bad: Encoder("e", ["one"], 0, 1, bad),
    "Reward name": lambda bad: Reward(bad, function=None),
    "Reward bound": lambda bad: Reward("r", function=lambda *given: 0, bound=bad),
    "Reward function": lambda bad: Reward("r", function=bad),
    "Settings length": lambda bad: Settings(match_length=bad),
    "Settings text": Settings.parse,
    "action_text": actions.action_text,
    "step_action": lambda bad: actions.step_action(bad, bad),
    "step_of": actions.step_of,
    "name_action": actions.name_action,
    "why_illegal": lambda bad: bg_env.why_illegal(Game("backgammon", seed=1), bad),
    "Game.apply": lambda bad: Game("backgammon", seed=1).apply(bad),
    "SingleEnv.step": lambda bad: recorded().step(bad),
    "VectorEnv.step": lambda bad: begun().step([bad]),
    "VectorEnv actions": lambda bad: begun().step(bad),
    "best": lambda bad: best([bad], np.array([0, 1])),
    "sample": lambda bad: bg_env.sample(bad, np.random.default_rng(1)),
    "ValuePlayer plies": lambda bad: ValuePlayer(NET, bad),
    "ValuePlayer margin": lambda bad: ValuePlayer(NET, margin=bad),
    "ValuePlayer cube_life": lambda bad: ValuePlayer(NET, cube_life=bad),
    "ValuePlayer name": lambda bad: ValuePlayer(NET, name=bad),
    "ValuePlayer settings": lambda bad: ValuePlayer(NET, settings=bad),
    "player settings": lambda bad: player("random", bad),
    "player": lambda bad: player(bad, Settings()),
    "RandomPlayer": lambda bad: player("random", Settings()).choose(bad, None),
    "PubevalPlayer": lambda bad: player("pubeval", Settings()).choose_plays(bad, None),
}
NET = ValueNet.load(resources.files("bg_env") / "data" / "td.npz")


def recorded():
    """An environment with an episode that is recorded."""
    env = bg_env.SingleEnv(max_turns=1, illegal="raise")
    env.start_recording()
    env.reset(seed=1)
    while not env.records:
        env.step(int(env.action_masks().argmax()))
    env.reset(seed=1)
    return env


def begun():
    env = bg_env.VectorEnv(1, illegal="raise")
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("taker", TAKERS)
def test_whatever_is_given_the_error_is_a_short_line_of_ours(taker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for name, bad in BAD.items():
        text = ""
        try:
            TAKERS[taker](bad)
        except BgEnvError as error:
            text = str(error)
            refused += 1
        except OSError:  # of a path that no file can have
            text = taker
            assert taker == "save_records"
        assert "\n" not in text, name
        assert len(text) < 400, name
    assert refused >= 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("backgammon, match_length=99999999999999", "match_length is a whole number from 0 to 32767, not 99999999999999"),
        ("backgammon, match_length=-1", "match_length is a whole number from 0 to 32767, not -1"),
        ("backgammon, beavers=16", "beavers is a whole number from 0 to 15, not 16"),
        ("backgammon, max_turns=0", "max_turns is a whole number from 1 to 2\\*\\*31 - 1, not 0"),
        ("backgammon, match_length=1.5", "'match_length=1.5' is not one of"),
    ],
)
def test_text_of_settings_out_of_range_is_refused_with_the_range(text, said):
    with pytest.raises(SettingsError, match=said):
        Settings.parse(text)


@pytest.mark.parametrize("given", [{}, {"cube": False}, {"variant": "acey_deucey"}], ids=str)
@pytest.mark.parametrize("action", [-1, 161, 10**400])
def test_everybody_gives_the_same_range_of_actions(given, action):
    game, env = Game(Settings(**given), seed=1), bg_env.SingleEnv(**given)
    env.reset(seed=1)
    last = game.settings.actions - 1
    assert f"from 0 to {last}" in bg_env.why_illegal(game, action)
    for act in (game.apply, env.step):
        with pytest.raises(IllegalActionError, match=f"numbers 0 to {last}$"):
            act(action)


@pytest.mark.parametrize("function", [lambda: 0, lambda states: 0, lambda a, b, c: 0, quoted])
def test_a_reward_of_another_arity_is_refused_at_once(function):
    with pytest.raises(SettingsError, match=r"reward mine: give function=function\(states, rules\), not <function"):
        Reward("mine", function=function)


def test_errors_that_name_an_extra_say_it_for_a_clone_as_well():
    assert str(needs("this needs that", "sb3")) == (
        'this needs that: pip install "bg_env[sb3]", or in a clone pip install -e ".[sb3]"'
    )


def test_the_command_line_quotes_bad_words_short_and_printable(capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["arena", "random", "random", "--games", "x" * 3_000])
    assert len(capsys.readouterr().err) < 300
    name = tmp_path / "a\x1b[31mb.mat"
    for text in ("no record", " 7 point match\n\n Game 1\n A : 0   B : 0\n"):
        name.write_text(text)
        with pytest.raises(SystemExit):
            main(["replay", str(name)])
        shown = "".join(capsys.readouterr())
        assert "\x1b" not in shown
        assert "\\x1b[31mb.mat" in shown
    assert isinstance(main, click.Group)


def test_settings_given_twice_are_refused():
    settings = Settings()
    for call in (lambda: Game(settings, settings=settings), lambda: settings.but(settings=settings)):
        with pytest.raises(SettingsError, match="unexpected keyword argument 'settings'"):
            call()
    with pytest.raises(SettingsError, match="the position is one of backgammon"):
        Game.from_position(Position.start(), variant="hypergammon")
    assert Game.from_position(Position.start(), variant=VARIANTS["backgammon"]).settings == settings
