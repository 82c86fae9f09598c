"""Notations of positions and moves, read from text into STATE records and written from them: ids and move text.

Text that is not in a notation raises `NotationError`, and so does a state that a notation cannot hold. A state that it can hold
is read back the same: `parse(format(x)) == x`.
"""

from __future__ import annotations

import re
from typing import Final

from bg_env.errors import NotationError
from bg_env.notation.gnubg_ids import MATCH_ID_LENGTH, POSITION_ID_LENGTH, read_ids, read_position_id
from bg_env.notation.xgid import read_xgid
from bg_env.rules import Settings, States, Variant

__all__ = ["read_position"]

_LONGEST: Final = 300
"""Characters of a text that may be an id."""
_LABELS: Final = re.compile(r"(?:GNU Backgammon)?\s*(?:Position ID|Match ID)\s*:?", re.IGNORECASE)


def read_position(
    text: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from an id of any kind: an XGID, a position id, or a position id and a match id with `:` or space between.

    GNU Backgammon's labels "Position ID:" and "Match ID:" may stand before the ids. The rest is as in `read_xgid`,
    `read_position_id` and `read_ids`.

    Raises:
        NotationError: the text is not one of them, or it is of a game that cannot stand (then a PositionError as well).
    """
    if not isinstance(text, str):
        msg = f"a position is given as the text of an id, not {type(text).__name__}"
        raise NotationError(msg)
    words = _LABELS.sub(" ", text).split() if len(text) <= _LONGEST else []
    if text.count(":") >= 6 or text.lstrip()[:4].upper() == "XGID":
        return read_xgid(text, variant, settings)
    if len(words) == 1:
        words = words[0].split(":")
    if len(words) == 1 and len(words[0]) == POSITION_ID_LENGTH:
        return read_position_id(words[0], variant, settings)
    if [len(word) for word in words] == [POSITION_ID_LENGTH, MATCH_ID_LENGTH]:
        return read_ids(words[0], words[1], variant, settings)
    msg = (
        f"{text[:60]!r} is not an id of a position: give an XGID, a position id ({POSITION_ID_LENGTH} characters), "
        f"or one and a match id ({MATCH_ID_LENGTH}) with ':' between"
    )
    raise NotationError(msg)
