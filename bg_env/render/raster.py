"""Drawings as pixels, painted by Pillow with its own font: the same picture on every machine.

Needs the extra `render`. Pillow was measured against an SVG rasteriser on the same drawing: 26 ms against 60 ms a frame of
736 x 686 pixels, and it needs no font of the system (without one an SVG rasteriser leaves all numbers out).
"""

from __future__ import annotations

import contextlib
import functools
import unicodedata
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.errors import BgEnvError, needs, quoted
from bg_env.render.drawing import draw
from bg_env.render.scene import Arrow, scene
from bg_env.render.shapes import Circle, Curve, Drawing, Line, Point, Polygon, Rect, Shape, Text
from bg_env.rules.settings import Settings
from bg_env.rules.state import States

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

__all__ = ["board_rgb", "raster"]

_FINE: Final = 3
"""Pixels painted a side for each pixel shown, so that edges are smooth."""
_WIDTHS: Final = (64, 4000)
_ANCHORS: Final = {"start": "ls", "middle": "ms", "end": "rs"}
_SYSTEM_FONTS: Final = (
    *("DejaVuSans.ttf", "Arial Unicode.ttf", "Arial.ttf", "NotoSans-Regular.ttf"),
    *("NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.otf", "NotoSansJP-Regular.otf"),
    *("SourceHanSans-Regular.ttc", "wqy-microhei.ttc", "wqy-zenhei.ttc", "DroidSansFallbackFull.ttf", "unifont.otf"),
    *("PingFang.ttc", "Hiragino Sans GB.ttc", "AppleGothic.ttf", "msyh.ttc", "msgothic.ttc", "malgun.ttf", "seguisym.ttf"),
    *("NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansDevanagari-Regular.ttf", "NotoSansThai-Regular.ttf"),
)
_MISSING: Final = "\U0010ffff"
"""A letter that no font has."""


@functools.lru_cache(maxsize=32)
def _system_font(name: str, size: int) -> Any:
    """A font of the system, None where it has none of that name."""
    from PIL import ImageFont

    with contextlib.suppress(OSError):
        return ImageFont.truetype(name, size)
    return None


@functools.lru_cache(maxsize=4096)
def _has(name: str, letter: str) -> bool:
    """Whether a font of the system has a letter: one that it lacks is drawn as the same box."""
    font = _system_font(name, 24)
    if font is None:
        return False
    shape, box = font.getmask(letter), font.getmask(_MISSING)
    return letter.isspace() or unicodedata.category(letter) == "Cf" or (shape.size, bytes(shape)) != (box.size, bytes(box))


@functools.lru_cache(maxsize=256)
def _font_name(letters: frozenset[str]) -> str:
    """The font of the system with the most of these letters; "" for Pillow's own. Letters that none has are reported."""
    lacking = {name: sum(not _has(name, letter) for letter in letters) for name in _SYSTEM_FONTS if _system_font(name, 24)}
    if not lacking:
        best, missing = "", letters
    else:
        best = min(lacking, key=lacking.__getitem__)
        missing = frozenset(letter for letter in letters if not _has(best, letter))
    if missing:
        shown = ", ".join(sorted(missing)[:8])
        msg = (
            f"no font of this machine has all letters of a text, and {shown} cannot be read in the picture: install such a font"
        )
        warnings.warn(msg, UserWarning, stacklevel=2)
    return best


@functools.lru_cache(maxsize=64)
def _font(size: int, letters: frozenset[str]) -> Any:
    """Pillow's own font; for letters beyond ASCII the font of the system that has them."""
    from PIL import ImageFont

    name = _font_name(letters) if letters else ""
    return _system_font(name, size) if name else ImageFont.load_default(size)


@functools.lru_cache(maxsize=64)
def _colour(text: str, alpha: int) -> tuple[int, int, int, int] | None:
    if not text:
        return None
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue, alpha


def _flat(start: Point, towards: Point, end: Point) -> list[Point]:
    """A quadratic curve as a line of 24 pieces."""
    points = []
    for k in range(25):
        t = k / 24
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        points.append((a * start[0] + b * towards[0] + c * end[0], a * start[1] + b * towards[1] + c * end[1]))
    return points


def _paint(canvas: ImageDraw, shape: Shape, scale: float) -> None:
    alpha = round(255 * shape.opacity)
    fill, stroke = _colour(shape.fill, alpha), _colour(shape.stroke, alpha)
    width = max(1, round(shape.width * scale)) if stroke else 0
    if isinstance(shape, Circle):
        r = shape.r * scale + width / 2
        x, y = shape.x * scale, shape.y * scale
        canvas.ellipse((x - r, y - r, x + r, y + r), fill, stroke, width)
    elif isinstance(shape, Rect):
        x, y, half = shape.x * scale, shape.y * scale, width / 2
        box = (x - half, y - half, x + shape.w * scale + half, y + shape.h * scale + half)
        canvas.rounded_rectangle(box, shape.radius * scale, fill, stroke, width)
    elif isinstance(shape, Polygon):
        canvas.polygon([(x * scale, y * scale) for x, y in shape.points], fill)
    elif isinstance(shape, (Line, Curve)):
        points = _flat(*shape.points) if isinstance(shape, Curve) else shape.points
        canvas.line([(x * scale, y * scale) for x, y in points], stroke, width, joint="curve")
    elif isinstance(shape, Text):
        font = _font(max(1, round(shape.size * scale)), frozenset(c for c in shape.text if not c.isascii()))
        heavier = round(scale / 3) if shape.bold else 0
        at, anchor = (shape.x * scale, shape.y * scale), _ANCHORS[shape.anchor]
        canvas.text(at, shape.text, fill, font, anchor, stroke_width=heavier, stroke_fill=fill)
    else:
        msg = f"not a shape that can be painted: {shape!r}"
        raise TypeError(msg)


def need_pillow() -> None:
    """Check that Pillow is installed.

    Raises:
        MissingDependencyError: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw  # noqa: F401 - looked for, not used
    except ImportError as error:
        msg = "a picture in pixels needs Pillow"
        raise needs(msg, "render") from error


def raster(drawing: Drawing, width: int | None = None) -> npt.NDArray[np.uint8]:
    """The drawing as an array of pixels, uint8 of shape (height, width, 3), red, green, blue.

    Args:
        drawing: the drawing.
        width: in pixels, 64 to 4,000; None for the drawing's own. The height follows.

    Raises:
        MissingDependencyError: Pillow is not installed.
        BgEnvError: the width is not a whole number in this range.
    """
    need_pillow()
    from PIL import Image, ImageDraw

    columns = drawing.width if width is None else width
    if not _WIDTHS[0] <= columns <= _WIDTHS[1]:
        msg = f"width is from {_WIDTHS[0]} to {_WIDTHS[1]} pixels, not {quoted(width)}"
        raise BgEnvError(msg)
    rows = max(1, round(drawing.height * columns / drawing.width))
    image = Image.new("RGB", (columns * _FINE, rows * _FINE))
    canvas = ImageDraw.Draw(image, "RGBA")
    for shape in drawing.shapes:
        _paint(canvas, shape, columns / drawing.width * _FINE)
    return np.array(image.reduce(_FINE), np.uint8)


def board_rgb(
    states: States,
    i: int,
    settings: Settings,
    *,
    seat: int | None = None,
    names: tuple[str, str] | None = None,
    arrows: Sequence[Arrow] = (),
    width: int | None = None,
) -> npt.NDArray[np.uint8]:
    """The board of `states[i]` in pixels: `raster` of what `board_svg` draws; see there for the arguments.

    Raises:
        MissingDependencyError: Pillow is not installed.
        BgEnvError: `seat` is not a seat, an arrow is not a step of a checker, or the width is out of range.
    """
    return raster(draw(scene(states, i, settings, seat=seat, names=names), arrows), width)
