"""TD(lambda) targets of the positions of self-play."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env.players.valuenet.net import FLIP
from bg_env.train.td.self_play import BROKEN, TERMINAL

__all__ = ["td_targets"]

Floats = npt.NDArray[np.float32]


def _flipped(outputs: Floats) -> Floats:
    """Outputs (n, 6) or (n, 1) as the other player sees them."""
    return outputs[:, FLIP] if outputs.shape[1] == len(FLIP) else -outputs


def td_targets(
    outputs: Floats,
    seats: npt.NDArray[np.int8],
    kinds: npt.NDArray[np.int8],
    lam: float,
    cubes: npt.NDArray[np.int8] | None = None,
    exact: Floats | None = None,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """TD(lambda) targets within a stretch of turns, see `bg_env.train.td.self_play.Trajectories`.

    Where the mean over the rolls to come is known, it replaces the output that one of them led to. What followed then corrects
    the mean only by the part that the net had not expected, so that the luck of the dice cancels out (control variates, De
    Asis and Sutton 2018).

    Args:
        outputs: float32 (turns + 1, games, 6 or 1), the net's outputs at each position, at the end of a game its result, as
            player `seats` sees it.
        seats: int8 (turns + 1, games), that player.
        kinds: int8 (turns + 1, games), GOES_ON, TERMINAL or BROKEN.
        lam: lambda, 0 to 1.
        cubes: integers (turns + 1, games), log2 of the cube that is the unit of the outputs; None if they have no unit.
        exact: like `outputs`, means over the rolls to come, NaN where unknown; None if unknown everywhere.

    Returns:
        float32 (turns, games, 6 or 1), the targets of all rows but the last.
        bool (turns, games), which of them are known: a position at the end of a game has no successor.
    """
    turns = len(outputs) - 1
    targets = np.zeros((turns, *outputs.shape[1:]), np.float32)
    known = np.zeros((turns, outputs.shape[1]), bool)
    ahead = outputs[turns]
    for t in range(turns - 1, -1, -1):
        target, output = np.float32(lam) * ahead + np.float32(1 - lam) * outputs[t + 1], outputs[t + 1].copy()
        ended = kinds[t + 1] == TERMINAL
        target[ended] = output[ended]
        turned = seats[t] != seats[t + 1]
        target[turned], output[turned] = _flipped(target[turned]), _flipped(output[turned])
        if cubes is not None:
            unit = np.exp2(cubes[t + 1].astype(np.float32) - cubes[t])[:, None]
            target, output = target * unit, output * unit
        known[t] = (kinds[t] != TERMINAL) & (kinds[t + 1] != BROKEN)
        if exact is not None:
            sure = ~np.isnan(exact[t, :, 0])
            target = np.where(sure[:, None], exact[t] + np.where(known[t][:, None], target - output, 0), target)
            known[t] |= sure
        targets[t] = target
        ahead = np.where(known[t][:, None], target, outputs[t])
    return targets, known
