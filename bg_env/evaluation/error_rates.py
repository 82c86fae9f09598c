"""Error rates of players on fixed decisions, without games."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env.checks import checked_seed
from bg_env.errors import IllegalActionError
from bg_env.evaluation.candidate_values import candidate_values, knows_values
from bg_env.evaluation.decisions import (
    DECISION_KINDS,
    ESTIMATED,
    POSITION_KINDS,
    Decisions,
    decision_kinds,
    do_steps,
    losses_of,
    position_kinds,
    reference_decisions,
)
from bg_env.observations import Encoder
from bg_env.players import ask, player_for
from bg_env.players.protocol import name_of
from bg_env.rules import Phase, Settings, States

__all__ = ["ErrorReport", "ErrorRow", "measure_errors"]

RATE: Final = 500
"""An error rate is this times the mean loss a decision, as backgammon programs state it."""
_STEPS: Final = 4
_ASKED: Final = 100
"""Decisions asked about at once, between calls of `progress`."""
_Z: Final = 1.959963984540054

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ErrorRow:
    """The errors in some of the decisions.

    Attributes:
        name: the kind of decision or position; "all".
        decisions: their number.
        error_rate: 500 times the mean loss a decision.
        low: the lower end of its 95 % interval, over a sample of decisions like these.
        high: its upper end.
        best: the share of decisions in which the best candidate was chosen.
    """

    name: str
    decisions: int
    error_rate: float
    low: float
    high: float
    best: float


@dataclass(frozen=True, eq=False)
class ErrorReport:
    """The errors of a player on fixed decisions.

    Attributes:
        player: its name.
        positions: the name of the set of decisions.
        evaluator: by whose values a loss is judged. A player is measured against it, with its faults.
        settings: the settings in force.
        total: over all decisions.
        by_decision: by kind of decision, the kinds that occur.
        by_position: by kind of position, the kinds that occur.
        rms: root-mean-square difference of the player's own values of candidates from those of the evaluator, in points, over
            all but estimated ones; None of players without such values, and with a cube.
        drawn: "" of a deterministic player; "expected" where losses are means over the probabilities that the player states,
            "sampled" where the player draws its choices and each decision was drawn once.
        seed: of the random words that the player was given.
        losses: float64 (n,), points at the present cube that each decision cost.
        chosen: int64 (n,), the numbers of the chosen candidates, as in `Decisions`; -1 where `drawn` is "expected".
        complete: whether it covers the whole set; not after Ctrl-C.
    """

    player: str
    positions: str
    evaluator: str
    settings: Settings
    total: ErrorRow
    by_decision: tuple[ErrorRow, ...]
    by_position: tuple[ErrorRow, ...]
    rms: float | None
    drawn: str
    seed: int
    losses: Floats
    chosen: Integers
    complete: bool

    @property
    def error_rate(self) -> float:
        """500 times the mean loss a decision."""
        return self.total.error_rate

    @property
    def mean_loss(self) -> float:
        """The mean loss a decision, in points at the present cube."""
        return self.total.error_rate / RATE

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the error rate."""
        return self.total.low, self.total.high

    def to_dict(self) -> dict[str, Any]:
        """The report as values that JSON has, without the single decisions."""
        return {
            "player": self.player,
            "positions": self.positions,
            "evaluator": self.evaluator,
            "settings": str(self.settings),
            "decisions": self.total.decisions,
            "error_rate": self.error_rate,
            "interval": list(self.interval),
            "mean_loss": self.mean_loss,
            "best": self.total.best,
            "rms": self.rms,
            "drawn": self.drawn,
            "seed": self.seed,
            "by_decision": {row.name: _row(row) for row in self.by_decision},
            "by_position": {row.name: _row(row) for row in self.by_position},
        }

    def text(self) -> str:
        """The report as a table."""
        drawn = {
            "": "",
            "expected": ", mean over its stated probabilities",
            "sampled": f", one draw a decision, seed {self.seed}",
        }
        rate = f"{self.error_rate:.2f} ({self.total.low:.2f}, {self.total.high:.2f})"
        lines = [
            f"{self.player}: error rate {rate} by {self.evaluator}{drawn[self.drawn]}",
            f"{self.total.decisions:,} decisions of {self.positions} ({self.settings}); 500 x mean loss, with 95 % intervals",
        ]
        if self.rms is not None:
            lines.append(f"rms difference of its values from the evaluator's: {self.rms:.4f} points")
        lines.append("")
        rows = [*(self.by_decision if len(self.by_decision) > 1 else ()), *self.by_position, self.total]
        width = max(len(row.name) for row in rows)
        lines.append(f"{'':{width}} {'decisions':>9} {'error rate':>22} {'best chosen':>12}")
        for row in rows:
            rate = f"{row.error_rate:.2f} ({row.low:.2f}, {row.high:.2f})"
            lines.append(f"{row.name:{width}} {row.decisions:>9,} {rate:>22} {row.best:>12.0%}")
        return "\n".join(lines)


def _row(row: ErrorRow) -> dict[str, Any]:
    return {"decisions": row.decisions, "error_rate": row.error_rate, "interval": [row.low, row.high], "best": row.best}


def measure_errors(
    player: Any,
    positions: Any = "standard",
    evaluator: Any = None,
    *,
    observation: str | Encoder = "tesauro",
    mask: str = "both",
    seed: int = 1,
    progress: Callable[[int], object] | None = None,
) -> ErrorReport:
    """The error rate of a player: 500 times the mean loss of its choices on fixed decisions with a choice each.

    A loss is the value of the best candidate less that of the one chosen. A player that draws its choices is judged by its
    probabilities where it states them, by a method `action_probabilities(states)`, float (n, actions); else each decision is
    drawn once.

    Args:
        player: a name, an object with `choose` or `choose_plays`, a model, or a callable, as of
            `bg_env.players.player_for`. It is asked at the positions of the set, which have no history and no score.
        positions: the decisions: "standard" or "hypergammon", which come with the package; the path of a file
            that `Decisions.save` wrote; or a `bg_env.evaluation.decisions.Decisions`.
        evaluator: None for the values of the set (rollouts, exact values); or a player with probabilities of outcomes, or its
            name, by which all candidates are evaluated instead: "td", "td:1", "gnubg:2".
        observation: the encoder of what a callable is shown.
        mask: how a callable is shown the action mask, see `FunctionPlayer`.
        seed: of the random words that a player is given.
        progress: called with the number of decisions judged since the last call.

    Returns:
        The report. After Ctrl-C it covers the decisions judged so far, and its `complete` is False.

    Raises:
        SettingsError: an argument is refused, or the player does not play under the settings of the decisions.
        IllegalActionError: the player chose something that is not legal.
    """
    decisions = reference_decisions(positions)
    settings = decisions.settings
    judged = player_for(player, settings, observation=observation, mask=mask)
    checked_seed(seed)
    values, judge = decisions.values, decisions.evaluator
    if evaluator is not None:
        chosen = player_for(evaluator, settings)
        values, judge = candidate_values(chosen, decisions), name_of(chosen)
    losses = losses_of(values, decisions.offsets)
    by_shares = hasattr(judged, "action_probabilities") and not getattr(judged, "deterministic", False)
    drawn, found, lost, best = _judged(judged, decisions, losses, seed, by_shares, progress)
    n = len(lost)
    rms = None
    if knows_values(judged) and not (settings.cube or settings.variant.acey_deucey):
        known = decisions.methods != ESTIMATED if evaluator is None else np.ones(len(values), np.bool_)
        rms = float(np.sqrt(np.mean((candidate_values(judged, decisions) - values)[known] ** 2)))
    states = decisions.states[:n]
    kinds, places = decision_kinds(states), position_kinds(states, settings)
    return ErrorReport(
        player=name_of(judged),
        positions=decisions.name,
        evaluator=judge,
        settings=settings,
        total=_summary("all", lost, best),
        by_decision=_rows(DECISION_KINDS, kinds, lost, best),
        by_position=_rows(POSITION_KINDS, places, lost, best),
        rms=rms,
        drawn=drawn,
        seed=seed,
        losses=lost,
        chosen=found,
        complete=n == len(decisions.states),
    )


def _judged(
    asked: Any, decisions: Decisions, losses: Floats, seed: int, by_shares: bool, progress: Callable[[int], object] | None
) -> tuple[str, Integers, Floats, Floats]:
    """How the choices were found, the candidates chosen, their losses, and the shares of best choices; less after Ctrl-C.

    Raises:
        KeyboardInterrupt: before anything was judged.
    """
    rng = np.random.default_rng(seed)
    found, lost, best = [], [], []
    try:
        for lo in range(0, len(decisions.states), _ASKED):
            hi = min(lo + _ASKED, len(decisions.states))
            if by_shares:
                part = np.full(hi - lo, -1)
                mean, share = _expected(asked, decisions, losses, lo, hi)
            else:
                part = _chosen(asked, decisions, lo, hi, rng)
                mean, share = losses[part], (losses[part] <= 0).astype(np.float64)
            found.append(part)
            lost.append(mean)
            best.append(share)
            if progress is not None:
                progress(hi - lo)
    except KeyboardInterrupt:
        if not lost:
            raise
    drawn = "expected"
    if not by_shares:
        again = _chosen(asked, decisions, 0, len(found[0]), rng)  # with other random words
        drawn = "sampled" if (again != found[0]).any() else ""
    return drawn, np.concatenate(found), np.concatenate(lost), np.concatenate(best)


def _rows(names: tuple[str, ...], kinds: Integers, losses: Floats, best: Floats) -> tuple[ErrorRow, ...]:
    """The errors by kind, of the kinds that occur."""
    present = [(name, kinds == k) for k, name in enumerate(names) if (kinds == k).any()]
    return tuple(_summary(name, losses[which], best[which]) for name, which in present)


def _summary(name: str, losses: Floats, best: npt.NDArray[Any]) -> ErrorRow:
    n = len(losses)
    rate = RATE * float(losses.mean())
    half = _Z * RATE * float(losses.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return ErrorRow(name, n, rate, max(rate - half, 0.0), rate + half, float(np.mean(best)))


def _chosen(asked: Any, decisions: Decisions, lo: int, hi: int, rng: np.random.Generator) -> Integers:
    """The candidates that a player chooses in the decisions `lo` to `hi - 1`."""
    states = decisions.states[lo:hi].copy()
    rules = decisions.settings.record()
    waiting = np.arange(len(states))
    for _ in range(_STEPS):
        part = states[waiting]
        words = rng.integers(0, 2**64, len(part), np.uint64, endpoint=False)
        choices = ask(asked, part.copy(), words)
        steps = np.full((len(part), _STEPS), -1, np.int64)
        steps[choices.moving] = choices.plays
        steps[choices.acting, 0] = choices.actions
        done = do_steps(part, rules, steps) & (steps[:, 0] >= 0)
        if not done.all():
            k = int(np.argmin(done))
            taken = [action for action in steps[k].tolist() if action >= 0]
            msg = f"{name_of(asked)} chose {taken}, which is not legal, in decision {lo + int(waiting[k])}"
            raise IllegalActionError(msg)
        was_playing = states["phase"][waiting] == Phase.CHECKER
        states[waiting] = part
        waiting = waiting[was_playing & (part["phase"] == Phase.CHECKER)]
        if not len(waiting):
            break
    found = decisions.find(np.arange(lo, lo + len(states)), states)
    if (found < 0).any():
        k = lo + int(np.argmin(found))
        msg = f"{name_of(asked)} chose something that is not a whole play in decision {k}"
        raise IllegalActionError(msg)
    return found


def _expected(asked: Any, decisions: Decisions, losses: Floats, lo: int, hi: int) -> tuple[Floats, Floats]:
    """The mean loss of each decision and the probability of a choice without loss, by the probabilities of a player."""
    rules = decisions.settings.record()
    lost, best = np.zeros(hi - lo), np.zeros(hi - lo)
    states = decisions.states[lo:hi].copy()
    owners, weights = np.arange(hi - lo), np.ones(hi - lo)
    for _ in range(_STEPS):
        shares = _checked_shares(asked, states)
        row, action = np.nonzero(shares)
        before = states[row]
        states, owners, weights = before.copy(), owners[row], weights[row] * shares[row, action]
        if not do_steps(states, rules, action.reshape(-1, 1)).all():
            msg = f"{name_of(asked)} states a probability for an action that is not legal"
            raise IllegalActionError(msg)
        going = (before["phase"] == Phase.CHECKER) & (states["phase"] == Phase.CHECKER)
        ended = np.flatnonzero(~going)
        found = losses[decisions.find(lo + owners[ended], states[ended])]
        np.add.at(lost, owners[ended], weights[ended] * found)
        np.add.at(best, owners[ended], weights[ended] * (found <= 0))
        states, owners, weights = _merged(states[going], owners[going], weights[going])
        if not len(states):
            break
    return lost, best


def _merged(states: States, owners: Integers, weights: Floats) -> tuple[States, Integers, Floats]:
    """Equal states of the same decision as one, with the sum of their weights."""
    if not len(states):
        return states, owners, weights
    boards = states["points"].reshape(len(states), -1)
    keys = np.concatenate([owners.reshape(-1, 1), boards, states["left"]], axis=1)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    sums: Floats = np.bincount(group.ravel(), weights).astype(np.float64)
    return states[first], owners[first], sums


def _checked_shares(asked: Any, states: States) -> Floats:
    shares = np.asarray(asked.action_probabilities(states.copy()), np.float64)
    if shares.ndim != 2 or len(shares) != len(states) or not np.isfinite(shares).all() or (shares < 0).any():
        msg = f"{name_of(asked)} must state probabilities of shape ({len(states)}, actions), not {shares.shape}"
        raise IllegalActionError(msg)
    sums = shares.sum(axis=1, keepdims=True)
    if (np.abs(sums - 1) > 1e-3).any():
        msg = f"{name_of(asked)} states probabilities that do not add up to 1: {float(sums.max()):.4g}"
        raise IllegalActionError(msg)
    scaled: Floats = shares / sums
    return scaled
