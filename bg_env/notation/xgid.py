"""XGID, the one-line id of eXtreme Gammon: ten fields between colons, `XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10`.

| field | meaning |
|---|---|
| 1 | 26 letters: the top player's bar, points 1-24 of the bottom player, its bar; `A`-`O` 1 to 15 of the bottom player's checkers, `a`-`o` of the top one's, `-` none |
| 2 | log2 of the accepted cube |
| 3 | its owner: 1 bottom, -1 top, 0 centred |
| 4 | the player on roll: 1 or -1 (with D, B and R: the one who doubled first) |
| 5 | the dice; `00` before the roll; `D` a double waits for an answer, `B` a beaver, `R` a raccoon |
| 6, 7 | score of the bottom and of the top player |
| 8 | in a match 1 for the Crawford game; for money 1 Jacoby + 2 beavers |
| 9 | match length, 0 for money |
| 10 | log2 of the cube's highest value; 0 with a cube that is turned, or offered: no limit; absent: 64, no limit for a higher cube |

The top player is `player_0`, the bottom one `player_1`. Checkers that are in no letter are borne off. A cube that is off is
written as one with the highest value 1. Beavers, where allowed, are read as beavers and raccoons.
"""  # noqa: E501 - a table's row is one line

from __future__ import annotations

import re
from typing import Any, Final

from bg_env.errors import NotationError
from bg_env.notation.pasted import xgid_in
from bg_env.notation.state_of_id import (
    Setup,
    all_off,
    default_cap,
    kept_alive,
    refuse_unsayable,
    same_after_reading,
    settle_settings,
    stand,
    viewer,
)
from bg_env.rules import BAR, OFF, Phase, Settings, States, Variant, variant_of

__all__ = ["read_xgid", "write_xgid"]

_WHAT: Final = "an XGID"
_TURNS: Final = ("D", "B", "R")
_MAX_LETTER: Final = 26
_FIELDS: Final = (
    ("position", re.compile(r"[-A-Za-z]{26}"), "26 letters or '-'"),
    ("cube", re.compile(r"\d|1[0-5]"), "the cube's log2, 0 to 15"),
    ("owner", re.compile(r"-1|0|1"), "the cube's owner, 1, 0 or -1"),
    ("turn", re.compile(r"-1|1"), "the player on roll, 1 or -1"),
    ("dice", re.compile(r"00|[1-6][1-6]|[DBR]"), "two dice, '00', 'D', 'B' or 'R'"),
    ("score of the bottom player", re.compile(r"\d{1,5}"), "a number of points"),
    ("score of the top player", re.compile(r"\d{1,5}"), "a number of points"),
    ("Crawford or Jacoby and beavers", re.compile(r"[0-3]"), "0 to 3"),
    ("match length", re.compile(r"\d{1,5}"), "a number of points, 0 for money"),
    ("highest cube", re.compile(r"\d|1[0-5]"), "the highest cube's log2, 0 to 15"),
)


def _fields(text: str) -> list[str]:
    if not isinstance(text, str):
        msg = f"an XGID is text, not {type(text).__name__}"
        raise NotationError(msg)
    words = (xgid_in(text) or text.strip()).split(":")
    if len(words) not in (len(_FIELDS) - 1, len(_FIELDS)):
        msg = f"an XGID has 10 fields with ':' between them (the last may be absent), and {text[:60]!r} has {len(words)}"
        raise NotationError(msg)
    for k, (word, (name, pattern, right)) in enumerate(zip(words, _FIELDS, strict=False), 1):
        if not pattern.fullmatch(word) or not word.isascii():
            msg = f"XGID: field {k}, {name}, is {right}, not {word[:40]!r}"
            raise NotationError(msg)
    return words


def _points(letters: str, checkers: int) -> list[list[int]]:
    """The 26 counts of player 0 (small letters) and player 1 (capitals), each on its own numbering."""
    points = [[0] * 26, [0] * 26]
    for at, letter in enumerate(letters):
        if letter == "-":
            continue
        side = int(letter.isupper())
        count = ord(letter.upper()) - 64
        own = at if side else 25 - at
        if own == OFF:
            bar_of = "top" if side else "bottom"
            msg = f"XGID: letter {at + 1} of the position is the {bar_of} player's bar: {letter!r} cannot stand there"
            raise NotationError(msg)
        points[side][own] = count
    for name, side_points in zip(("top player (small letters)", "bottom player (capitals)"), points, strict=True):
        if sum(side_points) > checkers:
            msg = f"XGID: the {name} has {sum(side_points)} checkers, and there are {checkers} a side"
            raise NotationError(msg)
        side_points[OFF] = checkers - sum(side_points)
    return points


def read_xgid(text: str, variant: str | Variant = "backgammon", settings: Settings | None = None) -> tuple[States, Settings]:
    """A game from an XGID.

    Args:
        text: the id, alone or anywhere in a text or URL; `XGID=` before it may be absent.
        variant: gives the number of checkers and the rules that no id holds.
        settings: the settings in force, whose match length and Jacoby the id must not contradict; its cap and beavers do not
            count then. None: all settings come from the id.

    Returns:
        states: an array of one STATE.
        settings: the settings in force.

    Raises:
        NotationError: `text` has no XGID, or its game is impossible (then a PositionError as well).
    """
    words = _fields(text)
    chosen = settings.variant if settings else variant_of(variant)
    letters, dice = words[0], words[4]
    cube, owner, turn, bottom, top, special, length = (int(words[k]) for k in (1, 2, 3, 5, 6, 7, 8))
    if length and special > 1:
        msg = f"XGID: field 8 of a match is 1 in the Crawford game, else 0, not {special}"
        raise NotationError(msg)
    said = {"match_length": length}
    if not length:
        said["jacoby"] = bool(special & 1)
    chain = _TURNS.index(dice) + 1 if dice in _TURNS else 0
    if len(words) < len(_FIELDS):
        cap = default_cap(cube + chain)
    else:
        cap = None if words[9] == "0" and (cube or owner or chain) else 1 << int(words[9])
    rest: dict[str, Any] = {"variant": chosen, "cube": True, "cube_cap": cap, "beavers": special & 2 if not length else 0}
    rest["allow_dead_cube"] = kept_alive(length, cube, bottom if turn > 0 else top, chain)
    settled = settle_settings("XGID", said, settings, rest)
    if dice in _TURNS[1:] and length:
        msg = f"XGID: field 5 is {dice!r}, but beavers belong to money play (field 9 is {length})"
        raise NotationError(msg)
    setup = Setup(
        points=_points(letters, chosen.checkers),
        turn=int(turn > 0),
        dice=(0, 0) if dice in _TURNS else (int(dice[0]), int(dice[1])),
        cube=cube,
        owner={-1: 0, 0: -1, 1: 1}[owner],
        crawford=bool(length and special),
        score=(top, bottom),
        chain=chain,
        what="XGID",
    )
    return stand(setup, settled), settled


def write_xgid(states: States, i: int, settings: Settings) -> str:
    """The XGID of state `i`.

    Raises:
        NotationError: the id cannot hold the state.
    """
    refuse_unsayable(states, i, _WHAT)
    s = states[i]
    side = viewer(states, i)
    if s["phase"] == Phase.OVER and not all_off(states, i, side, settings):
        msg = "an XGID cannot hold that the game has ended by a drop or a resignation"
        raise NotationError(msg)
    if s["chain"] > len(_TURNS):
        msg = f"an XGID holds a double, a beaver and a raccoon, not {int(s['chain'])} turns of the cube"
        raise NotationError(msg)
    letters = ["-"] * 26
    for player in range(2):
        for point in range(1, BAR + 1):
            n = int(s["points"][player, point])
            if n > _MAX_LETTER:
                msg = f"an XGID has letters for {_MAX_LETTER} checkers on a point, not for {n}"
                raise NotationError(msg)
            if n:
                letters[point if player else 25 - point] = chr((64 if player else 96) + n)
    dice = f"{s['dice'][0]}{s['dice'][1]}"
    if s["chain"]:
        dice = _TURNS[int(s["chain"]) - 1]
    length = settings.match_length
    jacoby = settings.jacoby and settings.cube
    fields = [
        "".join(letters),
        int(s["cube"]),
        {-1: 0, 0: -1, 1: 1}[int(s["owner"])],
        1 if side else -1,
        "00" if s["phase"] == Phase.OVER else dice,
        int(s["score"][1]),
        int(s["score"][0]),
        int(s["crawford"]) if length else jacoby + 2 * (settings.beavers > 0),
        length,
        settings.cap_log2 if settings.cube else 0,
    ]
    text = "XGID=" + ":".join(str(field) for field in fields)
    same_after_reading(states, i, read_xgid(text, settings.variant)[0], _WHAT)
    return text
