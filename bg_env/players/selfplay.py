"""Compiled self-play of a value net, and its games against pubeval: what the TD learner spends its time in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bg_env._jit import kernel
from bg_env.players.net import best_play
from bg_env.players.pubeval import pubeval_play
from bg_env.rules import Phase, episode_key, new_episode, settle

__all__ = ["BROKEN", "GOES_ON", "TERMINAL", "duel", "self_play"]

GOES_ON: Final = 0
TERMINAL: Final = 1
"""The game ended with this position."""
BROKEN: Final = 2
"""The position is the first of a game whose forerunner was cut off by the cap on turns."""

_OVER = int(Phase.OVER)


@kernel
def self_play(
    states: Any, rules: Any, seeds: Any, episodes: Any, lo: Any, hi: Any, values: Any, net: Any, scratch: Any, record: Any
) -> None:
    """Play games `lo` to `hi`, each as many turns with a decision as `record` has rows behind its first.

    `record` is (after, odds, seen, kind), each (steps + 1, games): the position after each play (STATE), the net's six
    probabilities of it (float32, 6; at the end the outcome) as the player `seen` (int8) sees it, who is on roll then, and
    GOES_ON, TERMINAL or BROKEN (int8). Row 0 is taken over from the last row. A game that ends is begun anew: game i of
    `seeds` (uint64) goes on with its next episode.
    """
    table, b2, w2, b3, w3 = net
    work, path, sets, pairs, after, actions, hidden, second, out = scratch
    rows, odds, seen, kind = record
    steps = rows.shape[0] - 1
    for i in range(lo, hi):
        rows[0, i] = rows[steps, i]
        for o in range(6):
            odds[0, i, o] = odds[steps, i, o]
        seen[0, i] = seen[steps, i]
        kind[0, i] = kind[steps, i]
        for t in range(1, steps + 1):
            kind[t, i] = GOES_ON
            settle(states, i, rules)
            while states[i]["phase"] == _OVER:  # the cap on turns
                kind[t, i] = BROKEN
                episodes[i] += 1
                new_episode(states, i, rules, np.uint64(episode_key(seeds[i], np.uint64(episodes[i]))))
                settle(states, i, rules)
            mover = np.int64(states[i]["turn"])
            n = best_play(
                states, i, rules, values, table, b2, w2, b3, w3, work, path, sets, pairs, after, actions, hidden, second, out
            )
            states[i] = after[n]
            rows[t, i] = after[n]
            for o in range(6):
                odds[t, i, o] = out[0, o]
            if states[i]["winner"] >= 0:
                seen[t, i] = 1 - mover
                kind[t, i] = TERMINAL
                episodes[i] += 1
                new_episode(states, i, rules, np.uint64(episode_key(seeds[i], np.uint64(episodes[i]))))
            else:
                seen[t, i] = states[i]["turn"]


@kernel
def duel(
    states: Any, rules: Any, seed: Any, lo: Any, hi: Any, values: Any, net: Any, scratch: Any, table: Any, points: Any
) -> None:
    """Cubeless games `lo` to `hi` of the net against pubeval: the net's points (negative: lost) into `points` (int32).

    Games 2k and 2k + 1 have the same dice with seats swapped. `states` is scratch for one state.
    """
    own, b2, w2, b3, w3 = net
    work, path, sets, pairs, after, actions, hidden, second, out = scratch
    for g in range(lo, hi):
        seat = g & 1
        new_episode(states, 0, rules, np.uint64(episode_key(seed, np.uint64(g >> 1))))
        settle(states, 0, rules)
        while states[0]["phase"] != _OVER:
            if states[0]["turn"] == seat:
                n = best_play(
                    states, 0, rules, values, own, b2, w2, b3, w3, work, path, sets, pairs, after, actions, hidden, second, out
                )
            else:
                n = pubeval_play(states, 0, rules, table, work, path, sets, pairs, after, actions)
            states[0] = after[n]
            settle(states, 0, rules)
        won = np.int64(states[0]["won"])
        points[g] = won if states[0]["winner"] == seat else -won
