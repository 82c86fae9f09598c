"""Checks whether the records of a batch can come from games: states by `bg_env.rules.reachable`, slots against them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.batch.layout import ENDED, ENDED_UNSEEN, RUNNING, SEAT_BY_KEY, Plan, Slots
from bg_env.errors import SettingsError
from bg_env.rewards import CUSTOM, MATCH, MWC, POINTS, rewards_of
from bg_env.rules import SEAT, Phase, Settings, States, episode_key, word
from bg_env.rules.reachable import check_reachable, within

__all__ = ["check_possible", "refuse_saved"]


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


@kernel
def _derive(slots: Slots, bits: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64]) -> None:
    """Write the keys of the episodes, uint64 (n,), and the seats that they give, int64 (n,)."""
    for i in range(slots.shape[0]):
        keys[i] = episode_key(slots[i]["seed"], np.uint64(slots[i]["episode"]))
        bits[i] = np.int64(word(keys[i], SEAT, 0) & np.uint64(1))


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
    check_reachable(states, settings, _need)
    _need(within(slots["over"], RUNNING, ENDED_UNSEEN), "over")
    _need(within(slots["episode"], 0, 2**62), "episode")
    bits, keys = np.zeros(len(states), np.int64), np.zeros(len(states), np.uint64)
    _derive(slots, bits, keys)
    _need(states["key"] == keys, "key")
    _check_slots(states, slots, plan, bits, rolls)
    _check_rewards(states, slots, plan, settings)


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
    _need(within(length, 0, 2**30), "length")
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
