"""Common parts of the checks: failure, comparison, choice of actions, and the demands on every view and info."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from bg_env.actions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from bg_env.batch.info import INFO_KEYS

__all__ = ["GAMES", "Choose", "check_info", "check_view", "chooser", "mask_of", "need", "same"]

GAMES = 4
"""Episodes that a check plays by default."""

Choose = Callable[[Any], int]
"""Draws an action from a mask."""


def need(ok: Any, message: str) -> None:
    """Raise AssertionError with `message` unless `ok`; also under `python -O`."""
    if not ok:
        raise AssertionError(message)


def same(one: Any, other: Any) -> bool:
    """Whether two values returned by environments are equal, dtypes, shapes and the order of keys included."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return all(map(same, one.flat, other.flat)) if one.dtype == object else bool((one == other).all())
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def chooser(seed: int) -> Choose:
    """A choice at random from masks: the cube is turned one time in ten, so that games get long, one double in four dropped."""
    rng = np.random.default_rng(seed)

    def choose(mask: Any) -> int:
        legal = np.flatnonzero(mask)
        if ROLL in legal:
            return DOUBLE if rng.random() < 0.1 else ROLL
        if TAKE in legal:
            if BEAVER in legal and rng.random() < 0.5:
                return BEAVER
            return DROP if rng.random() < 0.25 else TAKE
        return int(rng.choice(legal))

    return choose


def mask_of(observation: Any, info: Mapping[str, Any]) -> npt.NDArray[np.int8]:
    """The action mask, from the observation or from the info."""
    mask: npt.NDArray[np.int8] = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
    return mask


def check_view(view: Any, space: gymnasium.Space[Any], who: str) -> None:
    """Check an observation of `who`: its space, the order of its keys and the dtype of its mask."""
    need(view in space, f"the observation of {who} is not in its observation space")
    if isinstance(view, dict):
        need(
            list(view) == ["observation", "action_mask"],
            f"{who} sees the keys {list(view)}, not observation, action_mask",
        )
        need(view["action_mask"].dtype == np.int8, f"the mask of {who} is {view['action_mask'].dtype}, not int8")


def check_info(info: Mapping[str, Any], before: int) -> None:
    """Check the keys of an info and the sense of its values; `before` is the number of turns in the last one."""
    keys = tuple(INFO_KEYS)
    need(tuple(info)[: len(keys)] == keys, f"an info must begin with {keys}, not with {tuple(info)[: len(keys)]}")
    need(set(info) <= {*INFO_KEYS, "action_mask"}, f"an info has keys that are not known: {list(info)}")
    found = {key: info[key] for key in INFO_KEYS}
    need(
        all(isinstance(value, (int, np.integer)) for value in found.values()),
        f"the values of infos must be integers, not {found}",
    )
    ended = found["winner"] >= 0
    need(ended == (found["level"] > 0) == (found["points"] > 0), f"winner, level and points disagree: {found}")
    if ended and found["player"] < 0:  # while a match goes on, the cube is the next game's
        need(found["points"] == found["level"] * found["cube"], f"points are not level x cube: {found}")
    need(found["turns"] >= before, f"turns went back from {before}: {found}")
