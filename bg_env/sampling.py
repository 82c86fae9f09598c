"""Random legal actions from masks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import IllegalActionError, SettingsError, quoted

__all__ = ["sample"]

Mask: TypeAlias = npt.NDArray[np.int8] | npt.NDArray[np.uint8] | npt.NDArray[np.bool_]


@kernel
def _pick(mask: Mask, u: float) -> int:
    """The legal action at the share `u` of all of them, u in [0, 1); -1 if no action is legal."""
    n = 0
    for a in range(mask.shape[0]):
        if mask[a]:
            n += 1
    k = int(u * n)
    for a in range(mask.shape[0]):
        if mask[a]:
            if k == 0:
                return a
            k -= 1
    return -1


@kernel
def _pick_rows(mask: Mask, u: npt.NDArray[np.float64], out: npt.NDArray[np.int64]) -> int:
    """`_pick` for each row; returns the first row without a legal action, or -1."""
    for i in range(mask.shape[0]):
        n = 0
        for a in range(mask.shape[1]):
            if mask[i, a]:
                n += 1
        if n == 0:
            return i
        k = int(u[i] * n)
        a = 0
        while k > 0 or not mask[i, a]:
            if mask[i, a]:
                k -= 1
            a += 1
        out[i] = a
    return -1


def sample(mask: Mask, rng: np.random.Generator) -> Any:
    """Draw a legal action uniformly at random.

    Args:
        mask: int8, uint8 or bool; (actions,), or (n, actions) for n games; an action is legal where the mask is not 0.
        rng: a NumPy Generator, from which one number is drawn for each game. (For one game Python's `random.Random` works as
            well.)

    Returns:
        The action, an int; for n games int64 (n,).

    Raises:
        IllegalActionError: there is no legal action: it is another seat's turn, or the episode is over.
        SettingsError: `mask` or `rng` is something else.
    """
    try:
        if mask.ndim == 1 and mask.dtype.char in "b?B":
            action = _pick(mask, rng.random())
            if action >= 0:
                return action
            msg = "the mask has no legal action: this seat is not to act now, or the episode is over"
            raise IllegalActionError(msg)
        if mask.ndim == 2 and mask.dtype.char in "b?B":
            actions = np.empty(len(mask), np.int64)
            empty = _pick_rows(mask, rng.random(len(mask)), actions)
            if empty < 0:
                return actions
            msg = f"the mask of game {empty} has no legal action: nobody is to act there, or the episode is over"
            raise IllegalActionError(msg)
    except (AttributeError, TypeError):
        if isinstance(mask, np.ndarray):  # then it is the generator
            msg = f"rng must be a numpy.random.Generator, not {quoted(rng)}"
            raise SettingsError(msg) from None
    shown = f"{mask.dtype} array of shape {mask.shape}" if isinstance(mask, np.ndarray) else quoted(mask)
    msg = f"a mask is an int8, uint8 or bool array of shape (actions,) or (games, actions), not {shown}"
    raise SettingsError(msg)
