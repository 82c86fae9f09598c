"""Measures of players by a solution: errors and exploitability in checker play."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env.exact.boards import TOUCHED, Boards, Plays, result_of, touchable_of
from bg_env.exact.numbering import ROLLS, WEIGHTS
from bg_env.exact.policy import Decisions
from bg_env.exact.policy_sweeps import Choices, add_losses, choose_best, visit, write_losses
from bg_env.exact.sweeps import Sweeper

__all__ = ["Errors", "Opening", "best_choices", "draw_decisions", "errors_of", "expected_visits", "responses", "sampled_errors"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STILL: Final = 1e-8
"""Sweeps end when no value changes by more."""
_FEW: Final = 1e-6
"""When so few visits are left the rest is extrapolated."""
_ROUNDS: Final = 50
"""The most draws of decisions, of which those without a choice are left out."""


class Errors(NamedTuple):
    """The errors of a player in checker play: its mean loss a decision against perfect play, in points at a cube of 1.

    A decision is a roll that can be played to two results or more.

    Attributes:
        met: the mean over the decisions that perfect play meets from the start, each as often as it meets it.
        uniform: the mean over the decisions of all positions, each roll weighted by its probability.
        met_error: the standard error of `met` where decisions were drawn; 0 where all were asked.
        uniform_error: likewise of `uniform`.
    """

    met: float
    uniform: float
    met_error: float = 0.0
    uniform_error: float = 0.0


class Opening(NamedTuple):
    """The first roll of a game.

    Attributes:
        board: the number of the board of each side.
        weights: float64 (21,), the probabilities of the rolls.
    """

    board: int
    weights: Floats

    @classmethod
    def of(cls, board: int, *, fresh: bool) -> Opening:
        """The first roll: without doubles, unless the winner of the opening throw rolls afresh (R2.3)."""
        weights = np.array([w if fresh or high != low else 0.0 for (high, low), w in zip(ROLLS, WEIGHTS, strict=True)])
        return cls(board, weights / weights.sum())

    def asked(self) -> Decisions:
        """Its decisions, one for each of the 21 rolls."""
        board = np.full(len(ROLLS), self.board)
        return Decisions(board, board, np.arange(len(ROLLS)))

    def results(self, boards: Boards, plays: Plays, choices: Integers) -> tuple[Integers, Integers]:
        """The boards after its plays: the other side's, and that of the side that has rolled."""
        at = plays.offsets[boards.blocked[self.board]][self.board * len(ROLLS) + np.arange(len(ROLLS))] + choices
        entries = plays.entries[at]
        touchable = touchable_of(self.board, boards)
        others = [result_of(entry, self.board, touchable, boards) for entry in entries]
        return np.array(others), entries >> TOUCHED


def best_choices(sweeper: Sweeper, values: Floats) -> Choices:
    """The choices of best play, by values (m, m) of the other side on roll after it."""
    m = len(values)
    choices = np.zeros((m, m, len(ROLLS)), np.uint8)
    sweeper.parts(lambda *part: choose_best(sweeper.boards, sweeper.plays, len(ROLLS), part, values, choices))
    return choices


def expected_visits(boards: Boards, plays: Plays, choices: Choices, opening: Opening) -> Floats:
    """How often a game meets each pair before a roll, if both sides play so: float64 (m, m); the first roll is left out."""
    m = len(boards.counts)
    visits, flow = np.zeros((m, m)), np.zeros((m, m))
    board = opening.board
    np.add.at(flow, opening.results(boards, plays, choices[board, board].astype(np.int64)), opening.weights)
    flow[:, 0] = 0
    before, left = 2.0, 1.0
    while left > _FEW:
        later = np.zeros((m, m))
        before, left = left, visit(boards, plays, WEIGHTS, choices, flow, later, visits)
        flow = later
    if 0 < left < before:  # what is left falls in a constant ratio from here on
        flow /= 1 - left / before
        visit(boards, plays, WEIGHTS, choices, flow, np.zeros((m, m)), visits)
    return visits


def responses(sweeper: Sweeper, choices: Choices, values: Floats, still: float = STILL) -> tuple[Floats, Floats, float]:
    """The values of best play against a policy.

    Args:
        sweeper: to sweep with.
        choices: the policy's.
        values: those of perfect play, to begin with.
        still: sweeps end when no value changes by more.

    Returns:
        best: float64 (m, m), to the side that plays best when it is on roll.
        fixed: float64 (m, m), to the policy when it is on roll.
        change: the largest change of the last sweep.
    """
    best, fixed = np.array(values), np.array(values)
    change, leave = 1.0, False
    while change > still:
        best, fixed, change = sweeper.respond(choices, best, fixed, leave=leave)
        leave = True
    return best, fixed, change


def losses_of(boards: Boards, plays: Plays, asked: Decisions, choices: Integers, values: Floats) -> Floats:
    """The losses of choices: float64 (n,), -1 where there is no decision."""
    out = np.empty(len(choices))
    write_losses(boards, plays, len(ROLLS), asked.plain, choices, values, out)
    return out


def errors_of(sweeper: Sweeper, choices: Choices, values: Floats, visits: Floats, opening: Opening) -> Errors:
    """The errors of a policy over all positions."""
    sums = np.zeros((len(values), 4))
    boards, plays = sweeper.boards, sweeper.plays
    sweeper.parts(lambda *part: add_losses(boards, plays, WEIGHTS, part, choices, values, visits, sums))
    met, meetings, uniform, decisions = sums.sum(axis=0).tolist()
    first = losses_of(boards, plays, opening.asked(), choices[opening.board, opening.board].astype(np.int64), values)
    met += float((opening.weights * np.maximum(first, 0)).sum())
    meetings += float((opening.weights * (first >= 0)).sum())
    return Errors(met / max(meetings, 1e-300), uniform / max(decisions, 1e-300))


def sampled_errors(
    ask: Any,
    boards: Boards,
    plays: Plays,
    values: Floats,
    visits: Floats,
    opening: Opening,
    count: int,
    rng: np.random.Generator,
) -> Errors:
    """The errors of a player over drawn decisions; `ask` returns the choices of some."""
    found = []
    for weights in (visits, None):
        losses = [np.empty(0)]
        for _ in range(_ROUNDS):
            asked = draw_decisions(boards, weights, opening, count, rng)
            none = np.zeros(count, np.int64)
            real = losses_of(boards, plays, asked, none, values) >= 0
            asked = asked.part(np.flatnonzero(real)[: count - sum(map(len, losses))])
            if len(asked.own):
                losses.append(losses_of(boards, plays, asked, ask(asked), values))
        joined = np.concatenate(losses)
        joined = joined if len(joined) else np.zeros(1)  # a game without decisions
        found.append((float(joined.mean()), float(joined.std() / np.sqrt(max(count - 1, 1)))))
    (met, met_error), (uniform, uniform_error) = found
    return Errors(met, uniform, met_error, uniform_error)


def draw_decisions(boards: Boards, visits: Floats | None, opening: Opening, count: int, rng: np.random.Generator) -> Decisions:
    """Positions with rolls, drawn as perfect play meets them, the first roll included; without visits uniformly."""
    rolls = rng.choice(len(ROLLS), count, p=WEIGHTS)
    if visits is None:
        own, other = np.empty(0, np.int64), np.empty(0, np.int64)
        while len(own) < count:
            pairs = rng.integers(1, len(boards.counts), (2, 2 * count))
            stand = np.flatnonzero(boards.held[pairs[0]] & boards.turned[pairs[1]] == 0)
            own, other = np.append(own, pairs[0, stand]), np.append(other, pairs[1, stand])
        return Decisions(own[:count], other[:count], rolls)
    cumulated = np.cumsum(visits)
    at = np.searchsorted(cumulated, rng.random(count) * (cumulated[-1] + 1.0), side="right")
    first = at >= visits.size
    pair = np.unravel_index(np.where(first, 0, at), visits.shape)
    rolls = np.where(first, rng.choice(len(ROLLS), count, p=opening.weights), rolls)
    return Decisions(np.where(first, opening.board, pair[0]), np.where(first, opening.board, pair[1]), rolls)
