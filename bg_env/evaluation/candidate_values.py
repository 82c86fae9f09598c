"""The values of the candidates of decisions, as a player that knows probabilities sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.errors import SettingsError, quoted
from bg_env.evaluation.decisions import Decisions
from bg_env.players import GnubgPlayer, ValuePlayer
from bg_env.players.janowski import CUBE_LIFE, CubeLines, cube_lines, cube_values
from bg_env.players.protocol import name_of
from bg_env.rules import Phase, Rules, States

__all__ = ["candidate_values", "knows_values"]

Floats = npt.NDArray[np.float64]


@kernel
def _write_values(
    states: States, rules: Rules, probabilities: Floats, life: float, arrays: tuple[Floats, ...], out: Floats
) -> None:
    """The values of states before a roll, in a turn of the cube, or over, to `turn`, in points, into `out`."""
    lines = CubeLines(*arrays)
    for i in range(states.shape[0]):
        s = states[i]
        if s["winner"] >= 0:
            out[i] = s["won"] if s["winner"] == s["turn"] else -s["won"]
            continue
        values = cube_values(states, i, rules, probabilities, i, life if rules[0]["cube"] else 0.0, lines)
        out[i] = values.stands
        if s["phase"] == Phase.ROLL_OR_DOUBLE:
            out[i] = max(values.stands, min(values.taken, values.dropped))
        elif s["phase"] == Phase.TAKE_OR_DROP:
            out[i] = min(values.taken, values.dropped)


def knows_values(player: Any) -> bool:
    """Whether the player has probabilities of outcomes: a `ValuePlayer` with a net of kind "odds", or gnubg."""
    return isinstance(player, GnubgPlayer) or (isinstance(player, ValuePlayer) and player.net.kind == "odds")


def candidate_values(player: Any, decisions: Decisions) -> Floats:
    """The values of all candidates to the players who decide, in points at the present cube, by a player's probabilities.

    Where a cube is in play, they are values of Janowski's model. A double is answered as it is best for the other side.

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
    probabilities = np.zeros((len(after), 6))
    if not over.all():
        probabilities[~over] = player.probabilities(after[~over])
    out = np.empty(len(after))
    life = float(getattr(player, "cube_life", CUBE_LIFE))
    _write_values(after, decisions.settings.record(), probabilities, life, tuple(cube_lines()), out)
    before = decisions.states[decisions.owners]
    found: Floats = np.where(after["turn"] == before["decider"], out, -out) / 2.0 ** before["cube"]
    return found
