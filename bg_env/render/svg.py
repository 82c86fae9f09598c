"""Drawings as SVG text: pure functions of the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bg_env.render.drawing import draw
from bg_env.render.scene import Arrow, position_scene, scene
from bg_env.render.shapes import Circle, Curve, Drawing, Line, Polygon, Rect, Shape, Text
from bg_env.rules.settings import Settings
from bg_env.rules.state import States
from bg_env.rules.variant import Variant

__all__ = ["FONT", "board_svg", "position_svg", "shape_svg", "svg"]

FONT = "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
"""The fonts of the texts, as CSS names them."""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _attributes(shape: Shape) -> str:
    words = [f'class="{escape(shape.kind)}"']
    words += [f'data-{name}="{escape(value)}"' for name, value in shape.data]
    words.append(f'fill="{shape.fill or "none"}"')
    if shape.stroke:
        words.append(f'stroke="{shape.stroke}" stroke-width="{_number(shape.width)}"')
    if shape.opacity < 1:
        words.append(f'opacity="{_number(shape.opacity)}"')
    return " ".join(words)


def shape_svg(shape: Shape) -> str:
    """One shape as an SVG element."""
    more = _attributes(shape)
    if isinstance(shape, Circle):
        return f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.r)}" {more}/>'
    if isinstance(shape, Rect):
        box = f'x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.w)}" height="{_number(shape.h)}"'
        round_corners = f' rx="{_number(shape.radius)}"' if shape.radius else ""
        return f"<rect {box}{round_corners} {more}/>"
    if isinstance(shape, Text):
        weight = ' font-weight="bold"' if shape.bold else ""
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}"'
        return f"<text {place}{weight}{anchor} {more}>{escape(shape.text)}</text>"
    if isinstance(shape, Curve):
        (x0, y0), (x1, y1), (x2, y2) = ((_number(x), _number(y)) for x, y in shape.points)
        return f'<path d="M{x0} {y0}Q{x1} {y1} {x2} {y2}" stroke-linecap="round" {more}/>'
    if isinstance(shape, (Polygon, Line)):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        if isinstance(shape, Polygon):
            return f'<polygon points="{points}" {more}/>'
        return f'<polyline points="{points}" stroke-linecap="round" stroke-linejoin="round" {more}/>'
    msg = f"not a shape that can be painted: {shape!r}"
    raise TypeError(msg)


def svg(drawing: Drawing) -> str:
    """The drawing as an SVG document; it scales to any size."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">',
        f"<title>{escape(drawing.title)}</title>",
        *(shape_svg(shape) for shape in drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def board_svg(
    states: States,
    i: int,
    settings: Settings,
    *,
    seat: int | None = None,
    names: tuple[str, str] | None = None,
    arrows: Sequence[Arrow] = (),
) -> str:
    """The board of `states[i]` as an SVG document.

    Args:
        states: 1-D array of STATE records.
        i: index of the state to draw.
        settings: the settings of the game.
        seat: the player who sits below and for whom the points are numbered, 0 or 1; None for the player on roll (at the end
            the winner, before the opening throw player 0).
        names: of player 0 and 1; None for White and Black.
        arrows: the last move: (player, from, to) on that player's own numbering, 25 the bar, 0 off.

    Raises:
        BgEnvError: `seat` is not a seat, or an arrow is not a step of a checker.
    """
    return svg(draw(scene(states, i, settings, seat=seat, names=names), arrows))


def position_svg(
    mover: Sequence[int], opponent: Sequence[int], variant: str | Variant = "backgammon", *, mover_is: int = 1
) -> str:
    """A bare position, seen by the player on roll, as an SVG document; the arguments are those of `position_text`.

    Raises:
        PositionError: the placement is impossible.
        BgEnvError: `mover_is` is not a seat.
    """
    return svg(draw(position_scene(mover, opponent, variant, mover_is=mover_is)))
