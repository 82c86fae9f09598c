"""Compiled self-play of a value net, and its games against pubeval: what the TD learner spends its time in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.actions import DOUBLE, FIRST_NAMED, ROLL, TAKE
from bg_env.players.pubeval import pubeval_play
from bg_env.players.valuenet.evaluate import answer_turn, ended, flip, look_as, turn_cube, weigh_plays
from bg_env.players.valuenet.search import best_name
from bg_env.rules import STAGE_NONE, Phase, apply, below, episode_key, new_episode, settle, word

__all__ = ["BROKEN", "GOES_ON", "TERMINAL", "VALUES", "begin", "duel", "self_play"]

GOES_ON: Final = 0
TERMINAL: Final = 1
"""The game ended with this position."""
BROKEN: Final = 2
"""The position does not follow from the one before by the net's own choice: another game, or chance has turned or played."""

VALUES: Final = np.array([[[1, 2, 3, -1, -2, -3]] * 2], np.float32)
"""(1, 2, 6): points of the six outcomes in money play without a cube, to either seat."""

_OVER = int(Phase.OVER)
_ROLL = int(Phase.ROLL)
_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)
_CHOOSE_DOUBLE = int(Phase.CHOOSE_DOUBLE)
_CHANCE = np.uint64(11)
"""Domain of the random bits for scores to begin at and for what goes by chance, apart from those of `rules.dice`."""
_PLAY = np.uint64(12)
"""Domain of those for the plays that chance makes."""
_FIRST = np.int64(0)
_SECOND = np.int64(1)


@kernel
def begin(states: Any, i: Any, rules: Any, key: Any) -> None:
    """A new game; in match play at a score that chance chooses, all equally likely."""
    new_episode(states, i, rules, key)
    length = np.int64(rules[0]["match_length"])
    if length == 0:
        return
    bits = word(key, _CHANCE, np.uint64(0))
    pick = below(bits, length * length)
    for seat in range(2):
        states[i]["score"][seat] = pick % length
        pick //= length
    one = states[i]["score"][0] == length - 1
    other = states[i]["score"][1] == length - 1
    if one != other and rules[0]["crawford"] and rules[0]["cube"] and np.uint64(bits) & np.uint64(1):
        states[i]["crawford"] = 1


@kernel
def _by_chance(states: Any, i: Any, share: Any) -> Any:
    """Whether the cube's turn or the play in state `i` goes by chance, which happens in a `share` of all."""
    bits = word(states[i]["key"], _CHANCE, np.uint64(states[i]["turns"]) + np.uint64(1))
    return below(bits, np.int64(1000000)) < share * 1000000


@kernel
def _keep(states: Any, i: Any, mover: Any, rules: Any, net: Any, layers: Any, record: Any, t: Any, how: Any) -> None:
    """Record state `i`, in which a roll is due or the game has ended, at row `t`."""
    rows, answers, seen, kind = record
    out = layers[2]
    rows[t, i] = states[i]
    if states[i]["winner"] >= 0:
        seat = mover
        ended(states, i, seat, rules, net, out, _SECOND)
        kind[t, i] = TERMINAL
    else:
        seat = np.int64(states[i]["turn"])
        look_as(states, i, seat, rules, net, layers)
        kind[t, i] = how
    seen[t, i] = seat
    for o in range(answers.shape[2]):
        answers[t, i, o] = out[1, o]


@kernel
def _keep_play(states: Any, i: Any, mover: Any, net: Any, layers: Any, record: Any, t: Any, how: Any) -> None:
    """Record state `i`, which `mover` has come to by the play that `weigh_plays` has just found best, at row `t`."""
    rows, answers, seen, kind = record
    out = layers[2]
    rows[t, i] = states[i]
    seat = mover
    if states[i]["winner"] >= 0:
        kind[t, i] = TERMINAL
    else:
        kind[t, i] = how
        if states[i]["turn"] != mover:
            seat = 1 - mover
            flip(out, _FIRST, net)
    seen[t, i] = seat
    for o in range(answers.shape[2]):
        answers[t, i, o] = out[0, o]


@kernel
def _keep_passes(states: Any, i: Any, rules: Any, net: Any, layers: Any, record: Any, t: Any, before: Any) -> Any:
    """Record the turns that passed without a play since `before[0]`, behind row `t`, as far as there is room; the last row."""
    turn = np.int64(before[0]["turn"])
    rows = record[0]
    if turn < 0:
        return t
    for _ in range(states[i]["turns"] - before[0]["turns"]):
        if t + 1 == rows.shape[0]:
            break
        turn = 1 - turn
        before[0]["turn"] = turn
        before[0]["turns"] += 1
        before[0]["stage"] = STAGE_NONE
        if before[0]["turns"] == states[i]["turns"] and states[i]["phase"] == _ROLL_OR_DOUBLE:
            before[0]["phase"] = _ROLL_OR_DOUBLE
        else:
            before[0]["phase"] = _ROLL
        t += 1
        rows[t, i] = before[0]
        look_as(before, _FIRST, turn, rules, net, layers)
        record[2][t, i] = turn
        record[3][t, i] = GOES_ON
        for o in range(record[1].shape[2]):
            record[1][t, i, o] = layers[2][1, o]
    return t


@kernel
def _turn(states: Any, i: Any, rules: Any, net: Any, layers: Any, turned: Any) -> Any:
    """The cube's turn in state `i` (phase ROLL_OR_DOUBLE) as the net likes it on both sides; whether it was turned."""
    action = turn_cube(states, i, rules, net, layers, turned)
    apply(states, i, rules, action)
    while states[i]["phase"] == _TAKE_OR_DROP:
        apply(states, i, rules, answer_turn(states, i, rules, net, layers, turned))
    return action == DOUBLE


@kernel
def self_play(
    states: Any,
    rules: Any,
    seeds: Any,
    episodes: Any,
    lo: Any,
    hi: Any,
    values: Any,
    explore: Any,
    net: Any,
    space: Any,
    turned: Any,
    record: Any,
) -> None:
    """Play games `lo` to `hi`, each as many decisions as `record` has rows behind its first.

    `record` is (after, answers, seen, kind), each (steps + 1, games): the position after each play, turn of the cube or roll
    that could not be played (STATE), the net's answer to it (float32, 6 or 1; at the end what the game came to) as the player
    `seen` (int8) sees it, who is on roll then, and GOES_ON, TERMINAL or BROKEN (int8). Row 0 is where the games stood before.

    A share `explore` goes by chance. By nets of kind "odds", which play without a cube, these are plays, each as likely; the
    position that such a play leads to is BROKEN. By the other kinds they are turns of the cube, after the net's own choice is
    recorded: the cube is turned and taken where it would not have been, and not turned where it would. A game that ends is
    begun anew: game i of `seeds` (uint64) goes on with its next episode. `turned` is `turn_room`.
    """
    outer, inner, step, _ = space
    after, layers = outer[4], outer[7]
    steps = record[0].shape[0] - 1
    for i in range(lo, hi):
        t = 0
        how = GOES_ON
        while t < steps:
            step[0] = states[i]
            settle(states, i, rules)
            t = _keep_passes(states, i, rules, net, layers, record, t, step)
            if t == steps:
                break
            while states[i]["phase"] == _OVER:  # the cap on turns
                how = BROKEN
                episodes[i] += 1
                begin(states, i, rules, np.uint64(episode_key(seeds[i], np.uint64(episodes[i]))))
                settle(states, i, rules)
            mover = np.int64(states[i]["turn"])
            phase = states[i]["phase"]
            if phase == _CHOOSE_DOUBLE:
                apply(states, i, rules, FIRST_NAMED - 1 + best_name(states, i, rules, values, _FIRST, net, inner, step)[0])
                continue
            t += 1
            if phase == _ROLL_OR_DOUBLE:
                step[0] = states[i]
                doubled = _turn(states, i, rules, net, layers, turned)
                _keep(states, i, mover, rules, net, layers, record, t, how)
                how = GOES_ON
                if t < steps and _by_chance(step, _FIRST, explore):
                    states[i] = step[0]
                    apply(states, i, rules, ROLL if doubled else DOUBLE)
                    if not doubled:
                        apply(states, i, rules, TAKE)
                    t += 1
                    _keep(states, i, mover, rules, net, layers, record, t, BROKEN)
            else:
                n, end = weigh_plays(states, i, rules, values, _FIRST, net, outer)
                if net[2].shape[0] == 0 and end > 1 and _by_chance(states, i, explore):
                    bits = word(states[i]["key"], _PLAY, np.uint64(states[i]["turns"]))
                    states[i] = after[below(bits, end)]
                    _keep(states, i, mover, rules, net, layers, record, t, BROKEN)
                else:
                    states[i] = after[n]
                    _keep_play(states, i, mover, net, layers, record, t, how)
                how = GOES_ON
            if states[i]["winner"] >= 0:
                episodes[i] += 1
                begin(states, i, rules, np.uint64(episode_key(seeds[i], np.uint64(episodes[i]))))


@kernel
def duel(
    states: Any, rules: Any, seed: Any, lo: Any, hi: Any, values: Any, net: Any, space: Any, table: Any, points: Any
) -> None:
    """Cubeless games `lo` to `hi` of the net against pubeval: the net's points (negative: lost) into `points` (int32).

    Games 2k and 2k + 1 have the same dice with seats swapped. `states` is scratch for one state.
    """
    outer, inner, step, _ = space
    work, path, sets, pairs, after, actions, _, _ = outer
    for g in range(lo, hi):
        seat = g & 1
        new_episode(states, 0, rules, np.uint64(episode_key(seed, np.uint64(g >> 1))))
        settle(states, 0, rules)
        while states[0]["phase"] != _OVER:
            if states[0]["phase"] == _CHOOSE_DOUBLE:
                name = np.int64(6)
                if states[0]["turn"] == seat:
                    name = best_name(states, _FIRST, rules, values, _FIRST, net, inner, step)[0]
                apply(states, 0, rules, FIRST_NAMED - 1 + name)
                settle(states, 0, rules)
                continue
            if states[0]["turn"] == seat:
                n = weigh_plays(states, _FIRST, rules, values, _FIRST, net, outer)[0]
            else:
                n = pubeval_play(states, _FIRST, rules, table, work, path, sets, pairs, after, actions)
            states[0] = after[n]
            settle(states, 0, rules)
        won = np.int64(states[0]["won"])
        points[g] = won if states[0]["winner"] == seat else -won
