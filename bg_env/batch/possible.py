"""Checks whether the records of a batch can come from games: every field against the others, the settings and the rules."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.batch.layout import ENDED, ENDED_UNSEEN, RUNNING, SEAT_BY_KEY, Plan, Slots
from bg_env.errors import SettingsError
from bg_env.rewards import CUSTOM, MATCH, MWC, POINTS, rewards_of
from bg_env.rules import (
    END_FINISHED,
    END_ILLEGAL,
    END_TRUNCATED,
    SEAT,
    STAGE_BONUS,
    STAGE_DOUBLE,
    STAGE_NONE,
    Phase,
    Rules,
    Settings,
    States,
    at_stake,
    board_level,
    counted_level,
    episode_key,
    legal_sets,
    may_double,
    word,
)
from bg_env.rules.scoring import BACKGAMMON
from bg_env.rules.variant import BAR, OFF

__all__ = ["check_possible", "refuse_saved"]

Flags = npt.NDArray[np.bool_]
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


def refuse_saved(what: str) -> NoReturn:
    """Refuse what was saved; `what` is the rest of the sentence about it.

    Raises:
        SettingsError: always.
    """
    msg = f"what was saved {what}: give the return value of save()"
    raise SettingsError(msg)


def _need(right: Any, what: str) -> None:
    if not right.all():
        refuse_saved(f"has a wrong {what} in game {int(np.argmin(right))}")


def _within(values: Any, low: float, high: float) -> Flags:
    """Whether all values of each game are in the range."""
    inside: Flags = ((values >= low) & (values <= high)).reshape(len(values), -1).all(axis=1)
    return inside


@kernel
def _derive(states: States, slots: Slots, rules: Rules, out: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64]) -> None:
    """Compute what the rules derive from states whose fields are in their ranges.

    Args:
        states: STATE records (n,).
        slots: SLOT records (n,).
        rules: the RULES record.
        out: int64 (5, n), written: whether a checker can step, whether the player on roll may double, log2 of the points at
            stake, the level at which the board makes the winner win, and the seat that the episode's key gives.
        keys: the keys of the episodes, uint64 (n,), written.
    """
    for i in range(states.shape[0]):
        turn = max(np.int64(states[i]["turn"]), 0)
        high, low = legal_sets(states, i)
        out[0, i] = (high | low) != 0
        out[1, i] = may_double(states, i, rules, turn)
        out[2, i] = at_stake(states, i)
        winner = max(np.int64(states[i]["winner"]), 0)
        out[3, i] = counted_level(states, i, rules, board_level(states, i, 1 - winner))
        keys[i] = episode_key(slots[i]["seed"], np.uint64(slots[i]["episode"]))
        out[4, i] = np.int64(word(keys[i], SEAT, 0) & np.uint64(1))


def check_possible(states: States, slots: Slots, plan: Plan, settings: Settings, rolls: int) -> None:
    """Refuse records that no game of a batch can reach.

    Args:
        states: STATE records (n,).
        slots: SLOT records (n,).
        plan: the PLAN of the batch.
        settings: in force.
        rolls: number of rolls given in advance.

    Raises:
        SettingsError: naming the field and the first game in which it is wrong.
    """
    for name, (low, high) in _RANGES.items():
        _need(_within(states[name], low, high), name)
    _need(_within(states["cube"], 0, settings.cap_log2 if settings.cube else 0), "cube")
    _need(_within(slots["over"], RUNNING, ENDED_UNSEEN), "over")
    _need(_within(slots["episode"], 0, 2**62), "episode")
    _check_board(states, settings)
    derived, keys = np.zeros((5, len(states)), np.int64), np.zeros(len(states), np.uint64)
    _derive(states, slots, settings.record(), derived, keys)
    movable, doubles = derived[0] == 1, derived[1] == 1
    _need(states["key"] == keys, "key")
    _check_settings(states, settings)
    _check_phase(states, settings, movable, doubles)
    _check_result(states, settings, derived[2], derived[3])
    _check_slots(states, slots, plan, derived[4], rolls)
    _check_rewards(states, slots, plan, settings)


def _check_board(states: States, settings: Settings) -> None:
    points, checkers = states["points"], settings.variant.checkers
    _need(_within(points, 0, checkers) & (points.sum(axis=2) == checkers).all(axis=1), "number of checkers")
    shared = (points[:, 0, 1:25] > 0) & (points[:, 1, 24:0:-1] > 0)
    _need(~shared.any(axis=1), "point, held by both players,")
    closed: Flags = np.asarray((points[:, :, 1:7] >= 2).all(axis=2))
    _need(~((points[:, :, BAR] > 0) & closed[:, ::-1]).all(axis=1), "position, in which nobody could ever step,")
    off = (points[:, :, OFF] == checkers).sum(axis=1)
    _need((off == 0) | ((off == 1) & (states["phase"] == Phase.OVER)), "number of checkers borne off")


def _check_settings(states: States, settings: Settings) -> None:
    """Refuse what the settings rule out in every phase."""
    over = states["phase"] == Phase.OVER
    _need((states["owner"] == -1) | settings.cube, "owner")
    _need(states["ties"] <= settings.auto_doubles, "number of ties")
    length, score = settings.match_length, states["score"]
    if not length:
        _need((states["crawford"] == 0) & (states["was_crawford"] == 0), "Crawford game")
        _need(states["games"] <= 1, "number of games")
        return
    _need(states["games"] <= score.sum(axis=1, dtype=np.int64) + 1, "number of games")
    _need((score < length).all(axis=1) | over, "score")
    possible = bool(settings.crawford and settings.cube and length > 1)
    _need(((states["crawford"] == 0) & (states["was_crawford"] == 0)) | possible, "Crawford game")
    near, untouched = (score == length - 1).sum(axis=1) == 1, (states["owner"] == -1) & (states["cube"] == 0)
    _need((states["crawford"] == 0) | over | (near & untouched & (states["chain"] == 0)), "Crawford game")


def _check_phase(states: States, settings: Settings, movable: Flags, doubles: Flags) -> None:
    """Check the fields that depend on the phase: the player who decides, dice, cube and the 1-2 bonus."""
    phase, turn, decider, chain, stage = (states[name] for name in ("phase", "turn", "decider", "chain", "stage"))
    high, low = states["dice"].T
    left_high, left_low = states["left"].T
    over, step, naming = phase == Phase.OVER, phase == Phase.CHECKER, phase == Phase.CHOOSE_DOUBLE
    asked, answering = phase == Phase.ROLL_OR_DOUBLE, phase == Phase.TAKE_OR_DROP
    _need(over | step | naming | asked | answering, "phase")
    _need((turn >= 0) | over, "turn")
    _need(decider == np.where(over, -1, np.where(answering & (chain % 2 == 1), 1 - turn, turn)), "decider")
    pair = np.where(high == low, (left_high <= 4) & (left_low == 0), (left_high <= 1) & (left_low <= 1))
    rolled = (high >= low) & (low > 0) & pair & (left_high + left_low > 0)
    none = (high == 0) & (low == 0) & (left_high == 0) & (left_low == 0)
    illegal = states["ending"] == END_ILLEGAL  # leaves all as it was
    _need(np.where(step, rolled, none | (illegal & rolled)), "roll")
    _need(movable | ~step, "roll, of which nothing can be played,")
    _need(~asked | doubles, "right to double")
    turned = (chain >= 1) & (chain <= 1 + settings.beavers) & (states["cube"] + chain <= settings.cap_log2)
    _need(np.where(answering, turned & doubles, (chain == 0) | (illegal & turned)), "chain of turns of the cube")
    bonus = (high == 2) & (low == 1)
    staged = np.where(stage == STAGE_BONUS, bonus | none, ~bonus & ((stage != STAGE_DOUBLE) | (high == low)))
    _need(staged | none if settings.variant.acey_deucey else stage == STAGE_NONE, "stage of the 1-2 bonus")
    _need(np.where(naming, stage == STAGE_BONUS, (stage == STAGE_NONE) | step | illegal), "stage of the 1-2 bonus")


def _check_result(states: States, settings: Settings, stake: npt.NDArray[np.int64], board: npt.NDArray[np.int64]) -> None:
    """Check the result of the game that the last action ended, and the end of the episode."""
    winner, level, won, ending = (states[name] for name in ("winner", "level", "won", "ending"))
    over, finished, length = states["phase"] == Phase.OVER, ending == END_FINISHED, settings.match_length
    _need((ending != 0) == over, "ending")
    truncated = ending == END_TRUNCATED
    _need(~truncated | (bool(settings.max_turns) & (states["turns"] >= (settings.max_turns or 0))), "ending")
    cubes = won // np.maximum(level, 1)
    two = (cubes > 0) & (cubes & (cubes - 1) == 0) & (cubes <= 1 << (settings.cap_log2 if settings.cube else 0))
    result = np.where(winner < 0, (level == 0) & (won == 0), (level > 0) & (won == level * cubes) & two)
    _need(result & ((winner >= 0) | (states["was_crawford"] == 0)), "result")
    _need(
        (winner >= 0) == (finished | (ending == END_ILLEGAL)) if not length else np.where(finished, winner >= 0, True), "winner"
    )
    _need(~over | truncated | ((winner >= 0) & (won == level.astype(np.int64) << stake)), "result")
    _need((ending != END_ILLEGAL) | (level == BACKGAMMON), "level")
    rows = np.arange(len(states))
    off = states["points"][rows, np.maximum(winner, 0), OFF] == settings.variant.checkers
    lost = states["points"][rows, np.minimum(1 - winner, 1), OFF] == settings.variant.checkers
    _need(~finished | (level == np.where(off, board, 1)), "level")
    _need(~(off | lost) | (finished & off), "number of checkers borne off")
    if length:
        scored = states["score"][rows, np.maximum(winner, 0)]
        other = states["score"][rows, np.minimum(1 - winner, 1)]
        _need((winner < 0) | (scored >= won), "score")
        _need(~finished | ((scored >= length) & (scored - won < length) & (other < length)), "score")
        ill = ending == END_ILLEGAL
        _need(~ill | ((scored - won < length) & (other < length)), "score")
        _need(~truncated | (states["score"] < length).all(axis=1), "score")


def _check_slots(states: States, slots: Slots, plan: Plan, bits: npt.NDArray[np.int64], rolls: int) -> None:
    over, seat, length, actor = (slots[name] for name in ("over", "seat", "length", "actor"))
    asked, limit, same_step = (int(plan[0][name]) for name in ("seat", "limit", "same_step"))
    _need(seat == (bits if asked == SEAT_BY_KEY else asked), "seat")
    _need(slots["fresh"] == 0, "mark of a new episode")
    _need(slots["starter"] == -1, "starter")
    _need((slots["queued"] >= 0) & (slots["queued"] <= slots["queue_end"]) & (slots["queue_end"] <= rolls), "queue of dice")
    ended = states["phase"] == Phase.OVER
    out_of_steps = (length >= limit) & bool(limit)
    _need(np.where(over == RUNNING, ~ended & ~out_of_steps, ended | ((over == ENDED) & out_of_steps)), "over")
    _need((over != ENDED) | (same_step == 0), "over")
    _need(_within(length, 0, 2**30), "length")
    _need(np.where(over == ENDED, length > 0, (over == RUNNING) | (length == 0)), "length")
    _need((over != RUNNING) | (seat < 0) | (states["decider"] == seat), "decider")
    acted = np.where(seat < 0, (actor == 0) | (actor == 1), actor == seat)
    unseen = (over == ENDED) & (length == 1) & (actor == -1)  # nobody acted in the episode
    _need(np.where(length == 0, actor == -1, acted | unseen), "actor")


def _check_rewards(states: States, slots: Slots, plan: Plan, settings: Settings) -> None:
    total, gain, over, kind = slots["total"], slots["gain"], slots["over"], int(plan[0]["reward"])
    _need(np.isfinite(total) & np.isfinite(gain), "reward")
    _need((gain == 0) | (slots["length"] == 0), "reward")
    _need((total == 0) | (slots["length"] > 0), "reward")
    if not settings.match_length:
        _need((over != RUNNING) | ((gain == 0) & (total == 0)), "reward")
    if kind == CUSTOM:
        return
    if not settings.match_length:
        own = np.where(slots["seat"] == 1, -1, 1)
        due = rewards_of(states, settings.record(), kind)
        _need(np.where(over == ENDED_UNSEEN, gain == due, True), "reward")
        _need(np.where(over == ENDED, total == own * due, True), "reward")
    most: Any = 1.0 if kind in (MATCH, MWC) else states["games"].astype(np.float64) + 1
    if kind == POINTS:
        most = states["score"].sum(axis=1, dtype=np.int64) if settings.match_length else np.maximum(states["won"], 0)
    _need((np.abs(total) <= most) & (np.abs(gain) <= most), "reward")
