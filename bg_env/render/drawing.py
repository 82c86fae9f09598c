"""The board as a drawing: one description, from which SVG, pixels, window and HTML replay are painted.

Every checker, die and cube has its meaning in `Shape.data`, on its player's own numbering, so that a picture can be read back.
A stack shows five checkers and its height on the innermost; checkers borne off lie edge-on in the tray.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from bg_env.checks import is_whole
from bg_env.errors import BgEnvError, quoted
from bg_env.render.measure import fitted, wrapped
from bg_env.render.scene import Arrow, Scene
from bg_env.render.shapes import Circle, Curve, Drawing, Line, Point, Polygon, Rect, Shape, Text
from bg_env.rules.variant import BAR, OFF

__all__ = ["HEIGHT", "WIDTH", "draw"]

_R: Final = 21.0
_POINT: Final = 46.0
_HALF: Final = 6 * _POINT
_BAR: Final = 58.0
_TRAY: Final = 58.0
_FRAME: Final = 16.0
_RIM: Final = 26.0
_MID: Final = 66.0
_STACK: Final = 5
_STRIP: Final = 38.0
_MARGIN: Final = 10.0

_LEFT: Final = _MARGIN + _FRAME
_BAR_X: Final = _LEFT + _HALF
_RIGHT: Final = _BAR_X + _BAR
_TRAY_X: Final = _RIGHT + _HALF + _FRAME
_TOP: Final = _MARGIN + _STRIP + _RIM
_DEEP: Final = 2 * _R * _STACK
_MIDDLE: Final = _TOP + _DEEP + _MID / 2
_BOTTOM: Final = _TOP + 2 * _DEEP + _MID

WIDTH: Final = int(_TRAY_X + _TRAY + _FRAME + _MARGIN)
"""Width of a board's drawing at scale 1."""
HEIGHT: Final = int(_BOTTOM + _RIM + _STRIP + 2 * 26 + _MARGIN)
"""Height of a board's drawing at scale 1."""

_PAGE = "#f7f3ea"
_INK = "#2e2620"
_FAINT = "#7d7166"
_WALNUT = "#4b3226"
_EDGE = "#33211a"
_RIM_INK = "#e9d8b8"
_FIELD = "#e3d2ae"
_SUNK = "#3a271e"
_POINTS = ("#b3774c", "#83866b")
_ACCENT = "#1f6fb2"
_GOLD = "#e0a526"
_FACE = ("#fbf7ee", "#2b2829")
_RING = ("#d9ccb3", "#5d5656")
_LINE = ("#5a4a3c", "#0e0c0c")
_ON = ("#2e2620", "#fbf7ee")
_CUBE = "#fdfbf5"


def _player_data(player: int, point: int) -> tuple[tuple[str, str], ...]:
    return (("player", str(player)), ("point", str(point)))


def _centred(x: float, y: float, size: float, text: str, fill: str, kind: str, **more: Any) -> Text:
    return Text(kind, x=x, y=round(y + 0.36 * size, 2), size=size, text=text, anchor="middle", fill=fill, **more)


def _column(label: int) -> float:
    """Middle of the column of the point with this number for the player below."""
    k = label - 13 if label > 12 else 12 - label
    return _LEFT + _POINT * (k + 0.5) + (_BAR if k >= 6 else 0)


def _place(seen: Scene, player: int, point: int, slot: int, n: int) -> Point:
    """Middle of a player's checker on its `point`, the one numbered `slot` from 0 of a stack of `n`."""
    below = player == seen.below
    if point == OFF:
        y = slot * 14.0 + 11
        return _TRAY_X + _TRAY / 2, _BOTTOM - y if below else _TOP + y
    if point == BAR:
        room = _DEEP + _MID / 2 - 26 - 50 - 2 * _R
        y = 26 + _R + min(slot, _STACK - 1) * min(2 * _R, room / max(min(n, _STACK) - 1, 1))
        return _BAR_X + _BAR / 2, _MIDDLE + y if below else _MIDDLE - y
    label = point if below else 25 - point
    y = _R * (2 * min(slot, _STACK - 1) + 1)
    return _column(label), _TOP + y if label > 12 else _BOTTOM - y


def _page() -> Iterator[Shape]:
    yield Rect("page", fill=_PAGE, w=WIDTH, h=HEIGHT)
    high = _BOTTOM - _TOP + 2 * _RIM
    yield Rect("frame", (), _WALNUT, _EDGE, 2, x=_MARGIN, y=_TOP - _RIM, w=WIDTH - 2 * _MARGIN, h=high, radius=9)
    for x in (_LEFT, _RIGHT):
        yield Rect("field", fill=_FIELD, stroke=_EDGE, width=1.5, x=x, y=_TOP, w=_HALF, h=_BOTTOM - _TOP)
    yield Line("hinge", stroke=_EDGE, width=1.5, points=((_BAR_X + _BAR / 2, _TOP - _RIM), (_BAR_X + _BAR / 2, _BOTTOM + _RIM)))
    for y in (_TOP, _BOTTOM - _DEEP - 10):
        yield Rect("tray", fill=_SUNK, stroke=_EDGE, width=1.5, x=_TRAY_X, y=y, w=_TRAY, h=_DEEP + 10, radius=4)


def _points() -> Iterator[Shape]:
    for label in range(1, 25):
        x, foot, inward = _column(label), *((_TOP, 1) if label > 12 else (_BOTTOM, -1))
        half, tip = _POINT / 2 - 1, foot + inward * (_DEEP - 4)
        yield Polygon("triangle", fill=_POINTS[label % 2], points=((x - half, foot), (x + half, foot), (x, tip)))


def _numbers(seen: Scene) -> Iterator[Shape]:
    for label in range(1, 25):
        y = _TOP - _RIM / 2 if label > 12 else _BOTTOM + _RIM / 2
        number = label if seen.numbers == seen.below else 25 - label
        yield _centred(_column(label), y, 13, str(number), _RIM_INK, "number", bold=True)


def _checker(player: int, point: int, x: float, y: float) -> Iterator[Shape]:
    data = _player_data(player, point)
    yield Circle("checker", data, _FACE[player], _LINE[player], 1.5, x=x, y=y, r=_R - 0.75)
    yield Circle("ring", stroke=_RING[player], width=1.8, x=x, y=y, r=_R - 6)


def _slab(player: int, x: float, y: float) -> Shape:
    return Rect(
        "checker",
        _player_data(player, OFF),
        _FACE[player],
        _LINE[player] if player == 0 else "#6b6363",
        1.2,
        x=x - 23,
        y=y - 6,
        w=46,
        h=12,
        radius=3,
    )


def _checkers(seen: Scene) -> Iterator[Shape]:
    for player in (0, 1):
        for point, n in enumerate(seen.points[player]):
            if point == OFF:
                for slot in range(n):
                    yield _slab(player, *_place(seen, player, point, slot, n))
                x, y = _TRAY_X + _TRAY / 2, _MIDDLE + (11 if player == seen.below else -11)
                size, ink = 14, _RIM_INK
            else:
                for slot in range(min(n, _STACK)):
                    yield from _checker(player, point, *_place(seen, player, point, slot, n))
                x, y = _place(seen, player, point, _STACK - 1, n)
                size, ink = 19, _ON[player]
            if n > _STACK:
                yield _centred(x, y, size, str(n), ink, "count", data=_player_data(player, point), bold=True)


_PIPS: Final = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def _dice(seen: Scene) -> Iterator[Shape]:
    """The roll, in the mover's colour, to its right; dice that have been played are pale."""
    player = seen.on_roll
    if player is None:
        return
    side, gap = 40.0, 12.0
    centre = (_RIGHT if player == seen.below else _LEFT) + _HALF / 2
    start = centre - (len(seen.dice) * (side + gap) - gap) / 2
    for k, die in enumerate(seen.dice):
        x, y = start + k * (side + gap), _MIDDLE - side / 2
        shade = 0.3 if die.played else 1.0
        data = (("player", str(player)), ("number", str(die.number)), ("played", "yes" if die.played else "no"))
        yield Rect("die", data, _FACE[player], _LINE[player], 1.5, shade, x=x, y=y, w=side, h=side, radius=8)
        for dx, dy in _PIPS[die.number]:
            across, down = x + side / 2 + 11 * dx, y + side / 2 + 11 * dy
            yield Circle("pip", fill=_ON[player], opacity=shade, x=across, y=down, r=4)


def _cube(seen: Scene) -> Iterator[Shape]:
    """The cube: on the bar while it is centred, at its owner's end of the bar, or before the player who must answer."""
    cube = seen.cube
    if cube is None:
        return
    side, x, y = 40.0, _BAR_X + _BAR / 2, _MIDDLE
    if cube.offered_to is not None:
        side = 50.0
        x = (_RIGHT if cube.offered_to == seen.below else _LEFT) + _HALF / 2
    elif cube.owner is not None:
        y = _BOTTOM - 25 if cube.owner == seen.below else _TOP + 25
    lies = "offered" if cube.offered_to is not None else "centred" if cube.owner is None else "owned"
    who = cube.offered_to if cube.offered_to is not None else cube.owner
    data = (("value", str(cube.value)), ("lies", lies), *(() if who is None else (("player", str(who)),)))
    edge, width = (_GOLD, 4.0) if lies == "offered" else (_EDGE, 1.5)
    yield Rect("cube", data, _CUBE, edge, width, x=x - side / 2, y=y - side / 2, w=side, h=side, radius=7)
    text = str(cube.value)
    yield _centred(x, y, side * (0.5, 0.5, 0.4, 0.31, 0.25)[len(text) - 1], text, _INK, "cube-value", bold=True)


def _strip(seen: Scene, player: int) -> Iterator[Shape]:
    """A player's line: colour, name, pips and score; a mark for the player on roll."""
    y = _BOTTOM + _RIM + _STRIP / 2 if player == seen.below else _MARGIN + _STRIP / 2
    x = _MARGIN + 24
    yield Circle("colour", fill=_FACE[player], stroke=_LINE[player], width=1.5, x=x, y=y, r=10)
    bold = player == seen.on_roll
    name, size = fitted(seen.names[player], 17, 380, bold=bold)
    data = (("player", str(player)),)
    yield Text("name", data, _INK, x=x + 20, y=y + 0.36 * size, size=size, text=name, bold=bold)
    if player == seen.on_roll:
        yield Polygon("on-roll", data, _ACCENT, points=((_MARGIN, y - 6), (_MARGIN, y + 6), (_MARGIN + 9, y)))
    right = WIDTH - _MARGIN - 4
    if seen.scores is not None:
        text = f"score {seen.scores[player]}"
        yield Text("score", data, _INK, x=right, y=y + 5.5, size=16, text=text, anchor="end", bold=True)
        right -= 100
    yield Text("pips", data, _INK, x=right, y=y + 5.5, size=16, text=f"pips {seen.pips[player]}", anchor="end")


def _words(seen: Scene) -> Iterator[Shape]:
    """The message, on two lines where it is long, and the title."""
    top, x = _BOTTOM + _RIM + _STRIP, _MARGIN + 14
    room = WIDTH - 2 * x
    text, size = fitted(seen.message, 17, room, bold=True)
    if text == seen.message:
        lines, step = [text] if text else [], 17.0
    else:
        lines, step = wrapped(seen.message, size, room, bold=True), 15.0
    y = top + (17 if len(lines) < 2 else 13)
    for k, line in enumerate(lines):
        yield Text("message", fill=_INK, x=x, y=y + k * step, size=size, text=line, bold=True)
    y = top + (17 if not lines else 42 if len(lines) < 2 else 46)
    text, size = fitted(seen.title, 14, room)
    yield Text("title", fill=_FAINT, x=x, y=y, size=size, text=text)


def _ways(seen: Scene, arrows: Sequence[Arrow]) -> list[tuple[int, Point, Point]]:
    """For each arrow its player and the middles of its two places; the steps are undone from the last to the first."""
    counts = [list(side) for side in seen.points]
    ways = []
    try:
        listed = [tuple(arrow) for arrow in arrows]
    except TypeError:
        msg = f"arrows are a sequence of (player, from, to), not {quoted(arrows)}"
        raise BgEnvError(msg) from None
    for arrow in reversed(listed):
        if len(arrow) != 3 or not all(is_whole(n, 0, BAR) for n in arrow) or arrow[0] > 1 or arrow[2] >= arrow[1]:
            msg = f"an arrow is (player, from, to) with 25 >= from > to >= 0, not {quoted(arrow)}"
            raise BgEnvError(msg)
        player, source, target = arrow
        side = counts[player]
        start = _place(seen, player, source, side[source], side[source] + 1)
        end = _place(seen, player, target, max(side[target] - 1, 0), max(side[target], 1))
        ways.append((player, start, end))
        side[target] = max(side[target] - 1, 0)
        side[source] += 1
    return ways[::-1]


def _between(a: Point, b: Point, t: float) -> Point:
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t


def _rounded(*points: Point) -> tuple[Point, ...]:
    return tuple((round(x, 1), round(y, 1)) for x, y in points)


def _arrow(player: int, start: Point, end: Point) -> Iterator[Shape]:
    """A bent line from the place left (a ghost of the checker) to the place reached."""
    (x0, y0), (x2, y2) = start, end
    length = math.dist(start, end) or 1.0
    bend = 0.16 * (1 if (x2 - x0) * ((y0 + y2) / 2 - _MIDDLE) >= 0 else -1)  # towards the middle of the board
    towards = (x0 + x2) / 2 + bend * (y2 - y0), (y0 + y2) / 2 - bend * (x2 - x0)
    t = max(1 - 15 / length, 0.0)
    near, far = _between(start, towards, t), _between(towards, end, t)
    neck = _between(near, far, t)
    reach = math.dist(neck, end) or 1.0
    dx, dy = 8 * (x2 - neck[0]) / reach, 8 * (y2 - neck[1]) / reach
    data = (("player", str(player)),)
    yield Circle("ghost", data, stroke=_ACCENT, width=2, opacity=0.8, x=x0, y=y0, r=_R - 2)
    yield Curve("arrow", data, stroke=_ACCENT, width=5, opacity=0.8, points=_rounded(start, near, neck))
    head = _rounded(end, (neck[0] - dy, neck[1] + dx), (neck[0] + dy, neck[1] - dx))
    yield Polygon("arrow-head", data, _ACCENT, opacity=0.8, points=head)


def draw(seen: Scene, arrows: Sequence[Arrow] = ()) -> Drawing:
    """The drawing of a scene.

    Args:
        seen: the scene.
        arrows: the steps of the checkers that led here, in order: (player, from, to) on that player's own numbering, 25 the
            bar, 0 off.

    Raises:
        BgEnvError: an arrow is not a step of a checker.
    """
    shapes: list[Shape] = [*_page(), *_points(), *_numbers(seen), *_checkers(seen)]
    for player, start, end in _ways(seen, arrows):
        shapes += _arrow(player, start, end)
    shapes += [*_dice(seen), *_cube(seen), *_strip(seen, 0), *_strip(seen, 1), *_words(seen)]
    return Drawing(WIDTH, HEIGHT, ": ".join(word for word in (seen.title, seen.message) if word), tuple(shapes))
