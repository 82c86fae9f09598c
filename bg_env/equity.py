"""Match equity: the chance to win the match at a score, by the table Kazaross-XG2.

The table is `data/Kazaross-XG2.xml`, copyright (C) 2011 Neil Kazaross, as it is distributed with GNU Backgammon; its notice,
which allows copying and changing as long as the notice stays, is inside the file. It is for equal players who use the cube.
"""

from __future__ import annotations

from importlib import resources
from typing import Final
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from bg_env.checks import is_whole
from bg_env.errors import SettingsError, quoted

__all__ = ["LONGEST", "MATCH_EQUITY", "match_equity", "match_equity_table"]


def match_equity_table() -> npt.NDArray[np.float64]:
    """The table, extended to all scores.

    Returns:
        float64 (2, n + 1, n + 1), read only, with n the longest match: `[0, a, b]` is the chance of a player who needs `a`
        points against one who needs `b`, where one of them needs 1 with the Crawford game still to come or in progress;
        `[1, a, b]` is the same after the Crawford game (it differs where exactly one needs 1). A player who needs 0 has won;
        `[:, 0, 0]`, which does not occur, is a half.
    """
    root = ET.fromstring((resources.files("bg_env") / "data" / "Kazaross-XG2.xml").read_text(encoding="utf-8"))  # noqa: S314 - shipped
    before = [[float(cell.text or "") for cell in row] for row in root.iterfind("pre-crawford-table/row")]
    after = [float(cell.text or "") for cell in root.iterfind("post-crawford-table/row/me")]
    n = len(before)
    table = np.full((2, n + 1, n + 1), 0.5)
    table[:, 0, 1:], table[:, 1:, 0] = 1, 0
    table[:, 1:, 1:] = before
    table[1, 2:, 1] = after[1:]
    table[1, 1, 2:] = 1 - table[1, 2:, 1]
    table.flags.writeable = False
    return table


MATCH_EQUITY: Final = match_equity_table()
"""See `match_equity_table`."""
LONGEST: Final = MATCH_EQUITY.shape[1] - 1
"""The length of the longest match that the table covers, which is the most points that a player may need."""


def match_equity(own: int, other: int, *, post_crawford: bool = False) -> float:
    """The chance to win the match of a player who needs `own` points against one who needs `other`.

    Args:
        own: points that the player needs, up to 25; 0 or less if it has won.
        other: points that the opponent needs, likewise.
        post_crawford: whether the Crawford game has been played; it matters only where exactly one player needs 1.

    Returns:
        0 to 1.

    Raises:
        SettingsError: an argument is not a whole number, the table does not cover it, or both have won.
    """
    for name, points in (("own", own), ("other", other)):
        if not is_whole(points):
            msg = f"{name} is a whole number of points, not {quoted(points)}"
            raise SettingsError(msg)
    if max(own, other) > LONGEST or max(own, other) < 1:
        msg = f"the match equity table covers scores from 1 to {LONGEST} points away, not {quoted(own)} and {quoted(other)}"
        raise SettingsError(msg)
    if min(own, other) < 1:
        return float(own < 1)
    return float(MATCH_EQUITY[int(post_crawford), own, other])
