"""Kernels over a batch of games: one call does a step of many, from `lo` to `hi`; the parts are told in `batch_game`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import kernel
from bg_env.batch.layout import RANDOM_OPPONENT, RUNNING
from bg_env.batch.step import (
    act,
    begin,
    clear_info,
    close_step,
    finish_step,
    open_play,
    open_step,
    opponent_decides,
    random_replies,
    report_step,
    tell_ended,
    throw,
)
from bg_env.batch.threads import signal
from bg_env.observations import default_seat
from bg_env.rules import CHOICE, Phase, word
from bg_env.rules.actions import STEPS
from bg_env.rules.legal import is_legal, legal_sets, pick_legal, write_mask

__all__ = [
    "answer",
    "answer_plays",
    "begin_games",
    "close_games",
    "find_sets",
    "find_waiting",
    "first_illegal",
    "look",
    "masks_of",
    "open_games",
    "open_plays",
    "pick_games",
    "report_games",
    "step_games",
    "step_plays",
]

_CHECKER = int(Phase.CHECKER)


@kernel
def step_games(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    actions: Any,
    info: Any,
    rewards: Any,
    lengths: Any,
    ends: Any,
    finals: Any,
    final_info: Any,
    lo: Any,
    hi: Any,
) -> None:
    """All five parts of a step of the games from `lo` to `hi`, against nobody or against the random player."""
    for i in range(lo, hi):
        open_step(states, slots, i, rules, plan, dice, sets, info, actions[i])
        finish_step(states, slots, i, rules, plan, dice, sets, info, rewards, lengths, ends, finals, final_info)


@kernel
def step_plays(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    after: Any,
    index: Any,
    info: Any,
    rewards: Any,
    lengths: Any,
    ends: Any,
    finals: Any,
    final_info: Any,
    lo: Any,
    hi: Any,
) -> None:
    """`step_games` with candidates of `after` chosen by `index` instead of actions."""
    for i in range(lo, hi):
        open_play(states, slots, i, rules, plan, dice, sets, info, after, index[i])
        finish_step(states, slots, i, rules, plan, dice, sets, info, rewards, lengths, ends, finals, final_info)


@kernel
def open_games(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, sets: Any, actions: Any, info: Any, lo: Any, hi: Any
) -> None:
    """Part 1 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        open_step(states, slots, i, rules, plan, dice, sets, info, actions[i])


@kernel
def open_plays(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, sets: Any, after: Any, index: Any, info: Any, lo: Any, hi: Any
) -> None:
    """`open_games` with candidates of `after` chosen by `index` instead of actions."""
    for i in range(lo, hi):
        open_play(states, slots, i, rules, plan, dice, sets, info, after, index[i])


@kernel
def report_games(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    info: Any,
    rewards: Any,
    lengths: Any,
    ends: Any,
    finals: Any,
    final_info: Any,
    lo: Any,
    hi: Any,
) -> None:
    """Part 3 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        report_step(states, slots, i, rules, plan, dice, sets, info, rewards, lengths, ends, finals, final_info)


@kernel
def close_games(states: Any, slots: Any, info: Any, lo: Any, hi: Any) -> None:
    """Part 5 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        close_step(states, slots, i, info)


@kernel
def begin_games(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    template: Any,
    first_roll: Any,
    starter: Any,
    info: Any,
    which: Any,
    lo: Any,
    hi: Any,
) -> None:
    """Begin the next episode of the games marked in `which`, from `template` (an array of one STATE).

    Their first rolls are those of `dice` from `first_roll` on; `starter` wins the opening throw, if it is not -1.

    The random player has replied when it returns; another opponent is left to be called.
    """
    for i in range(lo, hi):
        if not which[i]:
            slots[i]["fresh"] = 0
            clear_info(info, i)
            continue
        begin(states, slots, i, rules, plan, info)
        key = states[i]["key"]
        states[i] = template[0]
        states[i]["key"] = key
        states[i]["rolls"] = 0
        states[i]["choices"] = 0
        slots[i]["queued"] = first_roll
        slots[i]["queue_end"] = dice.shape[0]
        slots[i]["starter"] = starter
        slots[i]["fresh"] = 1
        tell_ended(states, i, info)
        throw(states, slots, i, rules, dice, sets)
        if plan[0]["opponent"] == RANDOM_OPPONENT:
            random_replies(states, slots, i, rules, plan, dice, sets, info)


@kernel
def find_sets(states: Any, sets: Any) -> None:
    """The legal sources of all games, anew."""
    for i in range(states.shape[0]):
        sets[i, 0], sets[i, 1] = legal_sets(states, i)


@kernel
def look(states: Any, slots: Any, rules: Any, sets: Any, viewers: Any, mask: Any, lo: Any, hi: Any) -> None:
    """The mask (ones where the episode is over) and the seat that looks, of the games `lo` to `hi`."""
    for i in range(lo, hi):
        if slots[i]["over"]:
            seat = slots[i]["seat"]
            viewers[i] = seat if seat >= 0 else default_seat(states, i)
            for a in range(mask.shape[1]):
                mask[i, a] = 1
        else:
            viewers[i] = states[i]["decider"]
            write_mask(states, i, rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), mask, i)


@kernel
def masks_of(states: Any, rules: Any, mask: Any) -> None:
    """The masks of all states, as whoever decides sees them."""
    for i in range(states.shape[0]):
        high, low = legal_sets(states, i)
        write_mask(states, i, rules, high, low, mask, i)


@kernel
def first_illegal(states: Any, slots: Any, rules: Any, sets: Any, actions: Any) -> Any:
    """The first game that goes on and whose action is not legal, or -1."""
    for i in range(states.shape[0]):
        high, low = np.int64(sets[i, 0]), np.int64(sets[i, 1])
        if slots[i]["over"] == RUNNING and not is_legal(states, i, rules, high, low, actions[i]):
            return i
    return -1


@kernel
def pick_games(
    states: Any, slots: Any, rules: Any, sets: Any, key: Any, actions: Any, lo: Any, hi: Any, counter: Any, count: Any
) -> None:
    """A legal action of every game from `lo` to `hi` by word i of `key`; 0 where nobody decides."""
    signal(counter, count)
    for i in range(lo, hi):
        if slots[i]["over"]:
            actions[i] = 0
        else:
            bits = word(key, CHOICE, i)
            actions[i] = pick_legal(states, i, rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), bits)


@kernel
def find_waiting(states: Any, slots: Any, lo: Any, hi: Any, index: Any, words: Any, checker: Any, spare: Any) -> Any:
    """The games from `lo` to `hi` that wait for the opponent, with a random word each; returns how many.

    `checker` says which are in phase CHECKER; with `spare` the others get no word, because nothing is chosen there.
    """
    n = 0
    for i in range(lo, hi):
        if slots[i]["over"] == RUNNING and opponent_decides(states, slots, i):
            index[n] = i
            checker[n] = states[i]["phase"] == _CHECKER
            if checker[n] or not spare:
                words[n] = word(states[i]["key"], CHOICE, states[i]["choices"])
                states[i]["choices"] += 1
            n += 1
    return n


@kernel
def answer(states: Any, slots: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, index: Any, actions: Any) -> Any:
    """Do the opponent's actions in the games of `index`; returns the place in it of the first illegal one, or -1."""
    for k in range(index.shape[0]):
        i = index[k]
        high, low = np.int64(sets[i, 0]), np.int64(sets[i, 1])
        if actions[k] < 0 or actions[k] >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, actions[k]):
            return k
        act(states, slots, i, rules, plan, dice, sets, info, actions[k])
    return -1


@kernel
def answer_plays(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, index: Any, plays: Any
) -> Any:
    """Do the opponent's whole plays (n, 4) in the games of `index`; returns the place of the first illegal one, or -1.

    A play is illegal if one of its steps is, if it has too many, and if it leaves a part of the roll that can be played.
    """
    for k in range(index.shape[0]):
        i = index[k]
        rolls = states[i]["rolls"]
        queued = slots[i]["queued"]
        turn = states[i]["turn"]
        going = True
        for m in range(4):
            if plays[k, m] < 0:
                break
            high, low = np.int64(sets[i, 0]), np.int64(sets[i, 1])
            action = np.int64(plays[k, m])
            if not going or action >= STEPS or not is_legal(states, i, rules, high, low, action):
                return k
            act(states, slots, i, rules, plan, dice, sets, info, action)
            same = states[i]["rolls"] == rolls and slots[i]["queued"] == queued and states[i]["turn"] == turn
            going = same and states[i]["phase"] == _CHECKER
        if going:
            return k
    return -1
