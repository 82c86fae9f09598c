"""Checks of what users give to a batch: actions, seeds, the mask of a reset, the autoreset mode."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from bg_env.batch.layout import RUNNING
from bg_env.checks import MAX_SEED, checked_seed, is_whole
from bg_env.errors import IllegalActionError, SettingsError, quoted

__all__ = ["checked_actions", "read_mode", "read_reset_mask", "read_seeds"]


def read_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """The mode, given as such or by name, as Gymnasium ("NextStep") or Python ("next_step") writes it.

    Raises:
        SettingsError: no mode has that name.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and mode in (known.value, known.name, known.name.lower()):
            return known
    msg = f"autoreset_mode is next_step, same_step or disabled, not {quoted(mode)}"
    raise SettingsError(msg)


def read_reset_mask(mask: Any, n: int) -> npt.NDArray[np.bool_]:
    """The games to reset, bool (n,); None is all of them.

    Raises:
        SettingsError: no bool array of that shape with a True in it.
    """
    if mask is None:
        return np.ones(n, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.shape != (n,) or mask.dtype != np.bool_:
        shown = f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
        msg = f"option reset_mask is a bool array of shape ({n},), not {shown}"
        raise SettingsError(msg)
    if not mask.any():
        msg = "option reset_mask marks no game: it needs at least one True"
        raise SettingsError(msg)
    return np.array(mask, np.bool_)


def read_seeds(
    seed: Any, unseeded: npt.NDArray[np.bool_], which: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """The seeds of the games that get one, and which do: those given, and random ones where there has never been one.

    Raises:
        SettingsError: a seed is not a whole number from 0 to 2**64 - 1, or the list has another length.
    """
    n = len(which)
    given: list[int | None]
    if seed is None or is_whole(seed):
        given = [None] * n if seed is None else [_first_seed(seed, n) + i for i in range(n)]
    elif seed.ndim == 1 if isinstance(seed, np.ndarray) else isinstance(seed, Sequence) and not isinstance(seed, (str, bytes)):
        given = [None if item is None else checked_seed(item) for item in seed]
    else:
        given = [checked_seed(seed)]
    if len(given) != n:
        msg = f"seed is a number or a list of one for each of the {n} games, not {len(given)}"
        raise SettingsError(msg)
    named = np.array([item is not None for item in given])
    filled = [secrets.randbits(63) if item is None else item for item in given]
    return np.array(filled, np.uint64), (named | unseeded) & which


def _first_seed(seed: Any, n: int) -> int:
    """The seed of the first of `n` games, so that that of the last, n - 1 more, is a seed too."""
    first = checked_seed(seed)
    if first > MAX_SEED - (n - 1):
        msg = f"seed is at most 2**64 - {n} for {n} games, because game i gets the seed `seed + i`, not {first}"
        raise SettingsError(msg)
    return first


def _misfit(actions: Any, n: int) -> str:
    """The message about actions that are not an array of n integers; it names the first game that has none."""
    try:
        items = list(actions)
    except TypeError:
        return f"actions are {n} integers, one for each game, not {type(actions).__name__}"
    if len(items) != n:
        game = min(len(items), n)
        fault = f"game {game} gets none" if len(items) < n else f"there is no game {game}"
        return f"actions are {n} integers, one for each game, not {len(items)}: {fault}"
    for i, item in enumerate(items):
        if not is_whole(item) and not (isinstance(item, np.ndarray) and item.shape == () and item.dtype.kind in "iu"):
            shown = f"{item.dtype} of shape {item.shape}" if isinstance(item, (np.ndarray, np.generic)) else quoted(item)
            return f"the action of game {i} is an integer, not {shown}"
    return f"actions are integers that fit 64 bits, of shape ({n},)"


def checked_actions(actions: Any, size: int, over: npt.NDArray[Any] | None, n: int) -> npt.NDArray[np.int64]:
    """The actions as int64 (n,), each one of `Discrete(size)`; those of games that are over may be any integers.

    Raises:
        IllegalActionError: naming the game.
    """
    try:
        given = np.asarray(actions)
    except ValueError:  # ragged
        given = np.empty(0, object)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise IllegalActionError(_misfit(actions, n))
    chosen = np.ascontiguousarray(given, np.int64)
    if chosen.view(np.uint64).max() >= size:  # negative ones are large then
        wrong = (given < 0) | (given >= size)
        if over is not None:
            wrong &= over == RUNNING
        if wrong.any():
            i = int(np.argmax(wrong))
            msg = f"the action of game {i} is out of range: {given[i]} is not one of 0 to {size - 1}"
            raise IllegalActionError(msg)
        chosen = np.where((given < 0) | (given >= size), 0, chosen)
    return chosen
