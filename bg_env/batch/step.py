"""One step of one game of a batch, with its episodes, an opponent and the report: the parts of `bg_env.batch.kernels`.

A step of a game has five parts. `finish_step` does all but the first in one go; an opponent that is not a kernel acts between
them:

1. `open_step`: the player who decides acts (or the game that ended before begins anew, with autoreset "next_step", or an
   episode begins as a reset has it);
2. the opponent's decisions, until the learner or nobody decides;
3. `report_step`: reward, end of the episode and its statistics (and, with autoreset "same_step", a new episode);
4. the opponent's decisions in episodes that have begun (one that ends before the learner can act gives way to the next);
5. `close_step`: the info.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.batch.info import clear_info, write_ended, write_info
from bg_env.batch.layout import (
    DUE,
    ENDED,
    ENDED_UNSEEN,
    INFO,
    RUNNING,
    SEAT_BY_KEY,
    STAY,
    STAYED,
    Batch,
    Finals,
    Info,
    Report,
    Slots,
)
from bg_env.observations import default_seat
from bg_env.rewards import reward_of
from bg_env.rules import (
    CHOICE,
    END_FINISHED,
    END_ILLEGAL,
    SEAT,
    Phase,
    Rules,
    States,
    do_action,
    draw_roll,
    episode_key,
    forfeit,
    go_on,
    new_episode,
    show_roll,
    ties_double,
    word,
)
from bg_env.rules.legal import is_legal, pick_random

__all__ = [
    "act",
    "begin",
    "close_step",
    "finish_step",
    "go_to",
    "next_roll",
    "open_play",
    "open_step",
    "opponent_decides",
    "random_replies",
    "report_step",
    "reward_is_due",
    "throw",
]


@inlined
def next_roll(states: States, slots: Slots, i: int, rules: Rules, dice: npt.NDArray[np.int64]) -> tuple[int, int]:
    """The dice of a chance phase: the next of those given in advance, else of the game's stream.

    An opening tie among those given in advance is thrown again (R2.1), and the stream's opening throw makes the starter that
    was asked for.
    """
    slot = slots[i]
    opening = states[i]["phase"] == Phase.OPENING
    unequal = opening and not ties_double(states, i, rules)
    while slot["queued"] < slot["queue_end"]:
        q = slot["queued"]
        slot["queued"] = q + 1
        if dice[q, 0] != dice[q, 1]:
            slot["starter"] = -1
            return dice[q, 0], dice[q, 1]
        if not unequal:
            return dice[q, 0], dice[q, 1]
    d1, d2 = draw_roll(states, i, rules)
    starter = slot["starter"]
    if opening and ((starter == 0 and d2 > d1) or (starter == 1 and d1 > d2)):
        d1, d2 = d2, d1
    if d1 != d2:
        slot["starter"] = -1
    return d1, d2


@kernel
def _run_on(
    states: States,
    slots: Slots,
    i: int,
    rules: Rules,
    dice: npt.NDArray[np.int64],
    sets: npt.NDArray[np.int32],
    playing: bool,
) -> None:
    """Throw the dice that are due until a player must decide or the episode is over, and find the legal sources.

    Args:
        states: those of a `Batch`, as are the others.
        slots: likewise.
        i: the game.
        rules: likewise.
        dice: likewise.
        sets: written.
        playing: whether dice are to be played at first.
    """
    high = low = np.int64(0)
    while True:
        if playing:
            high, low = go_on(states, i, rules)
        if states[i]["phase"] != Phase.ROLL and states[i]["phase"] != Phase.OPENING:
            sets[i, 0], sets[i, 1] = high, low
            return
        d1, d2 = next_roll(states, slots, i, rules, dice)
        playing = show_roll(states, i, rules, d1, d2)


@inlined
def throw(games: Batch, i: int) -> None:
    """Throw the dice that are due, first those given in advance, then those of the game's stream; the legal sources then."""
    playing = games.states[i]["phase"] == Phase.CHECKER
    _run_on(games.states, games.slots, i, games.rules, games.dice, games.sets, playing)


@inlined
def _custom(games: Batch) -> bool:
    """Whether the reward is a user's."""
    return bool(games.ended.shape[0] > 0)


@inlined
def _note(games: Batch, i: int, info: Info) -> None:
    """Keep what the last action of game `i` won, if it ended a game."""
    if games.states[i]["winner"] >= 0:
        if _custom(games):
            games.ended[i] = games.states[i]
        else:
            games.slots[i]["gain"] += reward_of(games.states, i, games.rules, games.plan[0]["reward"])
        write_ended(games.states, i, info)


@inlined
def act(games: Batch, i: int, action: int, info: Info) -> None:
    """Do a legal action, and all that follows by itself."""
    playing = do_action(games.states, i, games.rules, action)
    _note(games, i, info)
    _run_on(games.states, games.slots, i, games.rules, games.dice, games.sets, playing)


@inlined
def reward_is_due(games: Batch, i: int) -> bool:
    """Whether a user's reward must be added before anybody acts in game `i`."""
    return bool(_custom(games) and games.ended[i]["winner"] >= 0)


@inlined
def opponent_decides(games: Batch, i: int) -> bool:
    """Whether game `i` waits for the opponent, and for nothing else."""
    decider = games.states[i]["decider"]
    seat = games.slots[i]["seat"]
    if seat < 0 or decider < 0 or decider == seat:
        return False
    return not reward_is_due(games, i)


@inlined
def random_replies(games: Batch, i: int, info: Info) -> None:
    """Let the random player decide until the learner or nobody does."""
    states = games.states
    while opponent_decides(games, i):
        bits = word(states[i]["key"], CHOICE, states[i]["choices"])
        states[i]["choices"] += 1
        act(games, i, pick_random(states, i, np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1]), bits), info)


@inlined
def begin(games: Batch, i: int, info: Info) -> None:
    """Begin the next episode of game `i`: it waits for the opening throw."""
    slot = games.slots[i]
    slot["episode"] += 1
    key = episode_key(slot["seed"], slot["episode"])
    new_episode(games.states, i, games.rules, key)
    seat = games.plan[0]["seat"]
    if seat == SEAT_BY_KEY:
        seat = np.int64(word(key, SEAT, 0) & np.uint64(1))
    slot["seat"] = seat
    slot["total"] = 0.0
    slot["gain"] = 0.0
    slot["length"] = 0
    slot["queued"] = 0
    slot["queue_end"] = 0
    slot["actor"] = -1
    slot["over"] = RUNNING
    slot["starter"] = -1
    clear_info(info, i)


@inlined
def _start_as_given(games: Batch, i: int, info: Info) -> None:
    """Let the episode that has begun start as START has it."""
    states, slot, start = games.states, games.slots[i], games.start
    if start[0]["given"]:
        key = states[i]["key"]
        states[i] = start[0]["state"]
        states[i]["key"] = key
        states[i]["rolls"] = 0
        states[i]["choices"] = 0
    slot["queued"] = start[0]["first_roll"]
    slot["queue_end"] = games.dice.shape[0]
    slot["starter"] = start[0]["starter"]
    write_ended(states, i, info)


@inlined
def _opens(games: Batch, i: int, info: Info) -> bool:
    """Begin part 1; whether a decision is to be made (if not, an ended game has begun anew or is to be reported)."""
    slot = games.slots[i]
    clear_info(info, i)
    slot["fresh"] = 0
    over = slot["over"]
    if over == ENDED or over == DUE:
        begin(games, i, info)
        if over == DUE:
            _start_as_given(games, i, info)
        throw(games, i)
        slot["fresh"] = 1
        return False
    slot["length"] += 1
    if slot["over"] == ENDED_UNSEEN:
        write_ended(games.states, i, info)
        return False
    slot["actor"] = games.states[i]["decider"]
    return True


@inlined
def open_step(games: Batch, i: int, action: int, info: Info) -> None:
    """Part 1: the player who decides does `action`, or an episode begins; STAY leaves a game as it is."""
    if action == STAY:
        clear_info(info, i)
        games.slots[i]["fresh"] = STAYED
        return
    if not _opens(games, i, info):
        return
    states, rules = games.states, games.rules
    if is_legal(states, i, rules, np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1]), action):
        act(games, i, action, info)
    else:
        forfeit(states, i, rules, states[i]["decider"])
        _note(games, i, info)


@inlined
def go_to(games: Batch, i: int, after: States, k: int, info: Info) -> None:
    """Go to state `k` of `after`, which a legal decision leads to, and do all that follows by itself."""
    games.states[i] = after[k]
    _note(games, i, info)
    throw(games, i)


@inlined
def open_play(games: Batch, i: int, after: States, k: int, info: Info) -> None:
    """Part 1, where the player who decides has chosen candidate `k` of `after` (`bg_env.rules.candidates`)."""
    if _opens(games, i, info):
        go_to(games, i, after, k, info)


@inlined
def report_step(games: Batch, i: int, report: Report, finals: Finals) -> None:
    """Part 3: the reward of the step, and whether the episode is over."""
    states, slot = games.states, games.slots[i]
    info, rewards, lengths, ends = report
    ends[0, i] = False
    ends[1, i] = False
    rewards[0, i] = 0.0
    rewards[1, i] = 0.0
    lengths[i] = 0
    if slot["fresh"]:
        return
    seat = slot["seat"]
    gain = slot["gain"]
    slot["gain"] = 0.0
    if gain != 0.0:
        receiver = seat if seat >= 0 else slot["actor"]
        rewards[0, i] = gain if receiver == 0 else -gain
        slot["total"] += -gain if seat == 1 else gain
    limit = games.plan[0]["limit"]
    if states[i]["phase"] != Phase.OVER and (limit == 0 or slot["length"] < limit):
        return
    ending = states[i]["ending"]
    ends[0, i] = ending == END_FINISHED or ending == END_ILLEGAL
    ends[1, i] = not ends[0, i] or (limit > 0 and slot["length"] >= limit)  # both, as Gymnasium's TimeLimit has it
    rewards[1, i] = slot["total"]
    lengths[i] = slot["length"]
    slot["over"] = ENDED
    if games.plan[0]["same_step"]:
        write_info(states, i, True, info)
        for k in range(INFO):
            finals.info[k, i] = info[k, i]
        finals.info[INFO, i] = seat if seat >= 0 else default_seat(states, i)
        finals.states[i] = states[i]
        begin(games, i, info)
        throw(games, i)
        slot["fresh"] = 2


@inlined
def close_step(games: Batch, i: int, info: Info) -> None:
    """Part 5: the info, and whether the episode is over before the learner could act."""
    slot = games.slots[i]
    if slot["fresh"] and slot["fresh"] != STAYED and games.states[i]["phase"] == Phase.OVER:
        slot["over"] = ENDED_UNSEEN
    slot["fresh"] = 0
    write_info(games.states, i, slot["over"] != RUNNING, info)


@inlined
def finish_step(games: Batch, i: int, report: Report, finals: Finals) -> None:
    """Parts 2 to 5, in self-play or against the random player."""
    random_replies(games, i, report.info)
    report_step(games, i, report, finals)
    if games.slots[i]["fresh"]:
        random_replies(games, i, report.info)
    close_step(games, i, report.info)
