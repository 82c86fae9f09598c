"""Arguments that are something else than is asked for: one line of an error of bg_env, whatever function it is."""

from __future__ import annotations

import click
import numpy as np
import pytest

import bg_env
from bg_env import Game, Position
from bg_env.arena import ratings, round_robin
from bg_env.cli.main import main
from bg_env.equity import match_equity
from bg_env.errors import BgEnvError, PositionError, SettingsError
from bg_env.players import player_for
from bg_env.render.svg import board_svg
from bg_env.render.text import board_text
from bg_env.rules import STATE, VARIANTS, Settings

STATES = np.zeros(1, STATE)
FLOATS = np.zeros((1, 26))


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
        (lambda: bg_env.Variant("x", {24: 2}, checkers=np.array([2, 2])), "checkers is a whole number"),
    ],
)
def test_the_error_is_one_line_of_ours(call, words):
    with pytest.raises(BgEnvError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, (SettingsError, PositionError))


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
