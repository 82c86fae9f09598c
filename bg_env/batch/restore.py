"""Checks of what `VectorEnv.restore` is given: kernels trust every number in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.batch.layout import PLAN, SEAT_BY_KEY, SLOT, Plan, Slots
from bg_env.batch.possible import check_possible, refuse_saved
from bg_env.errors import SettingsError, quoted
from bg_env.options import EnvOptions
from bg_env.rewards import REWARDS
from bg_env.rules import STATE, Settings, States

__all__ = ["read_saved"]

_PARTS: Final = ("settings", "plan", "states", "slots", "dice")


def _arguments(plan: np.void) -> str:
    """A PLAN record as the arguments that made it."""
    seat = {-1: "opponent=None", SEAT_BY_KEY: "seat=None"}.get(int(plan["seat"]), f"seat={plan['seat']}")
    names = {item.kind: item.name for item in REWARDS.values()}
    reward = names.get(int(plan["reward"]), "a user's own")
    mode = "same_step" if plan["same_step"] else "next_step or disabled"
    return f"{seat}, reward={reward}, autoreset_mode {mode}, max_episode_steps={plan['limit'] or None}"


def read_saved(saved: Any, plan: Plan, options: EnvOptions, mode: str, n: int) -> tuple[States, Slots, npt.NDArray[np.int64]]:
    """States, slots and dice of what was saved.

    Args:
        saved: see `VectorEnv.save`.
        plan: the PLAN of the batch that it is for.
        options: likewise.
        mode: likewise, its autoreset mode.
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
        refuse_saved(f"has no {', '.join(missing)}")
    for name, dtype in (("plan", PLAN), ("states", STATE), ("slots", SLOT)):
        part = saved[name]
        if not isinstance(part, np.ndarray) or part.dtype != dtype or part.ndim != 1:
            refuse_saved(f"is not of this version of bg_env, or {name} is something else")
    states, slots = saved["states"], saved["slots"]
    if Settings.parse(str(saved["settings"])) != settings or len(states) != n:
        theirs = f"{len(states)} games of {saved['settings']}"
        msg = f"saved were {theirs}: this environment has {n} games of {settings}"
        raise SettingsError(msg)
    if len(saved["plan"]) != 1 or len(slots) != n:
        refuse_saved("is not complete")
    kept = saved["plan"][0]
    if any(kept[name] != plan[0][name] for name in ("seat", "reward", "same_step", "limit")):
        msg = f"saved was a batch with {_arguments(kept)}: this environment has {_arguments(plan[0])}"
        raise SettingsError(msg)
    theirs = str(saved.get("autoreset_mode", mode))  # version 0.1 saved none
    if theirs != mode:
        msg = f"saved was a batch with autoreset_mode {quoted(theirs)}: this environment has {quoted(mode)}"
        raise SettingsError(msg)
    reward = str(saved.get("reward", options.reward.name))  # only that of a user is saved
    if reward != options.reward.name:
        msg = f"saved was a batch with the reward {quoted(reward)}: this environment has {quoted(options.reward.name)}"
        raise SettingsError(msg)
    dice = _dice(saved["dice"])
    check_possible(states, slots, plan, settings, len(dice))
    return states, slots, dice


def _dice(given: Any) -> npt.NDArray[np.int64]:
    dice = np.asarray(given) if isinstance(given, np.ndarray) else np.empty(0)
    if dice.ndim != 2 or dice.shape[1] != 2 or dice.dtype.kind not in "iu" or (dice < 1).any() or (dice > 6).any():
        refuse_saved("has dice that are not pairs of numbers from 1 to 6")
    return dice.astype(np.int64)
