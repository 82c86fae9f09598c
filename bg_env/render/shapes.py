"""Shapes of which every picture is made; a `Drawing` of them is a plain value, which SVG, pixels, window and HTML only paint.

Lengths are in pixels at scale 1, y grows downwards. Colours are "#rrggbb", or "" for no colour.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Circle", "Curve", "Drawing", "Line", "Point", "Polygon", "Rect", "Shape", "Text"]

Point = tuple[float, float]
Points = tuple[Point, ...]
Data = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Shape:
    """Base class of all shapes.

    Attributes:
        kind: the thing that it is part of: "checker", "die", "cube", "point", ...
        data: names and values that identify that thing: ("player", "0"), ("point", "6").
        fill: colour of the inside.
        stroke: colour of the outline.
        width: of the outline.
        opacity: 0 to 1.
    """

    kind: str
    data: Data = ()
    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Rect(Shape):
    """A rectangle with its upper left corner at x, y; `radius` rounds its corners."""

    x: float = 0.0
    y: float = 0.0
    w: float = 0.0
    h: float = 0.0
    radius: float = 0.0


@dataclass(frozen=True)
class Circle(Shape):
    """A circle around x, y."""

    x: float = 0.0
    y: float = 0.0
    r: float = 0.0


@dataclass(frozen=True)
class Polygon(Shape):
    """A closed polygon."""

    points: Points = ()


@dataclass(frozen=True)
class Line(Shape):
    """An open line through `points`, with round joints and ends."""

    points: Points = ()


@dataclass(frozen=True)
class Curve(Shape):
    """A quadratic curve from the first of three points to the last, bent towards the second, with round ends."""

    points: Points = ()


@dataclass(frozen=True)
class Text(Shape):
    """A line of text whose baseline is at y; `anchor` is "start", "middle" or "end" of it at x."""

    x: float = 0.0
    y: float = 0.0
    size: float = 14.0
    text: str = ""
    anchor: str = "start"
    bold: bool = False


@dataclass(frozen=True)
class Drawing:
    """A picture: shapes from back to front.

    Attributes:
        width: in pixels at scale 1.
        height: in pixels at scale 1.
        title: its contents in words.
        shapes: from back to front.
    """

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]
