"""The same drawing in pixels, and the window."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import pytest
import render_cases

from bg_env.errors import BgEnvError, MissingDependencyError
from bg_env.render.drawing import HEIGHT, WIDTH, draw
from bg_env.render.raster import board_rgb, raster
from bg_env.render.scene import scene
from bg_env.render.shapes import Drawing, Shape
from bg_env.render.window import Window, _pygame

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
CASES = render_cases.ALL


@pytest.fixture
def pillow():
    pytest.importorskip("PIL", reason="pixels need Pillow (extra render)")


@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    try:
        return _pygame()
    except MissingDependencyError:
        pytest.skip("a window needs pygame (extra render)")


def rgb(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


@pytest.mark.usefixtures("pillow")
@pytest.mark.parametrize("name", CASES)
def test_pixels_show_the_drawing(name):
    states, settings = CASES[name]
    drawing = draw(scene(states, 0, settings))
    pixels = raster(drawing)
    assert pixels.dtype == np.uint8
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert pixels.flags.writeable
    assert (pixels == board_rgb(states, 0, settings)).all()
    assert pixels[1, 1].tolist() == rgb(drawing.shapes[0].fill)
    seen = 0
    for shape in drawing.shapes:
        if shape.kind == "checker" and ("point", "25") not in shape.data and ("point", "0") not in shape.data:
            near = pixels[int(shape.y) - 11, int(shape.x)].astype(int)
            assert abs(near - rgb(shape.fill)).max() <= 3
            seen += 1
        elif shape.kind == "cube":
            assert pixels[int(shape.y) + 4, int(shape.x + shape.w / 2)].tolist() == rgb(shape.fill)
        elif shape.kind == "die" and shape.opacity == 1:
            assert pixels[int(shape.y) + 5, int(shape.x + shape.w / 2)].tolist() == rgb(shape.fill)
    points = states[0]["points"][:, 1:25]
    assert seen == np.minimum(points, 5).sum()


@pytest.mark.usefixtures("pillow")
def test_numbers_and_words_are_painted():
    """Text needs no font of the system: where it stands, pixels differ from a drawing without it."""
    states, settings = CASES["backgammon-over"]
    drawing = draw(scene(states, 0, settings))
    for kind in ("number", "name", "pips", "score", "message", "title", "count", "cube-value"):
        without = Drawing(WIDTH, HEIGHT, "", tuple(shape for shape in drawing.shapes if shape.kind != kind))
        assert (raster(drawing) != raster(without)).any(axis=2).sum() > 20, kind


@pytest.mark.usefixtures("pillow")
def test_width():
    states, settings = CASES["backgammon-checker"]
    small = board_rgb(states, 0, settings, width=200)
    assert small.shape == (round(HEIGHT * 200 / WIDTH), 200, 3)
    assert board_rgb(states, 0, settings, width=64).shape[1] == 64
    large = board_rgb(states, 0, settings, width=1000).astype(float)
    assert abs(large.mean(axis=(0, 1)) - small.mean(axis=(0, 1))).max() < 4
    for width in (0, -3, 63, 4001):
        with pytest.raises(BgEnvError, match="width is from 64 to 4000"):
            board_rgb(states, 0, settings, width=width)


@pytest.mark.usefixtures("pillow")
def test_names_beyond_ascii_and_arrows():
    states, settings = CASES["backgammon-roll"]
    plain = board_rgb(states, 0, settings)
    assert (plain != board_rgb(states, 0, settings, names=("Žofie", "Пётр"))).any()
    assert (plain != board_rgb(states, 0, settings, arrows=[(1, 24, 18)])).any()


@pytest.mark.usefixtures("pillow")
def test_an_unknown_shape_is_an_error():
    with pytest.raises(TypeError, match="not a shape that can be painted"):
        raster(Drawing(100, 100, "", (Shape("odd"),)))


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    states, settings = CASES["backgammon-roll"]
    with pytest.raises(MissingDependencyError, match=r'pip install "bg_env\[render\]"'):
        board_rgb(states, 0, settings)


def test_without_pygame(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "bg_env\[render\]"'):
        Window().show(np.zeros((4, 4, 3), np.uint8))


def test_the_window_shows_the_pixels(pygame):
    window = Window("a board")
    pixels = np.random.default_rng(1).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    assert window.show(pixels)
    assert pygame.display.get_caption()[0] == "a board"
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (shown == pixels).all()
    assert window.show(pixels[:20])
    assert pygame.display.get_surface().get_size() == (60, 20)
    window.close()
    assert window.closed
    assert not window.show(pixels)
    window.close()


def test_the_viewer_closes_the_window(pygame):
    window = Window()
    pixels = np.zeros((20, 20, 3), np.uint8)
    assert window.show(pixels)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.show(pixels)
    assert window.closed


def test_the_window_keeps_its_pace(pygame):
    window = Window(fps=20)
    pixels = np.zeros((20, 20, 3), np.uint8)
    start = time.perf_counter()
    for _ in range(4):
        window.show(pixels)
    assert time.perf_counter() - start >= 0.12
    window.close()


def test_no_screen(pygame, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "none such")
    pygame.display.quit()
    with pytest.raises(BgEnvError, match="no window can be opened here"):
        Window().show(np.zeros((4, 4, 3), np.uint8))
