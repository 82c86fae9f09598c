"""Frames of a replayed record: the pictures of its moments, with dice, arrows and ids, for the page and for a film."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bg_env.errors import BgEnvError, NotationError
from bg_env.notation.gnubg_ids import write_match_id, write_position_id
from bg_env.notation.xgid import write_xgid
from bg_env.records.check import stated_settings
from bg_env.render.html import Frame
from bg_env.rules import Phase, Settings, States, apply_roll

if TYPE_CHECKING:
    from bg_env.records.report import Moment, Replay

__all__ = ["frames_of"]


def frames_of(played: Replay) -> list[Frame]:
    """The frames of all moments of a record; show them under `stated_settings` of the record."""
    stated = stated_settings(played.record)
    shown = (stated, stated.but(beavers=played.settings.beavers), played.settings)
    return [_frame(played, moment, shown) for game in played.games for moment in game.moments]


def _frame(played: Replay, moment: Moment, shown: tuple[Settings, ...]) -> Frame:
    entry = moment.entry
    rolled = entry is not None and entry.kind == "roll" and entry.dice is not None and moment.player is not None
    ids = dict(_ids(played.states, moment.index, shown))
    if entry is not None and entry.dice is not None and rolled:
        before = _before(played, moment)
        xgid = None if before is None else _written(write_xgid, before, 0, shown)
        if xgid:
            ids[f"XGID, {entry.dice[0]}{entry.dice[1]} to play"] = xgid
    return Frame(
        played.states,
        moment.index,
        text=played.text(moment),
        player=moment.player,
        arrows=[(moment.player, step.source, step.target) for step in played.steps(moment) if moment.player is not None],
        dice=entry.dice if entry is not None and rolled else None,
        ids=ids,
    )


def _before(played: Replay, moment: Moment) -> States | None:
    """The state in which a roll waits to be played, an array of one; None before the first, and where nothing was played."""
    if moment.entry is None or moment.entry.dice is None or moment.index == 0 or not moment.actions:
        return None
    states: States = played.states[moment.index - 1 : moment.index].copy()
    high, low = moment.entry.dice
    opening = states[0]["phase"] == Phase.OPENING
    dice = (low, high) if opening and moment.player == 1 else (high, low)
    if states[0]["phase"] == Phase.ROLL_OR_DOUBLE:
        states["phase"], states["decider"] = Phase.ROLL, -1
    if states[0]["phase"] not in (Phase.OPENING, Phase.ROLL):
        return None
    try:
        apply_roll(states, 0, played.settings.record(), *dice)
    except BgEnvError:
        return None
    return states


def _ids(states: States, i: int, shown: tuple[Settings, ...]) -> Iterator[tuple[str, str]]:
    for name, write in (("XGID", write_xgid), ("GNUBG id", _gnubg_ids)):
        text = _written(write, states, i, shown)
        if text:
            yield name, text


def _gnubg_ids(states: States, i: int, settings: Settings) -> str:
    return f"{write_position_id(states, i)}:{write_match_id(states, i, settings)}"


def _written(write: Callable[[States, int, Settings], str], states: States, i: int, shown: tuple[Settings, ...]) -> str | None:
    """The id of a state, under the settings that the record states if it can be; None where no id holds the state.

    No id can express a double that is possible only because dead cubes may be turned, nor one that was declined.
    """
    other: States = states[i : i + 1].copy()
    if other[0]["phase"] == Phase.ROLL_OR_DOUBLE:
        other["phase"], other["decider"] = Phase.ROLL, -1
    elif other[0]["phase"] == Phase.ROLL:
        other["phase"], other["decider"] = Phase.ROLL_OR_DOUBLE, other[0]["turn"]
    for array, at in ((states, i), (other, 0)):
        for settings in shown:
            try:
                return write(array, at, settings)
            except NotationError:
                continue
    return None
