"""Kernels over a batch of games, from `lo` to `hi`; the parts of a step are in `bg_env.batch.step`.

Python hands them the fields of a named tuple as a plain tuple, see `bg_env.batch.layout.Arrays`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bg_env._jit import inlined, kernel
from bg_env.batch.info import clear_info
from bg_env.batch.layout import RUNNING, Arrays, Batch, Finals, Info, Report
from bg_env.batch.step import (
    act,
    close_step,
    finish_step,
    open_play,
    open_step,
    opponent_decides,
    random_replies,
    report_step,
)
from bg_env.batch.threads import signal
from bg_env.observations import default_seat
from bg_env.rules import CHOICE, Phase, States, word
from bg_env.rules.actions import STEPS
from bg_env.rules.legal import is_legal, legal_sets, pick_legal, write_mask

__all__ = [
    "answer",
    "answer_plays",
    "close_games",
    "copy_states",
    "describe",
    "find_sets",
    "find_waiting",
    "first_illegal",
    "look",
    "look_at",
    "open_games",
    "open_plays",
    "pick_games",
    "random_games",
    "report_games",
    "step_games",
    "step_plays",
]


@inlined
def look_at(games: Batch, i: int, viewers: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> None:
    """Write the seat that looks at game `i`, and its mask: ones where the episode is over."""
    states, sets = games.states, games.sets
    if games.slots[i]["over"]:
        seat = games.slots[i]["seat"]
        viewers[i] = seat if seat >= 0 else default_seat(states, i)
        for a in range(mask.shape[1]):
            mask[i, a] = 1
    else:
        viewers[i] = states[i]["decider"]
        write_mask(states, i, games.rules, np.int64(sets[i, 0]), np.int64(sets[i, 1]), mask, i)


@kernel
def step_games(
    batch: Arrays, actions: npt.NDArray[np.int64], report: Arrays, finals: Arrays, seen: Arrays, lo: int, hi: int
) -> None:
    """A step in self-play or against the random player, all five parts of it, and a look.

    Args:
        batch: the fields of a `Batch`.
        actions: of the player who decides, int64 (n,), or STAY.
        report: the fields of a `Report`, written.
        finals: the fields of a `Finals`, written.
        seen: the seats that look, int8 (n,), and the masks, int8 (n, actions), written.
        lo: the first game.
        hi: the game after the last.
    """
    games, outcome, ended = Batch(*batch), Report(*report), Finals(*finals)
    viewers, mask = seen
    for i in range(lo, hi):
        open_step(games, i, actions[i], outcome.info)
        finish_step(games, i, outcome, ended)
        look_at(games, i, viewers, mask)


@kernel
def step_plays(
    batch: Arrays,
    after: States,
    index: npt.NDArray[np.int64],
    report: Arrays,
    finals: Arrays,
    seen: Arrays,
    lo: int,
    hi: int,
) -> None:
    """`step_games` with candidates of `after`, chosen by `index`, instead of actions."""
    games, outcome, ended = Batch(*batch), Report(*report), Finals(*finals)
    viewers, mask = seen
    for i in range(lo, hi):
        open_play(games, i, after, index[i], outcome.info)
        finish_step(games, i, outcome, ended)
        look_at(games, i, viewers, mask)


@kernel
def open_games(batch: Arrays, actions: npt.NDArray[np.int64], info: Info, lo: int, hi: int) -> None:
    """Part 1 of a step."""
    games = Batch(*batch)
    for i in range(lo, hi):
        open_step(games, i, actions[i], info)


@kernel
def open_plays(batch: Arrays, after: States, index: npt.NDArray[np.int64], info: Info, lo: int, hi: int) -> None:
    """`open_games` with candidates of `after`, chosen by `index`, instead of actions."""
    games = Batch(*batch)
    for i in range(lo, hi):
        open_play(games, i, after, index[i], info)


@kernel
def report_games(batch: Arrays, report: Arrays, finals: Arrays, lo: int, hi: int) -> None:
    """Part 3 of a step."""
    games, outcome, ended = Batch(*batch), Report(*report), Finals(*finals)
    for i in range(lo, hi):
        report_step(games, i, outcome, ended)


@kernel
def close_games(batch: Arrays, info: Info, lo: int, hi: int) -> None:
    """Part 5 of a step."""
    games = Batch(*batch)
    for i in range(lo, hi):
        close_step(games, i, info)


@kernel
def random_games(batch: Arrays, info: Info, lo: int, hi: int) -> None:
    """Let the random player decide until the learner or nobody does."""
    games = Batch(*batch)
    for i in range(lo, hi):
        if games.slots[i]["over"] == RUNNING:
            random_replies(games, i, info)


@kernel
def describe(batch: Arrays, info: Info) -> None:
    """Write the info of all games as they stand, as if no game had just ended."""
    games = Batch(*batch)
    for i in range(games.states.shape[0]):
        clear_info(info, i)
        close_step(games, i, info)


@kernel
def find_sets(states: States, sets: npt.NDArray[np.int32]) -> None:
    """The legal sources of all games, anew."""
    for i in range(states.shape[0]):
        sets[i, 0], sets[i, 1] = legal_sets(states, i)


@kernel
def look(batch: Arrays, seen: Arrays, lo: int, hi: int) -> None:
    """Write the seats that look and the masks, see `step_games`."""
    games = Batch(*batch)
    viewers, mask = seen
    for i in range(lo, hi):
        look_at(games, i, viewers, mask)


@kernel
def first_illegal(batch: Arrays, actions: npt.NDArray[np.int64]) -> int:
    """The first game that goes on and whose action is not legal, or -1."""
    games = Batch(*batch)
    for i in range(games.states.shape[0]):
        high, low = np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1])
        if games.slots[i]["over"] == RUNNING and not is_legal(games.states, i, games.rules, high, low, actions[i]):
            return i
    return -1


@kernel
def pick_games(
    batch: Arrays,
    key: np.uint64,
    actions: npt.NDArray[np.int64],
    lo: int,
    hi: int,
    counter: npt.NDArray[np.int64],
    count: int,
) -> None:
    """A legal action of every game by word i of `key`; 0 where nobody decides. It begins with `signal(counter, count)`."""
    signal(counter, count)
    games = Batch(*batch)
    for i in range(lo, hi):
        if games.slots[i]["over"]:
            actions[i] = 0
        else:
            high, low = np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1])
            actions[i] = pick_legal(games.states, i, games.rules, high, low, word(key, CHOICE, i))


@kernel
def find_waiting(
    batch: Arrays,
    lo: int,
    hi: int,
    index: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    spare: bool,
) -> int:
    """The games that wait for the opponent, with a random word each; how many there are.

    Args:
        batch: the fields of a `Batch`.
        lo: the first game.
        hi: the game after the last.
        index: the games, written.
        words: a random word for each of them, written.
        spare: whether games in other phases than CHECKER take no word, because nothing is chosen there.
    """
    games = Batch(*batch)
    states = games.states
    n = 0
    for i in range(lo, hi):
        if games.slots[i]["over"] == RUNNING and opponent_decides(games, i):
            index[n] = i
            if states[i]["phase"] == Phase.CHECKER or not spare:
                words[n] = word(states[i]["key"], CHOICE, states[i]["choices"])
                states[i]["choices"] += 1
            n += 1
    return n


@kernel
def copy_states(states: States, index: npt.NDArray[np.int64], out: States) -> None:
    """Copy the states of `index` into `out`; NumPy takes twenty times as long, field by field."""
    for k in range(index.shape[0]):
        out[k] = states[index[k]]


@kernel
def answer(batch: Arrays, index: npt.NDArray[np.int64], actions: npt.NDArray[np.int64], info: Info) -> int:
    """Do the opponent's actions in the games of `index`; the place in it of the first illegal one, or -1."""
    games = Batch(*batch)
    states, rules = games.states, games.rules
    for k in range(index.shape[0]):
        i = index[k]
        high, low = np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1])
        if actions[k] < 0 or actions[k] >= rules[0]["actions"] or not is_legal(states, i, rules, high, low, actions[k]):
            return k
        act(games, i, actions[k], info)
    return -1


@kernel
def answer_plays(batch: Arrays, index: npt.NDArray[np.int64], plays: npt.NDArray[np.int64], info: Info) -> int:
    """Do the opponent's whole plays (n, 4) in the games of `index`; the place of the first illegal one, or -1.

    A play is illegal if one of its steps is, if it has too many, and if it leaves a part of the roll that can be played.
    """
    games = Batch(*batch)
    states, slots = games.states, games.slots
    for k in range(index.shape[0]):
        i = index[k]
        rolls = states[i]["rolls"]
        queued = slots[i]["queued"]
        turn = states[i]["turn"]
        going = True
        for m in range(4):
            if plays[k, m] < 0:
                break
            high, low = np.int64(games.sets[i, 0]), np.int64(games.sets[i, 1])
            action = np.int64(plays[k, m])
            if not going or action >= STEPS or not is_legal(states, i, games.rules, high, low, action):
                return k
            act(games, i, action, info)
            same = states[i]["rolls"] == rolls and slots[i]["queued"] == queued and states[i]["turn"] == turn
            going = same and states[i]["phase"] == Phase.CHECKER
        if going:
            return k
    return -1
