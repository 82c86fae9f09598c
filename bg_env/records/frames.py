"""Frames of a replayed record: the pictures of its moments, with dice, arrows and ids, for the page and for a film."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bg_env.errors import NotationError
from bg_env.notation.gnubg_ids import write_match_id, write_position_id
from bg_env.notation.xgid import write_xgid
from bg_env.records.check import stated_settings
from bg_env.records.course import Made, course
from bg_env.render.html import Frame
from bg_env.rules import Phase, Settings, States

if TYPE_CHECKING:
    from bg_env.records.report import Moment, Replay

__all__ = ["frames_of"]


def frames_of(played: Replay) -> list[Frame]:
    """The frames of all moments of a record; show them under `stated_settings` of the record."""
    stated = stated_settings(played.record)
    shown = (stated, stated.but(beavers=played.settings.beavers), played.settings)
    rolls = {
        (one.game, one.moment): one.states
        for one in course(played)
        if isinstance(one, Made) and one.states[0]["phase"] == Phase.CHECKER
    }
    return [
        _frame(played, moment, rolls.get((g, m)), shown)
        for g, game in enumerate(played.games)
        for m, moment in enumerate(game.moments)
    ]


def _frame(played: Replay, moment: Moment, before: States | None, shown: tuple[Settings, ...]) -> Frame:
    """The frame of a moment; `before` is the state in which its roll waits to be played, None if nothing was played."""
    entry = moment.entry
    rolled = entry is not None and entry.kind == "roll" and entry.dice is not None and moment.player is not None
    ids = dict(_ids(played.states, moment.index, shown))
    if entry is not None and entry.dice is not None and before is not None:
        xgid = _written(write_xgid, before, 0, shown)
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
