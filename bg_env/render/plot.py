"""Small line plots over the frames of a replay, as drawings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from bg_env.render.measure import cut, text_width
from bg_env.render.shapes import Drawing, Line, Rect, Shape, Text

__all__ = ["PLOT_LEFT", "PLOT_RIGHT", "plot"]

_WIDTH: Final = 736
_HEIGHT: Final = 170
PLOT_LEFT: Final = 46.0
"""x of the first frame."""
PLOT_RIGHT: Final = 726.0
"""x of the last frame."""
_TOP: Final = 26.0
_FOOT: Final = 156.0
_LABEL: Final = 240.0
"""Width that the label of a line may take."""
_INK = "#2e2620"
_FAINT = "#d9cdb8"
_COLOURS: Final = ("#c07f2c", "#2b2829")


def _runs(values: Sequence[float | None], breaks: Sequence[int]) -> Iterator[list[tuple[int, float]]]:
    """The values in pieces, each to be joined to one line: missing values are left out, and a new game begins a new piece."""
    run: list[tuple[int, float]] = []
    for k, value in enumerate(values):
        if value is None or k in breaks:
            if run:
                yield run
            run = []
        if value is not None:
            run.append((k, value))
    if run:
        yield run


def _ticks(low: float, high: float) -> list[float]:
    """Three to five round numbers from `low` to `high`."""
    apart = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(apart))
    step = power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= apart)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plot(
    title: str,
    series: Sequence[tuple[str, Sequence[float | None]]],
    low: float,
    high: float,
    breaks: Sequence[int] = (),
) -> Drawing:
    """Lines over the frames.

    Args:
        title: the title of the plot.
        series: at most two: a label, and a value for each frame, None for a missing one.
        low: the lower end of the scale.
        high: the upper end of the scale, above `low`.
        breaks: frames at which a game begins.
    """
    frames = max(len(values) for _, values in series)

    def across(k: int) -> float:
        return round(PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * k / max(frames - 1, 1), 2)

    def up(value: float) -> float:
        return round(_FOOT - (_FOOT - _TOP) * (value - low) / (high - low), 2)

    shapes: list[Shape] = [Rect("page", fill="#fdfbf5", w=_WIDTH, h=_HEIGHT, radius=8)]
    shapes.append(Text("title", fill=_INK, x=PLOT_LEFT, y=16, size=13, text=title, bold=True))
    for value in _ticks(low, high):
        y = up(value)
        shapes.append(Line("grid", stroke=_FAINT, width=1, points=((PLOT_LEFT, y), (PLOT_RIGHT, y))))
        shapes.append(Text("tick", fill=_INK, x=PLOT_LEFT - 6, y=y + 4, size=11, text=f"{value:g}", anchor="end"))
    starts = [across(k) for k in breaks]
    shapes += [Line("game", stroke="#b9a888", width=1.5, points=((x, _TOP), (x, _FOOT))) for x in starts]
    right = PLOT_RIGHT
    for n, (label, values) in reversed(list(enumerate(series))):
        text = cut(label, 13, _LABEL, bold=True)
        data = (("series", str(n)),)
        shapes.append(Text("label", data, fill=_COLOURS[n], x=right, y=16, size=13, text=text, anchor="end", bold=True))
        right -= 14 + text_width(text, 13, bold=True)
        for run in _runs(values, breaks):
            ends = run if len(run) > 1 else run * 2
            line = tuple((across(k), up(value)) for k, value in ends)
            shapes.append(Line("series", (("series", str(n)),), "", _COLOURS[n], 2, points=line))
    return Drawing(_WIDTH, _HEIGHT, title, tuple(shapes))
