"""Self-play of a value net, and its games against pubeval, as kernels: where the TD learner spends its time."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bg_env._jit import kernel
from bg_env.actions import DOUBLE, FIRST_NAMED, ROLL, TAKE
from bg_env.players.pubeval import pubeval_play
from bg_env.players.valuenet.evaluate import (
    Evaluator,
    Scratch,
    answer_double,
    evaluate_as,
    evaluate_plays,
    flip,
    roll_or_double,
    write_result,
)
from bg_env.players.valuenet.net import knows_cube
from bg_env.players.valuenet.search import Search, best_name
from bg_env.rules import STAGE_NONE, Phase, Rules, States, apply, below, episode_key, new_episode, settle, word

__all__ = [
    "BROKEN",
    "GOES_ON",
    "PAYOFFS",
    "TERMINAL",
    "Games",
    "Trajectories",
    "begin",
    "play_pubeval",
    "self_play",
]

GOES_ON: Final = 0
TERMINAL: Final = 1
"""The game ended with this position."""
BROKEN: Final = 2
"""The position does not follow from the one before by the net's own choice: a new game began, or the choice was at random."""

PAYOFFS: Final = np.array([[[1, 2, 3, -1, -2, -3]] * 2], np.float32)
"""float32 (1, 2, 6): points of the six outcomes in money play without a cube, to either seat."""

_START_DOMAIN = np.uint64(11)
"""Domain of the random bits for starting scores and for exploration, apart from those of `rules.dice`."""
_PLAY_DOMAIN = np.uint64(12)
"""Domain of those for plays at random."""
_FIRST = np.int64(0)
_MILLION = 1_000_000

Integers = npt.NDArray[np.int64]


class Games(NamedTuple):
    """Games of self-play.

    Attributes:
        states: STATE (games,), where they stand.
        seeds: uint64 (games,), of their random streams.
        episodes: int64 (games,), the number of each one's present episode.
    """

    states: States
    seeds: npt.NDArray[np.uint64]
    episodes: Integers


class Trajectories(NamedTuple):
    """The positions of self-play, with row 0 for where the games stood before; all are (steps + 1, games, ...).

    Attributes:
        states: STATE, the position after each play, turn of the cube, or roll that could not be played.
        outputs: float32, 6 or 1: the net's outputs there, at the end of a game its result, as player `seats` sees it.
        seats: int8, the player on roll; at the end of a game the one that ended it.
        kinds: int8, GOES_ON, TERMINAL or BROKEN.
    """

    states: States
    outputs: npt.NDArray[np.float32]
    seats: npt.NDArray[np.int8]
    kinds: npt.NDArray[np.int8]


@kernel
def begin(states: States, i: int, rules: Rules, key: np.uint64) -> None:
    """A new game; in match play at a score drawn uniformly from all."""
    new_episode(states, i, rules, key)
    length = np.int64(rules[0]["match_length"])
    if length == 0:
        return
    bits = word(key, _START_DOMAIN, np.uint64(0))
    pick = below(bits, length * length)
    for seat in range(2):
        states[i]["score"][seat] = pick % length
        pick //= length
    one = states[i]["score"][0] == length - 1
    other = states[i]["score"][1] == length - 1
    if one != other and rules[0]["crawford"] and rules[0]["cube"] and np.uint64(bits) & np.uint64(1):
        states[i]["crawford"] = 1


@kernel
def _begin_next(games: Games, i: int, rules: Rules) -> None:
    """The next episode of game `i`."""
    games.episodes[i] += 1
    begin(games.states, i, rules, np.uint64(episode_key(games.seeds[i], np.uint64(games.episodes[i]))))


@kernel
def _explores(states: States, i: int, share: float) -> bool:
    """Whether the cube decision or the play in state `i` is at random, which a `share` of all are."""
    bits = word(states[i]["key"], _START_DOMAIN, np.uint64(states[i]["turns"]) + np.uint64(1))
    return bool(below(bits, np.int64(_MILLION)) < share * _MILLION)


@kernel
def _keep(
    states: States, i: int, mover: int, evaluator: Evaluator, scratch: Scratch, kept: Trajectories, t: int, kind: int
) -> None:
    """Keep state `i`, in which a roll is due or the game has ended, in row `t`."""
    outputs = scratch.layers.outputs
    kept.states[t, i] = states[i]
    if states[i]["winner"] >= 0:
        seat = mover
        write_result(states, i, seat, evaluator, outputs)
        kept.kinds[t, i] = TERMINAL
    else:
        seat = np.int64(states[i]["turn"])
        evaluate_as(states, i, seat, evaluator, scratch.layers)
        kept.kinds[t, i] = kind
    kept.seats[t, i] = seat
    for o in range(kept.outputs.shape[2]):
        kept.outputs[t, i, o] = outputs[o]


@kernel
def _keep_play(
    states: States, i: int, mover: int, evaluator: Evaluator, scratch: Scratch, kept: Trajectories, t: int, kind: int
) -> None:
    """Keep state `i`, after the play of `mover` that `evaluate_plays` has just found best, in row `t`."""
    best = scratch.layers.best
    kept.states[t, i] = states[i]
    seat = mover
    if states[i]["winner"] >= 0:
        kept.kinds[t, i] = TERMINAL
    else:
        kept.kinds[t, i] = kind
        if states[i]["turn"] != mover:
            seat = 1 - mover
            flip(evaluator.net, best)
    kept.seats[t, i] = seat
    for o in range(kept.outputs.shape[2]):
        kept.outputs[t, i, o] = best[o]


@kernel
def _keep_passes(states: States, i: int, evaluator: Evaluator, scratch: Scratch, kept: Trajectories, t: int) -> int:
    """Keep the turns that passed without a play since `scratch.step[0]`, after row `t`, while rows are left; the last row."""
    before = scratch.step
    turn = np.int64(before[0]["turn"])
    if turn < 0:
        return t
    for _ in range(states[i]["turns"] - before[0]["turns"]):
        if t + 1 == kept.states.shape[0]:
            break
        turn = 1 - turn
        before[0]["turn"] = turn
        before[0]["turns"] += 1
        before[0]["stage"] = STAGE_NONE
        if before[0]["turns"] == states[i]["turns"] and states[i]["phase"] == Phase.ROLL_OR_DOUBLE:
            before[0]["phase"] = Phase.ROLL_OR_DOUBLE
        else:
            before[0]["phase"] = Phase.ROLL
        t += 1
        kept.states[t, i] = before[0]
        evaluate_as(before, _FIRST, turn, evaluator, scratch.layers)
        kept.seats[t, i] = turn
        kept.kinds[t, i] = GOES_ON
        for o in range(kept.outputs.shape[2]):
            kept.outputs[t, i, o] = scratch.layers.outputs[o]
    return t


@kernel
def _cube_turn(states: States, i: int, evaluator: Evaluator, scratch: Scratch) -> bool:
    """The cube decision in state `i` (phase ROLL_OR_DOUBLE) by the net on both sides; whether the cube was turned."""
    action = roll_or_double(states, i, evaluator, scratch)
    apply(states, i, evaluator.rules, action)
    while states[i]["phase"] == Phase.TAKE_OR_DROP:
        apply(states, i, evaluator.rules, answer_double(states, i, evaluator, scratch))
    return action == DOUBLE


@kernel
def self_play(games: Games, lo: int, hi: int, evaluator: Evaluator, explore: float, search: Search, kept: Trajectories) -> None:
    """Play games `lo` to `hi - 1`, each as many decisions as `kept` has rows after the first.

    A share `explore` of the decisions is at random. By nets of kind "odds", which play without a cube, these are plays, drawn
    uniformly; the position after such a play is BROKEN. By the other kinds they are cube decisions, after the net's own choice
    is kept: the cube is turned and taken where it would not have been, and not turned where it would. After the end of a game
    the next episode of its stream begins.

    Args:
        games: played on from where they stand.
        lo: the first game.
        hi: the game after the last.
        evaluator: with payoffs of one row.
        explore: 0 to 1.
        search: scratch.
        kept: written in rows 1 and on, in columns `lo` to `hi - 1`.
    """
    states, rules = games.states, evaluator.rules
    outer, step = search.outer, search.outer.step
    steps = kept.states.shape[0] - 1
    for i in range(lo, hi):
        t = 0
        kind = GOES_ON
        while t < steps:
            step[0] = states[i]
            settle(states, i, rules)
            t = _keep_passes(states, i, evaluator, outer, kept, t)
            if t == steps:
                break
            while states[i]["phase"] == Phase.OVER:  # the cap on turns
                kind = BROKEN
                _begin_next(games, i, rules)
                settle(states, i, rules)
            mover = np.int64(states[i]["turn"])
            phase = states[i]["phase"]
            if phase == Phase.CHOOSE_DOUBLE:
                apply(states, i, rules, FIRST_NAMED - 1 + best_name(states, i, evaluator, _FIRST, search.inner)[0])
                continue
            t += 1
            if phase == Phase.ROLL_OR_DOUBLE:
                step[0] = states[i]
                doubled = _cube_turn(states, i, evaluator, outer)
                _keep(states, i, mover, evaluator, outer, kept, t, kind)
                kind = GOES_ON
                if t < steps and _explores(step, _FIRST, explore):
                    states[i] = step[0]
                    apply(states, i, rules, ROLL if doubled else DOUBLE)
                    if not doubled:
                        apply(states, i, rules, TAKE)
                    t += 1
                    _keep(states, i, mover, evaluator, outer, kept, t, BROKEN)
            else:
                n, end = evaluate_plays(states, i, evaluator, _FIRST, outer)
                if not knows_cube(evaluator.net) and end > 1 and _explores(states, i, explore):
                    bits = word(states[i]["key"], _PLAY_DOMAIN, np.uint64(states[i]["turns"]))
                    states[i] = outer.plays.after[below(bits, end)]
                    _keep(states, i, mover, evaluator, outer, kept, t, BROKEN)
                else:
                    states[i] = outer.plays.after[n]
                    _keep_play(states, i, mover, evaluator, outer, kept, t, kind)
                kind = GOES_ON
            if states[i]["winner"] >= 0:
                _begin_next(games, i, rules)


@kernel
def play_pubeval(
    seed: np.uint64, lo: int, hi: int, evaluator: Evaluator, search: Search, table: Integers, points: npt.NDArray[np.int32]
) -> None:
    """Cubeless games `lo` to `hi - 1` of the net against pubeval, the net's points (negative: lost) into `points`.

    Games 2k and 2k + 1 have the same dice with the seats swapped.

    Args:
        seed: of the dice.
        lo: the first game.
        hi: the game after the last.
        evaluator: with payoffs of one row.
        search: scratch.
        table: of pubeval, see `pubeval_table`.
        points: int32 (games,).
    """
    outer, states, rules = search.outer, search.outer.step, evaluator.rules
    for g in range(lo, hi):
        seat = g & 1
        new_episode(states, 0, rules, np.uint64(episode_key(seed, np.uint64(g >> 1))))
        settle(states, 0, rules)
        while states[0]["phase"] != Phase.OVER:
            if states[0]["phase"] == Phase.CHOOSE_DOUBLE:
                name = np.int64(6)
                if states[0]["turn"] == seat:
                    name = best_name(states, _FIRST, evaluator, _FIRST, search.inner)[0]
                apply(states, 0, rules, FIRST_NAMED - 1 + name)
                settle(states, 0, rules)
                continue
            if states[0]["turn"] == seat:
                n = evaluate_plays(states, _FIRST, evaluator, _FIRST, outer)[0]
            else:
                n = pubeval_play(states, _FIRST, rules, table, outer.plays)
            states[0] = outer.plays.after[n]
            settle(states, 0, rules)
        won = np.int64(states[0]["won"])
        points[g] = won if states[0]["winner"] == seat else -won
