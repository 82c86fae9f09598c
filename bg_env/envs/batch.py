"""Kernels over a batch of games: one call does a step of many games, with episodes, an opponent and what is reported.

Beside the STATE records there is one SLOT record a game: its seed, which episode of it is being played, the learner's seat
and what has been reported. Each step of a game has five parts, which `step_games` does in one go, and which an opponent
that is no kernel is called between:

1. `_open`: the player who decides acts (or the game that ended before is begun anew, with autoreset "next_step");
2. the opponent's decisions, until the learner or nobody decides;
3. `_report`: reward, end of the episode and its statistics (and, with autoreset "same_step", a new episode);
4. the opponent's decisions in episodes that have begun;
5. `_close`: the info.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
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
    pick_action,
    settle,
    ties_double,
    word,
)
from bg_env.rules.legal import is_legal, legal_sets, pick_legal, write_mask

__all__ = [
    "ENDED",
    "ENDED_UNSEEN",
    "INFO",
    "NO_OPPONENT",
    "OTHER_OPPONENT",
    "PLAN",
    "RANDOM_OPPONENT",
    "RUNNING",
    "SEAT_BY_KEY",
    "SLOT",
    "answer",
    "answer_plays",
    "begin_games",
    "close_games",
    "find_waiting",
    "look",
    "open_games",
    "pick_games",
    "report_games",
    "step_games",
]

SLOT: Final = np.dtype(
    [
        ("seed", np.uint64),
        ("episode", np.int64),
        ("total", np.float64),
        ("gain", np.float64),
        ("length", np.int32),
        ("queued", np.int32),
        ("queue_end", np.int32),
        ("seat", np.int8),
        ("actor", np.int8),
        ("over", np.int8),
        ("fresh", np.int8),
        ("starter", np.int8),
    ],
    align=True,
)
"""What a batch knows of a game beside its state.

seed, episode: of the random stream. total, length: rewards and steps of the episode so far (player 0's rewards in
self-play). gain: player 0's reward that is not reported yet. queued, queue_end: the rolls
given in advance that are still to come, as a range of the array of such rolls. seat: the
learner's, -1 in self-play. actor: who acted last. over: RUNNING, ENDED or ENDED_UNSEEN. fresh: 1 or 2 within a call that
began an episode. starter: who must win the opening throw, or -1.
"""

PLAN: Final = np.dtype(
    [("reward", np.int64), ("seat", np.int64), ("opponent", np.int64), ("same_step", np.int64), ("limit", np.int64)]
)
"""What is the same for all games of a batch: reward kind, seat (-1 self-play, 0, 1, SEAT_BY_KEY), *_OPPONENT, whether
episodes begin anew in the step that ends them, and the most steps of an episode (0: no limit)."""

RUNNING: Final = 0
ENDED: Final = 1
ENDED_UNSEEN: Final = 2
"""The episode ended before the learner could act: its next step, whatever the action, reports that."""

NO_OPPONENT: Final = 0
RANDOM_OPPONENT: Final = 1
OTHER_OPPONENT: Final = 2

SEAT_BY_KEY: Final = 2

INFO: Final = 7
"""Rows of an info array, in the order of INFO_KEYS."""

_PLAYER, _POINTS, _LEVEL, _CUBE, _WINNER, _ILLEGAL, _TURNS = range(INFO)

_OPENING = int(Phase.OPENING)
_ROLL = int(Phase.ROLL)
_CHECKER = int(Phase.CHECKER)
_OVER = int(Phase.OVER)

_ANSWER_ROLL = 150
_ANSWER_TAKE = 152
_ANSWER_DOUBLE = 160


@kernel
def _throw(states: Any, slots: Any, i: Any, rules: Any, dice: Any) -> None:
    """Throw the dice that are due: first those given in advance, then those of the game's stream."""
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
    settle(states, i, rules)


@kernel
def _note(states: Any, slots: Any, i: Any, rules: Any, plan: Any, info: Any) -> None:
    """Keep what the last action of state `i` won, if it ended a game."""
    if states[i]["winner"] >= 0:
        slots[i]["gain"] += reward_of(states, i, rules, plan[0]["reward"])
        info[_POINTS, i] = states[i]["won"]
        info[_LEVEL, i] = states[i]["level"]
        info[_WINNER, i] = states[i]["winner"]


@kernel
def _act(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, info: Any, action: Any) -> None:
    """Do a legal action, and all that follows by itself."""
    apply(states, i, rules, action)
    _note(states, slots, i, rules, plan, info)
    _throw(states, slots, i, rules, dice)


@kernel
def _opponent_decides(states: Any, slots: Any, i: Any) -> Any:
    decider = states[i]["decider"]
    seat = slots[i]["seat"]
    return seat >= 0 and decider >= 0 and decider != seat


@kernel
def _random_replies(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, info: Any) -> None:
    """Let the random player decide until the learner or nobody does."""
    while _opponent_decides(states, slots, i):
        bits = word(states[i]["key"], CHOICE, states[i]["choices"])
        states[i]["choices"] += 1
        _act(states, slots, i, rules, plan, dice, info, pick_action(states, i, bits))


@kernel
def _begin(states: Any, slots: Any, i: Any, rules: Any, plan: Any, info: Any) -> None:
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
    _clear(info, i)


@kernel
def _clear(info: Any, i: Any) -> None:
    info[_POINTS, i] = 0
    info[_LEVEL, i] = 0
    info[_WINNER, i] = -1


@kernel
def _write_info(states: Any, i: Any, over: Any, info: Any) -> None:
    """The rest of the info, see `bg_env.envs.one.info_of`."""
    info[_PLAYER, i] = -1 if over else states[i]["decider"]
    info[_CUBE, i] = np.int64(1) << at_stake(states, i)
    info[_ILLEGAL, i] = states[i]["ending"] == END_ILLEGAL
    info[_TURNS, i] = states[i]["turns"]


@kernel
def _open(states: Any, slots: Any, i: Any, rules: Any, plan: Any, dice: Any, sets: Any, info: Any, action: Any) -> None:
    """Part 1: the player who decides does `action`, or an ended game begins anew."""
    _clear(info, i)
    slots[i]["fresh"] = 0
    if slots[i]["over"] == ENDED:
        _begin(states, slots, i, rules, plan, info)
        _throw(states, slots, i, rules, dice)
        slots[i]["fresh"] = 1
        return
    slots[i]["length"] += 1
    if slots[i]["over"] == ENDED_UNSEEN:
        return
    decider = states[i]["decider"]
    slots[i]["actor"] = decider
    if is_legal(states, i, rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), action):
        _act(states, slots, i, rules, plan, dice, info, action)
    else:
        forfeit(states, i, rules, decider)
        _note(states, slots, i, rules, plan, info)


@kernel
def _report(
    states: Any,
    slots: Any,
    i: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    info: Any,
    rewards: Any,
    ends: Any,
    statistics: Any,
    finals: Any,
    final_info: Any,
) -> None:
    """Part 3: what the step is worth, and whether the episode is over; `ends` has the rows terminated and truncated."""
    ends[0, i] = False
    ends[1, i] = False
    statistics[0, i] = 0.0
    statistics[1, i] = 0.0
    rewards[i] = 0.0
    if slots[i]["fresh"]:
        return
    seat = slots[i]["seat"]
    gain = slots[i]["gain"]
    slots[i]["gain"] = 0.0
    if gain != 0.0:
        receiver = seat if seat >= 0 else slots[i]["actor"]
        rewards[i] = gain if receiver == 0 else -gain
        slots[i]["total"] += -gain if seat == 1 else gain
    limit = plan[0]["limit"]
    if states[i]["phase"] != _OVER and (limit == 0 or slots[i]["length"] < limit):
        return
    ending = states[i]["ending"]
    ends[0, i] = ending == END_FINISHED or ending == END_ILLEGAL
    ends[1, i] = not ends[0, i]
    statistics[0, i] = slots[i]["total"]
    statistics[1, i] = slots[i]["length"]
    slots[i]["over"] = ENDED
    if plan[0]["same_step"]:
        _write_info(states, i, True, info)
        for k in range(INFO):
            final_info[k, i] = info[k, i]
        final_info[INFO, i] = seat if seat >= 0 else slots[i]["actor"]
        finals[i] = states[i]
        _begin(states, slots, i, rules, plan, info)
        _throw(states, slots, i, rules, dice)
        slots[i]["fresh"] = 2


@kernel
def _close(states: Any, slots: Any, i: Any, info: Any) -> None:
    """Part 5: the info; an episode that is over before the learner could act is marked as that."""
    if slots[i]["fresh"] and states[i]["phase"] == _OVER:
        slots[i]["over"] = ENDED_UNSEEN
    slots[i]["fresh"] = 0
    _write_info(states, i, slots[i]["over"] != RUNNING, info)


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
    ends: Any,
    statistics: Any,
    finals: Any,
    final_info: Any,
    lo: Any,
    hi: Any,
) -> None:
    """All five parts of a step of the games from `lo` to `hi`, against nobody or against the random player."""
    for i in range(lo, hi):
        _open(states, slots, i, rules, plan, dice, sets, info, actions[i])
        _random_replies(states, slots, i, rules, plan, dice, info)
        _report(states, slots, i, rules, plan, dice, info, rewards, ends, statistics, finals, final_info)
        if slots[i]["fresh"]:
            _random_replies(states, slots, i, rules, plan, dice, info)
        _close(states, slots, i, info)


@kernel
def open_games(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, sets: Any, actions: Any, info: Any, lo: Any, hi: Any
) -> None:
    """Part 1 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        _open(states, slots, i, rules, plan, dice, sets, info, actions[i])


@kernel
def report_games(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    info: Any,
    rewards: Any,
    ends: Any,
    statistics: Any,
    finals: Any,
    final_info: Any,
    lo: Any,
    hi: Any,
) -> None:
    """Part 3 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        _report(states, slots, i, rules, plan, dice, info, rewards, ends, statistics, finals, final_info)


@kernel
def close_games(states: Any, slots: Any, info: Any, lo: Any, hi: Any) -> None:
    """Part 5 of the games from `lo` to `hi`."""
    for i in range(lo, hi):
        _close(states, slots, i, info)


@kernel
def begin_games(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
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
            _clear(info, i)
            continue
        _begin(states, slots, i, rules, plan, info)
        key = states[i]["key"]
        states[i] = template[0]
        states[i]["key"] = key
        states[i]["rolls"] = 0
        states[i]["choices"] = 0
        slots[i]["queued"] = first_roll
        slots[i]["queue_end"] = dice.shape[0]
        slots[i]["starter"] = starter
        slots[i]["fresh"] = 1
        _throw(states, slots, i, rules, dice)
        if plan[0]["opponent"] == RANDOM_OPPONENT:
            _random_replies(states, slots, i, rules, plan, dice, info)


@kernel
def look(states: Any, slots: Any, rules: Any, sets: Any, viewers: Any, mask: Any, lo: Any, hi: Any) -> None:
    """For the games from `lo` to `hi`: the legal sources, the mask (ones where the episode is over), and the
    seat that the observation is for."""
    for i in range(lo, hi):
        if slots[i]["over"]:
            seat = slots[i]["seat"]
            viewers[i] = seat if seat >= 0 else slots[i]["actor"]
            sets[i, 0] = 0
            sets[i, 1] = 0
            for a in range(mask.shape[1]):
                mask[i, a] = 1
            continue
        viewers[i] = states[i]["decider"]
        high, low = legal_sets(states, i)
        sets[i, 0] = high
        sets[i, 1] = low
        write_mask(states, i, rules, high, low, mask, i)


@kernel
def pick_games(states: Any, slots: Any, rules: Any, sets: Any, words: Any, actions: Any) -> None:
    """A legal action of every game by 64 random bits each; 0 where nobody decides."""
    for i in range(states.shape[0]):
        if slots[i]["over"]:
            actions[i] = 0
        else:
            actions[i] = pick_legal(states, i, rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), words[i])


@kernel
def find_waiting(states: Any, slots: Any, lo: Any, hi: Any, index: Any, words: Any, checker: Any) -> Any:
    """The games from `lo` to `hi` that wait for the opponent, with a random word each; returns how many.

    `checker` is set to 1 for those in phase CHECKER, else 0.
    """
    n = 0
    for i in range(lo, hi):
        if slots[i]["over"] == RUNNING and _opponent_decides(states, slots, i):
            index[n] = i
            words[n] = word(states[i]["key"], CHOICE, states[i]["choices"])
            states[i]["choices"] += 1
            checker[n] = states[i]["phase"] == _CHECKER
            n += 1
    return n


@kernel
def answer(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, info: Any, index: Any, actions: Any
) -> Any:
    """Do the opponent's actions in the games of `index`; returns the place in it of the first illegal one, or -1."""
    for k in range(index.shape[0]):
        i = index[k]
        high, low = legal_sets(states, i)
        if actions[k] < 0 or actions[k] >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, actions[k]):
            return k
        _act(states, slots, i, rules, plan, dice, info, actions[k])
    return -1


@kernel
def answer_plays(
    states: Any, slots: Any, rules: Any, plan: Any, dice: Any, info: Any, index: Any, plays: Any
) -> Any:
    """Do the opponent's whole plays (n, 4) in the games of `index`; returns the place of the first illegal one, or -1.

    A play is illegal if one of its steps is, if it has too many, and if it leaves a part of the roll that can be played.
    """
    for k in range(index.shape[0]):
        i = index[k]
        rolls = states[i]["rolls"]
        queued = slots[i]["queued"]
        turn = states[i]["turn"]
        steps = 0
        going = True
        for m in range(4):
            if plays[k, m] < 0:
                break
            high, low = legal_sets(states, i)
            action = np.int64(plays[k, m])
            if not going or action >= _ANSWER_ROLL or not is_legal(states, i, rules, high, low, action):
                return k
            _act(states, slots, i, rules, plan, dice, info, action)
            steps += 1
            same = states[i]["rolls"] == rolls and slots[i]["queued"] == queued and states[i]["turn"] == turn
            going = same and states[i]["phase"] == _CHECKER
        if going:
            return k
    return -1
