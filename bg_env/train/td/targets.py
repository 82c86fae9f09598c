"""What the positions of self-play are fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.players.valuenet.net import FLIP
from bg_env.train.td.self_play import BROKEN, TERMINAL

__all__ = ["td_targets"]

Floats = npt.NDArray[np.float32]


def flipped(answers: Floats) -> Floats:
    """Answers (n, 6) or (n, 1) as the other player sees them."""
    return answers[:, FLIP] if answers.shape[1] == len(FLIP) else -answers


def td_targets(
    answers: Floats, seen: Any, kind: Any, lam: float, cubes: Any = None, exact: Floats | None = None
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """TD(lambda) targets within a stretch of turns.

    Where the mean over the rolls to come is known, it stands for the answer that one of them led to, and what followed corrects
    it only by as much as it was a surprise to the net: the luck of the dice cancels out (control variates, De Asis and Sutton
    2018).

    Args:
        answers: float32 (turns + 1, games, 6 or 1): the net's answer to each position, at the end of a game what it came to,
            as player `seen` sees it.
        seen: int8 (turns + 1, games): that player.
        kind: int8 (turns + 1, games): GOES_ON, TERMINAL or BROKEN (see `selfplay`).
        lam: lambda, 0 to 1.
        cubes: integers (turns + 1, games): log2 of the cube that the answers are in units of; None: they are absolute.
        exact: like `answers`: means over the rolls to come, NaN where they are not known; None: nowhere.

    Returns:
        The targets of all rows but the last, (turns, games, 6 or 1), and which of them are any: a finished game has no
        successor.
    """
    turns = len(answers) - 1
    targets = np.zeros((turns, *answers.shape[1:]), np.float32)
    known = np.zeros((turns, answers.shape[1]), bool)
    ahead = answers[turns]
    for t in range(turns - 1, -1, -1):
        target, answer = np.float32(lam) * ahead + np.float32(1 - lam) * answers[t + 1], answers[t + 1].copy()
        ended = kind[t + 1] == TERMINAL
        target[ended] = answer[ended]
        turned = seen[t] != seen[t + 1]
        target[turned], answer[turned] = flipped(target[turned]), flipped(answer[turned])
        if cubes is not None:
            unit = np.exp2(cubes[t + 1].astype(np.float32) - cubes[t])[:, None]
            target, answer = target * unit, answer * unit
        known[t] = (kind[t] != TERMINAL) & (kind[t + 1] != BROKEN)
        if exact is not None:
            sure = ~np.isnan(exact[t, :, 0])
            target = np.where(sure[:, None], exact[t] + np.where(known[t][:, None], target - answer, 0), target)
            known[t] |= sure
        targets[t] = target
        ahead = np.where(known[t][:, None], target, answers[t])
    return targets, known
