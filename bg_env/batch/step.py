"""One step of one game of a batch, with its episodes, an opponent and what is reported: the parts of `bg_env.batch.kernels`.

Beside the STATE records there is one SLOT record a game: its seed, which episode of it is being played, the learner's seat
and what has been reported. Each step of a game has five parts, which `step_games` does in one go, and which an opponent
that is no kernel is called between:

1. `open_step`: the player who decides acts (or the game that ended before is begun anew, with autoreset "next_step");
2. the opponent's decisions, until the learner or nobody decides;
3. `report_step`: reward, end of the episode and its statistics (and, with autoreset "same_step", a new episode);
4. the opponent's decisions in episodes that have begun (one that ends before the learner can act gives way to the next);
5. `close_step`: the info.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bg_env._jit import inlined, kernel
from bg_env.batch.layout import ENDED, ENDED_UNSEEN, INFO, RUNNING, SEAT_BY_KEY
from bg_env.observations import default_seat
from bg_env.rewards import reward_of
from bg_env.rules import (
    CHOICE,
    END_FINISHED,
    END_ILLEGAL,
    SEAT,
    Phase,
    apply,
    apply_roll,
    at_stake,
    draw,
    episode_key,
    forfeit,
    new_episode,
    play_on,
    settle,
    ties_double,
    word,
)
from bg_env.rules.legal import is_legal, legal_sets, pick_random

__all__ = [
    "act",
    "begin",
    "clear_info",
    "close_step",
    "finish_step",
    "open_play",
    "open_step",
    "opponent_decides",
    "random_replies",
    "report_step",
    "take_state",
    "tell_ended",
    "throw",
]

_PLAYER, _POINTS, _LEVEL, _CUBE, _WINNER, _ILLEGAL, _TURNS = range(INFO)

_OPENING = int(Phase.OPENING)
_ROLL = int(Phase.ROLL)
_OVER = int(Phase.OVER)


@kernel
def _throw_given(states: Any, slots: Any, i: Any, rules: Any, dice: Any) -> None:
    """Throw the dice that are due and were given in advance, or that must make a starter."""
    while slots[i]["queued"] < slots[i]["queue_end"] or slots[i]["starter"] >= 0:
        phase = states[i]["phase"]
        if phase != _OPENING and phase != _ROLL:
            return
        q = slots[i]["queued"]
        opening = phase == _OPENING
        ties = opening and ties_double(states, i, rules)
        if q < slots[i]["queue_end"]:
            d1 = dice[q, 0]
            d2 = dice[q, 1]
            slots[i]["queued"] = q + 1
            if opening and d1 == d2 and not ties:
                continue  # R2.1: thrown again
        else:
            d1, d2 = draw(states[i]["key"], states[i]["rolls"], opening and not ties)
            states[i]["rolls"] += 1
            starter = slots[i]["starter"]
            if opening and ((starter == 0 and d2 > d1) or (starter == 1 and d1 > d2)):
                d1, d2 = d2, d1
        if d1 != d2:
            slots[i]["starter"] = -1
        apply_roll(states, i, rules, d1, d2)


@inlined
def _scripted(slots: Any, i: Any) -> Any:
    """Whether dice to come are given in advance."""
    return slots[i]["queued"] < slots[i]["queue_end"] or slots[i]["starter"] >= 0


@inlined
def throw(states: Any, slots: Any, i: Any, rules: Any, dice: Any, sets: Any) -> None:
    """Throw the dice that are due, first those given in advance, then those of the game's stream; the legal sources then."""
    if _scripted(slots, i):
        _throw_given(states, slots, i, rules, dice)
    settle(states, i, rules)
    sets[i, 0], sets[i, 1] = legal_sets(states, i)


@inlined
def tell_ended(states: Any, i: Any, info: Any) -> None:
    """Write points, level and winner of the last game that ended in state `i`."""
    info[_POINTS, i] = states[i]["won"]
    info[_LEVEL, i] = states[i]["level"]
    info[_WINNER, i] = states[i]["winner"]


@inlined
def _note(states: Any, slots: Any, i: Any, rules: Any, plan: Any, info: Any) -> None:
    """Keep what the last action of state `i` won, if it ended a game."""
    if states[i]["winner"] >= 0:
        slots[i]["gain"] += reward_of(states, i, rules, plan[0]["reward"])
        tell_ended(states, i, info)


@inlined
def act(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, action: Any) -> None:
    """Do a legal action, and all that follows by itself."""
    if _scripted(slots, i):
        apply(states, i, rules, action)
        throw(states, slots, i, rules, dice, sets)
    else:
        sets[i, 0], sets[i, 1] = play_on(states, i, rules, action)
    _note(states, slots, i, rules, plan, info)


@inlined
def opponent_decides(states: Any, slots: Any, i: Any) -> Any:
    """Whether game `i` waits for the opponent."""
    decider = states[i]["decider"]
    seat = slots[i]["seat"]
    return seat >= 0 and decider >= 0 and decider != seat


@inlined
def random_replies(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any) -> None:
    """Let the random player decide until the learner or nobody does."""
    while opponent_decides(states, slots, i):
        bits = word(states[i]["key"], CHOICE, states[i]["choices"])
        states[i]["choices"] += 1
        act(
            states,
            slots,
            i,
            rules,
            plan,
            dice,
            sets,
            info,
            pick_random(states, i, np.int64(sets[i, 0]), np.int64(sets[i, 1]), bits),
        )


@inlined
def begin(states: Any, slots: Any, i: Any, rules: Any, plan: Any, info: Any) -> None:
    """The next episode of game `i`, from the opening throw; the opponent has not acted yet."""
    slots[i]["episode"] += 1
    key = episode_key(slots[i]["seed"], slots[i]["episode"])
    new_episode(states, i, rules, key)
    seat = plan[0]["seat"]
    if seat == SEAT_BY_KEY:
        seat = np.int64(word(key, SEAT, 0) & np.uint64(1))
    slots[i]["seat"] = seat
    slots[i]["total"] = 0.0
    slots[i]["gain"] = 0.0
    slots[i]["length"] = 0
    slots[i]["queued"] = 0
    slots[i]["queue_end"] = 0
    slots[i]["actor"] = -1
    slots[i]["over"] = RUNNING
    slots[i]["starter"] = -1
    clear_info(info, i)


@inlined
def clear_info(info: Any, i: Any) -> None:
    """No game has ended in this step so far."""
    info[_POINTS, i] = 0
    info[_LEVEL, i] = 0
    info[_WINNER, i] = -1


@inlined
def _write_info(states: Any, i: Any, over: Any, info: Any) -> None:
    """The rest of the info, see `bg_env.envs.episode.info_of`."""
    info[_PLAYER, i] = -1 if over else states[i]["decider"]
    info[_CUBE, i] = np.int64(1) << at_stake(states, i)
    info[_ILLEGAL, i] = states[i]["ending"] == END_ILLEGAL
    info[_TURNS, i] = states[i]["turns"]


@inlined
def _opens(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any) -> Any:
    """Begin part 1; says whether a decision is to be made (if not, an ended game has begun anew or is to be told of)."""
    clear_info(info, i)
    slots[i]["fresh"] = 0
    if slots[i]["over"] == ENDED:
        begin(states, slots, i, rules, plan, info)
        throw(states, slots, i, rules, dice, sets)
        slots[i]["fresh"] = 1
        return False
    slots[i]["length"] += 1
    if slots[i]["over"] == ENDED_UNSEEN:
        tell_ended(states, i, info)
        return False
    slots[i]["actor"] = states[i]["decider"]
    return True


@inlined
def open_step(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, action: Any) -> None:
    """Part 1: the player who decides does `action`, or an ended game begins anew."""
    if not _opens(states, slots, i, rules, plan, dice, sets, info):
        return
    if is_legal(states, i, rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), action):
        act(states, slots, i, rules, plan, dice, sets, info, action)
    else:
        forfeit(states, i, rules, states[i]["decider"])
        _note(states, slots, i, rules, plan, info)


@inlined
def take_state(
    states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, after: Any, k: Any
) -> None:
    """Go to state `k` of `after`, which a legal decision leads to, and do all that follows by itself."""
    states[i] = after[k]
    _note(states, slots, i, rules, plan, info)
    throw(states, slots, i, rules, dice, sets)


@inlined
def open_play(
    states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, after: Any, k: Any
) -> None:
    """Part 1, where the player who decides has chosen candidate `k` of `after` (`bg_env.rules.candidates`)."""
    if _opens(states, slots, i, rules, plan, dice, sets, info):
        take_state(states, slots, i, rules, plan, dice, sets, info, after, k)


@inlined
def report_step(
    states: Any,
    slots: Any,
    i: Any,
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
) -> None:
    """Part 3: what the step is worth, and whether the episode is over.

    `rewards` has the rows reward and return of the episode that ended, `ends` terminated and truncated.
    """
    ends[0, i] = False
    ends[1, i] = False
    rewards[0, i] = 0.0
    rewards[1, i] = 0.0
    lengths[i] = 0
    if slots[i]["fresh"]:
        return
    seat = slots[i]["seat"]
    gain = slots[i]["gain"]
    slots[i]["gain"] = 0.0
    if gain != 0.0:
        receiver = seat if seat >= 0 else slots[i]["actor"]
        rewards[0, i] = gain if receiver == 0 else -gain
        slots[i]["total"] += -gain if seat == 1 else gain
    limit = plan[0]["limit"]
    if states[i]["phase"] != _OVER and (limit == 0 or slots[i]["length"] < limit):
        return
    ending = states[i]["ending"]
    ends[0, i] = ending == END_FINISHED or ending == END_ILLEGAL
    ends[1, i] = not ends[0, i]
    rewards[1, i] = slots[i]["total"]
    lengths[i] = slots[i]["length"]
    slots[i]["over"] = ENDED
    if plan[0]["same_step"]:
        _write_info(states, i, True, info)
        for k in range(INFO):
            final_info[k, i] = info[k, i]
        final_info[INFO, i] = seat if seat >= 0 else default_seat(states, i)
        finals[i] = states[i]
        begin(states, slots, i, rules, plan, info)
        throw(states, slots, i, rules, dice, sets)
        slots[i]["fresh"] = 2


@inlined
def close_step(states: Any, slots: Any, i: Any, info: Any) -> None:
    """Part 5: the info, and whether the episode is over before the learner could act."""
    if slots[i]["fresh"] and states[i]["phase"] == _OVER:
        slots[i]["over"] = ENDED_UNSEEN
    slots[i]["fresh"] = 0
    _write_info(states, i, slots[i]["over"] != RUNNING, info)


@inlined
def finish_step(
    states: Any,
    slots: Any,
    i: Any,
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
) -> None:
    """Parts 2 to 5, against nobody or against the random player."""
    random_replies(states, slots, i, rules, plan, dice, sets, info)
    report_step(states, slots, i, rules, plan, dice, sets, info, rewards, lengths, ends, finals, final_info)
    if slots[i]["fresh"]:
        random_replies(states, slots, i, rules, plan, dice, sets, info)
    close_step(states, slots, i, info)
