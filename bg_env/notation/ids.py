"""GNU Backgammon's two ids together: a whole game, to and from a STATE record."""

from __future__ import annotations

import re
from typing import Final

from bg_env.errors import NotationError
from bg_env.notation import match_id as codec
from bg_env.notation import position_id
from bg_env.notation.match_id import MatchId
from bg_env.notation.state_of_id import (
    Setup,
    all_off,
    kept_alive,
    refuse_unsayable,
    same_after_reading,
    settle_settings,
    stand,
    viewer,
)
from bg_env.notation.xgid import read_xgid
from bg_env.rules import LIFTED_CAP, Phase, Settings, States, Variant, variant_of

__all__ = ["read_ids", "read_position", "read_position_id", "write_match_id", "write_position_id"]

_WHAT: Final = "a match id"
_DEFAULT_CAP: Final = 64
_LONGEST: Final = 300
"""Characters of a text that may be an id."""
_LABELS: Final = re.compile(r"(?:GNU Backgammon)?\s*(?:Position ID|Match ID)\s*:?", re.IGNORECASE)


def read_position_id(
    text: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from a Position ID alone: player 0 on roll, cube in the middle, score 0-0.

    Raises:
        NotationError: see `bg_env.notation.position_id.decode`.
    """
    chosen = settings or Settings(variant)
    mover, opponent = position_id.decode(text, chosen.variant)
    return stand(Setup((mover, opponent), 0, what=f"position id {text!r}"), chosen), chosen


def read_ids(
    position: str, match: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from a Position ID and a Match ID.

    Args:
        position: the Position ID, seen by the player on roll (of a finished game: the winner).
        match: the Match ID.
        variant: the variant played, which no id says.
        settings: the settings in force, if there are any: the ids must not contradict their match length and Jacoby.
            Without them they are made of the id; the cube is in play as the variant has it by default or where the id
            shows it turned, and capped at 64 unless the id has it higher.

    Returns:
        states: an array of one STATE.
        settings: what is in force.

    Raises:
        NotationError: no such ids, or a game that cannot stand (then a PositionError as well).
    """
    chosen = settings.variant if settings else variant_of(variant)
    mover, opponent = position_id.decode(position, chosen)
    fields = codec.decode(match)
    what = f"match id {match!r}"
    _check(fields, what)
    length = fields.length
    turned = fields.cube_log2 > 0 or fields.owner is not None
    said = {"match_length": length}
    if not length:
        said["jacoby"] = not fields.no_jacoby
    rest = {
        "variant": chosen,
        "cube": True if turned or fields.double else None,
        "cube_cap": _DEFAULT_CAP if 1 << fields.cube_log2 + fields.double <= _DEFAULT_CAP else LIFTED_CAP,
        "allow_dead_cube": kept_alive(length, fields.cube_log2, (fields.score0, fields.score1)[fields.move], fields.double),
    }
    settled = settle_settings(what, said, settings, rest)
    finished = fields.state in (codec.RESIGNED, codec.DROPPED)
    setup = Setup(
        points=(opponent, mover) if fields.move else (mover, opponent),
        turn=fields.move,
        dice=(fields.die1, fields.die2),
        cube=fields.cube_log2,
        owner=-1 if fields.owner is None else fields.owner,
        crawford=bool(fields.crawford),
        score=(fields.score0, fields.score1),
        chain=fields.double,
        given_up=(fields.resign or 1) if finished else 0,
        what=what,
    )
    states = stand(setup, settled)
    if fields.state == codec.OVER and states["phase"][0] != Phase.OVER:
        msg = f"{what} says that the game is over, but in the position nobody has borne off all checkers"
        raise NotationError(msg)
    return states, settled


def read_position(
    text: str, variant: str | Variant = "backgammon", settings: Settings | None = None
) -> tuple[States, Settings]:
    """A game from whichever id `text` is: an XGID, a Position ID, or a Position ID and a Match ID with `:` or space between.

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
    if len(words) == 1 and len(words[0]) == position_id.LENGTH:
        return read_position_id(words[0], variant, settings)
    if [len(word) for word in words] == [position_id.LENGTH, codec.LENGTH]:
        return read_ids(words[0], words[1], variant, settings)
    msg = (
        f"{text[:60]!r} is no id of a position: give an XGID, a position id ({position_id.LENGTH} characters), "
        f"or one and a match id ({codec.LENGTH}) with ':' between"
    )
    raise NotationError(msg)


def _check(fields: MatchId, what: str) -> None:
    if fields.state not in (codec.NO_GAME, codec.PLAYING):
        return
    if fields.resign:
        msg = f"{what} says that a resignation waits for an answer; here it ends the game at once: give an id from before it"
    elif fields.double and fields.turn == fields.move:
        msg = f"{what} says that the doubler must answer, as after a beaver, which it cannot hold: give an XGID"
    elif fields.double and fields.die1:
        msg = f"{what} says that a double waits for an answer after the dice were rolled (R8.2)"
    elif not fields.double and fields.turn != fields.move:
        msg = f"{what} says that player {fields.turn} decides while player {fields.move} is on roll and no double waits"
    else:
        return
    raise NotationError(msg)


def write_position_id(states: States, i: int) -> str:
    """The Position ID of state `i`, seen by the player on roll, at the end by the winner."""
    side = viewer(states, i)
    points = states[i]["points"]
    return position_id.encode(points[side].tolist(), points[1 - side].tolist())


def write_match_id(states: States, i: int, settings: Settings) -> str:
    """The Match ID of state `i` (state 1 while playing; bit 66 set in matches and where Jacoby is not played).

    Raises:
        NotationError: the id cannot hold the state.
    """
    refuse_unsayable(states, i, _WHAT)
    s = states[i]
    if s["chain"] > 1:
        msg = "a match id cannot hold a beaver or raccoon: write an XGID"
        raise NotationError(msg)
    side = viewer(states, i)
    jacoby = settings.jacoby and settings.cube
    score = [int(n) for n in s["score"]]
    fields = {
        "cube_log2": int(s["cube"]),
        "owner": None if s["owner"] < 0 else int(s["owner"]),
        "move": side,
        "turn": side,
        "crawford": int(s["crawford"]),
        "length": settings.match_length,
        "score0": score[0],
        "score1": score[1],
        "no_jacoby": int(not jacoby),
    }
    if s["phase"] == Phase.OVER:
        fields["state"] = codec.OVER
        if not all_off(states, i, side, settings):
            dropped = settings.cube and s["level"] == 1
            fields.update(state=codec.DROPPED if dropped else codec.RESIGNED, turn=1 - side)
            fields["resign"] = 0 if dropped else int(s["level"])
    else:
        fields.update(turn=1 - side if s["chain"] else side, double=int(s["chain"]))
        fields.update(die1=int(s["dice"][0]), die2=int(s["dice"][1]))
    text = codec.encode(MatchId(**fields))  # type: ignore[arg-type] # only the owner may be None
    same_after_reading(states, i, read_ids(write_position_id(states, i), text, settings.variant)[0], _WHAT)
    return text
