"""Checks of what `VectorEnv.restore` is given: kernels trust every number in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from bg_env.batch.layout import ENDED_UNSEEN, PLAN, RUNNING, SEAT_BY_KEY, SLOT, Plan, Slots
from bg_env.errors import SettingsError, quoted
from bg_env.options import EnvOptions
from bg_env.rewards import REWARDS
from bg_env.rules import STATE, Phase, Settings, States

__all__ = ["read_saved"]

_PARTS: Final = ("settings", "plan", "states", "slots", "dice")
_RANGES: Final = {
    "dice": (0, 6),
    "left": (0, 4),
    "turn": (-1, 1),
    "decider": (-1, 1),
    "phase": (0, int(Phase.OVER)),
    "stage": (0, 3),
    "owner": (-1, 1),
    "chain": (0, 16),
    "ties": (0, 15),
    "crawford": (0, 1),
    "was_crawford": (0, 1),
    "winner": (-1, 1),
    "level": (0, 3),
    "ending": (0, 3),
    "score": (0, 2**31 - 1),
    "won": (0, 2**31 - 1),
    "turns": (0, 2**31 - 1),
    "games": (0, 2**31 - 1),
}
"""The ranges of the fields of a STATE, but for `points` and `cube`, which the settings bound."""


def _refuse(what: str) -> NoReturn:
    msg = f"what was saved {what}: give the return value of save()"
    raise SettingsError(msg)


def _arguments(plan: np.void) -> str:
    """A PLAN record as the arguments that made it."""
    seat = {-1: "opponent=None", SEAT_BY_KEY: "seat=None"}.get(int(plan["seat"]), f"seat={plan['seat']}")
    names = {item.kind: item.name for item in REWARDS.values()}
    reward = names.get(int(plan["reward"]), "a user's own")
    mode = "same_step" if plan["same_step"] else "next_step or disabled"
    return f"{seat}, reward={reward}, autoreset_mode {mode}, max_episode_steps={plan['limit'] or None}"


def read_saved(saved: Any, plan: Plan, options: EnvOptions, n: int) -> tuple[States, Slots, npt.NDArray[np.int64]]:
    """States, slots and dice of what was saved.

    Args:
        saved: see `VectorEnv.save`.
        plan: the PLAN of the batch that it is for.
        options: likewise.
        n: likewise, its number of games.

    Raises:
        SettingsError: it is not what `save` gives, or was saved by a batch of another kind.
    """
    settings = options.settings
    if not isinstance(saved, Mapping):
        msg = f"restore() takes the return value of save(), not {quoted(saved)}"
        raise SettingsError(msg)
    missing = [name for name in _PARTS if name not in saved]
    if missing:
        _refuse(f"has no {', '.join(missing)}")
    for name, dtype in (("plan", PLAN), ("states", STATE), ("slots", SLOT)):
        part = saved[name]
        if not isinstance(part, np.ndarray) or part.dtype != dtype or part.ndim != 1:
            _refuse(f"is not of this version of bg_env, or {name} is something else")
    states, slots = saved["states"], saved["slots"]
    if Settings.parse(str(saved["settings"])) != settings or len(states) != n:
        theirs = f"{len(states)} games of {saved['settings']}"
        msg = f"saved were {theirs}: this environment has {n} games of {settings}"
        raise SettingsError(msg)
    if len(saved["plan"]) != 1 or len(slots) != n:
        _refuse("is not complete")
    kept = saved["plan"][0]
    if any(kept[name] != plan[0][name] for name in ("seat", "reward", "same_step", "limit")):
        msg = f"saved was a batch with {_arguments(kept)}: this environment has {_arguments(plan[0])}"
        raise SettingsError(msg)
    reward = str(saved.get("reward", options.reward.name))  # only that of a user is saved
    if reward != options.reward.name:
        msg = f"saved was a batch with the reward {quoted(reward)}: this environment has {quoted(options.reward.name)}"
        raise SettingsError(msg)
    dice = _dice(saved["dice"])
    _check_states(states, settings)
    _check_slots(slots, states, int(kept["seat"]), len(dice))
    return states, slots, dice


def _dice(given: Any) -> npt.NDArray[np.int64]:
    dice = np.asarray(given) if isinstance(given, np.ndarray) else np.empty(0)
    if dice.ndim != 2 or dice.shape[1] != 2 or dice.dtype.kind not in "iu" or (len(dice) and not _within(dice, 1, 6).all()):
        _refuse("has dice that are not pairs of numbers from 1 to 6")
    return dice.astype(np.int64)


def _within(values: Any, low: int, high: int) -> npt.NDArray[np.bool_]:
    """Whether all values of each game are in the range."""
    inside: npt.NDArray[np.bool_] = ((values >= low) & (values <= high)).reshape(len(values), -1).all(axis=1)
    return inside


def _need(right: Any, what: str) -> None:
    if not right.all():
        _refuse(f"has a wrong {what} in game {int(np.argmin(right))}")


def _check_states(states: States, settings: Settings) -> None:
    """Refuse states that no game comes to."""
    for name, (low, high) in _RANGES.items():
        _need(_within(states[name], low, high), name)
    _need(_within(states["cube"], 0, settings.cap_log2), "cube")
    _need(((states["left"] == 0) | (states["dice"] > 0)).all(axis=1), "dice")
    points, checkers = states["points"], settings.variant.checkers
    _need(_within(points, 0, checkers) & (points.sum(axis=2) == checkers).all(axis=1), "number of checkers")
    shared = (points[:, 0, 1:25] > 0) & (points[:, 1, 24:0:-1] > 0)
    _need(~shared.any(axis=1), "point, held by both players,")


def _check_slots(slots: Slots, states: States, seat: int, rolls: int) -> None:
    """Refuse slots that do not fit the states, the seat asked for (as of a PLAN) or the number of rolls given in advance."""
    _need(_within(slots["over"], RUNNING, ENDED_UNSEEN), "over")
    seats = (-1, -1) if seat < 0 else (0, 1) if seat == SEAT_BY_KEY else (seat, seat)
    _need(_within(slots["seat"], *seats), "seat")
    _need(_within(slots["actor"], -1, 1), "actor")
    _need(_within(slots["starter"], -1, 1), "starter")
    _need(_within(slots["length"], 0, 2**31 - 1) & (slots["episode"] >= 0), "episode")
    _need(np.isfinite(slots["total"]) & np.isfinite(slots["gain"]), "reward")
    _need((slots["queued"] >= 0) & (slots["queued"] <= slots["queue_end"]) & (slots["queue_end"] <= rolls), "queue of dice")
    waits = (states["decider"] >= 0) & ((slots["seat"] < 0) | (states["decider"] == slots["seat"]))
    _need(waits | (slots["over"] != RUNNING), "decider")
