"""The opponent pubeval as a kernel of the batch: it weighs the plays of a roll and goes to the best one at once."""

from __future__ import annotations

from typing import Any

from bg_env._jit import kernel
from bg_env.batch.layout import RUNNING
from bg_env.batch.step import act, opponent_decides, take_state
from bg_env.players.pubeval import pubeval_play
from bg_env.rules import Phase
from bg_env.rules.actions import LAST_NAMED, ROLL, TAKE

__all__ = ["pubeval_replies"]

_CHECKER = int(Phase.CHECKER)
_ROLL_OR_DOUBLE = int(Phase.ROLL_OR_DOUBLE)
_TAKE_OR_DROP = int(Phase.TAKE_OR_DROP)


@kernel
def pubeval_replies(
    states: Any,
    slots: Any,
    rules: Any,
    plan: Any,
    dice: Any,
    sets: Any,
    info: Any,
    table: Any,
    work: Any,
    path: Any,
    scratch_sets: Any,
    pairs: Any,
    after: Any,
    actions: Any,
    lo: Any,
    hi: Any,
) -> None:
    """Let pubeval decide in the games from `lo` to `hi` until the learner or nobody does.

    `table` is `pubeval_table(checkers)`, what follows it `pubeval_scratch()`. Each play takes a random word, as all that is
    chosen does; rolling, taking and naming 6-6, where it has no choice, take none.
    """
    for i in range(lo, hi):
        while slots[i]["over"] == RUNNING and opponent_decides(states, slots, i):
            phase = states[i]["phase"]
            if phase == _CHECKER:
                states[i]["choices"] += 1
                n = pubeval_play(states, i, rules, table, work, path, scratch_sets, pairs, after, actions)
                take_state(states, slots, i, rules, plan, dice, sets, info, after, n)
            elif phase == _ROLL_OR_DOUBLE:
                act(states, slots, i, rules, plan, dice, sets, info, ROLL)
            elif phase == _TAKE_OR_DROP:
                act(states, slots, i, rules, plan, dice, sets, info, TAKE)
            else:
                act(states, slots, i, rules, plan, dice, sets, info, LAST_NAMED)
