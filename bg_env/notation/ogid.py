"""OGID, the one-line id of OpenGammon: up to eleven fields, `11ccccchhhjjjjj:66666888dddddoo:N0N:25:W:IB:0:0:5:0`.

| field | meaning |
|---|---|
| 1, 2 | White's and Black's checkers, a character each: `0` White's bar, `1`-`9` and `a`-`o` the points 1-24 (White moves up, Black down), `p` Black's bar |
| 3 | the cube: its owner `W`, `B`, `N` for centred or `D` for dead; log2 of the accepted value; `O` offered, `T` taken, `P` dropped, else `N` |
| 4 | the dice, lower first; empty before the roll |
| 5 | the player who acted last, `W` or `B`: the other one is to act |
| 6 | `IW` or `IB` at the start, `R` rolled, `C` cube or roll, `D` doubled, `A` taken, `G` game over, `M` match over |
| 7, 8 | score of White and of Black |
| 9 | match length, 0 for money; with `C` in the Crawford game, with `L` after it |
| 10 | number of the move in the record; not read, written as 0 |
| 11 | checkers a side, absent for 15 |

White is `player_0`. Fields from the fourth on may be absent. Jacoby, beavers and the cube's highest value are in no field. A cube
that is off is written as dead. (The fields as OpenGammon's own codec, the PyPI package `ogxm`, writes them.)
"""  # noqa: E501 - a table's row is one line

from __future__ import annotations

import re
from typing import Any, Final

from bg_env.errors import NotationError
from bg_env.notation.pasted import ogid_in
from bg_env.notation.state_of_id import (
    Setup,
    all_off,
    default_cap,
    kept_alive,
    least_cap,
    refuse_unsayable,
    same_after_reading,
    settle_settings,
    stand,
    viewer,
)
from bg_env.rules import BAR, OFF, Phase, Settings, States, Variant, variant_of

__all__ = ["read_ogid", "write_ogid"]

_WHAT: Final = "an OGID"
_PLACES: Final = "0123456789abcdefghijklmnop"
_BORNE_OFF: Final = "q"
_OVER: Final = ("G", "M")
_RESIGNED: Final = ("RG", "RM")
_CHECKERS: Final = 15
_FIELDS: Final = (
    ("White's checkers", re.compile(rf"[{_PLACES}{_BORNE_OFF}]*"), "a character of 0-9 and a-p for each checker"),
    ("Black's checkers", re.compile(rf"[{_PLACES}{_BORNE_OFF}]*"), "a character of 0-9 and a-p for each checker"),
    ("cube", re.compile(r"[WBND?](?:\d|1[0-5])[NOTP]"), "owner, log2 of the value and action, such as N0N"),
    ("dice", re.compile(r"|00|[1-6][1-6]"), "two dice or nothing"),
    ("player who acted", re.compile(r"|W|B"), "W or B"),
    ("state", re.compile(r"|[A-Z]{1,2}"), "one or two letters, such as C or IW"),
    ("score of White", re.compile(r"|\d{1,5}"), "a number of points"),
    ("score of Black", re.compile(r"|\d{1,5}"), "a number of points"),
    ("match length", re.compile(r"|\d{1,5}(?:[LC]|G\d*)?"), "a number of points with C in the Crawford game, 0 for money"),
    ("number of the move", re.compile(r"|\d{1,9}"), "a number"),
    ("checkers a side", re.compile(r"|\d{1,2}"), "a number of checkers"),
)
_LEAST: Final = 3


def _fields(text: str) -> list[str]:
    if not isinstance(text, str):
        msg = f"an OGID is text, not {type(text).__name__}"
        raise NotationError(msg)
    words = (ogid_in(text) or text.strip()).split(":")
    if not _LEAST <= len(words) <= len(_FIELDS):
        msg = f"an OGID has {_LEAST} to {len(_FIELDS)} fields with ':' between them, and {text[:60]!r} has {len(words)}"
        raise NotationError(msg)
    for k, (word, (name, pattern, right)) in enumerate(zip(words, _FIELDS, strict=False), 1):
        if not pattern.fullmatch(word) or not word.isascii():
            msg = f"OGID: field {k}, {name}, is {right}, not {word[:40]!r}"
            raise NotationError(msg)
    return words + [""] * (len(_FIELDS) - len(words))


def _points(words: list[str], checkers: int) -> list[list[int]]:
    """The 26 counts of White and Black, each on its own numbering."""
    points = [[0] * 26, [0] * 26]
    for player, side in enumerate(points):
        name = ("White", "Black")[player]
        for letter in words[player].replace(_BORNE_OFF, ""):
            place = _PLACES.index(letter)
            own = place if player else 25 - place
            if own == OFF:
                msg = f"OGID: {letter!r} is the {('Black', 'White')[player]} player's bar: no checker of {name} stands there"
                raise NotationError(msg)
            side[own] += 1
        if sum(side) > checkers:
            msg = f"OGID: {name} has {sum(side)} checkers, and there are {checkers} a side"
            raise NotationError(msg)
        side[OFF] = checkers - sum(side)
    return points


def _on_roll(words: list[str], points: list[list[int]], checkers: int) -> tuple[int, int]:
    """The player on roll (at the end the winner; of a double the doubler), and the level of a drop that ended the game."""
    action, dice, acted, state = words[2][-1], words[3], words[4], words[5]
    if state in _RESIGNED:
        msg = f"OGID: field 6 is {state!r}, a resignation, without its level: give an id from before it"
        raise NotationError(msg)
    off = [player for player in (0, 1) if points[player][OFF] == checkers]
    if off:
        return off[0], 0
    other = 0 if acted == "B" else 1 if acted == "W" else 0
    if action == "O" or state == "D":
        return 1 - other, 0
    if state in _OVER:
        if action != "P":
            msg = f"OGID: field 6 is {state!r}, but nobody has borne off all checkers, and field 3 has no drop"
            raise NotationError(msg)
        return other, 1
    if state == "IW" and dice in ("", "00"):
        return 0, 0  # at the start White is to roll, whoever is named as the player who acted
    return other, 0


def read_ogid(text: str, variant: str | Variant = "backgammon", settings: Settings | None = None) -> tuple[States, Settings]:
    """A game from an OGID.

    Args:
        text: the id, alone or anywhere in a text or URL; `OGID=` before it may be absent.
        variant: gives the number of checkers and the rules that no id holds.
        settings: the settings in force, whose match length the id must not contradict. None: they are made of the id, with a
            cube up to 64 unless the id has it higher.

    Returns:
        states: an array of one STATE.
        settings: the settings in force.

    Raises:
        NotationError: `text` has no OGID, or its game is impossible (then a PositionError as well).
    """
    words = _fields(text)
    chosen = settings.variant if settings else variant_of(variant)
    if int(words[10] or _CHECKERS) != chosen.checkers:
        msg = f"OGID: {words[10] or _CHECKERS} checkers a side, but the variant {chosen.name} has {chosen.checkers}"
        raise NotationError(msg)
    points = _points(words, chosen.checkers)
    turn, given_up = _on_roll(words, points, chosen.checkers)
    owner, cube, action = words[2][0], int(words[2][1:-1]), words[2][-1]
    chain = int((action == "O" or words[5] == "D") and not given_up)
    length = int(re.match(r"\d*", words[8])[0] or 0)  # type: ignore[index] # it always matches
    if owner == "D" and (cube or chain):
        msg = f"OGID: field 3 is {words[2]!r}: a dead cube stays at 1 and is not offered"
        raise NotationError(msg)
    score = (int(words[6] or 0), int(words[7] or 0))
    rest: dict[str, Any] = {
        "variant": chosen,
        "cube": owner != "D",
        "cube_cap": default_cap(cube + chain),
        "allow_dead_cube": kept_alive(length, cube, score[turn], chain),
    }
    settled = settle_settings("OGID", {"match_length": length}, settings, rest)
    setup = Setup(
        points=points,
        turn=turn,
        dice=(int(words[3][0]), int(words[3][1])) if words[3] else (0, 0),
        cube=cube,
        owner={"W": 0, "B": 1}.get(owner, -1),
        crawford=words[8].endswith("C") and length > 1,
        score=score,
        chain=chain,
        given_up=given_up,
        what="OGID",
    )
    return stand(setup, settled), settled


def _state(states: States, i: int, settings: Settings, *, dropped: bool) -> tuple[str, str, int]:
    """The state, the cube's action and the player who acted last."""
    s, side = states[i], viewer(states, i)
    if s["phase"] == Phase.OVER:
        over = "M" if settings.match_length and int(s["score"].max()) >= settings.match_length else "G"
        return over, "P" if dropped else "N", 1 - side if dropped else side
    if s["chain"]:
        return "D", "O", side
    return "R" if s["phase"] == Phase.CHECKER else "C", "N", 1 - side


def _length(states: States, i: int, settings: Settings) -> str:
    """Field 9: the match length, with its mark of the Crawford game or the games after it."""
    s, length = states[i], settings.match_length
    if s["crawford"]:
        return f"{length}C"
    after = length > 1 and settings.crawford and int(s["score"].max()) >= length - 1
    return f"{length}L" if after else str(length)


def write_ogid(states: States, i: int, settings: Settings) -> str:
    """The OGID of state `i`, with all fields.

    Raises:
        NotationError: the id cannot hold the state.
    """
    refuse_unsayable(states, i, _WHAT)
    s, checkers = states[i], settings.variant.checkers
    if s["chain"] > 1:
        msg = f"{_WHAT} cannot hold a beaver or raccoon: write an XGID"
        raise NotationError(msg)
    dropped = s["phase"] == Phase.OVER and not all_off(states, i, viewer(states, i), settings)
    if dropped and (s["level"] != 1 or not settings.cube):
        msg = f"{_WHAT} cannot hold that a resignation has ended the game"
        raise NotationError(msg)
    state, action, acted = _state(states, i, settings, dropped=bool(dropped))
    sides = []
    for player in range(2):
        places = [(point if player else 25 - point, int(s["points"][player, point])) for point in range(1, BAR + 1)]
        sides.append("".join(_PLACES[place] * n for place, n in sorted(places)))
    dice = sorted(int(n) for n in s["dice"]) if state == "R" else []
    owner = "D" if not settings.cube else "WB"[s["owner"]] if s["owner"] >= 0 else "N"
    fields = [
        *sides,
        f"{owner}{int(s['cube'])}{action}",
        "".join(map(str, dice)),
        "WB"[acted],
        state,
        *map(int, s["score"]),
        _length(states, i, settings),
        0,
        *([checkers] if checkers != _CHECKERS else []),
    ]
    text = ":".join(str(field) for field in fields)
    read, made = read_ogid(text, settings.variant)
    same_after_reading(states, i, read_ogid(text, settings=least_cap(made, settings))[0] if made.cube else read, _WHAT)
    return text
