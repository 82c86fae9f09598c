"""The values of the candidates of decisions, as a player that knows probabilities sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env.errors import SettingsError, quoted
from bg_env.evaluation.candidates import Judge
from bg_env.evaluation.decisions import Decisions
from bg_env.players import GnubgPlayer, ValuePlayer
from bg_env.players.protocol import name_of
from bg_env.rules import Phase

__all__ = ["candidate_values", "knows_values"]

Floats = npt.NDArray[np.float64]


def knows_values(player: Any) -> bool:
    """Whether the player has probabilities of outcomes: a `ValuePlayer` with a net of kind "odds", or gnubg."""
    return isinstance(player, GnubgPlayer) or (isinstance(player, ValuePlayer) and player.net.kind == "odds")


def candidate_values(player: Any, decisions: Decisions) -> Floats:
    """The values of all candidates to the players who decide, in points at the present cube, by a player's probabilities.

    Where a cube is in play, they are values of Janowski's model, or of the exact tables where these decide. A double is
    answered as it is best for the other side.

    Args:
        player: bound to the settings of the decisions; see `knows_values`.
        decisions: without named doubles among their candidates.

    Returns:
        float64 (m,).

    Raises:
        SettingsError: the player has no probabilities of outcomes, or the candidates name doubles.
    """
    if not knows_values(player):
        msg = (
            "an evaluator is None for the values of the set, or a player with probabilities of outcomes, such as 'td:1' or "
            f"'gnubg:2', not {quoted(name_of(player))}"
        )
        raise SettingsError(msg)
    after = decisions.after.copy()
    if (after["phase"] == Phase.CHOOSE_DOUBLE).any() or (after["phase"] == Phase.CHECKER).any():
        msg = "the candidates of Acey-Deucey's 1-2 are not positions before a roll: use the values of the set, evaluator=None"
        raise SettingsError(msg)
    over = after["winner"] >= 0
    out = np.where(after["winner"] == after["turn"], after["won"], -after["won"]).astype(np.float64)
    rest = after[~over]
    if len(rest):
        cube = Judge(player, decisions.settings).cube(rest)
        doubled = np.minimum(cube.taken, cube.dropped)
        phases = rest["phase"]
        values = np.where(phases == Phase.ROLL_OR_DOUBLE, np.maximum(cube.stands, doubled), cube.stands)
        out[~over] = np.where(phases == Phase.TAKE_OR_DROP, doubled, values) * 2.0 ** rest["cube"]
    before = decisions.states[decisions.owners]
    found: Floats = np.where(after["turn"] == before["decider"], out, -out) / 2.0 ** before["cube"]
    return found
