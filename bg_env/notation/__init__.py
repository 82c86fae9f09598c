"""Notations of positions and moves, read from text into STATE records and written from them: ids and move text.

Text that is not in a notation raises `NotationError`, and so does a state that a notation cannot hold. A state that it can hold
is read back the same: `parse(format(x)) == x`.
"""

from __future__ import annotations

from bg_env.notation.gnubg_ids import read_ids, read_position_id
from bg_env.notation.ogid import read_ogid
from bg_env.notation.pasted import find_id
from bg_env.notation.xgid import read_xgid
from bg_env.rules import Settings, States, Variant

__all__ = ["read_position"]


def read_position(
    text: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from an id of any kind: an XGID, an OGID, a position id, or a position id and a match id.

    The id may stand anywhere in `text`: in what XG, BGBlitz, GNU Backgammon or AnkiGammon copy, in a URL, after labels such as
    "XGID=", "GNUBGID" or "Position ID:". Of several kinds the XGID counts, then the OGID. The rest is as in `read_xgid`,
    `read_ogid`, `read_position_id` and `read_ids`.

    Raises:
        NotationError: there is no id, there are different ones of a kind, or it is of an impossible game (then a
            PositionError as well).
    """
    found = find_id(text)
    if found.kind == "xgid":
        return read_xgid(found.words[0], variant, settings)
    if found.kind == "ogid":
        return read_ogid(found.words[0], variant, settings)
    if found.kind == "position":
        return read_position_id(found.words[0], variant, settings)
    return read_ids(found.words[0], found.words[1], variant, settings)
