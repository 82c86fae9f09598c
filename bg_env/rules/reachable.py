"""Checks whether states can come from games: every field against the others, the settings and the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.rules.cube import at_stake, may_double
from bg_env.rules.legal import legal_sets
from bg_env.rules.scoring import BACKGAMMON, board_level, counted_level
from bg_env.rules.settings import Rules, Settings
from bg_env.rules.state import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_NONE,
    Phase,
    States,
)
from bg_env.rules.variant import BAR, OFF

__all__ = ["Flags", "Need", "check_reachable", "within"]

Flags = npt.NDArray[np.bool_]
Need = Callable[[Any, str], None]
"""Called with a bool for each state, and the name of what is wrong where it is False."""

_RANGES: Final = {
    "dice": (0, 6),
    "left": (0, 4),
    "turn": (-1, 1),
    "decider": (-1, 1),
    "phase": (0, int(Phase.OVER)),
    "stage": (0, 3),
    "owner": (-1, 1),
    "chain": (0, 16),
    "ties": (0, 15),
    "crawford": (0, 1),
    "was_crawford": (0, 1),
    "winner": (-1, 1),
    "level": (0, 3),
    "ending": (0, 3),
    "filler": (0, 0),
    "score": (0, 2**31 - 1),
    "won": (0, 2**31 - 1),
    "turns": (0, 2**30),
    "games": (0, 2**30),
}
"""The ranges of the fields of a STATE, but for `points` and `cube`, which the settings bound; counters have room to go on."""


def within(values: Any, low: float, high: float) -> Flags:
    """Whether all values of each game are in the range."""
    inside: Flags = ((values >= low) & (values <= high)).reshape(len(values), -1).all(axis=1)
    return inside


@kernel
def _derive(states: States, rules: Rules, out: npt.NDArray[np.int64]) -> None:
    """Compute what the rules derive from states whose fields are in their ranges.

    Args:
        states: STATE records (n,).
        rules: the RULES record.
        out: int64 (4, n), written: whether a checker can step, whether the player on roll may double, log2 of the points at
            stake, and the level at which the board makes the winner win.
    """
    for i in range(states.shape[0]):
        turn = max(np.int64(states[i]["turn"]), 0)
        high, low = legal_sets(states, i)
        out[0, i] = (high | low) != 0
        out[1, i] = may_double(states, i, rules, turn)
        out[2, i] = at_stake(states, i)
        winner = max(np.int64(states[i]["winner"]), 0)
        out[3, i] = counted_level(states, i, rules, board_level(states, i, 1 - winner))


def check_reachable(states: States, settings: Settings, need: Need) -> None:
    """Check states in which a player must decide, or the episode is over; `need` is to raise an error where one is impossible.

    Args:
        states: STATE records (n,).
        settings: in force.
        need: see `Need`.
    """
    for name, (low, high) in _RANGES.items():
        need(within(states[name], low, high), name)
    need(within(states["cube"], 0, settings.cap_log2 if settings.cube else 0), "cube")
    _check_board(states, settings, need)
    derived = np.zeros((4, len(states)), np.int64)
    _derive(states, settings.record(), derived)
    _check_settings(states, settings, need)
    _check_phase(states, settings, (derived[0] == 1, derived[1] == 1), need)
    _check_result(states, settings, (derived[2], derived[3]), need)


def _check_board(states: States, settings: Settings, need: Need) -> None:
    points, checkers = states["points"], settings.variant.checkers
    need(within(points, 0, checkers) & (points.sum(axis=2) == checkers).all(axis=1), "number of checkers")
    shared = (points[:, 0, 1:25] > 0) & (points[:, 1, 24:0:-1] > 0)
    need(~shared.any(axis=1), "point, held by both players,")
    closed: Flags = np.asarray((points[:, :, 1:7] >= 2).all(axis=2))
    need(~((points[:, :, BAR] > 0) & closed[:, ::-1]).all(axis=1), "position, in which nobody could ever step,")
    off = (points[:, :, OFF] == checkers).sum(axis=1)
    need((off == 0) | ((off == 1) & (states["phase"] == Phase.OVER)), "number of checkers borne off")


def _check_settings(states: States, settings: Settings, need: Need) -> None:
    """Refuse what the settings rule out in every phase."""
    over = states["phase"] == Phase.OVER
    need((states["owner"] == -1) | settings.cube, "owner")
    need(states["ties"] <= settings.auto_doubles, "number of ties")
    length, score = settings.match_length, states["score"]
    if not length:
        need((states["crawford"] == 0) & (states["was_crawford"] == 0), "Crawford game")
        need(states["games"] <= 1, "number of games")
        return
    need(states["games"] <= score.sum(axis=1, dtype=np.int64) + 1, "number of games")
    need((score < length).all(axis=1) | over, "score")
    possible = bool(settings.crawford and settings.cube and length > 1)
    need(((states["crawford"] == 0) & (states["was_crawford"] == 0)) | possible, "Crawford game")
    near, untouched = (score == length - 1).sum(axis=1) == 1, (states["owner"] == -1) & (states["cube"] == 0)
    need((states["crawford"] == 0) | over | (near & untouched & (states["chain"] == 0)), "Crawford game")


def _check_phase(states: States, settings: Settings, derived: tuple[Flags, Flags], need: Need) -> None:
    """Check the fields that depend on the phase: the player who decides, dice, cube and the 1-2 bonus."""
    movable, doubles = derived
    phase, turn, decider, chain, stage = (states[name] for name in ("phase", "turn", "decider", "chain", "stage"))
    high, low = states["dice"].T
    left_high, left_low = states["left"].T
    over, step, naming = phase == Phase.OVER, phase == Phase.CHECKER, phase == Phase.CHOOSE_DOUBLE
    asked, answering = phase == Phase.ROLL_OR_DOUBLE, phase == Phase.TAKE_OR_DROP
    need(over | step | naming | asked | answering, "phase")
    need((turn >= 0) | over, "turn")
    need(decider == np.where(over, -1, np.where(answering & (chain % 2 == 1), 1 - turn, turn)), "decider")
    pair = np.where(high == low, (left_high <= 4) & (left_low == 0), (left_high <= 1) & (left_low <= 1))
    rolled = (high >= low) & (low > 0) & pair & (left_high + left_low > 0)
    none = (high == 0) & (low == 0) & (left_high == 0) & (left_low == 0)
    illegal = states["ending"] == END_ILLEGAL  # leaves all as it was
    need(np.where(step, rolled, none | (illegal & rolled)), "roll")
    need(movable | ~step, "roll, of which nothing can be played,")
    need(~asked | doubles, "right to double")
    turned = (chain >= 1) & (chain <= 1 + settings.beavers) & (states["cube"] + chain <= settings.cap_log2)
    need(np.where(answering, turned & doubles, (chain == 0) | (illegal & turned)), "chain of turns of the cube")
    bonus = (high == 2) & (low == 1)
    staged = np.where(stage == STAGE_BONUS, bonus | none, ~bonus & ((stage != STAGE_DOUBLE) | (high == low)))
    need(staged | none if settings.variant.acey_deucey else stage == STAGE_NONE, "stage of the 1-2 bonus")
    need(np.where(naming, stage == STAGE_BONUS, (stage == STAGE_NONE) | step | illegal), "stage of the 1-2 bonus")


def _check_result(states: States, settings: Settings, derived: tuple[Any, Any], need: Need) -> None:
    """Check the result of the game that the last action ended, and the end of the episode."""
    stake, board = derived
    winner, level, won, ending = (states[name] for name in ("winner", "level", "won", "ending"))
    over, finished, length = states["phase"] == Phase.OVER, ending == END_FINISHED, settings.match_length
    need((ending != 0) == over, "ending")
    truncated = ending == END_TRUNCATED
    need(~truncated | (bool(settings.max_turns) & (states["turns"] >= (settings.max_turns or 0))), "ending")
    cubes = won // np.maximum(level, 1)
    two = (cubes > 0) & (cubes & (cubes - 1) == 0) & (cubes <= 1 << (settings.cap_log2 if settings.cube else 0))
    result = np.where(winner < 0, (level == 0) & (won == 0), (level > 0) & (won == level * cubes) & two)
    need(result & ((winner >= 0) | (states["was_crawford"] == 0)), "result")
    need(
        (winner >= 0) == (finished | (ending == END_ILLEGAL)) if not length else np.where(finished, winner >= 0, True), "winner"
    )
    need(~over | truncated | ((winner >= 0) & (won == level.astype(np.int64) << stake)), "result")
    need((ending != END_ILLEGAL) | (level == BACKGAMMON), "level")
    rows = np.arange(len(states))
    off = states["points"][rows, np.maximum(winner, 0), OFF] == settings.variant.checkers
    lost = states["points"][rows, np.minimum(1 - winner, 1), OFF] == settings.variant.checkers
    need(~finished | (level == np.where(off, board, 1)), "level")
    need(~(off | lost) | (finished & off), "number of checkers borne off")
    if length:
        scored = states["score"][rows, np.maximum(winner, 0)]
        other = states["score"][rows, np.minimum(1 - winner, 1)]
        need((winner < 0) | (scored >= won), "score")
        need(~finished | ((scored >= length) & (scored - won < length) & (other < length)), "score")
        ill = ending == END_ILLEGAL
        need(~ill | ((scored - won < length) & (other < length)), "score")
        need(~truncated | (states["score"] < length).all(axis=1), "score")
