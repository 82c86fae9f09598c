"""Texts of any script fit into pictures, and a picture in pixels has their letters or says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import render_cases

from bg_env.render import raster
from bg_env.render.drawing import WIDTH, draw
from bg_env.render.measure import columns, cut, fitted, text_width, wrapped
from bg_env.render.plot import plot
from bg_env.render.scene import scene
from bg_env.render.shapes import Text
from bg_env.rules import Phase, Settings

CJK = "\u5c71\u7530\u592a\u90ce"
NAMES = (
    "Ann",
    CJK * 12,
    "W" * 70,
    "\u0410\u043b\u0435\u043a\u0441\u0430\u043d\u0434\u0440\u0430 " * 6,
    "e\u0301" * 60,
    "\U0001f600" * 40,
)


def test_widths_go_by_the_script():
    assert text_width(CJK, 10) == 40
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("iiii", 10) < text_width("nnnn", 10) < text_width("WWWW", 10)
    assert text_width("ab", 10, bold=True) > text_width("ab", 10)
    assert (columns("ab"), columns(CJK), columns("e\u0301")) == (2, 8, 1)


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_shrunk_then_cut(name):
    for room in (60, 200, 380, 5_000):
        text, size = fitted(name, 17, room, bold=True)
        assert 12.7 <= size <= 17
        assert text_width(text, size, bold=True) <= room
        assert text == name if text_width(name, 12.7, bold=True) <= room else text.endswith("...")
        assert text_width(cut(name, 17, room), 17) <= room
        lines = wrapped(name, 13, room)
        assert len(lines) <= 2
        assert all(text_width(line, 13) <= room for line in lines)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_names_and_messages_stay_inside_the_board(first, second):
    settings = Settings(match_length=25)
    for fields in (
        {"phase": Phase.TAKE_OR_DROP, "chain": 1, "decider": 0, "turn": 1},
        {"phase": Phase.OVER, "winner": 1, "level": 3, "won": 192, "score": (0, 25)},
    ):
        seen = scene(render_cases.state(**fields), 0, settings, names=(first, second))
        texts = [shape for shape in draw(seen).shapes if isinstance(shape, Text)]
        for shape in texts:
            wide = text_width(shape.text, shape.size, bold=shape.bold)
            left = shape.x - wide * {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
            assert left >= 0, shape
            assert left + wide <= WIDTH, shape
        message = " ".join(shape.text for shape in texts if shape.kind == "message")
        assert "to take or drop" in message or "wins the match 25-0 (a backgammon, 192 points)" in message


def test_labels_of_a_plot_leave_room_for_its_title():
    labels = [
        shape for shape in plot("Pip count", [(CJK * 20, [1, 2]), ("W" * 80, [2, 1])], 0, 3).shapes if shape.kind == "label"
    ]
    lefts = [shape.x - text_width(shape.text, shape.size, bold=True) for shape in labels]
    assert min(lefts) > 150
    assert lefts[0] > labels[1].x


@pytest.fixture
def fonts(monkeypatch):
    """A machine with the fonts of these names."""
    pytest.importorskip("PIL")

    def have(*names):
        for kept in (raster._font_name, raster._font):
            kept.cache_clear()
        monkeypatch.setattr(raster, "_SYSTEM_FONTS", names)

    yield have
    for kept in (raster._font_name, raster._font):
        kept.cache_clear()


def test_a_picture_without_the_letters_of_a_name_says_so(fonts):
    state, settings = render_cases.state(), Settings()
    fonts()
    with pytest.warns(UserWarning, match="no font of this machine has all letters .*\u5c71") as found:
        raster.board_rgb(state, 0, settings, names=(CJK, "Bob"))
    assert len(found) == 1
    assert "\n" not in str(found[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raster.board_rgb(state, 0, settings, names=("Ann", "Bob"))


def test_a_picture_is_painted_with_a_font_that_has_the_letters(fonts):
    if raster._system_font("DejaVuSans.ttf", 12) is None:
        pytest.skip("needs a font with Cyrillic letters: install Debian's package fonts-dejavu-core")
    fonts("no such font.ttf", "DejaVuSans.ttf")
    assert raster._has("DejaVuSans.ttf", "\u0416")
    assert not raster._has("DejaVuSans.ttf", "\u5c71")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (
            raster.board_rgb(render_cases.state(), 0, Settings(), names=(name, "Bob"))
            for name in ("\u0416\u0443\u043a", "\u041b\u0435\u0432")
        )
    assert (np.asarray(first) != np.asarray(second)).any()
