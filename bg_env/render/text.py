"""The board as text: `board_text` of a state, `position_text` of a bare position.

`O` is White (`player_0`) and `X` is Black (`player_1`), from either seat. Every column is a stack of at most five rows;
a higher one shows four checkers and its height in the innermost row. On the bar each player's checkers lie in its own half,
from the middle outwards, and four rows are for them: an owned cube takes the outermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bg_env.checks import checked_flag
from bg_env.render.scene import Scene, position_scene, scene
from bg_env.rules.settings import Settings
from bg_env.rules.state import States
from bg_env.rules.variant import BAR, OFF, Variant

__all__ = ["SYMBOLS", "board_text", "position_text"]

SYMBOLS: Final = ("O", "X")
"""The checkers of player 0 (White) and player 1 (Black)."""

_ROWS: Final = 5
_MIDDLE: Final = _ROWS
_BAR_WIDTH: Final = 7
_OFF_WIDTH: Final = 5
_HALF_WIDTH: Final = 18


@dataclass(frozen=True)
class _Style:
    """A style: the characters of the frame, and the SGR codes of a colour terminal (empty without colour)."""

    across: str
    wall: str
    top: tuple[str, str, str]  # left corner, joint, right corner
    foot: tuple[str, str, str]
    mark: str
    player: tuple[str, str]
    field: tuple[str, str]
    bar: str
    cube: str
    frame: str
    strong: str
    plain: str


_ASCII = _Style("-", "|", ("+", "+", "+"), ("+", "+", "+"), ">", ("", ""), ("", ""), "", "", "", "", "")
_UNICODE = replace(_ASCII, across="─", wall="│", top=("┌", "┬", "┐"), foot=("└", "┴", "┘"), mark="▸")
_PAINT: dict[str, Any] = {
    "player": ("\x1b[1;38;5;231m", "\x1b[1;38;5;16m"),
    "field": ("\x1b[48;5;137m", "\x1b[48;5;101m"),
    "bar": "\x1b[48;5;95m",
    "cube": "\x1b[1;38;5;229m",
    "frame": "\x1b[38;5;137m",
    "strong": "\x1b[1m",
    "plain": "\x1b[0m",
}


def _stack(n: int, symbol: str, limit: int) -> list[str]:
    """The cells of a stack from its foot inwards, three characters each; the last is the height where it exceeds `limit`."""
    if n <= limit:
        return [f" {symbol} "] * n + ["   "] * (limit - n)
    return [f" {symbol} "] * (limit - 1) + [f"{n:>2} "]


def _columns(seen: Scene, point: int) -> tuple[list[str], int | None]:
    """The five cells of a point, numbered for the player below, and the player who holds it."""
    for player in (0, 1):
        own = point if player == seen.below else 25 - point
        n = seen.points[player][own]
        if n:
            return _stack(n, SYMBOLS[player], _ROWS), player
    return ["   "] * _ROWS, None


def _bar(seen: Scene, style: _Style) -> list[str]:
    """The eleven cells of the bar, from the top."""
    cells = [_paint(" " * _BAR_WIDTH, style.bar, style)] * (2 * _ROWS + 1)
    for player in (0, 1):
        n = seen.points[player][BAR]
        inward = 1 if player == seen.below else -1
        for k, cell in enumerate(_stack(n, SYMBOLS[player], _ROWS - 1)):
            cells[_MIDDLE + inward * (k + 1)] = _paint(cell.center(_BAR_WIDTH), style.bar + style.player[player], style)
    cube = seen.cube
    if cube is not None and cube.offered_to is None:
        row = _MIDDLE if cube.owner is None else 2 * _ROWS if cube.owner == seen.below else 0
        cells[row] = _paint(f"[{cube.value}]".center(_BAR_WIDTH), style.bar + style.cube, style)
    return cells


def _paint(text: str, code: str, style: _Style) -> str:
    return f"{code}{text}{style.plain}" if code else text


def _half(seen: Scene, style: _Style, points: Sequence[int], row: int) -> str:
    """Six cells of one row; `row` counts from the edge inwards."""
    words = []
    for point in points:
        cells, player = _columns(seen, point)
        code = style.field[point % 2] + (style.player[player] if player is not None else "")
        words.append(_paint(cells[row], code, style))
    return "".join(words)


def _dice(seen: Scene) -> str:
    return " ".join(f"({die.number})" if die.played else f"[{die.number}]" for die in seen.dice)


def _middle(seen: Scene, style: _Style) -> tuple[str, str]:
    """The row between the points, left and right of the bar: each player's dice, or the cube offered, to its right."""
    halves = ["", ""]
    code = style.bar + style.cube
    if seen.dice and seen.on_roll is not None:
        halves[seen.on_roll == seen.below] = _dice(seen)
        code = style.bar + style.player[seen.on_roll]
    if seen.cube is not None and seen.cube.offered_to is not None:
        halves[seen.cube.offered_to == seen.below] = f"[{seen.cube.value}] offered"
    left, right = (_paint(half.center(_HALF_WIDTH), code, style) for half in halves)
    return left, right


def _side(seen: Scene, player: int, style: _Style) -> list[str]:
    mark = style.mark if player == seen.on_roll else " "
    lines = [
        _paint(f"{mark} {SYMBOLS[player]} {seen.names[player]}", style.strong, style),
        f"    pips {seen.pips[player]}",
    ]
    if seen.scores is not None:
        lines.append(f"    score {seen.scores[player]}")
    return lines


def _edge(seen: Scene, style: _Style, points: Sequence[int], *, top: bool) -> str:
    across = style.across
    left, joint, right = style.top if top else style.foot
    numbers = [point if seen.numbers == seen.below else 25 - point for point in points]
    labels = ["".join(f"{n:>2}" + across for n in half).replace(" ", across) for half in (numbers[:6], numbers[6:])]
    bar, off = "bar".center(_BAR_WIDTH, across), "off".center(_OFF_WIDTH, across)
    return _paint(f"{left}{labels[0]}{joint}{bar}{joint}{labels[1]}{joint}{off}{right}", style.frame, style)


def _rows(seen: Scene, style: _Style) -> list[str]:
    """The eleven rows between the edges, each with the text to its right."""
    wall = _paint(style.wall, style.frame, style)
    bar = _bar(seen, style)
    above = 1 - seen.below
    tops, foots = range(13, 25), range(12, 0, -1)
    sides = [""] * (2 * _ROWS + 1)
    beside = _side(seen, above, style)
    sides[: len(beside)] = beside
    beside = _side(seen, seen.below, style)
    sides[-len(beside) :] = beside
    rows = []
    for r in range(2 * _ROWS + 1):
        if r == _MIDDLE:
            left, right = _middle(seen, style)
            off = _paint(" " * _OFF_WIDTH, style.bar, style)
        else:
            points, depth, player = (tops, r, above) if r < _MIDDLE else (foots, 2 * _ROWS - r, seen.below)
            left, right = (_half(seen, style, half, depth) for half in (points[:6], points[6:]))
            cell = _stack(seen.points[player][OFF], SYMBOLS[player], _ROWS)[depth]
            off = _paint(cell.center(_OFF_WIDTH), style.bar + style.player[player], style)
        rows.append(f"{wall}{left}{wall}{bar[r]}{wall}{right}{wall}{off}{wall} {sides[r]}".rstrip())
    return rows


def _legend(seen: Scene) -> str:
    words = []
    for player in (0, 1):
        seat = f" ({seen.seats[player]})" if seen.seats[player] else ""
        words.append(f"{SYMBOLS[player]} {seen.names[player]}{seat}")
    if any(die.played for die in seen.dice):
        words.append("(die) already played")
    return ", ".join(words)


def _text(seen: Scene, *, colour: bool, unicode: bool, message: bool = True) -> str:
    for name, flag in (("colour", colour), ("unicode", unicode), ("message", message)):
        checked_flag(name, flag)
    style = replace(_UNICODE if unicode else _ASCII, **(_PAINT if colour else {}))
    lines = [
        seen.title,
        _edge(seen, style, range(13, 25), top=True),
        *_rows(seen, style),
        _edge(seen, style, range(12, 0, -1), top=False),
        *([_paint(seen.message, style.strong, style)] if seen.message and message else []),
        _legend(seen),
    ]
    return "\n".join(lines)


def board_text(
    states: States,
    i: int,
    settings: Settings,
    *,
    seat: int | None = None,
    names: tuple[str, str] | None = None,
    colour: bool = False,
    unicode: bool = True,
    message: bool = True,
) -> str:
    """The board of `states[i]` as lines of text, without a newline at the end.

    Args:
        states: 1-D array of STATE records.
        i: index of the state to draw.
        settings: the settings of the game.
        seat: the player who sits below and for whom the points are numbered, 0 or 1; None for the player on roll (at the end
            the winner, before the opening throw player 0).
        names: of player 0 and 1; None for White and Black.
        colour: with the SGR codes of a 256-colour terminal.
        unicode: lines and marks beyond ASCII.
        message: with a line below the board for the turn and the decision that is due, or the result.

    Returns:
        The title, the board with the players to its right, the message and the legend.

    Raises:
        BgEnvError: an argument is something else.
    """
    return _text(scene(states, i, settings, seat=seat, names=names), colour=colour, unicode=unicode, message=message)


def position_text(
    mover: Sequence[int],
    opponent: Sequence[int],
    variant: str | Variant = "backgammon",
    *,
    mover_is: int = 1,
    colour: bool = False,
    unicode: bool = True,
) -> str:
    """A bare position, seen by the player on roll, as lines of text.

    Args:
        mover: the mover's 26 counts on its own numbering (0 off, 25 the bar).
        opponent: the opponent's, on its own.
        variant: the variant, or its name.
        mover_is: the mover's symbol: 1 for X (as GNU Backgammon draws it) or 0 for O.
        colour: with the SGR codes of a 256-colour terminal.
        unicode: lines and marks beyond ASCII.

    Raises:
        PositionError: the placement is impossible.
        BgEnvError: `mover_is` is not a seat.
    """
    return _text(position_scene(mover, opponent, variant, mover_is=mover_is), colour=colour, unicode=unicode)
