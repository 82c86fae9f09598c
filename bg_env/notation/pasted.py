"""Search for ids in pasted text: XGIDs, OGIDs and GNU Backgammon's ids anywhere in a clipboard, a web page or a URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from bg_env.errors import NotationError, quoted
from bg_env.notation.gnubg_ids import MATCH_ID_LENGTH, POSITION_ID_LENGTH

__all__ = ["Found", "find_id", "ogid_in", "xgid_in"]

_LONGEST: Final = 1_000_000
"""Characters of a text that is searched."""
_SHORT: Final = 300
"""Characters of a text that may be nothing but an id."""
_XGID: Final = re.compile(r"(?<![-A-Za-z])[-A-Za-z]{26}(?::[-0-9A-Za-z]{1,5}){8,9}(?![\w:])", re.ASCII)
_XGID_LABEL: Final = re.compile(r"XGID\s*[=:]?\s*(\S+)", re.IGNORECASE)
_OGID: Final = re.compile(r"(?<![\w:])[0-9a-q]*:[0-9a-q]*:[BWND?]\d{1,2}[NOTP](?::[0-9A-Za-z]*){0,8}(?![\w:])", re.ASCII)
_OGID_LABEL: Final = re.compile(r"OGID\s*[=:]\s*(\S+)", re.IGNORECASE)
_B64: Final = "[A-Za-z0-9+/]"
_PAIR: Final = re.compile(rf"(?<![A-Za-z0-9+])({_B64}{{{POSITION_ID_LENGTH}}}):({_B64}{{{MATCH_ID_LENGTH}}})(?![A-Za-z0-9+/=])")
_NAME: Final = r"(?:GNU\s?(?:Backgammon)?\s*)?Position[\s_-]?ID|GNU\s?(?:BG)?[\s_-]?ID"
_POSITION: Final = re.compile(rf"(?:{_NAME})\s*[:=]?\s*({_B64}{{{POSITION_ID_LENGTH}}})(?!{_B64})", re.IGNORECASE)
_MATCH: Final = re.compile(rf"Match[\s_-]?ID\s*[:=]?\s*({_B64}{{{MATCH_ID_LENGTH}}})(?!{_B64})", re.IGNORECASE)
_MATCH_LABEL: Final = re.compile(r"Match[\s_-]?ID\s*[:=]?\s*(\S+)", re.IGNORECASE)
_LABELS: Final = re.compile(rf"(?:{_NAME}|Match[\s_-]?ID)\s*[:=]?", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """An id in a text.

    Attributes:
        kind: `xgid`, `ogid`, `ids` (a position id and a match id) or `position` (a position id alone).
        words: the id, or the two of them.
    """

    kind: Literal["xgid", "ogid", "ids", "position"]
    words: tuple[str, ...]


def _one(found: list[str], what: str) -> str | None:
    """The id found, which may stand in the text several times.

    Raises:
        NotationError: there are different ones.
    """
    different = list(dict.fromkeys(found))
    if len(different) > 1:
        msg = f"the text has {len(different)} different {what}s, {quoted(different[0])} first: give one position"
        raise NotationError(msg)
    return different[0] if different else None


def _decoded(text: str) -> str:
    """The text, with the escapes of a URL resolved."""
    return unquote(text) if "%" in text else text


def _after(label: re.Pattern[str], text: str) -> str | None:
    """The word after a label, for a message about what is wrong with it."""
    named = label.search(text)
    return named[1] if named else None


def xgid_in(text: str) -> str | None:
    """The XGID in a text, without `XGID=`; or the word after that label; None without either.

    Raises:
        NotationError: there are different ones.
    """
    text = _decoded(text)
    return _one(_XGID.findall(text), "XGID") or _after(_XGID_LABEL, text)


def ogid_in(text: str) -> str | None:
    """The OGID in a text, without `OGID=`; or the word after that label; None without either.

    Raises:
        NotationError: there are different ones.
    """
    text = _decoded(text)
    return _one(_OGID.findall(text), "OGID") or _after(_OGID_LABEL, text)


def _gnubg_ids(text: str) -> Found | None:
    pairs = [":".join(pair) for pair in _PAIR.findall(text)]
    positions, matches = _POSITION.findall(text), _MATCH.findall(text)
    if pairs:
        return Found("ids", tuple((_one(pairs, "pair of ids") or "").split(":")))
    if positions:
        words = [_one(positions, "position id"), _one(matches, "match id") or _after(_MATCH_LABEL, text)]
        return Found("ids" if words[1] else "position", tuple(word for word in words if word))
    words_alone = _LABELS.sub(" ", text).split() if len(text) <= _SHORT else []
    if len(words_alone) == 1:
        words_alone = words_alone[0].split(":")
    lengths = [len(word) for word in words_alone]
    if lengths == [POSITION_ID_LENGTH]:
        return Found("position", tuple(words_alone))
    if lengths == [POSITION_ID_LENGTH, MATCH_ID_LENGTH]:
        return Found("ids", tuple(words_alone))
    return None


def find_id(text: str) -> Found:
    """The id in a text, of whatever kind; of several kinds the XGID, then the OGID, then GNU Backgammon's ids.

    Raises:
        NotationError: the text has no id, or different ones, or is not text.
    """
    if not isinstance(text, str):
        msg = f"a position is given as the text of an id, not {type(text).__name__}"
        raise NotationError(msg)
    if len(text) > _LONGEST:
        msg = f"an id is looked for in at most {_LONGEST:,} characters, not in {len(text):,}"
        raise NotationError(msg)
    xgid, ogid = xgid_in(text), ogid_in(text)
    if xgid and (not ogid or _XGID.fullmatch(xgid)):
        return Found("xgid", (xgid,))
    if ogid:
        return Found("ogid", (ogid,))
    found = _gnubg_ids(_decoded(text))
    if found:
        return found
    if text.lstrip()[:4].upper() == "XGID" or (text.count(":") >= 6 and len(text.split()) == 1):
        return Found("xgid", (text.strip(),))
    msg = (
        f"{text[:60]!r} is not an id of a position: give an XGID, an OGID, a position id ({POSITION_ID_LENGTH} characters), "
        f"or one and a match id ({MATCH_ID_LENGTH}) with ':' between"
    )
    raise NotationError(msg)
