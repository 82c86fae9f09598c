"""Films of a game: drawings one after the other as an animated GIF, painted by Pillow.

Needs the extra `render`. All frames share one palette, so that what does not change takes no room: a game of sixty moves takes
some 300 kilobytes at 480 pixels.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from bg_env.errors import BgEnvError
from bg_env.render.raster import need_pillow, raster
from bg_env.render.shapes import Drawing

__all__ = ["gif"]

_COLOURS: Final = 80
_SAMPLES: Final = 4
_LAST: Final = 3
"""Duration of the last frame, in units of that of the others."""


def _colours(scenes: Sequence[Drawing], width: int) -> npt.NDArray[np.uint8]:
    """Pixels from which the palette is made: some of the pictures, and as many of each colour that a shape has."""
    shown = [raster(scenes[k * (len(scenes) - 1) // _SAMPLES], width) for k in range(_SAMPLES + 1)]
    named = {colour for one in scenes for shape in one.shapes for colour in (shape.fill, shape.stroke) if colour}
    pure = np.array([list(bytes.fromhex(colour[1:])) for colour in sorted(named)], np.uint8)
    rows = np.concatenate(shown)
    n = len(rows) // 2 * width // len(pure) * len(pure)
    band = np.repeat(pure, n // len(pure), axis=0)
    return np.concatenate([rows, band[: len(band) // width * width].reshape(-1, width, 3)])


def gif(drawings: Iterable[Drawing], *, width: int = 480, milliseconds: int = 900) -> bytes:
    """An animated GIF of drawings of the same size, which begins again at its end.

    Args:
        drawings: at least one.
        width: in pixels, 64 to 4,000; the height follows.
        milliseconds: that a frame stands, 20 to 60,000; the last one three times as long.

    Raises:
        MissingDependencyError: Pillow is not installed.
        BgEnvError: there is no drawing, or a number is out of its range.
    """
    need_pillow()
    from PIL import Image

    if not 20 <= milliseconds <= 60_000:
        msg = f"a frame of a film stands 20 to 60,000 milliseconds, not {milliseconds}"
        raise BgEnvError(msg)
    scenes = list(drawings)
    if not scenes:
        msg = "a film needs at least one drawing"
        raise BgEnvError(msg)
    palette = Image.fromarray(_colours(scenes, width)).quantize(_COLOURS, Image.Quantize.MEDIANCUT)
    images = [Image.fromarray(raster(one, width)).quantize(palette=palette, dither=Image.Dither.NONE) for one in scenes]
    stands = [milliseconds] * (len(images) - 1) + [_LAST * milliseconds]
    file = io.BytesIO()
    images[0].save(file, "GIF", save_all=True, append_images=images[1:], duration=stands, loop=0, optimize=True, disposal=1)
    return file.getvalue()
