"""Replay of a game or a match as one HTML file, which needs no network and no other file.

The page knows no rules and draws no board of its own: each frame is a list of pieces of the drawing of `render.drawing`, and
each piece is stored once.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import resources
from typing import Any, Final

from bg_env.checks import is_number
from bg_env.errors import BgEnvError, quoted
from bg_env.render.drawing import HEIGHT, WIDTH, draw
from bg_env.render.measure import cut
from bg_env.render.plot import PLOT_LEFT, PLOT_RIGHT, plot
from bg_env.render.scene import Arrow, Die, Scene, scene
from bg_env.render.shapes import Drawing
from bg_env.render.svg import FONT, shape_svg, svg
from bg_env.rules.settings import Settings
from bg_env.rules.state import States

__all__ = ["Candidate", "Frame", "replay_html", "seen_frame"]

_NAME: Final = 19.0
"""Width of a name before a move, in ems."""
_STATIC: Final = frozenset({"page", "frame", "field", "hinge", "tray", "triangle"})
_FOLLOWS: Final = frozenset({("checker", "ring"), ("number", "number"), ("pip", "pip"), ("die", "pip")})


@dataclass(frozen=True)
class Candidate:
    """A play, or a turn of the cube, that was possible in a frame.

    Attributes:
        text: the play.
        equity: its value to the player who decides, in the caller's unit.
        played: whether it was the choice in the game.
    """

    text: str
    equity: float
    played: bool = False


@dataclass(frozen=True, eq=False)
class Frame:
    """One step of a replay: a state and the event that led to it.

    Attributes:
        states: 1-D array of STATE records.
        i: index of the state to show.
        text: the event ("31: 8/5 6/5", "doubles to 2"), as an entry of the move list; empty for no entry.
        player: the player of the event, 0 or 1; None for neither ("Game 2").
        arrows: the steps of its checkers: (player, from, to) on that player's own numbering, 25 the bar, 0 off.
        equity: the caller's estimate of the value of the state to player 0, in the caller's unit.
        candidates: the best choices by the caller's estimate, best first: of the event's decision, or in this state.
        comment: a remark, shown next to the board.
        dice: the roll that was played in the event; it is shown, and the points are numbered for its player.
        ids: ids of the state by their names ("XGID"), to be copied.
        mark: a sign for the event's decision, shown after its text in the move list: "?" or "??".
    """

    states: States
    i: int = 0
    text: str = ""
    player: int | None = None
    arrows: Sequence[Arrow] = ()
    equity: float | None = None
    candidates: Sequence[Candidate] = ()
    comment: str = ""
    dice: tuple[int, int] | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""


class _Pieces:
    """The different pieces of SVG, each once; a picture is a list of their numbers."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]

    def of(self, drawing: Drawing) -> list[int]:
        """The drawing as numbers of pieces; shapes that always come together are one piece."""
        numbers: list[int] = []
        piece, before = "", ""
        for shape in drawing.shapes:
            joined = (before, shape.kind) in _FOLLOWS or (before in _STATIC and shape.kind in _STATIC)
            if piece and not joined:
                numbers.append(self._number(piece))
                piece = ""
            piece += shape_svg(shape)
            before = shape.kind
        return [*numbers, self._number(piece)]


def _finite(value: float | None, what: str, k: int) -> float | None:
    if value is None:
        return None
    if not is_number(value, -sys.float_info.max, sys.float_info.max):
        msg = f"frame {k}: {what} is a number, not {quoted(value)}"
        raise BgEnvError(msg)
    return round(float(value), 4)


def seen_frame(frame: Frame, settings: Settings, seat: int, names: tuple[str, str] | None) -> Scene:
    """The scene of a frame from a seat that stays the same.

    While a move is shown, its player is on roll with its dice, and the points are numbered for it; else they are numbered for
    the player on roll.
    """
    seen = scene(frame.states, frame.i, settings, seat=seat, names=names)
    mover = frame.player
    if mover is None or not (frame.dice or frame.arrows):
        return seen if seen.on_roll is None else replace(seen, numbers=seen.on_roll)
    dice = () if frame.dice is None else frame.dice * 2 if frame.dice[0] == frame.dice[1] else frame.dice
    over = seen.on_roll is None
    return replace(
        seen,
        on_roll=mover,
        numbers=mover,
        dice=tuple(Die(number, played=False) for number in dice),
        message=seen.message if over or not frame.text else f"{cut(seen.names[mover], 1, _NAME)}: {frame.text}",
    )


def _frame(frame: Frame, k: int, settings: Settings, names: tuple[str, str] | None, pieces: _Pieces) -> dict[str, Any]:
    if frame.player not in (None, 0, 1):
        msg = f"frame {k}: player is 0, 1 or None, not {quoted(frame.player)}"
        raise BgEnvError(msg)
    views = [seen_frame(frame, settings, seat, names) for seat in (0, 1)]
    return {
        "views": [pieces.of(draw(seen, frame.arrows)) for seen in views],
        "text": frame.text,
        "mark": frame.mark,
        "player": frame.player,
        "game": int(frame.states[frame.i]["games"]),
        "message": scene(frame.states, frame.i, settings, names=names).message,
        "comment": frame.comment,
        "equity": _finite(frame.equity, "the equity", k),
        "ids": list(frame.ids.items()),
        "candidates": [[c.text, _finite(c.equity, "a candidate's equity", k), bool(c.played)] for c in frame.candidates],
    }


def _plots(frames: Sequence[Frame], data: Sequence[dict[str, Any]], settings: Settings, names: tuple[str, str]) -> list[str]:
    breaks = [k for k in range(1, len(data)) if data[k]["game"] != data[k - 1]["game"]]
    pips = [scene(frame.states, frame.i, settings).pips for frame in frames]
    series = [(names[player], [pair[player] for pair in pips]) for player in (0, 1)]
    plots = [plot("Pip count", series, 0, max(1, *map(max, pips)), breaks)]
    equities = [item["equity"] for item in data]
    if any(value is not None for value in equities):
        most = max([abs(value) for value in equities if value is not None] + [0.1])
        plots.append(plot("Estimated equity", [(names[0], equities)], -most, most, breaks))
    return [svg(drawing) for drawing in plots]


def _json(value: object) -> str:
    """JSON that is safe inside a script element with any texts in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!", "\\u003c!")


def replay_html(
    frames: Sequence[Frame],
    settings: Settings,
    *,
    names: tuple[str, str] | None = None,
    title: str = "",
    seat: int = 0,
    record: tuple[str, str] | None = None,
) -> str:
    """The page that steps through `frames`.

    Args:
        frames: at least one, in order; the games of a match are distinguished by the states' counter of games.
        settings: the settings of the games.
        names: of player 0 and 1; None for White and Black.
        title: the title of the page; empty for the players' names.
        seat: the player who sits below at first, 0 or 1; a button turns the board.
        record: the name and the text of a file that the page offers to save; None for none.

    Returns:
        An HTML document; write it as UTF-8.

    Raises:
        BgEnvError: there is no frame, a seat or player is not 0 or 1, an arrow is not a step of a checker, or an equity
            is not a number.
    """
    if not frames:
        msg = "a replay needs at least one frame"
        raise BgEnvError(msg)
    first = scene(frames[0].states, frames[0].i, settings, seat=seat, names=names)
    pieces = _Pieces()
    data = [_frame(frame, k, settings, names, pieces) for k, frame in enumerate(frames)]
    heading = title or f"{first.names[0]} - {first.names[1]}"
    content = {
        "pieces": pieces.texts,
        "frames": data,
        "names": first.names,
        "seat": first.below,
        "left": PLOT_LEFT,
        "right": PLOT_RIGHT,
        "record": record,
    }
    page = resources.files("bg_env.render").joinpath("replay.html").read_text(encoding="utf-8")
    words = {
        "TITLE": escape(heading),
        "STAKES": escape(first.title),
        "VIEW": f"0 0 {WIDTH} {HEIGHT}",
        "FONT": escape(FONT),
        "PLOTS": "\n".join(_plots(frames, data, settings, first.names)),
        "DATA": _json(content),
    }
    return re.sub("@([A-Z]+)@", lambda mark: words[mark[1]], page)
